"""Preferences: which of two statements that fit nearly as well answers the question.

It has a number, the year, the row or the role that the question asks for.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from esrag.evidence import Statement, find_best
from esrag.evidence.counts import lacks_asked_number
from esrag.evidence.named_rows import find_unnamed
from esrag.text.questions import read_question
from esrag.text.terms import find_years, gives_other_years, terms

NEARLY = 0.85  # share of the best fit from which another statement is preferred
# The same for the reader's score, how much higher it is at least, and how high: over 27 sets with
# 1,260 answerable questions the first statement becomes an answer 13 times, and stops to be one 6.
NEARLY_READ, READ_HIGHER, READ_LEAST = 0.9, 3.0, 0.0
_ROLE = re.compile(r"([^\W_][^:?!]{1,80}): (?=[A-Z])")  # before who has it


def prefer(question: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, each that another one is preferred to moved behind."""
    steps = (_prefer_read, prefer_numbers, prefer_years, _prefer_named_rows, prefer_named_roles)
    for step in steps:
        statements = step(question, statements)
    return tuple(statements)


def _prefer_read(_: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, the best moved behind an answer that the reader scores much higher."""
    best = find_best(statements)
    if best is None or best.reading is None:
        return tuple(statements)
    least = max(best.reading + READ_HIGHER, READ_LEAST)
    return _prefer(
        statements, lambda each: each.reading is not None and each.reading >= least, NEARLY_READ
    )


def prefer_numbers(question: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, those without a number moved behind if the question asks for one.

    They are if another fits nearly as well and has one, and the best defines nothing.
    """
    best = find_best(statements)
    if best is None or best.defines:
        return tuple(statements)
    return _prefer(statements, lambda each: not lacks_asked_number(question, each))


def prefer_years(question: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, those of other years moved behind if the question has a year.

    They are if another fits nearly as well, and has that year or none. A row that has years of its
    own is of these, whatever its caption says.
    """
    asked = find_years(question)

    def is_of_others(each: Statement) -> bool:
        own = each.source if each.is_row else ""
        return gives_other_years(asked, own) or gives_other_years(
            asked, f"{each.under} {each.text}"
        )

    return _prefer(statements, lambda each: not is_of_others(each))


def _prefer_named_rows(question: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, rows moved behind if the question names another of their passage."""
    rows = {each: (each.key, each.text, each.cells) for each in statements if each.is_row}
    unnamed = find_unnamed(question, [*rows.values()])
    return _prefer(statements, lambda each: rows.get(each) not in unnamed)


def prefer_named_roles(question: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, people in another role than the one in question moved behind.

    They are where the same passage has "Release Manager: Ada" and a question for that manager.
    """
    if read_question(question).kind != "who":
        return tuple(statements)
    asked = set(terms(question))
    labels = {each: found[1] for each in statements if (found := _ROLE.match(each.text))}
    roles = {each: set(filter(str.isalpha, terms(label))) for each, label in labels.items()}
    named = {each.key for each, role in roles.items() if role and role <= asked}
    return _prefer(
        statements, lambda each: each.key not in named or roles.get(each, set[str]()) <= asked
    )


def _prefer(
    statements: Sequence[Statement],
    is_preferred: Callable[[Statement], bool],
    nearly: float = NEARLY,
) -> tuple[Statement, ...]:
    """Return the statements, the others moved behind if a preferred one fits nearly as well."""
    best = find_best(statements)
    if best is None or is_preferred(best):
        return tuple(statements)

    having = {each for each in statements if is_preferred(each)}
    other = find_best(having)
    if other is None or other.fit < nearly * best.fit:
        return tuple(statements)
    return tuple(
        each if each in having else replace(each, fit=round(nearly * each.fit, 6))
        for each in statements
    )
