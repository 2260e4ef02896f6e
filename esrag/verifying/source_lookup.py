"""Look up the sources of the cited documents."""

from dataclasses import replace

from esrag.engines import Engine
from esrag.records import Answer


def name_sources(answer: Answer, engine: Engine) -> Answer:
    """Return the answer with the path or address of each cited document that the index has.

    Raises: EngineError.
    """
    if not answer.citations:
        return answer

    doc_ids = sorted({citation.doc_id for citation in answer.citations})
    sources = {document.doc_id: document.source for document in engine.documents(doc_ids)}
    named = (
        replace(citation, source=sources.get(citation.doc_id, "")) for citation in answer.citations
    )
    return replace(answer, citations=tuple(named))
