"""Select the sentences to send to a model if the evidence is too long."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from esrag.evidence.tables import RULE
from esrag.text import sentence_spans, trim_span
from esrag.text.terms import compounds, terms

Spans = tuple[tuple[int, int], ...]

MARK_CHARACTERS = 3  # " … "

# Figures, and the numbers of articles and sections, which may also be letters.
_PARTICULAR = re.compile(
    r"\d|§|\b(?:art(?:icle|\.)|sec(?:tion|\.)|chapter|clause|part"
    r"|annex|appendix|table|figure|algorithm)\s+"
    r"(?:[a-z]|[ivxlc]+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of the passage `place`; `cost` includes the gap to the next sentence."""

    place: int
    start: int
    end: int
    cost: int
    is_needed: bool
    fit: float


def select_spans(
    texts: Sequence[str], question: str, fit: Callable[[str], float], keep_characters: int
) -> tuple[Spans, ...]:
    """Return the kept spans of each passage, in order, not overlapping; () for a dropped passage.

    `texts` are the passages, best first, and `fit` returns how well a sentence fits the question.
    The worst sentences are dropped first, later ones first on a tie. Sentences with figures,
    article or section numbers, or a technical word of the question, and each passage's best
    sentence are dropped last. Every passage keeps at least one sentence. If there is no room for
    that, whole passages are dropped, last first, but never the first. Each gap costs a mark " … ".
    """
    if sum(map(len, texts)) <= keep_characters:
        return tuple(tuple(trim_span(text, 0, len(text))) for text in texts)

    named = compounds(question)
    sentences = [
        one for place, text in enumerate(texts) for one in _sentences(place, text, named, fit)
    ]
    kept = dict(enumerate(sentences))
    too_many = sum(one.cost for one in sentences) + MARK_CHARACTERS * len(texts) - keep_characters
    for n in _leaving(sentences):
        if too_many <= 0:
            break
        too_many -= kept.pop(n).cost

    return tuple(
        _joined([(n, one) for n, one in kept.items() if one.place == place])
        for place in range(len(texts))
    )


def _sentences(
    place: int, text: str, named: set[str], fit: Callable[[str], float]
) -> Iterator[_Sentence]:
    spans = sentence_spans(text)
    said = [text[start:end] for start, end in spans]
    fits = _with_headers(said, [fit(sentence) for sentence in said])
    best = fits.index(max(fits, default=0.0)) if fits else 0
    nexts = [start for start, _ in spans[1:]] + [0]

    for n, (start, end) in enumerate(spans):
        cost = end - start + max(MARK_CHARACTERS, nexts[n] - end)
        is_needed = (
            n == best
            or "|" in said[n]
            or bool(_PARTICULAR.search(said[n]) or named & set(terms(said[n])))
        )
        yield _Sentence(
            place=place, start=start, end=end, cost=cost, is_needed=is_needed, fit=fits[n]
        )


def _with_headers(said: Sequence[str], fits: Sequence[float]) -> list[float]:
    """Return the fits; a table's header and its rule get the best fit of its rows."""
    fitted, header = list(fits), list[int]()
    for n, sentence in enumerate(said):
        if "|" not in sentence:
            header = []
        elif not header or (n == header[0] + 1 and RULE.fullmatch(sentence)):
            header = [*header, n]
        else:
            for above in header:
                fitted[above] = max(fitted[above], fits[n])
    return fitted


def _leaving(sentences: Sequence[_Sentence]) -> Iterator[int]:
    """Yield sentences in the order in which to drop them.

    First come all but one per passage, then the remaining ones.
    """
    left = Counter(one.place for one in sentences)
    last: dict[int, int] = {}

    for n in sorted(
        range(len(sentences)), key=lambda n: (sentences[n].is_needed, sentences[n].fit, -n)
    ):
        place = sentences[n].place
        left[place] -= 1
        if left[place]:
            yield n
        else:
            last[place] = n
    yield from (last[place] for place in sorted(last, reverse=True)[:-1])


def _joined(kept: Sequence[tuple[int, _Sentence]]) -> Spans:
    """Join adjacent sentences into spans."""
    spans: list[tuple[int, int]] = []
    previous = -2
    for n, one in kept:
        start = spans.pop()[0] if n == previous + 1 else one.start
        spans.append((start, one.end))
        previous = n
    return tuple(spans)
