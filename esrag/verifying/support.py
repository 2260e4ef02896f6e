"""Measure how well the cited passages support a sentence."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from esrag.evidence.features import Scores
from esrag.evidence.fits import put_headings
from esrag.evidence.lines import (
    Line,
    iter_list_forms,
    lines,
    strip_markers,
    to_line,
)
from esrag.evidence.numbered_steps import split_steps
from esrag.evidence.tables import Row, drop_lead
from esrag.records import Chunk
from esrag.text import sentence_spans, split_sentences
from esrag.text.dates import list_dates, without_dates
from esrag.text.figures import numbers, to_figures
from esrag.text.terms import (
    STOP_WORDS,
    compounds,
    find_technical_words,
    terms,
)
from esrag.verifying.bindings import find_other_binding
from esrag.verifying.clauses import clauses, drop_joints, find_unknown_end, with_clauses
from esrag.verifying.columns import is_of_another_column, is_of_another_year
from esrag.verifying.contrasts import find_contrast
from esrag.verifying.equal_numbers import has_equal
from esrag.verifying.measures import find_other_measure, find_other_unit
from esrag.verifying.other_forms import has_country, has_decade, has_month, has_unit
from esrag.verifying.overclaims import find_overclaim
from esrag.verifying.roles import find_other_role, names_in
from esrag.verifying.rows import find_other_row

# Of a short sentence, or without a reader: share of its words that its passages must have.
MIN_WORDS = 0.6
SAME = 0.8  # share of common words that makes one sentence say what another says, or a part of it
# The odds that a passage supports a sentence, by the reader's score: fitted by logistic regression
# to six sets of drafts, each with the same weight. It takes shorter sentences for false too often.
OFFSET, BY_READING = 2.1, 0.505
MIN_PROBABILITY = 0.5
SURE = 0.89  # of a sentence with a clause in words that the passages lack
MIN_PARTICULARS = 2  # of a sentence that is read from a row
MIN_LENGTH = 10  # words of a sentence that is read; the words of others decide

Entail = Callable[[str, Sequence[str]], Scores]

_NEAR_YEAR = re.compile(r"\b(mid|early|late|pre|post)-(?=(?:1\d|20)\d\d\b)", re.IGNORECASE)
_ABBREVIATIONS = re.compile(r"\b([A-Z]{2,})s\b")
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹⁻])")
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_WORD = re.compile(r"(?<!\w)[^\W\d_][\w’'-]*")
_ENDED = re.compile(r"[.!?]\s+\Z")  # precedes the first word of a sentence
_NEAR_CHARACTERS = 20  # how far before a word to look for the beginning of its sentence
# As a web page would follow or render it, and an address of e-mail.
_LINK = re.compile(
    r"\b\w++://\S+|\bwww\.\S+|\]\([^)\s]*|</?\w[^>]*"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,255}(?<!\.)"
)
# Shorter ones are terms.
QUOTATION = re.compile(r"“([^“”]{12,})”|(?<![^\s(\[—–])\"(?=[^\s,.;:!?)])([^\"]{12,})\"")
_NOT = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|nobody|nothing|hardly"
    r"|rarely|seldom|false)\b|\b\w+n['’]t\b",
    re.IGNORECASE,
)
_DRAWN = re.compile(r"\S {2,}\S")  # columns that are set apart by blanks
_STANDS_FOR = re.compile(r"(?:it|they|this|that|these|those|he|she|both)\b", re.IGNORECASE)
_ENDS = " .!?…:;"
_POSSESSIVE = re.compile(r"['’]s?\Z")
_STEP = re.compile(r"\W*\d{1,3}:")  # other lines may break anywhere in a sentence


class Unsupported(Exception):  # noqa: N818 -- a finding, not an error
    """The claim that the passages lack, in words that their keys can follow."""


def support(
    sentence: str,
    passages: Sequence[Chunk],
    entail: Entail | None = None,
    around: Sequence[str] = (),
) -> float:
    """Return how well the passages support the sentence, 0..1.

    This is the probability by what `entail` says of a long sentence, else the share of the words
    that they contain. The first word of the sentence counts as a name if it is one in the texts
    `around` it.

    Raises: Unsupported for a number, name, technical word, link or quotation that the passages
    lack, a number that they give to something else, exchanged names, a missing or additional "not",
    or too little support.
    """
    claim, sentence = sentence, _flat(sentence)
    texts = [_flat(chunk.whole_text) for chunk in passages]
    if any(sentence.strip(_ENDS) in _own(chunk.text) for chunk in passages):
        return 1.0  # verbatim

    words, held = set(terms(sentence)), _collect_held(sentence, texts)
    if not words:
        raise Unsupported("no word of it is in")

    _require_particulars(_drop_held_dates(sentence, texts), texts, held, around)
    found = [line for chunk in passages for line in _lines(chunk.text)]
    _require_same_facts(sentence, found, passages, texts)
    is_long = len(claim.split()) >= MIN_LENGTH
    share = len(words & held) / len(words)
    is_drawn = share >= MIN_WORDS and _is_of_drawn_row(sentence, passages)
    if entail and is_long and not (is_drawn or _is_of_one_row(words, found)):
        return _entailment(claim, passages, entail, find_unknown_end(sentence, held))

    if not is_drawn:
        _require_known_clauses(sentence, held)
    if share < MIN_WORDS:
        raise Unsupported(f"only {share:.0%} of the words are in")
    return round(share, 4)


def _require_same_facts(
    sentence: str, found: Sequence[Line], passages: Sequence[Chunk], texts: Sequence[str]
) -> None:
    """Raise Unsupported for a number, a statement or a role that the passages turn otherwise."""
    titles = [_flat(chunk.headings) for chunk in passages]
    _require_measures(sentence, found, texts, titles)
    _require_same_numbers(sentence, found)
    if claim := find_overclaim(sentence, texts):
        raise Unsupported(f'"{claim}" is more than is said in')
    if difference := find_contrast(sentence, [line.text for line in found]):
        raise Unsupported(f"{difference} in")
    names = names_in(texts)
    if difference := find_other_role(sentence, found, names):
        raise Unsupported(f"{difference} in")
    if bound := find_other_binding(sentence, found):
        raise Unsupported(f"{bound} in")
    if values := find_other_row(sentence, found, names):
        raise Unsupported(f"{values} is in no row of")


def _is_of_one_row(words: set[str], found: Iterable[Line]) -> bool:
    """Return whether a row has all the words: "Grain, calories: 200" is no sentence to read."""
    return any(line.row and words <= set(terms(line.text)) for line in found)


def _is_of_drawn_row(sentence: str, passages: Sequence[Chunk]) -> bool:
    """Return whether a line with columns has all numbers, names and technical words."""
    particulars = {*numbers(sentence), *_names(sentence), *find_technical_words(sentence)}
    if len(particulars) < MIN_PARTICULARS:
        return False
    rows = (line for chunk in passages for line in chunk.text.split("\n") if _DRAWN.search(line))
    return any(all(_stands(each, [_flat(row)]) for each in particulars) for row in rows)


def _entailment(sentence: str, passages: Sequence[Chunk], entail: Entail, unknown: str) -> float:
    """Return the probability that the passages support the sentence. Raises: Unsupported.

    That has to be high for a sentence with a clause that is `unknown`.
    """
    read = _read(sentence, passages, entail)
    probability = 1 / (1 + math.exp(-OFFSET - BY_READING * read))
    if unknown and probability < SURE:
        raise Unsupported(f"{unknown[:80]!r} is not in")
    if probability < MIN_PROBABILITY:
        raise Unsupported("what it says is not in")
    return round(probability, 4)


def overlap(left: set[str], right: set[str]) -> float:
    """Return Dice's coefficient: 2·|both| / (|left| + |right|).

    >>> overlap({"a", "b"}, {"b", "c"})
    0.5
    """
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


@lru_cache(maxsize=64)  # several sentences cite the same passage
def _lines(text: str) -> tuple[Line, ...]:
    return tuple(
        Line(_flat(line.text), line.source, line.row and _flat_row(line.row))
        for line in lines(text)
    )


def _flat_row(row: Row) -> Row:
    cells = tuple((_flat(name), _flat(cell)) for name, cell in row.cells)
    return Row(above=_flat(row.above), cells=cells, header=_flat(row.header), line=_flat(row.line))


@lru_cache(maxsize=64)
def _own(text: str) -> frozenset[str]:
    """Return the whole sentences, statements, lists and steps of a passage, not parts of them."""
    spans = (text[start:end] for start, end in sentence_spans(text))
    steps = (line for line in split_steps(text).split("\n") if _STEP.match(line))
    whole = {
        *(to_line(each) for each in (*spans, *(line.text for line in lines(text)), *steps)),
        *iter_list_forms(text),
        *(drop_lead(line.text) for line in _lines(text) if line.row),
    }
    pieces = (piece for each in whole for piece in (each, *split_sentences(each)))
    return frozenset(_flat(piece).strip(_ENDS) for piece in pieces) - {""}


def _flat(text: str) -> str:
    """Return the text on one line, without its own markers.

    Number words become figures, characters NFKC, 2⁸ becomes 2^8, mid-2016 two words, and VCSs VCS.
    """
    plain = unicodedata.normalize("NFKC", _ABBREVIATIONS.sub(r"\1", _RAISED.sub("^", text)))
    return to_figures(strip_markers(_NEAR_YEAR.sub(r"\1 ", " ".join(plain.split()))))


def _collect_held(sentence: str, texts: Sequence[str]) -> set[str]:
    """Return the search terms of texts, and of dates that they have in another form."""
    dates = set(terms(sentence)).difference(terms(_drop_held_dates(sentence, texts)))
    return dates.union(*map(terms, texts))


def _drop_held_dates(sentence: str, texts: Sequence[str]) -> str:
    """Return a sentence without its dates if the texts have them all, in whatever form.

    >>> _drop_held_dates("It opened on 2004-06-08.", ["since June 8th, 2004"])
    'It opened on  .'
    """
    days = {*list_dates(sentence)}
    held = {day for text in texts for day in list_dates(text)} if days else days
    return without_dates(sentence) if days <= held else sentence


def _require_particulars(
    sentence: str, texts: Sequence[str], held: set[str], around: Sequence[str]
) -> None:
    """Raise Unsupported for a number, date, word, name, link or quotation that texts lack."""
    held_numbers = {number for text in texts for number in numbers(text)}
    _require(
        "number",
        (number for number in numbers(sentence) if number not in held_numbers),
        lambda number: _is_compounded(number, texts) or has_equal(number, sentence, texts),
    )

    words = find_technical_words(sentence, len(sentence))
    _require(
        "technical word",
        words,
        lambda word: (
            held.issuperset(compounds(word))
            or _stands(word, texts)
            or has_decade(word, texts)
            or has_unit(word, texts)
        ),
    )

    # An accent in a PDF, or a dot within a compound, may cut a name short, so it may also match
    # verbatim.
    _require(
        "name",
        _names(sentence, around),
        lambda name: (
            held.issuperset(terms(_POSSESSIVE.sub("", name)))
            or _stands(name, texts)
            or has_country(name, texts)
            or has_month(name, texts)
            or has_unit(name, texts)
        ),
    )

    _require_verbatim(sentence, texts)


def _require_verbatim(sentence: str, texts: Sequence[str]) -> None:
    """Raise Unsupported for a date, link or quotation that no text has as it stands."""
    # The numbers of a date alone would also be those of another day.
    dates, links = _DATE.findall(sentence), _LINK.findall(sentence)
    quotations = ("".join(groups).strip(" .,;:!?") for groups in QUOTATION.findall(sentence))
    for what, found in (("date", dates), ("link", links), ("quotation", quotations)):
        _require(what, found, lambda one: any(one in text for text in texts))


def _require_measures(
    sentence: str, found: Sequence[Line], texts: Sequence[str], titles: Sequence[str]
) -> None:
    """Raise Unsupported if a number has another power of ten or unit in the passages."""
    if other := find_other_measure(sentence, found, texts, titles):
        raise Unsupported(f"the number {other} is not in")
    if unit := find_other_unit(sentence, texts):
        raise Unsupported(f"the unit {unit} is not in")


def _require(what: str, found: Iterable[str], is_held: Callable[[str], bool]) -> None:
    if missing := next((one for one in found if not is_held(one)), None):
        raise Unsupported(f"the {what} {missing[:80]} is not in")


def _is_compounded(number: str, texts: Sequence[str]) -> bool:
    """Return whether texts have a number before a hyphen and a word: 40 of "a 40-row page"."""
    return any(re.search(rf"(?<![\w.-]){re.escape(number)}-[a-z]", text) for text in texts)


def _stands(word: str, texts: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for text in texts)


def _names(sentence: str, around: Sequence[str] = ()) -> list[str]:
    """Return capitalised words, except I, A, and a first word that is not a name elsewhere.

    >>> _names("The lamp of Davy (Humphry) is an LED. Tests by Newton", [])
    ['Davy', 'Humphry', 'LED', 'Newton']
    >>> _names("Davy lit it", ["as Davy did"])
    ['Davy']
    """
    found = ((word[0], word.start()) for word in _WORD.finditer(sentence))
    first = re.search(r"\w|\Z", sentence)

    def begins(start: int) -> bool:
        before = sentence[max(0, start - _NEAR_CHARACTERS) : start]
        return (first is not None and start <= first.start()) or bool(_ENDED.search(before))

    return [
        word
        for word, start in found
        if word[0].isupper()
        and word not in {"I", "A"}
        and (not begins(start) or _is_name(word, around))
    ]


def _is_name(word: str, texts: Sequence[str]) -> bool:
    """Return whether a word is capitalised within a sentence and never occurs in lower case."""
    if word.lower() in STOP_WORDS:
        return False
    # Only after a word in lower case, because a line in title case proves nothing.
    within = rf"(?<!\w)[^\W\d_A-Z][\w'’-]{{0,40}}[,;)]?\s+{re.escape(word)}(?!\w)"
    small = rf"(?<!\w){re.escape(word.lower())}(?!\w)"
    return any(re.search(within, text) for text in texts) and not any(
        re.search(small, text) for text in texts
    )


def _require_same_numbers(sentence: str, found: Sequence[Line]) -> None:
    """Raise Unsupported if the lines with a number are about something else.

    That also holds if a line without the number, but with one of its own, says all the rest of the
    sentence. "It" in a line with the number may refer to anything.
    """
    if not (given := numbers(sentence)):
        return

    named, said = compounds(sentence), _said(sentence)
    units = [({*numbers(unit)}, _said(unit)) for unit in with_clauses(sentence)]
    words = said - {term for number in given for term in terms(number)}
    counted = [(line, len(words & _said(line.text)), set(numbers(line.text))) for line in found]
    others = [
        shared
        for line, shared, _ in counted
        if (own := _own_numbers(line)) and own.isdisjoint(given)
    ]
    elsewhere = max(others, default=0)

    for number in given:
        parts = [own for held, own in units if number in held]
        with_it = [(line, shared) for line, shared, held in counted if number in held]
        known = max((shared for _, shared in with_it), default=len(words))
        is_of_other_words = elsewhere >= max(known + 1, SAME * len(words))
        is_stood_for = any(_STANDS_FOR.match(line.text) for line, _ in with_it)
        is_of_another = bool(with_it) and all(
            _is_of_another(number, named, parts, line) for line, _ in with_it
        )
        if is_of_another or (is_of_other_words and not is_stood_for):
            raise Unsupported(f"the number {number} stands with something else in")


def _own_numbers(line: Line) -> set[str]:
    """Return the numbers of a line.

    For a row these are the numbers of its cells, without years shared with other rows, and without
    those of its name: "June 30, 2021".
    """
    if line.row is None:
        return set(numbers(line.text))
    cells = [cell for _, cell in line.row.cells]
    is_named = bool(cells) and any(map(str.isalpha, cells[0]))
    return {number for text in (line.row.line, *cells[is_named:]) for number in numbers(text)}


def _is_of_another(number: str, named: set[str], parts: Sequence[set[str]], line: Line) -> bool:
    """Return whether a line gives the number to another technical word, year or column.

    `named` has the technical words that count as the same, and `parts` the words of the sentence
    and of each of its clauses with the number.
    """
    owner = compounds(line.text)
    if named and owner and named.isdisjoint(owner) and not _is_part_of_one(owner, named):
        return True
    if is_of_another_year(number, parts[0], line):
        return True
    row, own = line.row, set(terms(number))
    return row is not None and all(
        is_of_another_column(number, words - own, row) for words in parts
    )


def _is_part_of_one(words: set[str], named: set[str]) -> bool:
    """Return whether a technical word is a part of another: EFF of en_eff."""
    return any({*terms(word)} <= {*terms(name)} for word in words for name in named)


def _said(text: str) -> set[str]:
    """Return the words without negations; "isn't" is one word."""
    return set(terms(_NOT.sub(" ", text)))


def _require_known_clauses(sentence: str, held: set[str]) -> None:
    """Raise Unsupported for a clause whose words the passages lack, if they have the others."""
    if unknown := find_unknown_end(sentence, held):
        raise Unsupported(f"{unknown[:80]!r} is not in")
    parts = clauses(sentence)
    for part in parts if len(parts) > 1 else ():
        words = set(terms(drop_joints(part)))
        if 2 * len(words - held) >= len(words):
            raise Unsupported(f"{part[:80]!r} is not in")


def _read(sentence: str, passages: Sequence[Chunk], entail: Entail) -> float:
    """Return the score of what the passages say about the sentence."""
    texts = [
        put_headings(_near(sentence, chunk.text), chunk.title, chunk.section) for chunk in passages
    ]
    return float(entail(sentence, [" ".join(texts)])[0])


def _near(sentence: str, text: str) -> str:
    """Return the sentence of a text that shares most words with a sentence, with its neighbours.

    A row of a table is returned with its headers, but by itself.
    """
    said = set(terms(sentence))

    def count(other: str) -> int:
        return len(said & set(terms(other)))

    own = [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
    best = max(range(len(own)), key=lambda n: (count(own[n]), -n), default=0)
    row = max((line.text for line in _lines(text) if line.row), key=count, default="")
    if row and (not own or count(row) >= count(own[best])):
        return row
    return " ".join(own[max(0, best - 1) : best + 2])
