"""Texts for the benchmarks: SciFact in the folder that BEIR_DATA names, else made-up ones."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from encoder import VOCABULARY

LONG_CHARACTERS = 1_000_000  # of a document: a long novel, or a standard of 400 pages


class Chapter(NamedTuple):
    """A part of a long document."""

    heading: str
    paragraphs: list[str]
    table: list[list[str]]


def rows(documents: int) -> list[dict[str, str]]:
    """Rows with an id, a title and a text of one to three chunks."""
    if not os.environ.get("BEIR_DATA"):
        print(
            "BEIR_DATA is not set: these texts are made up, "
            "and have less to a chunk than SciFact's\n",
            flush=True,
        )
        return make_documents(documents)
    corpus = Path(os.environ["BEIR_DATA"], "scifact", "corpus.jsonl").read_text(encoding="utf-8")
    wanted = map(json.loads, corpus.splitlines()[:documents])
    return [
        {"id": str(number), "title": row["title"], "text": row["text"]}
        for number, row in enumerate(wanted)
    ]


def make_documents(documents: int) -> list[dict[str, str]]:
    """The same on every machine: about a hundred words each that no encoder knows."""
    rng = random.Random(7)  # noqa: S311 -- made-up words, nothing secret
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randint(2, 10)))
        for _ in range(20_000)
    ]
    made = (
        " ".join(f"{' '.join(rng.choices(words, k=14))}." for _ in range(7))
        for _ in range(documents)
    )
    return [
        {"id": str(n), "title": f"Made-up text {n}", "text": text} for n, text in enumerate(made)
    ]


def as_file(path: Path, wanted: list[dict[str, str]]) -> Path:
    """The rows in one JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in wanted), encoding="utf-8")
    return path


def long_documents(folder: Path) -> Path:
    """Write a long plain text and a long web page with headings, paragraphs and tables."""
    rng = random.Random(7)  # noqa: S311 -- made-up words, nothing secret
    folder.mkdir()
    (folder / "long.txt").write_text("\n\n".join(map(_text, _chapters(rng))), encoding="utf-8")
    page = (
        f"<title>A long page</title>\n<h1>A long page</h1>\n{''.join(map(_html, _chapters(rng)))}"
    )
    (folder / "long.html").write_text(f"<!doctype html>\n{page}", encoding="utf-8")
    return folder


def _chapters(rng: random.Random) -> Iterator[Chapter]:
    """As many as make a document long."""
    vocabulary, length, number = VOCABULARY.split(), 0, 0
    while length < LONG_CHARACTERS:
        number += 1
        sentences = (
            " ".join(rng.choices(vocabulary, k=rng.randint(8, 24))).capitalize() + "."
            for _ in range(30)
        )
        paragraphs = [" ".join(group) for group in zip(*[sentences] * 6, strict=True)]
        numbers = [
            [rng.choice(vocabulary), *(str(rng.randint(1, 9999)) for _ in range(3))]
            for _ in range(6)
        ]
        length += sum(map(len, paragraphs))
        yield Chapter(
            f"{number} {' '.join(rng.choices(vocabulary, k=4)).title()}", paragraphs, numbers
        )


def _text(chapter: Chapter) -> str:
    return "\n\n".join(
        [chapter.heading, *chapter.paragraphs, "\n".join(map("\t".join, chapter.table))]
    )


def _html(chapter: Chapter) -> str:
    paragraphs = "".join(f"<p>{text}</p>\n" for text in chapter.paragraphs)
    table = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in chapter.table
    )
    return f"<h2>{chapter.heading}</h2>\n{paragraphs}<table>\n{table}</table>\n"
