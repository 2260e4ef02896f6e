"""Files that are not as they were written: what is told is right, or a named error, and never
anything else.

A bit is flipped, the end is cut off or a sector is overwritten, at random places of each file that
lies in the folder of an index, with the ledger and the cache. `ESRAG_DAMAGES=5000 pytest -s
tests/engines/test_damage.py` does more of it.
"""

import os
import random
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest

from esrag.chunking.cut import text_to_index
from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.errors import EsragError
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ask, ingest, search
from esrag.settings.layers import resolve

DAMAGES = int(os.environ.get("ESRAG_DAMAGES", "500"))
QUESTION = "How many litres does lamp 17 burn?"
FILES = 60
SECTOR = 512
INDEX, VECTORS, LEDGER, CACHE = (
    "esrag/index.sqlite3",
    "esrag/vectors-0.f32",
    "ledger.sqlite3",
    "cache.sqlite3",
)
SHARED = f"{INDEX}-shm"  # what the last reader left


def settings_of(folder, *, cached):
    """An index with its ledger in one folder, where the cache is as well."""
    place = {
        "engine.url": str(folder),
        "cache.url": str(folder / CACHE) if cached else "",
        "answer.refusal": 0,
    }
    hashing = {"embedding.provider": "hashing", "embedding.model": "hashing"}
    return resolve({**place, **hashing}, {}, folder).settings


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The folder, the bytes of each file in it, and what is told of it."""
    texts, folder = tmp_path_factory.mktemp("texts"), tmp_path_factory.mktemp("index")
    for number in range(FILES):
        lines = (
            f"Lamp {number} burns {3 * number + line} litres in hall {number + line}."
            for line in range(12)
        )
        (texts / f"lamp{number:02}.txt").write_text("\n\n".join(lines))
    with closing(Work(settings_of(folder, cached=True))) as work:
        assert ingest(IngestRequest([str(texts)]), work, Silent()).added == FILES
    with closing(EmbeddedEngine(EngineOptions(str(folder)))) as engine:
        indexed = [text_to_index(chunk) for chunk in engine.chunks()]
    fresh, first, again = (told(folder, indexed, cached=cached) for cached in (False, True, True))
    assert fresh == first | {"vectors": {}} == again | {"vectors": {}}
    assert set(again["vectors"]) == set(indexed)
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert {INDEX, VECTORS, LEDGER, CACHE, SHARED} <= {
        name for name, content in files.items() if content
    }
    return folder, files, indexed, again


def told(folder, texts, *, cached):
    """What each command tells of the index: an error is its own name."""
    with closing(Work(settings_of(folder, cached=cached))) as work:
        context = work.context

        def asked():
            return replace(ask(QUESTION, context), took_ms={}, cached=False, retrieved=None)

        tellings = {
            "ask": asked,
            "search": lambda: search(QUESTION, context).hits,
            "docs": lambda: list(context.engine.documents()),
            "chunks": lambda: list(context.engine.chunks()),
            "vectors": lambda: _kept(context, texts),
            "jobs": lambda: [(job, work.ledger.counts(job.job_id)) for job in work.ledger.jobs()],
        }
        return {name: _named(telling) for name, telling in tellings.items()}


def _named(telling):
    """What is told, or the error that is; one that is not ours is a failure."""
    try:
        return telling()
    except EsragError as error:
        return error


def _kept(context, texts):
    """The vectors of the cache, by text."""
    known = context.vectors.look_up(texts) if context.vectors else {}
    return {text: vector.tolist() for text, vector in known.items()}


def damaged(rng, content):
    """The content with a bit flipped, its end cut off or a sector overwritten; it differs."""
    how, place = rng.random(), rng.randrange(len(content))
    if how < 0.8:
        return (
            content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]
        )
    if how < 0.9:
        return content[:place]
    start = place - place % SECTOR
    return (
        content[:start]
        + rng.randbytes(len(content[start : start + SECTOR]))
        + content[start + SECTOR :]
    )


@pytest.mark.faults
@pytest.mark.slow
@pytest.mark.parametrize("name", [INDEX, VECTORS, LEDGER, CACHE, SHARED])
def test_what_is_told_of_damaged_files_is_right_or_a_named_error(sound, name):
    """Counted by file; what is neither is a failure, with the seed that shows it again."""
    folder, files, texts, right = sound
    counts = Counter()
    for seed in range(DAMAGES):
        _restore(folder, files)
        (folder / name).write_bytes(damaged(random.Random(f"{name} {seed}"), files[name]))
        given = told(folder, texts, cached=name == CACHE)
        given["vectors"] = right["vectors"] | given["vectors"]  # what is not kept is no difference
        errors = [value for value in given.values() if isinstance(value, EsragError)]
        assert all(error.hint and "\n" not in str(error) for error in errors), errors
        different = [
            part for part, value in given.items() if value not in errors and value != right[part]
        ]
        assert not different, f"{name}, seed {seed}: {different}"
        counts["a named error" if errors else "right"] += 1
    _restore(folder, files)
    sys.stdout.write(f"{name}: {dict(counts)}, different 0\n")
    assert sum(counts.values()) == DAMAGES


def _restore(folder, files):
    """Makes the folder hold these files and no others."""
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
