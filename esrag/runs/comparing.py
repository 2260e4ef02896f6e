"""What differs between two runs of a question."""

from collections.abc import Iterator, Mapping
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
class Difference:
    """What only one of two runs has; `fields` are (name, before, after)."""

    fields: tuple[tuple[str, str, str], ...]
    entered: tuple[str, ...]
    left: tuple[str, ...]
    moved: tuple[Moved, ...]
    removed_sentences: tuple[str, ...]
    added_sentences: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(
            self.fields
            or self.entered
            or self.left
            or self.moved
            or self.removed_sentences
            or self.added_sentences
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag diff --json` prints."""
        return {
            "schema": "esrag.diff/1",
            "fields": [
                {"name": name, "before": before, "after": after}
                for name, before, after in self.fields
            ],
            "entered": [*self.entered],
            "left": [*self.left],
            "moved": [asdict(each) for each in self.moved],
            "removed_sentences": [*self.removed_sentences],
            "added_sentences": [*self.added_sentences],
        }

    def lines(self) -> Iterator[str]:
        """Yield the difference as lines of text."""
        if not self:
            yield "nothing differs"
        for name, before, after in self.fields:
            yield f"{name}: {before or '(empty)'} → {after or '(empty)'}"
        yield from (f"- {sentence}" for sentence in self.removed_sentences)
        yield from (f"+ {sentence}" for sentence in self.added_sentences)
        yield from (f"hit left: {chunk_id}" for chunk_id in self.left)
        yield from (f"hit entered: {chunk_id}" for chunk_id in self.entered)
        yield from (
            f"hit moved: {each.chunk_id} from {each.before} to {each.after}" for each in self.moved
        )


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return what differs between two records; times, ids and versions are not compared."""
    old, new = before["answer"], after["answer"]
    names = ("question", "refused", "reason", "confidence", "model")
    ranks, others = _ranks(old), _ranks(new)
    said, says = _sentences(old["answer"]), _sentences(new["answer"])

    return Difference(
        fields=tuple(
            (name, str(old[name]), str(new[name])) for name in names if old[name] != new[name]
        ),
        entered=tuple(chunk_id for chunk_id in others if chunk_id not in ranks),
        left=tuple(chunk_id for chunk_id in ranks if chunk_id not in others),
        moved=tuple(
            Moved(chunk_id, rank, others[chunk_id])
            for chunk_id, rank in ranks.items()
            if others.get(chunk_id, rank) != rank
        ),
        removed_sentences=tuple(sentence for sentence in said if sentence not in says),
        added_sentences=tuple(sentence for sentence in says if sentence not in said),
    )


def _ranks(answer: Mapping[str, Any]) -> dict[str, int]:
    return {hit["chunk_id"]: rank for rank, hit in enumerate(answer["hits"], 1)}


def _sentences(text: str) -> list[str]:
    """Return the sentences of an answer without markers, whose numbers follow the evidence."""
    bare = MARKERS.sub("", text)
    return [" ".join(bare[start:end].split()) for start, end in sentence_spans(bare)]
