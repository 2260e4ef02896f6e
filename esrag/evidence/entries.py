"""Entries: what defines a parameter, a command or a term under exactly its name."""

import re
from collections.abc import Callable, Sequence

from esrag.evidence import Statement, find_best
from esrag.text.questions import OPTION, read_question

_ADDED = re.compile(r"\s\([^()]{1,60}\)\s*\Z")  # "size (integer, optional)"
DEFINED = 0.5  # share of the best fit that a definition has at least, if the question wants one
_CODES = re.compile(r"\b(?:codes?|errors?|exit|signals?|status)\b", re.IGNORECASE)
_CODED = re.compile(rf"{_CODES.pattern} (\d{{1,5}})\b", re.IGNORECASE)
_EXPLAINED = ("definition", "other")  # kinds of questions that a code's meaning answers
MIN_NAME = 3  # characters


def find_entry(question: str, statements: Sequence[Statement]) -> Statement | None:
    """Return the statement that defines the question's subject, a single word, under its name.

    Without one, None. The name is the heading above, the first cell of a row, or before a colon,
    without what is added in brackets.

    >>> told = Statement("c1", 0, "How long to wait.", fit=0.7, under="wait_s", defines=True)
    >>> find_entry("What does wait_s do?", [told]) == told, find_entry("What is wait?", [told])
    (True, None)
    """
    asked, coded = read_question(question), _CODED.search(question)
    subject = coded[0] if coded and asked.kind in _EXPLAINED else asked.subject
    is_entry = _entry_of(subject)
    entry = find_best(filter(is_entry, statements)) if is_entry else None
    best = find_best(statements)
    return entry if entry and best and entry.fit >= DEFINED * best.fit else None


def _entry_of(subject: str) -> Callable[[Statement], bool] | None:
    """Return what tells the entries of a subject; None for one that has none."""
    if OPTION.fullmatch(subject):
        return lambda each: subject in _options(each)
    if coded := _CODED.fullmatch(subject):
        return lambda each: _is_code(each, coded[1])
    if " " in subject or len(subject) < MIN_NAME:
        return None
    return lambda each: each.defines and _name(each) == subject


def _is_code(statement: Statement, number: str) -> bool:
    """Return whether a row is that of a code: of an error, a status or a signal.

    >>> row = Statement("c1", 0, "Exits: Code: 3, Meaning: It refused.", "| 3 | It refused. |")
    >>> _is_code(row, "3"), _is_code(row, "4")
    (True, False)
    """
    before, found, _ = statement.text.partition(number)
    is_row = len(statement.cells) > 1
    return bool(is_row and found and _CODES.search(before)) and _name(statement) == number


def _options(statement: Statement) -> list[str]:
    """Return the options of a command that a statement begins with, or its heading.

    >>> _options(Statement("c1", 0, "Print less.", under="-q, --quiet[=LEVEL]  print less"))
    ['-q', '--quiet']
    """
    head = statement.under if statement.under.startswith("-") else _name(statement)
    return OPTION.findall(head) if head.startswith("-") else []


def _name(statement: Statement) -> str:
    first, *others = statement.cells
    name = first if others else statement.under or statement.text.partition(":")[0]
    return _ADDED.sub("", name).strip(" `*\"“”'")
