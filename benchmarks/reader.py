"""Training the reader: fit its layers to a larger cross-encoder, and write its weights.

`python benchmarks/reader.py DATA CASES TEACHER [--documents FILE] [--epochs 1] [--write]`

DATA holds `training` (SelQA, Apache-2.0; SQuADShifts, CC BY 4.0), `squad-v2-dev` (CC BY-SA 4.0,
half of its articles) and `qed-dev` (CC BY-SA 3.0, half of its questions). `--documents` adds
questions about DATA/docs: JSON lines with `question`, and `source` below that folder. No answers
are read: what is gathered for each question is scored by TEACHER, the folder of an ONNX
cross-encoder with its tokenizer.json, and kept in the folder CASES. The weights that ship had
cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0) as their teacher.

The student begins as the default encoder. Its words and lowest layer stay as they are, since the
encoder's own are used. The loss compares what teacher and student think of the statements of a
question: their order (Kullback-Leibler divergence at temperature 2) and their scores (squares).
Only the first of the head's two outputs is trained: benchmarks/quotes.py trains both, from the
weights that this script writes. Needs torch and transformers, which the project does not install,
and uses a GPU if torch finds one. `--write` writes esrag/embedding/reader.safetensors.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
from answers import is_even, lines
from indexes import find, open_index
from safetensors.numpy import save_file
from sentences import read_qed, read_selqa, read_shifts
from texts import as_file
from transformers import BertModel

from esrag.embedding.bert import quantise_rows
from esrag.embedding.model_files import PINNED, locate
from esrag.embedding.reader import MAX_TOKENS, WEIGHTS_FILE
from esrag.embedding.windows import open_tokenizer
from esrag.evidence.fits import with_headings

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
WARM_UP = 100  # steps until the rates are reached; from there they fall in a line to 0
SCALE = 4.0  # of the head, so that its weights stay small while it learns scores of -11 to 11
ANSWERS, SUPPORTS = 0, 1  # the outputs of the head
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

Source = tuple[list[Path], list[str]]  # what to ingest, and questions
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Group:
    """Pairs of a text with others, as token ids and types, and the scores that they should have."""

    ids: list[Numbers]
    types: list[Numbers]
    scores: list[float]
    weight: float = 1.0

    @property
    def length(self) -> int:
        """The number of tokens of the longest pair."""
        return max(map(len, self.ids))


Rates = tuple[float, float]
Loss = Callable[["Student", Sequence[Group]], torch.Tensor]


@dataclass(frozen=True)
class Task:
    """What is drawn for an epoch, how many groups are shown at once, and how these are judged."""

    draw: Callable[[random.Random], Sequence[Group]]
    at_once: int
    loss: Loss


def main() -> None:
    """Collect what is missing, train, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    sources = _sources(arguments.data, arguments.cases, arguments.documents)
    for name, source in sources.items():
        if not (arguments.cases / f"{name}.jsonl").exists():
            collect(name, source, arguments.cases, arguments.teacher)
    groups = [*_groups(arguments.cases, sources)]
    random.Random(1).shuffle(groups)  # noqa: S311 -- an order
    student = Student()
    train(student, [Task(lambda _: groups[HELD_OUT:], AT_ONCE, _distil)], arguments.epochs)
    print(_report(student, groups[:HELD_OUT]))
    if arguments.write:
        write(student)


def collect(name: str, source: Source, folder: Path, teacher: Path) -> None:
    """Write what esrag gathers for each question of a set, with the teacher's scores."""
    corpus, questions = source
    context = open_index(corpus, folder / f"{name}.index", {"answer.reader": False})

    sample, score = random.Random(7), open_teacher(teacher)  # noqa: S311 -- a sample
    rows = []
    for question in questions[: SETS[name]]:
        found = find(question, context)
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
    """The default encoder with a head for two scores: of an answer, and of support."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(locate(PINNED[0].name, offline=True).path)
        self.classifier = torch.nn.Linear(self.bert.config.hidden_size, 2)
        # A score of 0, even odds, until it is trained.
        torch.nn.init.zeros_(self.classifier.weight[SUPPORTS].detach())
        torch.nn.init.zeros_(self.classifier.bias[SUPPORTS].detach())
        self.bert.embeddings.requires_grad_(requires_grad=False)
        self.bert.encoder.layer[0].requires_grad_(requires_grad=False)
        self.to(DEVICE)

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return both scores of each pair."""
        states = self.bert(input_ids=ids, token_type_ids=types, attention_mask=mask)
        return SCALE * self.classifier(states.pooler_output).float()

    def parts(self) -> list[dict]:
        """Return what is trained: the layers and the head."""
        head = [*self.bert.pooler.parameters(), *self.classifier.parameters()]
        body = [each for layer in self.bert.encoder.layer[1:] for each in layer.parameters()]
        return [{"params": body}, {"params": head}]


def train(student: Student, tasks: Sequence[Task], epochs: int, rates: Rates = RATES) -> None:
    """Teach the student all tasks at once; `rates` are those of its layers and its head."""
    torch.manual_seed(1)
    shuffle = random.Random(1)  # noqa: S311 -- an order
    steps = [step for _ in range(epochs) for step in _draw(tasks, shuffle)]
    optimiser = torch.optim.AdamW(student.parts(), weight_decay=0.01)
    student.train()

    for n, (loss, groups) in enumerate(steps):
        warmth = min(1, (n + 1) / WARM_UP) * (1 - n / len(steps))
        for part, rate in zip(optimiser.param_groups, rates, strict=True):
            part["lr"] = rate * warmth
        optimiser.zero_grad()
        loss(student, groups).backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()

    shown = sum(len(groups) for _, groups in steps)
    print(f"{shown:,} groups were shown in {len(steps):,} steps")


def _draw(tasks: Sequence[Task], shuffle: random.Random) -> list[tuple[Loss, list[Group]]]:
    """Return an epoch's batches of all tasks, each of about equal lengths, in random order."""
    steps = []
    for task in tasks:
        ranked = sorted(task.draw(shuffle), key=lambda one: (one.length // 8, shuffle.random()))
        batches = (ranked[n : n + task.at_once] for n in range(0, len(ranked), task.at_once))
        steps += [(task.loss, batch) for batch in batches]
    shuffle.shuffle(steps)
    return steps


def write(student: Student) -> None:
    """Write the layers and the head, in int8 with a scale for each row."""
    with torch.no_grad():
        student.classifier.weight *= SCALE
        student.classifier.bias *= SCALE
    tensors = {}
    for name, values in student.state_dict().items():
        plain, rows = name.removeprefix("bert."), values.cpu().numpy()
        if plain.startswith(("embeddings.", "encoder.layer.0.")):
            continue
        is_matrix = plain.startswith("encoder.") and rows.ndim > 1
        if is_matrix:
            rows, tensors[f"{plain}.scale"] = quantise_rows(rows)
        tensors[plain] = rows if is_matrix else rows.astype(np.float32)
    save_file(tensors, WEIGHTS_FILE)


def _groups(folder: Path, names: Iterable[str]) -> Iterator[Group]:
    rows = (row for name in names for row in lines(folder / f"{name}.jsonl"))
    return to_groups(
        (row["question"], row["texts"], row["scores"]) for row in rows if len(row["texts"]) > 1
    )


def to_groups(
    rows: Iterable[tuple[str, list[str], list[float]]], max_tokens: int = MAX_TOKENS
) -> Iterator[Group]:
    """Yield texts, each with others and the wanted scores of these, as token ids."""
    tokenizer = open_tokenizer(locate(PINNED[0].name).path / "tokenizer.json")
    tokenizer.enable_truncation(max_tokens)
    for first, texts, scores in rows:
        pairs = tokenizer.encode_batch([(first, text) for text in texts])
        ids = [np.array(pair.ids, np.int32) for pair in pairs]
        types = [np.array(pair.type_ids, np.int32) for pair in pairs]
        yield Group(ids, types, scores)


def score(student: Student, groups: Sequence[Group], output: int = ANSWERS) -> list[torch.Tensor]:
    """Return the scores of each group's pairs."""
    ids = pad([row for group in groups for row in group.ids])
    types = pad([row for group in groups for row in group.types])
    mask = pad([np.ones_like(row) for group in groups for row in group.ids])
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE != "cpu"):
        scores = student(ids, types, mask)[:, output]
    return [*scores.split([len(group.ids) for group in groups])]


def pad(rows: Sequence[Numbers]) -> torch.Tensor:
    """Return rows of one length, with zeros at their ends."""
    padded = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(padded).to(DEVICE)


def predict(
    student: Student, groups: Sequence[Group], output: int = ANSWERS
) -> Iterator[list[float]]:
    """Yield the scores of each group's pairs, without teaching the student."""
    student.eval()
    for n in range(0, len(groups), AT_ONCE):
        with torch.no_grad():
            found = score(student, groups[n : n + AT_ONCE], output)
        yield from (scores.tolist() for scores in found)


def _distil(student: Student, groups: Sequence[Group]) -> torch.Tensor:
    total = torch.zeros((), device=DEVICE)
    for scores, group in zip(score(student, groups), groups, strict=True):
        wanted = torch.tensor(group.scores, device=DEVICE)
        order = torch.nn.functional.kl_div(
            torch.log_softmax(scores / 2, 0), torch.softmax(wanted / 2, 0), reduction="sum"
        )
        total = total + 2 * order + ((scores - wanted) ** 2).mean() / SCALE**2
    return total / len(groups)


def _report(student: Student, groups: Sequence[Group]) -> str:
    pairs = [
        (np.array(scores), np.array(group.scores))
        for scores, group in zip(predict(student, groups), groups, strict=True)
    ]
    same = np.mean([scores.argmax() == wanted.argmax() for scores, wanted in pairs])
    error = np.mean([((scores - wanted) ** 2).mean() for scores, wanted in pairs]) ** 0.5
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
    rows = read_selqa(data)
    texts = {" ".join(row["candidates"]): f"{row['article']}: {row['section']}" for row in rows}
    return [_write_corpus("selqa", texts, folder)], [row["question"] for row in rows]


def _load_qed(data: Path) -> Source:
    return [data / "qed-dev" / "corpus.jsonl"], [row["text"] for row in read_qed(data)]


def _load_squad(data: Path, folder: Path) -> Source:
    questions = {row["_id"]: row["text"] for row in lines(data / "squad-v2-dev" / "queries.jsonl")}
    answers = lines(data / "squad-v2-dev" / "answers.jsonl")
    asked = [questions[row["_id"]] for row in answers if row.get("doc") and is_even(row["doc"])]
    random.Random(7).shuffle(asked)  # noqa: S311 -- a sample
    corpus = lines(data / "squad-v2-dev" / "corpus.jsonl")
    texts = {row["text"]: row["title"] for row in corpus if is_even(row["_id"])}
    return [_write_corpus("squad-v2-dev", texts, folder)], asked


def _load_wiki(data: Path, folder: Path) -> Source:
    articles = [*read_shifts(data, "new_wiki")]
    texts = {one.text: title for title, paragraphs in articles for one in paragraphs}
    asked = [
        each.text for _, paragraphs in articles for one in paragraphs for each in one.questions
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
