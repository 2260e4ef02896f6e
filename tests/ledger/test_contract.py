"""What a ledger promises, over a file, and what a store has to do with it over OpenSearch and
Elasticsearch too.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from ledgers import ATTEMPTS, a_job, batches, opened, task

from esrag.errors import LedgerError
from esrag.ingesting import Outcome, Result, Skip, Task
from esrag.ledger.store import Query, Row, batch_row, iter_rows, job_row
from esrag.loading.sources import source_of

STORES = [
    "sqlite",
    *(pytest.param(name, marks=pytest.mark.live) for name in ("opensearch", "elasticsearch")),
]
# The others: of the logic, which all share.
everywhere = pytest.mark.parametrize("place", STORES, indirect=True)
LEDGERS = Path(__file__).with_name("ledgers.py")


def states(ledger, job_id="job"):
    """The batches of a job by id, each with its state."""
    return {batch.batch_id: batch.state for batch in ledger.batches(job_id)}


def done(batch, state="added", **sums):
    """A result in which that came of every file."""
    return Result(tuple(Outcome(task.source, state) for task in batch.tasks), **sums)


@everywhere
def test_a_job_from_its_beginning_to_its_end(place, ledger):
    """What is written down is offered, worked on once and counted; then the job ends, once."""
    assert opened(ledger, 2, 1).state == "open"
    assert [(batch.batch_id, len(batch.tasks)) for batch in ledger.list_due(9)] == [
        ("job-000001", 2),
        ("job-000002", 1),
    ]
    assert not ledger.end("job")
    for batch_id, state in (("job-000001", "added"), ("job-000002", "changed")):
        batch = ledger.claim(batch_id, "me")
        assert (batch.owner, batch.attempts, batch.state) == ("me", 1, "running")
        assert ledger.finish(batch, done(batch, state, chunks=3, embedded=2, reused=1), 17)
    other = place()
    assert other.list_due(9) == []
    assert other.batch("job-000002").took_ms == 17
    counts = other.counts("job")
    assert (counts.batches["done"], counts.open, counts.chunks, counts.embedded, counts.reused) == (
        2,
        0,
        6,
        4,
        2,
    )
    assert counts.files == {
        "pending": 0,
        "added": 2,
        "changed": 1,
        "renamed": 0,
        "failed": 0,
        "skipped": 0,
    }
    assert (ledger.end("job"), other.end("job"), other.job("job").state) == (True, False, "done")
    assert ledger.problems() == []


@everywhere
def test_a_ledger_that_is_not_there_holds_nothing(place, ledger):
    """Reading says so, and names what is unknown."""
    assert (
        list(ledger.jobs())
        == list(ledger.batches("job"))
        == ledger.list_due(3)
        == ledger.problems()
        == []
    )
    assert ledger.claim("job-000001", "me") is ledger.find_next_due_ms("job") is None
    assert (ledger.counts("job").open, ledger.end("job"), ledger.requeue(9), ledger.prune(9)) == (
        0,
        False,
        0,
        0,
    )
    for what in (
        ledger.job,
        ledger.batch,
        ledger.retry,
        ledger.reopen,
        lambda name: ledger.cancel(name, ""),
    ):
        with pytest.raises(LedgerError, match=r"no (job|batch) '/\.\./x\\udcff'") as raised:
            what("/../x\udcff")
        assert raised.value.hint.startswith("esrag jobs")


@everywhere
def test_a_claim_is_one_owners_until_its_time_is_up(place, ledger):
    """Nobody else gets the batch before.

    Afterwards the former owner can neither hold, end nor put it back.
    """
    opened(ledger, 1)
    mine = ledger.claim("job-000001", "me")
    place.clock.advance(59)
    assert place().claim("job-000001", "you") is None
    assert ledger.renew(mine)
    place.clock.advance(59)
    assert place().claim("job-000001", "you") is None
    place.clock.advance(1)
    yours = place().claim("job-000001", "you")
    assert (yours.owner, yours.attempts) == ("you", 2)
    assert not ledger.renew(mine)
    assert not ledger.finish(mine, done(mine), 1)
    ledger.put_back(mine, "late")
    ledger.give_up(mine, "late")
    assert ledger.batch("job-000001") == yours
    assert place().finish(yours, done(yours), 1)


def test_what_is_finished_twice_counts_once(place, ledger):
    """Neither the same claim nor a later one ends a batch again."""
    opened(ledger, 3)
    batch = ledger.claim("job-000001", "me")
    assert ledger.finish(batch, done(batch, chunks=5), 1)
    assert not ledger.finish(batch, done(batch, chunks=5), 1)
    assert not ledger.renew(batch)
    assert ledger.claim("job-000001", "you") is None
    assert (ledger.counts("job").chunks, ledger.counts("job").files["added"]) == (5, 3)


def test_a_former_claim_of_the_same_owner_is_none(place, ledger):
    """Whoever was thought dead and claimed a batch once more works by the new claim only."""
    opened(ledger, 1)
    former = ledger.claim("job-000001", "me")
    place.clock.advance(60)
    assert ledger.claim("job-000001", "me")
    assert not ledger.renew(former)
    assert not ledger.finish(former, done(former), 1)


def test_who_renews_in_time_is_not_reaped(place, ledger):
    """A sweeper that looked a moment before changes nothing, neither puts it back nor cuts it."""
    opened(ledger, 2)
    for _ in range(ATTEMPTS):
        place.clock.advance(60)
        batch = ledger.claim("job-000001", "me")
        place.clock.advance(59)
        assert ledger.reap(lambda _owner: place().renew(batch)) == []  # noqa: B023 -- called within
    assert ledger.finish(batch, done(batch), 1)


@everywhere
@pytest.mark.parametrize("number", [10])
def test_of_two_who_claim_at_once_one_wins(place, ledger, number):
    """Two processes go through the same batches at the same moment: each batch is claimed once."""
    opened(ledger, *[1] * number)
    command = [sys.executable, LEDGERS, "claim", place.url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    claimers = [
        subprocess.Popen([*command, owner, str(number)], **pipes) for owner in ("me", "you")
    ]
    for claimer in claimers:
        assert claimer.stdout.readline() == "ready\n"
    for claimer in claimers:
        claimer.stdin.write("go\n")
        claimer.stdin.flush()
    won = [claimer.communicate(timeout=60)[0].split() for claimer in claimers]
    assert sorted(won[0] + won[1]) == [f"job-{one:06}" for one in range(1, number + 1)]
    assert {batch.attempts for batch in ledger.batches("job")} == {1}


def test_what_is_put_back_waits_and_fails_in_the_end(place, ledger):
    """A batch is offered again after its wait.

    What is not counted costs no attempt, the last that counts fails.
    """
    opened(ledger, 2)
    ledger.put_back(ledger.claim("job-000001", "me"), "no room\nat all", "Traceback", wait_s=10)
    assert ledger.list_due(1) == []
    assert ledger.find_next_due_ms("job") == place.clock() * 1000 + 10_000
    place.clock.advance(10)
    (waiting,) = ledger.list_due(1)
    assert (waiting.attempts, waiting.error, waiting.traceback) == (
        1,
        "no room at all",
        "Traceback",
    )
    ledger.put_back(ledger.claim("job-000001", "me"), "the server is away", counted=False)
    assert (ledger.batch("job-000001").attempts, ledger.find_next_due_ms("job")) == (1, 0)
    ledger.put_back(ledger.claim("job-000001", "me"), "no room")
    assert (ledger.batch("job-000001").state, ledger.counts("job").files["failed"]) == ("failed", 2)
    assert ledger.find_next_due_ms("job") is None
    assert ledger.end("job")
    assert ledger.problems() == []


def test_who_is_turned_away_waits_longer_each_time(place, ledger):
    """Twice as long up to five minutes, or as long as he was told.

    An attempt that counts begins anew.
    """
    opened(ledger, 1)

    def waits_s(**how):
        ledger.put_back(ledger.claim("job-000001", "me"), "busy", **how)
        return (ledger.batch("job-000001").not_before_ms - 1000 * place.clock()) / 1000

    assert [waits_s(wait_s=10, counted=False) for _ in range(7)] == [10, 20, 40, 80, 160, 300, 300]
    assert waits_s(wait_s=10, min_s=3600, counted=False) == 3600
    assert waits_s(wait_s=10) == 10
    assert [waits_s(wait_s=10, counted=False) for _ in range(2)] == [10, 20]
    assert ledger.batch("job-000001").attempts == 1


@everywhere
def test_files_that_failed_in_a_batch_that_was_done_are_tried_again(place, ledger):
    """One by its name, or all.

    What else came of the batch stays, and every figure is true all the time.
    """
    opened(ledger, 3)
    batch = ledger.claim("job-000001", "me")
    names = [task.source for task in batch.tasks]
    states = ("added", "failed", "failed")
    outcomes = tuple(
        Outcome(name, state, "torn") for name, state in zip(names, states, strict=True)
    )
    assert ledger.finish(
        batch, Result(outcomes, (Skip(f"{names[0]}:line 1", "no", failed=False),), chunks=4), 1
    )
    assert ledger.end("job")
    assert ledger.retry("job", sources=[names[0], "/docs/unknown.md"]) == 0
    assert ledger.job("job").state == "done"
    assert place().retry("job", sources=[names[1]]) == 1
    again = ledger.claim("job-000001", "me")
    assert [task.source for task in again.left] == [names[1]]
    assert ledger.retry("job") == 0  # somebody works on it
    files = ledger.counts("job").files
    assert (files["added"], files["pending"], files["failed"]) == (1, 1, 1)
    assert ledger.finish(again, Result((Outcome(names[1], "added"),), chunks=2), 1)
    assert ledger.retry("job") == 1
    last = ledger.claim("job-000001", "me")
    ledger.give_up(last, "the encoder broke")
    counts = ledger.counts("job")
    assert (counts.files["added"], counts.files["failed"], counts.chunks) == (2, 1, 6)
    assert ledger.batch("job-000001").result.parts == (
        Skip(f"{names[0]}:line 1", "no", failed=False),
    )
    assert ledger.problems() == []


def test_one_file_of_a_failed_batch(ledger):
    """It is tried again alone.

    The others stay failures for the same reason, and can be tried later.
    """
    opened(ledger, 3)
    ledger.give_up(ledger.claim("job-000001", "me"), "the encoder broke")
    assert ledger.retry("job", sources=["/docs/f1.md"]) == 1
    assert [task.doc_id for task in ledger.batch("job-000001").left] == ["f1"]
    assert ledger.retry("job", ["job-000001"], ["/docs/f0.md"]) == 1
    batch = ledger.claim("job-000001", "me")
    assert [task.doc_id for task in batch.left] == ["f0", "f1"]
    assert ledger.finish(
        batch, Result(tuple(Outcome(task.source, "added") for task in batch.left)), 1
    )
    assert (ledger.counts("job").files["added"], ledger.counts("job").files["failed"]) == (2, 1)
    assert ledger.batch("job-000001").result.outcomes[0].reason == "the encoder broke"
    assert ledger.problems() == []


def test_what_is_tried_again_and_ends_its_worker_is_cut(place, ledger):
    """Only what was left of the batch is tried alone.

    What had come of it is kept, and counted once.
    """
    opened(ledger, 3)
    batch = ledger.claim("job-000001", "me")
    outcomes = tuple(
        Outcome(task.source, "added" if task.doc_id == "f1" else "failed") for task in batch.tasks
    )
    assert ledger.finish(batch, Result(outcomes, chunks=4), 1)
    assert ledger.retry("job") == 1
    for _ in range(ATTEMPTS):
        ledger.claim("job-000001", "me")
        place.clock.advance(60)
        ledger.reap()
    assert list(states(ledger).values()) == ["pending", "done", "pending"]
    assert (ledger.counts("job").files["added"], ledger.counts("job").chunks) == (1, 4)
    assert ledger.problems() == []


def test_attempts_count_from_job_to_job(place, ledger):
    """What a job had begun goes on in the one that takes over: what is dead stays dead, what was
    tried is counted.
    """
    opened(ledger, 1, 1)
    for number in (1, 1, 2):
        ledger.claim(f"job-00000{number}", "me")
        ledger.reap(lambda owner: owner == "me")
    begun = list(ledger.batches("job"))
    assert [(batch.state, batch.attempts) for batch in begun] == [
        ("dead", ATTEMPTS),
        ("pending", 1),
    ]
    newer = ledger.open(a_job("new", files=3, created_ms=2), [[task("fresh")]], begun)
    assert (newer.state, ledger.job("job").state) == ("open", "cancelled")
    assert [(it.state, it.attempts, it.tasks[0].doc_id) for it in ledger.batches("new")] == [
        ("pending", 0, "fresh"),
        ("dead", ATTEMPTS, "f0"),
        ("pending", 1, "f1"),
    ]
    assert [batch.job_id for batch in ledger.iter_dead()] == ["job", "new"]
    assert ledger.problems() == []


def test_what_is_given_up_is_not_tried_again(ledger):
    """An error that will not pass ends the batch at its first attempt."""
    opened(ledger, 1)
    ledger.give_up(ledger.claim("job-000001", "me"), "the model is gone", "Traceback")
    assert (ledger.batch("job-000001").state, ledger.batch("job-000001").error) == (
        "failed",
        "the model is gone",
    )
    assert ledger.claim("job-000001", "you") is None


@everywhere
def test_reaping_puts_back_then_cuts_then_buries(place, ledger):
    """What ends its worker is tried again, then file by file.

    A single file that does it every time is dead.
    """
    opened(ledger, 2, 1)
    for _ in range(2):
        assert ledger.claim("job-000001", "me")
        assert ledger.reap() == []
        place.clock.advance(60)
        reaped = ledger.reap()
    assert [batch.batch_id for batch in reaped] == ["job-000001-0001", "job-000001-0002"]
    assert list(states(ledger)) == ["job-000001-0001", "job-000001-0002", "job-000002"]
    first = ledger.claim("job-000001-0001", "me")
    assert ledger.finish(first, done(first), 1)
    for _ in range(2):
        assert ledger.claim("job-000001-0002", "me")
        reaped = ledger.reap(lambda owner: owner == "me")
    assert [(batch.state, batch.error) for batch in reaped] == [
        ("dead", "ended its worker 2 times")
    ]
    assert states(ledger) == {
        "job-000001-0001": "done",
        "job-000001-0002": "dead",
        "job-000002": "pending",
    }
    assert ledger.problems() == []


def test_cutting_a_batch_is_safe_to_repeat(place, ledger):
    """A sweeper that is killed in between leaves pieces, on which others work.

    The next one makes the others only.
    """
    opened(ledger, 3)
    ledger.claim("job-000001", "me")
    place.clock.advance(60)
    parent = ledger.claim("job-000001", "me")
    place.clock.advance(60)
    assert ledger.claim("job-000001", "you") is None  # with no attempt left it is the sweeper's
    piece = replace(
        parent, batch_id="job-000001-0002", tasks=parent.tasks[1:2], state="done", until_ms=0
    )
    ledger._store.write([batch_row(replace(piece, result=done(piece)))])
    ledger.reap()
    assert list(states(ledger).values()) == ["pending", "done", "pending"]
    assert ledger.problems() == []


@everywhere
def test_what_is_queued_is_not_offered_until_it_was_lost(place, ledger):
    """Published batches are not offered; those of before a moment are, when they count as lost."""
    opened(ledger, 1, 1, 1)
    ledger.mark_queued(["job-000001", "job-000002"])
    assert [batch.batch_id for batch in ledger.list_due(9)] == ["job-000003"]
    ledger.mark_queued(["job-000002"], queued=False)
    assert [batch.batch_id for batch in ledger.list_due(9)] == ["job-000002", "job-000003"]
    now_ms = round(1000 * place.clock())
    assert (ledger.requeue(now_ms), ledger.requeue(now_ms + 1), ledger.requeue(now_ms + 1)) == (
        0,
        1,
        0,
    )
    assert [batch.batch_id for batch in ledger.list_due(2)] == ["job-000001", "job-000002"]
    batch = ledger.claim("job-000001", "me")
    ledger.mark_queued(["job-000001"])  # its message was late
    assert (ledger.batch("job-000001"), ledger.problems()) == (batch, [])


def test_a_cancelled_job_stops_and_can_be_opened_again(ledger):
    """Nothing of it is offered or claimed and who works on it is told; what was done stays done."""
    opened(ledger, 1, 1)
    batch = ledger.claim("job-000001", "me")
    ledger.cancel("job", "by hand")
    assert (ledger.job("job").state, ledger.job("job").note) == ("cancelled", "by hand")
    assert ledger.list_due(9) == ledger.list_due(9, "job") == []
    assert not ledger.renew(batch)
    assert ledger.claim("job-000002", "me") is None
    assert ledger.finish(batch, done(batch), 1)
    assert not ledger.end("job")
    ledger.reopen("job")
    assert (ledger.job("job").state, ledger.job("job").note, ledger.job("job").ended_ms) == (
        "open",
        "",
        0,
    )
    assert [batch.batch_id for batch in ledger.list_due(9)] == ["job-000002"]
    assert ledger.problems() == []


def test_retrying_makes_what_failed_pending(ledger):
    """One or all of a job, with fresh attempts.

    The job is open again, and what is done is left alone.
    """
    opened(ledger, 1, 1, 1)
    for number in (1, 2):
        ledger.give_up(ledger.claim(f"job-00000{number}", "me"), "bad")
    batch = ledger.claim("job-000003", "me")
    ledger.finish(batch, done(batch), 1)
    assert ledger.end("job")
    assert ledger.retry("job", ["job-000003", "job-000009"]) == 0
    assert ledger.job("job").state == "done"
    assert ledger.retry("job", ["job-000002"]) == 1
    assert ledger.job("job").state == "open"
    assert states(ledger) == {"job-000001": "failed", "job-000002": "pending", "job-000003": "done"}
    assert ledger.retry("job") == 1
    assert ledger.batch("job-000001").attempts == 0
    assert ledger.problems() == []


@everywhere
def test_pruning_removes_what_is_over(place, ledger):
    """Jobs that ended before, and what was never recorded; not what is open or ended later."""
    for name in ("done", "late", "open"):
        opened(ledger, name=name, key=name)
    opened(ledger, *[1] * 120, name="cancelled", key="cancelled")
    with pytest.raises(ZeroDivisionError):
        ledger.open(a_job("recording", key="recording"), (1 // 0 for _ in range(1)))
    ledger.cancel("cancelled", "")
    assert ledger.end("done")
    place.clock.advance(10)
    assert ledger.end("late")
    assert ledger.prune(round(1000 * place.clock())) == 3
    assert sorted(job.job_id for job in ledger.jobs()) == ["late", "open"]
    assert list(ledger.batches("cancelled")) == ledger.problems() == []


@everywhere
def test_what_is_forgotten_stops_and_is_no_more(place, ledger):
    """All jobs of an index go, whoever works on one of them loses his claim; those of
    another stay.
    """
    opened(ledger, 2, name="open")
    opened(ledger, name="done", key="done")
    opened(ledger, name="other", key="other", index="letters")
    assert ledger.end("done")
    batch = ledger.claim("open-000001", "me")
    ledger.forget("docs")
    assert not ledger.renew(batch)
    ledger.put_back(batch, "", counted=False)
    assert not ledger.finish(batch, done(batch), 1)
    assert [job.job_id for job in place().jobs()] == ["other"]
    assert list(ledger.batches("open")) == ledger.problems() == []


def test_jobs_come_newest_first(ledger):
    """By when they were created."""
    for name, created_ms in (("b", 5), ("a", 9), ("c", 7)):
        opened(ledger, name=name, key=name, created_ms=created_ms)
    assert [job.job_id for job in ledger.jobs()] == ["a", "c", "b"]


@everywhere
def test_one_sweeper_at_a_time(place, ledger):
    """A second one is told no until the first ends, or its time does.

    A late end does not end another's turn.
    """
    with ledger.claim_sweep(30) as mine, place().claim_sweep(30) as yours:
        assert (mine, yours) == (True, False)
    with ledger.claim_sweep(30) as mine:
        place.clock.advance(30)
        late = place().claim_sweep(30)
        assert mine
        assert late.__enter__()
    with ledger.claim_sweep(30) as again:
        assert not again
    late.__exit__(None, None, None)
    with ledger.claim_sweep(30) as again:
        assert again


@everywhere
def test_a_newer_job_takes_over_from_an_older_one(ledger):
    """Of the same key and index, open or cut short while it was recorded; the others go on."""
    opened(ledger, 1, name="old", created_ms=1)
    ledger._store.write([job_row(a_job("short", created_ms=2, files=7))])
    opened(ledger, 1, name="elsewhere", index="other", created_ms=3)
    opened(ledger, 1, name="other", key="other", created_ms=4)
    assert opened(ledger, 1, name="new", created_ms=5).state == "open"
    told = {job.job_id: (job.state, job.note) for job in ledger.jobs()}
    assert told["old"] == told["short"] == ("cancelled", "taken over by new")
    assert told["elsewhere"] == told["other"] == told["new"] == ("open", "")
    assert {batch.job_id for batch in ledger.list_due(9)} == {"elsewhere", "new", "other"}
    with pytest.raises(LedgerError, match="not recorded to its end"):
        ledger.reopen("short")
    assert ledger.problems() == []


def test_an_older_job_that_is_recorded_later_gives_way(ledger):
    """Of two ingests at once one remains, whichever was quicker to write itself down."""
    opened(ledger, 1, name="new", created_ms=5)
    late = opened(ledger, 1, name="old", created_ms=4)
    assert (late.state, late.note, ledger.job("new").state) == (
        "cancelled",
        "taken over by new",
        "open",
    )


def test_an_id_is_used_once(ledger):
    """A second job of the same id is refused before anything of it is written."""
    opened(ledger, 1)
    with pytest.raises(LedgerError, match="there is a job job already"):
        opened(ledger, 1, 1)
    assert (len(states(ledger)), ledger.problems()) == (1, [])


@everywhere
def test_hostile_content_comes_back_as_it_was(place, ledger):
    """Quotes, line ends, null bytes and what looks like syntax are data.

    What is no Unicode is spelled out.
    """
    hostile = "a'\"\n\r\0\\u0000 {} </script> \u202e 🎈" + source_of(Path("\udcff"))
    tasks = [Task(source=hostile, doc_id=hostile, folder=hostile, state="renamed", root=hostile)]
    ledger.open(a_job(files=1, gone=(hostile,), skips=(Skip(hostile, hostile),)), [tasks])
    assert ledger.batch("job-000001").tasks == tuple(tasks)
    batch = ledger.claim("job-000001", hostile)
    result = Result(
        (Outcome(hostile, "skipped", hostile + "\udcff"),), (Skip(hostile, hostile, failed=False),)
    )
    assert ledger.finish(batch, result, 1)
    stored = place().batch("job-000001")
    assert (stored.owner, stored.result.parts) == (hostile, result.parts)
    assert stored.result.outcomes[0].reason == hostile + r"\udcff"
    assert (ledger.job("job").gone, ledger.job("job").skips) == (
        (hostile,),
        (Skip(hostile, hostile),),
    )


def test_long_errors_are_cut(ledger):
    """Of an error its beginning is kept, in one line, of a traceback its end."""
    opened(ledger, 1)
    ledger.give_up(
        ledger.claim("job-000001", "me"), "line\n" * 20_000, "frame\n" * 20_000 + "ValueError: it"
    )
    batch = ledger.batch("job-000001")
    assert (len(batch.error), batch.error[:9], batch.error[-1]) == (500, "line line", "…")
    assert len(batch.traceback) == 10_000
    assert batch.traceback.endswith("frame\nValueError: it")


def test_contradictions_are_found(ledger):
    """Counters that are not their batches', states that cannot be and batches without a job are
    named.
    """
    opened(ledger, 1, 2)
    store = ledger._store
    assert ledger.problems() == []
    job, (first, second) = ledger.job("job"), ledger.batches("job")
    rows = {row.key: row for row in iter_rows(store, Query("batch"))}
    planted = [
        (replace(batch_row(first), state="done"), "what it is found by is not what it holds"),
        (batch_row(replace(first, tasks=(*first.tasks, task("x")))), "has 3 files, its batches 4"),
        (batch_row(replace(first, until_ms=7)), "is pending until 7"),
        (
            batch_row(replace(first, state="running", until_ms=7, owner="me")),
            "is running at attempt 0 of me",
        ),
        (batch_row(replace(first, state="failed", queued_ms=7)), "is failed and queued"),
        (job_row(replace(job, state="done", ended_ms=7)), "is done with 2 batches open"),
        (job_row(replace(job, state="open", ended_ms=7)), "is open and ended at 7"),
        (batch_row(replace(second, batch_id="x-000001", job_id="x")), "its job x is not there"),
    ]
    for row, problem in planted:
        before = store.get([row.key])
        assert store.write([replace(row, version=one.version) for one in before] or [row]) == [True]
        assert any(problem in line for line in ledger.problems()), problem
        after = store.get([row.key])[0].version
        store.write([replace(one, version=after) for one in before]) if before else store.remove(
            [row.key]
        )
    assert ledger.problems() == []
    assert set(rows) == {"batch job-000001", "batch job-000002"}


def test_an_entry_that_cannot_be_read_is_named(ledger):
    """What another version wrote with fields more is read.

    What lacks what it needs is an error in one line.
    """
    opened(ledger, 1)
    (row,) = ledger._store.get(["batch job-000001"])
    assert ledger._store.write([replace(row, body=row.body.replace("{", '{"later":[1],', 1))]) == [
        True
    ]
    assert ledger.batch("job-000001").state == "pending"
    ledger._store.write(
        [
            Row(
                key="batch broken",
                kind="batch",
                job_id="job",
                state="pending",
                body='{"batch_id":"broken"}',
            )
        ]
    )
    with pytest.raises(LedgerError, match="'batch broken' cannot be read: job_id: Field required"):
        ledger.batch("broken")


@everywhere
def test_recording_holds_little_in_memory(place, ledger):
    """Batches are written while they come, and none of them is offered before the last one is."""
    other = place()

    def watched():
        for number, batch in enumerate(batches(*[1] * 350)):
            if number in {150, 349}:
                assert len(states(other)) >= number - 100
                assert other.list_due(1) == []
                assert other.claim("job-000001", "me") is None
            yield batch

    assert ledger.open(a_job(files=350), watched()).state == "open"
    assert len(other.list_due(1000)) == 350
