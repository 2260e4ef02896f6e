"""Questions and answers of a document: what stands below the question that is asked."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile

from esrag.evidence import Statement
from esrag.records import Chunk, Evidence
from esrag.text.mentions import find_numbers, is_numbered
from esrag.text.questions import read_question
from esrag.text.terms import terms

_MIN_SHARED = 0.8  # of the words of both questions together
_MIN_WORDS = 2
_MAX_BELOW = 4  # statements; those further down may be about something else


def find_below(
    question: str, statements: Sequence[Statement], evidence: Sequence[Evidence]
) -> frozenset[int]:
    """Return the `order` of the statements right below the same question in a document.

    The question there may be a heading or a line, and have the same words in other forms, without
    the document's name. `statements` are all of the evidence, in order.
    """
    names = {item.key: _find_name(question, item.chunk) for item in evidence}
    found: set[int] = set()
    for place, one in enumerate(statements):
        if asks_same(question, one.text, names[one.key]):
            found |= _list_below(statements[place + 1 :], one.key)
        elif asks_same(question, one.under, names[one.key]):
            found |= _list_below(statements[place:], one.key)
    return frozenset(found)


def _find_name(question: str, chunk: Chunk) -> frozenset[str]:
    """Return the terms of a document's title, and of its number if the question has that."""
    names = (chunk.doc_id, chunk.title)
    numbers = [each for each in find_numbers(question) if is_numbered(each, *names)]
    return frozenset(terms(" ".join((chunk.title, *numbers))))


def asks_same(question: str, text: str, name: AbstractSet[str] = frozenset()) -> bool:
    """Return whether a text is the same question, perhaps in other forms of its words.

    The question may add the `name` of the document.

    >>> asks_same("How long do orders take?", "How long does an order take?")
    True
    >>> asks_same("How long do orders take?", "How much does an order take?")
    False
    >>> asks_same("Is a dict of PEP 372 slow?", "Is a dict slow?", {"pep", "372"})
    True
    """
    if not text.endswith("?"):
        return False
    words, own = ({*terms(each.lower())} for each in (question, text))  # "pH" has two parts
    words -= name - own
    is_alike = len(words) >= _MIN_WORDS and _share(words, own) >= _MIN_SHARED
    return is_alike and read_question(text).kind == read_question(question).kind


def _list_below(statements: Sequence[Statement], key: str) -> set[int]:
    """Return the order of the first statements of a passage, up to its next question."""
    own = takewhile(
        lambda one: one.key == key and not one.text.endswith("?"), statements[:_MAX_BELOW]
    )
    return {one.order for one in own}


def _share(left: set[str], right: set[str]) -> float:
    """Return how much of two sets is in both, 0..1 (Dice, 1945)."""
    return 2 * len(left & right) / (len(left) + len(right))
