"""Answers: what they cost without the model's own time.

`python benchmarks/asking.py [--chunks 20000] [--questions 60]`

The index holds SciFact where BEIR_DATA names the folder that holds it, else made-up texts, ingested
with the default settings. What is missing of the chunks is mixed, in documents of two: sentences of
three chunks by turns, with the mean of their vectors. So all that a question is compared with has
real texts, and all of its evidence real sentences, read again for every question.
Questions are SciFact's own, else the first words of texts; each is asked once a row, with the
default settings and without a cache, in a process that has answered some before.

A scripted model takes the place of a language model: it answers at once with the three sentences
that fit best, either nearly as they stand, or with words that the passages do not hold, so that the
check may have to ask the encoder.

Then each reranker that needs no service gets the same 50 hits of some questions: what a hit costs
is the difference between the first 50 and the first 10, divided by 40. The cross-encoder has the
encoder's own weights and a head made up beside them.
"""

import argparse
import json
import os
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from answers import lines
from safetensors.numpy import load_file, save_file
from texts import as_file, rows

from esrag.chunking.cut import text_to_index
from esrag.context import Context, open_rerankers
from esrag.embedding.model_files import locate
from esrag.engines import Prepared
from esrag.generating import Draft, GenerationTask
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ask, ingest
from esrag.records import Chunk, StoredDocument
from esrag.reranking.chain import Limits, rerank
from esrag.retrieving.legs import search_legs
from esrag.settings import DEFAULT_MODEL, Settings
from esrag.settings.layers import resolve
from esrag.text import sentence_spans

SCIFACT_DOCUMENTS, CHUNKS_A_DOCUMENT = 5183, 2.17
DOCUMENTS_A_BATCH = 250
WARM, RERANKED, ENCODED = 10, 20, 200
DEPTHS = (10, 50)
STAGES = ("encode", "keyword", "vector", "fuse", "read", "evidence", "generate", "verify")
RERANKERS = (
    "exact-tokens",
    "lexical",
    "quality",
    "round-robin",
    "mmr",
    "late-interaction",
    "cross-encoder",
)
# A generator that is prompted needs a model; the scripted one never calls it.
MODEL = {"models.default.model": "scripted", "models.default.url": "http://127.0.0.1:9"}


class Scripted:
    """A language model that answers at once.

    It leaves out each fifth small word of a sentence, or exchanges each second one.

    No number, name or technical word is among them.
    """

    model, prompted = "scripted", True

    def __init__(self, *, in_other_words: bool = False) -> None:
        self._every, self._in_other_words = (2 if in_other_words else 5), in_other_words

    def generate(self, task: GenerationTask) -> Draft:
        """The sentences that fit best, in order."""
        best = sorted(task.statements, key=lambda it: -it.fit)[: task.max_sentences]
        return Draft(
            " ".join(
                f"{self._said(it.text)} [{it.key}]" for it in sorted(best, key=lambda it: it.order)
            )
        )

    def _said(self, text: str) -> str:
        small = [match.span() for match in re.finditer(r"(?<= )[a-z]{4,}(?= )", text)]
        for start, end in reversed(small[self._every - 1 :: self._every]):
            instead = f" {text[start:end][::-1]}" if self._in_other_words else ""
            text = text[: start - 1] + instead + text[end:]
        return text


def main() -> None:
    """Prints a table of answers and one of rerankers."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = {"engine.url": str(folder / "index"), **MODEL}
        settings = resolve(flags, environ={}).settings
        work = Work(settings)
        chunks = _filled(work, folder, arguments.chunks)
        questions = _questions(work, arguments.questions + WARM)
        print(f"{chunks:,} chunks, {arguments.questions} questions\n", flush=True)
        before_ms = _chunk_ms(work.context)
        _answers(work.context, questions)
        print(
            f"\nto encode a chunk: {before_ms:.1f} ms before, "
            f"{_chunk_ms(work.context):.1f} ms after these answers\n"
        )
        _rerankers(
            settings,
            work.context,
            questions[: WARM + RERANKED],
            _cross_encoder(folder / "cross-encoder"),
        )
        work.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=60)
    return parser.parse_args()


def _filled(work: Work, folder: Path, wanted: int) -> int:
    """Makes the index; how many chunks it holds."""
    documents = min(SCIFACT_DOCUMENTS, round(wanted / CHUNKS_A_DOCUMENT))
    ingest(IngestRequest([str(as_file(folder / "texts.jsonl", rows(documents)))]), work, Silent())
    engine = work.context.engine
    chunks = list(engine.chunks())
    missing = [
        *_mixed(
            chunks,
            engine.vectors_of([text_to_index(chunk) for chunk in chunks]),
            wanted - len(chunks),
        )
    ]
    with engine.writer(work.made) as writer:
        for first in range(0, len(missing), DOCUMENTS_A_BATCH):
            writer.replace(missing[first : first + DOCUMENTS_A_BATCH])
    return len(chunks) + sum(len(document.chunks) for document in missing)


def _mixed(
    chunks: Sequence[Chunk], vectors: Mapping[str, np.ndarray], wanted: int
) -> Iterator[Prepared]:
    """Documents of two chunks, each made of three others."""
    rng = np.random.default_rng(7)
    for number in range(-(-wanted // 2)):
        doc_id = f"mixed-{number:06}"
        sources = [[chunks[n] for n in rng.choice(len(chunks), 3, replace=False)] for _ in range(2)]
        texts = tuple(map(_in_turn, sources))
        made = tuple(
            Chunk(
                chunk_id=f"{doc_id}::p0001::c{n:03}",
                doc_id=doc_id,
                ordinal=n,
                start=0,
                end=len(text),
                start_page=1,
                end_page=1,
                text=text,
            )
            for n, text in enumerate(texts)
        )
        means = np.array(
            [sum(vectors[text_to_index(chunk)] for chunk in three) for three in sources]
        )
        stored = StoredDocument(
            doc_id=doc_id,
            source=f"/{doc_id}",
            source_sha256="",
            revision="",
            kind="plain",
            title="",
            characters=sum(map(len, texts)),
            page_count=1,
            chunk_count=len(texts),
        )
        yield Prepared(
            document=stored,
            chunks=made,
            indexed_texts=texts,
            vectors=means / np.linalg.norm(means, axis=1, keepdims=True),
        )


def _in_turn(three: Sequence[Chunk]) -> str:
    """Sentences of three texts, one of each at a time, as many as the first has."""
    said = [[chunk.text[start:end] for start, end in sentence_spans(chunk.text)] for chunk in three]
    return " ".join(said[n % 3][n % len(said[n % 3])] for n in range(len(said[0])))


def _questions(work: Work, count: int) -> list[str]:
    """SciFact's, spread over all, else the first words of texts."""
    if os.environ.get("BEIR_DATA"):
        own = [
            row["text"] for row in lines(Path(os.environ["BEIR_DATA"], "scifact", "queries.jsonl"))
        ]
    else:
        own = [" ".join(chunk.text.split()[:8]) for chunk in work.context.engine.chunks()]
    return own[:: max(1, len(own) // count)][:count]


def _chunk_ms(context: Context) -> float:
    """What the encoder takes for a chunk, to compare machines."""
    texts = [text_to_index(chunk) for chunk in islice(context.engine.chunks(), ENCODED)]
    began = time.perf_counter()
    if context.embedder:
        context.embedder.embed(texts)
    return 1000 * (time.perf_counter() - began) / ENCODED


def _answers(context: Context, questions: Sequence[str]) -> None:
    """A row for each way to answer: the whole, then the median of each stage."""
    ways = {
        "extractive": context,
        "extractive, without neighbours": context.with_settings({"answer.neighbours": 0}),
        "scripted model, nearly as it stands": replace(context, generator=Scripted),
        "scripted model, other words": replace(
            context, generator=partial(Scripted, in_other_words=True)
        ),
    }
    print(
        f"| answer | answered | p50 ms | p95 ms | {' | '.join(STAGES)} |\n| --- "
        f"|{' --- |' * (3 + len(STAGES))}"
    )
    for name, way in ways.items():
        for question in questions[:WARM]:
            ask(question, way)
        print(_row(name, [_timed(question, way) for question in questions[WARM:]]), flush=True)


def _timed(question: str, context: Context) -> tuple[float, bool, Mapping[str, float]]:
    """Milliseconds for the whole, whether there was an answer, and milliseconds by stage."""
    began = time.perf_counter()
    asked = ask(question, context)
    return 1000 * (time.perf_counter() - began), not asked.answer.refused, asked.took_ms


def _row(name: str, timed: Sequence[tuple[float, bool, Mapping[str, float]]]) -> str:
    whole = [took_ms for took_ms, _, _ in timed]
    answered = sum(is_answered for _, is_answered, _ in timed)
    laps = [took_ms for _, _, took_ms in timed]
    by_stage = [
        np.median([each[stage] for each in laps if stage in each] or [0]) for stage in STAGES
    ]
    figures = [np.percentile(whole, 50), np.percentile(whole, 95), *by_stage]
    return (
        f"| {name} | {answered} of {len(timed)} | "
        f"{' | '.join(f'{figure:.1f}' for figure in figures)} |"
    )


def _rerankers(settings: Settings, context: Context, questions: Sequence[str], model: Path) -> None:
    """What the first ten hits cost, and each one after: medians over the questions."""
    deep = settings.retrieval.model_copy(update={"k": max(DEPTHS)})
    found = {
        question: search_legs(question, context.engine, context.embedder, deep).hits
        for question in questions
    }
    print(f"\n| reranker | first {DEPTHS[0]} hits, ms | ms per added hit |\n| --- | --- | --- |")
    for name in RERANKERS:
        section = settings.rerank.model_copy(update={"chain": (name,), "model": str(model)})
        chain = open_rerankers(settings.model_copy(update={"rerank": section}), context.embedder)
        took_ms = defaultdict[int, list[float]](list)
        for question, hits in found.items():
            for depth in DEPTHS:
                began = time.perf_counter()
                rerank(question, hits, chain, Limits(depth))
                took_ms[depth].append(1000 * (time.perf_counter() - began))
        few, many = (np.median(took_ms[depth][WARM:]) for depth in DEPTHS)
        print(f"| {name} | {few:.1f} | {(many - few) / (DEPTHS[1] - DEPTHS[0]):.3f} |", flush=True)


def _cross_encoder(folder: Path) -> Path:
    """The encoder's folder with a head of random weights: as fast as a trained one of its size."""
    shutil.copytree(locate(DEFAULT_MODEL).path, folder)
    rng, weights = np.random.default_rng(7), load_file(folder / "model.safetensors")
    width = json.loads((folder / "config.json").read_text())["hidden_size"]
    weights["classifier.weight"] = rng.standard_normal((1, width), dtype=np.float32)
    weights["classifier.bias"] = np.zeros(1, dtype=np.float32)
    # Copies: some of what is read from a file cannot be written anew as it lies.
    save_file(
        {name: np.ascontiguousarray(value) for name, value in weights.items()},
        folder / "model.safetensors",
    )
    return folder


if __name__ == "__main__":
    main()
