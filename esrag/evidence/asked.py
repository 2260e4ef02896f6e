"""Questions and answers of a document: what stands below the question that is asked."""

from collections.abc import Sequence
from itertools import takewhile

from esrag.evidence import Statement
from esrag.text.questions import read_question
from esrag.text.terms import terms

_MIN_SHARED = 0.8  # of the words of both questions together
_MIN_WORDS = 2
_MAX_BELOW = 4  # statements; those further down may be about something else


def find_below(question: str, statements: Sequence[Statement]) -> frozenset[int]:
    """Return the `order` of the statements right below the same question in a document.

    The question there may be a heading or a line, and have the same words in other forms.
    `statements` are all of the evidence, in order.
    """
    words, kind = set(terms(question)), read_question(question).kind
    if len(words) < _MIN_WORDS:
        return frozenset()

    def is_same(text: str) -> bool:
        return (
            text.endswith("?")
            and _share(words, set(terms(text))) >= _MIN_SHARED
            and read_question(text).kind == kind
        )

    found: set[int] = set()
    for place, one in enumerate(statements):
        if is_same(one.under):
            found |= _list_below(statements[place:], one.key)
        elif is_same(one.text):
            found |= _list_below(statements[place + 1 :], one.key)
    return frozenset(found)


def _list_below(statements: Sequence[Statement], key: str) -> set[int]:
    """Return the order of the first statements of a passage, up to its next question."""
    own = takewhile(
        lambda one: one.key == key and not one.text.endswith("?"), statements[:_MAX_BELOW]
    )
    return {one.order for one in own}


def _share(left: set[str], right: set[str]) -> float:
    """Return how much of two sets is in both, 0..1 (Dice, 1945)."""
    return 2 * len(left & right) / (len(left) + len(right))
