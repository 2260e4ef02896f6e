"""Name what a question asks about by its abbreviation too, where the evidence introduces one."""

import re
from collections.abc import Iterable

MAX_INTRODUCED = 50  # abbreviations of a passage that are looked at

# Words, and what stands for them in brackets.
_INTRODUCED = re.compile(r"(?<!\w)((?:[\w'’-]{1,40} ){1,7}[\w'’-]{1,40}) \(([A-Z][A-Za-z&]{1,9})\)")
_LETTERS = re.compile(r"[A-Z]")


def add_abbreviations(question: str, texts: Iterable[str]) -> str:
    """Return a question with the abbreviations of its words that the texts introduce.

    >>> add_abbreviations("What false match rate is allowed?", ["The False Match Rate (FMR) is 1."])
    'What false match rate (FMR) is allowed?'
    >>> add_abbreviations("What rate is it?", ["The False Match Rate (FMR) is 1."])
    'What rate is it?'
    """
    for text in texts:
        for before, short in _INTRODUCED.findall(text)[:MAX_INTRODUCED]:
            question = _add(question, _find_long_form(before, short), short)
    return question


def _find_long_form(before: str, short: str) -> str:
    """Return the words before an abbreviation that it stands for, "" if none begin as it does."""
    initials = [letter.casefold() for letter in _LETTERS.findall(short)]
    words = before.split()[-len(initials) :]
    is_long = len(initials) > 1 and [word[0].casefold() for word in words] == initials
    return " ".join(words) if is_long else ""


def _add(question: str, long: str, short: str) -> str:
    found = re.search(rf"\b{re.escape(long)}s?\b", question, re.IGNORECASE) if long else None
    if found is None or re.search(rf"\b{re.escape(short)}s?\b", question):
        return question
    return f"{question[: found.end()]} ({short}){question[found.end() :]}"
