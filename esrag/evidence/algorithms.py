"""Draft the steps of "Algorithm N" verbatim, for when a model says that it cannot find them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from esrag.evidence.lines import strip_markers
from esrag.evidence.numbered_steps import Spans, block, steps
from esrag.records import Chunk, Evidence, Hit
from esrag.text import split_sentences
from esrag.text.terms import compounds, terms

_ASKED = re.compile(r"\balg(?:orithm|\.)\s*(\d{1,3})\b(?![.-]\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Part:
    """The span of a passage within a stretch."""

    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Consecutive passages of one document as one text, because an algorithm may span passages."""

    text: str
    parts: tuple[_Part, ...]

    def keys(self, start: int, end: int) -> list[str]:
        """Return the first key whose passage contains the span, else all keys that overlap it."""
        whole = [part.key for part in self.parts if part.start <= start and end <= part.end]
        return whole[:1] or self.list_keys(start, end)

    def list_keys(self, start: int, end: int) -> list[str]:
        """Return the keys of passages that overlap a span."""
        return [part.key for part in self.parts if part.start < end and start < part.end]


def find_algorithm_number(question: str) -> int | None:
    """Return the N of a question about one "Algorithm N", else None.

    >>> find_algorithm_number("What are the steps of algorithm 2?")
    2
    >>> find_algorithm_number("Does Algorithm 2 call Algorithm 4?")
    """
    numbers = {int(number) for number in _ASKED.findall(question)}
    return numbers.pop() if len(numbers) == 1 else None


def extract_steps(question: str, evidence: Sequence[Evidence], *, enabled: bool = True) -> str:
    """Return the steps of the algorithm in the question, verbatim, with a marker after each.

    Return "" without any, or if `answer.algorithms` is not `enabled`. If several documents have an
    Algorithm N, the one with most of the question's technical words is used, then the first in the
    evidence. If the evidence breaks off within an algorithm, so do the steps.
    """
    number = find_algorithm_number(question) if enabled else None
    found = [
        (stretch, spans)
        for stretch in _stretches(evidence)
        if number and (spans := steps(stretch.text, number))
    ]
    if not found:
        return ""
    asked, places = compounds(question), {item.key: place for place, item in enumerate(evidence)}

    def order(one: tuple[_Stretch, Spans]) -> tuple[int, int]:
        return -len(asked & set(terms(one[0].text))), min(places[part.key] for part in one[0].parts)

    stretch, spans = min(found, key=order)
    return " ".join(cited for start, end in spans for cited in _cited(stretch, start, end))


def with_steps(
    question: str,
    hits: Sequence[Hit],
    around: Callable[[Chunk], Iterable[Chunk]],
    *,
    enabled: bool = True,
) -> tuple[Hit, ...]:
    """Return the hits; for an "Algorithm N" its passages, from heading to last step, come first.

    `around` returns the chunks before and after one, as far as an algorithm may extend. The best
    hit in or near Algorithm N counts, and the chunks get its score. Nothing is added if
    `answer.algorithms` is not `enabled`.
    """
    number = find_algorithm_number(question) if enabled else None
    for hit in hits if number else ():
        near = [
            Evidence(chunk.chunk_id, chunk, hit.score) for chunk in (hit.chunk, *around(hit.chunk))
        ]
        for stretch in _stretches(near):
            if number and (found := block(stretch.text, number)):
                held = stretch.list_keys(*found)
                return (
                    *(replace(hit, chunk=item.chunk) for item in near if item.key in held),
                    *hits,
                )
    return tuple(hits)


def _stretches(evidence: Sequence[Evidence]) -> Iterator[_Stretch]:
    run: list[Evidence] = []
    for item in sorted(evidence, key=lambda item: (item.chunk.doc_id, item.chunk.ordinal)):
        if run and not _follows(run[-1], item):
            yield _stretch(run)
            run = []
        run.append(item)
    if run:
        yield _stretch(run)


def _follows(last: Evidence, item: Evidence) -> bool:
    return item.chunk.doc_id == last.chunk.doc_id and item.chunk.ordinal == last.chunk.ordinal + 1


def _stretch(run: Sequence[Evidence]) -> _Stretch:
    """Join chunks that touch or overlap into one text."""
    text, parts, end = "", [], run[0].chunk.start
    for item in run:
        chunk = item.chunk
        text += "\n" if chunk.start > end else ""
        shared = max(end - chunk.start, 0)
        parts.append(_Part(item.key, len(text) - shared, len(text) - shared + len(chunk.text)))
        text += chunk.text[shared:]
        end = chunk.end
    return _Stretch(text, tuple(parts))


def _cited(stretch: _Stretch, start: int, end: int) -> Iterator[str]:
    """Yield a step on one line with its markers; each of several sentences gets them."""
    markers = "".join(f"[{key}]" for key in stretch.keys(start, end))
    # So that an array's [c1] is not a marker.
    said = strip_markers(" ".join(stretch.text[start:end].split()))
    for sentence in split_sentences(said):
        yield f"{sentence} {markers}"
