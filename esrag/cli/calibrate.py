"""`esrag calibrate`: fit the refusal threshold to your own questions."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import NumberRange, json_option, resolve, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from esrag.evaluation.calibrating import Calibration, Labelled
    from esrag.ingesting import Progress
    from esrag.settings import Settings


@click.command()
@click.argument("questions", type=click.Path(path_type=Path))
@click.option(
    "--accuracy",
    type=NumberRange(0, 1),
    help="Choose the lowest threshold with this share correct.",
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the curve to this file as SVG.",
)
@click.option(
    "--write", is_flag=True, help="Write answer.refusal to the settings file; needs 20 questions."
)
@json_option
@settings_options
def calibrate(
    questions: Path,
    *,
    accuracy: float | None,
    svg: Path | None,
    write: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Fit answer.refusal to your own questions.

    answer.refusal is the confidence below which a question is refused. QUESTIONS is a file with one
    JSON object per line: {"question": "…", "answers": ["…"]}, where the answer must contain one of
    the answers, or {"question": "…", "answerable": false}. QUESTIONS may also be the folder of a
    public collection, with queries.jsonl and answers.jsonl. The threshold is fitted to every other
    question, and the report is on the rest. Only the first search of each question counts, whatever
    answer.steps allows.
    """
    from esrag.settings.layers import settings_file

    if svg and not svg.parent.is_dir():
        raise click.UsageError(f"--svg: folder {str(svg.parent)!r} does not exist")
    fitted = _fit(questions, settings_of(**options), accuracy, write=write)
    _print(fitted, as_json=as_json)
    path = settings_file(os.environ, Path())
    if write:
        _write(path, fitted.threshold)
    if svg:
        _draw(fitted, svg)
    _say_threshold(fitted, path, write=write)
    if write:
        _say_what_counts(path, fitted.threshold, options)
    return 0


def _print(fitted: "Calibration", *, as_json: bool) -> None:
    """Print the curve, as JSON with everything else."""
    from esrag.cli.rendering import render
    from esrag.evaluation.calibrating import thin_points

    if as_json:
        print_json({"schema": "esrag.calibration/1", **asdict(fitted)})
        return

    points = [*thin_points(fitted.curve, fitted.threshold)]
    print_text(render("calibration.txt.j2", points=points, threshold=fitted.threshold))


def _draw(fitted: "Calibration", file: Path) -> None:
    """Write the curve to an SVG file."""
    from esrag.cli.rendering import render

    drawn = render("calibration.svg.j2", points=fitted.curve, chosen=fitted.chosen)
    file.write_text(f"{drawn}\n", encoding="utf-8")


def _say_threshold(fitted: "Calibration", path: Path, *, write: bool) -> None:
    """Print the threshold, how sure it is, and where it is or could be written."""
    remark(f"answer.refusal = {fitted.threshold}: {_reason(fitted)}")
    for line in _how_sure(fitted):
        remark(line)
    if write or fitted.chosen_by != "too few":
        remark(f"wrote it to {path}" if write else f"--write writes it to {path}")


def _fit(
    questions: Path, settings: "Settings", accuracy: float | None, *, write: bool
) -> "Calibration":
    from esrag.cli.progress import choose_brief_progress
    from esrag.context import open_context
    from esrag.evaluation.calibrating import MIN_QUESTIONS, read_labelled
    from esrag.evaluation.calibrating import calibrate as run

    labelled = read_labelled(questions)
    if write and len(labelled) < MIN_QUESTIONS:
        came = (
            f"--write needs at least {MIN_QUESTIONS} questions, but {questions} has {len(labelled)}"
        )
        raise UsageError(came, hint="add questions, or omit --write to see the curve")
    with choose_brief_progress() as told:
        return run(_count_off(labelled, told), open_context(settings), accuracy)


def _count_off(labelled: Sequence["Labelled"], told: "Progress") -> Iterator["Labelled"]:
    """Yield the questions, and report each as done when the next one is requested."""
    told.start(len(labelled))
    for each in labelled:
        yield each
        told.step("questions", "")


def _write(path: Path, threshold: float) -> None:
    """Write the threshold to the settings file.

    A file that was allowed stays allowed.

    Raises: SettingsError.
    """
    from esrag.settings.trust import allow, standing

    content = path.read_bytes() if path.exists() else b""
    was_allowed = standing(path, content) == "allowed"
    changed = with_refusal(content.decode(), threshold).encode()

    path.write_bytes(changed)
    if was_allowed:
        allow(path, changed)


def _reason(fitted: "Calibration") -> str:
    """Return the reason why a threshold was chosen."""
    if fitted.chosen_by == "accuracy":
        return (
            f"the lowest threshold that reaches the accuracy on {fitted.fitted_questions} questions"
        )
    if fitted.chosen_by == "plateau":
        return f"the middle of the best thresholds on {fitted.fitted_questions} questions"
    if fitted.chosen_by == "default":
        return (
            "the default, which is about as good as the best on "
            f"{fitted.fitted_questions} questions"
        )
    return "the default, because there are too few questions to recommend another threshold"


def _how_sure(fitted: "Calibration") -> Iterator[str]:
    """Yield lines on how well the questions determine the threshold, as a warning if not well."""
    from esrag.evaluation.calibrating import MIN_QUESTIONS, WIDE

    questions = fitted.fitted_questions + fitted.reported_questions
    if questions < MIN_QUESTIONS:
        yield (
            f"warning: {questions} questions are too few to rely on; use at least {MIN_QUESTIONS}, "
            "better 200"
        )

    came = _describe_range(fitted)
    is_wide = fitted.high - fitted.low > WIDE
    yield f"warning: {came}; more questions would narrow the range" if is_wide else came


def _describe_range(fitted: "Calibration") -> str:
    """Return what the range of a threshold means."""
    from esrag.evaluation.calibrating import LEVEL

    ends = f"from {fitted.low:.2f} to {fitted.high:.2f} ({LEVEL:.0%} bootstrap over the questions)"
    if fitted.chosen_by == "accuracy":
        return f"other questions like these would give thresholds {ends}"
    return f"thresholds {ends} perform about as well on these questions"


def _say_what_counts(path: Path, written: float, options: dict[str, Any]) -> None:
    """Print a remark if another source of settings overrides the written threshold."""
    from esrag.settings import variable

    key, heard = "answer.refusal", resolve(**options)
    if heard.settings.answer.refusal != written:
        origin = heard.origins[key]
        place = {"environment": variable(key), "flag": f"--set {key}"}.get(origin, origin)
        remark(f"not in effect: {place} is {heard.settings.answer.refusal} and overrides {path}")


def with_refusal(text: str, threshold: float) -> str:
    r"""Return a settings file's text with the threshold set. Raises: SettingsError if unsafe.

    >>> print(with_refusal("answer:  # how\n  refusal: 0.5  # weak\nindex: x\n", 0.4))
    answer:  # how
      refusal: 0.4  # weak
    index: x
    <BLANKLINE>
    """
    lines = text.splitlines()
    section = _find_line(lines, r"answer:\s*(#|$)")
    newline = "\r\n" if "\r\n" in text else "\n"
    changed = newline.join(_set_refusal(lines, section, threshold)) + newline

    if not _is_safe(text, changed, threshold, has_section=section is not None):
        raise SettingsError(
            "the settings file cannot be changed safely",
            hint=f"set answer.refusal: {threshold} by hand",
        )
    return changed


def _find_line(lines: Sequence[str], pattern: str, start: int = 0) -> int | None:
    """Return the index of the first line from `start` on that begins with the pattern."""
    return next((n for n in range(start, len(lines)) if re.match(pattern, lines[n])), None)


def _set_refusal(lines: list[str], section: int | None, threshold: float) -> list[str]:
    """Return the lines with the threshold in the section `answer`, which may have to be added."""
    line = f"  refusal: {threshold}"
    if section is None:
        return [*lines, "answer:", line]

    end = _find_line(lines, r"[^\s#]", section + 1)
    old = _find_line(lines[:end], r"\s+refusal:", section + 1)
    if old is None:
        return [*lines[: section + 1], line, *lines[section + 1 :]]

    line = re.sub(r"\A(\s++refusal:\s*)[^\s#]*", rf"\g<1>{threshold}", lines[old], count=1)
    return [*lines[:old], line, *lines[old + 1 :]]


def _is_safe(text: str, changed: str, threshold: float, *, has_section: bool) -> bool:
    """Return whether a changed file differs by the threshold alone."""
    import yaml

    try:
        before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed)
        is_hidden = not has_section and "answer" in before
        return not is_hidden and bool(after == _set_in(before, threshold))
    except (yaml.YAMLError, TypeError):
        return False


def _set_in(values: dict[str, Any], threshold: float) -> dict[str, Any]:
    return {**values, "answer": {**(values.get("answer") or {}), "refusal": threshold}}
