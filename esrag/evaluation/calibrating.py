"""Calibrating: the confidence below which a question is refused, fitted to questions whose answers are known."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
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
_ANSWER = '{"_id": "…", "answers": ["…"], "answerable": true}, and "gold_sentences": [["…"]] where there are any'
_WORD = "[0-9a-zà-öø-ԯḀ-῿]"  # digits, and the letters of scripts that part their words: Latin, Greek, Cyrillic


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
    return [*_joined(path)] if path.is_dir() else [_labelled(row, place) for place, row in _rows(path)]


def calibrate(questions: Iterable[Labelled], settings: Settings, stages: Stages, accuracy: float | None) -> Calibration:
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


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place, and its JSON object; an empty one for what is none."""
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
            yield f"{path}, line {number}", row if isinstance(row, dict) else {}


def _joined(folder: Path) -> Iterator[Labelled]:
    """A collection's questions, each with what the row of its `_id` says of the answer."""
    file = folder / "answers.jsonl"
    answers = {str(row.get("_id")): _answer(row, place) for place, row in _rows(file)}
    for place, row in _rows(folder / "queries.jsonl"):
        key, question = str(row.get("_id")), row.get("text", "")
        if not (_are_texts([question]) and "_id" in row):
            raise UsageError(f"{place} is no question of a collection", hint='write {"_id": "…", "text": "…"}')
        if key not in answers:
            raise UsageError(f"{file} has no row for _id {key!r}", hint=f"write {_ANSWER}")
        yield Labelled(question, *answers[key])


def _answer(row: Mapping[str, Any], place: str) -> tuple[tuple[str, ...], bool]:
    """What a collection's answer has to hold: a short answer, or a sentence that is marked as gold; and `answerable`.

    Collections have the sentence of one annotator, or lists of several's.
    """
    gold = [[row["gold_sentence"]]] if "gold_sentence" in row else row.get("gold_sentences", [])
    is_sound = isinstance(gold, list) and all(isinstance(sentences, list) for sentences in gold)
    marked = [sentence for sentences in gold for sentence in sentences if sentence] if is_sound else ""
    short, answerable = row.get("answers", ""), row.get("answerable")
    if not (_are_texts(short) and _are_texts(marked) and isinstance(answerable, bool) and "_id" in row):
        raise UsageError(f"{place} is no answer of a collection", hint=f"write {_ANSWER}")
    return (*short, *marked), answerable


def _labelled(row: Mapping[str, Any], place: str) -> Labelled:
    answers, question = row.get("answers", []), row.get("question", "")
    answerable = row.get("answerable", bool(answers) if "answers" in row else None)
    if not (_are_texts([question]) and _are_texts(answers) and isinstance(answerable, bool)):
        hint = '{"question": "…", "answers": ["…"]}, or {"question": "…", "answerable": false}'
        raise UsageError(f"{place} is no labelled question", hint=f"write {hint}")
    return Labelled(question, tuple(answers), answerable)


def _are_texts(values: Any) -> bool:
    """Whether these are texts in a list, none of them blank."""
    return isinstance(values, list) and all(isinstance(text, str) and normalise(text).strip() for text in values)


def _judged(labelled: Labelled, asked: Asked) -> Judged:
    is_held = not labelled.answers or any(holds(asked.answer.text, answer) for answer in labelled.answers)
    answered = not asked.answer.refused
    return Judged(asked.confidence, answered, answered and labelled.answerable and is_held)


def holds(text: str, answer: str) -> bool:
    """Whether a text has the answer as whole words and numbers, with any white space and markers in it.

    Collections have "one - year" for "one-year". Beside an end in a script without spaces all may stand.

    >>> [holds(text, "$ 12") for text in ("It cost US$12 [c1].", "It cost US$120 [c1].", "It cost US$12.50 [c1].")]
    [True, False, False]
    """
    characters = r"\s*".join(map(re.escape, "".join(answer.casefold().split())))
    start = rf"(?:(?<!{_WORD})|(?!{_WORD}))(?:(?<![0-9][.,])|(?![0-9]))"
    end = rf"(?:(?!{_WORD})|(?<!{_WORD}))(?:(?![.,][0-9])|(?<![0-9]))"
    return bool(re.search(start + characters + end, MARKERS.sub(" ", text).casefold()))


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
    """The lowest threshold of that accuracy which still answers; else that of most kept + spared (Youden's J).

    Of neighbours that keep and spare equally much the middle is taken, as far from either kind of answer as can be.
    """
    answering = [point for point in points if point.coverage]
    if accuracy is None:
        runs = ((j, [*run]) for j, run in groupby(answering, key=lambda point: round(point.kept + point.spared, 4)))
        _, best_run = max(runs, key=lambda found: (found[0], len(found[1])))
        return best_run[(len(best_run) - 1) // 2].threshold
    found = next((point.threshold for point in answering if point.accuracy >= accuracy), None)
    if found is None:
        best = max(point.accuracy for point in answering)
        raise UsageError(f"no threshold reaches an accuracy of {accuracy}; the best is {best}")
    return found


def shown(points: Sequence[Point], chosen: float) -> Iterator[Point]:
    """Every fifth point, and the chosen one."""
    return (point for n, point in enumerate(points) if n % 5 == 0 or point.threshold == chosen)
