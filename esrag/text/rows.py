"""Find the rows of tables by their names, so that a question that names a row finds its table.

An encoder makes little of figures, and BM25 little of frequent words: many passages of a report
have "total" and "assets". Each row therefore has a token of its name in the keyword leg.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from esrag.text.questions import read_question
from esrag.text.terms import MONTHS, find_technical_words, find_years, join_token, whole_words

IS_ROW = "▤"  # the sign of a token
MAX_ROWS = 64  # tokens of a passage
MAX_WORDS = 6  # of a name
MAX_ASKED = 40  # words of a question that may name a row

_BAR = " | "
_SIZE = r"\d[\d.,x×]{0,10} ?(?:[cdkm]?[gl]|[ckm]?m|[km]?[AVW]|m?Ah|[GMT]B|ft|lbs?|oz|pcs)"
_END = re.compile(
    rf"[,;:]| and | or | [–-] |(?<=\w) [(\[][^()\[\]\n]{{0,80}}[)\]]\Z|(?<=\w) {_SIZE}\Z"
)
_FIGURE = re.compile(r"(?!(?:19|20)\d\d(?!\d))(?<!\d)\d")  # and no year
_NUMBERED = re.compile(r"(?<![\w.,-])(\d{1,6})[ -]([a-z]{3,20})s?\b")  # the "4-byte" strings
_MONTHS = set(whole_words(" ".join(MONTHS)))


def find_rows(text: str) -> tuple[str, ...]:
    r"""Return the tokens of a passage's table rows, of whole labels and of their names alone.

    >>> find_rows("ASSETS | 2021\nCash and cash equivalents | $16\nTotal assets | $40")
    ('▤cashcashequival', '▤cash', '▤totalasset')
    """
    names = (name for label in _iter_labels(text) for name in (label, find_name(label)))
    tokens = dict.fromkeys(map(_token, map(whole_words, names)))
    return (*islice(filter(None, tokens), MAX_ROWS),)


def _iter_labels(text: str) -> Iterator[str]:
    r"""Yield the labels of a passage's table rows; a number comes after its header.

    >>> [*_iter_labels("FAL | Requirement\n1 | signed")], [*_iter_labels("Lamp | Use\n7 | 2.5")]
    (['FAL1'], ['Lamp 7'])
    """
    header = above = ""
    for line in text.split("\n"):
        label, values = _split(line)
        if label and not (above or _FIGURE.search(values)):
            header = label
        elif label and label.isdecimal() and header:
            yield f"{header}{label}" if header.isupper() else f"{header} {label}"
        elif label:
            yield label
        above = label


def find_name(label: str) -> str:
    """Return the name of a row, its label without what qualifies it.

    >>> find_name("Cash and cash equivalents"), find_name("Cordless drill 18 V")
    ('Cash', 'Cordless drill')
    """
    return _END.split(label.strip(), maxsplit=1)[0]


def row_tokens(question: str) -> dict[str, int]:
    """Return the tokens of the rows that a question may name, each with its number of words.

    A question for a number may name a row by one word, and any question by a technical one. "What
    is an asset?" names none, but "What is the price of it?" may.

    >>> row_tokens("How many assets are there?")
    {'▤mani': 1, '▤asset': 1, '▤maniasset': 2}
    """
    kind = read_question(question).kind
    words = whole_words(_NUMBERED.sub(r"\2 \1", question))[:MAX_ASKED]
    is_for_number = kind == "count" or bool(find_years(question))
    if kind == "definition" and not is_for_number and " of " not in question:
        return {}
    technical = set(whole_words(" ".join(find_technical_words(question))))
    runs = [
        run
        for run in _iter_runs(words)
        if is_for_number or len(run) > 1 or not technical.isdisjoint(run)
    ]
    return {token: len(run) for run in runs if (token := _token(run))}


def _split(line: str) -> tuple[str, str]:
    """Return the label and the values of a row with bars; ("", "") for another line.

    >>> _split("| a | b |"), _split("a | b | c"), _split("a|b")
    (('a', 'b |'), ('a', 'b | c'), ('', ''))
    """
    if _BAR not in line and not line.startswith("|"):
        return "", ""
    label, _, values = line.removeprefix("|").partition("|")
    return label.strip(), values.strip()


def _token(words: Sequence[str]) -> str:
    """Return the token of a name; "" for one without words, with too many, or with a date alone."""
    is_date = all(word.isdecimal() or word in _MONTHS for word in words)
    return "" if is_date or len(words) > MAX_WORDS else join_token(IS_ROW, words)


def _iter_runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for size in range(1, MAX_WORDS + 1):
        yield from (words[at : at + size] for at in range(len(words) - size + 1))
