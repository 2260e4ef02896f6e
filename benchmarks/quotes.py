"""Training the reader further: with questions, and the sentence of a document that answers each.

`python benchmarks/quotes.py QUESTIONS DOCS CASES [--minutes 36] [--write]`

QUESTIONS has a JSON object on each line: `question`, `source` (a file below DOCS) and `quote`, the
sentence, list item or table row that answers it best, verbatim; "" if no document answers it. What
esrag gathers for each question is written to CASES/quotes.jsonl, unless it is there. A statement
is right if it has most words of the quote. The questions about every fifth document are not
trained with; for these the script prints how often the best of the statements is right, and how
well its score tells right statements from others and from those of unanswerable questions (AUROC).

The student begins as the reader that ships. The loss is that of a softmax over the statements of a
question, and of each statement's score as the odds that it answers. Needs torch and transformers,
as benchmarks/reader.py does. `--write` writes esrag/embedding/reader.safetensors.
"""

import argparse
import json
import random
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from answers import auroc, lines
from reader import SCALE, Group, Student, score, to_groups, train, write

from esrag.context import Context
from esrag.embedding.model_files import PINNED, locate
from esrag.embedding.reader import open_weights
from esrag.evidence.fits import with_headings
from esrag.gathering import select
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.retrieval import retrieve
from esrag.settings.layers import resolve

KEPT = 16  # statements of a question, the best by their fit, and right ones below these
RIGHT, BEST, OTHERS = 2, 4, 1  # statements to train with
SAME, PART = 0.8, 0.25  # shares of words that make a statement the quote, or a part of it
RATES = 8e-5, 1.6e-4
BY_ODDS = 0.5  # weight of this part of the loss
_WORD = re.compile(r"[a-z0-9]+")


def main() -> None:
    """Collect what is missing, train, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("docs", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--minutes", type=float, default=36)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.cases.mkdir(exist_ok=True)
    cases = arguments.cases / "quotes.jsonl"
    if not cases.exists():
        collect(lines(arguments.questions), arguments.docs, cases)

    rows = lines(cases)
    held_out = [row for row in rows if _is_held_out(row)]
    taught = [row for row in rows if not _is_held_out(row)]
    student = load()
    print(f"before: {report(student, held_out)}")
    train(student, [*to_groups(_choose(taught))], arguments.minutes, _answer, RATES)
    print(f"after: {report(student, held_out)}")
    if arguments.write:
        write(student)


def _is_held_out(row: dict) -> bool:
    return zlib.crc32(row["source"].encode()) % 5 == 0


def collect(questions: Sequence[dict], docs: Path, cases: Path) -> None:
    """Write what esrag gathers for each question, and which statements are right."""
    flags = {"engine.url": str(cases.with_suffix(".index")), "answer.refusal": 0}
    work = Work(resolve(flags, environ={}).settings)
    sources = dict.fromkeys(row["source"] for row in questions)
    ingest(IngestRequest([str(docs / source) for source in sources]), work, Silent())
    rows = [json.dumps({**row, **_gather(row, work.context)}) for row in questions]
    cases.write_text("\n".join(rows), encoding="utf-8")


def _gather(row: dict, context: Context) -> dict:
    question = row["question"]
    found = select(question, question, retrieve(question, context), context)
    chunks = {item.key: item.chunk for item in found.evidence}
    ranked = sorted(found.statements, key=lambda one: (-one.fit, one.order))
    right = [
        one
        for one in ranked
        if chunks[one.key].doc_id.endswith(Path(row["source"]).stem) and _is_quote(one.text, row)
    ]
    kept = [*dict.fromkeys([*ranked[:KEPT], *right[:RIGHT]])]
    return {
        "texts": [with_headings(one, chunks[one.key]) for one in kept],
        "right": [int(one in right) for one in kept],
    }


def _is_quote(text: str, row: dict) -> bool:
    said, quote = ({*_WORD.findall(each.lower())} for each in (text, row["quote"]))
    shared, fewer = len(said & quote), min(len(said), len(quote))
    return bool(quote) and shared >= SAME * fewer and len(said) >= PART * len(quote)


def load() -> Student:
    """Return a student with the weights that ship."""
    student, weights = Student(), open_weights(locate(PINNED[0].name, offline=True).path)
    with torch.no_grad():
        for name, values in student.state_dict().items():
            rows = weights.rows(name.removeprefix("bert."), *values.shape)
            values.copy_(torch.tensor(rows) / (SCALE if name.startswith("classifier.") else 1))
    return student


def _choose(rows: Sequence[dict]) -> Iterator[tuple[str, list[str], list[float]]]:
    """Yield each question with right statements, the best wrong ones, and a few others."""
    sample = random.Random(1)  # noqa: S311 -- a sample
    for row in rows:
        told = [*zip(row["texts"], row["right"], strict=True)]
        right = [text for text, is_right in told if is_right][:RIGHT]
        wrong = [text for text, is_right in told if not is_right]
        others = sample.sample(wrong[BEST:], min(OTHERS, len(wrong[BEST:])))
        texts = [*right, *wrong[:BEST], *others]
        if right or not row["quote"]:
            yield row["question"], texts, [float(text in right) for text in texts]


def _answer(student: Student, groups: Sequence[Group]) -> torch.Tensor:
    total = torch.zeros(())
    for scores, each in zip(score(student, groups), groups, strict=True):
        right = torch.tensor(each.scores)
        if right.any():
            total = total + torch.logsumexp(scores, 0) - torch.logsumexp(scores[right > 0], 0)
        odds = torch.nn.functional.binary_cross_entropy_with_logits(scores / 2, right)
        total = total + BY_ODDS * odds
    return total / len(groups)


def report(student: Student, rows: Sequence[dict]) -> str:
    """Return how well the student finds the right statements of questions."""
    student.eval()
    right, wrong, unanswerable = [], [], []
    with torch.no_grad():
        for row in rows:
            for each in to_groups([(row["question"], row["texts"], row["right"])]):
                scores = score(student, [each])[0].tolist()
                best = int(np.argmax(scores))
                kind = (right if row["right"][best] else wrong) if row["quote"] else unanswerable
                kind.append(scores[best])
    share = len(right) / (len(right) + len(wrong))
    return (
        f"the best statement is right for {share:.1%} of {len(right) + len(wrong)}; AUROC "
        f"{auroc(right, wrong + unanswerable):.3f} from all others, "
        f"{auroc(right, unanswerable):.3f} from those of unanswerable questions"
    )


if __name__ == "__main__":
    main()
