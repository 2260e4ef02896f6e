"""A file that ends the command which does the work itself: it has so many attempts and no more,
over all commands.
"""

import signal
from contextlib import closing

import pytest

from esrag.jobs.work import Work

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.timeout(300)]

ATTEMPTS = 2


@pytest.fixture
def alone(esrag, variables):
    """`esrag ingest docs` without a queue, and how often it was killed until it came to its end."""
    variables = variables | {"ESRAG_QUEUE__URL": "", "ESRAG_QUEUE__ATTEMPTS": str(ATTEMPTS)}

    def until_it_ends(*arguments, most=9, **others):
        for kills in range(most):
            ran = esrag("ingest", "docs", *arguments, **(variables | others))
            if ran.code != -signal.SIGKILL:
                return kills, ran
        raise AssertionError(f"killed {most} times")

    return until_it_ends


def dead_letters(ingests):
    """The dead batches of jobs that were not cancelled."""
    jobs = [job for job in ingests.work.ledger.jobs() if job.state != "cancelled"]
    return [batch for job in jobs for batch in ingests.work.ledger.batches(job.job_id, ["dead"])]


def test_it_is_a_dead_letter_in_the_end(ingests, alone, esrag):
    """After its attempts the next command stores all others, says which one it is, and does not try
    it any more.
    """
    ingests.write(one="One.", two="KILL CHILD", three="Three.")
    kills, ran = alone()
    assert (kills, ran.code) == (ATTEMPTS, 1)
    assert "1 failed" in ran.out
    (dead,) = dead_letters(ingests)
    assert (dead.attempts, dead.error) == (ATTEMPTS, f"ended its worker {ATTEMPTS} times")
    assert [task.source for task in dead.tasks] == [str(ingests.docs / "two.txt")]
    ingests.check(ingests.work.ledger.job(dead.job_id))
    kills, ran = alone()
    assert (kills, ran.code) == (0, 1)
    assert f"esrag jobs retry {dead.job_id}" in ran.err
    assert "1 file could not be ingested" in esrag("doctor").out


def test_among_others_in_a_batch(ingests, alone):
    """A batch that ended the command at each attempt goes on file by file.

    Then it is that file alone, and all others are stored.
    """
    ingests.write(**{f"file{number}": f"File {number}." for number in range(4)}, bad="KILL CHILD")
    kills, _ = alone(ESRAG_QUEUE__BATCH_FILES="8")
    assert kills == 2 * ATTEMPTS
    (dead,) = dead_letters(ingests)
    ingests.check(ingests.work.ledger.job(dead.job_id))
    assert len(list(ingests.work.context.engine.documents())) == 4


def test_with_a_rebuild(ingests, alone, esrag, variables):
    """A rebuild that it ended counts as well, and the index is made without it."""
    ingests.write(one="One.", two="KILL CHILD")
    for kills in (ATTEMPTS, 0):
        came, ran = alone("--rebuild")
        assert (came, ran.code) == (kills, 1)
        assert "1 added" in ran.out
        assert "ended its worker" in ran.err
        assert [document.doc_id for document in ingests.work.context.engine.documents()] == ["one"]
    dry = esrag("ingest", "docs", "--dry-run", "--json", **variables)
    assert (dry.code, dry.json["added"], dry.json["failed"]) == (1, 0, 1)
    came, ran = alone()
    assert (came, ran.code) == (0, 1)


def test_where_nobody_sees_that_the_command_is_gone(ingests):
    """As in a container that starts again, whose process numbers are others: the batch under way
    was an attempt.
    """
    settings = ingests.work.settings
    queue = settings.queue.model_copy(update={"url": "", "attempts": ATTEMPTS})
    ingests.write(two="It ends whoever reads it.")
    with closing(Work(settings.model_copy(update={"queue": queue}))) as work:
        for _ in range(ATTEMPTS):
            (batch,) = work.ledger.batches(ingests.begin(published=False, work=work).job_id)
            assert work.ledger.claim(batch.batch_id, "elsewhere 1 x")
        assert ingests.states(ingests.begin(published=False, work=work)) == {"dead": 1}


def test_when_it_changes_or_is_retried(ingests, alone, esrag, variables):
    """A file that is not what it was has all its attempts; and so has one for which
    somebody asks.
    """
    ingests.write(one="One.", two="KILL CHILD")
    alone()
    ingests.write(two="KILL CHILD, again.")
    assert alone()[0] == ATTEMPTS
    dead = dead_letters(ingests)[0]
    assert esrag("jobs", "retry", dead.job_id, "--file", "docs/two.txt").out.startswith("1 batch")
    assert alone()[0] == ATTEMPTS
    ingests.write(two="Tamed.")
    kills, ran = alone()
    assert (kills, ran.code) == (0, 0)
    assert "1 added" in ran.out


def test_an_ingest_of_something_else_counts_as_well(ingests, alone, esrag, variables):
    """Whoever does what another command left to do is ended by it as often and no more."""
    ingests.write(two="KILL CHILD")
    other = ingests.docs.parent / "other.txt"
    other.write_text("Something else.")
    few = variables | {"ESRAG_QUEUE__URL": "", "ESRAG_QUEUE__ATTEMPTS": str(ATTEMPTS)}
    ended = [
        esrag("ingest", "docs" if number == 0 else "other.txt", **few).code
        for number in range(ATTEMPTS + 1)
    ]
    assert ended == [-signal.SIGKILL] * ATTEMPTS + [0]
    assert len(dead_letters(ingests)) == 1
