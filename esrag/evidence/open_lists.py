"""The rest of a list that goes on in the chunks after a hit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from esrag.evidence.statements import lines
from esrag.records import Chunk, Hit
from esrag.text.questions import read_question
from esrag.text.terms import terms

MIN_SHARED = 2  # words of the question that a list has to have

Around = Callable[[Chunk], Iterable[Chunk]]  # the chunks before and after one


def with_open_lists(question: str, hits: Sequence[Hit], around: Around) -> tuple[Hit, ...]:
    """Return the hits; the rest of the list that a question asks for follows its beginning.

    The list with most words of the question counts, and the chunks get the score of its hit.
    """
    if read_question(question).kind != "list":
        return (*hits,)

    asked = set(terms(question))
    shared = [_count_shared(asked, hit.chunk) for hit in hits]
    most = max(shared, default=0)
    if most < MIN_SHARED:
        return (*hits,)
    at = shared.index(most)
    held = {hit.chunk.chunk_id for hit in hits[: at + 1]}
    rest = {hit.chunk.chunk_id: hit for hit in _iter_rest(hits[at], around)}
    added = [hit for id_, hit in rest.items() if id_ not in held]
    others = [hit for hit in hits[at + 1 :] if hit.chunk.chunk_id not in rest]
    return (*hits[: at + 1], *added, *others)


def _count_shared(asked: set[str], chunk: Chunk) -> int:
    """Return how many of the words a list has that a chunk leaves open; 0 without such a list."""
    open_lists = (line for line in lines(chunk.text) if line.listed and line.listed.is_open)
    return max((len(asked.intersection(terms(line.text))) for line in open_lists), default=0)


def _iter_rest(hit: Hit, around: Around) -> Iterator[Hit]:
    """Yield the chunks after a hit until its list ends."""
    after = (chunk for chunk in around(hit.chunk) if chunk.ordinal > hit.chunk.ordinal)
    for chunk in sorted(after, key=lambda chunk: chunk.ordinal):
        yield replace(hit, chunk=chunk)
        if not any(line.listed and line.listed.is_open for line in lines(chunk.text)):
            return
