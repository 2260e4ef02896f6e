"""What summaries cost an ingest, and whether passages are found better through them.

`python benchmarks/summaries.py EXAM DOCS`

EXAM holds `corpus.txt`, a list of files below DOCS, and `questions.jsonl`, in which a question has
the `source` that answers it, and its `page` if the source has pages. The files are ingested without
summaries, with those of documents, and with those of sections. Then each question is
searched with the preset `hierarchical`, flat and with summaries first, and with each leg alone: a
question is found if one of the first five hits is of its page. The chance that a difference to flat
comes about by itself is McNemar's, over the same questions.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import esrag
from esrag.evaluation.comparing import compute_chance

ROUNDS = 3
K = 5
VARIATIONS: Mapping[str, Mapping[str, object]] = {
    "flat": {},
    "summaries first": {"summaries.search": True},
    "keyword": {"retrieval.method": "keyword"},
    "vector": {"retrieval.method": "vector"},
}


def main() -> None:
    """Print both tables."""
    arguments = _arguments()
    listed = (arguments.exam / "corpus.txt").read_text(encoding="utf-8").split("\n")
    files = [arguments.docs / name for name in listed if name]
    with tempfile.TemporaryDirectory() as folder:
        _compare_ingests(files, Path(folder))
        index = Path(folder, "index")
        with esrag.open(index, preset="hierarchical") as opened:
            opened.ingest(*files)
        _compare_searches(index, _questions(arguments.exam), arguments.docs)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("exam", type=Path)
    parser.add_argument("docs", type=lambda name: Path(name).resolve())
    return parser.parse_args()


def _compare_ingests(files: Sequence[Path], folder: Path) -> None:
    """Time alternating ingests with the preset; each fills an index of its own."""
    took: dict[str, list[float]] = {"nothing": [], "documents": [], "sections": []}
    for number in range(ROUNDS):
        for of, seconds in took.items():
            settings = {"summaries.of": of}
            with esrag.open(
                folder / f"{of}-{number}", preset="hierarchical", settings=settings
            ) as index:
                started = time.perf_counter()
                index.ingest(*files)
                seconds.append(time.perf_counter() - started)

    plain = statistics.median(took["nothing"])
    print("| summaries of | seconds | of an ingest without |\n| --- | --- | --- |")
    for of, seconds in took.items():
        median = statistics.median(seconds)
        print(f"| {of} | {median:.1f} | {median / plain:.2f} |")


def _questions(exam: Path) -> list[dict[str, Any]]:
    lines = (exam / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [asked for asked in map(json.loads, lines) if asked.get("source")]


def _compare_searches(index: Path, questions: Sequence[Mapping[str, Any]], docs: Path) -> None:
    """Print how many questions each variation finds, and the chance of its difference to flat."""
    print(f"\n| variation | found of {len(questions)} | by chance |\n| --- | --- | --- |")
    first: list[bool] = []
    for name, values in VARIATIONS.items():
        settings = {"retrieval.k": K, "routing.chain": [], **values}
        with esrag.open(index, preset="hierarchical", settings=settings) as opened:
            paths = {each.doc_id: Path(each.source) for each in opened.documents()}
            found = [_is_found(asked, opened, paths, docs) for asked in questions]
        first = first or found
        chance = compute_chance(first, found)
        print(f"| {name} | {sum(found)} | {'–' if name == 'flat' else f'{chance:.3f}'} |")


def _is_found(
    asked: Mapping[str, Any], index: esrag.Index, paths: Mapping[str, Path], docs: Path
) -> bool:
    wanted = [(docs / each["source"], each.get("page")) for each in (asked, *asked.get("also", []))]
    return any(
        paths[hit.chunk.doc_id] == path
        and (page is None or hit.chunk.start_page <= page <= hit.chunk.end_page)
        for hit in index.search(asked["question"])
        for path, page in wanted
    )


if __name__ == "__main__":
    main()
