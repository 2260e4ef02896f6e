"""Entries: what defines a parameter, a command or a term under exactly its name."""

import re
from collections.abc import Sequence

from esrag.evidence import Statement, find_best
from esrag.text.questions import OPTION, read_question

_ADDED = re.compile(r"\s\([^()]{1,60}\)\s*\Z")  # "size (integer, optional)"
DEFINED = 0.5  # share of the best fit that a definition has at least, if the question wants one
MIN_NAME = 3  # characters


def find_entry(question: str, statements: Sequence[Statement]) -> Statement | None:
    """Return the statement that defines the question's subject, a single word, under its name.

    Without one, None. The name is the heading above, the first cell of a row, or before a colon,
    without what is added in brackets.

    >>> told = Statement("c1", 0, "How long to wait.", fit=0.7, under="wait_s", defines=True)
    >>> find_entry("What does wait_s do?", [told]) == told, find_entry("What is wait?", [told])
    (True, None)
    """
    subject = read_question(question).subject
    is_option = bool(OPTION.fullmatch(subject))
    if " " in subject or not (is_option or len(subject) >= MIN_NAME):
        return None
    entry = find_best(
        each
        for each in statements
        if (subject in _options(each) if is_option else each.defines and _name(each) == subject)
    )
    best = find_best(statements)
    return entry if entry and best and entry.fit >= DEFINED * best.fit else None


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
