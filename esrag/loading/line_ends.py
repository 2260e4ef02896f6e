"""The ends of the lines of plain text, at which a word with a hyphen may be cut."""

import re
from collections.abc import Iterator, Sequence

MIN_FULL = 50  # characters of a line whose last word goes on in the next one
MAX_LINE = 300

_CUT = re.compile(r"[^\W_]-\Z")
_REST = re.compile(r"(?P<indent>\s{0,40})(?P<word>[^\W\d_]\S{1,80})(?:\s{1,2}|\Z)")
_COLUMNS = re.compile(r"\S\s{3}|\|")  # of a table or a drawing
# After them the hyphen stands for what follows: "two- and three-day".
_SUSPENDS = frozenset(("and", "bis", "et", "nor", "oder", "or", "ou", "through", "to", "und"))


def join_cut_words(text: str) -> str:
    r"""Return a text in which words with a hyphen at the end of a full line are whole.

    >>> full = "The kettle of the harbour boils water for the long-"
    >>> join_cut_words(f"{full}\n   distance crew.\n"), join_cut_words("long-\ndistance")
    ('The kettle of the harbour boils water for the long-distance\n   crew.\n', 'long-\ndistance')
    >>> join_cut_words(f"{full}\n  distance\n  crew.") == f"{full}distance\n  crew."
    True
    >>> join_cut_words(f"{full}\n and short-distance crew.") == f"{full}\n and short-distance crew."
    True
    """
    return "\n".join(_iter_joined(text.split("\n")))


def _iter_joined(lines: Sequence[str]) -> Iterator[str]:
    last, *following = lines
    for line in following:
        if rest := _find_rest(last, line):
            last += rest["word"]
            below = rest["indent"] + line[rest.end() :]
            if not below.strip():
                continue
        else:
            below = line
        yield last
        last = below
    yield last


def _find_rest(line: str, below: str) -> re.Match[str] | None:
    """Return the rest of the word that a line ends with, or None if the line ends with a whole one.

    >>> full = "x" * 50 + "-"
    >>> _find_rest(full, " ray lamp")["word"], _find_rest(full, "- a"), _find_rest(full, "a | b")
    ('ray', None, None)
    """
    if not (MIN_FULL <= len(line) <= MAX_LINE and _CUT.search(line)):
        return None
    if _COLUMNS.search(line.strip()) or _COLUMNS.search(below.strip()):
        return None
    rest = _REST.match(below)
    return rest if rest and rest["word"].casefold() not in _SUSPENDS else None
