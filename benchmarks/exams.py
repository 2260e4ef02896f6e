"""Training the reader further, with questions of people who have not seen the page.

`python benchmarks/exams.py DATA CASES EXAM ... [--held FOLDER ...] [--write]`

An EXAM is a folder with `docs` and `questions.jsonl`, as for the project's exam: `question`,
`answerable`, and for an answerable one `source` and `quote`, the sentence, row or list that
answers; " … " stands between several. DATA holds the public sets of benchmarks/sentences.py, whose
questions are mixed in. The reader learns with what esrag finds for each question, so that the
wrong statements are those that it would take for right; of an unanswerable one all are wrong. The
folder CASES keeps the indexes.

The loss is that of benchmarks/quotes.py, from the weights that it wrote, without dropout. For the
exams of `--held` the script prints how often the best statement is right, and how well its score
tells it from others (AUROC), before and after.

The weights that ship were fitted by a draft of this script with 1,602 questions in everyday words,
336 of them unanswerable, which language models wrote over 443 documents: manuals, licences, RFCs,
reports, and invented leaflets, contracts and tables. Neither is in the repository. It took 25
minutes on two cores. Needs torch and transformers, as benchmarks/reader.py does. `--write` writes
esrag/embedding/answers.safetensors.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from answers import auroc, lines
from locator import ask as find
from locator import open_index, take_added
from quotes import answer, choose, load
from reader import ANSWERS, SCALE, Group, Student, Task, predict, to_groups, train
from safetensors.numpy import save_file
from sentences import Row, is_quoted, iter_rows

from esrag.embedding.reader import ANSWERS_FILE
from esrag.evidence.fits import with_headings
from esrag.gathering import Gathered

KEPT = 24  # statements of a question, the best by their fit, and right ones below these
PUBLIC = 0.25  # questions of the public sets for each of the exams', in each epoch
EPOCHS, RATES, AT_ONCE = 3, (8e-5, 16e-5), 16
JOINT = " … "  # between the parts of a quote


@dataclass(frozen=True)
class Asked:
    """A question, what is found for it, and which statements of that are right."""

    text: str
    found: Gathered
    right: Sequence[bool]
    answerable: bool


def main() -> None:
    """Ask, train, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("exams", type=Path, nargs="+")
    parser.add_argument("--held", type=Path, nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.cases.mkdir(exist_ok=True)
    asked = [one for exam in arguments.exams for one in ask(exam, arguments.cases)]
    held = [one for exam in arguments.held for one in ask(exam, arguments.cases)]

    student = load()
    for each in student.modules():
        if isinstance(each, torch.nn.Dropout):
            each.p = 0.0
    print(f"before: {report(student, held)}")
    train(student, [_read_task(asked, arguments.data)], EPOCHS, RATES)
    print(f"after: {report(student, held)}")
    if arguments.write:
        write(student)


def ask(exam: Path, cases: Path) -> Iterator[Asked]:
    """Yield the questions of an exam for which something was found, and something right if any."""
    context = open_index([exam / "docs"], cases / exam.name)
    for row in lines(exam / "questions.jsonl"):
        if row["kind"] == "meta" or (row["answerable"] and not row.get("quote")):
            continue
        question = row["question"]
        found = find(question, context)
        right = [*_find_right(row, found)]
        if len(right) > 1 and any(right) == row["answerable"]:
            yield Asked(question, found, right, row["answerable"])


def _find_right(row: dict, found: Gathered) -> Iterator[bool]:
    documents = {item.key: item.chunk.doc_id for item in found.evidence}
    quotes = [{**row, "quote": part} for part in row.get("quote", "").split(JOINT)]
    for one in found.statements:
        is_one = any(is_quoted(one.text, documents[one.key], quote) for quote in quotes)
        yield row["answerable"] and is_one


def _read_task(asked: Sequence[Asked], data: Path) -> Task:
    """Return the task of scoring answers: to these questions, and to some of the public sets."""
    own, public = [*to_groups(map(_to_row, asked))], [*to_groups(iter_rows(data))]

    def draw(sample: random.Random) -> list[Group]:
        others = sample.sample(public, min(len(public), int(PUBLIC * len(own))))
        return [*(choose(group, sample) for group in own), *others]

    return Task(draw, AT_ONCE, answer)


def _to_row(asked: Asked) -> Row:
    """Return a question with its best statements and those that are right."""
    chunks = {item.key: item.chunk for item in asked.found.evidence}
    fits = np.array([one.fit for one in asked.found.statements])
    ranked = [int(place) for place in np.argsort(-fits, kind="stable")]
    kept = [*ranked[:KEPT], *(place for place in ranked[KEPT:] if asked.right[place])]
    said = [asked.found.statements[place] for place in kept]
    texts = [with_headings(one, chunks[one.key]) for one in said]
    return asked.text, texts, [float(asked.right[place]) for place in kept]


def report(student: Student, asked: Sequence[Asked]) -> str:
    """Return how often the best statement is right, and how well its score tells it from others."""
    rows = [_to_row(one) for one in asked]
    right, wrong, unanswerable = [], [], []
    found = predict(student, [*to_groups(rows)])
    for one, (_, _, told), scores in zip(asked, rows, found, strict=True):
        best = int(np.argmax(scores))
        answered = right if told[best] else wrong
        (answered if one.answerable else unanswerable).append(scores[best])
    return (
        f"the best statement is right for {len(right)} of {len(right) + len(wrong)}; AUROC "
        f"{auroc(right, wrong + unanswerable):.3f} from all others, "
        f"{auroc(right, unanswerable):.3f} from those of unanswerable questions"
    )


def write(student: Student) -> None:
    """Write the head's score of answers, and what changed in the reader's layers."""
    head = {
        f"classifier.{name}": SCALE * values[: ANSWERS + 1].numpy(force=True)
        for name, values in student.classifier.state_dict().items()
    }
    save_file({**head, **take_added(student.bert)}, ANSWERS_FILE)


if __name__ == "__main__":
    main()
