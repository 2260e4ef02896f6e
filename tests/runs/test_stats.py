"""Statistics of runs: what is counted, over which days, and what an old record lacks."""

from datetime import date, timedelta

from esrag.runs import Feedback
from esrag.runs.stats import summarise_runs

FIRST = date(2026, 3, 1)


def run(day, *verdicts, **answer):
    """A run on a day after the first, with feedback."""
    record = {
        "run_id": "r",
        "at": f"{FIRST + timedelta(day)}T23:59:59.000+00:00",
        "answer": {"refused": False, "reason": "", "hits": [], **answer},
    }
    return record, [Feedback("r", verdict, "", "") for verdict in verdicts]


def test_runs_are_counted_by_route_intent_and_reason():
    """The largest first; a name that is not known is in no group."""
    stats = summarise_runs(
        [
            run(0, route="facts", hits=[], cached=True),
            run(0, "bad", "good", route="documents", routing={"intent": "jobs"}, hits=[{}, {}, {}]),
            run(2, "bad", route="documents", routing={"intent": "jobs"}, hits=[{}, {}]),
            run(2, route="documents", routing={"intent": ""}, refused=True, reason="no-hits"),
        ]
    )
    assert (stats.first, stats.last, stats.days) == ("2026-03-01", "2026-03-03", 1)
    total = stats.total
    assert (total.runs, total.refused, total.cached, total.good, total.bad) == (4, 1, 1, 1, 1)
    assert [(it.by, it.name, it.runs, it.periods) for it in stats.groups] == [
        ("route", "documents", 3, (1, 0, 2)),
        ("intent", "jobs", 2, (1, 0, 1)),
        ("refusal", "no-hits", 1, (0, 0, 1)),
        ("route", "facts", 1, (1, 0, 0)),
    ]
    jobs = stats.groups[1]
    assert (jobs.hits, jobs.good, jobs.bad) == (2.5, 1, 1)


def test_a_long_time_is_divided_into_periods():
    """At most forty, of whole days, with the last day in the last one."""
    stats = summarise_runs(run(day) for day in (0, 39, 40, 79))
    assert stats.days == 2
    assert len(stats.total.periods) == 40
    assert [n for n, count in enumerate(stats.total.periods) if count] == [0, 19, 20, 39]
    assert summarise_runs(run(day) for day in (0, 39)).days == 1


def test_stages_have_their_median_and_most():
    """The slowest first, each over the runs that have it."""
    times = [{"encode": float(n), "read": 1.0} for n in range(10, 21)]
    stats = summarise_runs([*(run(0, took_ms=took) for took in times), run(0)])
    assert [(it.name, it.runs, it.median_ms, it.p90_ms) for it in stats.stages] == [
        ("encode", 11, 15.0, 19.0),
        ("read", 11, 1.0, 1.0),
    ]


def test_nothing_is_said_of_no_runs():
    assert summarise_runs([]) is None
