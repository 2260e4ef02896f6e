"""Answers from elsewhere than the documents: from the web, or from a language model alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from esrag.answering import build_result
from esrag.citations import MARKERS, OnSentence
from esrag.context import Context
from esrag.engines import SearchResult
from esrag.engines.clock import Clock
from esrag.errors import GeneratorError, SettingsError, WebError
from esrag.evidence.confidence import Signals
from esrag.gathering import Gathered
from esrag.models.profiles import choose_model
from esrag.records import Answer, Chunk, Hit
from esrag.results import AskResult
from esrag.retrieving.legs import query_vector
from esrag.routing import Route
from esrag.text import drop_unshowable
from esrag.web import WebResult
from esrag.web.providers import WebSearch

LABEL = "Not from the documents:"
FROM_WEB = "from the web, not from the documents"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What is known elsewhere: an answer, or hits to answer from, or only a note on why neither."""

    answer: AskResult | None = None
    found: SearchResult | None = None
    notes: tuple[str, ...] = ()

    def label(self, result: AskResult) -> AskResult:
        """Return an answer with the notes, and one from the web as such."""
        labelled = _name_pages(result) if self.found else result
        return labelled.with_notes(self.notes)


def look_elsewhere(
    question: str, route: Route, context: Context, on_sentence: OnSentence
) -> Elsewhere:
    """Return what a route to the web or to a language model alone leads to.

    If neither can be asked, a note says so, and the documents have to answer.

    Raises: SettingsError for a search service that cannot be used.
    """
    match route.kind:
        case "web":
            return _look_on_web(question, context)
        case "direct":
            return _answer_directly(question, route, context, on_sentence)
    return Elsewhere()


def _look_on_web(question: str, context: Context) -> Elsewhere:
    """Return the results of the search service as hits."""
    wanted, clock = context.settings.web, Clock()
    if wanted.provider == "none":
        return _stay("the web was not searched, as web.provider is none")
    try:
        results = WebSearch(wanted).search(question)
    except WebError as error:
        return _stay(f"the web could not be searched: {error.line}")
    if not results:
        return _stay(f"{wanted.provider} found nothing on the web")

    hits = _to_hits(question, results, context)
    clock.lap("web")
    found = SearchResult(hits, f"web-{wanted.provider}", took_ms=clock.took_ms)
    return Elsewhere(found=found, notes=(FROM_WEB,))


def _stay(why: str) -> Elsewhere:
    return Elsewhere(notes=(f"{why}: this is from the documents",))


def _to_hits(question: str, results: Sequence[WebResult], context: Context) -> tuple[Hit, ...]:
    """Return results as hits in their order, with the cosines of their texts."""
    chunks = [_to_chunk(number, result) for number, result in enumerate(results)]
    cosines: list[float | None] = [None] * len(chunks)
    if context.embedder and chunks:
        vector = query_vector(question, context.embedder)
        rows = context.embedder.embed([f"{chunk.title}\n{chunk.text}" for chunk in chunks])
        cosines = [round(float(row @ vector), 6) for row in rows]
    return tuple(
        Hit(chunk, score, vector_rank=rank, vector_score=cosine, fused_score=score)
        for rank, (chunk, cosine) in enumerate(zip(chunks, cosines, strict=True), 1)
        for score in [round(1 / rank, 6)]
    )


def _to_chunk(number: int, result: WebResult) -> Chunk:
    return Chunk(
        chunk_id=f"web::{number + 1}",
        doc_id=result.url,
        ordinal=0,
        start=0,
        end=len(result.text),
        start_page=1,
        end_page=1,
        text=result.text,
        title=result.title,
    )


def _name_pages(result: AskResult) -> AskResult:
    """Return an answer from the web with the address of each cited page as its source."""
    citations = tuple(replace(each, source=each.doc_id) for each in result.citations)
    answer = replace(result.answer, citations=citations)
    return replace(result, answer=answer, route="web", nearest=())


def _answer_directly(
    question: str, route: Route, context: Context, on_sentence: OnSentence
) -> Elsewhere:
    """Return what a language model says by itself: labelled, and without citations."""
    clock = Clock()
    try:
        model = choose_model(context.models())
        completion = model.complete(context.prompts.render_direct(question))
    except (SettingsError, GeneratorError) as error:
        return _stay(f"no language model answered: {error}")

    said = " ".join(MARKERS.sub("", drop_unshowable(completion.text)).split())
    text = f"{LABEL} {said}"
    on_sentence(text)
    clock.lap("generate")
    found = Gathered(
        retrieved=SearchResult((), "none", took_ms=clock.took_ms),
        evidence=(),
        statements=(),
        signals=Signals(0.0, None),
        confidence=0.0,
        lacks=None,
    )
    answer = Answer(text, refused=False)
    result = build_result(question, found, answer, model.model, draft=completion.text)
    return Elsewhere(answer=replace(result, route="direct", decision=route.decision))
