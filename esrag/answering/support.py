"""Support: how far the passages that a sentence cites say what it says."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from esrag.answering.statements import Encode, stated, unmarked
from esrag.records import Chunk
from esrag.terms import STOP_WORDS, compounds, technical_words, terms
from esrag.text import sentence_spans

MIN_WORDS = 0.6  # share of a sentence's words that its passages must hold; a paraphrase keeps most of its nouns
# In other words: fewer of them will do where a sentence of the passages means the same, by the cosine of the encoder.
MIN_WORDS_BY_MEANING, MIN_MEANING = 0.3, 0.7
SAME = 0.8  # Dice's coefficient from which one sentence says what another does, but for a "not"

_FIGURE = r"\d+(?:[.,]\d+)*"
_NUMBER = re.compile(rf"(?:(?<![\w)\].,])[-−])?{_FIGURE}")
_UNIT = (
    r"(?:[kmgt]?bit|[kmgt]?byte|second|minute|hour|day|week|month|year|(?:kilo|centi|milli)?met(?:re|er)|mile|foot|feet"
    r"|(?:kilo|milli)?gram|pound|(?:milli)?lit(?:re|er)|(?:kilo)?watt|volt|percent|thousand|million|billion|trillion"
    r"|dollar|euro)s?"
)
_MEASURE = re.compile(rf"({_FIGURE})[\s-]+({_UNIT})\b", re.IGNORECASE)
_ONE_OR_TWO = re.compile(rf"\b(one|two)[\s-]+{_UNIT}\b", re.IGNORECASE)  # else they count nothing: "one of them"
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹⁻])")
_WORD = re.compile(r"(?<!\w)[^\W\d_][\w’'-]*")
_ENDED = re.compile(r"[.!?]\s+\Z|\A\W*\Z")  # what stands before the first word of a sentence
QUOTATION = re.compile(r"“([^“”]{12,})”|(?<!\w)\"(?=\S)([^\"]{12,})\"")  # shorter ones are terms
_NOT = re.compile(r"\b(?:not|no|never|none|nor|neither|without|cannot)\b|\b\w+n['’]t\b", re.IGNORECASE)
_EITHER_WAY = re.compile(
    r"\b(?:and|or|nor|with|between|vs|versus|plus|times|equals?|differs?|same|alike|similar|equivalent|identical|meets?"
    r"|borders?|marri\w+)\b|[,;=/+×]",
    re.IGNORECASE,
)
_COMPOUND = re.compile(r"\w(?:[\w.'’&+#/-]*\w)?")
_STANDS_FOR = re.compile(r"(?:it|they|this|that|these|those|he|she|both)\b", re.IGNORECASE)
_ARTICLES = frozenset(("a", "an", "the"))
_SPELLED = {
    word: str(number)
    for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1)
} | {"eleven": "11", "twelve": "12", "twenty": "20", "hundred": "100", "thousand": "1000", "million": "1000000"}


class Unsupported(Exception):  # noqa: N818 -- a finding, not an error
    """What the passages do not hold, in words that their keys can follow."""


def support(
    sentence: str, passages: Sequence[Chunk], encode: Encode | None = None, around: Sequence[str] = ()
) -> float:
    """How well the passages support the sentence, 0..1: the share of its words that they hold, or nearness in meaning.

    The word that the sentence begins with is taken for a name where it is one in the texts `around` it.

    Raises: Unsupported for a number, a name, a technical word or a quotation that they do not hold, a number that they
    give to something else, two names in each other's place, a "not" too many or too few, or too few words.
    """
    sentence = _flat(sentence)
    texts = [_flat(f"{chunk.title}\n{chunk.section}\n{chunk.text}") for chunk in passages]
    if _stands(sentence, texts):
        return 1.0  # to the letter
    said, held = set(terms(sentence)), {term for text in texts for term in terms(text)}
    if not said:
        raise Unsupported("no word of it is in")
    _require_particulars(sentence, texts, held, around)
    statements = [_flat(text) for chunk in passages for text, _ in stated(chunk.text)]
    _require_same_sense(sentence, statements)
    _require_same_roles(sentence, statements)
    share = len(said & held) / len(said)
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


def _flat(text: str) -> str:
    """On one line, with digits that are one (NFKC), 2⁸ as 2^8, and without markers of a document's own."""
    return unmarked(" ".join(unicodedata.normalize("NFKC", _RAISED.sub("^", text)).split()))


def _require_particulars(sentence: str, texts: Sequence[str], held: set[str], around: Sequence[str]) -> None:
    """Raises: Unsupported."""
    numbers = {form for text in texts for number in _numbers(text) for form in (number, number.lstrip("-"))}
    _require("number", _numbers(sentence), numbers.__contains__)
    spelled = [word for word in sentence.lower().split() if word in _SPELLED and word not in {"one", "two"}]
    spelled += [word.lower() for word in _ONE_OR_TWO.findall(sentence)]
    _require("number", spelled, lambda word: not held.isdisjoint(terms(word)) or _SPELLED[word] in numbers)
    measured = {measure for text in texts for measure in _measures(text)}
    counted = {measure.split()[0] for measure in measured}
    _require("number", _measures(sentence), lambda it: it in measured or it.split()[0] not in counted)
    words = technical_words(sentence, len(sentence))
    _require("technical word", words, lambda word: held.issuperset(compounds(word)) or _stands(word, texts))
    # An accent of a PDF, or a dot within a compound, may end a name early: it counts where it stands as it is.
    _require("name", _names(sentence, around), lambda name: held.issuperset(terms(name)) or _stands(name, texts))
    quotations = ("".join(groups).strip(" .,;:!?") for groups in QUOTATION.findall(sentence))
    _require("quotation", quotations, lambda quotation: any(quotation in text for text in texts))


def _require(what: str, found: Iterable[str], is_held: Callable[[str], bool]) -> None:
    if missing := next((one for one in found if not is_held(one)), None):
        raise Unsupported(f"the {what} {missing[:80]} is not in")


def _stands(word: str, texts: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for text in texts)


def _numbers(text: str) -> list[str]:
    """The numbers that stand alone: the 768 of ML-KEM-768 is part of a name.

    >>> _numbers("ML-KEM-768 has 1,184 bytes.")
    ['1,184']
    """
    for word in technical_words(text, len(text)):
        text = text.replace(word, " ")
    return [number.replace("−", "-") for number in _NUMBER.findall(text)]


def _measures(text: str) -> list[str]:
    """Numbers with the unit behind them, which is spelled in one way.

    >>> _measures("1.7 litres, 1.7 Liters and a 128-bit key in 3 days")
    ['1.7 liter', '1.7 liter', '128 bit', '3 day']
    """
    found = ((number, unit.lower().removesuffix("s")) for number, unit in _MEASURE.findall(text))
    return [f"{number} {unit[:-2]}er" if unit.endswith("tre") else f"{number} {unit}" for number, unit in found]


def _names(sentence: str, around: Sequence[str] = ()) -> list[str]:
    """Words with a capital letter, but for I and A, and for one that begins the sentence and is no name around it.

    >>> _names("The lamp of Davy (Humphry) is an LED. Tests by Newton"), _names("Davy lit it", ["as Davy did"])
    (['Davy', 'Humphry', 'LED', 'Newton'], ['Davy'])
    """
    found = ((word[0], word.start()) for word in _WORD.finditer(sentence))
    return [
        word
        for word, start in found
        if word[0].isupper()
        and word not in {"I", "A"}
        and (not _ENDED.search(sentence[:start]) or _is_name(word, around))
    ]


def _is_name(word: str, texts: Sequence[str]) -> bool:
    """Whether a word has its capital letter within a sentence, and stands nowhere with a small one."""
    if word.lower() in STOP_WORDS:
        return False
    # Behind a word with a small letter: a line of title case proves nothing.
    within = rf"(?<!\w)[^\W\d_A-Z][\w'’-]*[,;)]?\s+{re.escape(word)}(?!\w)"
    small = rf"(?<!\w){re.escape(word.lower())}(?!\w)"
    return any(re.search(within, text) for text in texts) and not any(re.search(small, text) for text in texts)


def _require_same_sense(sentence: str, statements: Sequence[str]) -> None:
    """Raises: Unsupported where a number stands with something else, or a "not" was put in or left out."""
    held = [(statement, _said(statement)) for statement in statements]
    _require_same_numbers(sentence, held)
    said = _said(sentence)
    near = [(statement, overlap(said, words)) for statement, words in held]
    negated, plain = ([each for each in near if bool(_NOT.search(each[0])) == is_not] for is_not in (True, False))
    alike, other = (negated, plain) if _NOT.search(sentence) else (plain, negated)
    best = max((score for _, score in other), default=0.0)
    if best >= SAME and best > max((score for _, score in alike), default=0.0):
        raise Unsupported('but for a "not" it is in')


def _require_same_numbers(sentence: str, held: Sequence[tuple[str, set[str]]]) -> None:
    """Raises: Unsupported where statements with a number are of another thing, or one without says all the rest of it.

    That one has to have a number in its place; "it" of the statements with the number may stand for anything.
    """
    if not (given := _numbers(sentence)):
        return
    named, words = compounds(sentence), _said(sentence) - {term for number in given for term in terms(number)}
    counted = [(statement, len(words & said), set(_numbers(statement))) for statement, said in held]
    elsewhere = max((shared for _, shared, numbers in counted if numbers and numbers.isdisjoint(given)), default=0)
    for number in given:
        with_it = [(statement, shared) for statement, shared, numbers in counted if number in numbers]
        owners = [compounds(statement) for statement, _ in with_it]
        is_of_another = named and owners and all(owners) and all(named.isdisjoint(owner) for owner in owners)
        known = max((shared for _, shared in with_it), default=len(words))
        is_of_other_words = elsewhere >= max(known + 1, SAME * len(words))
        if is_of_another or (is_of_other_words and not any(_STANDS_FOR.match(statement) for statement, _ in with_it)):
            raise Unsupported(f"the number {number} stands with something else in")


def _said(text: str) -> set[str]:
    """Its words but for a "not": "isn't" is a word of its own."""
    return set(terms(_NOT.sub(" ", text)))


def _require_same_roles(sentence: str, statements: Sequence[str]) -> None:
    """Raises: Unsupported where a statement says it of two names the other way round, in the same words.

    What "A borders B" or "A and B" say is true either way.
    """
    said = _order(sentence)
    alike = [order for each in statements if sorted(order := _order(each)) == sorted(said)]
    if not alike or said in alike or _EITHER_WAY.search(sentence):
        return
    for (start, end), (other, last) in combinations(_named(sentence), 2):
        left, right = sentence[start:end], sentence[other:last]
        if _order(f"{sentence[:start]}{right}{sentence[end:other]}{left}{sentence[last:]}") in alike:
            raise Unsupported(f"{left} and {right} stand in each other's place in")


def _order(text: str) -> list[str]:
    """Its words in order, stemmed where they are no stop words, without articles.

    >>> _order("The lamp is lit by Davy.")
    ['lamp', 'is', 'lit', 'by', 'davi']
    """
    words = (word[0].lower() for word in _COMPOUND.finditer(text))
    return [term for word in words if word not in _ARTICLES for term in terms(word)[:1] or [word]]


def _named(sentence: str) -> list[tuple[int, int]]:
    """Where its names and technical words are; those that follow each other are one name."""
    spans: list[tuple[int, int]] = []
    for word in _COMPOUND.finditer(sentence):
        if word[0].lower() not in STOP_WORDS and (word[0][0].isupper() or technical_words(word[0])):
            goes_on = bool(spans) and sentence[spans[-1][1] : word.start()] == " "
            spans.append((spans.pop()[0] if goes_on else word.start(), word.end()))
    return spans


def _meaning(sentence: str, passages: Sequence[Chunk], encode: Encode) -> float:
    """The best cosine of the sentence with one of the passages' own."""
    own = [chunk.text[start:end] for chunk in passages for start, end in sentence_spans(chunk.text)]
    vectors = encode([sentence, *own])
    return float((vectors[1:] @ vectors[0]).max(initial=0.0))
