"""How long a fact takes to find among 1,000 and 100,000 facts, and what the router adds."""

import statistics
import tempfile
import time
from collections.abc import Callable

from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.facts import Fact
from esrag.facts.finding import FactFinder
from esrag.facts.storing import compare_with_stored, write_change
from esrag.routing import RouteRequest, RouterOptions
from esrag.routing.chain import choose_route
from esrag.routing.facts import FactsRouter
from esrag.settings import Settings

THINGS = ("fee", "deadline", "limit", "form", "rate", "period", "quota", "deposit", "fine", "share")
FACTS = (1_000, 100_000)
ROUNDS = 200


def main() -> None:
    """Print one table; the search of a question that no fact answers is the costly case."""
    print("| facts | question | ms, median | ms, 95th percentile |\n| --- | --- | --- | --- |")
    for count in FACTS:
        with tempfile.TemporaryDirectory() as folder:
            engine = EmbeddedEngine(EngineOptions(url=folder, index="facts"))
            write_change(compare_with_stored(make_facts(count), [], "facts.csv"), engine)
            _time(engine, count)


def make_facts(count: int) -> list[Fact]:
    """Return facts with ten kinds of things, each about a permit of its own."""
    return [
        Fact(
            question=f"What is the {THINGS[n % 10]} of permit {_name(n // 10)}?",
            answer=f"The {THINGS[n % 10]} of permit {_name(n // 10)} is {n} units.",
            source_url=f"https://permits.example/{n}",
            file="facts.csv",
        )
        for n in range(count)
    ]


def _name(number: int) -> str:
    return f"{'ABCDEFGHIJ'[number % 10]}-{number:05}"


def _time(engine: EmbeddedEngine, count: int) -> None:
    settings = Settings()
    finder = FactFinder(engine, settings.facts)
    chain = [("facts", FactsRouter(RouterOptions(settings, finder, engine)))]
    request = RouteRequest(classify=_classify)
    asked = {
        "the fact's own": [
            f"What is the fee of permit {_name(n)}?" for n in range(0, count // 10, 7)
        ],
        "in other words": [
            f"How much does permit {_name(n)} cost?" for n in range(0, count // 10, 7)
        ],
        "of no fact": [
            f"Who signs the rate and the fine of permit {n}?" for n in range(count // 10)
        ],
        "of frequent words": ["What is the fee of a permit?"] * ROUNDS,
    }
    for kind, questions in asked.items():
        ms = _measure(questions[:ROUNDS], lambda question: choose_route(question, chain, request))
        print(
            f"| {count:,} | {kind} | {statistics.median(ms):.1f} | {ms[int(len(ms) * 0.95)]:.1f} |"
        )


def _classify(*_: object) -> str:
    raise AssertionError("no router of these asks a language model")


def _measure(questions: list[str], run: Callable[[str], object]) -> list[float]:
    run(questions[0])
    took = []
    for question in questions:
        started = time.perf_counter()
        run(question)
        took.append(1000 * (time.perf_counter() - started))
    return sorted(took)


if __name__ == "__main__":
    main()
