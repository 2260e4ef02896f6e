"""Repair the spelling of a question with words of the index.

Only a word that occurs in no document is repaired, and only to a word that does. Names, numbers and
compounds stay as they are, except that `pep8` becomes `pep 8` if only its parts occur, and `H1B`
becomes `H-1B` if only that occurs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from string import ascii_lowercase

from esrag.embedding import Embedder
from esrag.engines import Engine, SearchRequest
from esrag.filters import Filter
from esrag.records import Chunk
from esrag.text.edits import is_near, max_edits
from esrag.text.terms import STOP_WORDS, terms

MIN_CHARACTERS, MAX_CHARACTERS = 5, 30  # of a word; shorter ones have too many neighbours
MAX_WORDS = 32  # of a question that are looked up
MAX_COMPOUND = 15  # characters
MAX_COMPOUNDS = 4  # words of a question that are looked up with hyphens, a hundred ways each
MAX_CANDIDATES = 10  # terms whose passages are read for the word as it is written
PASSAGES = 5
MIN_CUT = 2  # characters that the stemmer cuts off: a slip in them hides the stem

# Lower case: a name has a capital. No part of a compound, an address or an identifier.
_WORD = re.compile(r"(?<![\w.\-/:@'’])[a-z]++(?![\w\-/:@'’]|\.\w)")
_JOINED = re.compile(r"(?<![\w.\-/:@])([^\W\d_]{2,15})(\d{1,6})(?![\w\-/:@]|\.\d)")
_CLOSED = re.compile(
    r"(?<![\w.\-/:@])(?=[^\W_]*?[^\W\d_])(?=[^\W_]*?\d)[^\W_]{3,15}(?![\w\-/:@]|\.\d)"
)
_PROBES = "question", "qzxvkjwq"  # a word and none, to tell whether a tokeniser knows words

IsKnown = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Correction:
    """A word as it was typed, and what was searched for instead."""

    typed: str
    searched: str

    @property
    def note(self) -> str:
        """The correction in words."""
        return f"searched for {self.searched!r} instead of {self.typed!r}"


def repair(
    question: str, engine: Engine, embedder: Embedder | None, where: Filter | None = None
) -> tuple[str, tuple[Correction, ...]]:
    """Return the question in the spelling of the documents, and the corrections.

    If the tokeniser of the model knows words, those that it knows stay, and a word is repaired by
    one edit, or two if it has eight letters. Otherwise a slip may add, drop or swap letters once,
    because more often makes another word. Raises: IndexMissing, EngineError.
    """
    knows = _read_vocabulary(embedder)
    hyphenated = [*_iter_hyphenated([*dict.fromkeys(_CLOSED.findall(question))], engine)]
    joined = {match[0]: f"{match[1]} {match[2]}" for match in _JOINED.finditer(question)}
    for each in hyphenated:
        joined.pop(each.typed, None)
    words = [word for word in _iter_words(question) if not (knows and knows(word))]
    missing = _find_missing(words, joined, engine)

    corrections = [
        Correction(typed, searched)
        for typed in missing
        if (searched := joined.get(typed) or _find_word(typed, engine, where, free=bool(knows)))
    ]
    corrections = [*hyphenated, *corrections]
    for each in corrections:
        question = re.sub(rf"(?<!\w){re.escape(each.typed)}(?!\w)", each.searched, question)
    return question, tuple(corrections)


def _iter_words(question: str) -> Iterator[str]:
    """Yield the distinct words that may be misspelt."""
    found = dict.fromkeys(match[0] for match in _WORD.finditer(question))
    for word in [*found][:MAX_WORDS]:
        if MIN_CHARACTERS <= len(word) <= MAX_CHARACTERS and word not in STOP_WORDS:
            yield word


def _read_vocabulary(embedder: Embedder | None) -> IsKnown | None:
    """Return whether the model's tokeniser has a word as a whole; None if it knows no words."""
    if embedder is None:
        return None
    word, none = (len(embedder.tokens(probe)) for probe in _PROBES)
    if word != 1 or none == 1:
        return None
    return lambda text: len(embedder.tokens(text)) == 1


def _find_missing(words: Sequence[str], joined: Mapping[str, str], engine: Engine) -> list[str]:
    """Return the words, and the joined ones with both parts, that occur in no document."""
    if not (words or joined):
        return []

    asked = [*words, *joined, *joined.values()]
    counts = engine.count_terms([term for text in asked for term in terms(text)])

    def occurs(text: str) -> bool:
        return all(counts.get(term) for term in terms(text))

    return [word for word in words if not occurs(word)] + [
        typed for typed, parts in joined.items() if occurs(parts) and not occurs(typed)
    ]


def _iter_hyphenated(words: Sequence[str], engine: Engine) -> Iterator[Correction]:
    """Yield the compounds of the documents for words that occur only with hyphens in them."""
    compounds = {typed: [*_iter_compounds(typed.lower())] for typed in words[:MAX_COMPOUNDS]}
    asked = [term for typed, found in compounds.items() for term in (typed.lower(), *found)]
    counts = engine.count_terms(asked) if asked else {}

    for typed, found in compounds.items():
        known = [term for term in found if term in counts]
        if known and typed.lower() not in counts:
            best = min(known, key=lambda term: (-counts[term], term))
            yield Correction(typed, _hyphenate(typed, best))


def _iter_compounds(word: str) -> Iterator[str]:
    """Yield a word with one hyphen or two in it; nothing for a long word, which has many.

    >>> [*_iter_compounds("h1b")]
    ['h-1b', 'h1-b', 'h-1-b']
    """
    for count in (1, 2) if len(word) <= MAX_COMPOUND else ():
        for places in combinations(range(1, len(word)), count):
            parts = (word[start:end] for start, end in pairwise((0, *places, len(word))))
            yield "-".join(parts)


def _hyphenate(typed: str, compound: str) -> str:
    """Return a word with the hyphens of a compound, in its own case if that has as many letters.

    >>> _hyphenate("H1B", "h-1b"), _hyphenate("İ1B", "i̇-1b") == "i̇-1b"
    ('H-1B', True)
    """
    letters = iter(typed if len(typed) == len(typed.lower()) else typed.lower())
    return "".join(sign if sign == "-" else next(letters) for sign in compound)


def _find_word(typed: str, engine: Engine, where: Filter | None, *, free: bool) -> str:
    """Return the word of the documents that was probably meant, "" without one.

    The nearest one counts, then the most frequent one, then the first of the alphabet.
    """
    stem, *_ = terms(typed)
    stems = {cut for each in _edit(typed) for cut in terms(each) if len(each) - len(cut) >= MIN_CUT}
    counts = engine.count_terms([*stems], like=[stem])
    likely = sorted(counts, key=lambda term: (-counts[term], term))[:MAX_CANDIDATES]

    found: Counter[str] = Counter()
    for term in likely:
        for word in _read_words(term, engine, where):
            if _may_be_meant(typed, word, free=free):
                found[word] = max(found[word], counts[term])
    return min(
        found,
        key=lambda word: (not is_near(typed, word, 1), -found[word], word),
        default="",
    )


def _may_be_meant(typed: str, word: str, *, free: bool) -> bool:
    """Return whether a slip makes one word the other; not one that often makes another word."""
    is_slip = free or len(typed) != len(word) or sorted(typed) == sorted(word)
    return is_slip and is_near(typed, word, max_edits(typed) if free else 1)


def _edit(word: str) -> set[str]:
    """Return the words at one edit from a word, its first letter unchanged."""
    word = word[:MAX_CHARACTERS]
    places = [(word[:n], word[n:]) for n in range(1, len(word) + 1)]
    dropped = {left + right[1:] for left, right in places if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in places if right[1:]}
    replaced = {
        left + letter + right[1:] for left, right in places if right for letter in ascii_lowercase
    }
    added = {left + letter + right for left, right in places for letter in ascii_lowercase}
    return (dropped | swapped | replaced | added) - {word}


def _read_words(term: str, engine: Engine, where: Filter | None) -> set[str]:
    """Return the words in lower case with this term, as passages that pass the filter have them."""
    found = engine.search(
        SearchRequest(term, method="keyword", filter=where, size=PASSAGES, candidates=PASSAGES)
    )
    return {
        word for hit in found.hits for word in _words_of(hit.chunk) if terms(word)[:1] == [term]
    }


def _words_of(chunk: Chunk) -> set[str]:
    return set(_WORD.findall(chunk.whole_text))
