"""Check drafts from any source: text with markers and its passages → a verdict per sentence."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from esrag.citations import MARKERS
from esrag.errors import UsageError
from esrag.records import Answer, Chunk, Citation, Evidence
from esrag.verifying.support import Entail
from esrag.verifying.verify import MARKED, MAX_DRAFT, Check, Rules, take_sentence, verify

MAX_PASSAGES = 1000
HINT = 'write {"draft": "A sentence. [c1]", "passages": ["text of c1", …]}'

Passage = str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SentenceVerdict:
    """A sentence with its markers, and how its passages support it, 0..1, or why they do not."""

    text: str
    supported: bool
    reason: str
    note: str
    support: float
    citations: tuple[Citation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as `esrag verify --json` prints it."""
        return {**asdict(self), "citations": [asdict(each) for each in self.citations]}


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """Whether a draft is a valid answer, with a verdict on each of its sentences."""

    supported: bool
    reason: str
    note: str
    sentences: tuple[SentenceVerdict, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag verify --json` prints."""
        return {
            "schema": "esrag.verdict/1",
            **asdict(self),
            "sentences": [sentence.to_dict() for sentence in self.sentences],
        }


def read_request(text: str) -> tuple[str, list[Passage]]:
    """Return the draft and the passages of a JSON object. Raises: UsageError for anything else."""
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"expected a JSON object, found text that is not JSON: {error}", hint=HINT
        ) from error

    match request:
        case {"draft": str(draft), "passages": list(passages)}:
            return draft, passages
    raise UsageError("expected an object with a draft and a list of passages", hint=HINT)


def verify_draft(
    draft: str, passages: Sequence[Passage], entail: Entail | None = None, *, quotes: bool = False
) -> DraftVerdict:
    """Check every sentence of a draft against the passages that it cites.

    The first passage is `c1`, the second `c2`. A passage is its text, or a mapping of `text` and,
    if known, `title` and `section`. Without `entail`, words alone decide. With `quotes`, each
    sentence has to quote its passage verbatim.

    Raises: UsageError.
    """
    if not isinstance(draft, str):
        raise UsageError(f"expected a draft as text, found {type(draft).__name__}", hint=HINT)
    if isinstance(passages, str | bytes) or not isinstance(passages, Sequence):
        raise UsageError(f"expected a list of passages, found {type(passages).__name__}", hint=HINT)
    if len(passages) > MAX_PASSAGES:
        raise UsageError(f"expected at most {MAX_PASSAGES} passages, found {len(passages)}")
    evidence = to_evidence(passages)

    whole = verify(draft, evidence, entail, quotes=quotes)
    sentences = judge_sentences(draft, evidence, entail, quotes=quotes)
    note = "; ".join(whole.notes) if whole.refused else ""
    return DraftVerdict(
        supported=not whole.refused, reason=whole.reason or "", note=note, sentences=sentences
    )


def judge_sentences(
    draft: str,
    evidence: Sequence[Evidence],
    entail: Entail | None = None,
    *,
    question: str = "",
    quotes: bool = False,
) -> tuple[SentenceVerdict, ...]:
    """Check every sentence of a draft by itself; none if the draft is longer than any answer."""
    if len(draft) > MAX_DRAFT:
        return ()

    rules = Rules(quotes=quotes)
    return tuple(
        _verdict(sentence, Check(question, evidence, rules, entail).answer(sentence))
        for sentence in _sentences(draft)
    )


def to_evidence(passages: Sequence[Passage]) -> list[Evidence]:
    """Return passages as evidence, `c1`, `c2`, … in order.

    Raises: UsageError for any other value.
    """
    return [_evidence(number, passage) for number, passage in enumerate(passages, start=1)]


def _sentences(draft: str) -> Iterator[str]:
    """Yield each sentence of a draft with its markers, split as in answers, then the rest."""
    start = 0
    while markers := MARKED.search(draft, start):
        sentence, start = take_sentence(draft, markers, start)
        yield f"{sentence} {markers[0].strip()}"
    if MARKERS.sub("", draft[start:]).strip(" \n.!?"):
        yield draft[start:].strip()


def _verdict(sentence: str, answer: Answer) -> SentenceVerdict:
    return SentenceVerdict(
        text=sentence,
        supported=not answer.refused,
        reason=answer.reason or "",
        note="; ".join(answer.notes) if answer.refused else "",
        support=min((citation.support for citation in answer.citations), default=0.0),
        citations=answer.citations,
    )


def _evidence(number: int, passage: object) -> Evidence:
    """Return a passage as evidence, a document of one page.

    Raises: UsageError for any other value.
    """
    fields = {"text": passage} if isinstance(passage, str) else passage
    if not (
        isinstance(fields, Mapping)
        and "text" in fields
        and all(isinstance(it, str) for it in fields.values())
    ):
        raise UsageError(
            f"expected passage {number} to be a text, or an object with a text", hint=HINT
        )

    text = fields["text"]
    chunk = Chunk(
        chunk_id=f"c{number}",
        doc_id=f"c{number}",
        ordinal=0,
        start=0,
        end=len(text),
        start_page=1,
        end_page=1,
        text=text,
        title=fields.get("title", ""),
        section=fields.get("section", ""),
    )
    return Evidence(key=f"c{number}", chunk=chunk, score=1.0)
