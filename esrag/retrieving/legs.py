"""The two legs: one request to the engine."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from esrag.chunking.cut import text_to_index
from esrag.embedding import Embedder, Vectors, check_vectors
from esrag.engines import Engine, SearchRequest, SearchResult
from esrag.engines.clock import Clock
from esrag.engines.preconditions import require_model
from esrag.errors import UsageError
from esrag.filters import Filter
from esrag.records import Hit
from esrag.settings import RetrievalSettings
from esrag.text import normalise
from esrag.text.dates import date_tokens
from esrag.text.defined import definition_tokens
from esrag.text.mentions import find_numbers, is_numbered, leave_out_names
from esrag.text.questions import find_other_words, read_question
from esrag.text.rows import find_rows, row_tokens
from esrag.text.terms import question_terms, terms

DEFINITIONS, ROWS = 10, 30  # passages that are found by what they define, and by their rows
MOST_FIRST = 2  # of these
# Hits from a document that a question names, and those that they come after. Without a number most
# hits have to be from it.
NAMED, KEPT, MOSTLY = 3, 3, 0.5
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
    also = question_terms(" ".join(find_other_words(question).values()))
    also += date_tokens(question)
    whole = replace(request, text=question, vector=vector, also=(*also,))
    found = engine.search(whole)
    defined = () if settings.method == "vector" else _search_definitions(question, request, engine)
    if not found.took_ms:
        clock.lap("search")
    rows = () if settings.method == "vector" else _search_rows(question, request, engine)
    named = _add_named(whole, found.hits, engine)
    hits = _put_first(defined, _put_first(rows, named))[: request.size]
    hits = tuple(replace(hit, fused_score=hit.score) for hit in hits)
    return replace(found, hits=hits, took_ms={**clock.took_ms, **found.took_ms})


def _search_definitions(question: str, request: SearchRequest, engine: Engine) -> tuple[Hit, ...]:
    """Return hits that seem to define what a question wants to have defined."""
    subject = read_question(question).subject
    tokens = definition_tokens(subject)
    if not tokens or f"{subject} of " in question:  # "What is the colour of a proxy?"
        return ()

    wanted = replace(request, method="keyword", also=tokens, size=DEFINITIONS)
    return engine.search(wanted).hits


def _search_rows(question: str, request: SearchRequest, engine: Engine) -> tuple[Hit, ...]:
    """Return hits with a table whose row has the longest name in a question; the closest first."""
    tokens = row_tokens(question)
    if not tokens:
        return ()

    wanted = replace(request, method="keyword", also=(*tokens,), size=ROWS)
    found = engine.search(wanted).hits
    if len(found) == ROWS:  # perhaps not all of them: the question tells which are closest
        found = engine.search(replace(wanted, text=question)).hits

    rows = [find_rows(hit.chunk.text) for hit in found]
    sizes = [max((tokens.get(row, 0) for row in each), default=0) for each in rows]
    longest = max(sizes, default=0)
    named = [hit for hit, size in zip(found, sizes, strict=True) if size == longest]
    asked = set(terms(question))
    shared = {
        hit.chunk.chunk_id: len(asked.intersection(terms(text_to_index(hit.chunk))))
        for hit in named
    }
    named.sort(key=lambda hit: -shared[hit.chunk.chunk_id])
    return tuple(named[: min(longest, MOST_FIRST)])  # one word is little to go by


def _add_named(request: SearchRequest, hits: Sequence[Hit], engine: Engine) -> Sequence[Hit]:
    """Return the hits, with some for the rest of a question that names a document, from that one.

    A document is named by its number, or by words of its title if most hits are from it.
    """
    most = Counter(hit.chunk.doc_id for hit in hits).most_common(1)
    main = next((doc_id for doc_id, count in most if count >= MOSTLY * len(hits)), "")
    title = next((hit.chunk.title for hit in hits if hit.chunk.doc_id == main), "")
    bare, numbers = leave_out_names(request.text, title), find_numbers(request.text)
    if request.method == "vector" or not (hits and bare and (main or numbers)):
        return hits

    def is_named(hit: Hit) -> bool:
        names = (hit.chunk.title, hit.chunk.doc_id)
        return hit.chunk.doc_id == main or any(is_numbered(each, *names) for each in numbers)

    wanted = replace(request, method="keyword", text=bare, vector=None, size=request.candidates)
    first, rest = hits[:KEPT], hits[KEPT:]
    known = {hit.chunk.chunk_id for hit in first}
    found = [hit for hit in engine.search(wanted).hits if is_named(hit)][:NAMED]
    new = [replace(hit, score=first[-1].score) for hit in found if hit.chunk.chunk_id not in known]
    known |= {hit.chunk.chunk_id for hit in new}
    return (*first, *new, *(hit for hit in rest if hit.chunk.chunk_id not in known))


def _put_first(defined: Sequence[Hit], hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits, some of those that define or have a row first, with the best hit's score.

    They are the best two by both legs, or else by their definitions, and the best by these.
    """
    if not defined:
        return (*hits,)
    ids, keys = {hit.chunk.chunk_id for hit in defined}, {hit.chunk.chunk_id for hit in hits}
    own = [hit for hit in hits if hit.chunk.chunk_id in ids]
    ranked = [*own, *(hit for hit in defined if hit.chunk.chunk_id not in keys)]
    best = [hit for hit in ranked if hit.chunk.chunk_id == defined[0].chunk.chunk_id]
    first = {hit.chunk.chunk_id: hit for hit in (*ranked[:MOST_FIRST], *best)}
    if not hits:
        return (*first.values(),)

    rest = [hit for hit in hits if hit.chunk.chunk_id not in first]
    return (*(replace(hit, score=hits[0].score) for hit in first.values()), *rest)


def query_vector(question: str, embedder: Embedder) -> Vectors:
    """Return the question's unit row, shape (dimensions,)."""
    row: Vectors = check_vectors(embedder.embed([question], "query"), 1, embedder.dimensions)[0]
    return row


def prepare_question(question: str) -> str:
    """Return a question as `normalise` writes it, after a check of its length.

    Raises: UsageError for a question without a word, or longer than a page and a half.
    """
    if len(question) > MAX_QUESTION_CHARACTERS:
        message = f"the question has more than {MAX_QUESTION_CHARACTERS:,} characters"
        raise UsageError(message, hint="ask for one thing, and ingest long texts")

    question = normalise(question)
    if not any(map(str.isalnum, question)):
        raise UsageError(
            "the question is empty", hint='type one, such as: esrag ask "How heavy is it?"'
        )
    return question


def require_same_model(engine: Engine, embedder: Embedder | None) -> None:
    """Raise IndexMismatch if vectors of this model cannot be compared with the index's."""
    if embedder:
        require_model(engine.fingerprint(), embedder.fingerprint)
