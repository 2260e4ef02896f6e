"""Facts in their index: each is a document whose title is the question and whose text the answer.

So a fact that answers becomes evidence like any passage, and is cited and checked by the same code
on every engine. The index has no vectors: facts are found by their words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from esrag.chunking.cut import text_to_index
from esrag.engines import Engine, Prepared
from esrag.engines.preconditions import text_hash
from esrag.errors import EngineError
from esrag.facts import Fact, question_key
from esrag.records import Chunk, Fingerprint, StoredDocument
from esrag.text.terms import find_technical_words, whole_words

FINGERPRINT = Fingerprint(model="", dimensions=0, chunker="facts/1")
KIND = "fact"
_PORTION = 1_000  # facts written together
_OWN = ("source_url", "valid_from", "valid_until", "facts_file")


@dataclass(frozen=True, slots=True)
class Change:
    """What an import changes: facts to write, and ids to remove."""

    added: tuple[Fact, ...]
    changed: tuple[Fact, ...]
    removed: tuple[str, ...]
    unchanged: int


def index_name(index: str) -> str:
    """Return the name of the index with the facts of an index."""
    return f"{index}-facts"


def list_facts(engine: Engine) -> Iterator[Fact]:
    """Yield the stored facts by id; none if nothing was ever imported. Raises: EngineError."""
    if engine.exists():
        yield from map(to_fact, engine.chunks())


def compare_with_stored(facts: Sequence[Fact], stored: Sequence[Fact], file: str) -> Change:
    """Return what makes the index hold these facts of a file, and no other ones of it."""
    known = {fact.fact_id: fact for fact in stored}
    wanted = {fact.fact_id: fact for fact in facts}
    gone = [key for key, fact in known.items() if fact.file == file and key not in wanted]
    changed = [f for key, f in wanted.items() if key in known and known[key] != f]
    return Change(
        added=tuple(fact for key, fact in wanted.items() if key not in known),
        changed=tuple(changed),
        removed=tuple(gone),
        unchanged=len(wanted.keys() & known.keys()) - len(changed),
    )


def write_change(change: Change, engine: Engine) -> None:
    """Write and remove facts. Raises: EngineError if the engine refuses one; IndexBusy."""
    written = [*change.added, *change.changed]
    if not (written or change.removed):
        return

    with engine.writer(FINGERPRINT) as writer:
        for start in range(0, len(written), _PORTION):
            portion = [_prepare(fact) for fact in written[start : start + _PORTION]]
            if refused := writer.replace(portion):
                raise EngineError("; ".join(f"{key}: {why}" for key, why in refused.items()))
        if change.removed:
            writer.remove(change.removed)


def copy_facts(source: Engine, target: Engine) -> None:
    """Write the facts of an index to another one, which keeps its own.

    Raises: as `write_change`.
    """
    everything = Change(added=tuple(list_facts(source)), changed=(), removed=(), unchanged=0)
    write_change(everything, target)


def remove_facts(fact_ids: Sequence[str], engine: Engine) -> None:
    """Remove facts by their ids."""
    with engine.writer(FINGERPRINT) as writer:
        writer.remove(fact_ids)


def to_fact(chunk: Chunk) -> Fact:
    """Return the fact that a chunk of the index holds."""
    own = {name: str(chunk.metadata.get(name, "")) for name in _OWN}
    others = {name: value for name, value in chunk.metadata.items() if name not in _OWN}
    return Fact(
        question=chunk.title,
        answer=chunk.text,
        source_url=own["source_url"],
        valid_from=own["valid_from"],
        valid_until=own["valid_until"],
        file=own["facts_file"],
        metadata=others,
    )


def _prepare(fact: Fact) -> Prepared:
    chunk = to_chunk(fact)
    hashed = text_hash(repr(fact.to_dict()))
    document = StoredDocument(
        doc_id=chunk.doc_id,
        source=fact.source_url,
        source_sha256=hashed,
        revision=hashed,
        kind=KIND,
        title=chunk.title,
        characters=len(chunk.text),
        page_count=0,
        chunk_count=1,
        metadata=chunk.metadata,
    )
    return Prepared(
        document=document, chunks=(chunk,), indexed_texts=(_text_to_find(chunk),), vectors=None
    )


def _text_to_find(chunk: Chunk) -> str:
    """Return what a fact is found by: its words, compounds also as one, and its whole question."""
    text = text_to_index(chunk)
    key = key_term(question_key(chunk.title))
    return " ".join((text, *whole_words(text), key))


def key_term(key: str) -> str:
    """Return the search term of a whole question, by its key."""
    return f"q{blake2b(key.encode(), digest_size=8).hexdigest()}"


def to_chunk(fact: Fact) -> Chunk:
    """Return the chunk of the index that holds a fact."""
    own = (fact.source_url, fact.valid_from, fact.valid_until, fact.file)
    described = {name: value for name, value in zip(_OWN, own, strict=True) if value}
    return Chunk(
        chunk_id=f"{fact.fact_id}::p0001::c001",
        doc_id=fact.fact_id,
        ordinal=0,
        start=0,
        end=len(fact.answer),
        start_page=1,
        end_page=1,
        text=fact.answer,
        title=fact.question,
        keywords=find_technical_words(fact.answer),
        metadata={**fact.metadata, **described},
    )
