"""Choosing sentences: fit the weights of a statement's features.

`python benchmarks/choice.py DATA QUESTIONS CASES [--write]`

DATA holds `qed-dev`, `clapnq-dev` and `squad-v2-dev`, `training` (SelQA and SQuADShifts), and
`exam` with `docs`: questions over manuals, standards and reports, with patterns of right answers.
QUESTIONS are quoted answers over DATA/docs, as benchmarks/quotes.py takes them. The features of the
statements that esrag gathers for each question are written to the folder CASES, a file for each
set, unless they are there: that takes most of the time. Half of QED, articles of SQuAD, and CLAPNQ
are for reporting and are not fitted, nor are the questions about every fifth document. The exam is
reported by cross-validation: the questions about each document are answered with weights that were
fitted to the others.

The loss is that of a softmax over the statements of a question, with a penalty on what differs from
the weights that ship. `--write` writes esrag/evidence/weights.py. Those that ship were fitted to
6,669 questions of QUESTIONS beside the other sets, near weights without them. They were collected
with a draft of this script, over an index of more documents.
"""

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from answers import is_even, is_gold, lines
from indexes import find, open_index
from scipy.optimize import minimize, minimize_scalar
from sentences import is_held_out, is_quoted
from texts import as_file

from esrag.context import Context
from esrag.evidence.features import NAMES, measure
from esrag.evidence.weights import WEIGHTS

QUOTES = "questions"
FITTED = {"qed-dev": 220, "squad-v2-dev": 300, "clapnq-dev": 0, "selqa": 220, "new_wiki": 140}
REPORTED, AMONG = 150, 10
# On the squares of what weights differ from those that ship: so those of rare features stay.
PENALTY = 3e-4
SCALES = 1.0, 40.0  # of the softmax: weights that ship are scaled
# How much a question counts: there are many of QUOTES, and few of the exam.
COUNTS = {QUOTES: 1.0, "exam": 15.0}
COUNTS_OTHERWISE = 3.0

IsGold = Callable[[str, str], bool]  # a statement's text, and the id of its document
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A question, whether it is for fitting, and what tells its right statements."""

    text: str
    split: str  # fitted, reported
    is_gold: IsGold
    topic: str = ""


@dataclass(frozen=True)
class Case:
    """The features of a question's statements, and which are right."""

    collection: str
    split: str
    topic: str
    features: Matrix
    gold: Matrix


def main() -> None:
    """Collect what is missing, fit, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.cases.mkdir(exist_ok=True)
    sources = SOURCES | {QUOTES: lambda data, _: _load_quotes(data, arguments.questions)}
    for name, load in sources.items():
        if not (arguments.cases / f"{name}.jsonl").exists():
            collect(name, *load(arguments.data, arguments.cases), arguments.cases)
    cases = [case for name in sources for case in read(name, arguments.cases)]
    report(cases)
    if arguments.write:
        write(cases)


def collect(name: str, corpus: Sequence[Path], questions: Sequence[Question], folder: Path) -> None:
    """Write the features of what esrag gathers for each question of a set."""
    context = open_index(corpus, folder / f"{name}.index", {"answer.reader": False})
    rows = [_gather(question, context) for question in questions]
    text = "\n".join(json.dumps(row) for row in rows if row["gold"])
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _gather(question: Question, context: Context) -> dict:
    found = find(question.text, context)
    documents = {item.key: item.chunk.doc_id for item in found.evidence}
    return {
        "split": question.split,
        "topic": question.topic,
        "features": measure(question.text, found.evidence, found.statements).round(5).tolist(),
        "gold": [int(question.is_gold(one.text, documents[one.key])) for one in found.statements],
    }


def read(name: str, folder: Path) -> Iterator[Case]:
    """Yield the cases of a set."""
    for row in lines(folder / f"{name}.jsonl"):
        features, gold = np.array(row["features"]), np.array(row["gold"], dtype=np.float64)
        yield Case(name, row["split"], row["topic"], features, gold)


def fit(cases: Sequence[Case]) -> Matrix:
    """Return the weights that make the right statements most probable, near those that ship."""
    told = [case for case in cases if 0 < case.gold.sum() < len(case.gold)]
    counts = [COUNTS.get(case.collection, COUNTS_OTHERWISE) for case in told]
    counts = [count / sum(counts) for count in counts]

    def loss(weights: Matrix, shipped: Matrix) -> tuple[float, Matrix]:
        moved = weights - shipped
        value, slope = PENALTY * float(moved @ moved), 2 * PENALTY * moved
        for case, count in zip(told, counts, strict=True):
            scores = case.features @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            right = share * case.gold
            value -= count * float(np.log(right.sum() + 1e-12))
            slope -= count * (case.features.T @ (right / (right.sum() + 1e-12) - share))
        return value, slope

    def loss_of_scale(scale: float) -> float:
        return loss(scale * WEIGHTS, scale * WEIGHTS)[0]

    shipped = minimize_scalar(loss_of_scale, bounds=SCALES, method="bounded").x * WEIGHTS
    return minimize(loss, shipped, args=(shipped,), jac=True, method="L-BFGS-B").x


def report(cases: Sequence[Case]) -> None:
    """Print how often a right statement is the best, and among the best ten."""
    fitted = [case for case in cases if case.split == "fitted"]
    weights = fit(fitted)
    names = dict.fromkeys(case.collection for case in cases)
    print(f"| set | questions | best | among {AMONG} |\n| --- | --- | --- | --- |")
    for name in names:
        told = [case for case in cases if case.collection == name and case.split == "reported"]
        if told:
            _print(name, [_rank(case, weights) for case in told])
    held_out = [
        _rank(case, weights)
        for topic in sorted({case.topic for case in fitted if case.collection == "exam"})
        for weights in [fit([case for case in fitted if case.topic != topic])]
        for case in fitted
        if case.topic == topic and case.collection == "exam"
    ]
    _print("exam, cross-validated", held_out)


def _print(name: str, ranks: Sequence[float]) -> None:
    best, among = (np.mean([rank < most for rank in ranks]) for most in (1, AMONG))
    print(f"| {name} | {len(ranks)} | {best:.3f} | {among:.3f} |", flush=True)


def _rank(case: Case, weights: Matrix) -> float:
    """Return how many statements are before the first right one; infinity without one."""
    ranked = np.argsort(-(case.features @ weights).round(6), kind="stable")
    places = np.flatnonzero(case.gold[ranked])
    return float(places[0]) if len(places) else np.inf


def write(cases: Sequence[Case]) -> None:
    """Write the weights, scaled so that fits lie between 0 and 1."""
    weights, offset = _scaled([case for case in cases if case.split == "fitted"])
    rows = "".join(
        f'    "{name}": {weight:.4f},\n' for name, weight in zip(NAMES, weights, strict=True)
    )
    Path("esrag/evidence/weights.py").write_text(
        '"""Weights of the features of a statement, as benchmarks/choice.py fits them."""\n\n'
        "import numpy as np\n\nfrom esrag.evidence.features import NAMES\n\n"
        f"OFFSET = {offset:.4f}\n_WEIGHTS = {{\n{rows}}}\n"
        "WEIGHTS = np.array([_WEIGHTS[name] for name in NAMES])\n",
        encoding="utf-8",
    )


def _scaled(cases: Sequence[Case]) -> tuple[Matrix, float]:
    weights = fit(cases)
    scores = [case.features @ weights for case in cases]
    low = float(np.quantile(np.concatenate(scores), 0.02))
    high = float(np.quantile([each.max() for each in scores], 0.98))
    return weights / (high - low), -low / (high - low)


def _load_quotes(data: Path, questions: Path) -> tuple[list[Path], list[Question]]:
    rows = [row for row in lines(questions) if (data / "docs" / row["source"]).exists()]
    sources = dict.fromkeys(row["source"] for row in rows)
    return [data / "docs" / source for source in sources], [
        Question(
            row["question"],
            "reported" if is_held_out(row["source"]) else "fitted",
            lambda text, doc, row=row: is_quoted(text, doc, row),
        )
        for row in rows
        if row["quote"]
    ]


def _public(name: str) -> Callable[[Path, Path], tuple[list[Path], list[Question]]]:
    def load(data: Path, _: Path) -> tuple[list[Path], list[Question]]:
        questions = lines(data / name / "queries.jsonl")
        answers = {row["_id"]: row for row in lines(data / name / "answers.jsonl")}
        random.Random(1).shuffle(questions)  # noqa: S311 -- a sample
        reported, fitted = [], []
        for n, row in enumerate(questions):
            answer = answers[row["_id"]]
            if not answer["answerable"]:
                continue
            if n < 2 * REPORTED and n % 2:
                reported.append(Question(row["text"], "reported", _gold_of(answer)))
            elif n % 2 == 0 and (name == "qed-dev" or is_even(answer["doc"])):
                fitted.append(Question(row["text"], "fitted", _gold_of(answer)))
        return [data / name / "corpus.jsonl"], reported + fitted[: FITTED[name]]

    return load


def _gold_of(answer: dict) -> IsGold:
    """Return what tells the right statements; short answers are only told in their own document."""
    has_sentences = bool(answer.get("gold_sentence") or answer.get("gold_sentences"))
    return lambda text, doc: (
        (has_sentences or doc.partition("#")[2] == answer["doc"]) and is_gold(text, answer)
    )


def _load_selqa(data: Path, folder: Path) -> tuple[list[Path], list[Question]]:
    rows = [
        row
        for part in ("dev", "test")
        for row in json.loads((data / "training" / f"selqa-{part}.json").read_text("utf-8"))
    ]
    random.Random(3).shuffle(rows)  # noqa: S311 -- a sample
    texts = {" ".join(row["candidates"]): row for row in rows[:400]}
    corpus = folder / "selqa.corpus.jsonl"
    documents = [
        {"_id": f"p{n}", "title": f"{row['article']}: {row['section']}", "text": text}
        for n, (text, row) in enumerate(texts.items())
    ]
    as_file(corpus, documents)
    return [corpus], [
        Question(
            row["question"],
            "fitted",
            _gold_of({"gold_sentences": [[row["candidates"][n] for n in row["answers"]]]}),
        )
        for row in rows[: FITTED["selqa"]]
    ]


def _load_shifts(data: Path, folder: Path) -> tuple[list[Path], list[Question]]:
    articles = json.loads((data / "training" / "new_wiki.json").read_text("utf-8"))["data"]
    paragraphs = [(a.get("title", ""), p) for a in articles for p in a["paragraphs"]]
    sample = random.Random(2)  # noqa: S311 -- a sample
    sample.shuffle(paragraphs)
    paragraphs = paragraphs[:300]
    corpus = folder / "new_wiki.corpus.jsonl"
    documents = [
        {"_id": f"p{n}", "title": title, "text": paragraph["context"]}
        for n, (title, paragraph) in enumerate(paragraphs)
    ]
    as_file(corpus, documents)
    questions = []
    for n, (_, paragraph) in enumerate(paragraphs):
        asked = sample.choice(paragraph["qas"])
        answer = {"doc": f"p{n}", "answers": [each["text"] for each in asked["answers"]]}
        questions.append(Question(asked["question"], "fitted", _gold_of(answer)))
    return [corpus], questions[: FITTED["new_wiki"]]


def _load_exam(data: Path, _: Path) -> tuple[list[Path], list[Question]]:
    corpus = (data / "exam" / "corpus.txt").read_text("utf-8").split("\n")
    return [data / "docs" / name for name in corpus if name], [
        Question(
            row["question"],
            "fitted",
            lambda text, _, row=row: _fits(text, row),
            (row["source"] or "").split("__")[0],
        )
        for row in lines(data / "exam" / "questions.jsonl")
        if row["answerable"]
    ]


def _fits(text: str, row: dict) -> bool:
    flags = re.IGNORECASE | re.DOTALL
    text = " ".join(text.replace("*", "").replace("`", "").split())
    return (
        all(re.search(pattern, text, flags) for pattern in row["must"])
        and (not row["any"] or any(re.search(pattern, text, flags) for pattern in row["any"]))
        and not any(re.search(pattern, text, flags) for pattern in row["must_not"])
    )


SOURCES = {
    **{name: _public(name) for name in ("qed-dev", "squad-v2-dev", "clapnq-dev")},
    "selqa": _load_selqa,
    "new_wiki": _load_shifts,
    "exam": _load_exam,
}

if __name__ == "__main__":
    main()
