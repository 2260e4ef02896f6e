"""Facts: questions with known answers, each with its source, in an index next to the documents'.

- `reading`: a table or lines of JSON → facts, and the rows that cannot be used
- `storing`: facts ↔ the index `NAME-facts`
- `checking`: two answers to one question, repetitions, and facts that hold no more
- `citing`: the answer of a fact with its markers, and why it may be refused
- `wording`, `periods`: the words of a question, what it asks for, and when
- `finding`: a question → the fact that answers it, or none
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import blake2b
from typing import Any

from esrag.records import Scalar

_MAX_SLUG = 60  # characters


@dataclass(frozen=True, slots=True)
class Fact:
    """A question, its answer, and the address or document that says so.

    It holds from the day `valid_from` to the day `valid_until`, in ISO 8601; "" leaves that end
    open. `file` is the path of the file that it was imported from. `metadata` can be filtered by.
    """

    question: str
    answer: str
    source_url: str
    valid_from: str = ""
    valid_until: str = ""
    file: str = ""
    metadata: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def fact_id(self) -> str:
        """Its question in short, with a hash of question and first day."""
        key = question_key(self.question)
        slug = re.sub(r"[\W_]+", "-", key)[:_MAX_SLUG].strip("-")
        mark = blake2b(f"{key}\n{self.valid_from}".encode(), digest_size=4).hexdigest()
        return f"{slug}.{mark}"

    def holds_on(self, day: date) -> bool:
        """Return whether the fact holds on this day."""
        shown = day.isoformat()
        return (self.valid_from or shown) <= shown <= (self.valid_until or shown)

    def overlaps(self, other: "Fact") -> bool:
        """Return whether there is a day on which both facts hold."""
        first = max(self.valid_from, other.valid_from)
        ends = [end for end in (self.valid_until, other.valid_until) if end]
        return not ends or first <= min(ends)

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag facts list --json` prints."""
        return {
            "schema": "esrag.fact/1",
            "fact_id": self.fact_id,
            "question": self.question,
            "answer": self.answer,
            "source_url": self.source_url,
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "file": self.file,
            "metadata": dict(self.metadata),
        }


def question_key(question: str) -> str:
    """Return what equal questions share: words without case, numbers without hyphens, no mark.

    >>> question_key("What is  the H-1B cap?") == question_key("what is the h1b cap")
    True
    """
    key = " ".join(question.split()).casefold().rstrip(" ?!.")
    return re.sub(r"(?<=\w)-(?=\w*\d)|(?<=\d)-(?=\w)", "", key)
