"""Verify: a draft and its evidence → the answer with checked citations, or the refusal with its reason. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from esrag.answering import REASONS, REFUSAL, Reason
from esrag.records import Answer, Chunk, Citation, Evidence
from esrag.terms import terms
from esrag.text import sentence_spans

MIN_SUPPORT = 0.6  # share of a sentence's words that its passages must hold; a paraphrase keeps most of its nouns

_MARKERS = re.compile(r"((?:\s*\[c\d+\])+)\s*([.!?…]?)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WEAK_REFUSAL = re.compile(
    r"(?:i\s+)?(?:could\s*n.t|could\s+not|can\s*not|can.t|did\s+not|was\s+unable\s+to)\s+(?:find|locate|answer)\b"
    r"|\bnot\s+found\s+in\s+(?:the\s+)?provided\s+doc"
    r"|\bno\s+(?:relevant\s+)?information\b.*\b(?:found|provided|available)\b"
    r"|\b(?:documents?|context|evidence)\s+(?:do(?:es)?\s+not|do(?:es)?n.t)\s+(?:contain|mention|provide|say)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a draft and the keys that follow it."""

    text: str
    keys: tuple[str, ...]


class Violation(Exception):  # noqa: N818 -- never leaves this module; it carries a reason, not an error
    """The draft breaks the contract; `note` says where."""

    def __init__(self, reason: Reason, note: str) -> None:
        super().__init__(note)
        self.reason = reason
        self.note = note


def verify(draft: str, evidence: Sequence[Evidence]) -> Answer:
    """The draft as an answer whose every sentence is cited and supported, else the refusal."""
    given = {item.key: item for item in evidence}
    try:
        claims = tuple(_claims(draft))
        supports = [_support(claim, given) for claim in claims]
    except Violation as violation:
        return refusal(violation.reason, violation.note)
    text = " ".join(f"{claim.text} {''.join(f'[{key}]' for key in claim.keys)}" for claim in claims)
    return Answer(text, refused=False, citations=_citations(claims, supports, given))


def refusal(reason: Reason, *notes: str) -> Answer:
    """The refusal: the fixed text, no citation, the reason."""
    return Answer(REFUSAL, refused=True, reason=reason, notes=notes or (REASONS[reason],))


def is_refusal(text: str) -> bool:
    """Whether a draft says that it has no answer, in the fixed words or in weaker ones, and cites nothing.

    >>> is_refusal("I could not find this in the documents."), is_refusal("It could not find a route. [c1]")
    (True, False)
    """
    return not _MARKERS.search(text) and bool(_WEAK_REFUSAL.search(text))


def _claims(draft: str) -> Iterator[Claim]:
    """Sentences with their keys, in order. Raises: Violation."""
    text = draft.strip()
    if not text or is_refusal(text):
        raise Violation("model-refused", REASONS["model-refused"])
    position = 0
    for match in _MARKERS.finditer(text):
        yield _claim(text[position : match.start()] + match[2], match[1])
        position = match.end()
    if rest := text[position:].strip():
        raise Violation("contract", f"a sentence has no citation: {rest[:80]!r}")


def _claim(text: str, markers: str) -> Claim:
    sentence = text.strip()
    spans = sentence_spans(sentence)
    if not spans:
        raise Violation("contract", f"a citation stands without a sentence: {markers.strip()}")
    if len(spans) > 1:
        raise Violation("contract", f"a sentence has no citation: {sentence[slice(*spans[0])][:80]!r}")
    keys = tuple(dict.fromkeys(re.findall(r"c\d+", markers)))
    return Claim(sentence, tuple(sorted(keys, key=_number)))


def _support(claim: Claim, given: Mapping[str, Evidence]) -> float:
    """The share of the sentence's words that its passages hold. Raises: Violation for too few, or a missing number."""
    for key in claim.keys:
        _require_citable(key, given)
    passages = [_readable(given[key].chunk) for key in claim.keys]
    numbers = {number for passage in passages for number in _NUMBER.findall(passage)}
    for number in _NUMBER.findall(claim.text):
        if number not in numbers:
            raise Violation("unsupported", f"the number {number} is not in {', '.join(claim.keys)}")
    said = set(terms(claim.text))
    held = {term for passage in passages for term in terms(passage)}
    support = len(said & held) / len(said) if said else 1.0
    if support < MIN_SUPPORT:
        raise Violation("unsupported", f"only {support:.0%} of the words are in {', '.join(claim.keys)}")
    return round(support, 4)


def _require_citable(key: str, given: Mapping[str, Evidence]) -> None:
    """That the key was given, and that its passage is somewhere; without pages all is page 1. Raises: Violation."""
    if key not in given:
        raise Violation("contract", f"cites {key}, which was not given")
    chunk = given[key].chunk
    if not 0 < chunk.start_page <= chunk.end_page:
        raise Violation("contract", f"cites {key}, which is on pages {chunk.start_page} to {chunk.end_page}")


def _citations(
    claims: Sequence[Claim], supports: Sequence[float], given: Mapping[str, Evidence]
) -> tuple[Citation, ...]:
    """One citation a key, in numerical order: the best quote for the first sentence that uses it, its least support."""
    keys = sorted({key for claim in claims for key in claim.keys}, key=_number)
    return tuple(_citation(given[key], claims, supports) for key in keys)


def _citation(item: Evidence, claims: Sequence[Claim], supports: Sequence[float]) -> Citation:
    using = [n for n, claim in enumerate(claims) if item.key in claim.keys]
    chunk = item.chunk
    return Citation(
        key=item.key,
        doc_id=chunk.doc_id,
        start_page=chunk.start_page,
        end_page=chunk.end_page,
        chunk_id=chunk.chunk_id,
        quote=_quote(claims[using[0]].text, chunk.text),
        support=min(supports[n] for n in using),
    )


def _quote(claim: str, text: str) -> str:
    """The sentence of the passage that shares most words with the claim, as it stands there; the first of equals."""
    said = set(terms(claim))
    sentences = [text[start:end] for start, end in sentence_spans(text)] or [text]
    return max(sentences, key=lambda sentence: _overlap(said, set(terms(sentence))))


def _overlap(left: set[str], right: set[str]) -> float:
    """Dice's coefficient: 2·|both| / (|left| + |right|)."""
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def _readable(chunk: Chunk) -> str:
    return f"{chunk.title}\n{chunk.section}\n{chunk.text}"


def _number(key: str) -> int:
    return int(key[1:])
