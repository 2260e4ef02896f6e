"""The first cells of a table's rows, as the list that a question asks for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from esrag.evidence import NO_DIRECT_ANSWER, Around, DirectAnswer
from esrag.evidence.lines import iter_first_cells, lines
from esrag.records import Chunk, Evidence, Hit
from esrag.text.lists import MAX_CHARACTERS
from esrag.text.questions import read_question
from esrag.text.terms import terms

MAX_PASSAGES = 6
# What a question may say of a thing and its parts.
_HAVING = set(terms("have has take accept support use need exist available define offer list all"))

Column = tuple[str, tuple[str, ...]]  # a header, and the cells below it


def with_tables(question: str, hits: Sequence[Hit], around: Around) -> tuple[Hit, ...]:
    """Return the hits; if a question asks for first cells, the passages with them come first.

    The best hit with such cells counts, and the chunks get its score.
    """
    asked = _read_asked(question)
    for hit in hits if asked else ():
        if _find_columns(asked, hit.chunk):
            near = sorted((hit.chunk, *around(hit.chunk)), key=lambda chunk: chunk.ordinal)
            whole = [chunk for chunk in near if _find_columns(asked, chunk)]
            return (*(replace(hit, chunk=chunk) for chunk in whole[:MAX_PASSAGES]), *hits)
    return (*hits,)


def answer_first_cells(question: str, evidence: Sequence[Evidence], around: Around) -> DirectAnswer:
    """Return the first cells of tables if a question asks for these, as named cells are returned.

    "Which parameters does the tool have?" asks for those below the header "Parameter" in a document
    or section on the tool: these have all other words of the question. A list that is too long to
    say as a whole is none, and so is one that goes on in passages that are not evidence.
    """
    asked = _read_asked(question)
    found = [(item, *each) for item in evidence for each in _find_columns(asked, item.chunk)]
    doc_ids = {item.chunk.doc_id for item, _, _ in found[:1]}
    own = sorted(
        (each for each in found if each[0].chunk.doc_id in doc_ids),
        key=lambda each: each[0].chunk.ordinal,
    )
    lists = tuple(_join(own))
    is_list = sum(len(names) for _, _, names in own) > 1
    is_short = len(lists) <= MAX_PASSAGES and all(len(text) <= MAX_CHARACTERS for _, text in lists)
    is_whole = is_list and is_short and _is_whole(asked, [item.chunk for item, _, _ in own], around)
    return DirectAnswer(lists, "named") if is_whole else NO_DIRECT_ANSWER


def _is_whole(asked: set[str], chunks: Sequence[Chunk], around: Around) -> bool:
    """Return whether no chunk around these has more of what is asked for."""
    held = {chunk.chunk_id for chunk in chunks}
    others = {each.chunk_id: each for chunk in chunks for each in around(chunk)}
    return not any(_find_columns(asked, chunk) for id_, chunk in others.items() if id_ not in held)


def _read_asked(question: str) -> set[str]:
    """Return the words of a question for a list; none for another question."""
    is_list = read_question(question).kind == "list"
    return set(terms(question)) - _HAVING if is_list else set()


def _find_columns(asked: set[str], chunk: Chunk) -> list[Column]:
    """Return the first columns of a chunk that have what is asked for."""
    if not asked or "|" not in chunk.text:
        return []

    known = set(terms(chunk.headings))
    return [
        (header, names)
        for header, names in iter_first_cells(lines(chunk.text))
        if asked - set(terms(header)) <= known and not asked.isdisjoint(terms(header))
    ]


def _join(found: Sequence[tuple[Evidence, str, Sequence[str]]]) -> Iterator[tuple[str, str]]:
    """Yield each list with its header, or without it where the same table goes on."""
    for (_, header), tables in groupby(found, key=lambda one: (one[0].chunk.section, one[1])):
        for number, (item, _, names) in enumerate(tables):
            yield item.key, "; ".join(names) if number else f"{header}: {'; '.join(names)}"
