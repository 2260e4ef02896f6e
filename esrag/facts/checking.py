"""Check facts against each other: repetitions, contradictions, and what never answers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations

from esrag.facts import Fact, question_key
from esrag.facts.citing import find_refusal
from esrag.facts.reading import Fault


def split_sound(
    read: Iterable[tuple[str, Fact]], others: Iterable[Fact]
) -> tuple[list[Fact], list[Fault]]:
    """Return the facts that agree with each other and with `others`, and the rest.

    A repetition is left out. Of two different answers to one question at one time neither is taken:
    nothing tells which of them is true.
    """
    new = list(read)
    said: defaultdict[str, dict[str, tuple[str, Fact]]] = defaultdict(dict)
    for place, fact in (*((fact.file, fact) for fact in others), *new):
        said[question_key(fact.question)].setdefault(_content(fact), (place, fact))

    sound, faults = list[Fact](), list[Fault]()
    for place, fact in new:
        alike = said[question_key(fact.question)]
        if fault := _find_fault(place, fact, alike):
            faults.append(fault)
        else:
            sound.append(fact)
    return sound, faults


def _find_fault(place: str, fact: Fact, alike: Mapping[str, tuple[str, Fact]]) -> Fault | None:
    for where, other in alike.values():
        if _contradicts(fact, other):
            return Fault(place, f"contradicts {where}: another answer to {fact.question!r}")
    where, _ = alike[_content(fact)]
    return None if where == place else Fault(place, f"repeats {where}")


def find_problems(facts: Sequence[Fact], today: date) -> Iterator[Fault]:
    """Yield what is wrong with stored facts, by id."""
    by_question: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_question[question_key(fact.question)].append(fact)

    for fact in facts:
        if refused := find_refusal(fact):
            yield Fault(fact.fact_id, refused)
        if not any(each.holds_on(today) for each in by_question[question_key(fact.question)]):
            yield Fault(fact.fact_id, _tell_when(fact, today))
    for alike in by_question.values():
        for one, other in combinations(alike, 2):
            if _contradicts(one, other):
                yield Fault(one.fact_id, f"contradicts {other.fact_id}")


def _tell_when(fact: Fact, today: date) -> str:
    is_over = fact.valid_until and fact.valid_until < today.isoformat()
    return f"expired on {fact.valid_until}" if is_over else f"holds only from {fact.valid_from}"


def _contradicts(one: Fact, other: Fact) -> bool:
    return one.overlaps(other) and _answer_key(one) != _answer_key(other)


def _content(fact: Fact) -> str:
    """Return what repeated facts share: the answer, and the first day, which is part of the id."""
    return f"{fact.valid_from}\n{_answer_key(fact)}"


def _answer_key(fact: Fact) -> str:
    return " ".join(fact.answer.split()).casefold().rstrip(" .")
