"""Values: lines such as "Weight: 2.3 kg" that give a property of what a document is about."""

import re
from collections.abc import Iterator, Sequence

from esrag.evidence import NO_DIRECT_ANSWER, DirectAnswer, Statement
from esrag.evidence.tables import NAME_AND_VALUE
from esrag.records import Evidence
from esrag.text.questions import find_other_words, read_question
from esrag.text.terms import question_terms, terms

MAX_LINE = 120  # characters
MAX_VALUES = 2  # under the same label, as of two models
_LINE = re.compile(r"(?:[^:]{1,80}: )?([^\W_](?:[^:.?!]|\.(?!\s)){0,40}): (\S[^\n]{0,80})")
# What a label has behind its name: Noise at 1 m, or the sides that Dimensions has in brackets.
_ADDED = re.compile(r"(?: ?[(,]| (?:at|in|of) \d).{0,40}\Z")
_ANY = {*terms("address amount figure kind level name number size total type value much many")}
_JOINED = re.compile(r"[^\W_][-_./][^\W_]")  # a compound, whose parts are asked for too
_FIGURE, _NAME = re.compile(r"\D{0,20}\d"), re.compile(r"(?:[A-Z][\w.’'-]{1,30},? ?){2}")
_VALUES = {"count": _FIGURE, "definition": _FIGURE, "other": _FIGURE, "time": _FIGURE, "who": _NAME}


def answer_value(
    question: str, evidence: Sequence[Evidence], statements: Sequence[Statement]
) -> DirectAnswer:
    """Return the line with the figure or name that a question asks for, found by its label.

    The other words of the question have to be in the line, or in the titles and headings of its
    document: it is about the thing that has the weight. Lines of several documents are no answer.
    """
    has_value = _VALUES.get(read_question(question).kind)
    if has_value is None:
        return NO_DIRECT_ANSWER
    others = find_other_words(question)
    asked = {term for term in question_terms(question) if not _JOINED.search(term)} - _ANY
    replaced, said = {*terms(" ".join(others))}, {*terms(" ".join(others.values()))}
    documents = {item.key: item.chunk.doc_id for item in evidence}

    found = dict[tuple[str, str], str]()
    for each, label in _iter_lines(statements, has_value):
        rest = asked - label - replaced
        if not (label and label <= asked | said and rest):
            continue
        if rest <= _names(documents[each.key], evidence) | {*terms(each.text)}:
            found[each.key, each.text] = documents[each.key]
    is_clear = len({*found.values()}) == 1 and len(found) <= MAX_VALUES
    return DirectAnswer((*found,), "named") if is_clear else NO_DIRECT_ANSWER


def _iter_lines(
    statements: Sequence[Statement], has_value: re.Pattern[str]
) -> Iterator[tuple[Statement, set[str]]]:
    """Yield the lines with a label and a value, and the words of the label."""
    for each in statements:
        found = _LINE.fullmatch(each.text) if len(each.text) <= MAX_LINE else None
        if found and len(each.cells) <= NAME_AND_VALUE and has_value.match(found[2]):
            yield each, {*terms(_ADDED.sub("", found[1]))} - _ANY


def _names(doc_id: str, evidence: Sequence[Evidence]) -> set[str]:
    """Return the words of a document's file name, titles and headings."""
    titles = [item.chunk.headings for item in evidence if item.chunk.doc_id == doc_id]
    return {*terms("\n".join([doc_id.rpartition("/")[2], *titles]))}
