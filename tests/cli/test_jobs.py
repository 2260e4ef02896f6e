"""`esrag jobs` says what became of every file, and what it stops, retries or opens again is so."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from made_up_models import CONFIG, bert_folder, made_up_tensors

from esrag.cli.jobs import figures
from esrag.ledger.opening import open_ledger
from esrag.settings.layers import resolve
from esrag.text import format_count

__all__ = ["bert_folder"]

FILES = ("added", "changed", "renamed", "skipped", "failed", "queued", "dropped")
BROKEN = b"%PDF-1.7\nnothing follows"
SMALL = {"ESRAG_QUEUE__BATCH_FILES": "1"}
COUNT = 60
PACE = re.compile(
    r"^\[(?P<done>\d+)/(?P<total>\d+)\] (?P<chunks>[\d,]+) chunks, (?P<rate>\d+)/s(, "
    r"(?P<left>[\d:]+) left)?$"
)


def listed(esrag):
    """The jobs, the newest first; every file of each is counted once."""
    jobs = esrag("jobs", "list", "--json").lines
    assert [job for job in jobs if job["files"] != sum(job[name] for name in FILES)] == []
    return jobs


def shown(esrag, *arguments):
    """One job."""
    return esrag("jobs", "show", *arguments, "--json").json


def stored(esrag):
    """What the index holds, by content."""
    documents = {one["doc_id"]: one["revision"] for one in esrag("docs", "--json").lines}
    chunks = sorted((one["chunk_id"], one["text"]) for one in esrag("chunks", "--json").lines)
    return documents, chunks


@contextmanager
def started(esrag, *arguments, **variables):
    """A running command; killed at the end if it still runs."""
    running = subprocess.Popen(
        esrag.command(*arguments),
        cwd=esrag.folder,
        env=esrag.environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def await_line(stream, pattern):
    """Reads until a line is as wanted; gives all that was read."""
    lines = []
    for line in stream:
        lines.append(line)
        if re.search(pattern, line):
            return lines
    raise AssertionError(f"{pattern} did not come: {lines}")


def ledger_of(esrag):
    """The ledger of the folder, to make in it what is hard to come by."""
    return open_ledger(resolve({"engine.url": str(esrag.folder / ".esrag")}, environ={}).settings)


@pytest.fixture
def texts(esrag):
    """Enough files to be interrupted."""
    folder = esrag.folder / "docs"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"text{number:02}.txt").write_text(
            f"Text {number} is about kettle number {number}.\n" * 40
        )
    return folder


@pytest.fixture
def killed(esrag, texts):
    """The id of a job whose ingest was killed in the middle; a file a batch."""
    with started(esrag, "ingest", "docs", **SMALL) as running:
        await_line(running.stderr, rf"^\[3/{COUNT}\]")
        running.send_signal(signal.SIGKILL)
    return shown(esrag)["job_id"]


def test_a_job_shows_its_figures_and_what_failed_by_cause(esrag, corpus):
    """Files that failed for the same reason are one line with examples.

    So are those that were never there.
    """
    for name in ("broken.pdf", "damaged.pdf"):
        (corpus / name).write_bytes(BROKEN)
    (corpus / "empty.txt").touch()
    esrag("ingest", "docs", "missing.txt")

    (job,) = listed(esrag)
    assert {name: job[name] for name in FILES if job[name]} == {
        "added": 3,
        "skipped": 1,
        "failed": 3,
    }
    assert (job["state"], job["index"], job["batches"]["done"], job["note"]) == (
        "done",
        "esrag",
        1,
        "",
    )
    assert job["chunks"] == job["embedded"] > 2
    errors = [
        (error["count"], [Path(name).name for name in error["sources"]])
        for error in shown(esrag)["errors"]
    ]
    assert errors == [(2, ["broken.pdf", "damaged.pdf"]), (1, ["missing.txt"])]
    text = esrag("jobs", "show")
    assert "2 failed: is not a whole PDF" in text.out
    assert "files: 3 added, 1 skipped, 3 failed\n" in text.out
    assert "esrag ingest" in text.err
    assert "4 of 7 files, 3 failed, 0 left" in esrag("jobs", "list").out


def test_an_ingest_that_has_nothing_to_do_is_no_job(esrag, corpus):
    """A ledger does not grow by a line each night."""
    esrag("ingest", "docs")
    esrag("ingest", "docs")

    assert len(listed(esrag)) == 1


def test_what_a_kill_left_is_finished_by_the_same_command(esrag, texts, killed, tmp_path):
    """The job stays open with what is left; the next takes over from it.

    The index is that of a single run.
    """
    (job,) = listed(esrag)
    assert job["state"] == "open"
    assert 0 < job["queued"] < COUNT
    assert job["queued"] + job["added"] == COUNT
    assert "is open, and no worker or command is running it" in esrag("doctor").out
    assert ("as of the last batch that ended" in esrag("jobs", "list").out) == (
        job["batches"]["running"] > 0
    )

    ran = esrag("ingest", "docs", "--json", **SMALL)

    newer, older = listed(esrag)
    assert ran.json["added"] == newer["added"]
    assert job["queued"] - newer["added"] in {0, 1}  # killed between storing a file and saying so
    assert (newer["state"], older["state"]) == ("done", "cancelled")
    assert older["note"] == f"taken over by {newer['job_id']}"
    assert older["queued"] == 0
    assert f"{older['job_id']}  resumed    as {newer['job_id']}  " in esrag("jobs", "list").out
    whole = esrag("ingest", "docs", "--engine", tmp_path / "whole")
    assert whole.code == 0
    assert stored(esrag) == stored(
        lambda *arguments: esrag(*arguments, "--engine", tmp_path / "whole")
    )
    assert "nobody works" not in esrag("doctor").out


def test_what_a_kill_left_is_finished_by_another_ingest(esrag, killed):
    """Whoever ingests next into the index does what was left."""
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")

    left = shown(esrag)["queued"]
    ran = esrag("ingest", "other.txt")

    assert ran.code == 0
    first = (
        f"first what job {killed} has left, {left} files; to drop it: esrag jobs cancel {killed}"
    )
    assert ran.err.splitlines()[0] == first
    newer, older = listed(esrag)
    assert (newer["added"], older["added"], older["state"], older["queued"]) == (
        1,
        COUNT,
        "done",
        0,
    )
    assert len(esrag("docs", "--json").lines) == COUNT + 1


def test_what_was_interrupted_is_not_carried_out_by_another_ingest(esrag, texts):
    """Ctrl-C drops what is left: the same command goes on from there, and only that one."""
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    with started(esrag, "ingest", "docs", **SMALL) as running:
        await_line(running.stderr, rf"^\[3/{COUNT}\]")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=90)
    assert running.returncode == 130
    job = shown(esrag)
    assert (job["state"], job["note"]) == (
        "cancelled",
        "interrupted; the same esrag ingest continues from there",
    )
    assert 0 < job["added"] < COUNT

    before = len(esrag("docs", "--json").lines)
    assert esrag("ingest", "other.txt", "--json").json["added"] == 1
    assert len(esrag("docs", "--json").lines) == before + 1
    assert esrag("ingest", "docs", "--json").json["added"] == COUNT - before
    assert esrag("doctor").code == 0


def test_what_failed_for_its_settings_is_not_carried_out_later(esrag, corpus, bert_folder):
    """A model that turns out to be broken when the first batch is embedded: nothing is left for
    another ingest.
    """
    tensors = made_up_tensors(CONFIG, labels=3)
    model = bert_folder(
        tensors={name: tensor for name, tensor in tensors.items() if "layer.0" not in name}
    )
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    broken = {"ESRAG_EMBEDDING__PROVIDER": "onnx", "ESRAG_EMBEDDING__MODEL": str(model)}
    ran = esrag("ingest", "docs", **broken)
    assert (ran.code, "error: " in ran.err) == (2, True)
    (job,) = listed(esrag)
    assert (job["state"], job["queued"], job["dropped"]) == ("cancelled", 0, 3)
    assert job["note"].partition(";")[0] in ran.err

    assert esrag("ingest", "other.txt", "--rebuild").code == 0
    assert [one["doc_id"] for one in esrag("docs", "--json").lines] == ["other"]


def test_a_cancelled_job_is_left_alone_until_it_is_resumed(esrag, killed):
    """Nobody does what is dropped; opened again it is done by the next ingest."""
    left = shown(esrag)["queued"]
    (esrag.folder / "one.txt").write_text("One lamp.")
    (esrag.folder / "two.txt").write_text("Two lamps.")

    assert f"{killed} cancelled" in esrag("jobs", "cancel", killed).out
    assert f"{killed} was cancelled already" in esrag("jobs", "cancel", killed).out
    esrag("ingest", "one.txt")
    job = shown(esrag, killed)
    assert (job["state"], job["queued"], job["dropped"], job["note"]) == (
        "cancelled",
        0,
        left,
        "by esrag jobs cancel",
    )
    assert f"esrag jobs resume {killed}" in esrag("jobs", "show", killed).err

    resumed = esrag("jobs", "resume", killed)
    assert resumed.out == f"{killed} is open, {format_count(left, 'file')} left\n"
    assert "esrag ingest" in resumed.err
    esrag("ingest", "two.txt")
    job = shown(esrag, killed)
    assert (job["state"], job["added"], job["dropped"], job["note"]) == ("done", COUNT, 0, "")
    assert esrag("jobs", "resume", killed).out == f"{killed} has no work left\n"


def test_batches_that_were_given_up_are_shown_and_tried_again(esrag, killed):
    """One by its id, then all.

    The error is shown by cause, and doctor counts the files until they are stored.
    """
    ledger = ledger_of(esrag)
    ids = [batch.batch_id for batch in ledger.list_due(3, killed)]
    for batch_id in ids[:2]:
        ledger.give_up(ledger.claim(batch_id, "host 1 id"), "the encoder broke", "a long trace")
    ledger.put_back(ledger.claim(ids[2], "host 1 id"), "no server answers", wait_s=500)

    job = shown(esrag)
    assert [(error["reason"], error["count"]) for error in job["errors"]] == [
        ("the encoder broke", 2)
    ]
    assert [(one["batch_id"], one["state"], one["files"]) for one in job["given_up"]] == [
        (batch_id, "failed", 1) for batch_id in ids[:2]
    ]
    assert [(one["batch_id"], one["error"]) for one in job["waiting"]] == [
        (ids[2], "no server answers")
    ]
    text = esrag("jobs", "show")
    assert f"waits: batch {ids[2]}, 8 min more: no server answers" in text.out
    assert f"esrag jobs retry {killed}" in text.err
    found = esrag("doctor").out
    assert f"2 files could not be ingested: run: esrag jobs show {killed}" in found

    assert (
        esrag("jobs", "retry", killed, "--batch", ids[0]).out
        == f"1 batch of {killed} will be retried\n"
    )
    assert esrag("jobs", "retry", "--all").out == f"1 batch of {killed} will be retried\n"
    assert esrag("jobs", "retry", "--all").out == "nothing to retry\n"
    ledger.retry(killed)
    ledger.close()
    assert esrag("jobs", "retry", killed, "--batch", ids[0]).code == 2
    assert esrag("jobs", "retry", killed, "--batch", f"{killed}-999999").code == 2


def test_a_retried_batch_is_done_by_the_next_ingest(esrag, killed):
    """From its first attempt on, and its job is done then."""
    ledger = ledger_of(esrag)
    for batch in ledger.list_due(2, killed):
        ledger.give_up(ledger.claim(batch.batch_id, "host 1 id"), "the encoder broke")
    ledger.close()
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    esrag("ingest", "other.txt")
    job = shown(esrag, killed)
    assert (job["state"], job["failed"], job["added"]) == ("done", 2, COUNT - 2)

    esrag("jobs", "retry", killed)
    (esrag.folder / "third.txt").write_text("The lamp has a shade.")
    esrag("ingest", "third.txt")

    job = shown(esrag, killed)
    assert (job["state"], job["failed"], job["added"], job["errors"]) == ("done", 0, COUNT, [])
    assert len(esrag("docs", "--json").lines) == COUNT + 2


def test_single_files_that_failed_are_tried_again(esrag, corpus):
    """One by its path, or all of a job, though its batch was done; the others are not
    read again.
    """
    for name in ("broken.pdf", "damaged.pdf"):
        (corpus / name).write_bytes(BROKEN)
    esrag("ingest", "docs")
    job = shown(esrag)["job_id"]
    assert f"esrag jobs retry {job}" in esrag("jobs", "show").err
    assert esrag("jobs", "retry", job, "--file", "docs/lamp.html").out == "nothing to retry\n"

    (corpus / "broken.pdf").write_text("A text after all.")
    assert (
        esrag("jobs", "retry", job, "--file", "docs/broken.pdf").out
        == f"1 batch of {job} will be retried\n"
    )
    assert {name: shown(esrag)[name] for name in FILES if shown(esrag)[name]} == {
        "added": 3,
        "queued": 1,
        "failed": 1,
    }
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    esrag("ingest", "other.txt")
    told = shown(esrag, job)
    assert (told["state"], told["added"] + told["failed"], told["queued"]) == ("done", 5, 0)

    assert esrag("jobs", "retry", "--all").out == f"1 batch of {job} will be retried\n"
    (esrag.folder / "third.txt").write_text("The lamp has a shade.")
    esrag("ingest", "third.txt")
    assert shown(esrag, job)["state"] == "done"
    assert [line for line in esrag("doctor", "--json").lines if line["level"] == "error"] == []


def test_a_file_whose_id_another_has_by_now_is_left_alone(esrag, corpus):
    """Tried again it would take the other's place.

    Neither is an ingest gone on with that holds one.
    """
    for name in ("first", "second"):
        (esrag.folder / name).mkdir()
    (esrag.folder / "first" / "a.pdf").write_bytes(BROKEN)
    (esrag.folder / "second" / "a.txt").write_text("The other one.")
    esrag("ingest", "first")
    job = shown(esrag)["job_id"]
    esrag("ingest", "second")
    (esrag.folder / "first" / "a.pdf").write_text("It is mended.")
    ran = esrag("jobs", "retry", job)
    assert ran.out == "nothing to retry\n"
    assert re.search(
        r"the ids of 1 file, such as \S+/first/a.pdf, now belong to other files", ran.err
    )
    with closing(ledger_of(esrag)) as ledger:
        ledger.retry(job)
        ledger.cancel(job, "by hand")
    ran = esrag("jobs", "resume", job)
    assert (ran.code, shown(esrag, job)["state"]) == (2, "cancelled")
    assert "first/a.pdf, now belong to other files" in ran.err
    esrag("ingest", "first")
    stored = {document["source"]: document["doc_id"] for document in esrag("docs", "--json").lines}
    assert sorted(Path(source).name for source in stored) == ["a.pdf", "a.txt"]
    assert len(set(stored.values())) == 2


def test_jobs_that_nobody_does_any_more_are_not_opened_again(esrag, corpus):
    """A rebuild that is over, and what was made with other settings; an ingest does their files."""
    (corpus / "broken.pdf").write_bytes(BROKEN)
    esrag("ingest", "docs")
    former = shown(esrag)["job_id"]
    esrag("ingest", "docs", "--rebuild", "--set", "chunking.size=64")
    rebuild = shown(esrag)["job_id"]
    ran = esrag("jobs", "retry", "--all")
    assert ran.out == "nothing to retry\n"
    assert (
        f"{former} cannot be retried: it was made with other settings; run esrag ingest" in ran.err
    )
    assert f"{rebuild} cannot be retried: it was a rebuild; run esrag ingest" in ran.err
    assert {job["state"] for job in listed(esrag)} == {"done"}
    assert "jobs retry" not in esrag("jobs", "show", rebuild).err
    assert "esrag ingest" in esrag("jobs", "show", rebuild).err


def test_prune_removes_what_ended_long_ago(esrag, corpus):
    """Days count from a job's end; the index stays."""
    esrag("ingest", "docs")

    assert esrag("jobs", "prune").out == "removed 0 jobs\n"
    assert esrag("jobs", "prune", "--older-than", "0").out == "removed 1 job\n"
    assert listed(esrag) == []
    assert len(esrag("docs", "--json").lines) == 3


def test_the_beginning_of_an_id_is_enough_where_one_job_has_it(esrag, corpus):
    """Several, none and an unknown one are an error with a hint."""
    nothing = esrag("jobs", "show")
    assert (nothing.code, nothing.err.count("\n")) == (2, 2)
    assert "esrag ingest" in nothing.err
    esrag("ingest", "docs/kitchen")
    esrag("ingest", "docs")
    newer, older = (job["job_id"] for job in listed(esrag))
    assert shown(esrag)["job_id"] == newer
    assert shown(esrag, older[:-1])["job_id"] == older

    several = esrag("jobs", "cancel", "20")
    assert several.code == 2
    assert "2 jobs begin with '20'" in several.err
    assert older in several.err
    for name in ("wrong", "", "../x", "*", "%"):
        ran = esrag("jobs", "show", name)
        assert (ran.code, ran.out) == (2, "")
        assert "esrag jobs list" in ran.err


def test_retry_wants_batches_that_failed_and_files_of_the_job(esrag, corpus):
    """Anything else is wrong use and not an empty success.

    A file that did not fail has nothing to be tried again.
    """
    esrag("ingest", "docs")
    job = shown(esrag)["job_id"]

    for arguments in (["--file", "nope"], ["--batch", "nope"], ["--batch", f"{job}-000001"]):
        ran = esrag("jobs", "retry", job, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "hint: esrag jobs show " in ran.err
    assert esrag("jobs", "retry", job, "--file", "docs/lamp.html").code == 0


@pytest.mark.parametrize("arguments", [[], ["x", "--all"], ["--all", "--batch", "x"]])
def test_retry_wants_one_job_or_all(esrag, arguments):
    """Anything else is wrong use."""
    ran = esrag("jobs", "retry", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert "retry expects either a JOB or --all" in ran.err


def test_a_damaged_ledger_is_one_line(esrag, corpus):
    """And the index can still be asked."""
    esrag("ingest", "docs")
    (esrag.folder / ".esrag" / "ledger.sqlite3").write_bytes(b"no ledger" * 1000)

    for command in (["list"], ["show"], ["prune"]):
        ran = esrag("jobs", *command)
        assert (ran.code, ran.out) == (1, "")
        assert 1 <= len(ran.err.splitlines()) <= 2
    assert esrag("search", "kettle").code == 0
    assert esrag("doctor").code == 1


def test_a_hostile_name_neither_acts_on_the_terminal_nor_forges_a_line(esrag):
    """Control characters go, line ends are spaces."""
    folder = esrag.folder / "docs"
    folder.mkdir()
    (folder / "a\x1b[2J\nerrors: none\r.pdf").write_bytes(BROKEN)
    esrag("ingest", "docs")
    ran = esrag("jobs", "show")

    assert "\x1b" not in ran.out + ran.err
    assert "errors: none" in ran.out
    assert not re.search("^errors: none", ran.out, re.MULTILINE)


def test_a_job_that_was_never_written_down_to_its_end_counts_for_nothing(esrag, corpus):
    """Nobody will do it, so nothing of it is queued; the same command does its files."""
    esrag("ingest", "docs")
    ledger = ledger_of(esrag)
    (job,) = ledger.jobs()
    half = {"job_id": "2", "key": "other", "state": "recording", "files": 5, "skips": ()}
    told = figures(
        type(job)(**{name: getattr(job, name) for name in job.__slots__} | half), ledger.counts("2")
    )
    ledger.close()

    assert (told["queued"], told["dropped"], told["files"]) == (0, 5, 5)


def read_until(terminal, wanted, within_s=30):
    """What is shown on a terminal, up to and with what is waited for."""
    shown_so_far = ""
    while wanted not in shown_so_far:
        assert select.select([terminal], [], [], within_s)[0], (
            f"{wanted!r} did not come: {shown_so_far!r}"
        )
        shown_so_far += os.read(terminal, 65_536).decode(errors="replace")
    return shown_so_far


def test_a_job_is_watched_from_another_shell(esrag, killed):
    """On a terminal a bar with files, chunks and the rate.

    It ends with the job, whoever finishes that.
    """
    left = shown(esrag)["queued"]
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    terminal, slave = pty.openpty()
    watching = subprocess.Popen(
        esrag.command("jobs", "show", killed, "--follow", "--json"),
        cwd=esrag.folder,
        env=esrag.environment(TERM="xterm", COLUMNS="120"),
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
    )
    read_until(terminal, f"{COUNT - left}/{COUNT}")
    esrag("ingest", "other.txt")
    bar = read_until(terminal, "\x1b[?25h")  # the cursor is back
    out, _ = watching.communicate(timeout=60)

    assert f"{COUNT}/{COUNT}" in bar
    assert f"{json.loads(out)['chunks']} chunks, " in bar
    assert (watching.returncode, json.loads(out)["state"], json.loads(out)["added"]) == (
        0,
        "done",
        COUNT,
    )
    os.close(terminal)
    os.close(slave)


def test_a_watched_job_tells_its_pace_off_a_terminal_too(esrag, killed):
    """Files, chunks and the rate after each look that saw files done, and once some were the time
    that is left.
    """
    left = shown(esrag)["queued"]
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    with started(esrag, "jobs", "show", killed, "--follow", "--json") as watching:
        first = await_line(watching.stderr, PACE)
        esrag("ingest", "other.txt")
        out, err = watching.communicate(timeout=60)
    first_pace, *paces = [
        PACE.search(line) for line in [*first, *err.splitlines()] if PACE.search(line)
    ]

    assert (first_pace["done"], first_pace["left"]) == (str(COUNT - left), None)
    assert [pace["total"] for pace in paces] == [str(COUNT)] * len(paces)
    assert (paces[-1]["done"], paces[-1]["left"]) == (str(COUNT), "0:00:00")
    assert int(paces[-1]["chunks"].replace(",", "")) == json.loads(out)["chunks"]
    assert int(paces[-1]["rate"]) > 0


@pytest.fixture
def redis(tmp_path):
    """A queue of its own."""
    from redis_server import start

    server = start(tmp_path / "redis")
    yield server
    server.stop()


@pytest.fixture
def queued(esrag, redis):
    """The command line with a queue; sweeps are frequent."""
    esrag.variables.update({"ESRAG_QUEUE__URL": redis.url, "ESRAG_QUEUE__SWEEP_S": "0.5", **SMALL})
    return esrag


@contextmanager
def worker(esrag, **variables):
    """A worker that is ready; told to end at the end."""
    with started(esrag, "worker", **variables) as running:
        await_line(running.stderr, "^ready")
        yield running
        running.send_signal(signal.SIGTERM)
        running.wait(30)


@pytest.mark.faults
def test_a_job_is_handed_over_and_watched_to_its_end(queued, texts):
    """--no-wait prints the job and ends; --follow tells each file once and ends with
    the figures.
    """
    (texts / "broken.pdf").write_bytes(BROKEN)
    handed = queued("ingest", "docs", "--no-wait", "--json")
    assert (handed.code, handed.json["queued"], handed.json["state"]) == (0, COUNT + 1, "open")

    with worker(queued):
        ran = queued("jobs", "show", "--follow", "--json")

    assert ran.code == 1  # one failed
    assert (ran.json["job_id"], ran.json["state"]) == (handed.json["job_id"], "done")
    assert (ran.json["added"], ran.json["failed"], ran.json["queued"]) == (COUNT, 1, 0)
    lines = [
        line for line in ran.err.splitlines() if line.startswith("[") and not PACE.search(line)
    ]
    assert [line.split("]")[0] for line in lines] == [
        f"[{n + 1}/{COUNT + 1}" for n in range(COUNT + 1)
    ]
    assert {Path(line.split(" ")[1].rstrip(":")).name for line in lines} == {
        path.name for path in texts.iterdir()
    }
    assert len([line for line in lines if line.endswith(": added")]) == COUNT
    assert [line for line in queued("doctor", "--json").lines if line["level"] == "error"] == []


@pytest.mark.faults
def test_control_c_leaves_the_job_to_the_workers(queued, texts):
    """One line that is true and says how to come back; exit 130; a worker then does all of it."""
    with started(queued, "ingest", "docs") as running:
        await_until(lambda: listed(queued), "a job")
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    job = shown(queued)

    assert (running.returncode, out) == (130, "")
    last = err.strip().splitlines()[-1]
    name = job["job_id"]
    assert (
        last
        == f"interrupted; job {name} continues: esrag jobs show {name} --follow shows its progress"
    )
    assert (job["state"], job["queued"]) == ("open", COUNT)
    with worker(queued):
        assert queued("jobs", "show", "--follow").code == 0
    assert len(queued("docs", "--json").lines) == COUNT


def await_until(look, what, within_s=30):
    """Looks again and again."""
    end = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.2)
    return found


@pytest.mark.faults
def test_trouble_is_said_once_and_so_is_its_end(queued, redis, texts, tmp_path):
    """Without a worker for ten seconds: how to start one.

    A queue that is off: it waits until it is back.
    """
    from redis_server import start

    with started(queued, "ingest", "docs", "--json") as running:
        idle = await_line(running.stderr, "esrag worker")
        assert len(idle) == 1
        redis.stop()
        waits = await_line(running.stderr, "^waiting: no queue at")
        assert len(waits) == 1
        time.sleep(2)
        back = start(tmp_path / "redis", port=redis.port)
        try:
            assert await_line(running.stderr, "^resumed") == ["resumed\n"]
            with worker(queued):
                out, err = running.communicate(timeout=60)
        finally:
            back.stop()

    assert running.returncode == 0
    assert json.loads(out)["added"] == COUNT
    assert {line.split("/")[0] for line in err.splitlines()} == {f"[{n + 1}" for n in range(COUNT)}


@pytest.mark.faults
def test_a_watched_job_that_is_taken_over_ends_the_watching(queued, texts):
    """It says by which, reports what was done, and is no success."""
    with started(queued, "ingest", "docs") as running:
        await_until(lambda: listed(queued), "a job")
        newer = queued("ingest", "docs", "--no-wait", "--json").json["job_id"]
        out, err = running.communicate(timeout=30)

    assert running.returncode == 1
    assert f"was cancelled: taken over by {newer}" in err
    assert "0 added" in out


@pytest.mark.faults
def test_resumed_jobs_and_retried_batches_are_handed_out_at_once(queued, texts):
    """The worker looks for work when it starts and not again, so it has them from the command."""
    queued("ingest", "docs", "--no-wait")
    job = shown(queued)["job_id"]
    ledger = ledger_of(queued)
    for batch in list(ledger.batches(job))[:2]:
        ledger.give_up(ledger.claim(batch.batch_id, "host 1 id"), "the encoder broke")
    ledger.close()
    queued("jobs", "cancel", job)
    with worker(queued, ESRAG_QUEUE__SWEEP_S="600"):
        time.sleep(1)
        assert f"{COUNT - 2} files left" in queued("jobs", "resume", job).out
        await_until(lambda: shown(queued)["added"] == COUNT - 2, "what was resumed")
        assert queued("jobs", "retry", job).out == f"2 batches of {job} will be retried\n"
        await_until(lambda: shown(queued)["state"] == "done", "what was retried")
    assert (shown(queued)["added"], shown(queued)["failed"]) == (COUNT, 0)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("redis://127.0.0.1:1", 4),
        ("redis://127.0.0.1:port", 2),
        ("http://127.0.0.1", 2),
        ("nonsense", 2),
    ],
)
@pytest.mark.parametrize("options", [[], ["--no-wait"]])
def test_a_queue_that_cannot_be_used_leaves_nothing_behind(esrag, corpus, url, code, options):
    """Case 11: the command fails, and no later one carries it out."""
    (esrag.folder / "other.txt").write_text("The lamp takes a bulb.")
    ran = esrag("ingest", "docs", *options, ESRAG_QUEUE__URL=url)
    assert (ran.code, ran.out, ran.err[:7]) == (code, "", "error: ")
    assert listed(esrag) == []

    assert esrag("ingest", "other.txt", "--json").json["added"] == 1
    assert [one["doc_id"] for one in esrag("docs", "--json").lines] == ["other"]


@pytest.mark.faults
def test_a_queue_that_is_off_keeps_no_job_from_being_written_down(queued, redis, corpus):
    """Retry and resume: exit 4, and what they did is in the ledger (case 11)."""
    job = queued("ingest", "docs", "--no-wait", "--json").json
    queued("jobs", "cancel", job["job_id"])
    redis.stop()

    ran = queued("jobs", "resume", job["job_id"])
    assert (ran.code, shown(queued)["state"]) == (4, "open")
    assert len(ran.err.splitlines()) == 2
