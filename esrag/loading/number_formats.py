"""Numbers of a sheet with what their format shows and their value lacks: percents and units."""

import re

_SPACING = re.compile(r"[_*].")  # room for a character, or one that fills the cell
_UNIT = re.compile(r"\"([^\"]{1,20})\"|\[\$([^\]-]{1,5})(?:-[^\]]{0,8})?\]|([$€£¥])")
_PADDED = re.compile(r"0{2,20}")
_MOST = 2**53  # above which a float is not every integer
_DECIMALS = re.compile(r"\.(0*)")


def format_number(value: float, shown: str) -> str:
    """Return a number as Excel shows it in percents, with a unit or currency, or leading zeros.

    Other formats neither round nor group it.

    >>> [format_number(0.075, "0.0%"), format_number(1067, "00000"), format_number(2.5, "General")]
    ['7.5%', '01067', '2.5']
    >>> [format_number(1200, '#,##0 "EUR"'), format_number(3, "[$€-407]#,##0.00")]
    ['1200 EUR', '€3']
    """
    if abs(value) > _MOST:
        return str(value)
    positive = _SPACING.sub("", shown.partition(";")[0])
    digits = _UNIT.sub("", positive)
    if "%" in digits:
        decimals = _DECIMALS.search(digits)
        return f"{100 * value:.{len(decimals[1]) if decimals else 0}f}%"

    text = str(int(value)) if float(value).is_integer() else str(value)
    if _PADDED.fullmatch(digits):
        return text.zfill(len(digits))

    unit = _UNIT.search(positive)
    name = next(filter(None, unit.groups()), "").strip() if unit else ""
    if not (unit and name):
        return text
    gap = " " if name[-1].isalpha() else ""
    is_before = not any(map(positive[: unit.start()].count, "0#?"))
    return f"{name}{gap}{text}" if is_before else f"{text} {name}"
