"""Antecedents: whether a sentence can be understood without the one before it."""

import re

from esrag.evidence import Statement

MAX_CUT = 12  # words of what does not end as a sentence does: a heading, a line of code

_AMONG = r"(?:After|Among|At|Before|By|During|For|In|Of|With) (?:these|those|them|this)"
_REFERS_BACK = re.compile(rf"(?:It|They|This|These|Such|He|She|{_AMONG})\s")
# About a thing that the sentence before it names; "This document …" needs no such sentence.
_NEEDS_FORMER = re.compile(
    rf"(?:It|They|He|She|These|{_AMONG}|This (?:is|was|has|does|can|may|will|means)"
    r"|Such \w+ (?:is|are|was|were|will|can|may)"
    r"|(?:Also|Often|Sometimes) (?:called|known|referred))\s"
)
_JOINS = re.compile(
    r"(?:Also|Additionally|And|As a result|But|Consequently|Finally|For example|For instance"
    r"|Furthermore|Further|Hence|However|In addition|Instead|Moreover|Otherwise|Similarly|So"
    r"|Subsequent|That|Then|Therefore|Thus)\b"
)
# Adds nothing to another sentence: "Its lid is red.", "Default is 5.", a letter's head.
_OF_ANYTHING = re.compile(
    r"(?:Its|Their|His|Her|By default|Defaults|Default(?= is\b| value\b|:))\b"
    r"|(?:Author|Cc|Created|Date|From|Sent|Status|Subject|Title|To|Type|Version): "
    r"|\.\. |```|https?:"
)
_ENDS = re.compile(r"[.!?:)\]\"”’]\Z")


def stands_alone(statement: Statement) -> bool:
    """Return whether a reader knows what a statement is about without the one before it.

    A heading or a line of code adds nothing to another sentence.

    >>> told = ("Default to red.", "It is red.", "Also, it burns.", "Of lamps", "Default is 5.")
    >>> [stands_alone(Statement("c1", 0, each)) for each in told]
    [True, False, False, False, False]
    """
    text = statement.text
    if statement.items > 1 or statement.is_row:
        return True
    is_cut = len(text.split()) <= MAX_CUT and not _ENDS.search(text)
    return not (is_cut or any(each.match(text) for each in (_REFERS_BACK, _OF_ANYTHING, _JOINS)))


def refers_back(statement: Statement) -> bool:
    """Return whether a statement begins with a word for another: "It …", "This lamp …"."""
    return bool(_REFERS_BACK.match(statement.text))


def needs_former(statement: Statement) -> bool:
    """Return whether only the statement before it tells what a statement is about.

    >>> told = ("It is red.", "Also called a davy.", "This lamp is red.")
    >>> [needs_former(Statement("c1", 0, each)) for each in told]
    [True, True, False]
    """
    return bool(_NEEDS_FORMER.match(statement.text))


def follows(statement: Statement, former: Statement) -> bool:
    """Return whether a statement comes right after another one, below the same heading."""
    is_next = statement.order == former.order + 1
    return is_next and (statement.key, statement.section) == (former.key, former.section)


def goes_on(statement: Statement, former: Statement) -> bool:
    """Return whether a whole sentence follows a statement with "However" or the like."""
    is_joined = bool(_JOINS.match(statement.text) and _ENDS.search(statement.text))
    return is_joined and follows(statement, former)
