"""Training the reader: fit its layers to a larger cross-encoder, and write its weights.

`python benchmarks/reader.py DATA CASES TEACHER [--documents FILE] [--minutes 60] [--write]`

DATA holds `training` (SelQA, Apache-2.0; SQuADShifts, CC BY 4.0), `squad-v2-dev` (CC BY-SA 4.0,
half of its articles) and `qed-dev` (CC BY-SA 3.0, half of its questions). `--documents` adds
questions about DATA/docs: JSON lines with `question`, and `source` below that folder. No answers
are read: what is gathered for each question is scored by TEACHER, the folder of an ONNX
cross-encoder with its tokenizer.json, and kept in the folder CASES. The weights that ship had
cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0) as their teacher.

The student begins as the default encoder. Its words and lowest layer stay as they are, since the
encoder's own are used. The loss compares what teacher and student think of the statements of a
question: their order (Kullback-Leibler divergence at temperature 2) and their scores (squares).
Needs torch and transformers, which the project does not install. `--write` writes
esrag/embedding/reader.safetensors.
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from choice import is_even, lines
from safetensors.numpy import save_file
from texts import as_file
from transformers import BertModel

from esrag.embedding.bert import quantise_rows
from esrag.embedding.model_files import PINNED, locate
from esrag.embedding.reader import MAX_TOKENS, WEIGHTS_FILE
from esrag.embedding.windows import open_tokenizer
from esrag.evidence.fits import with_headings
from esrag.gathering import select
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.retrieval import retrieve
from esrag.settings.layers import resolve

# Questions of each set at most.
SETS = {
    "selqa": 2_500,
    "qed-dev": 800,
    "squad-v2-dev": 1_400,
    "new_wiki": 2_200,
    "documents": 2_000,
}
BEST, OTHERS = 5, 3  # statements of a question: the best, and some of the next 16
RATES, AT_ONCE, HELD_OUT = (2e-4, 6e-4), 4, 150
SCALE = 4.0  # of the head, so that its weights stay small while it learns scores of -11 to 11

Source = tuple[list[Path], list[str]]  # what to ingest, and questions


@dataclass(frozen=True)
class Group:
    """A question's pairs with its statements, as token ids and types, and the teacher's scores."""

    ids: list[list[int]]
    types: list[list[int]]
    scores: list[float]


Rates = tuple[float, float]
Loss = Callable[["Student", Sequence[Group]], torch.Tensor]


def main() -> None:
    """Collect what is missing, train, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    sources = _sources(arguments.data, arguments.cases, arguments.documents)
    for name, source in sources.items():
        if not (arguments.cases / f"{name}.jsonl").exists():
            collect(name, source, arguments.cases, arguments.teacher)
    groups = [*_groups(arguments.cases, sources)]
    random.Random(1).shuffle(groups)  # noqa: S311 -- an order
    student = Student()
    train(student, groups[HELD_OUT:], arguments.minutes, _distil)
    print(_report(student, groups[:HELD_OUT]))
    if arguments.write:
        write(student)


def collect(name: str, source: Source, folder: Path, teacher: Path) -> None:
    """Write what esrag gathers for each question of a set, with the teacher's scores."""
    corpus, questions = source
    flags = {
        "engine.url": str(folder / f"{name}.index"),
        "answer.refusal": 0,
        "answer.reader": False,
    }
    work = Work(resolve(flags, environ={}).settings)
    ingest(IngestRequest([*map(str, corpus)]), work, Silent())

    sample, score = random.Random(7), open_teacher(teacher)  # noqa: S311 -- a sample
    rows = []
    for question in questions[: SETS[name]]:
        found = select(question, question, retrieve(question, work.context), work.context)
        ranked = sorted(found.statements, key=lambda one: (-one.fit, one.order))
        others = ranked[BEST : BEST + 16]
        kept = ranked[:BEST] + sample.sample(others, min(OTHERS, len(others)))
        chunks = {item.key: item.chunk for item in found.evidence}
        texts = [with_headings(one, chunks[one.key]) for one in kept]
        scores = [round(score(question, text), 3) for text in texts]
        rows.append({"question": question, "texts": texts, "scores": scores})
    text = "\n".join(map(json.dumps, rows))
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def open_teacher(folder: Path) -> Callable[[str, str], float]:
    """Return the teacher's score of a question and a statement."""
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    tokenizer.enable_truncation(MAX_TOKENS)
    session = onnxruntime.InferenceSession(folder / "model.onnx")

    def score(question: str, statement: str) -> float:
        pair = tokenizer.encode(question, statement)
        columns = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        inputs = {name: np.array([column], dtype=np.int64) for name, column in columns.items()}
        return float(session.run(None, inputs)[0][0, 0])

    return score


class Student(torch.nn.Module):
    """The default encoder with a head for one score."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(locate(PINNED[0].name, offline=True).path)
        self.classifier = torch.nn.Linear(self.bert.config.hidden_size, 1)
        self.bert.embeddings.requires_grad_(requires_grad=False)
        self.bert.encoder.layer[0].requires_grad_(requires_grad=False)

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return a score for each pair."""
        states = self.bert(input_ids=ids, token_type_ids=types, attention_mask=mask)
        return SCALE * self.classifier(states.pooler_output).float()[:, 0]


def train(
    student: Student, groups: Sequence[Group], minutes: float, loss: Loss, rates: Rates = RATES
) -> None:
    """Teach the student with groups for as long; `rates` are those of its layers and its head."""
    torch.manual_seed(1)
    shuffle = random.Random(1)  # noqa: S311 -- an order
    optimiser = torch.optim.AdamW(_parameters(student), weight_decay=0.01)
    started, steps, done = time.monotonic(), 0, 0.0
    student.train()

    while done < 1:
        for batch in _batches(groups, shuffle):
            done = (time.monotonic() - started) / 60 / minutes
            if done >= 1:
                break
            warmth = min(1, (steps + 1) / 100) * (1 - done)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * warmth
            optimiser.zero_grad()
            loss(student, batch).backward()
            torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimiser.step()
            steps += 1

    print(f"{steps * AT_ONCE:,} questions of {len(groups):,} were shown")


def write(student: Student) -> None:
    """Write the layers and the head, in int8 with a scale for each row."""
    with torch.no_grad():
        student.classifier.weight *= SCALE
        student.classifier.bias *= SCALE
    tensors = {}
    for name, values in student.state_dict().items():
        plain, rows = name.removeprefix("bert."), values.numpy()
        if plain.startswith(("embeddings.", "encoder.layer.0.")):
            continue
        is_matrix = plain.startswith("encoder.") and rows.ndim > 1
        if is_matrix:
            rows, tensors[f"{plain}.scale"] = quantise_rows(rows)
        tensors[plain] = rows if is_matrix else rows.astype(np.float32)
    save_file(tensors, WEIGHTS_FILE)


def _parameters(student: Student) -> list[dict]:
    head = [*student.bert.pooler.parameters(), *student.classifier.parameters()]
    body = [each for layer in student.bert.encoder.layer[1:] for each in layer.parameters()]
    return [{"params": body}, {"params": head}]


def _groups(folder: Path, names: Sequence[str]) -> Iterator[Group]:
    rows = (row for name in names for row in lines(folder / f"{name}.jsonl"))
    return to_groups((row["question"], row["texts"], row["scores"]) for row in rows)


def to_groups(rows: Iterable[tuple[str, list[str], list[float]]]) -> Iterator[Group]:
    """Yield questions with several texts, and the wanted scores of these, as token ids."""
    tokenizer = open_tokenizer(locate(PINNED[0].name).path / "tokenizer.json")
    tokenizer.enable_truncation(MAX_TOKENS)
    for question, texts, scores in rows:
        pairs = [tokenizer.encode(question, text) for text in texts]
        if len(pairs) > 1:
            yield Group([pair.ids for pair in pairs], [pair.type_ids for pair in pairs], scores)


def _batches(groups: Sequence[Group], shuffle: random.Random) -> list[list[Group]]:
    """Return the groups in batches of about equal lengths, in random order."""
    lengths = {id(group): max(map(len, group.ids)) // 8 for group in groups}
    ranked = sorted(groups, key=lambda group: (lengths[id(group)], shuffle.random()))
    batches = [ranked[n : n + AT_ONCE] for n in range(0, len(ranked), AT_ONCE)]
    shuffle.shuffle(batches)
    return batches


def score(student: Student, groups: Sequence[Group]) -> list[torch.Tensor]:
    """Return the scores of each group's pairs."""
    rows = [pair for group in groups for pair in zip(group.ids, group.types, strict=True)]
    longest = max(len(ids) for ids, _ in rows)
    ids, types, mask = (
        torch.tensor([row + [0] * (longest - len(row)) for row in columns])
        for columns in zip(*((ids, types, [1] * len(ids)) for ids, types in rows), strict=True)
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = student(ids, types, mask)
    return [*scores.split([len(group.ids) for group in groups])]


def _distil(student: Student, groups: Sequence[Group]) -> torch.Tensor:
    total = torch.zeros(())
    for scores, group in zip(score(student, groups), groups, strict=True):
        wanted = torch.tensor(group.scores)
        order = torch.nn.functional.kl_div(
            torch.log_softmax(scores / 2, 0), torch.softmax(wanted / 2, 0), reduction="sum"
        )
        total = total + 2 * order + ((scores - wanted) ** 2).mean() / SCALE**2
    return total / len(groups)


def _report(student: Student, groups: Sequence[Group]) -> str:
    student.eval()
    with torch.no_grad():
        pairs = [(score(student, [group])[0], torch.tensor(group.scores)) for group in groups]
    same = np.mean([int(scores.argmax()) == int(wanted.argmax()) for scores, wanted in pairs])
    error = np.mean([float(((scores - wanted) ** 2).mean()) for scores, wanted in pairs]) ** 0.5
    return f"the same best statement for {same:.1%} of {len(groups)} others, error {error:.2f}"


def _sources(data: Path, folder: Path, documents: Path | None) -> dict[str, Source]:
    folder.mkdir(exist_ok=True)
    found = {
        "selqa": _load_selqa(data, folder),
        "qed-dev": _load_qed(data),
        "squad-v2-dev": _load_squad(data, folder),
        "new_wiki": _load_wiki(data, folder),
    }
    if documents:
        rows = lines(documents)
        corpus = [data / "docs" / name for name in dict.fromkeys(row["source"] for row in rows)]
        found["documents"] = (corpus, [row["question"] for row in rows])
    return found


def _load_selqa(data: Path, folder: Path) -> Source:
    rows = [
        row
        for part in ("dev", "test")
        for row in json.loads((data / "training" / f"selqa-{part}.json").read_text("utf-8"))
    ]
    texts = {" ".join(row["candidates"]): f"{row['article']}: {row['section']}" for row in rows}
    return [_write_corpus("selqa", texts, folder)], [row["question"] for row in rows]


def _load_qed(data: Path) -> Source:
    questions = lines(data / "qed-dev" / "queries.jsonl")
    random.Random(1).shuffle(questions)  # noqa: S311 -- as benchmarks/choice.py splits them
    return [data / "qed-dev" / "corpus.jsonl"], [row["text"] for row in questions[::2]]


def _load_squad(data: Path, folder: Path) -> Source:
    questions = {row["_id"]: row["text"] for row in lines(data / "squad-v2-dev" / "queries.jsonl")}
    answers = lines(data / "squad-v2-dev" / "answers.jsonl")
    asked = [questions[row["_id"]] for row in answers if row.get("doc") and is_even(row["doc"])]
    random.Random(7).shuffle(asked)  # noqa: S311 -- a sample
    corpus = lines(data / "squad-v2-dev" / "corpus.jsonl")
    texts = {row["text"]: row["title"] for row in corpus if is_even(row["_id"])}
    return [_write_corpus("squad-v2-dev", texts, folder)], asked


def _load_wiki(data: Path, folder: Path) -> Source:
    articles = json.loads((data / "training" / "new_wiki.json").read_text("utf-8"))["data"]
    texts = {
        paragraph["context"]: article["title"].replace("_", " ")
        for article in articles
        for paragraph in article["paragraphs"]
    }
    asked = [
        each["question"]
        for article in articles
        for paragraph in article["paragraphs"]
        for each in paragraph["qas"]
    ]
    random.Random(7).shuffle(asked)  # noqa: S311 -- a sample
    return [_write_corpus("new_wiki", texts, folder)], asked


def _write_corpus(name: str, titles: dict[str, str], folder: Path) -> Path:
    """Write a corpus of texts, each with its title."""
    rows = [
        {"_id": f"p{n}", "title": title, "text": text}
        for n, (text, title) in enumerate(titles.items())
    ]
    return as_file(folder / f"{name}.corpus.jsonl", rows)


if __name__ == "__main__":
    main()
