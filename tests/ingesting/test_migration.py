"""What keeps a move from taking place, over real engines.

What it does is tested through the command line.
"""

import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from esrag.chunking.cut import text_to_index
from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.embedded.databases import connect
from esrag.engines.server import ServerEngine
from esrag.errors import EngineError, IndexBusy
from esrag.ingesting import Silent
from esrag.ingesting.migration import move

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
from made import FINGERPRINT, content, library, prepared


@pytest.fixture
def engine(tmp_path):
    """An index over the small library."""
    made = EmbeddedEngine(EngineOptions(str(tmp_path)))
    with made.writer(FINGERPRINT) as writer:
        writer.replace(
            [replace(one, indexed_texts=tuple(map(text_to_index, one.chunks))) for one in library()]
        )
    return made


def at(tmp_path, then=lambda engine: None):
    """Opens an index by its name, and does something with it first."""

    def opened(name):
        engine = EmbeddedEngine(EngineOptions(str(tmp_path), name))
        then(engine)
        return engine

    return opened


def store(engine, document):
    """One more document."""
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([document])


def test_a_copy_is_equal_and_in_use(engine, tmp_path):
    """Documents, chunks and vectors; the former index is where it says."""
    before, vectors = content(engine), {key: vector.tobytes() for key, vector in engine.vectors()}
    moved = move(engine, engine, at(tmp_path), None, Silent())
    assert (moved.documents, moved.chunks, moved.embedded, moved.agreement, moved.found_again) == (
        6,
        24,
        0,
        1.0,
        1.0,
    )
    assert before == content(engine) == content(at(tmp_path)(moved.former))
    assert vectors == {key: vector.tobytes() for key, vector in engine.vectors()}


def test_an_index_that_is_written_to_meanwhile_is_not_moved(engine, tmp_path):
    """What came in would be lost; the copy goes and the index stays in use."""
    with pytest.raises(IndexBusy, match="written to meanwhile"):
        move(
            engine,
            engine,
            at(tmp_path, lambda _: store(engine, prepared("d00", ["zebra"]))),
            None,
            Silent(),
        )
    assert ["esrag"] == [index.name for index in engine.indexes()]
    assert 6 == len(list(engine.documents()))


def test_a_copy_that_is_not_equal_does_not_take_the_place(engine, tmp_path):
    """One document too many is enough."""
    with pytest.raises(EngineError, match="the documents differ"):
        move(
            engine,
            engine,
            at(tmp_path, lambda copy: store(copy, prepared("zz", ["zebra"]))),
            None,
            Silent(),
        )
    assert ["esrag"] == [index.name for index in engine.indexes()]


def test_an_index_that_is_not_whole_is_not_moved(engine, tmp_path):
    """A document that says it has more chunks than there are is named."""
    connection = connect(tmp_path / "esrag" / "index.sqlite3", "rw")
    connection.execute("UPDATE documents SET chunk_count = 9 WHERE doc_id = 'd03'")
    connection.close()
    with pytest.raises(EngineError, match="the chunks of d03"):
        move(engine, engine, at(tmp_path), None, Silent())
    assert ["esrag"] == [index.name for index in engine.indexes()]


class Fails(Silent):
    """A program that is ended in the middle."""

    def step(self, name, detail):
        """The second document is the last."""
        if name == "d01":
            raise KeyboardInterrupt


def test_a_move_that_is_interrupted_leaves_nothing(engine, tmp_path):
    """Ctrl-C included."""
    with pytest.raises(KeyboardInterrupt):
        move(engine, engine, at(tmp_path), None, Fails())
    assert ["esrag"] == [index.name for index in engine.indexes()]


@pytest.fixture
def on_server(request):
    """Opens indexes on real servers, by the server's name, and closes them."""
    opened = []

    def open_(server, index, shards=1):
        opened.append(
            ServerEngine(EngineOptions(request.getfixturevalue(server), index, shards=shards))
        )
        return opened[-1]

    yield open_
    for engine in opened:
        engine.close()


@pytest.mark.live
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opensearch", "opensearch"),
        ("elasticsearch", "elasticsearch"),
        ("opensearch", "elasticsearch"),
        ("elasticsearch", "opensearch"),
    ],
)
def test_a_move_from_server_to_server_and_over_three_shards(on_server, one, other):
    """The copy is equal, in as many shards as it was to have, and the move back lands beside what
    was there before.
    """
    first, second = (f"move-{uuid.uuid4().hex[:12]}-{name}" for name in "ab")
    source, target = on_server(one, first), on_server(other, second, shards=3)
    with source.writer(FINGERPRINT) as writer:
        writer.replace(
            [
                replace(it, indexed_texts=tuple(map(text_to_index, it.chunks)))
                for it in library(20, 5)
            ]
        )
    before, vectors = content(source), {key: vector.tolist() for key, vector in source.vectors()}
    moved = move(source, target, lambda name: on_server(other, name, shards=3), None, Silent())
    assert (moved.former, moved.documents, moved.chunks, moved.found_again) == ("", 20, 100, 1.0)
    assert moved.agreement >= 0.99
    assert before == content(target)
    assert 3 == target._indexes.find_current().shards
    copied = {key: vector.tolist() for key, vector in target.vectors()}
    assert vectors.keys() == copied.keys()
    assert all(copied[key] == pytest.approx(vectors[key], abs=1e-6) for key in vectors)

    back = move(target, source, lambda name: on_server(one, name), None, Silent())
    assert back.former == f"{first}-000001"
    assert (before, 1) == (content(source), source._indexes.find_current().shards)
    assert [] == list(source.check())
    assert back.name == source.swap(back.former)
    assert before == content(source)
