"""Choosing sentences: fit the weights of a statement's features, and how sure an answer is.

`python benchmarks/choice.py DATA CASES [--write]`

DATA holds `qed-dev`, `clapnq-dev` and `squad-v2-dev`, `training` (SelQA and SQuADShifts), and
`exam` with `docs`: questions over manuals, standards and reports, with patterns of right answers.
The statements that esrag gathers for each question are written to the folder CASES, a file for each
set, unless they are there: that takes most of the time. Half of QED, articles of SQuAD, and CLAPNQ
are for reporting and are not fitted. Questions over documents are reported by cross-validation: the
questions about each document are answered with weights that were fitted to the others.

The loss is that of a softmax over the statements of a question; a question counts by what its best
statement has, and those over documents count more. `--write` writes esrag/evidence/weights.py.
"""

import argparse
import json
import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from answers import is_gold, lines
from scipy.optimize import minimize
from texts import as_file

from esrag.context import Context
from esrag.evidence import Statement
from esrag.evidence.features import NAMES, measure
from esrag.gathering import select
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.records import Chunk, Evidence
from esrag.retrieval import retrieve
from esrag.settings.layers import resolve

SETS = ("qed-dev", "squad-v2-dev", "clapnq-dev", "selqa", "new_wiki", "exam")
FITTED = {"qed-dev": 220, "squad-v2-dev": 300, "clapnq-dev": 0, "selqa": 220, "new_wiki": 140}
REPORTED = 150
WEIGHT_OF_EXAM = 5.0
PENALTY = 3e-4  # on the squares of the weights

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
    """The features of a question's statements, with the cosine first, and which are right."""

    collection: str
    split: str
    topic: str
    features: Matrix
    gold: Matrix


def main() -> None:
    """Collect what is missing, fit, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.cases.mkdir(exist_ok=True)
    for name in SETS:
        if not (arguments.cases / f"{name}.jsonl").exists():
            collect(name, arguments.data, arguments.cases)
    cases = [case for name in SETS for case in read(name, arguments.cases)]
    report(cases)
    if arguments.write:
        write(cases)


def collect(name: str, data: Path, folder: Path) -> None:
    """Write what esrag gathers for each question of a set."""
    corpus, questions = SOURCES[name](data, folder)
    flags = {
        "engine.url": str(folder / f"{name}.index"),
        "answer.refusal": 0,
        "answer.reader": False,
    }
    work = Work(resolve(flags, environ={}).settings)
    ingest(IngestRequest([*map(str, corpus)]), work, Silent())
    rows = [_gather(question, work.context) for question in questions]
    text = "\n".join(json.dumps(row) for row in rows if row["statements"])
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _gather(question: Question, context: Context) -> dict:
    found = select(question.text, question.text, retrieve(question.text, context), context)
    vectors = context.encode([question.text, *(one.text for one in found.statements)])
    documents = {item.key: item.chunk.doc_id for item in found.evidence}
    return {
        "question": question.text,
        "split": question.split,
        "topic": question.topic,
        "evidence": [
            {
                "key": item.key,
                "text": item.chunk.text,
                "title": item.chunk.title,
                "section": item.chunk.section,
                "closeness": item.closeness,
            }
            for item in found.evidence
        ],
        "statements": [
            {
                "key": one.key,
                "text": one.text,
                "source": one.source,
                "cosine": round(float(vectors[n] @ vectors[0]), 5),
                "gold": int(question.is_gold(one.text, documents[one.key])),
            }
            for n, one in enumerate(found.statements, 1)
        ],
    }


def read(name: str, folder: Path) -> Iterator[Case]:
    """Yield the cases of a set with their features."""
    for row in lines(folder / f"{name}.jsonl"):
        evidence = [
            Evidence(
                each["key"],
                Chunk(
                    chunk_id=each["key"],
                    doc_id="",
                    ordinal=0,
                    start=0,
                    end=len(each["text"]),
                    start_page=1,
                    end_page=1,
                    text=each["text"],
                    title=each["title"],
                    section=each["section"],
                ),
                0.0,
                closeness=each["closeness"],
            )
            for each in row["evidence"]
        ]
        found = [
            Statement(each["key"], n, each["text"], each["source"])
            for n, each in enumerate(row["statements"])
        ]
        cosines = np.array([[max(0.0, each["cosine"])] for each in row["statements"]])
        yield Case(
            name,
            row["split"],
            row["topic"],
            np.hstack([cosines, measure(row["question"], evidence, found)]),
            np.array([float(each["gold"]) for each in row["statements"]]),
        )


def fit(cases: Sequence[Case], columns: Sequence[int]) -> Matrix:
    """Return the weights of the columns that make the right statements most probable."""
    told = [
        (case.features[:, columns], case.gold, WEIGHT_OF_EXAM if case.collection == "exam" else 1.0)
        for case in cases
        if 0 < case.gold.sum() < len(case.gold)
    ]
    total = sum(weight for _, _, weight in told)

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        value, slope = PENALTY * float(weights @ weights), 2 * PENALTY * weights
        for features, gold, weight in told:
            scores = features @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            right = share * gold
            value -= weight / total * float(np.log(right.sum() + 1e-12))
            slope -= weight / total * (features.T @ (right / (right.sum() + 1e-12) - share))
        return value, slope

    return minimize(loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B").x


def report(cases: Sequence[Case]) -> None:
    """Print how often the best statement is a right one."""
    columns = range(len(NAMES) + 1)
    fitted = [case for case in cases if case.split == "fitted"]
    weights = fit(fitted, columns)
    print("| set | questions | best statement is right |\n| --- | --- | --- |")
    for name in SETS:
        told = [case for case in cases if case.collection == name and case.split == "reported"]
        if told:
            print(
                f"| {name} | {len(told)} | {np.mean([_is_right(c, weights) for c in told]):.3f} |"
            )
    held_out = [
        _is_right(case, weights)
        for topic in sorted({case.topic for case in fitted if case.collection == "exam"})
        for weights in [fit([case for case in fitted if case.topic != topic], columns)]
        for case in fitted
        if case.topic == topic and case.collection == "exam"
    ]
    print(f"| documents, cross-validated | {len(held_out)} | {np.mean(held_out):.3f} |")


def _is_right(case: Case, weights: Matrix) -> bool:
    return bool(case.gold[int(np.argmax((case.features @ weights).round(6)))])


def write(cases: Sequence[Case]) -> None:
    """Write the weights, scaled so that fits lie between 0 and 1."""
    fitted = [case for case in cases if case.split == "fitted"]
    whole = [*range(len(NAMES) + 1)]
    alone = [n for n in whole if n and NAMES[n - 1] != "closeness"]
    (meaning, *weights), offset = _scaled(fitted, whole)
    words, words_offset = _scaled(fitted, alone)
    of_words = {NAMES[n - 1]: weight for n, weight in zip(alone, words, strict=True)}
    rows = "".join(
        f'    "{name}": ({weight:.4f}, {of_words.get(name, 0):.4f}),\n'
        for name, weight in zip(NAMES, weights, strict=True)
    )
    Path("esrag/evidence/weights.py").write_text(
        '"""Weights of the features of a statement, as benchmarks/choice.py fits them."""\n\n'
        "import numpy as np\n\nfrom esrag.evidence.features import NAMES\n\n"
        f"MEANING = {meaning:.4f}\nOFFSET = {offset:.4f}\nWORDS_ALONE_OFFSET = {words_offset:.4f}\n"
        f"\n# With meanings, and for words alone.\n_WEIGHTS = {{\n{rows}}}\n"
        "WEIGHTS, WORDS_ALONE = np.array([_WEIGHTS[name] for name in NAMES]).T\n",
        encoding="utf-8",
    )


def _scaled(cases: Sequence[Case], columns: Sequence[int]) -> tuple[Matrix, float]:
    weights = fit(cases, columns)
    scores = [case.features[:, columns] @ weights for case in cases]
    low = float(np.quantile(np.concatenate(scores), 0.02))
    high = float(np.quantile([each.max() for each in scores], 0.98))
    return weights / (high - low), -low / (high - low)


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


def is_even(doc: str) -> bool:
    """Return whether the questions about an article of SQuAD may be fitted."""
    return zlib.crc32(doc.rsplit("-", 1)[0].encode()) % 2 == 0


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
