"""Evidence: the passages that an answer may use, and their statements."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from esrag.records import Chunk

# Share of the best fit from which a statement fits nearly as well and may be part of the answer.
NEAR = 0.9
SURE = 2.0  # the reader's score of a statement, from which it counts as sure

Around = Callable[[Chunk], Iterable[Chunk]]  # the chunks before and after one
Way = Literal["", "named", "row"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or table row of a passage on one line, and how well it fits the question, 0..1.

    Statements are in the order of the evidence, and `order` is their position. `key` is the key of
    the passage. `source` is the original text on one line; a row's text adds the table's caption
    and header. A list has a number of `items`, and those that `more` passages go on with, by their
    keys; it is headed if nothing before it says that a list follows. `section` is the path of the
    headings above, `under` the heading right above, or the question that it replies to, and
    `defines` says that the statement, or its heading, begins with what the question wants to have
    defined. `reading` is the score of the reader, about -11 to 7, if it read the statement.
    """

    key: str
    order: int
    text: str
    source: str = ""
    fit: float = 0.0
    items: int = 0
    more: tuple[tuple[str, str], ...] = ()
    is_headed: bool = False
    section: str = ""
    under: str = ""
    defines: bool = False
    reading: float | None = None

    @property
    def is_row(self) -> bool:
        """Return whether the statement is a row of a table."""
        return "|" in self.source

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the cells of a row; the whole source of anything else."""
        return tuple(self.source.strip("| ").split("|"))


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """The lines that answer a question as they are, each with its key, and how they were found.

    They are cells of tables, steps, authors, dates and values. They are `named` if the question has
    the label of the row and words of the column. Cells of a `row` share words of its label with the
    question, or several of their own.
    """

    found: tuple[tuple[str, str], ...] = ()
    way: Way = ""


NO_DIRECT_ANSWER = DirectAnswer()


def find_best(statements: Iterable[Statement]) -> Statement | None:
    """Return the statement that fits best, the earliest of several; None without any."""
    return max(statements, key=lambda each: (each.fit, -each.order), default=None)
