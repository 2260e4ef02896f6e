"""Evidence: hits → the passages that an answer may use, and what they say."""

from dataclasses import dataclass

NEAR = 0.9  # a statement fits nearly as well as the best from this share of its fit on: it may be answered with


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A passage as a service is sent it that takes documents; title and section may be empty."""

    key: str
    title: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a table's row of the passage `key`, on one line, and how well it fits the question, 0..1.

    Statements are in the order of the evidence, and `order` is their place in it. `source` is what it was made of, as
    it stands but on one line: a row's text has the table's caption and header besides. One that cannot
    come near the best may lack its meaning in its fit.
    """

    key: str
    order: int
    text: str
    source: str = ""
    fit: float = 0.0
