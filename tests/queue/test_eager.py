"""`esrag ingest --eager`, to find out what is wrong: the work is done here, queue or not, up to the
first error.
"""

import pytest

pytestmark = [pytest.mark.faults, pytest.mark.timeout(150)]


def shown(esrag, variables):
    """The newest job, of which every file is counted once."""
    job = esrag("jobs", "show", "--json", **variables).json
    assert sum(job[name] for name in ("added", "failed", "queued", "dropped")) == job["files"]
    return job


def test_the_work_is_done_here(esrag, ingests, variables, client):
    """Nothing goes into the queue.

    The job is in the ledger as any other, and the index is the same.
    """
    ingests.write(one="The kettle holds 1.7 litres.", two="The lamp takes an E27 bulb.")
    ran = esrag("ingest", "docs", "--eager", "--json", **variables)
    assert (ran.code, ran.json["added"], ran.json["failed"]) == (0, 2, 0)
    assert client.dbsize() == 0
    job = shown(esrag, variables)
    assert (job["state"], job["batches"]["done"]) == ("done", 2)
    ingests.check(ingests.work.ledger.job(job["job_id"]))


def test_a_queue_that_is_off_is_not_asked(esrag, ingests, variables, redis):
    """Without it the same command would wait for its workers."""
    ingests.write(one="The kettle holds 1.7 litres.")
    redis.stop()
    assert esrag("ingest", "docs", "--eager", **variables).code == 0


def test_the_first_error_ends_it(esrag, ingests, variables, client):
    """In one line, after one attempt.

    What is left waits in the ledger, and the same command goes on from there.
    """
    ingests.write(
        one="The kettle holds 1.7 litres.", second="NO NUMBERS", third="The lamp takes an E27 bulb."
    )
    ran = esrag("ingest", "docs", "--eager", **variables)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1] == "error: the encoder returned rows that are not unit vectors"
    job = shown(esrag, variables)
    assert (job["state"], job["added"], job["queued"]) == ("open", 1, 2)
    assert client.dbsize() == 0
    ingests.write(second="It is mended.")
    ran = esrag("ingest", "docs", "--eager", "--json", **variables)
    assert (ran.code, ran.json["failed"]) == (0, 0)
    ingests.check(ingests.work.ledger.job(shown(esrag, variables)["job_id"]))
    assert len(esrag("docs", "--json").lines) == 3


def test_a_file_that_cannot_be_read_does_not_end_it(esrag, ingests, variables):
    """It is a failure of its own, and said at the end as ever."""
    ingests.write(two="The lamp takes an E27 bulb.")
    (ingests.docs / "one.pdf").write_bytes(b"%PDF-1.7 and no more")
    ran = esrag("ingest", "docs", "--eager", "--json", **variables)
    assert (ran.code, ran.json["added"], ran.json["failed"]) == (1, 1, 1)
