"""Support: how far the passages that a sentence cites say what it says."""

import re
from collections.abc import Callable, Iterable, Sequence

from esrag.answering.statements import Encode
from esrag.records import Chunk
from esrag.terms import compounds, terms
from esrag.text import sentence_spans

MIN_WORDS = 0.6  # share of a sentence's words that its passages must hold; a paraphrase keeps most of its nouns
# In other words: fewer of them will do where a sentence of the passages means the same, by the cosine of the encoder.
MIN_WORDS_BY_MEANING, MIN_MEANING = 0.3, 0.7

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LATER_WORD = re.compile(r"(?<=[\w,;:)’'\"] )[^\W\d_][\w’'-]+")  # the first one has a capital letter for its place
_QUOTATION = re.compile(r"“([^“”]{12,})”|\"([^\"]{12,})\"")  # shorter ones are terms, or words held at a distance


class Unsupported(Exception):  # noqa: N818 -- a finding, not an error
    """What the passages do not hold, in words that their keys can follow."""


def support(sentence: str, passages: Sequence[Chunk], encode: Encode | None = None) -> float:
    """How well the passages support the sentence, 0..1: the share of its words that they hold, or nearness in meaning.

    Raises: Unsupported for a number, a name, a technical word or a quotation that they do not hold, or too few words.
    """
    texts = [f"{chunk.title}\n{chunk.section}\n{chunk.text}" for chunk in passages]
    held = {term for text in texts for term in terms(text)}
    _require_particulars(sentence, texts, held)
    said = set(terms(sentence))
    share = len(said & held) / len(said) if said else 1.0
    if share >= MIN_WORDS:
        return round(share, 4)
    meaning = _meaning(sentence, passages, encode) if encode and share >= MIN_WORDS_BY_MEANING else 0.0
    if meaning < MIN_MEANING:
        raise Unsupported(f"only {share:.0%} of the words are in")
    return round(meaning, 4)


def overlap(left: set[str], right: set[str]) -> float:
    """Dice's coefficient: 2·|both| / (|left| + |right|).

    >>> overlap({"a", "b"}, {"b", "c"})
    0.5
    """
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def _require_particulars(sentence: str, texts: Sequence[str], held: set[str]) -> None:
    """Raises: Unsupported."""
    numbers = {number for text in texts for number in _NUMBER.findall(text)}
    _require("number", _NUMBER.findall(sentence), lambda number: number in numbers)
    _require("technical word", sorted(compounds(sentence)), lambda word: word in held)
    names = (word for word in _LATER_WORD.findall(sentence) if word[0].isupper())
    # An accent of a PDF, or a dot within a compound, may end a name early: it counts where it stands as it is.
    _require("name", names, lambda name: held.issuperset(terms(name)) or any(name in text for text in texts))
    flat = [" ".join(text.split()) for text in texts]
    quotations = [" ".join("".join(groups).split()) for groups in _QUOTATION.findall(sentence)]
    _require("quotation", quotations, lambda quotation: any(quotation in text for text in flat))


def _require(what: str, found: Iterable[str], is_held: Callable[[str], bool]) -> None:
    if missing := next((one for one in found if not is_held(one)), None):
        raise Unsupported(f"the {what} {missing[:80]} is not in")


def _meaning(sentence: str, passages: Sequence[Chunk], encode: Encode) -> float:
    """The best cosine of the sentence with one of the passages' own."""
    stated = [chunk.text[start:end] for chunk in passages for start, end in sentence_spans(chunk.text)]
    vectors = encode([sentence, *stated])
    return float((vectors[1:] @ vectors[0]).max(initial=0.0))
