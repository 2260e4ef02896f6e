"""What differs between two runs of a question."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from esrag.citations import MARKERS
from esrag.text import sentence_spans


@dataclass(frozen=True, slots=True)
class Moved:
    """A hit that both runs have, at other ranks (from 1)."""

    chunk_id: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Change:
    """A named value, or the text of a passage, in the first and in the second run."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What the second run has and the first has not, and the other way round.

    `conditions` are the version, the filter and the settings. They explain a difference and are
    none themselves. `fields` are parts of the answer, and `changed` are hits with another text.
    """

    conditions: tuple[Change, ...]
    fields: tuple[Change, ...]
    entered: tuple[str, ...]
    left: tuple[str, ...]
    moved: tuple[Moved, ...]
    changed: tuple[Change, ...]
    removed_sentences: tuple[str, ...]
    added_sentences: tuple[str, ...]

    def __bool__(self) -> bool:
        return any(
            (
                self.fields,
                self.entered,
                self.left,
                self.moved,
                self.changed,
                self.removed_sentences,
                self.added_sentences,
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag diff --json` prints."""
        return {
            "schema": "esrag.diff/1",
            "conditions": [asdict(each) for each in self.conditions],
            "fields": [asdict(each) for each in self.fields],
            "entered": [*self.entered],
            "left": [*self.left],
            "moved": [asdict(each) for each in self.moved],
            "changed": [
                {"chunk_id": each.name, "before": each.before, "after": each.after}
                for each in self.changed
            ],
            "removed_sentences": [*self.removed_sentences],
            "added_sentences": [*self.added_sentences],
        }

    def lines(self) -> Iterator[str]:
        """Yield the difference as lines of text."""
        for each in (*self.conditions, *self.fields):
            yield f"{each.name}: {each.before or '(empty)'} → {each.after or '(empty)'}"
        if not self:
            yield "nothing else differs" if self.conditions else "nothing differs"

        yield from (f"- {sentence}" for sentence in self.removed_sentences)
        yield from (f"+ {sentence}" for sentence in self.added_sentences)
        yield from (f"hit left: {chunk_id}" for chunk_id in self.left)
        yield from (f"hit entered: {chunk_id}" for chunk_id in self.entered)
        yield from (
            f"hit moved: {each.chunk_id} from {each.before} to {each.after}" for each in self.moved
        )
        yield from (f"hit changed: {each.name}" for each in self.changed)


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return what differs between two records; times and ids are not compared."""
    old, new = before["answer"], after["answer"]
    ranks, others = _ranks(old), _ranks(new)
    said, says = _sentences(old["answer"]), _sentences(new["answer"])

    return Difference(
        conditions=_changes(_conditions(before), _conditions(after)),
        fields=_changes(_fields(old), _fields(new)),
        entered=_list_missing(others, ranks),
        left=_list_missing(ranks, others),
        moved=_moves(ranks, others),
        changed=_compare_texts(_texts(old), _texts(new)),
        removed_sentences=_list_missing(said, says),
        added_sentences=_list_missing(says, said),
    )


def _conditions(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what a run was asked with; a filter and settings as they are written in JSON.

    Settings of `runs` decide nothing about an answer.
    """
    settings = {
        key: _to_json(value)
        for key, value in record["settings"].items()
        if not key.startswith("runs.")
    }
    where = _to_json(record["where"]) if record["where"] else ""
    return {"version": str(record.get("version", "")), "filter": where, **settings}


def _fields(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return parts of an answer by name; "" for one that an older esrag did not record."""
    names = ("question", "refused", "reason", "route", "confidence", "model")
    return {name: str(answer.get(name, "")) for name in names}


def _list_missing(names: Iterable[str], others: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in others)


def _moves(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Moved, ...]:
    """Return the hits of both runs whose ranks differ."""
    return tuple(
        Moved(chunk_id, rank, after[chunk_id])
        for chunk_id, rank in before.items()
        if after.get(chunk_id, rank) != rank
    )


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Return the names whose values differ; a setting that is missing has its default."""
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        Change(name, before.get(name, "(default)"), after.get(name, "(default)"))
        for name in names
        if before.get(name) != after.get(name)
    )


def _compare_texts(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Return the hits of both runs whose passages differ; one without its text is not compared."""
    return tuple(
        Change(chunk_id, text, after[chunk_id])
        for chunk_id, text in before.items()
        if text and after.get(chunk_id, "") not in ("", text)
    )


def _texts(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the passages of the hits by id; "" if they were kept without texts."""
    return {hit["chunk_id"]: str(hit.get("text", "")) for hit in answer["hits"]}


def _ranks(answer: Mapping[str, Any]) -> dict[str, int]:
    return {hit["chunk_id"]: rank for rank, hit in enumerate(answer["hits"], 1)}


def _sentences(text: str) -> list[str]:
    """Return the sentences of an answer without markers, whose numbers follow the evidence."""
    bare = MARKERS.sub("", text)
    return [" ".join(bare[start:end].split()) for start, end in sentence_spans(bare)]
