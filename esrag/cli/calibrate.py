"""`esrag calibrate`: the threshold of refusals, fitted to one's own questions."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, resolve, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from esrag.evaluation.calibrating import Calibration, Labelled
    from esrag.ingesting import Progress
    from esrag.settings import Settings


@click.command()
@click.argument("questions", type=click.Path(path_type=Path))
@click.option(
    "--accuracy", type=click.FloatRange(0, 1), help="Reach this share of right answers with the lowest threshold."
)
@click.option("--svg", type=click.Path(path_type=Path), help="Draw the curve as SVG into this file.")
@click.option("--write", is_flag=True, help="Write answer.refusal into the settings file; needs 20 questions.")
@json_option
@settings_options
def calibrate(
    questions: Path, *, accuracy: float | None, svg: Path | None, write: bool, as_json: bool, **options: Any
) -> int:
    """Fit answer.refusal to your own questions.

    It is the confidence below which a question is refused. QUESTIONS is a file with a JSON object a line: {"question":
    "…", "answers": ["…"]}, one of which the answer has to hold, or {"question": "…", "answerable": false}. Or it is the
    folder of a public collection, with queries.jsonl and answers.jsonl. Every other question is fitted to, and the rest
    is reported. Each is judged by its first search, whatever answer.steps allows.
    """
    from esrag.cli.rendering import render
    from esrag.evaluation.calibrating import thin_points
    from esrag.settings.layers import settings_file

    if svg and not svg.parent.is_dir():
        raise click.UsageError(f"there is no folder {str(svg.parent)!r} for --svg")
    fitted = _fitted(questions, settings_of(**options), accuracy, write=write)
    if as_json:
        print_json(_as_json(fitted))
    else:
        points = [*thin_points(fitted.curve, fitted.threshold)]
        print_text(render("calibration.txt.j2", points=points, threshold=fitted.threshold))
    path = settings_file(os.environ, Path())
    if write:
        _write(path, fitted.threshold)
    if svg:
        svg.write_text(render("calibration.svg.j2", points=fitted.curve, chosen=fitted.chosen) + "\n", encoding="utf-8")
    remark(f"answer.refusal = {fitted.threshold}: {_reason(fitted)}")
    for line in _how_sure(fitted):
        remark(line)
    if write or fitted.chosen_by != "too few":
        remark(f"wrote it to {path}" if write else f"--write writes it to {path}")
    if write:
        _say_what_counts(path, fitted.threshold, options)
    return 0


def _fitted(questions: Path, settings: "Settings", accuracy: float | None, *, write: bool) -> "Calibration":
    from esrag.cli.progress import few
    from esrag.context import open_context
    from esrag.evaluation.calibrating import MIN_QUESTIONS, read_labelled
    from esrag.evaluation.calibrating import calibrate as run

    labelled = read_labelled(questions)
    if write and len(labelled) < MIN_QUESTIONS:
        came = f"--write needs at least {MIN_QUESTIONS} questions, {questions} has {len(labelled)}"
        raise UsageError(came, hint="add questions, or leave --write out to see the curve")
    with few() as told:
        return run(_counted(labelled, told), open_context(settings), accuracy)


def _counted(labelled: Sequence["Labelled"], told: "Progress") -> Iterator["Labelled"]:
    """Yield the questions, and report each as done when the next is taken."""
    told.start(len(labelled))
    for each in labelled:
        yield each
        told.step("questions", "")


def _write(path: Path, threshold: float) -> None:
    """Write the threshold into the settings file; one that was allowed stays allowed. Raises: SettingsError."""
    from esrag.settings.trust import allow, standing

    content = path.read_bytes() if path.exists() else b""
    was_allowed = standing(path, content) == "allowed"
    changed = with_refusal(content.decode(), threshold).encode()

    path.write_bytes(changed)
    if was_allowed:
        allow(path, changed)


def _reason(fitted: "Calibration") -> str:
    """Say why a threshold was chosen."""
    if fitted.chosen_by == "accuracy":
        return f"the lowest that reaches the accuracy on {fitted.fitted_questions} questions"
    if fitted.chosen_by == "plateau":
        return f"the middle of the best thresholds on {fitted.fitted_questions} questions"
    if fitted.chosen_by == "default":
        return f"the default, which {fitted.fitted_questions} questions cannot tell from the best threshold"
    return "the default, since there are too few questions to recommend another"


def _how_sure(fitted: "Calibration") -> Iterator[str]:
    """Say how far the questions determine the threshold; as a warning where that is not far."""
    from esrag.evaluation.calibrating import LEVEL, MIN_QUESTIONS, WIDE

    questions = fitted.fitted_questions + fitted.reported_questions
    if questions < MIN_QUESTIONS:
        yield f"warning: {questions} questions are too few to go by; give at least {MIN_QUESTIONS}, better 200"

    ends = f"from {fitted.low:.2f} to {fitted.high:.2f} ({LEVEL:.0%} bootstrap over the questions)"
    if fitted.chosen_by == "accuracy":
        came = f"other questions like these would give thresholds {ends}"
    else:
        came = f"thresholds {ends} do about as well on these questions"
    is_wide = fitted.high - fitted.low > WIDE
    yield f"warning: {came}; more questions narrow it down" if is_wide else came


def _say_what_counts(path: Path, written: float, options: dict[str, Any]) -> None:
    """A remark where what was written goes unheard, since another place has another value."""
    from esrag.settings import variable

    key, heard = "answer.refusal", resolve(**options)
    if heard.settings.answer.refusal != written:
        origin = heard.origins[key]
        place = {"environment": variable(key), "flag": f"--set {key}"}.get(origin, origin)
        remark(f"it is not what counts: {place} is {heard.settings.answer.refusal}, and goes before {path}")


def _as_json(fitted: "Calibration") -> dict[str, Any]:
    return {"schema": "esrag.calibration/1", **asdict(fitted)}


def with_refusal(text: str, threshold: float) -> str:
    r"""The settings file with that threshold, the rest of it as it stands. Raises: SettingsError where it cannot be.

    >>> print(with_refusal("answer:  # how\n  refusal: 0.5  # weak\nindex: x\n", 0.4))
    answer:  # how
      refusal: 0.4  # weak
    index: x
    <BLANKLINE>
    """
    import yaml

    lines = text.splitlines()
    section = next((n for n, line in enumerate(lines) if re.match(r"answer:\s*(#|$)", line)), None)
    if section is None:
        lines += ["answer:", f"  refusal: {threshold}"]
    else:
        ends = next((n for n in range(section + 1, len(lines)) if re.match(r"[^\s#]", lines[n])), len(lines))
        old = next((n for n in range(section + 1, ends) if re.match(r"\s+refusal:", lines[n])), None)
        if old is None:
            lines.insert(section + 1, f"  refusal: {threshold}")
        else:
            lines[old] = re.sub(r"\A(\s++refusal:\s*)[^\s#]*", rf"\g<1>{threshold}", lines[old], count=1)
    changed = "\n".join(lines) + "\n"
    try:
        before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed)
        is_safe = not (section is None and "answer" in before) and after == _with(before, threshold)
    except (yaml.YAMLError, TypeError):
        is_safe = False
    if not is_safe:
        raise SettingsError(
            "the settings file cannot be changed safely", hint=f"write answer.refusal: {threshold} yourself"
        )
    return changed


def _with(values: dict[str, Any], threshold: float) -> dict[str, Any]:
    return {**values, "answer": {**(values.get("answer") or {}), "refusal": threshold}}
