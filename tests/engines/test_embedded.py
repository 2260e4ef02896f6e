"""What can happen to the embedded engine's folder: kills, damage, read-only and full disks,
strangers.
"""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from made import FINGERPRINT, WORDLESS, content, library, prepared, texts_of, unit_rows

from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.embedded.databases import connect, connect_immutable, use_checksums
from esrag.engines.embedded.index_folder import DATABASE, Places, failures, transaction
from esrag.engines.fusion import ranking
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing

HERE = Path(__file__).parent
QUERY = unit_rows(99, 1)[0]


@pytest.fixture
def store(tmp_path):
    """A folder with the small library."""
    store_library(tmp_path)
    return tmp_path


def store_library(url):
    engine = EmbeddedEngine(EngineOptions(str(url)))
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(library())
    engine.close()


def run(code, *arguments, **options):
    """Python in a process of its own that knows this folder's modules."""
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n{code}",
        *map(str, arguments),
    ]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


KILLED = """
from made import FINGERPRINT, prepared, texts_of
from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
rebuild = len(sys.argv) > 2
print("ready", flush=True)
for n in range(10**6):
    with EmbeddedEngine(EngineOptions(sys.argv[1])).writer(FINGERPRINT, rebuild=rebuild) as writer:
        for part in range(3):
            texts = [texts_of(n + i, 1 + (n + i) % 7) for i in range(4)]
            documents = [
                prepared(f"d{i}", text, seed=n, revision=str(n)) for i, text in enumerate(texts)
            ]
            writer.replace(documents)
            writer.remove([f"d{n % 4}"])
"""


@pytest.mark.parametrize("how", [(), ("rebuild",)], ids=["in place", "rebuild"])
def test_kill_9_leaves_each_document_wholly_old_or_new(tmp_path, how):
    """Killed at random points, the index is sound each time, holds whole documents, and takes the
    next writer.
    """
    rng = random.Random(len(how))
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    for _ in range(4):
        process = run(KILLED, tmp_path, *how)
        assert "ready\n" == process.stdout.readline()
        time.sleep(rng.uniform(0.05, 0.35))
        process.kill()
        process.communicate()
        if engine.exists():
            assert [] == engine.check()
            chunks = list(engine.chunks())
            for document in engine.documents():
                n, i = int(document.revision), int(document.doc_id[1:])
                whole = prepared(
                    document.doc_id, texts_of(n + i, 1 + (n + i) % 7), seed=n, revision=str(n)
                )
                assert document == whole.document
                assert list(whole.chunks) == [c for c in chunks if c.doc_id == document.doc_id]
    with engine.writer(FINGERPRINT, rebuild=True) as writer:
        writer.replace(library())
    assert [p.document for p in library()] == content(engine)[0]
    assert {"esrag", ".esrag.lock"} == {path.name for path in tmp_path.iterdir()}
    engine.close()


def test_a_rebuild_killed_between_its_renames_is_mended(store):
    """With the old index moved away and the new not yet in place, readers read the old and the next
    writer mends.
    """
    (store / "esrag").rename(store / ".esrag.old")
    shutil.copytree(store / ".esrag.old", store / ".esrag.new")
    engine = EmbeddedEngine(EngineOptions(str(store)))
    assert 6 == len(list(engine.documents()))
    with engine.writer(FINGERPRINT) as writer:
        writer.remove(["d00"])
    assert 5 == len(list(engine.documents()))
    assert {"esrag", ".esrag.lock"} == {path.name for path in store.iterdir()}


SWAPPED = """
from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
print("ready", flush=True)
while True:
    EmbeddedEngine(EngineOptions(sys.argv[1])).swap("esrag-000001")
"""


def beside(store):
    """A second index of one document beside the first."""
    name = EmbeddedEngine(EngineOptions(str(store))).create(FINGERPRINT)
    with EmbeddedEngine(EngineOptions(str(store), name)).writer(FINGERPRINT) as writer:
        writer.replace([prepared("new", ["zebra"])])
    return name


def held(store, name):
    """How many documents an index has."""
    return len(list(EmbeddedEngine(EngineOptions(str(store), name)).documents()))


def test_kill_9_in_a_swap_loses_neither_index(store):
    """Killed at random points, readers have one of the two, and after the next writer both are
    there.
    """
    rng, name = random.Random(3), beside(store)
    for _ in range(6):
        process = run(SWAPPED, store)
        assert "ready\n" == process.stdout.readline()
        time.sleep(rng.uniform(0.05, 0.3))
        process.kill()
        process.communicate()
        assert held(store, "esrag") in {1, 6}
        with EmbeddedEngine(EngineOptions(str(store))).writer(FINGERPRINT):
            pass
        assert [1, 6] == sorted([held(store, "esrag"), held(store, name)])


@pytest.mark.parametrize("renames", [1, 2])
def test_a_swap_killed_between_its_renames_is_mended(store, renames):
    """After the first rename it has not happened, after the second it has; nothing is left over."""
    name = beside(store)
    (store / "esrag").rename(store / f".esrag.FOR.{name}")
    if renames == 2:
        (store / name).rename(store / "esrag")
    expected = {1: (6, 1), 2: (1, 6)}[renames]
    assert expected[0] == held(store, "esrag")
    with EmbeddedEngine(EngineOptions(str(store))).writer(FINGERPRINT):
        pass
    assert expected == (held(store, "esrag"), held(store, name))
    assert {"esrag", name} == {path.name for path in store.iterdir() if path.suffix != ".lock"}


def test_a_new_index_never_takes_the_name_that_a_swap_left_waiting(store):
    """Killed before its last rename, the former index gets its name, and the new one the next."""
    name = beside(store)
    (store / "esrag").rename(store / f".esrag.FOR.{name}")
    (store / name).rename(store / "esrag")
    assert "esrag-000002" == EmbeddedEngine(EngineOptions(str(store))).create(FINGERPRINT)
    assert (1, 6, 0) == tuple(held(store, one) for one in ("esrag", name, "esrag-000002"))


def list_vectors(engine):
    return [chunk_id for chunk_id, _ in engine.vectors()]


def list_chunks(engine):
    return [chunk.chunk_id for chunk in engine.chunks()]


def find(engine):
    found = engine.search(SearchRequest("", QUERY, method="vector", size=99)).hits
    return sorted(hit.chunk.chunk_id for hit in found)


def count(engine):
    return engine.info().chunks


@pytest.mark.parametrize("read", [find, list_chunks, list_vectors, count])
@pytest.mark.parametrize("moment", range(1, 5))
def test_an_index_may_be_replaced_whenever_it_is_read(store, monkeypatch, read, moment):
    """The reader has the old one or the new one, and nothing looks damaged or missing."""
    name, looked = beside(store), []
    whole = [read(EmbeddedEngine(EngineOptions(str(store), one))) for one in ("esrag", name)]
    look = Places.find_current

    def look_and_replace(places):
        folder = look(places)
        looked.append(folder)
        if len(looked) == moment:
            (store / "esrag").rename(store / ".esrag.old")
        elif len(looked) == moment + 1:
            (store / name).rename(store / "esrag")
        return folder

    monkeypatch.setattr(Places, "find_current", look_and_replace)
    assert read(EmbeddedEngine(EngineOptions(str(store)))) in whole
    assert looked


def test_an_index_that_is_being_filled_says_so_and_goes_when_that_was_cut_short(store):
    """Until it is swapped in it is marked; the next one removes it, if nobody writes it."""
    engine = EmbeddedEngine(EngineOptions(str(store)))
    name = beside(store)
    assert ["", "is unfinished"] == [index.problem[:13] for index in engine.indexes()]
    with EmbeddedEngine(EngineOptions(str(store), name)).writer(FINGERPRINT):
        other = engine.create(FINGERPRINT)
        assert ["esrag", name, other] == [index.name for index in engine.indexes()]
    last = engine.create(FINGERPRINT)
    assert ["esrag", last] == [index.name for index in engine.indexes()]
    engine.swap(last)
    assert ["", ""] == [index.problem for index in engine.indexes()]


def test_an_unfinished_index_of_another_name_stays(store):
    """Such as that of its facts, which may begin with the same letters."""
    beside(store)
    other = EmbeddedEngine(EngineOptions(str(store), "esrag-other"))
    with other.writer(FINGERPRINT):
        pass
    theirs = other.create(FINGERPRINT)
    EmbeddedEngine(EngineOptions(str(store))).create(FINGERPRINT)
    assert theirs in [index.name for index in other.indexes()]


def test_a_damaged_neighbour_is_listed_with_its_problem(store):
    """It does not keep the others from being shown; folders of other programs are left out."""
    (store / "other").mkdir()
    (store / "other" / "letter.txt").write_text("Dear all")
    (store / "broken").mkdir()
    (store / "broken" / "index.sqlite3").write_bytes(b"no database" * 100)
    listed = {index.name: index for index in EmbeddedEngine(EngineOptions(str(store))).indexes()}
    assert {"esrag", "broken"} == set(listed)
    assert "" == listed["esrag"].problem
    assert listed["broken"].problem


def test_deleted_vectors_are_given_back(store):
    """When most vectors are holes the file is written anew.

    Hits stay the same and old readers go on.
    """
    engine, before = EmbeddedEngine(EngineOptions(str(store))), None
    request = SearchRequest("key", QUERY, method="vector", size=4)
    assert engine.search(request).hits
    for _ in range(4):
        with EmbeddedEngine(EngineOptions(str(store))).writer(FINGERPRINT) as writer:
            writer.replace(library())
        hits = engine.search(request)
        before = before or hits
        assert before == hits
    (vectors,) = (store / "esrag").glob("vectors-*.f32")
    assert vectors.stat().st_size <= 2 * 24 * FINGERPRINT.dimensions * 4
    assert [] == engine.check()
    engine.close()


def test_rows_that_a_crash_left_are_written_over(store):
    """Bytes after the committed vectors, even half a row, are the next writer's to use."""
    with next((store / "esrag").glob("vectors-*.f32")).open("ab") as file:
        file.write(b"\xff" * 77)
    engine = EmbeddedEngine(EngineOptions(str(store)))
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared("zz", ["zebra"])])
    best = engine.search(
        SearchRequest("", prepared("zz", ["zebra"]).vectors[0], method="vector", size=1)
    ).hits[0]
    assert ("zz::c000", 1.0) == (best.chunk.chunk_id, best.score)
    assert [] == engine.check()
    engine.close()


def damaged_header(folder):
    (folder / DATABASE).write_bytes(b"not a database at all" * 100)


def truncated_database(folder):
    path = folder / DATABASE
    path.write_bytes(path.read_bytes()[:9000])


def truncated_vectors(folder):
    next(folder.glob("vectors-*.f32")).write_bytes(b"1234")


def lost_vectors(folder):
    next(folder.glob("vectors-*.f32")).unlink()


@pytest.mark.parametrize(
    "damage", [damaged_header, truncated_database, truncated_vectors, lost_vectors]
)
def test_damage_is_one_clear_error_and_a_rebuild_mends_it(store, damage):
    """Damaged files are an EngineError whose hint is --rebuild, `check` says so too, and a rebuild
    works.
    """
    damage(store / "esrag")
    engine = EmbeddedEngine(EngineOptions(str(store)))
    with pytest.raises(EngineError) as caught:
        engine.search(SearchRequest("key", QUERY))
    assert not isinstance(caught.value, IndexMissing)
    assert "\n" not in str(caught.value)
    assert "--rebuild" in caught.value.hint
    assert engine.check()
    with engine.writer(FINGERPRINT, rebuild=True) as writer:
        writer.replace(library())
    assert [] == engine.check()
    assert engine.search(SearchRequest("key", QUERY)).hits
    engine.close()


@pytest.mark.parametrize("bit", range(8))
def test_checksums_cannot_be_switched_off_by_damage(store, bit):
    """Byte 20 of the header says that pages have them: changed, it is damage, not a database
    without checksums.
    """
    path = store / "esrag" / DATABASE
    header = bytearray(path.read_bytes())
    header[20] ^= 1 << bit
    path.write_bytes(header)
    engine = EmbeddedEngine(EngineOptions(str(store)))
    for use in (engine.generation, lambda: engine.search(SearchRequest("key"))):
        with pytest.raises(EngineError, match="damaged"):
            use()
    engine.close()


def test_check_finds_what_does_not_fit_together(store):
    """Rows that lack their other half, and vectors that are not as they were written, are named."""
    connection = connect(store / "esrag" / DATABASE, "rw")
    with connection:
        connection.execute('DELETE FROM passages WHERE "row" = 1')
        connection.execute("DELETE FROM words WHERE rowid = 2")
    connection.close()
    path = next((store / "esrag").glob("vectors-*.f32"))
    np.memmap(path, dtype="<f4", mode="r+")[:8] = np.nan
    engine = EmbeddedEngine(EngineOptions(str(store)))
    found = engine.check()
    assert ["1 chunks without a passage", "1 chunks without words"] == found[:2]
    assert ["the checksum of block 0 of vectors-0.f32 is wrong"] == found[2:]
    engine.close()


def stranger(folder):
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")


def stranger_database(folder):
    folder.mkdir()
    connection = sqlite3.connect(folder / DATABASE)
    connection.execute("CREATE TABLE precious (gold)")
    connection.close()


def stranger_file(folder):
    folder.write_text("mine")


@pytest.mark.parametrize("make", [stranger, stranger_database, stranger_file])
def test_another_programs_folder_is_refused_and_left_alone(tmp_path, make):
    """Reading, writing and rebuilding each refuse a folder or file that is not an index."""
    make(tmp_path / "esrag")
    before = sorted((p, p.is_file() and p.read_bytes()) for p in tmp_path.rglob("*"))
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    with pytest.raises(IndexMismatch):
        engine.search(SearchRequest("key"))
    for rebuild in (False, True):
        with pytest.raises(IndexMismatch), engine.writer(FINGERPRINT, rebuild=rebuild):
            pass
    (tmp_path / ".esrag.lock").unlink()
    assert before == sorted((p, p.is_file() and p.read_bytes()) for p in tmp_path.rglob("*"))


def test_a_newer_schema_is_refused_until_rebuilt(store):
    """An index of a later version is not read, and the message says so."""
    connection = connect(store / "esrag" / DATABASE, "rw")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    engine = EmbeddedEngine(EngineOptions(str(store)))
    for use in (engine.fingerprint, lambda: engine.writer(FINGERPRINT).__enter__()):
        with pytest.raises(IndexMismatch, match="newer esrag: version 99"):
            use()
    with engine.writer(FINGERPRINT, rebuild=True) as writer:
        writer.replace(library())
    assert 6 == len(list(engine.documents()))
    engine.close()


@pytest.mark.parametrize("left", ["nothing", "empty file", "no tables"])
def test_a_half_made_index_is_missing_and_the_next_writer_makes_it(tmp_path, left):
    """What a kill during the very first writing leaves is no index yet."""
    folder = tmp_path / "esrag"
    folder.mkdir()
    if left == "empty file":
        (folder / DATABASE).touch()
    if left == "no tables":
        connection = connect(folder / DATABASE, "rwc")
        use_checksums(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    assert not engine.exists()
    with pytest.raises(IndexMissing):
        engine.search(SearchRequest("key"))
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(library())
    assert [] == engine.check()
    engine.close()


@pytest.fixture
def open_folder():
    """A folder that another user can reach; the tests may run as root, whom no permission stops."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    for folder in [path, *path.rglob("*")]:
        if folder.is_dir():
            folder.chmod(0o755)
    shutil.rmtree(path)


AS_A_READER = """
import mmap  # before the change of user, who may not be able to read the interpreter
import os
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
try:
    os.mkdir(sys.argv[1] + "/x")
    sys.exit("the folder is writable")
except PermissionError:
    pass
index = EmbeddedEngine(EngineOptions(sys.argv[1]))
assert index.search(SearchRequest("key", QUERY)).hits
assert index.check() == [] and len(list(index.chunks())) == 24
for rebuild in (False, True):
    try:
        with index.writer(FINGERPRINT, rebuild=rebuild) as writer:
            writer.replace(library())
    except IndexUnwritable as error:
        print(type(error).__name__, error)
"""
IMPORTS = """
import urllib.parse  # for Path.as_uri, while the interpreter's own folder may still be read
from made import FINGERPRINT, library, unit_rows
from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.embedded import EmbeddedEngine, databases
from esrag.errors import EngineError, IndexUnwritable
databases._register()  # as well
QUERY = unit_rows(99, 1)[0]
"""


def test_a_read_only_folder_can_be_read(open_folder):
    """Searching works where nothing may be written; writing is IndexUnwritable."""
    store_library(open_folder)
    for path in open_folder.rglob("*"):
        path.chmod(0o444 if path.is_file() else 0o555)
    open_folder.chmod(0o555)
    output, errors = run(IMPORTS + AS_A_READER, open_folder).communicate(timeout=60)
    assert "" == errors
    assert 2 == output.count("IndexUnwritable")


NOT_LET_IN = """
import mmap, os
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
index = EmbeddedEngine(EngineOptions(sys.argv[1]))
print(*[finding.level for finding in index.examine()])
for use in (index.indexes, index.info, lambda: index.swap("other"), lambda: index.drop("other")):
    try:
        use()
    except EngineError as error:
        print(error, error.hint)
"""


def test_a_folder_that_may_not_be_read_is_one_clear_error(open_folder):
    """Its disk is looked at from above."""
    store_library(open_folder / "mine")
    (open_folder / "mine").chmod(0o000)
    output, errors = run(IMPORTS + NOT_LET_IN, open_folder / "mine").communicate(timeout=60)
    assert "" == errors
    assert "ok" == output[:2]
    assert 4 == output.count("Permission denied look at its permissions")


def test_what_cannot_be_written_is_read_as_it_is_now(store, monkeypatch):
    """Read without SQLite's own files beside it: what others write is seen next time, what was torn
    is not given.
    """
    cannot = apsw.CantOpenError("unable to open database file")
    cannot.result = apsw.SQLITE_CANTOPEN
    index = store / "esrag"
    monkeypatch.setattr(
        "esrag.engines.embedded.index_folder.open_reading",
        lambda _: connect_immutable(file, cannot),
    )
    file = index / DATABASE
    reader, writing = (
        EmbeddedEngine(EngineOptions(str(store))),
        EmbeddedEngine(EngineOptions(str(store))),
    )

    def read():
        found = reader.generation()
        os.utime(file, ns=(1, 1))  # a disk's clock may stand still for longer than a write takes
        reader.generation()
        return found

    generations = [read()]
    with writing.writer(FINGERPRINT) as writer:
        writer.remove(["d00"])
    generations.append(read())
    with (
        closing(connect_immutable(file, cannot)) as connection,
        pytest.raises(IndexBusy, match="written while it was read"),
        failures(index),
        transaction(connection),
        writing.writer(FINGERPRINT) as writer,
    ):
        writer.remove(["d01"])
    generations.append(read())
    assert generations == sorted(set(generations))
    reader.close()


def test_what_looks_damaged_while_it_is_written_is_not(store):
    """Pages of two states do not fit together.

    Whether the file was written meanwhile is looked at then too.
    """
    cannot = apsw.CantOpenError("unable to open database file")
    cannot.result = apsw.SQLITE_CANTOPEN
    index = store / "esrag"

    def read():
        os.utime(index / DATABASE, ns=(1, 1))
        raise apsw.CorruptError("database disk image is malformed")

    with (
        closing(connect_immutable(index / DATABASE, cannot)) as connection,
        pytest.raises(IndexBusy, match="written while it was read"),
        failures(index),
        transaction(connection),
    ):
        read()


def test_a_log_that_cannot_be_brought_in_is_no_reason_to_read_without_it(store):
    """The error stays the error; its hint says what to do."""
    cannot = apsw.CantOpenError("unable to open database file")
    cannot.result = apsw.SQLITE_CANTOPEN
    index = store / "esrag"
    (index / f"{DATABASE}-wal").write_bytes(b"a log")
    with pytest.raises(EngineError, match="unable to open") as raised, failures(index):
        connect_immutable(index / DATABASE, cannot)
    assert "changes wait in its log" in raised.value.hint


ON_A_FULL_DISK = """
import resource
before = EmbeddedEngine(EngineOptions(sys.argv[1]))
made = __import__("made")
documents = [made.prepared(f"x{i}", made.texts_of(i, 200)) for i in range(9)]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    with EmbeddedEngine(EngineOptions(sys.argv[1])).writer(FINGERPRINT) as writer:
        writer.replace(documents)
except IndexUnwritable as error:
    print(error, error.hint)
"""


@pytest.mark.parametrize("bytes_left", [4096, 50_000, 300_000])
def test_a_full_disk_keeps_the_old_state(store, bytes_left):
    """Writing that finds no room, in either file, is IndexUnwritable.

    What was there before stays, and works again.
    """
    before = content(EmbeddedEngine(EngineOptions(str(store))))
    output, errors = run(IMPORTS + ON_A_FULL_DISK, store, bytes_left).communicate(timeout=60)
    assert "" == errors
    assert "cannot write the index" in output
    engine = EmbeddedEngine(EngineOptions(str(store)))
    assert before == content(engine)
    assert [] == engine.check()
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared("more", ["zebra"])])
    assert 7 == len(list(engine.documents()))
    engine.close()


def test_frequent_words_only_score_where_rarer_ones_are(tmp_path, monkeypatch):
    """Beyond the limit of rows the rarest terms choose, all terms score, and a filter never costs
    hits.
    """
    monkeypatch.setattr("esrag.engines.embedded.searching.MAX_ROWS_SCORED", 20)
    texts = [
        f"common {'rare' if i % 10 == 0 else ''} {'some' if i % 3 == 0 else ''} filler{i}"
        for i in range(120)
    ]
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    with engine.writer(WORDLESS) as writer:
        writer.replace([prepared("d", texts, vectors=False)])
    request = SearchRequest("common rare some", method="keyword", size=10, candidates=10)
    hits = engine.search(request).hits
    assert {f"d::c{i:03}" for i in range(0, 120, 10)} >= {hit.chunk.chunk_id for hit in hits}
    assert ["d::c000", "d::c030", "d::c060", "d::c090"] == [hit.chunk.chunk_id for hit in hits[:4]]
    everything = engine.search(
        SearchRequest("common rare some", method="keyword", size=200, candidates=200)
    ).hits
    assert 120 == len(everything)
    engine.close()


def test_equal_scores_are_equal_to_the_bit_wherever_they_lie(tmp_path):
    """A vector's score does not depend on the rows around it."""
    vector = unit_rows(5, 1)[0]
    rows = np.concatenate(
        [unit_rows(6, 500), np.repeat(vector[None], 37, axis=0), unit_rows(7, 501)]
    )
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    document = prepared("d", texts_of(0, len(rows)))
    shuffled = np.random.default_rng(0).permutation(len(rows))
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(
            [
                type(document)(
                    document.document, document.chunks, document.indexed_texts, rows[shuffled]
                )
            ]
        )
    found = engine.search(SearchRequest("", QUERY, method="vector", size=2000)).hits
    scores = {h.chunk.chunk_id: h.vector_score for h in found}
    alike = {scores[f"d::c{place:03}"] for place, row in enumerate(shuffled) if 500 <= row < 537}
    assert 1 == len(alike)
    assert ranking(scores) == [h.chunk.chunk_id for h in found]
    engine.close()


def test_an_index_is_opened_without_reading_it(store):
    """Opening maps the vectors and reads one row: the memory stays where it was."""
    engine = EmbeddedEngine(EngineOptions(str(store)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    engine.generation()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    engine.close()
