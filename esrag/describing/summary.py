"""Summarise one document with its own sentences: of its abstract, else of its main sections."""

import re
from collections.abc import Sequence
from itertools import islice

from esrag.context import Context
from esrag.describing.naming import find_documents
from esrag.engines import SearchResult
from esrag.evidence import Statement
from esrag.evidence.confidence import Signals
from esrag.filters import And, Filter, Terms
from esrag.gathering import Gathered
from esrag.records import Evidence
from esrag.summarising.extractive import MAX_READ, Sentence, choose_sentences, find_lead

WITHOUT_LEAD = 0.55  # confidence in the first sentences of the sections
_ONE = re.compile(r"\bin (?:a|one|1)(?: short| single)? sentence\b", re.IGNORECASE)


def find_summary(
    question: str, name: str, context: Context, where: Filter | None
) -> Gathered | None:
    """Return the sentences that sum up the document with a name; None if no document has it.

    Raises: IndexMissing.
    """
    named = find_documents(name, context, where)
    if not named:
        return None
    only = Terms("doc_id", (named[0][0].doc_id,))
    chunks = list(islice(context.engine.chunks(And((only, where)) if where else only), MAX_READ))
    lead = find_lead(chunks)
    most = 1 if _ONE.search(question) else context.settings.answer.max_sentences
    chosen = choose_sentences(lead, chunks, most)
    if not chosen:
        return None
    return _gather(chosen, 1.0 if lead else WITHOUT_LEAD)


def _gather(chosen: Sequence[Sentence], sureness: float) -> Gathered:
    """Return the sentences as statements, and their passages as evidence."""
    chunks = list({each.chunk.chunk_id: each.chunk for each in chosen}.values())
    keys = {chunk.chunk_id: f"c{n}" for n, chunk in enumerate(chunks, 1)}
    return Gathered(
        retrieved=SearchResult((), "document"),
        evidence=tuple(Evidence(keys[chunk.chunk_id], chunk, 1.0) for chunk in chunks),
        statements=tuple(
            Statement(
                key=keys[each.chunk.chunk_id], order=n, text=each.text, source=each.text, fit=1.0
            )
            for n, each in enumerate(chosen)
        ),
        signals=Signals(sureness, None),
        confidence=sureness,
        lacks=None,
    )
