"""The rest of a list that goes on in the chunk after a hit."""

from collections.abc import Sequence
from dataclasses import replace

from esrag.evidence import Around
from esrag.evidence.lines import lines
from esrag.records import Chunk, Hit
from esrag.text.questions import read_question
from esrag.text.terms import terms

MIN_SHARED = 2  # words of the question that a list has to have


def with_open_lists(question: str, hits: Sequence[Hit], around: Around) -> tuple[Hit, ...]:
    """Return the hits; the chunk after the list that a question asks for follows its beginning.

    The list with most words of the question counts, first those in what introduces it. The chunk
    gets the score of its hit.
    """
    if read_question(question).kind != "list":
        return (*hits,)

    asked = set(terms(question))
    shared = [_count_shared(asked, hit.chunk) for hit in hits]
    most = max(shared, default=(0, 0))
    if not any(most):
        return (*hits,)
    at = shared.index(most)
    hit = hits[at]
    rest = [chunk for chunk in around(hit.chunk) if chunk.ordinal == hit.chunk.ordinal + 1]
    return (*hits[: at + 1], *(replace(hit, chunk=chunk) for chunk in rest), *hits[at + 1 :])


def _count_shared(asked: set[str], chunk: Chunk) -> tuple[int, int]:
    """Return how many of the words a chunk's open list has in its introduction, and in all.

    A list with fewer than `MIN_SHARED` does not count.
    """
    counts = (
        (_count(asked, line.listed.introduction), _count(asked, line.text))
        for line in lines(chunk.text)
        if line.listed and line.listed.is_open
    )
    return max((count for count in counts if count[1] >= MIN_SHARED), default=(0, 0))


def _count(asked: set[str], text: str) -> int:
    return len(asked.intersection(terms(text)))
