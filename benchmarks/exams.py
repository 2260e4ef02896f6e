"""Training the reader further, with questions of people who have not seen the page.

`python benchmarks/exams.py DATA CASES EXAM ... [--held FOLDER ...] [--write]`

An EXAM is a folder with `docs` and `questions.jsonl`, as for the project's exam: `question`,
`answerable`, and for an answerable one `source` and `quote`, the sentence, row or list that
answers; " … " stands between several. DATA holds the public sets of benchmarks/sentences.py, whose
questions are mixed in. The reader learns with what esrag finds for each question, so that the
wrong statements are those that it would take for right; of an unanswerable one all are wrong. The
folder CASES keeps the indexes.

The loss is that of benchmarks/quotes.py, from the weights that ship, without dropout. For the
exams of `--held` the script prints how often the best statement is right, and how well its score
tells it from others (AUROC), before, after, and for the mean.

What is written is the mean of the weights before and after, which forgets less of what the sets
before taught (Wortsman et al., Robust fine-tuning of zero-shot models, CVPR 2022).

The weights that ship were fitted by drafts of this script with questions in everyday words, which
language models wrote over manuals, licences, RFCs, reports, and invented leaflets, contracts and
tables: first 1,602 over 443 documents, 336 of them unanswerable, in three epochs, then 3,883 over
432 others, about 1,030 of them unanswerable, shown once. They are the mean of those after each.
Neither is in the repository. Each took 25 to 40 minutes on two cores. Needs torch and transformers,
as benchmarks/reader.py does. `--write` writes esrag/embedding/answers.safetensors.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from answers import lines
from indexes import find, open_index
from quotes import answer, choose, load, report, to_row
from reader import ANSWERS, SCALE, Group, Student, Task, to_groups, train
from safetensors.numpy import save_file
from sentences import is_quoted, iter_rows

from esrag.embedding.model_files import PINNED, locate
from esrag.embedding.reader import ANSWERS_FILE, open_added, open_weights
from esrag.evidence.fits import with_headings
from esrag.gathering import Gathered

KEPT = 24  # statements of a question, the best by their fit, and right ones below these
PUBLIC = 0.25  # questions of the public sets for each of the exams', in each epoch
EPOCHS, RATES, AT_ONCE = 1, (8e-5, 16e-5), 16
JOINT = " … "  # between the parts of a quote
RANK = 64  # of what is added to a matrix


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
    asked = [row for exam in arguments.exams for row in ask(exam, arguments.cases)]
    held = [row for exam in arguments.held for row in ask(exam, arguments.cases)]

    student = load(partial(open_added, ANSWERS_FILE))
    _stop_dropout(student)
    print(f"before: {report(student, held)}")
    before = [values.clone() for values in student.state_dict().values()]
    train(student, [_read_task(asked, arguments.data)], EPOCHS, RATES)
    print(f"after: {report(student, held)}")
    mix(student, before)
    print(f"mean: {report(student, held)}")
    if arguments.write:
        write(student)


def ask(exam: Path, cases: Path) -> Iterator[dict]:
    """Yield a row of benchmarks/quotes.py for each question that something was found for.

    Left out are answerable questions for which nothing right was found.
    """
    context = open_index([exam / "docs"], cases / exam.name)
    for row in lines(exam / "questions.jsonl"):
        if row["kind"] == "meta" or (row["answerable"] and not row.get("quote")):
            continue
        found = find(row["question"], context)
        right = [*_find_right(row, found)]
        if len(right) > 1 and any(right) == row["answerable"]:
            yield {"question": row["question"], "quote": row.get("quote"), **_rank(found, right)}


def _find_right(row: dict, found: Gathered) -> Iterator[bool]:
    documents = {item.key: item.chunk.doc_id for item in found.evidence}
    quotes = [{**row, "quote": part} for part in row.get("quote", "").split(JOINT)]
    for one in found.statements:
        yield row["answerable"] and any(
            is_quoted(one.text, documents[one.key], quote) for quote in quotes
        )


def _rank(found: Gathered, right: Sequence[bool]) -> dict:
    """Return the best statements and those that are right."""
    chunks = {item.key: item.chunk for item in found.evidence}
    fits = np.array([one.fit for one in found.statements])
    ranked = [int(place) for place in np.argsort(-fits, kind="stable")]
    kept = [*ranked[:KEPT], *(place for place in ranked[KEPT:] if right[place])]
    said = [found.statements[place] for place in kept]
    return {
        "texts": [with_headings(one, chunks[one.key]) for one in said],
        "right": [int(right[place]) for place in kept],
    }


def _read_task(asked: Sequence[dict], data: Path) -> Task:
    """Return the task of scoring answers: to these questions, and to some of the public sets."""
    own, public = [*to_groups(map(to_row, asked))], [*to_groups(iter_rows(data))]

    def draw(sample: random.Random) -> list[Group]:
        others = sample.sample(public, min(len(public), int(PUBLIC * len(own))))
        return [*(choose(group, sample) for group in own), *others]

    return Task(draw, AT_ONCE, answer)


def _stop_dropout(student: Student) -> None:
    """Let a student learn without dropout, which takes half of the time on a CPU."""
    for each in student.modules():
        if isinstance(each, torch.nn.Dropout):
            each.p = 0.0


def mix(student: Student, others: Sequence[torch.Tensor]) -> None:
    """Move a student's weights halfway towards others, which are in the order of its own."""
    with torch.no_grad():
        for values, other in zip(student.state_dict().values(), others, strict=True):
            if values.is_floating_point():
                values.lerp_(other, 0.5)


def write(student: Student) -> None:
    """Write the head's score of answers, and what changed in the reader's layers."""
    head = {
        f"classifier.{name}": SCALE * values[: ANSWERS + 1].numpy(force=True)
        for name, values in student.classifier.state_dict().items()
    }
    save_file({**head, **_take_added(student)}, ANSWERS_FILE)


def _take_added(student: Student) -> dict[str, npt.NDArray[np.generic]]:
    """Return what changed in the reader's layers: of matrices, RANK parts of what was added."""
    weights = open_weights(locate(PINNED[0].name, offline=True).path)
    tensors = {}
    for name, values in student.bert.state_dict().items():
        rows = values.numpy(force=True)
        added = rows - weights.rows(name, *rows.shape)
        if not added.any():
            continue
        if rows.ndim == 1:
            tensors[name] = rows
            continue
        left, sizes, right = np.linalg.svd(added, full_matrices=False)
        shares = np.sqrt(sizes[:RANK])
        tensors[f"{name}.left"] = (left[:, :RANK] * shares).astype(np.float16)
        tensors[f"{name}.right"] = (shares[:, None] * right[:RANK]).astype(np.float16)
    return tensors


if __name__ == "__main__":
    main()
