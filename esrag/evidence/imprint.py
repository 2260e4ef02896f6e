"""The imprint: the line of a document that names its author, or says when it was published."""

import re
from collections.abc import Sequence

from esrag.evidence import NO_DIRECT_ANSWER, SURE, DirectAnswer, Statement, find_best
from esrag.records import Chunk, Evidence
from esrag.text.dates import DATE, DAY
from esrag.text.questions import find_other_words, read_question
from esrag.text.terms import terms

_AUTHORED = re.compile(
    r"\b(?:wr(?:ote|itten|ite)|author\w*|delivered|propose[sd]?|create[sd]?|draft(?:ed)?|edit(?:ed|ors?))\b",
    re.IGNORECASE,
)
_AUTHOR = re.compile(r"(?:Authors?|Editors?|Written by|By)\s?: ")
# "Justice Sotomayor delivered the opinion of the Court."
_DELIVERED = re.compile(r"(?:[A-Z][\w.'’-]{0,30},? ){1,6}(?:authored|delivered|drafted|wrote) ")
# "It was written by Lind.", "the module by Ada Lind"
_BY_NAME = re.compile(
    r"\b(?:written|authored|proposed|created|drafted|edited) by [A-Z]"
    r"|\bby (?:[A-Z][\w.'’-]{0,30} ){1,3}[A-Z][\w'’-]"
)

_WHEN = re.compile(
    r"\W*(?:when|(?:on |in |since )?(?:what|which) (?:date|day|year)|how long ago)\b", re.IGNORECASE
)
_RELEASED = re.compile(r"\b(?:releas\w*|c[oa]me out|appear\w*|published|shipped)\b", re.IGNORECASE)
_VERSION = re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,5}){1,3}\w{0,8}(?!\.?\w)")
# The verb or noun right before a date, as in: decided February 22, 2023; date of issue: 2020-05-01.
_DATED = re.compile(
    rf"(?<!\w)(?:date of )?(\w{{3,30}})(?: date)?(?:\s?[:–—]| on| in| as of|,)? {DATE}",
    re.IGNORECASE,
)
_FIELD = re.compile(
    rf"^[ \t]*(\w+(?:[ -]\w+){{0,3}}): ({DATE})[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_DAY = re.compile(rf"\b{DAY}\b", re.IGNORECASE)
_PROPER = re.compile(r"(?<=\s)[A-Z]\w+")  # "Kiel, 22 May 2023" is where a letter was written
_MAX_DATED = 30  # words of a line that says when something was done


def answer_author(
    question: str, evidence: Sequence[Evidence], statements: Sequence[Statement]
) -> DirectAnswer:
    """Return the line that names the author whom a question asks for, as a named cell is returned.

    It is that of the document whose title, or header before the line, has all other words of the
    question. Without one, it is that of the best statement's document, and not named. If the best
    statement itself says who it was, the line of its document is left out.
    """
    best = find_best(statements)
    if best is None or not _AUTHORED.search(question) or read_question(question).kind != "who":
        return NO_DIRECT_ANSWER

    chunks = {item.key: item.chunk for item in evidence}
    own = chunks[best.key].doc_id
    told = own if _BY_NAME.search(best.text) else None
    asked = set(terms(_AUTHORED.sub(" ", question)))
    lines = [
        each
        for each in statements
        if _names_author(each.text, asked) and chunks[each.key].doc_id != told
    ]

    for line in lines if asked else ():
        if asked <= _name(line.text, chunks[line.key]):
            return DirectAnswer(((line.key, line.text),), "named")
    rest = [(each.key, each.text) for each in lines if chunks[each.key].doc_id == own]
    return DirectAnswer(tuple(rest[:1]))


def _names_author(line: str, asked: set[str]) -> bool:
    """Return whether a line names an author: of the document, or of something asked for."""
    return bool(
        _AUTHOR.match(line)
        or (_DELIVERED.match(line) and not asked.isdisjoint(terms(_DELIVERED.sub("", line))))
    )


def answer_release(
    question: str, _: Sequence[Evidence], statements: Sequence[Statement]
) -> DirectAnswer:
    """Return the line that has nothing but a version in question and its date, as a named cell is.

    >>> said = [Statement("c1", n, each) for n, each in enumerate(("2.1 2020-05-07", "2.2 is new"))]
    >>> answer_release("When did Quill 2.1 come out?", [], said).found
    (('c1', '2.1 2020-05-07'),)
    """
    if not (_WHEN.match(question) and _RELEASED.search(question)):
        return NO_DIRECT_ANSWER
    versions = "|".join(map(re.escape, _VERSION.findall(question)))
    line = re.compile(rf"\W*v?(?:{versions})(?: final)?[:,]? {DATE}\W*")
    found = (each for each in statements if versions and line.fullmatch(each.text))
    return next((DirectAnswer(((one.key, one.text),), "named") for one in found), NO_DIRECT_ANSWER)


def answer_date(
    question: str, evidence: Sequence[Evidence], statements: Sequence[Statement]
) -> DirectAnswer:
    """Return the line that has a date for what a question asks the time of, as `answer_author`.

    "Decided February 22, 2023" answers when a case was decided, if the best statement does not.
    """
    best, opening = find_best(statements), _WHEN.match(question)
    if best is None or opening is None:
        return NO_DIRECT_ANSWER

    others = find_other_words(question)
    asked = set(terms(question[opening.end() :])) - set(terms(" ".join(others)))
    names = set(terms(" ".join(_PROPER.findall(question))))
    wanted = (asked - names) | set(terms(" ".join(others.values())))
    chunks = {item.key: item.chunk for item in evidence}
    lines = [(each.key, each.text) for each in statements if len(each.text.split()) <= _MAX_DATED]
    fields = [
        (key, f"{found[1]}: {found[2]}")
        for key, chunk in chunks.items()
        for found in _FIELD.finditer(chunk.text)
    ]
    dated = [(line, told) for line in (*lines, *fields) if (told := _find_dated(line[1]) & wanted)]
    if any(line == (best.key, best.text) for line, _ in dated) or _tells_day(best):
        return NO_DIRECT_ANSWER

    for (key, text), told in dated:
        if asked - told <= _name(text, chunks[key]):
            return DirectAnswer(((key, text),), "named")
    own = chunks[best.key].doc_id
    return DirectAnswer(tuple(line for line, _ in dated if chunks[line[0]].doc_id == own)[:1])


def _tells_day(best: Statement) -> bool:
    """Return whether the reader is sure of a statement that has a day."""
    return best.reading is not None and best.reading >= SURE and bool(_DAY.search(best.text))


def _find_dated(line: str) -> set[str]:
    """Return the terms that a line has right before a date.

    >>> sorted(_find_dated("Launched 5th September 2022, repaired Sept. 7, 2023"))
    ['launch', 'repair']
    """
    return {term for found in _DATED.finditer(line) for term in terms(found[1])}


def _name(line: str, chunk: Chunk) -> set[str]:
    """Return the words of a document's title, and of its header before a line."""
    header = " ".join(chunk.text.split()).partition(line)[0]
    return set(terms(f"{chunk.title}\n{header}"))
