"""Moving an index: what is stored → (embed) → a new index, which is compared with the old one and put in place."""

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice, zip_longest

from esrag.batches import Batches
from esrag.chunking.cut import indexed_text
from esrag.embedding import Embedder
from esrag.engines import Engine, Prepared, SearchRequest
from esrag.errors import EngineError, EsragError
from esrag.ingesting import Progress
from esrag.records import Chunk, Fingerprint

SAMPLE_CHUNKS = 20
# SQLite's BM25 has another inverse document frequency than the servers': on SciFact 97.7 % of the ten first hits are
# the same. An index whose words were lost or cut differently shares hardly any.
LEAST_AGREEMENT = 0.8
_HITS = 10
_QUESTION_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """What came of it: `former` is the name by which the index that was in use can be put back, "" for none.

    `agreement` is the share of the ten first keyword hits that both indexes have in common, `found_again` the share of
    chunks that are among the ten nearest to their own vector (None without a model), each over a sample of chunks.
    """

    name: str
    former: str
    documents: int
    chunks: int
    embedded: int
    agreement: float
    found_again: float | None


def move(
    source: Engine, target: Engine, at: Callable[[str], Engine], embedder: Embedder | None, progress: Progress
) -> Moved:
    """Fills a new index of `target` with what `source` holds and puts it in use; `at` opens an index there by its name.

    With an embedder the texts are embedded anew, else their vectors come along. The former index is kept.
    Raises: EngineError where the two differ, or the source changed meanwhile; then nothing has changed.
    """
    before = source.generation()
    made = _made(source.fingerprint(), embedder)
    name = target.create(made)
    try:
        fresh = at(name)
        with fresh.writer(made) as writer, Batches(writer, embedder) as batches:
            _copy(source, batches, progress, with_vectors=embedder is None)
        agreement, found_again = _compared(source, fresh, made)
        _require_unchanged(source, before)
        counted = next(index for index in target.indexes() if index.name == name)
        former = target.swap(name)
    except BaseException:
        with suppress(EsragError):
            target.drop(name)
        raise
    return Moved(name, former, counted.documents, counted.chunks, batches.embedded, agreement, found_again)


def _made(of_source: Fingerprint, embedder: Embedder | None) -> Fingerprint:
    """What the new index is made with: the chunks stay as they are."""
    if embedder is None:
        return of_source
    return Fingerprint(embedder.fingerprint, embedder.dimensions, of_source.chunker)


def _copy(source: Engine, batches: Batches, progress: Progress, *, with_vectors: bool) -> None:
    progress.start(sum(1 for _ in source.documents()))
    for prepared in _stored(source, with_vectors=with_vectors):
        batches.add(prepared)
        progress.step(prepared.document.doc_id, f"{len(prepared.chunks)} chunks")


def _stored(source: Engine, *, with_vectors: bool) -> Iterator[Prepared]:
    """The documents as they would be stored again."""
    import numpy as np

    chunks = source.chunks()
    vectors = source.vectors() if with_vectors and source.fingerprint().dimensions else None
    for document in source.documents():
        own = tuple(islice(chunks, document.chunk_count))
        pairs = list(islice(vectors, len(own))) if vectors else []
        _require_whole(document.doc_id, document.chunk_count, own)
        rows = np.array([vector for _, vector in pairs], dtype=np.float32) if vectors else None
        yield Prepared(document, own, tuple(map(indexed_text, own)), rows)


def _require_unchanged(source: Engine, generation: int) -> None:
    if source.generation() != generation:
        raise EngineError("the index was written to while it was moved", hint="run the same command again")


def _require_whole(doc_id: str, count: int, chunks: Sequence[Chunk]) -> None:
    if len(chunks) != count or any(chunk.doc_id != doc_id for chunk in chunks):
        hint = "run: esrag doctor, or the same command again if something was ingested meanwhile"
        raise EngineError(f"the chunks of {doc_id} are not what its document says", hint=hint)


def _compared(source: Engine, fresh: Engine, made: Fingerprint) -> tuple[float, float | None]:
    """That both hold the same, and how alike they answer. Raises: EngineError."""
    problems = [*fresh.check()]
    if any(old != new for old, new in zip_longest(source.documents(), fresh.documents())):
        problems.append("the documents differ")
    if problems:
        raise EngineError(f"the new index is not what the old one is: {'; '.join(problems)}", hint="run: esrag doctor")
    sample = heapq.nsmallest(SAMPLE_CHUNKS, source.chunks(), key=_lot)
    agreement = _share([_agreement(source, fresh, chunk) for chunk in sample])
    found_again = _share(_found_again(fresh, made, sample)) if made.dimensions else None
    if min(agreement, 1.0 if found_again is None else found_again) < LEAST_AGREEMENT:
        said = f"keyword hits in common {agreement}, chunks found by their vector {found_again}"
        raise EngineError(f"the new index answers otherwise: {said}", hint="run: esrag doctor")
    return agreement, found_again


def _lot(chunk: Chunk) -> bytes:
    """Chooses a sample that is the same on every engine."""
    return blake2b(chunk.chunk_id.encode()).digest()


def _agreement(source: Engine, fresh: Engine, chunk: Chunk) -> float:
    """The share of keyword hits that both have, for the beginning of a chunk as the question."""
    request = SearchRequest(chunk.text[:_QUESTION_CHARACTERS], method="keyword", size=_HITS)
    one, two = ({hit.chunk.chunk_id for hit in engine.search(request).hits} for engine in (source, fresh))
    return len(one & two) / max(len(one), len(two), 1) if one or two else 1.0


def _found_again(fresh: Engine, made: Fingerprint, sample: Sequence[Chunk]) -> list[float]:
    """For each chunk 1 if it is among the nearest to its own vector, else 0."""
    texts = [indexed_text(chunk) for chunk in sample]
    with fresh.writer(made) as writer:
        vectors = writer.vectors_of(texts)
    requests = [SearchRequest("", vectors[text], method="vector", size=_HITS) for text in texts]
    nearest = [{hit.chunk.chunk_id for hit in fresh.search(request).hits} for request in requests]
    return [float(chunk.chunk_id in near) for chunk, near in zip(sample, nearest, strict=True)]


def _share(parts: Sequence[float]) -> float:
    return round(sum(parts) / len(parts), 4) if parts else 1.0
