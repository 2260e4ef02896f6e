"""Calibrating: the confidence below which a question is refused, fitted to questions whose answers are known."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from esrag.answering import MARKERS
from esrag.asking import Asked
from esrag.errors import UsageError
from esrag.pipeline import ask
from esrag.settings import Settings
from esrag.stages import Stages
from esrag.text import normalise

STEPS = 100  # thresholds that are tried: 0.00 to 1.00


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, and what its answer has to hold one of; `answerable` is whether the documents answer it at all."""

    question: str
    answers: tuple[str, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """How sure an answer was and whether it was right; `answered` is False where no threshold would give it."""

    confidence: float
    answered: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold leads to.

    `coverage` is the share of all questions that are answered, `accuracy` the share of those answers that are right
    (1 where there is none), `kept` the share of right answers that are given, `spared` that of wrong ones that are not.
    """

    threshold: float
    coverage: float
    accuracy: float
    kept: float
    spared: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The threshold fitted to every other question, and the curve over the rest."""

    threshold: float
    fitted_questions: int
    reported_questions: int
    curve: tuple[Point, ...]

    @property
    def chosen(self) -> Point:
        """What the threshold leads to over the questions that it was not fitted to."""
        return next(point for point in self.curve if point.threshold == self.threshold)


def read_labelled(path: Path) -> list[Labelled]:
    """The questions of a JSONL file, or of a collection's folder. Raises: UsageError, which names the line."""
    if not path.is_dir():
        return [_labelled(row, place) for place, row in _rows(path)]
    rows = (row for _, row in _rows(path / "answers.jsonl") if isinstance(row, dict))
    answers = {str(row.get("_id")): row for row in rows}
    return [_labelled(_joined(row, answers), place) for place, row in _rows(path / "queries.jsonl")]


def calibrate(questions: Sequence[Labelled], settings: Settings, stages: Stages, accuracy: float | None) -> Calibration:
    """The threshold for these questions: where `accuracy` is reached, or where most are told apart.

    Questions with an even place are fitted to, the others reported; each is searched for once, since what further
    searches find depends on the threshold.

    Raises: UsageError where there is nothing to fit to, or no threshold reaches the accuracy; as `ask`.
    """
    once = settings.answer.model_copy(update={"refusal": 0.0, "steps": 1})
    answering = settings.model_copy(update={"answer": once})
    judged = [_judged(labelled, ask(labelled.question, answering, stages)) for labelled in questions]
    fitted, reported = judged[::2], judged[1::2]
    for half in (fitted, reported):
        if len({each.right for each in half if each.answered}) < 2:  # noqa: PLR2004 -- right ones and wrong ones
            hint = "give questions that the documents answer, and others that they do not, in mixed order"
            raise UsageError("there are not right and wrong answers in both halves of the questions", hint=hint)
    return Calibration(_fitted(curve(fitted), accuracy), len(fitted), len(reported), curve(reported))


def curve(judged: Sequence[Judged]) -> tuple[Point, ...]:
    """The points for all thresholds, lowest first."""
    return tuple(_point(judged, step / STEPS) for step in range(STEPS + 1))


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Each line's place, and its JSON; None for what is none."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")  # a text may hold what else ends a line
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield f"{path}, line {number}", row


def _joined(query: Any, answers: Mapping[str, Any]) -> Any:
    """A collection's question with what its answer has to hold: a short answer, or a sentence that is marked as gold.

    Collections have the sentence of one annotator, or lists of several's.
    """
    try:
        row = answers[str(query["_id"])]
        gold = [row["gold_sentence"]] if "gold_sentence" in row else chain.from_iterable(row.get("gold_sentences", []))
        held = [*row["answers"], *filter(None, gold)]
        return {"question": query["text"], "answers": held, "answerable": row["answerable"]}
    except (KeyError, TypeError):
        return None


def _labelled(row: Any, place: str) -> Labelled:
    try:
        answers, question = row.get("answers", []), row["question"]
        answerable = row["answerable"] if "answers" not in row else row.get("answerable", bool(answers))
        is_sound = isinstance(answers, list) and isinstance(answerable, bool)
        is_sound = is_sound and all(normalise(text).strip() for text in (question, *answers))
    except (ValueError, KeyError, TypeError, AttributeError):
        is_sound = False
    if not is_sound:
        hint = '{"question": "…", "answers": ["…"]}, or {"question": "…", "answerable": false}'
        raise UsageError(f"{place} is no labelled question", hint=f"write {hint}")
    return Labelled(question, tuple(answers), answerable)


def _judged(labelled: Labelled, asked: Asked) -> Judged:
    said = MARKERS.sub("", asked.answer.text).casefold()
    holds = not labelled.answers or any(_pattern(answer).search(said) for answer in labelled.answers)
    answered = not asked.answer.refused
    return Judged(asked.confidence, answered, answered and labelled.answerable and holds)


def _pattern(answer: str) -> re.Pattern[str]:
    """The answer as whole words, with any white space: collections have "one - year" for "one-year".

    >>> [bool(_pattern("$ 12").search(said)) for said in ("it cost us$12.", "it cost us$120.")]
    [True, False]
    """
    characters = r"\s*".join(map(re.escape, "".join(answer.casefold().split())))
    return re.compile(rf"(?:\b|(?=\W)){characters}(?:\b|(?<=\W))")


def _point(judged: Sequence[Judged], threshold: float) -> Point:
    given = [each.right for each in judged if each.answered and each.confidence >= threshold]
    all_right = sum(each.right for each in judged)
    all_wrong = sum(each.answered and not each.right for each in judged)
    right = sum(given)
    return Point(
        threshold,
        coverage=round(len(given) / len(judged), 4),
        accuracy=round(right / len(given), 4) if given else 1.0,
        kept=round(right / all_right, 4),
        spared=round(1 - (len(given) - right) / all_wrong, 4),
    )


def _fitted(points: Iterable[Point], accuracy: float | None) -> float:
    """The lowest threshold of that accuracy which still answers; else that of most kept + spared (Youden's J)."""
    answering = [point for point in points if point.coverage]
    if accuracy is None:
        return max(answering, key=lambda point: (point.kept + point.spared, -point.threshold)).threshold
    found = next((point.threshold for point in answering if point.accuracy >= accuracy), None)
    if found is None:
        best = max(point.accuracy for point in answering)
        raise UsageError(f"no threshold reaches an accuracy of {accuracy}; the best is {best}")
    return found


def shown(points: Sequence[Point], chosen: float) -> Iterator[Point]:
    """Every fifth point, and the chosen one."""
    return (point for n, point in enumerate(points) if n % 5 == 0 or point.threshold == chosen)
