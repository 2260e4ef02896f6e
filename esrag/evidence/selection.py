"""Select the passages that an answer may use, with their order and keys."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from sys import maxsize

from esrag.errors import ContextTooLarge
from esrag.evidence import Statement
from esrag.evidence.compression import select_spans
from esrag.evidence.numbered_steps import split_steps
from esrag.models import PromptDocument
from esrag.records import Evidence, Hit


@dataclass(frozen=True, slots=True)
class EvidenceBudget:
    """The maximum size of the evidence; `count` returns the tokens of a text."""

    chunks: int
    characters: int
    tokens: int
    count: Callable[[str], int]

    @property
    def without_sizes(self) -> "EvidenceBudget":
        """Return the same budget for passages of any size, if they are compressed later."""
        return replace(self, characters=maxsize, tokens=maxsize)


def select(hits: Iterable[Hit], budget: EvidenceBudget) -> tuple[Evidence, ...]:
    """Return evidence with keys c1…cN from hits in order of importance.

    A chunk counts once, with its best score. Hits are taken while there is room; one that is too
    large is skipped for smaller ones. Keys follow (−score, doc_id, start_page, end_page, chunk_id),
    so that neighbours follow their hit.

    Raises: ContextTooLarge if not even the first hit fits.
    """
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.chunk.chunk_id)
        if known is None or hit.score > known.score:
            best[hit.chunk.chunk_id] = hit

    chosen = sorted(_within(best.values(), budget), key=_order)
    return tuple(
        Evidence(f"c{n}", hit.chunk, hit.score, closeness=hit.vector_score)
        for n, hit in enumerate(chosen, 1)
    )


def compress_evidence(
    question: str, evidence: Sequence[Evidence], stated: Sequence[Statement], budget: EvidenceBudget
) -> tuple[Evidence, ...]:
    """Return the evidence compressed to the budget.

    A passage may disappear, and the others keep their keys.

    Raises: ContextTooLarge if not even one sentence fits.
    """
    fits: dict[str, float] = {}
    for statement in stated:
        fits[statement.source] = max(statement.fit, fits.get(statement.source, 0.0))
    texts = [item.chunk.text for item in evidence]
    kept, before = tuple(evidence), tuple[Evidence, ...]()

    while (excess := _excess(kept, budget)) > 1:
        if kept == before:
            raise _too_large(
                f"the best sentence of {kept[0].chunk.chunk_id}", render_passage(kept[0]), budget
            )
        characters = sum(len(render_passage(item)) for item in kept)
        # Assumes even density of tokens; figures are denser.
        allowed = min(characters - 1, int(characters / excess))
        spans = select_spans(
            texts, question, lambda sentence: fits.get(" ".join(sentence.split()), 0.0), allowed
        )
        before, pairs = kept, zip(evidence, spans, strict=True)
        kept = tuple(replace(item, kept=of_it) for item, of_it in pairs if of_it)

    return kept


def render_passage(item: Evidence) -> str:
    """Return the part of a passage that is sent, laid out for reading; " … " marks a gap."""
    text = item.chunk.text
    if not item.kept:
        return split_steps(text)
    return " … ".join(["", *(split_steps(text[start:end]) for start, end in item.kept), ""]).strip()


def documents(evidence: Iterable[Evidence], *, metadata: bool = True) -> tuple[PromptDocument, ...]:
    """Return the passages for a service that takes documents, with title and section or without."""
    return tuple(
        PromptDocument(
            key=item.key,
            title=item.chunk.title if metadata else "",
            section=item.chunk.section if metadata else "",
            text=render_passage(item),
        )
        for item in evidence
    )


def _excess(evidence: Sequence[Evidence], budget: EvidenceBudget) -> float:
    """Return the size of the rendered evidence in multiples of the budget."""
    texts = [render_passage(item) for item in evidence]
    return max(
        sum(map(len, texts)) / budget.characters, sum(map(budget.count, texts)) / budget.tokens
    )


def _within(hits: Iterable[Hit], budget: EvidenceBudget) -> list[Hit]:
    chosen: list[Hit] = []
    characters, tokens = budget.characters, budget.tokens

    for hit in hits:
        if len(chosen) == budget.chunks:
            break
        long, many = len(hit.chunk.text), budget.count(hit.chunk.text)
        if long <= characters and many <= tokens:
            chosen.append(hit)
            characters, tokens = characters - long, tokens - many
        elif not chosen:
            raise _too_large(f"the best passage, {hit.chunk.chunk_id},", hit.chunk.text, budget)

    return chosen


def _too_large(what: str, text: str, budget: EvidenceBudget) -> ContextTooLarge:
    allowed = f"the budget is {budget.characters:,} and {budget.tokens:,}"
    size = f"{len(text):,} characters, {budget.count(text):,} tokens; {allowed}"
    hint = (
        "raise answer.evidence_characters and answer.evidence_tokens, "
        "or ingest with a smaller chunking.size"
    )
    return ContextTooLarge(f"{what} has {size}", hint=hint)


def _order(hit: Hit) -> tuple[float, str, int, int, str]:
    chunk = hit.chunk
    return (-hit.score, chunk.doc_id, chunk.start_page, chunk.end_page, chunk.chunk_id)
