"""Authors: the line of a document that names its author, for a question that asks for that."""

import re
from collections.abc import Sequence

from esrag.evidence import Statement, find_best
from esrag.evidence.cells import NO_CELLS, Cells
from esrag.evidence.questions import read_question
from esrag.records import Chunk, Evidence
from esrag.text.terms import terms

_AUTHORED = re.compile(
    r"\b(?:wr(?:ote|itten|ite)|author\w*|propose[sd]?|create[sd]?|draft(?:ed)?|edit(?:ed|ors?))\b",
    re.IGNORECASE,
)
_AUTHOR = re.compile(r"(?:Authors?|Editors?|Written by|By)\s?: ")
_BY_NAME = re.compile(r"\b(?:written|authored|proposed|created|drafted|edited) by [A-Z]")


def answer_author(
    question: str, evidence: Sequence[Evidence], statements: Sequence[Statement]
) -> Cells:
    """Return the line that names the author whom a question asks for, as a named cell is returned.

    It is that of the document whose title, or header before the line, has all other words of the
    question. Without one, it is that of the best statement's document, and not named. If the best
    statement itself says who it was, the line of its document is left out.
    """
    best = find_best(statements)
    if best is None or not _AUTHORED.search(question) or read_question(question).kind != "who":
        return NO_CELLS

    chunks = {item.key: item.chunk for item in evidence}
    own = chunks[best.key].doc_id
    told = own if _BY_NAME.search(best.text) else None
    lines = [
        each for each in statements if _AUTHOR.match(each.text) and chunks[each.key].doc_id != told
    ]
    asked = set(terms(_AUTHORED.sub(" ", question)))

    for line in lines if asked else ():
        if asked <= _name(line, chunks[line.key]):
            return Cells(((line.key, line.text),), "named")
    rest = [(each.key, each.text) for each in lines if chunks[each.key].doc_id == own]
    return Cells(tuple(rest[:1]))


def _name(line: Statement, chunk: Chunk) -> set[str]:
    """Return the words of a document's title, and of its header before the author."""
    header = " ".join(chunk.text.split()).partition(line.text)[0]
    return set(terms(f"{chunk.title}\n{header}"))
