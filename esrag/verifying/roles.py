"""Check who does what to whom, in the words of the statements that a sentence is based on."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain, combinations

from esrag.evidence.lines import Line
from esrag.text.edits import is_near
from esrag.text.figures import is_unit
from esrag.text.terms import STOP_WORDS, find_technical_words
from esrag.verifying.clauses import BEGINNING, clauses, with_clauses
from esrag.verifying.opposites import SYNONYMS
from esrag.verifying.word_order import COMPOUND, JOINED, MUTUAL, find_exchange, in_order

MAX_NAMES = 24  # in a sentence; every pair of them is checked for a swap
MAX_REPLACED_TOKENS = 3
ALIKE = 4  # letters
MIN_SHARED_WORDS = 2  # of a sentence and the statement whose word it replaces

# Written by, to or from somebody is not the same, unlike most prepositions.
DIRECTIONS = frozenset(("by", "from", "to"))

_AFTER_ARTICLE = re.compile(
    r"\b(?:an?|at|by|each|every|for|from|her|his|in|its|no|of|on|our|that|the|their|these|this|those"
    r"|with|your) ([\w-]+)(?: ([\w-]+))?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d.,]+")
_STAND_INS = STOP_WORDS | {
    "one",
    "ones",
    "former",
    "latter",
    "both",
    "other",
    "others",
    "he",
    "she",
}
_EITHER_WAY = re.compile(f"{JOINED}|{MUTUAL}", re.IGNORECASE)


def find_other_role(sentence: str, lines: Sequence[Line], names: Iterable[str]) -> str:
    """Return which words are exchanged compared with the statements of a passage, or "".

    "A borders B" and "A and B" are true in either order, and so is a row of a table.
    """
    parts = {line.text: clauses(line.text) for line in lines}
    ordered = [
        part for line in lines if line.row is None for part in (line.text, *parts[line.text])
    ]
    whole = in_order(sentence)
    for unit in with_clauses(sentence):
        found = (
            _find_swap(unit, [*parts, *chain.from_iterable(parts.values())])
            or find_exchange(unit, ordered)
            or _find_substitute(unit, parts, frozenset(names), whole)
        )
        if found:
            return found
    return ""


def _find_swap(unit: str, parts: Iterable[str]) -> str:
    """Return two names that are exchanged, or "" if a part has the words in this order."""
    mine, named = in_order(unit), _named(unit)
    alike = [order for order in map(in_order, parts) if sorted(order) == sorted(mine)]
    if not alike or mine in alike or _EITHER_WAY.search(unit) or len(named) > MAX_NAMES:
        return ""

    for (start, end), (other, last) in combinations(named, 2):
        left, right = unit[start:end], unit[other:last]
        if in_order(f"{unit[:start]}{right}{unit[end:other]}{left}{unit[last:]}") in alike:
            return f"{left} and {right} are exchanged"
    return ""


def _find_substitute(
    unit: str, parts: dict[str, tuple[str, ...]], names: frozenset[str], whole: Sequence[str]
) -> str:
    """Return the word that replaces another of its kind in an otherwise equal statement, or "".

    A part of a statement counts as well. A replaced name counts if the new name is anywhere in the
    passages, another word only if the same statement has both: "the device" may be what the
    previous statement names. Words that the `whole` sentence lists together may be in either order.
    """
    mine, substitutes = in_order(unit), []
    for statement, group in parts.items():
        for part in group:
            difference = _difference(in_order(part), mine)
            if difference is None:
                continue
            removed, added = difference
            if not (removed or added):
                return ""
            if not removed or not added or _mean_the_same(added, removed):
                continue
            if _are_listed(added, removed, whole):
                continue
            if _is_other(added, removed, statement, parts, names) or _is_put_in(
                unit, added, removed, parts, names
            ):
                substitutes.append(f"{' '.join(added)} replaces {' '.join(removed)}")
    return substitutes[0] if substitutes else ""


def _difference(
    held: Sequence[str], said: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the replaced and the replacing tokens, or None.

    None means that the texts differ in more than one place. Additional words of the statement do
    not count.
    """
    if len({*said}.intersection(held)) < MIN_SHARED_WORDS:
        return None
    matcher = SequenceMatcher(None, held, said, autojunk=False)
    edits = [edit for edit in matcher.get_opcodes() if edit[0] not in {"equal", "delete"}]
    if not edits:
        return (), ()

    (kind, start, end, other, last) = edits[0]
    shared = [
        said[i]
        for block in matcher.get_matching_blocks()
        for i in range(block.b, block.b + block.size)
    ]
    words = sum(token not in STOP_WORDS for token in shared)
    is_short = max(end - start, last - other) <= MAX_REPLACED_TOKENS
    if len(edits) > 1 or kind != "replace" or not is_short or words < MIN_SHARED_WORDS:
        return None
    return held[start:end], said[other:last]


def _is_other(
    added: Sequence[str],
    removed: Sequence[str],
    statement: str,
    parts: dict[str, tuple[str, ...]],
    names: frozenset[str],
) -> bool:
    """Return whether the replacement is another thing of a kind that the statements mention."""
    if any(_NUMBER.fullmatch(token) for token in (*added, *removed)):
        return False  # numbers are checked elsewhere
    if len(added) == len(removed) == 1 and DIRECTIONS.issuperset((*added, *removed)):
        return True
    if _holds(statement, [*removed, *added]):
        return False  # "anything, even a pin" without "anything"
    if any(_STAND_INS.issuperset(side) for side in (added, removed)):
        return False

    are_names = [any(token in names for token in side) for side in (added, removed)]
    if are_names == [True, True]:
        # "Ada and Ben" for "Cyd" of "Cyd and Ben".
        is_new = added[0] in names and added[0] not in in_order(statement)
        return any(_holds(other, added[:1] if is_new else added) for other in parts)
    return are_names == [False, False] and _holds(statement, added)


def _is_put_in(
    unit: str,
    added: Sequence[str],
    removed: Sequence[str],
    parts: Iterable[str],
    names: frozenset[str],
) -> bool:
    """Return whether a noun that no statement has replaces another one.

    The two words after "the" or "of" are taken for nouns. Names and numbers are checked elsewhere.
    """
    both = (*added, *removed)
    if len(both) != 2 or any(_NUMBER.fullmatch(token) or token in names for token in both):  # noqa: PLR2004
        return False
    if not _STAND_INS.isdisjoint(both) or not _is_unknown(added[0], parts):
        return False
    nouns = {" ".join(in_order(noun)) for pair in _AFTER_ARTICLE.findall(unit) for noun in pair}
    return added[0] in nouns


def _mean_the_same(added: Sequence[str], removed: Sequence[str]) -> bool:
    """Return whether a word is a synonym of another, a unit, or spelt a little otherwise.

    A PDF may have lost the "fi" of "office".
    """
    if len(added) != 1 or len(removed) != 1:
        return False
    word, other = *added, *removed
    if word in SYNONYMS.get(other, ()) or is_unit(word) or is_unit(other):
        return True
    if "fi" in word + other:
        word, other = (each.replace("fi", "f")[:ALIKE] for each in (word, other))
        return word == other
    return word[: ALIKE - 1] == other[: ALIKE - 1] and is_near(word, other, 1)


def _is_unknown(word: str, parts: Iterable[str]) -> bool:
    """Return whether no statement has a word that begins like this one."""
    if word in STOP_WORDS:
        return False
    begin = word[:BEGINNING]
    return not any(token.startswith(begin) for part in parts for token in in_order(part))


def _are_listed(one: Sequence[str], other: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether a sentence has words side by side: "pip and tar"."""
    lists = ([*left, "and", *right] for left, right in ((one, other), (other, one)))
    return any(each in _windows(whole, len(each)) for each in lists)


def _windows(tokens: Sequence[str], size: int) -> list[list[str]]:
    return [[*tokens[n : n + size]] for n in range(len(tokens) - size + 1)]


def _holds(statement: str, tokens: Sequence[str]) -> bool:
    return [*tokens] in _windows(in_order(statement), len(tokens))


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the tokens of technical words and of words that never occur in lower case."""
    written = [word[0] for text in texts for word in COMPOUND.finditer(text)]
    small = {token for word in written if word[0].islower() for token in in_order(word)}
    named = {text[start:end] for text in texts for start, end in _named(text)}
    return frozenset(token for name in named for token in in_order(name)) - small


def _named(sentence: str) -> list[tuple[int, int]]:
    """Return the spans of names and technical words; adjacent ones are one name."""
    spans: list[tuple[int, int]] = []
    for word in COMPOUND.finditer(sentence):
        if word[0].lower() not in STOP_WORDS and (
            word[0][0].isupper() or find_technical_words(word[0])
        ):
            goes_on = bool(spans) and sentence[spans[-1][1] : word.start()] == " "
            spans.append((spans.pop()[0] if goes_on else word.start(), word.end()))
    return spans
