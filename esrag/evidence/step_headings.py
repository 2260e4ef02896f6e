"""The headings "Step 1: …", "Step 2: …" as the procedure that a question asks for."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from esrag.evidence import NO_DIRECT_ANSWER, Around, DirectAnswer
from esrag.records import Chunk, Evidence, Hit
from esrag.text.questions import read_question
from esrag.text.terms import terms

MAX_STEPS, MAX_DOCUMENTS = 8, 5
USUAL = 0.7  # of the hits
_HEADING = re.compile(
    r"^#{0,6}[^\S\n]*((?:Step|Phase|Stage)[^\S\n]+(\d{1,2})\b[^\n]{3,150}?)[^\S\n]*#*$",
    re.IGNORECASE | re.MULTILINE,
)
_ASKED = re.compile(
    r"\bhow (?:can|could|do|does|is|are|should|to|would)\b"
    r"|\b(?:steps?|phases?|stages?|procedures?|process|prerequisites?|set up|required?|needed)\b",
    re.IGNORECASE,
)
# What a question may say of any procedure.
_DOING = set(
    terms(
        "step phase stage procedure process order first before set up setup configure use using get"
        " need require do go create make build start add enable work implement want follow"
    )
)


@dataclass(frozen=True, slots=True)
class _Step:
    number: int
    heading: str
    chunk: Chunk


def with_procedure(question: str, hits: Sequence[Hit], around: Around) -> tuple[Hit, ...]:
    """Return the hits; the passages with the steps of the procedure that is asked for come first.

    The chunks get the score of the best hit in their document.
    """
    if not _asks_how(question):
        return (*hits,)

    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.chunk.doc_id, hit)
    near = [(hit.chunk, *around(hit.chunk)) for hit in islice(best.values(), MAX_DOCUMENTS)]

    steps = _find_asked(question, near, [hit.chunk for hit in hits])
    chunks = {step.chunk.chunk_id: step.chunk for step in steps}
    first = (replace(best[chunk.doc_id], chunk=chunk) for chunk in chunks.values())
    return (*first, *hits)


def answer_procedure(
    question: str, evidence: Sequence[Evidence], hits: Sequence[Hit], around: Around
) -> DirectAnswer:
    """Return the headings of the steps that a question asks for, as named cells are returned.

    "How do I set up semantic search?" asks for those of the document with most of its words in the
    title and the sections. At least half of them have to be there, and the others in the passages
    with the steps or, such as the name of a product, in most hits. A procedure that goes on in
    passages that are not evidence is not told in part.
    """
    if not _asks_how(question):
        return NO_DIRECT_ANSWER

    keys = {item.chunk.chunk_id: item.key for item in evidence}
    documents: dict[str, list[Chunk]] = {}
    for item in evidence:
        documents.setdefault(item.chunk.doc_id, []).append(item.chunk)
    steps = _find_asked(question, documents.values(), [hit.chunk for hit in hits])
    if not steps or steps not in _iter_procedures(_sort((steps[0].chunk, *around(steps[0].chunk)))):
        return NO_DIRECT_ANSWER
    return DirectAnswer(tuple((keys[step.chunk.chunk_id], step.heading) for step in steps), "named")


def _asks_how(question: str) -> bool:
    return bool(_ASKED.search(question)) and read_question(question).kind == "list"


def _find_asked(
    question: str, documents: Iterable[Sequence[Chunk]], found: Sequence[Chunk]
) -> list[_Step]:
    """Return the steps of the procedure that is named with most words of a question, or none."""
    procedures = [steps for chunks in documents for steps in _iter_procedures(_sort(chunks))]
    if not procedures:
        return []

    asked = set(terms(question)) - _DOING
    needed = asked - _find_usual(found)
    best, most = list[_Step](), len(asked) / 2
    for steps in procedures:
        named = asked & set(terms(_name(steps)))
        is_told = needed - named <= set(terms("\n".join(step.chunk.text for step in steps)))
        if is_told and named and len(named) >= most:
            best, most = steps, len(named) + 1
    return best


def _sort(chunks: Iterable[Chunk]) -> list[Chunk]:
    return sorted(chunks, key=lambda chunk: chunk.ordinal)


def _find_usual(chunks: Sequence[Chunk]) -> set[str]:
    """Return the words that most chunks have."""
    counted = Counter(word for chunk in chunks for word in {*terms(chunk.whole_text)})
    return {word for word, count in counted.items() if count > USUAL * len(chunks)}


def _name(steps: Sequence[_Step]) -> str:
    """Return what names a procedure: the title, and the sections above its steps."""
    above = (step.chunk.section.partition(step.heading)[0] for step in steps)
    return "\n".join((steps[0].chunk.title, *above))


def _iter_procedures(chunks: Sequence[Chunk]) -> Iterator[list[_Step]]:
    """Yield the steps of each procedure, which count up from 1."""
    steps: list[_Step] = []
    for step in _iter_steps(chunks):
        if step.number == 1:
            if _is_whole(steps):
                yield steps
            steps = []
        steps.append(step)
    if _is_whole(steps):
        yield steps


def _iter_steps(chunks: Sequence[Chunk]) -> Iterator[_Step]:
    for chunk in chunks:
        for heading in _HEADING.finditer(chunk.text):
            yield _Step(int(heading[2]), " ".join(heading[1].split()), chunk)


def _is_whole(steps: Sequence[_Step]) -> bool:
    """Return whether steps are numbered without a gap, and are not too many to say."""
    numbers = [step.number for step in steps]
    return 1 < len(steps) <= MAX_STEPS and numbers == [*range(1, len(steps) + 1)]
