"""Whatever is done to a ledger, in whatever order: no file is lost, a batch has one owner, what is
done stays done.
"""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ledgers import ATTEMPTS, LEASE_S, Clock, opened

from esrag.ingesting import Outcome, Result
from esrag.ledger.ledger import Ledger
from esrag.ledger.sqlite import SqliteStore

SIZES = (3, 1, 2)
NUMBERS = st.integers(0, 9)
OWNERS = st.sampled_from(["me", "you"])


class Ledgers(RuleBasedStateMachine):
    """Two programs, one ledger, one job.

    `claims` are all that were ever given, with the time at which they end.
    """

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        path = Path(self.folder.name) / "ledger.sqlite3"
        self.ledgers = [Ledger(SqliteStore(path), LEASE_S, ATTEMPTS, self.clock) for _ in range(2)]
        self.claims = []
        self.done = {}
        self.added = set()

    @initialize()
    def begin(self):
        """A job is there from the beginning."""
        opened(self.ledger, *SIZES)

    @property
    def ledger(self):
        """One program's or the other's, in turn."""
        self.ledgers.reverse()
        return self.ledgers[0]

    def ids(self):
        """The batches there are."""
        return [batch.batch_id for batch in self.ledger.batches("job")]

    @rule(number=NUMBERS, owner=OWNERS)
    def claim(self, number, owner):
        """Nobody gets what another holds."""
        batch_id = self.ids()[number % len(self.ids())]
        before = self.ledger.batch(batch_id)
        batch = self.ledger.claim(batch_id, owner)
        held = before.state == "running" and before.until_ms > 1000 * self.clock()
        if batch:
            assert not held
            assert self.ledger.job("job").state == "open"
            assert batch_id not in self.done
            self.claims.append(batch)

    def held(self, number):
        """A claim that was given at some time, and whether it is still its owner's."""
        claim = self.claims[number % len(self.claims)]
        now = next(
            (batch for batch in self.ledger.batches("job") if batch.batch_id == claim.batch_id),
            None,
        )
        return claim, bool(now) and (now.state, now.owner, now.attempts) == (
            "running",
            claim.owner,
            claim.attempts,
        )

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS)
    def renew(self, number):
        """Only its owner holds a claim, and only while the job is open."""
        claim, mine = self.held(number)
        assert self.ledger.renew(claim) == (mine and self.ledger.job("job").state == "open")

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS, torn=st.booleans())
    def finish(self, number, torn):
        """Only its owner ends it, once; the first of its files may have failed."""
        claim, mine = self.held(number)
        outcomes = [Outcome(task.source, "added") for task in claim.left]
        outcomes[:torn] = [Outcome(it.source, "failed", "torn") for it in outcomes[:torn]]
        assert self.ledger.finish(claim, Result(tuple(outcomes), chunks=len(outcomes)), 1) == mine
        if mine:
            self.done[claim.batch_id] = self.ledger.batch(claim.batch_id)
            self.added |= {it.source for it in outcomes if it.state == "added"}

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS, wait_s=st.sampled_from([0, 5]), counted=st.booleans())
    def put_back(self, number, wait_s, counted):
        """Only its owner changes anything by it."""
        claim, mine = self.held(number)
        before = list(self.ledger.batches("job"))
        self.ledger.put_back(claim, "error", wait_s=wait_s, counted=counted)
        assert mine or before == list(self.ledger.batches("job"))

    @precondition(lambda self: self.claims)
    @rule(number=NUMBERS)
    def give_up(self, number):
        """Only its owner changes anything by it."""
        claim, mine = self.held(number)
        self.ledger.give_up(claim, "error")
        assert not mine or self.ledger.batch(claim.batch_id).state == "failed"

    @rule(seconds=st.sampled_from([1, LEASE_S]))
    def wait(self, seconds):
        """Time goes by."""
        self.clock.advance(seconds)

    @rule()
    def reap(self):
        """No claim that is over is left."""
        self.ledger.reap()
        running = self.ledger.batches("job", ["running"])
        assert all(batch.until_ms > 1000 * self.clock() for batch in running)

    @rule(number=NUMBERS, queued=st.booleans())
    def mark(self, number, queued):
        """It is published, or not after all."""
        self.ledger.mark_queued([self.ids()[number % len(self.ids())]], queued=queued)

    @rule()
    def requeue(self):
        """All messages are lost."""
        self.ledger.requeue(round(1000 * self.clock()) + 1)

    @rule(again=st.booleans())
    def cancel(self, again):
        """Somebody changes his mind."""
        self.ledger.cancel("job", "")
        if again:
            self.ledger.reopen("job")

    @rule(number=NUMBERS, one=st.booleans(), file=st.booleans())
    def retry(self, number, one, file):
        """All that failed, or what may have of one batch or of one file."""
        named = [self.ids()[number % len(self.ids())]] if one else []
        sources = [f"/docs/f{number % sum(SIZES)}.md"] if file else []
        failed = {
            it.batch_id
            for it in self.ledger.batches("job")
            if it.state != "running" and self.failed(it, sources)
        }
        failed &= set(named or failed)
        assert self.ledger.retry("job", named, sources) == len(failed)
        self.done = {
            batch_id: batch for batch_id, batch in self.done.items() if batch_id not in failed
        }

    def failed(self, batch, sources):
        """The files of a batch that failed, all or those among some."""
        given_up = batch.left if batch.state in {"failed", "dead"} else ()
        torn = (outcome for outcome in batch.result.outcomes if outcome.state == "failed")
        return {it.source for it in (*given_up, *torn)} & (
            set(sources) or {it.source for it in batch.tasks}
        )

    @rule()
    def end(self):
        """Only a job without open batches ends."""
        if self.ledger.end("job"):
            assert not self.ledger.counts("job").open

    @invariant()
    def nothing_is_lost_or_contradicts_itself(self):
        """Each file is in one batch; the figures are the batches'; what is done stays as it is."""
        batches = list(self.ledger.batches("job"))
        if batches:
            sources = sorted(task.source for batch in batches for task in batch.tasks)
            assert sources == [f"/docs/f{number}.md" for number in range(sum(SIZES))]
            done = {batch.batch_id: batch for batch in batches if batch.state == "done"}
            assert {batch_id: done[batch_id] for batch_id in self.done} == self.done
            kept = {
                it.source
                for batch in batches
                for it in batch.result.outcomes
                if it.state == "added"
            }
            assert kept == self.added
            assert self.ledger.counts("job").files["added"] == len(self.added)
            assert self.ledger.problems() == []

    def teardown(self):
        """Removes the file."""
        for ledger in self.ledgers:
            ledger.close()
        self.folder.cleanup()


TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
