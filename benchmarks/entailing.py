"""Sentences that a passage supports or does not, made of drafts, for training the reader.

benchmarks/quotes.py trains with them and describes the file of drafts. A language model wrote true
and false sentences about passages. Others are made of them: of an honest sentence and a changed
passage, of a changed sentence, of two sentences, or of another passage's sentence. Sentences that
passages have verbatim are changed, too, each on both sides: so the reader cannot tell what is false
from the words of a sentence alone.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from answers import auroc, lines
from corruptions import Given, corrupt
from reader import DEVICE, SUPPORTS, Group, Student, predict, score, to_groups
from sentences import is_held_out, on_one_line, words

from esrag.embedding.reader import MAX_ENTAILING_TOKENS
from esrag.evidence.fits import put_headings
from esrag.records import Chunk
from esrag.text import sentence_spans
from esrag.verifying.drafts import to_evidence

# How much an example counts, by how it was made.
WRITTEN, JOINED, CHANGED_PASSAGE, CHANGED, FOREIGN, VERBATIM = 2.0, 1.0, 0.6, 0.5, 0.5, 0.4
ONE_IN = 6  # documents whose drafts are for reporting
SHARE = 0.5  # of the examples that nobody wrote, in each epoch
UNTITLED = 0.35  # share of drafts whose passages come without headings, as from elsewhere
MAX_CHANGED, MAX_PASSAGES, MAX_TRIED = 3, 2, 8  # changed sentences and passages of each sentence
OTHERS = 6  # sentences whose clauses may be borrowed
MIN_WORDS, MAX_WORDS, MAX_CELLS = 4, 60, 3  # of a sentence of a passage
MIN_TEXT, MAX_TEXT = 250, 1600  # characters of a passage whose sentences are taken verbatim
HONEST = 0.9  # share of the honest sentences that are to be accepted
# In a passage, these leave the sentence true: they only add to what it says.
ADDED = frozenset(["overclaim", "clause", "merged"])
# In a passage, these only matter if the sentence has one of the words that are replaced.
REPLACED = frozenset(["number", "name", "unit", "opposite", "quantity"])

Span = tuple[int, int]


@dataclass(frozen=True)
class Draft:
    """A passage with sentences that it supports and others, and whether it is for reporting."""

    passage: Chunk
    honest: Sequence[str]
    false: Sequence[str]
    held_out: bool


@dataclass(frozen=True)
class Example:
    """A sentence and a passage, whether this supports it, and how much that counts."""

    sentence: str
    passage: str
    supported: bool
    weight: float = WRITTEN


def read_drafts(path: Path) -> list[Draft]:
    """Return the drafts of a file."""
    sample = random.Random(3)  # noqa: S311 -- a sample
    drafts = []
    for row in lines(path):
        passage = to_passage(row)
        if sample.random() < UNTITLED:
            passage = replace(passage, title="", section="")
        false = [sentence for _, sentence in row["false"]]
        drafts.append(Draft(passage, row["honest"], false, is_held_out(row["source"], ONE_IN)))
    return drafts


def with_title(passage: Chunk) -> str:
    """Return a passage after its document's title and its own heading, on one line."""
    return " ".join(put_headings(passage.text, passage.title, passage.section).split())


def to_passage(row: dict) -> Chunk:
    """Return the passage of a row: its `text`, and its `source`, `title` and `section` if known."""
    told = {name: row[name] for name in ("text", "title", "section") if name in row}
    (evidence,) = to_evidence([told])
    return replace(evidence.chunk, doc_id=row.get("source", ""))


def make_examples(drafts: Sequence[Draft], passages: Sequence[Chunk]) -> Iterator[Example]:
    """Yield what to train with: of the drafts, and of sentences that the passages have."""
    taught = [draft for draft in drafts if not draft.held_out]
    hidden = {draft.passage.text for draft in drafts if draft.held_out}
    pool = [sentence for draft in taught for sentence in draft.honest]
    maker = Maker(pool, random.Random(3))  # noqa: S311 -- a sample
    for draft in taught:
        yield from iter_written(draft)
        yield from maker.change_passages(draft)
        yield from maker.change_sentences(draft)
        yield from maker.join(draft)
        yield from maker.take_foreign(draft)
    for passage in passages:
        is_fit = MIN_TEXT <= len(passage.text) <= MAX_TEXT and passage.text not in hidden
        # Passages without a source are of no document that drafts were written about.
        if is_fit and not (passage.doc_id and is_held_out(passage.doc_id, ONE_IN)):
            yield from maker.take_verbatim(passage)


def iter_written(draft: Draft) -> Iterator[Example]:
    """Yield the sentences of a draft as they were written."""
    for supported, sentences in ((True, draft.honest), (False, draft.false)):
        for sentence in sentences:
            yield Example(sentence, with_title(draft.passage), supported=supported)


@dataclass(frozen=True)
class Maker:
    """Makes examples of drafts and passages, with the help of a pool of honest sentences."""

    pool: Sequence[str]
    sample: random.Random

    def change_passages(self, draft: Draft) -> Iterator[Example]:
        """Yield honest sentences with the passage changed where it says the same."""
        text = draft.passage.text
        spans = _find_sentences(text)
        for honest in draft.honest if spans else ():
            said = words(honest)
            start, end = max(spans, key=lambda span: _overlap(said, words(text[slice(*span)])))
            original = on_one_line(text[start:end])
            changed = [
                each
                for kind, each in self._corrupt(original, text, (), MAX_TRIED)
                if kind not in ADDED and (kind not in REPLACED or _matters(original, each, said))
            ]
            for each in changed[:MAX_PASSAGES]:
                passage = _change(draft.passage, (start, end), each)
                yield Example(honest, passage, supported=False, weight=CHANGED_PASSAGE)

    def change_sentences(self, draft: Draft) -> Iterator[Example]:
        """Yield honest sentences that were changed."""
        passage = with_title(draft.passage)
        for honest in draft.honest:
            same = [each for each in draft.honest if each != honest]
            for kind, changed in self._corrupt(honest, draft.passage.text, same, MAX_CHANGED):
                if kind != "overclaim":  # too often true of a paraphrase
                    yield Example(changed, passage, supported=False, weight=CHANGED)

    def join(self, draft: Draft) -> Iterator[Example]:
        """Yield two honest sentences in one, or an honest one with a false one."""
        passage = with_title(draft.passage)
        if self.sample.random() < 0.5:
            if len(draft.honest) > 1:
                first, second = self.sample.sample(draft.honest, 2)
                if self.sample.random() < 0.5:
                    second = second[:1].lower() + second[1:]
                joint = self.sample.choice(("; ", ", and ", ". "))
                joined = f"{first.rstrip('.')}{joint}{second}"
                yield Example(joined, passage, supported=True, weight=JOINED)
        elif draft.honest and draft.false:
            both = [self.sample.choice(draft.honest), self.sample.choice(draft.false)]
            self.sample.shuffle(both)
            joined = f"{both[0].rstrip('.')}. {both[1]}"
            yield Example(joined, passage, supported=False, weight=JOINED)

    def take_foreign(self, draft: Draft) -> Iterator[Example]:
        """Yield an honest sentence about another passage."""
        other = self.sample.choice(self.pool)
        if other not in draft.honest:
            yield Example(other, with_title(draft.passage), supported=False, weight=FOREIGN)

    def take_verbatim(self, passage: Chunk) -> Iterator[Example]:
        """Yield sentences of a passage, changed or not, with the passage changed or not."""
        text = passage.text
        spans = [span for span in _find_sentences(text) if text.count("|", *span) <= MAX_CELLS]
        sentences = [on_one_line(text[start:end]) for start, end in spans]
        for place in self.sample.sample(range(len(spans)), min(2, len(spans))):
            original = sentences[place]
            for kind, changed in self._corrupt(original, text, sentences, 1):
                before, after = with_title(passage), _change(passage, spans[place], changed)
                yield Example(original, before, supported=True, weight=VERBATIM)
                yield Example(changed, before, supported=False, weight=VERBATIM)
                yield Example(changed, after, supported=True, weight=VERBATIM)
                if kind not in ADDED:
                    yield Example(original, after, supported=False, weight=VERBATIM)

    def _corrupt(
        self, sentence: str, passage: str, same: Sequence[str], count: int
    ) -> list[tuple[str, str]]:
        others = self.sample.sample(self.pool, min(OTHERS, len(self.pool)))
        return corrupt(Given(sentence, passage, others, same, self.sample), count)


def _find_sentences(text: str) -> list[Span]:
    """Return where the sentences of a passage are, except very short and very long ones."""
    return [
        (start, end)
        for start, end in sentence_spans(text)
        if MIN_WORDS <= len(text[start:end].split()) <= MAX_WORDS
    ]


def _overlap(said: set[str], stated: set[str]) -> float:
    """Return how much of a sentence is common; the constant keeps short ones from winning."""
    return len(said & stated) / (8 + len(stated))


def _matters(original: str, changed: str, said: set[str]) -> bool:
    """Return whether a paraphrase has a word that the change took away."""
    gone = words(original) - words(changed)
    return not gone or bool(gone & said)


def _change(passage: Chunk, span: Span, changed: str) -> str:
    """Return the passage with another sentence in this place."""
    start, end = span
    return with_title(replace(passage, text=passage.text[:start] + changed + passage.text[end:]))


def to_pairs(examples: Sequence[Example]) -> list[Group]:
    """Return the examples as token ids."""
    rows = ((each.sentence, [each.passage], [float(each.supported)]) for each in examples)
    groups = to_groups(rows, MAX_ENTAILING_TOKENS)
    return [
        replace(group, weight=each.weight) for each, group in zip(examples, groups, strict=True)
    ]


def draw(groups: Sequence[Group], sample: random.Random) -> list[Group]:
    """Return the groups of an epoch: what was written, and a share of what was made of it."""
    return [group for group in groups if group.weight == WRITTEN or sample.random() < SHARE]


def judge(student: Student, groups: Sequence[Group]) -> torch.Tensor:
    """Return the loss of examples: their scores as the odds that they are supported."""
    scores = torch.cat(score(student, groups, SUPPORTS))
    supported = torch.tensor([group.scores[0] for group in groups], device=DEVICE)
    weights = torch.tensor([group.weight for group in groups], device=DEVICE)
    return (
        torch.nn.functional.binary_cross_entropy_with_logits(
            scores, supported, weights, reduction="sum"
        )
        / weights.sum()
    )


def report(student: Student, groups: Sequence[Group]) -> str:
    """Return how well the student tells what was written honestly from what was not."""
    honest, false = [], []
    for group, (found,) in zip(groups, predict(student, groups, SUPPORTS), strict=True):
        (honest if group.scores[0] else false).append(found)
    below = np.mean(np.array(false) < np.quantile(honest, 1 - HONEST))
    return (
        f"drafts: AUROC {auroc(honest, false):.3f} of {len(honest)} honest and {len(false)} false "
        f"ones; {below:.1%} of the false ones are below {HONEST:.0%} of the honest ones"
    )
