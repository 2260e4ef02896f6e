"""Migration: a stored index → (embed) → a new index, compared with the old one and swapped in."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import islice, zip_longest

from esrag.chunking.cut import text_to_index
from esrag.context import Context, open_beside, open_facts, open_summaries
from esrag.embedding import Embedder
from esrag.engines import Engine, Prepared, SearchRequest, Vectors
from esrag.engines.preconditions import require_generation
from esrag.engines.recall import find_nearest_ids, lot
from esrag.errors import EngineError, EngineUnreachable, EsragError, IndexBusy, UsageError
from esrag.facts.storing import copy_facts
from esrag.ingesting import Progress, Silent
from esrag.ingesting.indexing import Encoding, Portions
from esrag.records import Chunk, Fingerprint, StoredDocument
from esrag.settings import EngineSettings
from esrag.text import format_count

SAMPLE_CHUNKS = 20
# Of the same kind of engine. SQLite's BM25 has another inverse document frequency than the
# servers': on SciFact 97.7 % of the ten first hits are the same, over texts of a few frequent words
# half of them; of words that were lost, none.
MIN_AGREEMENT = 0.8
_HITS = 10
_QUESTION_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """The outcome: `former` is the name that swaps the former index back in, or "".

    `agreement` is the share of the ten first keyword hits that both indexes have in common,
    `found_again` the share of chunks that are among the ten nearest to their own vector (None
    without a model), each over a sample of chunks.
    """

    name: str
    former: str
    documents: int
    chunks: int
    embedded: int
    agreement: float
    found_again: float | None


def _drop_failed(target: Engine, name: str, error: BaseException) -> None:
    """Remove an index that was not completed, unless its server is away."""
    if not isinstance(error, EngineUnreachable):
        with suppress(EsragError):
            target.drop(name)


def _swap(target: Engine, name: str, since: int | None) -> str:
    """Put an index in use and return the former one's name.

    Raises: IndexBusy; then the new one is dropped.
    """
    try:
        return target.swap(name, since)
    except IndexBusy:  # nothing was done; after any other failure it may be in use
        target.drop(name)
        raise


def move(
    source: Engine,
    target: Engine,
    at: Callable[[str], Engine],
    anew: Context | None,
    progress: Progress,
) -> Moved:
    """Fill a new index of `target` with the content of `source`, and put it in use.

    `at` opens an index there by its name. If `anew` gives a context, the texts are embedded again,
    except those with cached vectors; otherwise the vectors are copied. The former index is kept. If
    both engines are one, the index in use takes another's place.

    Raises, with nothing changed: EngineError if the two differ, IndexBusy if the source changed.
    """
    before = source.generation()
    made = _choose_fingerprint(source.fingerprint(), anew.embedder if anew else None)
    name = target.create(made)

    try:
        fresh = at(name)
        embedded = _fill(fresh, made, source, anew, progress)
        require_generation(source.generation(), before)
        agreement, found_again = _compare(source, fresh, made)
        held = fresh.info()
        require_generation(source.generation(), before)
    except BaseException as error:  # what is left of it the next move removes
        _drop_failed(target, name, error)
        raise

    former = _swap(target, name, before if source is target else None)
    return Moved(
        name=name,
        former=former,
        documents=held.documents,
        chunks=held.chunks,
        embedded=embedded,
        agreement=agreement,
        found_again=found_again,
    )


def move_siblings(source: EngineSettings, target: EngineSettings, anew: Context | None) -> None:
    """Bring the facts and the summaries of an index to where it was moved.

    Facts are copied to another place, where earlier ones stay. Raises: as `move`.
    """
    facts, summaries = open_facts(source), open_summaries(source)
    moves = source.url != target.url
    if moves and facts.exists():
        copy_facts(facts, open_facts(target))
    if summaries.exists() and (moves or anew):
        there = open_summaries(target) if moves else summaries
        move(summaries, there, lambda name: open_beside(target, name), anew, Silent())


def require_same_chunks(stored: Fingerprint, asked: Fingerprint) -> None:
    """Raise UsageError if the settings ask for other chunks than the index holds.

    A copy keeps its chunks.
    """
    was, now = (it.chunker.partition(", loaders ")[0] for it in (stored, asked))
    if was != now:
        message = f"a copy of an index keeps its chunks: they are {was}, the settings ask for {now}"
        raise UsageError(
            message, hint="set chunking.* as it was, or run: esrag ingest FOLDER... --rebuild"
        )


def _choose_fingerprint(of_source: Fingerprint, embedder: Embedder | None) -> Fingerprint:
    """Return the fingerprint of the new index, whose chunks stay as they are."""
    if embedder is None:
        return of_source
    return Fingerprint(embedder.fingerprint, embedder.dimensions, of_source.chunker)


def _fill(
    fresh: Engine, made: Fingerprint, source: Engine, anew: Context | None, progress: Progress
) -> int:
    """Copy everything into a new index, and return how many chunks were embedded."""
    embedder = anew.embedder if anew else None
    encoding = Encoding(embedder, fresh.vectors_of, anew.vectors) if anew and embedder else None

    with (
        fresh.writer(made) as writer,
        Portions(lambda: nullcontext(writer), encoding) as portions,
    ):
        _copy(source, portions, progress, with_vectors=encoding is None)

    _require_taken(portions)
    return encoding.embedded if encoding else 0


def _copy(source: Engine, portions: Portions, progress: Progress, *, with_vectors: bool) -> None:
    progress.start(source.info().documents)
    for prepared in _iter_stored(source, with_vectors=with_vectors):
        portions.add(prepared)
        progress.step(prepared.document.doc_id, format_count(len(prepared.chunks), "chunk"))


def _iter_stored(source: Engine, *, with_vectors: bool) -> Iterator[Prepared]:
    """Yield the documents as they would be stored again."""
    chunks = source.chunks()
    vectors = source.vectors() if with_vectors and source.fingerprint().dimensions else None
    for document in source.documents():
        own = tuple(islice(chunks, document.chunk_count))
        pairs = list(islice(vectors, len(own))) if vectors else None
        _require_whole(document, own, pairs)
        yield Prepared(
            document=document,
            chunks=own,
            indexed_texts=tuple(map(text_to_index, own)),
            vectors=None if pairs is None else _to_rows(pairs),
        )


def _to_rows(pairs: Sequence[tuple[str, Vectors]]) -> Vectors:
    """Return the vectors of chunks as one array."""
    import numpy as np

    return np.array([vector for _, vector in pairs], dtype=np.float32)


def _require_taken(portions: Portions) -> None:
    for source, reasons in portions.refused.items():
        raise EngineError(
            f"{source} cannot be moved: {reasons[0]}",
            hint="take it out of the index, then move the rest",
        )


def _require_whole(
    document: StoredDocument, chunks: Sequence[Chunk], vectors: Sequence[tuple[str, Vectors]] | None
) -> None:
    """Raise EngineError unless the document has its own chunks, each with its own vector."""
    ids = [chunk.chunk_id for chunk in chunks if chunk.doc_id == document.doc_id]
    if len(ids) != document.chunk_count or (
        vectors is not None and ids != [chunk_id for chunk_id, _ in vectors]
    ):
        hint = "run: esrag doctor, or the same command again if something was ingested meanwhile"
        raise EngineError(
            f"the chunks of {document.doc_id} are not what its document says", hint=hint
        )


def _compare(source: Engine, fresh: Engine, made: Fingerprint) -> tuple[float, float | None]:
    """Compare two indexes, and return how much their answers agree.

    Raises: EngineError if their contents or their answers differ.
    """
    _require_same_content(source, fresh)
    sample = heapq.nsmallest(SAMPLE_CHUNKS, source.chunks(), key=lambda chunk: lot(chunk.chunk_id))
    agreement = _share([_agreement(source, fresh, chunk) for chunk in sample])
    found_again = _share(_search_again(fresh, sample)) if made.dimensions else None
    least = MIN_AGREEMENT if type(source) is type(fresh) else 0.01
    if agreement < least or (found_again is not None and found_again < MIN_AGREEMENT):
        said = f"keyword hits in common {agreement}, chunks found by their vector {found_again}"
        raise EngineError(f"the new index answers otherwise: {said}", hint="run: esrag doctor")

    return agreement, found_again


def _require_same_content(source: Engine, fresh: Engine) -> None:
    """Raise EngineError if a copy is damaged or has other documents than its source."""
    problems = [*fresh.check()]
    if any(old != new for old, new in zip_longest(source.documents(), fresh.documents())):
        problems.append("the documents differ")
    if problems:
        raise EngineError(
            f"the new index is not what the old one is: {'; '.join(problems)}",
            hint="run: esrag doctor",
        )


def _agreement(source: Engine, fresh: Engine, chunk: Chunk) -> float:
    """Return the share of keyword hits in common, for the beginning of a chunk as the question."""
    request = SearchRequest(chunk.text[:_QUESTION_CHARACTERS], method="keyword", size=_HITS)
    one, two = (
        {hit.chunk.chunk_id for hit in engine.search(request).hits} for engine in (source, fresh)
    )
    return len(one & two) / max(len(one), len(two)) if one or two else 1.0


def _search_again(fresh: Engine, sample: Sequence[Chunk]) -> list[float]:
    """Return for each chunk 1 if it is among the nearest to its own vector, else 0."""
    texts = [text_to_index(chunk) for chunk in sample]
    vectors = fresh.vectors_of(texts)
    near = (
        find_nearest_ids(fresh, vectors[text], _HITS) if text in vectors else () for text in texts
    )
    return [float(chunk.chunk_id in found) for chunk, found in zip(sample, near, strict=True)]


def _share(parts: Sequence[float]) -> float:
    return round(sum(parts) / len(parts), 4) if parts else 1.0
