"""Questions of public sets, each with right and near wrong sentences, for training the reader.

DATA holds `training` (SelQA, Apache-2.0; SQuADShifts, CC BY 4.0), `squad-v2-dev` (CC BY-SA 4.0,
half of its articles, with its unanswerable questions) and `qed-dev` (CC BY-SA 3.0, half of its
questions). benchmarks/quotes.py trains with them. The wrong sentences share most words with the
question: five of the passage that answers it, and a few of others.
"""

import json
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from answers import is_even, lines

from esrag.evidence.fits import MAX_HEADING
from esrag.text import sentence_spans
from esrag.text.terms import STOP_WORDS

SHIFTS = ("new_wiki", "reddit", "amazon_reviews")
RIGHT, NEAR = 2, 5  # sentences of a question: right ones, and wrong ones of the same passage
FAR, FAR_IN_QED, NEAR_IN_SELQA = 2, 3, 6
MAX_POOL = 250  # sentences of other passages that are compared with a question
MIN_WORDS = 2  # a sentence has more
SAME, PART = 0.8, 0.3  # shares of words that make a sentence QED's, or a part of it
QUOTED_PART = 0.25  # share of its words that makes a statement a part of a quote
MIN_QUOTED_WORDS = 3  # fewer have to be the same
ONE_IN = 5  # documents whose questions are for reporting

Row = tuple[str, list[str], list[float]]  # a question, sentences, and which of these are right
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Asked:
    """A question about a paragraph, and where its answers start there: nowhere without one."""

    text: str
    starts: Sequence[int]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of an article, and the questions about it."""

    text: str
    questions: Sequence[Asked]


Article = tuple[str, list[Paragraph]]  # a title and paragraphs


def iter_rows(data: Path) -> Iterator[Row]:
    """Yield the questions of every set with their sentences."""
    sample = random.Random(5)  # noqa: S311 -- a sample
    for name in SHIFTS:
        for article in read_shifts(data, name):
            yield from _rows_of_article(article, sample)
    for article in _read_squad(data):
        yield from _rows_of_article(article, sample)
    yield from _rows_of_qed(data, sample)
    yield from _rows_of_selqa(data, sample)


def read_shifts(data: Path, name: str) -> Iterator[Article]:
    """Yield the articles of a part of SQuADShifts; only those of Wikipedia have titles."""
    for article in json.loads((data / "training" / f"{name}.json").read_text("utf-8"))["data"]:
        yield (
            article["title"].replace("_", " ") if name == "new_wiki" else "",
            [
                Paragraph(
                    paragraph["context"],
                    [
                        Asked(each["question"], [one["answer_start"] for one in each["answers"]])
                        for each in paragraph["qas"]
                    ],
                )
                for paragraph in article["paragraphs"]
            ],
        )


def read_selqa(data: Path) -> list[dict]:
    """Return the questions of SelQA that may be trained with."""
    return [
        row
        for part in ("dev", "test")
        for row in json.loads((data / "training" / f"selqa-{part}.json").read_text("utf-8"))
    ]


def read_qed(data: Path) -> list[dict]:
    """Return the questions of QED that may be trained with."""
    questions = lines(data / "qed-dev" / "queries.jsonl")
    random.Random(1).shuffle(questions)  # noqa: S311 -- as benchmarks/choice.py splits them
    return questions[::2]


def words(text: str) -> set[str]:
    """Return the different words of a text, in lower case."""
    return {*_WORD.findall(text.lower())}


def on_one_line(text: str) -> str:
    """Return a text without its line breaks and repeated blanks."""
    return " ".join(text.split())


def _read_squad(data: Path) -> Iterator[Article]:
    """Yield the articles of SQuAD that may be trained with."""
    folder = data / "squad-v2-dev"
    passages = {row["_id"]: row for row in lines(folder / "corpus.jsonl")}
    questions = {row["_id"]: row["text"] for row in lines(folder / "queries.jsonl")}
    articles = defaultdict(lambda: defaultdict(list))
    for row in lines(folder / "answers.jsonl"):
        if not row.get("doc") or not is_even(row["doc"]):
            continue
        passage = passages[row["doc"]]
        # The set does not say where an answer starts, so it has to occur only once.
        once = [each for each in set(row["answers"]) if passage["text"].count(each) == 1]
        if once or not row["answerable"]:
            asked = Asked(questions[row["_id"]], [passage["text"].find(each) for each in once])
            articles[passage["title"]][passage["text"]].append(asked)

    for title, paragraphs in articles.items():
        yield title, [Paragraph(*each) for each in paragraphs.items()]


def _rows_of_article(article: Article, sample: random.Random) -> Iterator[Row]:
    """Yield the questions about an article, with sentences of all its paragraphs."""
    title, paragraphs = article
    sentences = [(one, n) for n, each in enumerate(paragraphs) for one in _split(each.text)]
    for n, paragraph in enumerate(paragraphs):
        pool = sample.sample(sentences, min(len(sentences), MAX_POOL))
        others = [sentence for sentence, place in pool if place != n]
        for asked in paragraph.questions:
            right = _find_right(paragraph.text, asked.starts)
            if asked.starts and not right:
                continue
            own = [sentence for sentence in _split(paragraph.text) if sentence not in right]
            wrong = [
                *_find_nearest(asked.text, own, NEAR, sample),
                *_find_nearest(asked.text, others, FAR, sample),
            ]
            texts = {text: float(text in right) for text in [*right[:RIGHT], *wrong]}
            told = [(_with_title(title, text), value) for text, value in texts.items()]
            yield from _shuffle(asked.text, told, sample)


def _find_right(text: str, starts: Sequence[int]) -> list[str]:
    """Return the sentences in which an answer starts."""
    found = [
        on_one_line(text[start:end])
        for start, end in sentence_spans(text)
        if any(start <= place < end for place in starts)
    ]
    return [each for each in dict.fromkeys(found) if len(each.split()) > MIN_WORDS]


def _rows_of_qed(data: Path, sample: random.Random) -> Iterator[Row]:
    folder = data / "qed-dev"
    answers = {row["_id"]: row for row in lines(folder / "answers.jsonl")}
    titles = {row["_id"]: row["title"] for row in lines(folder / "corpus.jsonl")}
    sentences = {row["_id"]: _split(row["text"]) for row in lines(folder / "corpus.jsonl")}
    homes = {text: doc for doc, texts in sentences.items() for text in texts}

    for question in read_qed(data):
        answer = answers[question["_id"]]
        if not answer["answerable"] or not answer.get("gold_sentence"):
            continue
        own = sentences[answer["doc"]]
        right = [text for text in own if _is_same(text, answer["gold_sentence"])]
        wrong = [text for text in own if text not in right]
        others = [text for text, doc in homes.items() if doc != answer["doc"]]
        near = _find_nearest(question["text"], wrong, NEAR, sample)
        far = _find_nearest(question["text"], others, FAR_IN_QED, sample)
        told = [
            *((_with_title(titles[answer["doc"]], text), 1.0) for text in right[:RIGHT]),
            *((_with_title(titles[answer["doc"]], text), 0.0) for text in near),
            *((_with_title(titles[homes[text]], text), 0.0) for text in far),
        ]
        if right:
            yield from _shuffle(question["text"], told, sample)


def _is_same(text: str, gold: str, part: float = PART) -> bool:
    """Return whether a text has most words of another, or is such a part of it."""
    said, wanted = words(text), words(gold)
    shared, fewer = len(said & wanted), min(len(said), len(wanted))
    return shared >= SAME * fewer and len(said) >= part * len(wanted)


def is_quoted(text: str, doc_id: str, row: dict) -> bool:
    """Return whether a statement is of a question's source, and the quote or a part of it."""
    if not doc_id.endswith(Path(row["source"]).stem):
        return False
    said, wanted = words(text), words(row["quote"])
    if min(len(said), len(wanted)) < MIN_QUOTED_WORDS:
        return bool(wanted) and said == wanted
    return _is_same(text, row["quote"], QUOTED_PART)


def is_held_out(source: str, one_in: int = ONE_IN) -> bool:
    """Return whether what is written about a document is for reporting: one of so many are."""
    return zlib.crc32(source.encode()) % one_in == 0


def _rows_of_selqa(data: Path, sample: random.Random) -> Iterator[Row]:
    for row in read_selqa(data):
        right = [row["candidates"][n] for n in sorted(row["answers"])]
        others = [text for n, text in enumerate(row["candidates"]) if n not in row["answers"]]
        wrong = _find_nearest(row["question"], others, NEAR_IN_SELQA, sample)
        title = f"{row['article']}: {row['section']}"
        told = [
            *((_with_title(title, text), 1.0) for text in right[:RIGHT]),
            *((_with_title(title, text), 0.0) for text in wrong),
        ]
        if right:
            yield from _shuffle(row["question"], told, sample)


def _split(text: str) -> list[str]:
    """Return the sentences that are no mere heading or number."""
    found = (on_one_line(text[start:end]) for start, end in sentence_spans(text))
    return [each for each in found if len(each.split()) > MIN_WORDS]


def _with_title(title: str, text: str) -> str:
    return f"{title[:MAX_HEADING]}: {text}" if title else text


def _find_nearest(
    question: str, texts: Sequence[str], count: int, sample: random.Random
) -> Sequence[str]:
    """Return the texts that share most words with the question, in random order if equally many."""
    asked = words(question) - STOP_WORDS
    shuffled = sample.sample(texts, len(texts))
    return sorted(shuffled, key=lambda text: -len(asked & words(text)))[:count]


def _shuffle(question: str, told: list[tuple[str, float]], sample: random.Random) -> Iterator[Row]:
    """Yield the question with its sentences in random order, if there are several."""
    sample.shuffle(told)
    if len(told) > 1:
        yield question, [text for text, _ in told], [value for _, value in told]
