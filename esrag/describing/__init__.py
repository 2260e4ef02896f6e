"""Describing: answers about the documents, from the records of the index and from one document.

A record of the index is not a passage, so its figures cannot be quoted: a sentence about a document
cites the passage where that document begins, or the one that shows its topic. The title and the
file of the citation are the evidence. Whatever does not fit the index (a name that no document has,
a topic of none) is left to the passages: these functions then return None.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from esrag.engines import SearchResult
from esrag.records import Answer, Evidence


@dataclass(frozen=True, slots=True)
class Description:
    """An answer about documents, its evidence, and the search for its topic, if it has one.

    A record of the index is certain; words in common with a topic are not.
    """

    answer: Answer
    evidence: tuple[Evidence, ...]
    retrieved: SearchResult
    confidence: float = 1.0


def markers(evidence: Sequence[Evidence]) -> str:
    """Return the markers of passages."""
    return "".join(f"[{item.key}]" for item in evidence)
