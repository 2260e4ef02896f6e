"""The extractive generator: the answer is made of the documents' own sentences, so there is nothing to invent.

Every sentence of the evidence gets a score; the best is taken, then others that come near it, and all are put in
reading order. The score adds up what the weights below name. They were chosen by hand near the best of a grid over
one half of 565 questions of QED, CLAPNQ and SQuAD 2.0 (how often the best sentence is the gold one);
benchmarks/answers.py measures them on the other half and does not fit them.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from esrag.answering import REFUSAL, Draft, GenerationTask
from esrag.answering.candidates import Candidate, candidates
from esrag.terms import compounds, rarities, shares, terms
from esrag.text import sentence_spans

MEANING = 0.55  # cosine with the question
WORDS = 0.20  # share of the question's words in the sentence, rare ones counting more
PASSAGE = 0.15  # the same in the passage around it
PLACE = 0.05  # 1 / rank of the passage
LENGTH = 0.05  # a sentence of a dozen words says more than a fragment

FULL_LENGTH_WORDS = 12
TECHNICAL = 3.0  # a compound such as ML-KEM-768 names what is asked for: its neighbour in the table is wrong
NEAR = 0.9  # a further sentence must score this share of the best one's
ALIKE = 0.8  # sentences that share more of their words than this say the same

Scores = npt.NDArray[np.float64]


class ExtractiveGenerator:
    """Quotes the sentences that fit the question best; needs no model, and uses the encoder where there is one."""

    model = "extractive"

    def generate(self, task: GenerationTask) -> Draft:
        """Up to `max_sentences` sentences, each with its marker; `relevance` is the best one's score."""
        found = candidates(task.evidence)
        if not found:
            return Draft(REFUSAL, 0.0)
        scores = _scores(task, found)
        chosen = _choose(found, scores, task.max_sentences)
        return Draft(" ".join(_cited(candidate) for candidate in chosen), round(float(scores.max()), 6))


def _scores(task: GenerationTask, found: Sequence[Candidate]) -> Scores:
    """Each candidate's fit, 0..1, shape (len(found),); without an encoder the other parts are stretched over it."""
    rank = {item.key: n for n, item in enumerate(task.evidence)}
    place = [rank[candidate.key] for candidate in found]
    texts = [candidate.text for candidate in found]
    held = [set(terms(text)) for text in texts]
    passages = [set(terms(f"{e.chunk.title}\n{e.chunk.section}\n{e.chunk.text}")) for e in task.evidence]
    asked = _weights(task.question, held)
    lengths = np.minimum([len(words) for words in held], FULL_LENGTH_WORDS) / FULL_LENGTH_WORDS
    scores: Scores = WORDS * _coverage(asked, held) + PASSAGE * _coverage(asked, passages)[place]
    scores += PLACE / (1 + np.array(place)) + LENGTH * lengths
    if task.encode is None:
        scores /= 1 - MEANING
    else:
        vectors = task.encode([task.question, *texts])
        scores += MEANING * np.clip(vectors[1:] @ vectors[0], 0, 1)
    return scores.round(6)


def _weights(question: str, held: Sequence[set[str]]) -> dict[str, float]:
    """What each word of the question counts: log(1 + n / (1 + sentences with it)), technical compounds more."""
    named = compounds(question)
    weights = rarities(dict.fromkeys(terms(question)), held)
    return {term: weight * (TECHNICAL if term in named else 1) for term, weight in weights.items()}


def _coverage(asked: dict[str, float], held: Sequence[set[str]]) -> Scores:
    """The share of the question's weight that each set of words holds, shape (len(held),)."""
    return np.array(shares(asked, held))


def _choose(found: Sequence[Candidate], scores: Scores, max_sentences: int) -> list[Candidate]:
    """The best candidate and those near it that say something else, in reading order; ties go to the earlier one."""
    ranked = sorted(range(len(found)), key=lambda n: (-scores[n], n))
    chosen: list[Candidate] = []
    for n in ranked:
        if len(chosen) == max_sentences or scores[n] < NEAR * scores[ranked[0]]:
            break
        if all(_alike(found[n], other) < ALIKE for other in chosen):
            chosen.append(found[n])
    return sorted(chosen, key=lambda candidate: candidate.order)


def _alike(left: Candidate, right: Candidate) -> float:
    """The share of the shorter one's words that the other one has too."""
    a, b = set(terms(left.text)), set(terms(right.text))
    return len(a & b) / max(min(len(a), len(b)), 1)


def _cited(candidate: Candidate) -> str:
    """The text with its marker after each sentence that a reader would see in it."""
    spans = sentence_spans(candidate.text)
    return " ".join(f"{candidate.text[start:end]} [{candidate.key}]" for start, end in spans)
