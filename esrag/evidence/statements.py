"""Find what the evidence states: its sentences, lists and table rows."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from esrag.evidence import Statement
from esrag.evidence.asked import find_below
from esrag.evidence.empty_cells import find_lacking
from esrag.evidence.fits import Read, Stated, score
from esrag.evidence.labels import drop_other_members
from esrag.evidence.lines import FIELD, Line, can_be_quoted, iter_spans, join_lines, lines, to_line
from esrag.evidence.preferences import prefer
from esrag.evidence.quantities import drop_other_quantities
from esrag.evidence.ranges import split_rows
from esrag.records import Chunk, Evidence
from esrag.text import drop_number, get_heading, is_clause
from esrag.text.figures import to_figures
from esrag.text.lists import Item, ItemList, read_heading, read_next_items
from esrag.text.questions import read_question
from esrag.text.terms import terms

BELOW = 0.75  # least fit of what stands below the question itself
# A case that is cited, such as "See Smith v. Jones, 3 U. S. 5 (1797)."
_CITES = re.compile(r"(?:but )?(?:see|cf\.|accord|compare)[ ,].{1,120} v\. ", re.IGNORECASE)
_REFERENCE = re.compile(r"\^ (?:[a-z] ){0,9}[\"“A-Z]")  # in a list of sources: "^ Young, Emma."
_PAGE = re.compile(r"\[Page(?: \d+)?\]\W*\Z")  # at the foot of a memo's page
# Words with the pages that they are on, in an index: "keys, 7 library, 3 locks, 3, 7".
_INDEXED = re.compile(r"[\w)], \d{1,4}(?:(?:, |[-–])\d{1,4}){0,9} (?=[^\W\d])")
_MIN_INDEXED = 6
_SOURCES = re.compile(
    r"(?:\A|> )(?:[\d.]+ )?(?:references|bibliography|literature(?: cited)?|works cited)\Z",
    re.IGNORECASE,
)
# The title of a paper, in a passage with years in brackets.
_TITLE = re.compile(r"[“\"][^“”\"]{10,200}[.,]?[”\"][.,]?")
_PUBLISHED = re.compile(r"\((?:19|20)\d\d[a-z]?\)[.,]|\bdoi:")
_CONTENTS = re.compile(r"(?:table of contents|contents|list of (?:figures|tables))", re.IGNORECASE)
_ASKS_FOR_SOURCES = re.compile(
    r"\b(?:articles?|authors?|books?|cite[ds]?|citations?|journals?|links?|papers?|publi\w+"
    r"|references?|sources?|url|who|wrote|written)\b",
    re.IGNORECASE,
)
# What only says that something will be said.
_PROMISES = re.compile(
    r"In this \w{1,20},? (?:you|we)(?:['’]ll| will)\b|This \w{1,20} (?:shows|teaches) you\b"
)
# A mere reference to another place; "Where …?" may ask for it.
_REFERS = re.compile(
    r"See (?:also )?(?:Appendix|Chapters?|Figures?|Parts?|Sections?|Tables?)\b.{1,200}"
    r" for (?:an?|details?|further|information|more|the)\b"
)
_OPEN = re.compile(r"[:?]\Z|\w—\Z")  # but a row may end with the dash of an empty cell
_OPENS = re.compile(  # a question
    r"(?:\d{1,3}(?:\.\d{1,3}){0,4}\.? )?(?:I['’]|My\b|Is|Are|Was|Were|Do|Does|Did|Has|Have|Can"
    r"|Could|May|Must|Should|Shall|Will|Would|In|What|How|Which|Who|Whom|Whose|When|Where|Why)\b"
)
# Questions that ask for more than yes or no.
_ASKS_MORE = re.compile(r"\s*(?:what|how|which|who|whom|whose|when|where|why)\b", re.IGNORECASE)
_BEGINS_SENTENCE = re.compile(r"(?:An?|The|This|These|In|For|If|It|All|Any|Each|To|When)\s")


def statements(
    question: str, evidence: Sequence[Evidence], read: Read | None = None
) -> tuple[Statement, ...]:
    """Return every distinct sentence and table row of the evidence in order, with its fit.

    `read` is that of `score`; what stands below the same question fits at least `BELOW`. Left out
    are statements about another member of a series than the question names (lamp 8 instead of lamp
    7), and those that give another quantity ("which lamp burns 80 litres?"). A list that only its
    heading announces has a fit of 0, except for a question that wants a list: its items answer.
    """
    all_said = _found(evidence)
    found = drop_other_members(question, all_said, evidence)
    found = drop_other_quantities(question, found)
    found = _drop_rows(question, found, evidence)
    told = _drop_empty(question, found) or found
    aside = [each for each in found if each.is_headed and each not in told]
    found = _drop_sources(question, told, evidence) or told
    if not found:
        return ()

    below = find_below(question, all_said, evidence)
    scored = prefer(question, score(Stated(question, evidence, found), read))
    raised = [
        replace(each, fit=round(BELOW + (1 - BELOW) * each.fit, 6)) if each.order in below else each
        for each in scored
    ]
    return tuple(sorted([*raised, *aside], key=lambda each: each.order))


def _drop_rows(
    question: str, found: Sequence[Statement], evidence: Sequence[Evidence]
) -> list[Statement]:
    """Return the statements without rows of another range, or without the cell asked for."""
    dropped: set[tuple[str, str]] = set()
    for item in evidence:
        rows = {to_line(line.text): line.row for line in lines(item.chunk.text) if line.row}
        _, others = split_rows(question, rows.values())
        others |= find_lacking(question, rows.values())
        dropped |= {(item.key, text) for text, row in rows.items() if row in others}
    return [each for each in found if (each.key, each.text) not in dropped]


def _found(evidence: Sequence[Evidence]) -> list[Statement]:
    seen: set[str] = set()
    found: list[Statement] = []

    for item in evidence:
        last, asked = None, ""
        for line in lines(item.chunk.text):
            section = _find_section(line, item.chunk)
            if section != last:
                last, headings = section, _read_headings(section)
                asked = _find_heading(item.chunk, section)
            asked = _find_asked(line, asked)
            said, more = _say_whole(line, item.chunk, evidence)
            text = _drop_heading(to_line(said), headings)
            if _is_asked_in(text, get_heading(section)) or _is_listed_in(text, section):
                continue
            if can_be_quoted(text) and text not in seen:
                seen.add(text)
                items = len(line.listed.items) + len(more) if line.listed else 0
                found.append(
                    Statement(
                        key=item.key,
                        order=len(found),
                        text=text,
                        source=line.source,
                        items=items,
                        more=more,
                        is_headed=line.is_headed,
                        under=line.under or asked,
                        section=section,
                    )
                )

    return found


def _is_listed_in(text: str, section: str) -> bool:
    """Return whether a text has headings of a table of contents, and no sentence.

    >>> contents = "Guide > Table of Contents"
    >>> _is_listed_in("1. Oil 1.1. Lids", contents), _is_listed_in("It is new.", contents)
    (True, False)
    """
    return bool(_CONTENTS.fullmatch(get_heading(section))) and not text.endswith((".", "!"))


def _find_section(line: Line, chunk: Chunk) -> str:
    """Return the path of the headings above a line of a chunk."""
    return chunk.find_break(chunk.start + line.start).section


def _is_asked_in(text: str, heading: str) -> bool:
    """Return whether a text is a sentence of a heading that asks.

    >>> _is_asked_in("It won't start.", "It won't start. Why?"), _is_asked_in("It is.", "It is.")
    (True, False)
    """
    return heading.endswith("?") and text in heading


def _find_heading(chunk: Chunk, section: str) -> str:
    """Return the last heading of a section of a chunk, or the title that a first row asks with."""
    heading = get_heading(section)
    return chunk.title if not heading and chunk.ordinal == 0 else heading


def _find_asked(line: Line, asked: str) -> str:
    """Return the question below which a line stands, given that of the line before, or "".

    >>> [_find_asked(Line(text, text), "Is it?") for text in ("It is.", "Who?", "### Is it?")]
    ['Is it?', 'Who?', 'Is it?']
    """
    if line.text.endswith("?"):
        text = read_heading(line.text) or line.text
        return text if line.text == line.source and _OPENS.match(text) else ""
    return asked if asked.endswith("?") and not line.under else ""


def _say_whole(
    line: Line, chunk: Chunk, evidence: Sequence[Evidence]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a statement, and how its list goes on in the passages that follow its own."""
    if not (line.listed and line.listed.is_open):
        return line.text, ()

    following = tuple(_iter_continued(line.listed, chunk, evidence))
    said, *more = line.listed.render(*(items for _, items in following))
    keys = [key for key, _ in following]
    parts = tuple((key, join_lines(part)) for key, part in zip(keys, more, strict=False))
    return (said if parts else line.text), parts


def _iter_continued(
    listed: ItemList, chunk: Chunk, evidence: Sequence[Evidence]
) -> Iterator[tuple[str, tuple[Item, ...]]]:
    """Yield the key and the first items of each passage that goes on with the list at the end."""
    places = {(item.chunk.doc_id, item.chunk.ordinal): item for item in evidence}
    last: Item = listed.items[-1] if listed.items else ("",)

    while following := places.get((chunk.doc_id, chunk.ordinal + 1)):
        text = following.chunk.text[max(chunk.end - following.chunk.start, 0) :]
        found = read_next_items(text, tuple(iter_spans(text)), last)
        if found.items:
            yield following.key, found.items
        if not found.is_open:
            return
        chunk, last = following.chunk, found.items[-1]


def _drop_empty(question: str, found: Sequence[Statement]) -> list[Statement]:
    """Return the statements, except those that only ask, introduce a list or repeat the question.

    A list that does not introduce itself is left out unless one is asked for, or what its heading
    means: its items answer.
    """
    asked = read_question(question)
    # By count: "Lamp 7 burns 7 litres" says more than "How many litres does lamp 7 burn?"
    known = Counter(terms(to_figures(question))) if _ASKS_MORE.match(question) else Counter[str]()
    return [
        each
        for each in found
        if not (
            _OPEN.search(each.text)
            or _PAGE.search(each.text)
            or _CITES.match(each.text)
            or _REFERENCE.match(each.text)
            or _PROMISES.match(each.text)
            or (_REFERS.match(each.text) and "where" not in question.lower())
            or len(_INDEXED.findall(each.text)) >= _MIN_INDEXED
            or (each.is_headed and asked.kind != "list" and not _is_under(each, asked.subject))
            or Counter(terms(to_figures(FIELD.sub("", each.text)))) <= known
        )
    ]


def _is_under(listed: Statement, subject: str) -> bool:
    """Return whether the heading of a list is the subject of a question."""
    return listed.text.partition(":")[0].casefold() == subject.casefold()


def _drop_sources(
    question: str, found: Sequence[Statement], evidence: Sequence[Evidence]
) -> list[Statement]:
    """Return the statements, without those of a list of references, unless it is asked for.

    The heading above such a list may not have been found; then only titles are left out.
    """
    if _ASKS_FOR_SOURCES.search(question):
        return [*found]
    listing = {item.key for item in evidence if _SOURCES.search(item.chunk.section)}
    citing = {item.key for item in evidence if _PUBLISHED.search(item.chunk.text)}
    return [
        each
        for each in found
        if each.key not in listing and not (each.key in citing and _TITLE.fullmatch(each.text))
    ]


def _read_headings(section: str) -> tuple[str, ...]:
    """Return the headings of a section's path without their numbers, the longest first.

    Left out are those that say something themselves.
    """
    names = (drop_number(name) for name in section.split(" > ") if not is_clause(name))
    return tuple(sorted(filter(None, names), key=len, reverse=True))


def _drop_heading(line: str, headings: Sequence[str]) -> str:
    """Return a statement without the heading of its section before it; "" for a mere heading.

    >>> _drop_heading("3.1 Keys", ["Keys"]), _drop_heading("Keys This is about keys.", ["Keys"])
    ('', 'This is about keys.')
    >>> _drop_heading("Keys open doors.", ["Keys"])
    'Keys open doors.'
    """
    bare = drop_number(line)
    for heading in headings:
        rest = bare.removeprefix(heading).strip() if bare.startswith(heading) else line
        if not rest.strip(".:"):
            return ""
        if rest != line and _BEGINS_SENTENCE.match(rest):
            return rest
    return line
