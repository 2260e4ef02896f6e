"""Calibrating: the refusal threshold, fitted to questions whose answers are known."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from esrag.citations import MARKERS
from esrag.context import Context
from esrag.errors import UsageError
from esrag.pipeline import ask
from esrag.results import AskResult
from esrag.settings import AnswerSettings
from esrag.text import normalise

STEPS = 100  # thresholds that are tried: 0.00 to 1.00
DEFAULT: float = AnswerSettings.model_fields["refusal"].default
MIN_QUESTIONS = (
    20  # for a recommendation: with fewer a resample too often lacks right or wrong answers
)
RESAMPLES = 1000
LEVEL = 0.95  # of the range's bootstrap
WIDE = 0.1  # a range of more is worth a warning
_ROUNDING = 1e-9
# The threshold is compared with the fitted confidence, whatever is stated.
_CALIBRATING = {"answer.refusal": 0.0, "answer.steps": 1, "answer.confidence": "fitted"}

Counts = npt.NDArray[np.int64]
Choice = Literal["too few", "default", "plateau", "accuracy"]
_ANSWER = (
    '{"_id": "…", "answers": ["…"], "answerable": true}, and "gold_sentences": '
    '[["…"]] where there are any'
)
# Digits, and the letters of scripts that part their words: Latin, Greek, Cyrillic.
_WORD = "[0-9a-zà-öø-ԯḀ-῿]"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, and the texts of which its answer has to contain one.

    `answerable` is whether the documents answer it at all.
    """

    question: str
    answers: tuple[str, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """How sure an answer was and whether it was right; `answered` is False if none was given."""

    confidence: float
    answered: bool
    right: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold leads to.

    `coverage` is the share of all questions that are answered, `accuracy` the share of those
    answers that are right (1 without answers), `kept` the share of right answers that are given,
    `spared` that of wrong ones that are not.
    """

    threshold: float
    coverage: float
    accuracy: float
    kept: float
    spared: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold, why it was chosen, and the curve over the questions that it was not fitted to.

    From `low` to `high` the fitted questions cannot tell thresholds from the best one. `chosen_by`
    says that there are `too few` questions for more than the `default`; or that the default, else
    the middle of the best `plateau`, lies in that range; or that it is the lowest threshold of an
    `accuracy`.
    """

    threshold: float
    low: float
    high: float
    chosen_by: Choice
    fitted_questions: int
    reported_questions: int
    curve: tuple[Point, ...]

    @property
    def chosen(self) -> Point:
        """Return the point of the threshold, over the questions that it was not fitted to."""
        return next(point for point in self.curve if point.threshold == self.threshold)


def read_labelled(path: Path) -> list[Labelled]:
    """Return the questions of a JSONL file, or of a collection's folder.

    Raises: UsageError, which names the line.
    """
    return (
        [*_join(path)]
        if path.is_dir()
        else [_to_labelled(row, place) for place, row in iter_rows(path)]
    )


def calibrate(
    questions: Iterable[Labelled], context: Context, accuracy: float | None
) -> Calibration:
    """Return the threshold for these questions.

    It is the one that reaches `accuracy`, or that separates most questions. It is fitted to the
    questions with an even position and reported for the others. Each question is searched for once,
    since what further searches find depends on the threshold.

    Raises: UsageError if there is nothing to fit to, or no threshold reaches the accuracy; as
    `ask`.
    """
    answering = replace(context.with_settings(_CALIBRATING), runs=lambda: None)  # none is kept
    judged = [judge(labelled, ask(labelled.question, answering)) for labelled in questions]

    fitted, reported = judged[::2], judged[1::2]
    _require_both_kinds(fitted)
    _require_both_kinds(reported)

    return _choose(fitted, reported, accuracy)


def _require_both_kinds(judged: Iterable[Judged]) -> None:
    """Raise UsageError unless there are right and wrong answers."""
    if len({each.right for each in judged if each.answered}) < 2:  # noqa: PLR2004 -- right ones and wrong ones
        hint = (
            "give questions that the documents answer, and others that they do not, in mixed order"
        )
        raise UsageError(
            "there are not right and wrong answers in both halves of the questions", hint=hint
        )


def _choose(
    fitted: Sequence[Judged], reported: Sequence[Judged], accuracy: float | None
) -> Calibration:
    """Return the threshold that fits one half of the questions, and its curve over the other."""
    best = _fit(curve(fitted), accuracy)
    if accuracy is None:
        low, high = _find_equally_good(fitted, best)
    else:
        low, high = _find_reaching(fitted, accuracy)
    chosen_by = _explain_choice(len(fitted) + len(reported), low, high, accuracy)
    threshold = DEFAULT if chosen_by in {"too few", "default"} else best
    return Calibration(
        threshold=threshold,
        low=low,
        high=high,
        chosen_by=chosen_by,
        fitted_questions=len(fitted),
        reported_questions=len(reported),
        curve=curve(reported),
    )


def _explain_choice(questions: int, low: float, high: float, accuracy: float | None) -> Choice:
    if accuracy is not None:
        return "accuracy"
    if questions < MIN_QUESTIONS:
        return "too few"
    return "default" if low <= DEFAULT <= high else "plateau"


def curve(judged: Sequence[Judged]) -> tuple[Point, ...]:
    """Return the points for all thresholds, lowest first."""
    return tuple(_point(judged, step / STEPS) for step in range(STEPS + 1))


def iter_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line's place and its JSON object; an empty object for any other value.

    Raises: UsageError for a file that cannot be read, or is empty.
    """
    for number, line in enumerate(_read_lines(path), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield f"{path}, line {number}", row if isinstance(row, dict) else {}


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file. Raises: UsageError for one that cannot be read, or is empty."""
    hint = "give a JSONL file, or a folder with queries.jsonl and answers.jsonl"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        came = f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UsageError(came, hint=hint) from error

    if not text.strip():
        raise UsageError(f"{path} is empty", hint=hint)
    return text.split("\n")  # not `splitlines`: a text may hold other line ends


def _join(folder: Path) -> Iterator[Labelled]:
    """Yield a collection's questions, each with its answer from the row of its `_id`."""
    file = folder / "answers.jsonl"
    answers = {str(row.get("_id")): _read_answer(row, place) for place, row in iter_rows(file)}

    for place, row in iter_rows(folder / "queries.jsonl"):
        key, question = str(row.get("_id")), row.get("text", "")
        if not (_are_texts([question]) and "_id" in row):
            raise UsageError(
                f"{place} is not a question of a collection", hint='write {"_id": "…", "text": "…"}'
            )
        if key not in answers:
            raise UsageError(f"{file} has no row for _id {key!r}", hint=f"write {_ANSWER}")
        yield Labelled(question, *answers[key])


def _read_answer(row: Mapping[str, Any], place: str) -> tuple[tuple[str, ...], bool]:
    """Return the texts of which the answer has to contain one, and `answerable`.

    That is a short answer, or a sentence marked as gold. Collections have the sentence of one
    annotator, or lists of several annotators'.
    """
    gold = [[row["gold_sentence"]]] if "gold_sentence" in row else row.get("gold_sentences", [])
    is_sound = isinstance(gold, list) and all(isinstance(sentences, list) for sentences in gold)
    marked = (
        [sentence for sentences in gold for sentence in sentences if sentence] if is_sound else ""
    )
    short, answerable = row.get("answers", ""), row.get("answerable")
    if not (
        _are_texts(short) and _are_texts(marked) and isinstance(answerable, bool) and "_id" in row
    ):
        raise UsageError(f"{place} is not an answer of a collection", hint=f"write {_ANSWER}")
    return (*short, *marked), answerable


def _to_labelled(row: Mapping[str, Any], place: str) -> Labelled:
    answers, question = row.get("answers", []), row.get("question", "")
    answerable = row.get("answerable", bool(answers) if "answers" in row else None)
    if not (_are_texts([question]) and _are_texts(answers) and isinstance(answerable, bool)):
        hint = '{"question": "…", "answers": ["…"]}, or {"question": "…", "answerable": false}'
        raise UsageError(f"{place} is not a labelled question", hint=f"write {hint}")
    return Labelled(question, tuple(answers), answerable)


def _are_texts(values: Any) -> bool:
    """Return whether the values are a list of texts, none of them blank."""
    return isinstance(values, list) and all(
        isinstance(text, str) and normalise(text).strip() for text in values
    )


def judge(labelled: Labelled, asked: AskResult) -> Judged:
    """Return whether the answer to a labelled question was right."""
    is_held = not labelled.answers or any(
        holds(asked.answer.text, answer) for answer in labelled.answers
    )
    answered = not asked.answer.refused
    return Judged(asked.confidence, answered, answered and labelled.answerable and is_held)


def holds(text: str, answer: str) -> bool:
    """Return whether a text has the answer as whole words and numbers.

    White space and markers in the text do not matter. Collections have "one - year" for "one-year".
    Any character may follow an ending in a script without spaces.

    >>> [holds(text, "$ 12") for text in ("It cost US$12 [c1].", "It cost US$120 [c1].")]
    [True, False]
    >>> holds("It cost US$12.50 [c1].", "$ 12")
    False
    """
    characters = r"\s*".join(map(re.escape, "".join(normalise(answer).casefold().split())))
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


def _fit(points: Iterable[Point], accuracy: float | None) -> float:
    """Return the lowest threshold of that accuracy which still answers.

    Without one, return the threshold that separates best.
    """
    answering = [point for point in points if point.coverage]
    if accuracy is None:
        return _separate(answering)

    found = next((point.threshold for point in answering if point.accuracy >= accuracy), None)
    if found is None:
        best = max(point.accuracy for point in answering)
        raise UsageError(f"no threshold reaches an accuracy of {accuracy}; the best is {best}")

    return found


def _separate(points: Sequence[Point]) -> float:
    """Return the threshold with the most kept + spared (Youden's J).

    Of neighbours that keep and spare equally much it is the middle one, as far from either kind of
    answer as possible.
    """
    by_j = groupby(points, key=lambda point: round(point.kept + point.spared, 4))
    runs = [(j, [*run]) for j, run in by_j]
    _, best_run = max(runs, key=lambda found: (found[0], len(found[1])))
    return best_run[(len(best_run) - 1) // 2].threshold


def _find_equally_good(judged: Sequence[Judged], best: float) -> tuple[float, float]:
    """Return the ends of the thresholds around the best one that the questions cannot tell from it.

    These keep and spare as much as it does in at least 5 % of the resamples of the questions, or
    lie between the best thresholds of 95 % of them. Over 150 made-up sets of each of 10, 20, 50,
    100 and 300 questions, whose best threshold was known, it lay between the ends in 97 % to 99 %;
    by either rule alone, in as few as 74 %.
    """
    right, wrong = _resample(judged)
    usable = (right[:, 0] > 0) & (wrong[:, 0] > 0)  # a resample may lack either kind
    told_apart = right[usable] / right[usable, :1] - wrong[usable] / wrong[usable, :1]
    place = round(best * STEPS)

    as_good = (told_apart >= told_apart[:, [place]] - _ROUNDING).mean(axis=0) >= 1 - LEVEL
    low, high = _extend(place, as_good)

    are_best = told_apart >= told_apart.max(axis=1, keepdims=True) - _ROUNDING
    middles = (are_best.argmax(axis=1) + STEPS - are_best[:, ::-1].argmax(axis=1)) / 2
    first, last = np.quantile(middles, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return min(low, math.floor(first)) / STEPS, max(high, math.ceil(last)) / STEPS


def _extend(place: int, as_good: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """Return the ends of the run of good thresholds around a place."""
    low = high = place
    while low > 0 and as_good[low - 1]:
        low -= 1
    while high < STEPS and as_good[high + 1]:
        high += 1
    return low, high


def _find_reaching(judged: Sequence[Judged], accuracy: float) -> tuple[float, float]:
    """Return the range of the lowest threshold with an accuracy, over 95 % of the resamples.

    The threshold is 1 for a resample in which none reaches it.
    """
    right, wrong = _resample(judged)
    given = right + wrong
    reached = (given > 0) & (right >= accuracy * given - _ROUNDING)
    lowest = np.where(reached.any(axis=1), reached.argmax(axis=1), STEPS)
    low, high = np.quantile(lowest, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return float(low) / STEPS, float(high) / STEPS


def _resample(judged: Sequence[Judged]) -> tuple[Counts, Counts]:
    """Return how many right and wrong answers each threshold gives in each resample.

    Questions between the same two thresholds are alike, so a resample is a draw from 101 places of
    either kind, however many questions there are. The same questions give the same resamples.
    """
    thresholds = np.arange(STEPS + 1) / STEPS
    cells = np.zeros((2, STEPS + 1))
    for each in judged:
        if each.answered:
            cells[
                int(each.right), np.searchsorted(thresholds, each.confidence, side="right") - 1
            ] += 1

    refused = len(judged) - cells.sum()
    shares = np.append(cells.ravel(), refused) / len(judged)
    drawn = np.random.default_rng(0).multinomial(len(judged), shares, RESAMPLES)[:, :-1]
    wrong, right = drawn.reshape(RESAMPLES, 2, STEPS + 1).transpose(1, 0, 2)
    return _sum_from(right), _sum_from(wrong)


def _sum_from(counts: Counts) -> Counts:
    """Sum what lies at or above each threshold."""
    return counts[:, ::-1].cumsum(axis=1)[:, ::-1]


def thin_points(points: Sequence[Point], chosen: float) -> Iterator[Point]:
    """Yield every fifth point, and the chosen one."""
    return (point for n, point in enumerate(points) if n % 5 == 0 or point.threshold == chosen)
