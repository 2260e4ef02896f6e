"""Where the cited documents come from."""

from dataclasses import replace

from esrag.engines import Engine
from esrag.records import Answer


def name_sources(answer: Answer, engine: Engine) -> Answer:
    """Return the answer with the path or address of each document that it cites, where the index knows it.

    Raises: EngineError.
    """
    if not answer.citations:
        return answer

    doc_ids = sorted({citation.doc_id for citation in answer.citations})
    sources = {document.doc_id: document.source for document in engine.documents(doc_ids)}
    named = (replace(citation, source=sources.get(citation.doc_id, "")) for citation in answer.citations)
    return replace(answer, citations=tuple(named))
