"""Training the reader further: with quoted answers to questions, and with drafts about passages.

`python benchmarks/quotes.py DATA QUESTIONS DRAFTS CASES [--epochs 5] [--write]`

DATA holds `docs` and the sets of benchmarks/sentences.py. QUESTIONS has a JSON object on each line:
`question`, `source` (a file below DATA/docs) and `quote`, the sentence, list item or table row that
answers it best, verbatim; "" if no document answers it. What esrag gathers for each question is
written to CASES/quotes.jsonl, and all passages of these documents to CASES/passages.jsonl, unless
they are there. A statement is right if it has most words of the quote. DRAFTS has on each line
`source` (as above, or another name for a text that is not below DATA/docs), `title`, `section`,
`text` (a passage), `honest` (sentences that it supports) and `false` (others, each as [kind,
sentence]).

The student begins as the reader that ships, and learns both scores at once. The loss of a question
is that of a softmax over its statements, and of each statement's score as the odds that it answers;
a share of the public sets' questions is mixed in. The loss of a draft is that of its score as the
odds that the passage supports it. The questions about every fifth document, and the drafts about
every sixth, are not trained with. For these the script prints how often the best statement is
right, how well its score tells right statements from others and from those of unanswerable
questions (AUROC), and how well the other score tells honest drafts from false ones.

Language models wrote questions and drafts over the shared documents; they are not in the
repository. The weights that ship were made with 9,392 questions and 3,240 unanswerable ones (174
and 60 for each of 54 sets of 60 passages), and 9,120 honest and as many false drafts over 3,840
passages, in five epochs, on a GPU within three minutes, with a draft of these scripts. It asked
1,249 of the questions, which are about Wikipedia, over the passages of SQuADShifts. Needs torch and
transformers, and uses a GPU, as benchmarks/reader.py does. `--write` writes
esrag/embedding/reader.safetensors.
"""

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import entailing
import numpy as np
import torch
from answers import auroc, lines
from indexes import find, open_index
from reader import (
    DEVICE,
    SCALE,
    Group,
    Student,
    Task,
    predict,
    score,
    to_groups,
    train,
    write,
)
from sentences import SHIFTS, is_held_out, is_quoted, iter_rows, read_shifts
from torch.nn.utils.rnn import pad_sequence

from esrag.context import Context
from esrag.embedding.checkpoint import Tensors
from esrag.embedding.model_files import PINNED, locate
from esrag.embedding.reader import open_weights
from esrag.evidence.fits import with_headings
from esrag.records import Chunk

KEPT = 16  # statements of a question, the best by their fit, and right ones below these
RIGHT, BEST, OTHERS = 2, 5, 2  # statements to train with
RATES = 2e-4, 4e-4
QUESTIONS_AT_ONCE, DRAFTS_AT_ONCE = 32, 96
PUBLIC = 0.3  # share of the public sets' questions, in each epoch
BY_ODDS = 1.0  # weight of this part of the loss
NONE = -1e4  # the score of a statement that is not there


def main() -> None:
    """Collect what is missing, train, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("drafts", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.cases.mkdir(exist_ok=True)
    if not (arguments.cases / "quotes.jsonl").exists():
        collect(lines(arguments.questions), arguments.data / "docs", arguments.cases)

    rows = [row for row in lines(arguments.cases / "quotes.jsonl") if len(row["texts"]) > 1]
    asked = [row for row in rows if is_held_out(row["source"])]
    drafts = entailing.read_drafts(arguments.drafts)
    written = entailing.to_pairs(
        [each for draft in drafts if draft.held_out for each in entailing.iter_written(draft)]
    )
    tasks = [
        _task_of_questions([row for row in rows if not is_held_out(row["source"])], arguments.data),
        _task_of_drafts(drafts, _read_passages(arguments.data, arguments.cases)),
    ]

    student = load()
    print(f"before: {report(student, asked)}\n{entailing.report(student, written)}")
    train(student, tasks, arguments.epochs, RATES)
    print(f"after: {report(student, asked)}\n{entailing.report(student, written)}")
    if arguments.write:
        write(student)


def collect(questions: Sequence[dict], docs: Path, folder: Path) -> None:
    """Write what esrag gathers for each question, which statements are right, and all passages."""
    sources = dict.fromkeys(row["source"] for row in questions)
    context = open_index([docs / source for source in sources], folder / "quotes.index")

    files = {
        document.doc_id: Path(document.source).relative_to(docs.absolute()).as_posix()
        for document in context.engine.documents()
    }
    passages = [
        {
            "source": files[chunk.doc_id],
            "title": chunk.title,
            "section": chunk.section,
            "text": chunk.text,
        }
        for chunk in context.engine.chunks()
    ]
    _write_lines(folder / "passages.jsonl", passages)
    rows = [{**row, **_gather(row, context)} for row in questions]
    _write_lines(folder / "quotes.jsonl", rows)


def _write_lines(path: Path, rows: Sequence[dict]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def _gather(row: dict, context: Context) -> dict:
    question = row["question"]
    found = find(question, context)
    chunks = {item.key: item.chunk for item in found.evidence}
    ranked = sorted(found.statements, key=lambda one: (-one.fit, one.order))
    right = [one for one in ranked if is_quoted(one.text, chunks[one.key].doc_id, row)]
    kept = [*dict.fromkeys([*ranked[:KEPT], *right[:RIGHT]])]
    return {
        "texts": [with_headings(one, chunks[one.key]) for one in kept],
        "right": [int(one in right) for one in kept],
    }


def _read_passages(data: Path, folder: Path) -> list[Chunk]:
    """Return the passages whose own sentences are trained with."""
    rows = lines(folder / "passages.jsonl")
    articles = read_shifts(data, SHIFTS[0])
    rows += [{"text": each.text} for _, paragraphs in articles for each in paragraphs]
    return [entailing.to_passage(row) for row in rows]


def load(read_tensors: Callable[[Path], Tensors] = open_weights) -> Student:
    """Return a student with weights that ship.

    Where these have one score, such as that of answers, both outputs of the head begin with it.
    """
    student, weights = Student(), read_tensors(locate(PINNED[0].name, offline=True).path)
    with torch.no_grad():
        for name, values in student.state_dict().items():
            rows = weights.rows(name.removeprefix("bert."), *values.shape)
            values.copy_(torch.tensor(rows) / (SCALE if name.startswith("classifier.") else 1))
    return student


def _task_of_questions(rows: Sequence[dict], data: Path) -> Task:
    """Return the task of scoring answers: to these questions, and to some of the public sets."""
    wanted = [row for row in rows if any(row["right"]) or not row["quote"]]
    own = [*to_groups(map(to_row, wanted))]
    public = [*to_groups(iter_rows(data))]

    def draw(sample: random.Random) -> list[Group]:
        return [
            *(choose(group, sample) for group in own),
            *sample.sample(public, int(PUBLIC * len(public))),
        ]

    return Task(draw, QUESTIONS_AT_ONCE, answer)


def _task_of_drafts(drafts: Sequence[entailing.Draft], passages: Sequence[Chunk]) -> Task:
    """Return the task of telling what a passage supports."""
    groups = entailing.to_pairs([*entailing.make_examples(drafts, passages)])
    return Task(lambda sample: entailing.draw(groups, sample), DRAFTS_AT_ONCE, entailing.judge)


def to_row(row: dict) -> tuple[str, list[str], list[float]]:
    """Return a question, its statements, and 1 for each that is right."""
    return row["question"], row["texts"], [float(value) for value in row["right"]]


def choose(group: Group, sample: random.Random) -> Group:
    """Return a question with right statements, the best wrong ones, and a few others."""
    right = [n for n, value in enumerate(group.scores) if value]
    wrong = [n for n, value in enumerate(group.scores) if not value]
    others = sample.sample(wrong[BEST:], min(OTHERS, len(wrong[BEST:])))
    chosen = [*right[:RIGHT], *wrong[:BEST], *others]
    return replace(
        group,
        ids=[group.ids[n] for n in chosen],
        types=[group.types[n] for n in chosen],
        scores=[group.scores[n] for n in chosen],
    )


def answer(student: Student, groups: Sequence[Group]) -> torch.Tensor:
    """Return the loss of questions, as rows of statements that are filled up to the longest."""
    scores = pad_sequence(score(student, groups), batch_first=True, padding_value=NONE)
    told = [torch.tensor(group.scores, device=DEVICE) for group in groups]
    right = pad_sequence(told, batch_first=True)
    counts = torch.tensor([len(group.scores) for group in groups], device=DEVICE)

    of_right = torch.where(right > 0, scores, NONE)
    choice = torch.logsumexp(scores, 1) - torch.logsumexp(of_right, 1)
    odds = torch.nn.functional.binary_cross_entropy_with_logits(scores / 2, right, reduction="none")
    # The odds of a statement that is not there cost nothing.
    return (choice * right.any(1) + BY_ODDS * odds.sum(1) / counts).mean()


def report(student: Student, rows: Sequence[dict]) -> str:
    """Return how well the student finds the right statements of questions."""
    right, wrong, unanswerable = [], [], []
    for row, scores in zip(rows, predict(student, [*to_groups(map(to_row, rows))]), strict=True):
        best = int(np.argmax(scores))
        answered = right if row["right"][best] else wrong
        (answered if row["quote"] else unanswerable).append(scores[best])
    share = len(right) / (len(right) + len(wrong))
    return (
        f"the best statement is right for {share:.1%} of {len(right) + len(wrong)}; AUROC "
        f"{auroc(right, wrong + unanswerable):.3f} from all others, "
        f"{auroc(right, unanswerable):.3f} from those of unanswerable questions"
    )


if __name__ == "__main__":
    main()
