"""The tokens of keyword search: stemmed words, and technical compounds whole and in parts.

Tokenizing in Python lets every engine search the same tokens.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import chain, islice

import Stemmer

# Characters; longer ones are encoded data, which users do not type; a hexadecimal SHA-256 fits.
MAX_TERM = 64

# The part of a question that is searched. A longer one is a pasted text, whose first 256 distinct
# terms give its topic.
MAX_QUESTION = 10_000  # characters
MAX_TERMS = 256

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

# Lucene's English stop words, and question words: in a technical text "who" or "does" is so rare
# that it would outweigh the topic of the question.
STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then
    there these they this to was will with am been can could did do does from had has have how i its
    me my shall should than them us we were what when where which who whom whose why would you
    your""".split()  # noqa: SIM905 -- ninety words, one a line otherwise
)

_PLAIN = {"’": "'", "ʼ": "'", "‐": "-", "‑": "-", "\xad": ""}
_BIGRAM_SCRIPTS = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_BIGRAM_SCRIPTS += (
    "\uff66-\uff9f\U00020000-\U0003134f"  # Han, kana and Hangul, as Lucene's CJK filter
)
_SCRIPT_RUNS = re.compile(f"([{_BIGRAM_SCRIPTS}]+)")
# Where living scripts have combining marks; scanning all of Unicode takes 0.1 s per start.
_MARK_BLOCKS = (
    (0x300, 0x370),
    (0x483, 0x1E00),
    (0x20D0, 0x2100),
    (0x2CEF, 0x3100),
    (0xA66F, 0xAC00),
    (0xFB1E, 0xFE30),
)
_CONNECTORS = re.compile(r"[-._/:@&+#,]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_CASE_CHANGE = re.compile("(?<=[a-z])(?=[A-Z])")
_POSSESSIVE = re.compile("'[sS]$")
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w-]|[.,]\d)")
MAX_TOKEN = 64  # characters
MAX_KEPT = 2_000  # characters of a text whose terms are kept: a whole document would fill memory
_PLURAL = re.compile("(?<=[A-Z0-9])s$")  # of an abbreviation
_JOINTS = str.maketrans("", "", "-.'")
# Letters and digits of formulas, because users do not type 𝑘 or ℎ. Other signs stay.
_FORMULA = re.compile("[\u2102-\u2149\U0001d400-\U0001d7ff]")


def terms(text: str) -> list[str]:
    """Return the tokens of a text in order: lowercase, stemmed, without English stop words.

    The stemmer is Snowball English. A compound is kept whole and unstemmed, followed by its parts.
    Diacritics are kept, as in Lucene's English analysis.

    >>> terms("The encapsulation keys of ML-KEM-768")
    ['encapsul', 'key', 'ml-kem-768', 'ml', 'kem', '768']
    >>> terms("ML-KEM.KeyGen, C++ and 1,184")
    ['ml-kem.keygen', 'ml', 'kem', 'keygen', 'key', 'gen', 'c++', 'c', '1184', '1', '184']
    """
    return [*(_keep_terms(text) if len(text) <= MAX_KEPT else _find_terms(text))]


@lru_cache(maxsize=4096)  # an answer asks three times for those of the same text
def _keep_terms(text: str) -> tuple[str, ...]:
    return tuple(_find_terms(text))


def _find_terms(text: str) -> Iterator[str]:
    return chain.from_iterable(map(_terms_of, _pieces(text)))


def question_terms(question: str) -> list[str]:
    """Return the distinct search terms of a question, in order of appearance."""
    return list(dict.fromkeys(terms(question[:MAX_QUESTION])))[:MAX_TERMS]


def find_years(text: str) -> set[str]:
    """Return the years from 1900 to 2099 that a text names.

    >>> sorted(find_years("From May 2020 to 2021, 1,984 of 2000.5"))
    ['2020', '2021']
    """
    return set(_YEAR.findall(text))


def is_year(text: str) -> bool:
    """Return whether a text is a year from 1900 to 2099 and nothing else.

    >>> [is_year(text) for text in ("2020", "2020.5", "1811")]
    [True, False, False]
    """
    return bool(_YEAR.fullmatch(text))


def gives_other_years(asked: AbstractSet[str], text: str) -> bool:
    """Return whether a text names years, but none of those that are asked for.

    >>> [gives_other_years({"2020"}, text) for text in ("in 2021", "2020 and 2021", "in May")]
    [True, False, False]
    """
    given = find_years(text) if asked else set()
    return bool(given) and asked.isdisjoint(given)


def join_token(sign: str, words: Sequence[str]) -> str:
    """Return the token of a name for the keyword leg, which no text can contain; "" without words.

    The sign is its first character: those of texts begin with a letter or a digit.

    >>> join_token("≝", ["reli", "parti"]), join_token("≝", [])
    ('≝reliparti', '')
    """
    return f"{sign}{''.join(words)}"[:MAX_TOKEN] if words else ""


def whole_words(text: str) -> list[str]:
    """Return the stems of a text's words in order, without stop words, each compound as one word.

    It is written without its hyphens, because people do: H1B, H-1B and H-1Bs are one word.

    >>> whole_words("How many H-1Bs were issued, and is the H1B fee $2,805?")
    ['mani', 'h1b', 'issu', 'h1b', 'fee', '2805']
    """
    return [word for piece in _pieces(text) for word in _whole_words_of(piece)]


def _whole_words_of(piece: str) -> Iterator[str]:
    number = piece.replace(",", "")
    if _NUMBER.fullmatch(number):
        yield number[:MAX_TERM]
        return
    for part in re.split(r"[/:@&+#_]+", number):
        closed = _PLURAL.sub("", _trim(part)).translate(_JOINTS).lower()
        if closed and closed not in STOP_WORDS:
            yield _stem(closed)[:MAX_TERM]


def compounds(text: str) -> set[str]:
    """Return the technical words of a text as tokens, each unsplit.

    >>> compounds("What is the size of ML-KEM-768?")
    {'ml-kem-768'}
    """
    return {term for word in find_technical_words(text) for term in terms(word)[:1]}


def rarities(asked: Iterable[str], held: Sequence[Collection[str]]) -> dict[str, float]:
    """Return the weight of each term among the texts, as `weigh_terms` does."""
    return weigh_terms(asked, Counter(term for words in held for term in words), len(held))


def weigh_terms(asked: Iterable[str], uses: Mapping[str, int], texts: int) -> dict[str, float]:
    """Return the weight of each term, log(1 + texts / (1 + uses)); `uses` are the texts with it."""
    return {term: math.log(1 + texts / (1 + uses.get(term, 0))) for term in asked}


def shares(weights: Mapping[str, float], held: Sequence[Collection[str]]) -> list[float]:
    """Return the share of the total weight that each text contains, 0..1."""
    whole = sum(weights.values()) or 1.0
    return [
        math.fsum(weight for term, weight in weights.items() if term in words) / whole
        for words in held
    ]


def find_technical_words(text: str, limit: int = 32) -> tuple[str, ...]:
    """Return at most `limit` distinct identifiers and compounds of a text, as written, in order.

    >>> find_technical_words("K-PKE.Encrypt is SHAKE128 (snake_case), a well-known XOF; SHAKE128")
    ('K-PKE.Encrypt', 'SHAKE128', 'snake_case', 'XOF')
    >>> find_technical_words("3.14 rounds")
    ()
    """
    found = dict.fromkeys(map(_trim, filter(_is_technical, _pieces(text))))
    return tuple(islice(found, limit))


def _pieces(text: str) -> list[str]:
    """Return words and compounds as written, without trailing underscores."""
    if not text.isascii():
        for written, plain in _PLAIN.items():  # `translate` is many times slower
            text = text.replace(written, plain)
        text = _FORMULA.sub(_plain_letter, text)
    return _piece().findall(text)


def _plain_letter(found: re.Match[str]) -> str:
    """Return the plain letter or digit of a formula's character (Unicode's <font> mapping)."""
    letter = found[0]
    return (
        unicodedata.normalize("NFKC", letter)
        if unicodedata.decomposition(letter).startswith("<font>")
        else letter
    )


@cache
def _piece() -> re.Pattern[str]:
    """Return a pattern for runs of letters, digits and marks, joined by single connectors.

    `++` or `#` may end one (C++, F#).
    """
    codes = (code for block in _MARK_BLOCKS for code in range(*block))
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code))[0] == "M")
    inner = f"[\\w\u200c\u200d{marks}]"
    joint = r"(?:::|[-./:@&+']|(?<=\d),(?=\d))"
    return re.compile(rf"[^\W_]{inner}*(?:{joint}{inner}+)*(?:(?:\+\+|#)(?!\w))?")


@lru_cache(maxsize=1 << 16)
def _terms_of(piece: str) -> tuple[str, ...]:
    # A fast path with the same result.
    if piece.isascii() and piece.isalpha() and piece[1:].islower():
        lowered = piece.lower()
        return () if lowered in STOP_WORDS else (_stem(lowered)[:MAX_TERM],)

    whole = _trim(piece)
    parts = [part for part in _CONNECTORS.split(whole) if part]
    compound = whole.lower().replace(",", "")
    if _NUMBER.fullmatch(compound):
        return (compound[:MAX_TERM],)

    made = [compound] if compound != parts[0].lower() and len(compound) <= MAX_TERM else []
    return (*made, *(term for part in parts for term in _word_terms(part)))


def _word_terms(word: str) -> Iterator[str]:
    """Yield the terms of a word without connectors.

    These are its stem, the stems of its camelCase parts, or its bigrams.
    """
    for index, run in enumerate(_SCRIPT_RUNS.split(word)):
        if index % 2:
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        elif run:
            camel = _CASE_CHANGE.split(run)
            for part in [run, *camel] if len(camel) > 1 else [run]:
                lowered = part.lower()
                if lowered not in STOP_WORDS:
                    yield _stem(lowered)[:MAX_TERM]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    # A stemmer stores the word in itself, so threads must not share one; creating one takes a
    # microsecond.
    stemmed: str = Stemmer.Stemmer("english", 0).stemWord(word)
    return stemmed


def _trim(piece: str) -> str:
    return _POSSESSIVE.sub("", piece.rstrip("_"))


@lru_cache(maxsize=1 << 16)
def _is_technical(piece: str) -> bool:
    # Most words are not; the rest takes five times as long.
    if piece.isalpha() and piece[1:].islower():
        return False

    word = _trim(piece)
    if len(word) > MAX_TERM or not any(character.isalpha() for character in word):
        return False
    return (
        any(character.isdigit() or character in "_#" for character in word)
        or sum(character.isupper() for character in word) > 1
        or word.endswith("++")
        or bool(_CASE_CHANGE.search(word))
    )
