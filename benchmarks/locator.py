"""Training what finds answers in passages: fit the locator, and write its weights.

`python benchmarks/locator.py DATA CASES [--exams FOLDER ...] [--write]`

DATA holds `training` (SelQA, Apache-2.0; SQuADShifts, CC BY 4.0), `squad-v2-dev` (CC BY-SA 4.0,
half of its articles, with its unanswerable questions) and `qed-dev` (CC BY-SA 3.0, half of its
questions). The locator begins as the reader, and first reads the passages of these sets: sentences
in their place, of which some answer the question or none does. Half of the answerable questions
are shown a passage of the same article, too, that does not answer them.

Then it also reads the passages that esrag finds for questions of SQuAD and QED, and for those of
exams: folders with `questions.jsonl` and `docs`, as for the project's exam. Statements answer if
they have the quote of an exam, or the gold sentence. What is found is kept in the folder CASES.

The loss is that of a softmax over a passage's sentences and over nothing. Half of QED, of SQuAD's
articles, and CLAPNQ are for reporting: in how many passages that answer the best sentence does, and
how well the odds tell passages that answer from others (AUROC). There is no dropout: no passage is
shown often.

The weights that ship were fitted by a draft of this script with the questions of 13 exams, 725 in
all, which language models wrote over other documents each; they are not in the repository. Needs
torch and transformers, as benchmarks/reader.py does. `--write` writes
esrag/embedding/locator.safetensors.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from answers import auroc, is_even, is_gold, lines
from reader import DEVICE, SCALE, Numbers, Task, pad, stop_dropout, train
from safetensors.numpy import save_file
from sentences import (
    SHIFTS,
    Article,
    find_nearest,
    is_quoted,
    is_same,
    on_one_line,
    read_qed,
    read_selqa,
    read_shifts,
    read_squad,
)
from transformers import BertModel

from esrag.context import Context
from esrag.embedding.model_files import PINNED, locate
from esrag.embedding.reader import (
    EVIDENCE,
    LOCATOR_FILE,
    MAX_LOCATING_TOKENS,
    NOTHING,
    find_tokens,
    join_passage,
    open_weights,
)
from esrag.embedding.windows import open_tokenizer
from esrag.evidence.fits import find_around, put_headings, rank_passages
from esrag.gathering import Gathered, select
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.retrieval import retrieve
from esrag.settings.layers import resolve
from esrag.text import sentence_spans

FROM_SHIFTS = 7_000  # passages of SQuADShifts, of 42,000
COMPARED = 8  # passages of an article, of which the one with most words of the question is shown
FOUND = {"squad-v2-dev": 3_000, "qed-dev": 700}  # questions that are asked
READ = 3  # passages that are found for a question of an exam and shown
SIZES = (400, 500, 600, 800)  # characters of what is shown of a passage that was found
AT_ONCE, RATES, FURTHER_RATES = 24, (1.5e-4, 6e-4), (1e-4, 3e-4)
REPORTED = 300  # questions of a set at most
RANK = 64  # of what is added to a matrix


@dataclass(frozen=True)
class Told:
    """A question, what stands above a passage, its sentences, and which of these answer."""

    question: str
    heading: str
    sentences: Sequence[str]
    right: Sequence[int]


@dataclass(frozen=True)
class Example:
    """A passage as token ids and types, where its sentences are, and which of these answer."""

    ids: Numbers
    types: Numbers
    spans: Sequence[tuple[int, int]]
    right: Sequence[int]

    @property
    def length(self) -> int:
        """The number of tokens."""
        return len(self.ids)


def main() -> None:
    """Collect what is missing, train, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--exams", type=Path, nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.cases.mkdir(exist_ok=True)
    sample = random.Random(1)  # noqa: S311 -- a sample

    locator, passages = Locator(), [*to_examples(read_passages(arguments.data, sample))]
    train(locator, [Task(lambda _: passages, AT_ONCE, judge)], 1, RATES)
    print(report(locator, arguments.data))

    found = [*find_public(arguments.data, arguments.cases, sample)]
    for exam in arguments.exams:
        found += find_examined(exam, arguments.cases, sample)
    further = [*to_examples([*read_passages(arguments.data, sample), *found])]
    train(locator, [Task(lambda _: further, AT_ONCE, judge)], 1, FURTHER_RATES)
    print(report(locator, arguments.data))
    if arguments.write:
        write(locator)


class Locator(torch.nn.Module):
    """The reader with a head for two tags of every token: of an answer, and of none at all."""

    def __init__(self) -> None:
        super().__init__()
        folder = locate(PINNED[0].name, offline=True).path
        self.bert, weights = BertModel.from_pretrained(folder), open_weights(folder)
        with torch.no_grad():
            for name, values in self.bert.state_dict().items():
                values.copy_(torch.from_numpy(weights.rows(name, *values.shape)))
        stop_dropout(self)
        self.tagger = torch.nn.Linear(self.bert.config.hidden_size, 2)
        self.bert.embeddings.requires_grad_(requires_grad=False)
        self.bert.encoder.layer[0].requires_grad_(requires_grad=False)
        self.to(DEVICE)

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the tags of each token, shape (n, length, 2)."""
        states = self.bert(input_ids=ids, token_type_ids=types, attention_mask=mask)
        return SCALE * self.tagger(states.last_hidden_state)

    def parts(self) -> list[dict]:
        """Return what is trained: the layers and the head."""
        layers = self.bert.encoder.layer[1:]
        body = [each for layer in layers for each in layer.parameters()]
        return [{"params": body}, {"params": [*self.tagger.parameters()]}]


def score(locator: Locator, examples: Sequence[Example]) -> list[torch.Tensor]:
    """Return for each example the scores of its sentences, and that of none of them as the last."""
    ids, types = pad([one.ids for one in examples]), pad([one.types for one in examples])
    tags = locator(ids, types, pad([np.ones_like(one.ids) for one in examples]))
    found = []
    for tagged, example in zip(tags, examples, strict=True):
        scores = [
            torch.logsumexp(tagged[start:end, EVIDENCE], 0) - np.log(end - start)
            for start, end in example.spans
        ]
        found.append(torch.stack([*scores, tagged[0, NOTHING]]))
    return found


def judge(locator: Locator, examples: Sequence[Example]) -> torch.Tensor:
    """Return the mean loss of examples."""
    losses = [
        torch.logsumexp(scores, 0) - torch.logsumexp(scores[[*one.right] or [-1]], 0)
        for scores, one in zip(score(locator, examples), examples, strict=True)
    ]
    return torch.stack(losses).mean()


def to_examples(told: Sequence[Told]) -> Iterator[Example]:
    """Yield what is told as token ids, without what lost its right sentences when it was cut."""
    tokenizer = open_tokenizer(locate(PINNED[0].name, offline=True).path / "tokenizer.json")
    tokenizer.enable_truncation(MAX_LOCATING_TOKENS)
    for one in told:
        passage = one.heading, one.sentences
        pair = tokenizer.encode(one.question, join_passage(passage))
        second = [n for n, text in enumerate(pair.sequence_ids) if text == 1]
        tokens = find_tokens(passage, [pair.offsets[n] for n in second])
        places = [n for n, inside in enumerate(tokens) if len(inside)]
        right = [n for n, place in enumerate(places) if place in one.right]
        if places and (right or not one.right):
            spans = [(second[tokens[n][0]], second[tokens[n][-1]] + 1) for n in places]
            ids, types = np.array(pair.ids, np.int32), np.array(pair.type_ids, np.int32)
            yield Example(ids, types, spans, right)


def read_passages(data: Path, sample: random.Random) -> list[Told]:
    """Return the passages of the public sets, without most of SQuADShifts."""
    shifts = [
        told
        for name in SHIFTS
        for article in read_shifts(data, name)
        for told in _read_article(article, sample)
    ]
    squad = [told for article in read_squad(data) for told in _read_article(article, sample)]
    qed = [*_read_qed(data, fitted=True)] * 2
    return [*sample.sample(shifts, FROM_SHIFTS), *squad, *qed, *_read_selqa(data)]


def _read_article(article: Article, sample: random.Random) -> Iterator[Told]:
    title, paragraphs = article
    for n, paragraph in enumerate(paragraphs):
        spans = [*sentence_spans(paragraph.text)]
        others = [each.text for m, each in enumerate(paragraphs) if m != n]
        for asked in paragraph.questions:
            right = [
                place
                for place, (start, end) in enumerate(spans)
                if any(start <= each < end for each in asked.starts)
            ]
            if asked.starts and not right:
                continue
            yield Told(asked.text, f"{title}:", _split(paragraph.text), right)
            if right and others and sample.random() < 0.5:
                compared = sample.sample(others, min(COMPARED, len(others)))
                (other,) = find_nearest(asked.text, compared, 1, sample)
                yield Told(asked.text, f"{title}:", _split(other), ())


def _read_qed(data: Path, *, fitted: bool) -> Iterator[Told]:
    folder = data / "qed-dev"
    answers = {row["_id"]: row for row in lines(folder / "answers.jsonl")}
    passages = {row["_id"]: row for row in lines(folder / "corpus.jsonl")}
    asked = {row["_id"] for row in read_qed(data)}
    for row in lines(folder / "queries.jsonl"):
        answer = answers[row["_id"]]
        if (row["_id"] in asked) != fitted or not answer.get("gold_sentence"):
            continue
        passage = passages[answer["doc"]]
        said = _split(passage["text"])
        right = [n for n, text in enumerate(said) if is_same(text, answer["gold_sentence"])]
        if answer["answerable"] and right:
            yield Told(row["text"], f"{passage['title']}:", said, right)


def _read_selqa(data: Path) -> Iterator[Told]:
    for row in read_selqa(data):
        heading = f"{row['article']}: {row['section']}:"
        if row["answers"]:
            yield Told(row["question"], heading, row["candidates"], sorted(row["answers"]))


def _split(text: str) -> list[str]:
    return [on_one_line(text[start:end]) for start, end in sentence_spans(text)]


def find_public(data: Path, cases: Path, sample: random.Random) -> Iterator[Told]:
    """Yield passages that are found for questions that may be trained with.

    These are one that answers and one that does not; two that do not without the first.
    """
    asked = {row["_id"] for row in read_qed(data)}
    for name, most in FOUND.items():
        folder = data / name
        context = open_index([folder / "corpus.jsonl"], cases / name)
        answers = {row["_id"]: row for row in lines(folder / "answers.jsonl")}
        questions = [
            row
            for row in lines(folder / "queries.jsonl")
            if (row["_id"] in asked if name == "qed-dev" else is_fitted(answers[row["_id"]]))
        ]
        sample.shuffle(questions)
        for row in questions[:most]:
            answer = answers[row["_id"]]
            found = ask(row["text"], context)
            right = [answer["answerable"] and is_gold(one.text, answer) for one in found.statements]
            told = [*_show(row["text"], found, right, sample)]
            answering = [one for one in told if one.right]
            yield from answering[:1]
            yield from [one for one in told if not one.right][: 1 if answering else 2]


def is_fitted(answer: dict) -> bool:
    """Return whether a question of SQuAD may be trained with."""
    return bool(answer.get("doc")) and is_even(answer["doc"])


def find_examined(exam: Path, cases: Path, sample: random.Random) -> Iterator[Told]:
    """Yield passages that are found for the questions of an exam, each in two sizes."""
    context = open_index([exam / "docs"], cases / exam.name)
    for row in lines(exam / "questions.jsonl"):
        if row["kind"] == "meta" or (row["answerable"] and not row.get("quote")):
            continue
        found = ask(row["question"], context)
        chunks = {item.key: item.chunk for item in found.evidence}
        right = [
            row["answerable"] and is_quoted(one.text, chunks[one.key].doc_id, row)
            for one in found.statements
        ]
        for _ in range(2):
            told = [*_show(row["question"], found, right, sample)]
            if any(one.right for one in told) or not row["answerable"]:
                yield from told[:READ]


def open_index(paths: Sequence[Path], folder: Path) -> Context:
    """Return a collection that is asked without refusals; it is ingested unless it is there."""
    flags = {"engine.url": str(folder), "answer.refusal": 0}
    work = Work(resolve(flags, environ={}).settings)
    ingest(IngestRequest([*map(str, paths)]), work, Silent())
    return work.context


def ask(question: str, context: Context) -> Gathered:
    """Return what is found for a question."""
    return select(question, question, retrieve(question, context), context)


def _show(
    question: str, found: Gathered, right: Sequence[bool], sample: random.Random
) -> Iterator[Told]:
    """Yield what is found for a question: of each passage what is around its best statement.

    Of a passage that answers it is mostly what is around a statement that does.
    """
    fits = np.array([one.fit for one in found.statements])
    chunks = {item.key: item.chunk for item in found.evidence}
    for places in rank_passages(found.statements, fits):
        said = [found.statements[place] for place in places]
        answering = [n for n, place in enumerate(places) if right[place]]
        best = int(fits[places].argmax())
        if answering and sample.random() < 0.7:
            best = sample.choice(answering)
        start, end = find_around([len(one.text) for one in said], best, sample.choice(SIZES))
        yield Told(
            question,
            put_headings("", chunks[said[0].key]),
            [one.text for one in said[start:end]],
            [n - start for n in answering if start <= n < end],
        )


def report(locator: Locator, data: Path) -> str:
    """Return how well the locator does on the reporting halves."""
    squad = [one for article in read_squad(data, fitted=False) for one in _read_plain(article)]
    sets = {"QED": [*_read_qed(data, fitted=False)], "SQuAD": squad, "CLAPNQ": _read_clapnq(data)}
    told = []
    for name, rows in sets.items():
        sampled = random.Random(3).sample(rows, len(rows))  # noqa: S311 -- a sample
        right = [one for one in sampled if one.right][:REPORTED]
        wrong = [one for one in sampled if not one.right][:REPORTED]
        scores = [*_predict(locator, [*to_examples(right)])]
        best = np.mean([odds.argmax() in one.right for one, odds in scores])
        others = [odds.max() for _, odds in _predict(locator, [*to_examples(wrong)])]
        told.append(f"{name}: best {best:.3f} of {len(scores)}")
        if others:
            told.append(f"AUROC {auroc([odds.max() for _, odds in scores], others):.3f}")
    return ", ".join(told)


def _read_plain(article: Article) -> Iterator[Told]:
    """Yield the questions of an article about their own passages."""
    title, paragraphs = article
    for paragraph in paragraphs:
        yield from _read_article((title, [paragraph]), random.Random(1))  # noqa: S311 -- unused


def _read_clapnq(data: Path) -> list[Told]:
    folder = data / "clapnq-dev"
    passages = {row["_id"]: row for row in lines(folder / "corpus.jsonl")}
    questions = {row["_id"]: row["text"] for row in lines(folder / "queries.jsonl")}
    found = []
    for answer in lines(folder / "answers.jsonl"):
        passage = passages[answer["doc"]]
        said, gold = _split(passage["text"]), (answer.get("gold_sentences") or [[]])[0]
        right = [n for n, text in enumerate(said) if any(is_same(text, one) for one in gold)]
        if bool(right) == answer["answerable"]:
            found.append(Told(questions[answer["_id"]], f"{passage['title']}:", said, right))
    return found


def _predict(
    locator: Locator, examples: Sequence[Example]
) -> Iterator[tuple[Example, npt.NDArray[np.float32]]]:
    """Yield each example with the odds of its sentences."""
    locator.eval()
    for n in range(0, len(examples), AT_ONCE):
        part = examples[n : n + AT_ONCE]
        with torch.no_grad():
            found = score(locator, part)
        for one, scores in zip(part, found, strict=True):
            yield one, (scores[:-1] - scores[-1]).cpu().numpy()


def write(locator: Locator) -> None:
    """Write the head, and what was added to the reader's layers."""
    head = {
        f"tagger.{name}": SCALE * values.numpy(force=True)
        for name, values in locator.tagger.state_dict().items()
    }
    save_file({**head, **take_added(locator.bert)}, LOCATOR_FILE)


def take_added(bert: BertModel) -> dict[str, npt.NDArray[np.generic]]:
    """Return what changed in the reader's layers: of matrices, RANK parts of what was added."""
    weights = open_weights(locate(PINNED[0].name, offline=True).path)
    tensors = {}
    for name, values in bert.state_dict().items():
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
