"""The two legs: one request to the engine."""

from dataclasses import replace

from esrag.embedding import Embedder, Vectors, check_vectors
from esrag.engines import Engine, SearchRequest, SearchResult
from esrag.engines.clock import Clock
from esrag.engines.preconditions import require_model
from esrag.errors import UsageError
from esrag.filters import Filter
from esrag.settings import RetrievalSettings
from esrag.text import normalise
from esrag.text.defined import definition_tokens
from esrag.text.questions import find_other_words, read_question
from esrag.text.terms import question_terms

MAX_QUESTION_CHARACTERS = 10_000  # a page and a half; longer is a document, not a question


def _build_request(
    settings: RetrievalSettings, where: Filter | None, embedder: Embedder | None
) -> SearchRequest:
    """Return a request without its question."""
    return SearchRequest(
        text="",
        vector=None,
        method=settings.method,
        filter=where,
        size=settings.k,
        candidates=max(settings.candidates, settings.k),
        fusion=settings.fusion,
        rank_constant=settings.rank_constant,
        vector_weight=settings.vector_weight,
        model=embedder.fingerprint if embedder else "",
    )


def search_legs(
    question: str,
    engine: Engine,
    embedder: Embedder | None,
    settings: RetrievalSettings,
    where: Filter | None = None,
) -> SearchResult:
    """Return hits for a question, best first, and the time of each stage.

    If a server runs both legs and their fusion, they are one stage.

    Raises: UsageError for a question that is empty or too long, or the vector method without a
    model; IndexMissing; IndexMismatch if the index was made with another model.
    """
    question = prepare_question(question)
    if embedder is None and settings.method == "vector":
        hint = "set embedding.model, or set retrieval.method to keyword"
        message = 'the vector method needs a model, but embedding.model is "none"'
        raise UsageError(message, hint=hint)

    clock, vector = Clock(), None
    if embedder and settings.method != "keyword":
        vector = query_vector(question, embedder)
        clock.lap("encode")

    request = _build_request(settings, where, embedder)
    also = (
        *definition_tokens(read_question(question).subject),
        *question_terms(" ".join(find_other_words(question).values())),
    )
    found = engine.search(replace(request, text=question, vector=vector, also=also))
    if not found.took_ms:
        clock.lap("search")
    hits = tuple(replace(hit, fused_score=hit.score) for hit in found.hits)
    return replace(found, hits=hits, took_ms={**clock.took_ms, **found.took_ms})


def query_vector(question: str, embedder: Embedder) -> Vectors:
    """Return the question's unit row, shape (dimensions,)."""
    row: Vectors = check_vectors(embedder.embed([question], "query"), 1, embedder.dimensions)[0]
    return row


def prepare_question(question: str) -> str:
    """Return a question as `normalise` writes it, after a check of its length.

    Raises: UsageError for a question that is blank or longer than a page and a half.
    """
    if len(question) > MAX_QUESTION_CHARACTERS:
        message = f"the question has more than {MAX_QUESTION_CHARACTERS:,} characters"
        raise UsageError(message, hint="ask for one thing, and ingest long texts")

    question = normalise(question)
    if not question.strip():
        raise UsageError(
            "the question is empty", hint='type one, such as: esrag ask "How heavy is it?"'
        )
    return question


def require_same_model(engine: Engine, embedder: Embedder | None) -> None:
    """Raise IndexMismatch if vectors of this model cannot be compared with the index's."""
    if embedder:
        require_model(engine.fingerprint(), embedder.fingerprint)
