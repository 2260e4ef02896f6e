"""What a document says is in no log and no error, however a batch with it fails, and however much
is logged.
"""

import pytest
from lxml import etree
from test_worker import APP, PLAIN
from waiting import wait_until

from esrag.engines.server.connection import refusal
from esrag.errors import EngineError
from esrag.jobs.reporting import problems
from esrag.jobs.running import line_of, trace_of
from esrag.ledger.store import Query, iter_rows
from esrag.loading.guarded import _words

pytestmark = [pytest.mark.faults, pytest.mark.timeout(180)]

SECRET = "Zanzibar-4711-quokka"
DEBUG = [*APP, *PLAIN[:-1], "DEBUG"]


def all_of_the_ledger(ingests):
    """Every word in it but the names of files."""
    rows = (
        row
        for kind in ("job", "batch")
        for row in iter_rows(ingests.work.ledger._store, Query(kind))
    )
    return "\n".join(row.body for row in rows)


@pytest.mark.parametrize("by_hand", [False, True], ids=["esrag", "celery at DEBUG"])
def test_neither_logs_nor_errors_hold_what_a_document_says(start_worker, ingests, by_hand):
    """Embedders and loaders that quote it in their errors, one that breaks its contract, a process
    that is killed.
    """
    ingests.reset(attempts=2)
    ingests.write(
        fine=f"{SECRET} is fine.",
        quoted=f"QUOTE ME: {SECRET}",
        broken=f"ONE TOO FEW: {SECRET}",
        killed=f"KILL CHILD: {SECRET}",
    )
    (ingests.docs / "loader.quoted").write_text(SECRET)
    worker = start_worker(command=DEBUG if by_hand else None, ESRAG_QUEUE__ATTEMPTS="2")
    job = ingests.begin()
    wait_until(lambda: ingests.work.ledger.job(job.job_id).state != "open", 90)
    assert list(problems(ingests.work)) == []
    assert {name: batch.state for name, batch in ingests.batches(job).items()} == {
        "fine": "done", "quoted": "failed", "broken": "failed", "killed": "dead", "loader": "done",
    }  # fmt: skip
    worker.end()
    ledger = all_of_the_ledger(ingests)
    assert SECRET not in worker.log
    assert SECRET not in ledger
    assert "ValueError, faulty.py line " in ledger
    assert "KeyError" in ledger
    assert "cannot be parsed: ValueError" in ledger
    assert "ValueError, faulty.py line " in worker.log


def test_an_error_of_ours_is_said_in_full():
    """What others say is left out, what we say is not; of the system the reason is."""
    assert line_of(EngineError("no room", hint="make some")) == "no room; make some"
    assert (
        line_of(OSError(28, "No space left on device", "/secret"))
        == "OSError: No space left on device"
    )
    with pytest.raises(RuntimeError) as caught:
        _fail()
    assert line_of(caught.value).startswith("RuntimeError, test_faults_secrecy.py line ")
    trace = trace_of(caught.value)
    assert trace.index("no room") < trace.index("RuntimeError, ")
    assert SECRET not in trace


def _fail():
    raise RuntimeError(SECRET) from EngineError("no room")


def test_a_parser_that_quotes_what_it_reads():
    """Of what lxml says its kind is kept."""
    with pytest.raises(etree.XMLSyntaxError, match=SECRET) as caught:
        etree.fromstring(f"<a>&{SECRET};</a>")
    assert _words(caught.value) == "XMLSyntaxError"


def test_a_server_that_quotes_what_it_refuses():
    """Of its reason what comes before the document is kept; its cause quotes it as well."""
    cause = {"type": "illegal_argument_exception", "reason": f'For input string: "{SECRET}"'}
    reason = (
        "failed to parse field [x] of type [long] in document with id 'a'. "
        f"Preview of field's value: '{SECRET}'"
    )
    body = {"error": {"type": "document_parsing_exception", "reason": reason, "caused_by": cause}}
    said = str(refusal("http://here", 400, body))
    assert said.endswith("failed to parse field [x] of type [long] in document with id 'a'")
