"""What keeps a move from taking place, over real engines; what it does is tested through the command line."""

import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from esrag.chunking.cut import indexed_text
from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.errors import EngineError, IndexBusy
from esrag.moving import move

sys.path.insert(0, str(Path(__file__).parent / "engines"))
from made import FINGERPRINT, content, library, prepared


class Silent:
    """Nobody watches."""

    def start(self, total):
        """So many documents."""

    def step(self, name, detail):
        """One is done."""


@pytest.fixture
def engine(tmp_path):
    """An index over the small library."""
    made = EmbeddedEngine(EngineOptions(str(tmp_path)))
    with made.writer(FINGERPRINT) as writer:
        writer.replace([replace(one, indexed_texts=tuple(map(indexed_text, one.chunks))) for one in library()])
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
    assert (moved.documents, moved.chunks, moved.embedded, moved.agreement, moved.found_again) == (6, 24, 0, 1.0, 1.0)
    assert before == content(engine) == content(at(tmp_path)(moved.former))
    assert vectors == {key: vector.tobytes() for key, vector in engine.vectors()}


def test_an_index_that_is_written_to_meanwhile_is_not_moved(engine, tmp_path):
    """What came in would be lost; the copy goes and the index stays in use."""
    with pytest.raises(IndexBusy, match="written to meanwhile"):
        move(engine, engine, at(tmp_path, lambda _: store(engine, prepared("d00", ["zebra"]))), None, Silent())
    assert ["esrag"] == [index.name for index in engine.indexes()]
    assert 6 == len(list(engine.documents()))


def test_a_copy_that_is_not_equal_does_not_take_the_place(engine, tmp_path):
    """One document too many is enough."""
    with pytest.raises(EngineError, match="the documents differ"):
        move(engine, engine, at(tmp_path, lambda copy: store(copy, prepared("zz", ["zebra"]))), None, Silent())
    assert ["esrag"] == [index.name for index in engine.indexes()]


def test_an_index_that_is_not_whole_is_not_moved(engine, tmp_path):
    """A document that says it has more chunks than there are is named."""
    connection = sqlite3.connect(tmp_path / "esrag" / "index.sqlite3")
    connection.execute("UPDATE documents SET chunk_count = 9 WHERE doc_id = 'd03'")
    connection.commit()
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
