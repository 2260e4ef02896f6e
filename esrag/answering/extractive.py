"""The extractive generator: the answer is made of the documents' own sentences, so there is nothing to invent.

A sentence is scored by its meaning (cosine with the question) and by its words (share of the question's words it
holds, rare ones counting more); the best is taken, then others that come near it, and all are put in reading order.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from esrag.answering import REFUSAL, Draft, GenerationTask
from esrag.answering.candidates import Candidate, candidates
from esrag.terms import terms
from esrag.text import sentence_spans

MEANING, WORDS = 0.6, 0.4
NEAR = 0.85  # a further sentence must score this share of the best one's
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
    """Each candidate's fit, 0..1, shape (len(found),); words alone where there is no encoder."""
    words = _coverage(task.question, [candidate.text for candidate in found])
    if task.encode is None:
        return words
    vectors = task.encode([task.question, *(candidate.text for candidate in found)])
    meaning = np.clip(vectors[1:] @ vectors[0], 0, 1).astype(np.float64)
    scores: Scores = np.round(MEANING * meaning + WORDS * words, 6)
    return scores


def _coverage(question: str, texts: Sequence[str]) -> Scores:
    """The share of the question's words that each text holds, a word weighing log(1 + n / (1 + texts with it))."""
    asked = list(dict.fromkeys(terms(question)))
    held = [set(terms(text)) for text in texts]
    uses = Counter(term for one in held for term in one)
    weights = np.array([math.log(1 + len(texts) / (1 + uses[term])) for term in asked])
    has = np.array([[term in one for term in asked] for one in held], dtype=np.float64).reshape(len(texts), len(asked))
    coverage: Scores = np.round(has @ weights / max(weights.sum(), 1e-9), 6)
    return coverage


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
