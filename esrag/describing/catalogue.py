"""Answer questions about the collection: which documents there are, how many, how long."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from esrag.context import Context
from esrag.describing import Description, markers
from esrag.describing.naming import (
    file_name,
    find_documents,
    find_title_line,
    has_in_name,
    iter_documents,
    read_head,
)
from esrag.engines import SearchResult
from esrag.evidence.lines import strip_markers
from esrag.filters import Filter, format_value
from esrag.records import Answer, Chunk, Evidence, Hit, StoredDocument
from esrag.retrieval import retrieve
from esrag.routing.document_questions import DocumentQuestion
from esrag.text import format_count, sentence_spans
from esrag.text.terms import terms
from esrag.verifying.verify import cite

MAX_LISTED = 20  # documents in one answer
MAX_NAMED = 3  # documents named beside a value
MAX_ON_TOPIC = 7
MAX_COUNTED = 5  # documents cited for a number of documents
MAX_NAME = 100  # characters of a document's name
NAME_CHUNKS = 6  # where a document without a title is looked through for a name
DEPTH = 100  # hits in which documents on a topic are looked for
MAX_HITS = 3  # of a document that count, so that a long document does not push others out
MIN_WORDS = 0.5  # share of the topic's words
MIN_SHARE = 0.3  # of the best document's score, which a document on the topic has
RANK_CONSTANT = 60
ON_TOPIC = 0.55  # confidence of a list of documents that have the words of a topic

NOTE = "from the records of the index, not a quotation"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A document with the passage that is cited for it, and its name for a reader."""

    document: StoredDocument
    chunk: Chunk
    name: str
    score: float = 0.0


def describe_collection(
    asked: DocumentQuestion, context: Context, where: Filter | None
) -> Description | None:
    """Return the answer to a question about the collection; None if it is about something else.

    Raises: IndexMissing.
    """
    if asked.wanted == "pages":
        return _count_pages(asked.about, context, where)
    if asked.about:
        return _list_on_topic(asked, context, where)

    documents = _iter_of_format(asked.format, context, where)
    describe = _count if asked.wanted == "count" else _list_all
    return describe(documents, context, _noun(asked.format))


def _noun(form: str) -> str:
    """Return what one document of a format is called.

    >>> _noun("pdf"), _noun("word"), _noun("")
    ('PDF document', 'Word document', 'document')
    """
    names = {"word": "Word", "markdown": "Markdown", "email": "email"}
    return f"{names.get(form, form.upper())} document".lstrip()


def _iter_of_format(
    form: str, context: Context, where: Filter | None
) -> Iterator[tuple[StoredDocument, Chunk | None]]:
    for document, chunk in iter_documents(context.engine, where):
        if not form or _has_format(document, form):
            yield document, chunk


def _has_format(document: StoredDocument, form: str) -> bool:
    return document.kind == {"word": "docx", "email": "eml"}.get(form, form)


def _list_all(
    documents: Iterator[tuple[StoredDocument, Chunk | None]], context: Context, noun: str
) -> Description | None:
    """Return one line per document, as many as one answer lists."""
    entries = list(_entries(islice(documents, MAX_LISTED), context))
    left = sum(1 for _ in documents)
    total = f"the collection has {format_count(len(entries) + left, noun)}"
    note = f"{total}; esrag docs lists all" if left else total
    return _listing(entries, (NOTE, note)) if entries else None


def _count(
    documents: Iterator[tuple[StoredDocument, Chunk | None]], context: Context, noun: str
) -> Description | None:
    """Return the number of documents, citing the first ones."""
    entries = list(_entries(islice(documents, MAX_COUNTED), context))
    if not entries:
        return None

    total = len(entries) + sum(1 for _ in documents)
    evidence = _evidence(entries)
    text = f"The collection has {format_count(total, noun)}. {markers(evidence)}"
    note = f"{NOTE}; the first documents are cited"
    return _description(text, entries, evidence, (note,))


def _count_pages(name: str, context: Context, where: Filter | None) -> Description | None:
    """Return the pages of the documents with a name; None if no document has it."""
    named = find_documents(name, context, where)[:MAX_COUNTED]
    entries = list(_entries(named, context))
    if not entries:
        return None

    evidence = _evidence(entries)
    text = " ".join(
        f"{each.name} ({strip_markers(file_name(each.document))}) {_pages(each.document)}."
        f" [{item.key}]"
        for each, item in zip(entries, evidence, strict=True)
    )
    return _description(text, entries, evidence, (NOTE,))


def _pages(document: StoredDocument) -> str:
    count = document.page_count
    return f"has {format_count(count, 'page')}" if count else "is in a format without pages"


def _list_on_topic(
    asked: DocumentQuestion, context: Context, where: Filter | None
) -> Description | None:
    """Return one line per document with the topic in its name, then those that write about it."""
    pairs = _iter_of_format(asked.format, context, where)
    titled = (pair for pair in pairs if has_in_name(asked.about, pair[0]))
    named = [*_entries(islice(titled, MAX_LISTED), context)]
    found, others = _find_on_topic(asked, context, where)
    known = {each.document.doc_id for each in named}

    entries = [*named, *(each for each in others if each.document.doc_id not in known)]
    if not entries:
        return None
    note = f"documents with {asked.about!r} in their name, or half of its words in a passage"
    shown = entries[: max(MAX_ON_TOPIC, len(named))]
    return replace(_listing(shown, (note,), found), confidence=ON_TOPIC)


def _find_on_topic(
    asked: DocumentQuestion, context: Context, where: Filter | None
) -> tuple[SearchResult, list[_Entry]]:
    """Return what was found, and the documents whose passages have half of the topic's words."""
    wanted = frozenset(terms(asked.about))
    deep = context.with_settings({"retrieval.k": DEPTH})
    found = retrieve(asked.about, deep, where) if wanted else SearchResult((), "records")
    best, scores = _rank(found.hits, wanted)
    least = MIN_SHARE * max(scores.values(), default=0.0)

    documents = {each.doc_id: each for each in context.engine.documents([*best])}
    entries = [
        _Entry(
            document=documents[doc_id],
            chunk=chunk,
            name=_name(documents[doc_id], chunk, context, wanted),
            score=scores[doc_id],
        )
        for doc_id, chunk in best.items()
        if scores[doc_id] >= least
        and doc_id in documents
        and (not asked.format or _has_format(documents[doc_id], asked.format))
    ]
    return found, sorted(entries, key=lambda entry: -entry.score)


def list_values(field: str, where: Filter, context: Context) -> Description | None:
    """Return one line per value of a field, with the documents that have it; None without any."""
    by_value: dict[str, list[tuple[StoredDocument, Chunk | None]]] = {}
    for document, chunk in iter_documents(context.engine, where):
        if (value := document.metadata.get(field, "")) != "":
            by_value.setdefault(format_value(value), []).append((document, chunk))
    if not by_value:
        return None

    shown = sorted(by_value.items())[:MAX_LISTED]
    entries = [_entry_of_value(value, held, context) for value, held in shown]
    left = len(by_value) - len(shown)
    more = (f"{format_count(left, 'other')} left out",) if left else ()
    return _listing(entries, (NOTE, *more))


def _entry_of_value(
    value: str, held: Sequence[tuple[StoredDocument, Chunk | None]], context: Context
) -> _Entry:
    """Return the first document that has a value, named by the value and the documents' names."""
    named = list(_entries(held[:MAX_NAMED], context))
    names = ", ".join(entry.name for entry in named)
    more = len(held) - len(named)
    name = f"{strip_markers(value)}: {names}" + (f" and {more} more" if more else "")
    return replace(named[0], name=name)


def _rank(hits: Sequence[Hit], wanted: frozenset[str]) -> tuple[dict[str, Chunk], dict[str, float]]:
    """Return the best passage and the score of each document whose hits have half of the words.

    Documents without a word count less: "backup programs" are also called tools.
    """
    chunks = [hit.chunk for hit in hits]
    held = [set(terms(one.whole_text)) & wanted for one in chunks]
    by_document: dict[str, list[int]] = {}
    for place, chunk in enumerate(chunks):
        by_document.setdefault(chunk.doc_id, []).append(place)

    best: dict[str, Chunk] = {}
    scores: dict[str, float] = {}
    for doc_id, places in by_document.items():
        share = len(set().union(*(held[place] for place in places))) / (len(wanted) or 1)
        if share >= MIN_WORDS:
            best[doc_id] = chunks[max(places, key=lambda place: len(held[place]))]
            near = sum(1 / (RANK_CONSTANT + 1 + place) for place in places[:MAX_HITS])
            scores[doc_id] = near * share
    return best, scores


def _entries(
    documents: Iterable[tuple[StoredDocument, Chunk | None]], context: Context
) -> Iterator[_Entry]:
    """Yield the documents that have a passage, with their names."""
    for document, known in documents:
        chunk = known or next(iter(read_head(context.engine, document.doc_id)), None)
        if chunk:
            yield _Entry(document, chunk, _name(document, chunk, context))


def _name(
    document: StoredDocument, chunk: Chunk, context: Context, topic: frozenset[str] = frozenset()
) -> str:
    """Return the title, else the first heading, else a line that names the document."""
    if document.title:
        return _shorten(document.title)
    chunks = read_head(context.engine, document.doc_id, NAME_CHUNKS) or [chunk]
    if heading := chunks[0].section.partition(" > ")[0]:
        return _shorten(heading)
    head = [each.text for each in chunks]
    line = find_title_line(head, topic) or find_title_line(head)
    first = head[0].strip().partition("\n")[0]
    return f"“{_shorten(line or first)}”"


def _shorten(text: str) -> str:
    """Return a text on one line, cut after a word if there are blanks.

    >>> _shorten("字" * 200) == "字" * MAX_NAME + " …"
    True
    """
    line = strip_markers(" ".join(text.split()))
    if len(line) <= MAX_NAME:
        return line

    cut = line[:MAX_NAME]
    return f"{cut.rpartition(' ')[0] or cut} …"


def _evidence(entries: Sequence[_Entry]) -> tuple[Evidence, ...]:
    return tuple(Evidence(f"c{n}", entry.chunk, entry.score) for n, entry in enumerate(entries, 1))


def _listing(
    entries: Sequence[_Entry], notes: tuple[str, ...], found: SearchResult | None = None
) -> Description:
    """Return one line per document, each citing its passage."""
    evidence = _evidence(entries)
    lines = (
        f"- {entry.name} ({_size(entry.document)}) [{item.key}]"
        for entry, item in zip(entries, evidence, strict=True)
    )
    return _description("\n".join(lines), entries, evidence, notes, found)


def _size(document: StoredDocument) -> str:
    count = document.page_count
    name = strip_markers(file_name(document))
    return f"{name}, {format_count(count, 'page')}" if count else name


def _description(
    text: str,
    entries: Sequence[_Entry],
    evidence: tuple[Evidence, ...],
    notes: tuple[str, ...],
    found: SearchResult | None = None,
) -> Description:
    citations = tuple(
        cite(
            item,
            _quoted_span(item.chunk.text),
            support=1.0,
            source=entry.document.source,
        )
        for entry, item in zip(entries, evidence, strict=True)
    )
    answer = Answer(text, refused=False, citations=citations, notes=notes)
    return Description(answer, evidence, found or SearchResult((), "records"))


def _quoted_span(text: str) -> tuple[int, int]:
    """Return the span of the first sentence of a passage."""
    return next(iter(sentence_spans(text)), (0, len(text)))
