"""Find what a sentence says of one thing and the passages of another."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from esrag.evidence.lines import Line
from esrag.text.figures import numbers
from esrag.text.terms import compounds, terms
from esrag.verifying.clauses import clauses, with_clauses

SAME, MOST = 0.8, 0.7  # share of a sentence's words that makes a statement, or a part, its source
MIN_WORDS = 4  # of a sentence, without what it is about
NEAR, NEAR_WORDS, NEAR_WORDS_AFTER = 80, 8, 4  # characters and words about a comparative
MIN_MORE = 2  # words that a statement shares more than those about the right thing

_STANDS_FOR = re.compile(r"\W*(?:it|its|they|their|this|that|these|those|he|she)\b", re.IGNORECASE)
# Options, addresses and what stands in backquotes, beside technical words.
_CODE = re.compile(
    r"(?<!\w)\.[a-z]\w{1,5}\b|(?<![\w-])--?[a-z][\w-]{1,40}"
    r"|(?<![\w.-])[a-z][\w-]{0,40}(?:\.[a-z][\w-]{0,40}){1,6}|`[^`]{1,60}`"
)
# Unlike clauses, parts may have "and" within.
_PART = re.compile(r"[,;:](?!\d)| (?:as well as|and also|but|while|whereas) ")
_BRACKETS = re.compile(r"\([^()]*\)")
_AGENT = re.compile(
    r"\b(\w+ed|written|built|made|led|won|sung|drawn) by ([A-Z][\w.-]*(?: [A-Z][\w.-]*){0,3})"
)
_COMPARATIVE = re.compile(r"\b(?:more|less|\w{2,20}er)\b", re.IGNORECASE)
_DONE_IN = re.compile(
    r"\b(\w+ed|built|made|won|written|begun|sold) (?:\w+ )?in (?:[A-Z]\w+ )?"
    r"((?:1\d|20)\d\d)\b"
)
_NAME = re.compile(r"(?<=[a-z,/] )[A-Z][a-z]\w*(?: [A-Z][\w.]*){1,3}|(?<=[a-z]/)[A-Z][a-z]\w*")
_TERM = re.compile(r"([^\n:.]{2,40}): (?=\S)")

Held = Sequence[tuple[str, frozenset[str]]]  # statements, each with its words


def find_other_binding(sentence: str, lines: Sequence[Line]) -> str:
    """Return how a sentence tells of one thing what the statements tell of another, or ""."""
    said = [line.text for line in lines if line.row is None]
    held = [(text, frozenset(terms(text))) for text in said]
    owners = (_find_other_owner(unit, held) for unit in with_clauses(sentence))
    return (
        _find_crossed(sentence, said)
        or _find_turned_comparison(sentence, said)
        or next(filter(None, owners), "")
        or _find_other_agent(sentence, said)
        or _find_other_time(sentence, said)
        or _find_other_name(sentence, held)
        or _find_other_number(sentence, said)
        or _find_other_term(sentence, said)
    )


def _find_crossed(sentence: str, said: Sequence[str]) -> str:
    """Return two numbers or technical words that have each other's clause in a statement.

    >>> text = "The default is 3551, but older versions of it used 7000."
    >>> _find_crossed("It uses 7000 by default, but older versions used 3551.", [text])
    "7000 and 3551 have each other's place"
    """
    mine = _bind(sentence)
    for text in said if len(mine) > 1 else ():
        held = _bind(text)
        for one, other in combinations([each for each in mine if each in held], 2):
            are_apart = mine[one][0] != mine[other][0] and held[one][0] != held[other][0]
            straight = len(mine[one][1] & held[one][1]) + len(mine[other][1] & held[other][1])
            crossed = len(mine[one][1] & held[other][1]) + len(mine[other][1] & held[one][1])
            if are_apart and crossed >= straight + MIN_MORE:
                return f"{one} and {other} have each other's place"
    return ""


def _find_turned_comparison(sentence: str, said: Sequence[str]) -> str:
    """Return the comparative of which a statement has both sides the other way round, or "".

    >>> _find_turned_comparison("Tin costs more than lead.", ["Lead costs more than tin."])
    "'more' is the other way round"
    """
    for word, left, right in _iter_comparisons(sentence):
        for other, first, second in (each for text in said for each in _iter_comparisons(text)):
            if word == other and (left - first) & second and (right - second) & first:
                return f"{word!r} is the other way round"
    return ""


def _iter_comparisons(text: str) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield each comparative before a "than", the words near before it, and those after "than".

    >>> [*_iter_comparisons("A rose is redder than a lily.")]
    [('redder', {'rose'}, {'lili'})]
    """
    before, *rest = text.split(" than ")
    for after in rest:
        found = [*_COMPARATIVE.finditer(before, max(0, len(before) - NEAR))]
        if found:
            left = before[: found[-1].start()].split()[-NEAR_WORDS:]
            right = after.split()[:NEAR_WORDS_AFTER]
            yield found[-1][0].lower(), set(terms(" ".join(left))), set(terms(" ".join(right)))
        before = after


def _bind(text: str) -> dict[str, tuple[int, set[str]]]:
    """Return the clause of each number and technical word, and the other words of that clause.

    Left out is what several clauses have.
    """
    found: dict[str, tuple[int, set[str]]] = {}
    several: set[str] = set()
    for place, clause in enumerate(clauses(text)):
        words = set(terms(clause))
        for each in sorted({*numbers(clause), *_find_named(clause)}):
            several.update([each] if each in found else [])
            found[each] = place, words - set(terms(each))
    return {each: bound for each, bound in found.items() if each not in several}


def _find_other_time(sentence: str, said: Sequence[str]) -> str:
    """Return what was done in another year by the statements, or "".

    >>> _find_other_time("It was printed in 1935.", ["Complete in 1935, it was printed in 1948."])
    "it is 'printed' in another year"
    """
    mine = _DONE_IN.findall(sentence)
    found = (_DONE_IN.findall(text) for text in said) if mine else ()
    held = [(terms(verb), year) for verb, year in chain.from_iterable(found)]
    for verb, year in mine:
        same = {other for done, other in held if done == terms(verb)}
        if same and year not in same:
            return f"it is {verb!r} in another year"
    return ""


def _find_other_name(sentence: str, said: Held) -> str:
    """Return a name at whose place a statement that says all the rest has another name, or "".

    >>> text = "After the advertisement, he met the guitarist James Hetfield and formed a band."
    >>> other = "After the advertisement, he met the guitarist Kirk Hammett and formed a band."
    >>> _find_other_name(other, [(text, frozenset(terms(text)))])
    'something else than Kirk Hammett is meant'
    """
    for found in _NAME.finditer(sentence):
        words = set(terms(sentence)) - set(terms(found[0]))
        for text, held in said if len(words) >= MIN_WORDS else ():
            if len(words & held) < SAME * len(words) or not held.isdisjoint(terms(found[0])):
                continue
            others = (other for other in _NAME.finditer(text) if other[0] not in sentence)
            if any(_have_one_place(found, other) for other in others):
                return f"something else than {found[0]} is meant"
    return ""


def _have_one_place(one: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether the words before two names, or those after them, are the same."""
    before = [terms(each.string[: each.start()])[-1:] for each in (one, other)]
    after = [terms(each.string[each.end() :])[:1] for each in (one, other)]
    return any(left == right and left for left, right in (before, after))


def _find_other_number(sentence: str, said: Sequence[str]) -> str:
    """Return a number that stands with the words of another number of its statement, or "".

    >>> text = "It won 4 of the cups at home, as well as 3 cups each in the north of the far east."
    >>> _find_other_number("It won 4 cups each in the north of the far east.", [text])
    'another number than 4 stands'
    """
    for part in _PART.split(sentence):
        for number in numbers(part):
            words = set(terms(part)) - set(terms(number))
            with_it = [text for text in said if number in numbers(text)]
            if len(words) >= MIN_WORDS and len(with_it) == 1:
                own, other = _compare_parts(number, words, with_it[0], set(numbers(sentence)))
                if other >= max(MOST * len(words), own + MIN_MORE):
                    return f"another number than {number} stands"
    return ""


def _compare_parts(number: str, words: set[str], text: str, given: set[str]) -> tuple[int, int]:
    """Return how many words a statement's parts share that have the number, and another one."""
    parts = _PART.split(text)
    shared = [(set(numbers(part)), len(words & set(terms(part)))) for part in parts]
    own = max((count for held, count in shared if number in held), default=0)
    other = (count for held, count in shared if held and given.isdisjoint(held))
    return own, max(other, default=0)


def _find_named(text: str) -> set[str]:
    """Return the technical words, options and addresses of a text.

    >>> sorted(_find_named("Set `x` or --no-lamp for example.org, not ML-KEM."))
    ['--no-lamp', 'example.org', 'ml-kem', 'x']
    """
    return compounds(text) | {found.strip("`") for found in _CODE.findall(text)}


def _find_other_owner(sentence: str, said: Held) -> str:
    """Return the technical word instead of which a statement about the rest names another, or "".

    That statement names another one, and is not about what was named before it.
    """
    named = _find_named(sentence)
    for name in sorted(named):
        words = set(terms(sentence)) - set(terms(name))
        own = set(terms(name))
        known = max((len(words & held) for _, held in said if own <= held), default=0)
        most = max(SAME * len(words), known + MIN_MORE)
        if len(words) >= MIN_WORDS and any(
            len(words & held) >= most and _find_named(text) - named and not _STANDS_FOR.match(text)
            for text, held in said
        ):
            return f"something else than {name} is meant"
    return ""


def _find_other_agent(sentence: str, said: Sequence[str]) -> str:
    """Return who did what another did by the statements, or "".

    >>> _find_other_agent("It was started by Ada in 1843.", ["It was started by Ben with Ada."])
    "it is 'started' by somebody else"
    """
    mine = _AGENT.findall(sentence)
    held = [each for text in said for each in _AGENT.findall(text)] if mine else []
    for verb, name in mine:
        agents = {other for same, other in held if same == verb}
        if agents and not any(terms(name)[-1:] == terms(other)[-1:] for other in agents):
            return f"it is {verb!r} by somebody else"
    return ""


def _find_other_term(sentence: str, said: Sequence[str]) -> str:
    """Return a term that a sentence explains with the entry of another term, or ""."""
    found = (_TERM.match(text) for text in said)
    entries = [(_BRACKETS.sub("", each[1]), each.string[each.end() :]) for each in found if each]
    words = set(terms(sentence))
    own = [term for term, _ in entries if words.issuperset(terms(term)) and terms(term)]
    for term, text in entries:
        meant = set(terms(text))
        is_said = len(meant) >= MIN_WORDS and len(meant & words) >= SAME * len(meant)
        if is_said and own and words.isdisjoint(terms(term)):
            return f"something else than {own[0]} is meant"
    return ""
