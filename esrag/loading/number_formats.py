"""Numbers of a sheet with what their format shows and their value lacks; durations."""

import re
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext

_SPACING = re.compile(r"[_*].")  # room for a character, or one that fills the cell
_UNIT = re.compile(r"\"([^\"]{1,20})\"|\[\$([^\]-]{1,5})(?:-[^\]]{0,8})?\]|([$€£¥])")
_PADDED = re.compile(r"0{2,20}")
_MOST = 2**53  # above which a float is not every integer
_DECIMALS = re.compile(r"\.(0*)")
_PRECISION = 10  # decimals: 0.1 + 0.2 is shown as 0.3
_GROUP = 3  # digits
_SCALE = re.compile(r"[0#?](,{1,4})(?![0#?,])")  # each comma after the digits divides by 1,000
_ESCAPED = re.compile(r"\\([^\W\d_]|[%°])")
_WORD = re.compile(r"\"([^\"]{0,20}[^\W\d_][^\"]{0,20})\"")


def format_number(value: float, shown: str) -> str:
    r"""Return a number as Excel shows it, in percents, groups of digits, with a unit or zeros.

    Except in percents, nothing is rounded: digits that the format hides are shown.

    >>> [format_number(0.075, "0.0%"), format_number(1067, "00000"), format_number(2.5, "General")]
    ['7.5%', '01067', '2.5']
    >>> [format_number(0.285, "0%"), format_number(-0.145, "0%"), format_number(1, "0.00%")]
    ['29%', '-15%', '100.00%']
    >>> [format_number(1200, '#,##0 "EUR"'), format_number(3, "[$€-407]#,##0.00")]
    ['1,200 EUR', '€3.00']
    >>> [format_number(24.6, "0.00"), format_number(1184.257, "#,##0.0")]
    ['24.60', '1,184.257']
    >>> [format_number(2_500_000, '$0.0,,"M"'), format_number(1_234_567, "#,##0,")]
    ['$2.5 M', '1,234.567']
    >>> [format_number(0, '"Yes";"No";"No"'), format_number(42, '"INV-"0000')]
    ['No', 'INV-0042']
    >>> [format_number(12.5, r"0.0\%"), format_number(12, r"0\ \k\g")]
    ['12.5 %', '12 kg']
    """
    if abs(value) > _MOST:
        return str(value)
    if word := _find_word(value, shown):
        return word
    literal = _ESCAPED.sub(r'"\1"', shown.partition(";")[0]).replace('""', "")
    positive = _SPACING.sub("", literal)
    digits = _UNIT.sub("", positive)
    if "%" in digits:
        decimals = _DECIMALS.search(digits)
        with localcontext(rounding=ROUND_HALF_UP):
            return f"{100 * Decimal(repr(value)):.{len(decimals[1]) if decimals else 0}f}%"

    if scale := _SCALE.search(digits):
        value /= 1000 ** len(scale[1])
        digits = digits[: scale.start(1)] + digits[scale.end(1) :]
    text = _write_digits(value, digits)
    if _PADDED.fullmatch(digits):
        text = _write_digits(value, "0").zfill(len(digits))
    return _add_units(text, positive)


def _find_word(value: float, shown: str) -> str:
    """Return the word that a format shows in place of a number, "" for none."""
    parts = shown.split(";")
    place = (value < 0) + 2 * (value == 0)  # of the part for such a number
    word = _WORD.fullmatch(parts[place] if place < len(parts) else parts[0])
    return word[1].strip() if word else ""


def _add_units(text: str, positive: str) -> str:
    """Return a number between what its format has before the digits and after them."""
    before = after = ""
    for unit in _UNIT.finditer(positive):
        name = next(filter(None, unit.groups()), "").strip()
        if any(map(positive[: unit.start()].count, "0#?")):
            after += name
        else:
            before += name
    gap = " " if before and (before[-1].isalpha() or before[-1] == ".") else ""
    return f"{before}{gap}{text}" + (f" {after}" if after else "")


def format_duration(value: timedelta) -> str:
    """Return hours and minutes, and the seconds unless they are 0.

    >>> [format_duration(timedelta(seconds=seconds)) for seconds in (90, 93_959, -5_400)]
    ['0:01:30', '26:05:59', '-1:30']
    """
    minutes, seconds = divmod(round(abs(value.total_seconds())), 60)
    sign = "-" if value < timedelta() else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")


def _write_digits(value: float, shown: str) -> str:
    """Return a number with the least decimals of a format, and its groups of digits."""
    text = str(int(value)) if float(value).is_integer() else repr(round(value, _PRECISION))
    if "e" in text:
        return text
    whole, _, decimals = text.partition(".")
    found = _DECIMALS.search(shown)
    decimals = decimals.ljust(len(found[1]) if found else 0, "0")
    grouped = f"{int(whole):,}" if "," in shown and len(whole) > _GROUP else whole
    return f"{grouped}.{decimals}" if decimals else grouped
