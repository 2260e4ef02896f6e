"""Find the documents that a question names: by title, id or file, or by their first lines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import PurePath

from esrag.context import Context
from esrag.engines import Engine
from esrag.filters import Filter
from esrag.records import Chunk, StoredDocument
from esrag.retrieval import retrieve
from esrag.text.edits import is_near, max_edits
from esrag.text.terms import STOP_WORDS, terms

MAX_TITLE_CHARACTERS = 80
MIN_TITLE_USES = 1.5  # of each word, at the mean
MIN_CAPITALS = 0.6  # share of capitalised words
HEAD_CHUNKS = 3  # where a document without a title names itself

_PART = re.compile(r"[^\W\d_]+|\d+")
_INDEFINITE = re.compile(r"(?:an?|any|some|each|every|most|all|your|my)\s", re.IGNORECASE)
_ONLY = re.compile(r"(?:the|this|that|your|my) (?:document|file|pdf|paper|text)", re.IGNORECASE)
_MIN_FUZZY = 6  # characters; shorter words are too often one edit apart
# Words that say what a named thing is.
_KINDS = frozenset(
    """document doc file paper pdf publication report text case decision page article rfc
    specification standard book memo email presentation""".split()  # noqa: SIM905 -- as STOP_WORDS
)


def find_documents(
    name: str, context: Context, where: Filter | None
) -> list[tuple[StoredDocument, Chunk | None]]:
    """Return the documents that a name fits best, each with a passage if that is read already.

    "This document" is the only one. If no title or file has the name, a single document may have it
    in its first lines. Raises: IndexMissing.
    """
    pairs = list(iter_documents(context.engine, where))
    if _ONLY.fullmatch(name):
        return pairs if len(pairs) == 1 else []

    if named := find_named(name, [document for document, _ in pairs]):
        wanted = {document.doc_id for document in named}
    else:
        wanted = set(_find_by_head(name, context, where))
        wanted = wanted if len(wanted) == 1 else set()
    return [pair for pair in pairs if pair[0].doc_id in wanted]


def find_named(name: str, documents: Iterable[StoredDocument]) -> list[StoredDocument]:
    """Return the documents that a name fits best; several if it fits them equally well.

    Every word of the name has to occur in the title, id or file name of a document, if need be with
    a slip. One word is too little for a name, unless it has a figure or is all of the title.
    """
    asked = _read_words(name)
    scored = [(_score(asked, document), document) for document in documents]
    best = max((score for score, _ in scored), default=0.0)
    if not best or (_INDEFINITE.match(name) and best < 1):
        return []
    return [document for score, document in scored if score == best]


def has_in_name(topic: str, document: StoredDocument) -> bool:
    """Return whether title, id and file name of a document have every word of a topic."""
    title, own, file = _read_names(document)
    wanted, held = _read_words(topic), {**title, **own, **file}
    return bool(wanted) and all(_is_in(stem, word, held) for stem, word in wanted.items())


def _find_by_head(name: str, context: Context, where: Filter | None) -> list[str]:
    """Return the ids of documents whose first lines have the name as it is written.

    Only a name in capitals or with a figure is looked for: other words may stand anywhere.
    """
    if _INDEFINITE.match(name) or not any(each.isupper() or each.isdigit() for each in name):
        return []
    found = retrieve(name, context, where)
    phrase = _flatten(name)
    return [
        doc_id
        for doc_id in dict.fromkeys(hit.chunk.doc_id for hit in found.hits)
        if any(
            phrase in _flatten(f"{chunk.section}\n{chunk.text}")
            for chunk in read_head(context.engine, doc_id, HEAD_CHUNKS)
        )
    ]


def read_head(engine: Engine, doc_id: str, count: int = 1) -> Sequence[Chunk]:
    """Return the first chunks of a document."""
    before_all = Chunk(  # its neighbours are the first chunks
        chunk_id="",
        doc_id=doc_id,
        ordinal=-1,
        start=0,
        end=0,
        start_page=0,
        end_page=0,
        text="",
    )
    return engine.neighbours(before_all, count)


def find_title_line(texts: Sequence[str], topic: AbstractSet[str] = frozenset()) -> str:
    """Return the line of the first text, in title case, whose words are used most in all of them.

    Words of the topic, which other documents share, do not count. "" without such a line.
    """
    uses = Counter(term for text in texts for term in terms(text) if term not in topic)
    lines = [
        line.strip() for text in texts[:1] for line in text.split("\n") if _is_title_like(line)
    ]

    def score(line: str) -> float:
        words = set(terms(line))
        return sum(uses[word] for word in words) / (1 + len(words))

    best = max(lines, key=score, default="")
    return best if score(best) >= MIN_TITLE_USES else ""


def _is_title_like(line: str) -> bool:
    """Return whether a line may be a title: a few words, most of them capitalised."""
    words = [word for word in line.split() if word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    return (
        capitals > 1
        and line[0].isalpha()
        and len(line) <= MAX_TITLE_CHARACTERS
        and words[-1][0].isupper()
        and "|" not in line
        and capitals >= MIN_CAPITALS * len(words)
    )


def iter_documents(
    engine: Engine, where: Filter | None
) -> Iterator[tuple[StoredDocument, Chunk | None]]:
    """Yield the documents that the filter lets through, each with its first passage that passes.

    Without a filter that passage is not read yet. Raises: IndexMissing.
    """
    if where is None:
        yield from ((document, None) for document in engine.documents())
        return

    first: dict[str, Chunk] = {}
    for chunk in engine.chunks(where):
        first.setdefault(chunk.doc_id, chunk)
    for document in engine.documents([*first]):
        yield document, first[document.doc_id]


def file_name(document: StoredDocument) -> str:
    """Return the name of a document's file, with its row if the file holds many documents."""
    row = "".join(document.doc_id.partition("#")[1:]) if document.source_documents > 1 else ""
    return f"{PurePath(document.source).name or document.doc_id}{row}"


def _score(asked: Mapping[str, str], document: StoredDocument) -> float:
    """Return how much of the document's nearest name the words are, 0..1; 0 if one is missing."""
    title, own, file = _read_names(document)
    held = {**title, **own, **file}
    wanted = asked.keys() - _KINDS or asked.keys()
    if not wanted or not all(_is_in(stem, asked[stem], held) for stem in wanted):
        return 0.0

    if any(one and one.keys() in (wanted, asked.keys()) for one in (title, own)):
        return 1.0
    is_name = len(wanted) > 1 or any(word.isdigit() for word in wanted)
    share = max(len(wanted & one.keys()) / len(wanted | one.keys()) for one in (title, own, file))
    return max(share, 1 / len(held)) if is_name else 0.0


def _read_names(document: StoredDocument) -> tuple[dict[str, str], ...]:
    """Return the words of a document's title, id and file name."""
    names = (document.title, document.doc_id, PurePath(document.source).name)
    return tuple(map(_read_words, names))


def _is_in(stem: str, word: str, held: Mapping[str, str]) -> bool:
    """Return whether a name has a word, if need be with a slip."""
    if stem in held:
        return True
    return len(word) >= _MIN_FUZZY and any(
        is_near(word, other, max_edits(word)) for other in held.values()
    )


def _read_words(name: str) -> dict[str, str]:
    """Return the words of a name by their stems, and its numbers; letters and digits are apart.

    >>> _read_words("The PEP-0008 guides")
    {'pep': 'pep', '8': '8', 'guid': 'guides'}
    """
    found: dict[str, str] = {}
    for part in _PART.findall(name.casefold()):
        if part.isdigit():
            with suppress(ValueError):  # longer than Python turns into a number
                found[str(int(part))] = str(int(part))
        elif part not in STOP_WORDS:
            found |= dict.fromkeys(terms(part), part)
    return found


def _flatten(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())
