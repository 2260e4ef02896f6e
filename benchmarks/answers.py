"""Extractive answers and refusals: how good they are.

`python benchmarks/answers.py DATA [--questions 300]`

DATA holds `qed-dev`, `clapnq-dev` and `squad-v2-dev` (`corpus.jsonl`, `queries.jsonl`,
`answers.jsonl`). Each is ingested; its own questions are asked over it, and others over a
collection that knows nothing of them. Questions with an even number are for fitting, those with an
odd one for reporting; of SQuAD those about articles that the reader was not trained with. With
`--words` no model is used; `--svg` draws how many questions are answered at each threshold, and how
many of those rightly.
"""

import argparse
import json
import random
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from indexes import open_index

from esrag.cli.rendering import render
from esrag.context import Context
from esrag.evaluation.calibrating import Judged, curve, thin_points
from esrag.pipeline import ask
from esrag.results import AskResult
from esrag.settings.layers import resolve
from esrag.text.terms import terms
from esrag.verifying.verify import verify

SETS = ("qed-dev", "clapnq-dev", "squad-v2-dev")
GOLD = ("best", "some", "passage")


@dataclass(frozen=True)
class Case:
    """A question that was asked, its half, whether it is answerable, and how it was answered."""

    fitted: bool
    kind: str  # answerable, unanswerable, foreign
    collection: str
    asked: AskResult
    best_is_gold: bool = False
    some_is_gold: bool = False
    passage_is_gold: bool = False

    @property
    def row(self) -> list[float]:
        """The signals and a constant."""
        closeness = [] if self.asked.signals.closeness is None else [self.asked.signals.closeness]
        return [1.0, self.asked.signals.relevance, *closeness]


def main() -> None:
    """Prints the tables and the curve that was fitted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        opened = {name: _opened(arguments, name, Path(folder)) for name in SETS}
        cases = [case for name in SETS for case in _cases(arguments, name, opened)]
    _sentences(cases)
    _refusals(cases)
    _coverage([case for case in cases if not case.fitted], arguments.svg)


def _opened(arguments: argparse.Namespace, name: str, folder: Path) -> Context:
    settings = {"embedding.model": "none"} if arguments.words else {}
    return open_index([arguments.data / name / "corpus.jsonl"], folder / name, settings)


def _cases(arguments: argparse.Namespace, name: str, opened: dict[str, Context]) -> Iterator[Case]:
    context = opened[name]
    alone = context.with_settings({"answer.max_sentences": 1})
    questions = lines(arguments.data / name / "queries.jsonl")
    answers = {row["_id"]: row for row in lines(arguments.data / name / "answers.jsonl")}
    random.Random(1).shuffle(questions)  # noqa: S311 -- a sample
    count = arguments.questions
    for number, question in enumerate(questions[:count]):
        answer = answers[question["_id"]]
        # A question of QED that takes several sentences has no gold one.
        if answer["answerable"] and answer.get("gold_sentence") == "":
            continue
        asked = ask(question["text"], context)
        fitted = is_even(answer["doc"]) if name == "squad-v2-dev" else number % 2 == 0
        if answer["answerable"]:
            best = ask(question["text"], alone)
            gold = [
                any(is_gold(said, answer) for said in _sentences_of(each)) for each in (best, asked)
            ]
            cited = [citation.doc_id.partition("#")[2] for citation in asked.answer.citations]
            yield Case(fitted, "answerable", name, asked, *gold, answer["doc"] in cited)
        else:
            yield Case(fitted, "unanswerable", name, asked)
    for other in SETS:
        for number, question in enumerate(
            questions[count : count + count // 4] if other != name else []
        ):
            yield Case(number % 2 == 0, "foreign", other, ask(question["text"], opened[other]))


def is_even(doc: str) -> bool:
    """Return whether the questions about an article of SQuAD may be fitted."""
    return zlib.crc32(doc.rsplit("-", 1)[0].encode()) % 2 == 0


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the share of pairs in which the first has the higher score; equal ones count half."""
    return float((np.sign(np.subtract.outer(higher, lower)).mean() + 1) / 2)


def lines(path: Path) -> list[dict]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _sentences_of(asked: AskResult) -> list[str]:
    """What the answer says, a sentence for each marker."""
    return [part for part in asked.answer.text.split("]") if part.strip()]


def is_gold(said: str, answer: dict) -> bool:
    """Return whether a sentence is the annotated one, or has an annotated answer.

    It is the annotated one with 80 % of its words, and few others.
    """
    gold = (
        [answer["gold_sentence"]]
        if "gold_sentence" in answer
        else (answer.get("gold_sentences") or [[]])[0]
    )
    if not gold:
        return any(text.lower() in said.lower() for text in answer["answers"])
    words = set(terms(said))
    wanted = [set(terms(sentence)) for sentence in gold]
    return any(
        w and len(w & words) >= 0.8 * len(w) and len(words) <= 2 * len(w) + 4 for w in wanted
    )


def _sentences(cases: list[Case]) -> None:
    print(
        "| collection, reporting half | questions | best is gold | one of three is | gold "
        "passage | contract kept |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        rows = [
            c for c in cases if c.collection == name and c.kind == "answerable" and not c.fitted
        ]
        best, some, passage = (
            np.mean([getattr(c, f"{which}_is_gold") for c in rows]) for which in GOLD
        )
        kept = np.mean([_is_kept(c.asked) for c in rows])
        print(f"| {name} | {len(rows)} | {best:.3f} | {some:.3f} | {passage:.3f} | {kept:.0%} |")


def _is_kept(asked: AskResult) -> bool:
    """Return whether the answer passes its own check once more, by itself.

    It has to be supported, and to cite what it cited before. Parts of an answer are lines of their
    own, which the check writes as one.
    """
    answer = asked.answer
    again = verify(answer.text, asked.evidence)
    return answer.refused or again.text.split() == answer.text.split()


def _refusals(cases: list[Case]) -> None:
    known = [c for c in cases if c.kind == "answerable"]
    foreign = [c for c in cases if c.kind == "foreign"]
    curve = _fit([c for c in known if c.fitted], [c for c in foreign if c.fitted])
    print(f"\ncurve fitted: {np.round(curve, 2).tolist()} for a constant, relevance, closeness")
    print("\nthe shipped curve, reporting half:\n")
    print(
        "| questions that must be refused | AUROC | refused at 0.5 | answerable "
        "ones answered at 0.5 |"
    )
    print("| --- | --- | --- | --- |")
    sure = np.array([c.asked.confidence for c in known if not c.fitted])
    for kind in ("foreign", "unanswerable"):
        unsure = np.array([c.asked.confidence for c in cases if c.kind == kind and not c.fitted])
        print(
            f"| {kind}, {len(unsure)} | {auroc(sure, unsure):.3f} | {(unsure < 0.5).mean():.3f} | "
            f"{(sure >= 0.5).mean():.3f} |"
        )
    _each_by_itself([case for case in cases if not case.fitted])


def _each_by_itself(cases: list[Case]) -> None:
    """Print how many refusals at 0.5 are right, and how many right ones are found.

    The questions are those of a collection that has unanswerable ones.
    """
    print("\n| collection | answerable | unanswerable | refusals | precision | recall |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        sure = {
            kind: np.array(
                [c.asked.confidence for c in cases if (c.collection, c.kind) == (name, kind)]
            )
            for kind in ("answerable", "unanswerable")
        }
        right = (sure["unanswerable"] < 0.5).sum()
        if refusals := right + (sure["answerable"] < 0.5).sum():
            counts = f"{len(sure['answerable'])} | {len(sure['unanswerable'])} | {refusals}"
            recall = right / max(1, len(sure["unanswerable"]))
            print(f"| {name} | {counts} | {right / refusals:.3f} | {recall:.3f} |")


def _coverage(cases: list[Case], svg: Path | None) -> None:
    """What each threshold leads to; an answer is right where one of its sentences is gold."""
    points = curve(
        [
            Judged(case.asked.confidence, not case.asked.answer.refused, case.some_is_gold)
            for case in cases
        ]
    )
    shipped = resolve({}, environ={}, folder=Path("/")).settings.answer.refusal
    print(f"\nall {len(cases)} questions of the reporting half\n")
    print(
        "| refused below | answered | of those right | right ones kept | wrong ones refused |\n|"
        + " --- |" * 5
    )
    for point in thin_points(points, shipped):
        shares = (point.coverage, point.accuracy, point.kept, point.spared)
        print(f"| {point.threshold:.2f} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    if svg:
        chosen = next(point for point in points if point.threshold == shipped)
        svg.write_text(
            render("calibration.svg.j2", points=points, chosen=chosen) + "\n", encoding="utf-8"
        )


def _fit(known: list[Case], foreign: list[Case]) -> np.ndarray:
    """Logistic regression by Newton's method, both kinds weighing the same."""
    x = np.array([case.row for case in (*known, *foreign)])
    y = np.repeat([1.0, 0.0], [len(known), len(foreign)])
    weight = np.where(y == 1, len(foreign) / len(known), 1.0)
    curve = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ curve))
        slope = x.T @ (weight * (p - y)) + 1e-3 * curve
        curve -= np.linalg.solve(
            (x.T * (weight * p * (1 - p))) @ x + 1e-3 * np.eye(len(curve)), slope
        )
    return curve


if __name__ == "__main__":
    main()
