"""Names in a text: capitalised words and identifiers."""

import re

from esrag.text.terms import STOP_WORDS, find_technical_words

_JOINTS = frozenset({"of", "v", "v.", "vs", "vs.", "van", "von", "de", "der"})
EDGES = ' \t\n,;:!?"“”()[]…'


def find_names(text: str) -> list[str]:
    """Return the names of a text in order: capitalised words, identifiers, and their numbers.

    >>> find_names("Did Cruz v. Arizona cite PEP 8, the Zen of Python or ML-KEM-768?")
    ['Cruz v. Arizona', 'PEP 8', 'Zen of Python', 'ML-KEM-768']
    """
    found: list[list[str]] = []
    is_open = False
    for place, written in enumerate(text.split()):
        word = written.strip(EDGES).removesuffix("'s").removesuffix("’s")
        bare = word.rstrip(".")
        if is_open and (word.lower() in _JOINTS or bare.isdigit() or _is_name(bare, place)):
            found[-1].append(word)
        elif is_open := _is_name(bare, place):
            found.append([word])
        # A comma or the like ends a name.
        is_open = is_open and not written.endswith((*",;:!?)", "'s", "’s"))
    return list(dict.fromkeys(filter(None, map(_join, found))))


def match_whole(name: str) -> re.Pattern[str]:
    """Return a pattern for a name that is not a part of a longer word.

    >>> match_whole("C").sub("Rust", "Can C call code?")
    'Can Rust call code?'
    """
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _join(words: list[str]) -> str:
    """Return a name without the joints that nothing follows."""
    while words and words[-1].lower() in _JOINTS:
        words = words[:-1]
    return " ".join(words).rstrip(".")


def _is_name(word: str, place: int) -> bool:
    if not word or word.lower() in STOP_WORDS:
        return False
    return bool(find_technical_words(word)) or (place > 0 and word[0].isupper())
