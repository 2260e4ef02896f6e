"""What the strategies share: sizes in tokens, and a text whose tokens are counted once."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from esrag.chunking import TokenSpans
from esrag.errors import SettingsError
from esrag.records import Span
from esrag.text import pieces, trim_span

_PIECE_CHARACTERS = 50_000  # given to the tokenizer at once
# A word piece model calls any run of more than 100 letters one unknown token; without a bound of
# our own a chunk of 200 tokens could hold a file.
_TOKEN_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Budget:
    """The maximum size of a chunk and the overlap of neighbours, in tokens or characters.

    Raises: SettingsError if no chunk could be cut.
    """

    size: int
    overlap: int
    tokens: TokenSpans

    def __post_init__(self) -> None:
        """Require sizes that let every chunk bring something new."""
        if self.size < 1:
            raise SettingsError(f"chunking.size must be at least 1 token, got {self.size}")
        if not 0 <= self.overlap < self.size:
            hint = "choose an overlap well below the size, or 0"
            raise SettingsError(
                f"chunking.overlap must be from 0 to {self.size - 1}, got {self.overlap}", hint=hint
            )

    def measure(self, text: str) -> "Measured":
        """Return the text with its tokens counted."""
        return Measured(text, self)


class Measured:
    """A text whose tokens were read once; stretches of it are counted by bisection."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self._budget = budget

    @cached_property
    def _offsets(self) -> "tuple[array[int], array[int]]":
        """Return starts and ends of the tokens.

        They rise, and each token has 1 to `_TOKEN_CHARACTERS` characters.
        """
        # A list would take five times the memory: 600 MB for a long text.
        starts, ends = array("q"), array("q")
        for piece_start, piece_end in pieces(self.text, 0, len(self.text), _PIECE_CHARACTERS):
            tokens = self._budget.tokens(self.text[piece_start:piece_end])
            if not all(0 < end - start <= _TOKEN_CHARACTERS for start, end in tokens):
                tokens = [part for token in tokens for part in _parts(*token)]
            starts.extend(piece_start + start for start, _ in tokens)
            ends.extend(piece_start + end for _, end in tokens)
        return starts, ends

    def count(self, start: int, end: int) -> int:
        """Return how many tokens touch `text[start:end]`."""
        starts, ends = self._offsets
        return max(bisect_left(starts, end) - bisect_right(ends, start), 0)

    def windows(self, start: int, end: int, overlap: int = 0) -> Iterator[Span]:
        """Yield spans of at most `size` tokens over `text[start:end]`.

        They are cut between words if possible.
        """
        starts, ends = self._offsets
        first, stop = bisect_right(ends, start), bisect_left(starts, end)
        covered = start

        while stop - first > self._budget.size:
            last = self._word_end(first + self._budget.size // 2, first + self._budget.size)
            if starts[last] > covered:  # several tokens may lie on one character
                yield from _spans(self.text, start, starts[last])
                covered = starts[last]
            first = self._word_start(max(last - overlap, first + 1), last)
            start = min(starts[first], covered)
        yield from _spans(self.text, start, end)

    def _word_end(self, low: int, high: int) -> int:
        """Return the last token in (low, high] that starts a word; `high` if none does."""
        return next((at for at in range(high, low, -1) if self._is_word_start(at)), high)

    def _word_start(self, low: int, high: int) -> int:
        """Return the first token in [low, high] that starts a word; `high` if none does."""
        return next((at for at in range(low, high) if self._is_word_start(at)), high)

    def _is_word_start(self, at: int) -> bool:
        """Return whether white space is before a token; a character may be white space itself."""
        starts, ends = self._offsets
        start = starts[at]
        return start > ends[at - 1] or (
            self.text[start - 1].isspace() and not self.text[start].isspace()
        )

    def fit(self, units: Iterable[tuple[int, int]]) -> Iterator[Span]:
        """Yield the units, with those that are too long cut into windows."""
        for start, end in units:
            yield from self.windows(start, end)

    def pack(self, units: Sequence[Span]) -> Iterator[Span]:
        """Yield the longest runs of whole units that fit; a unit that is too long stays whole.

        Each run repeats the last units of the one before, up to the overlap.
        """
        first = 0
        while first < len(units):
            last = first + 1
            while (
                last < len(units)
                and self.count(units[first].start, units[last].end) <= self._budget.size
            ):
                last += 1
            yield Span(units[first].start, units[last - 1].end)
            if last == len(units):
                return
            first = self._overlap_start(units, first, last)

    def _overlap_start(self, units: Sequence[Span], first: int, last: int) -> int:
        """Return where the next run starts.

        That is as early as the overlap allows, if the unit `last` still fits.
        """
        start = last
        while start - 1 > first and self._may_repeat(units, start - 1, last):
            start -= 1
        return start

    def _may_repeat(self, units: Sequence[Span], start: int, last: int) -> bool:
        shared = self.count(units[start].start, units[last - 1].end)
        return (
            shared <= self._budget.overlap
            and self.count(units[start].start, units[last].end) <= self._budget.size
        )


def _parts(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return a token in parts that are not too long; an empty one has none."""
    return ((at, min(at + _TOKEN_CHARACTERS, end)) for at in range(start, end, _TOKEN_CHARACTERS))


def _spans(text: str, start: int, end: int) -> Iterator[Span]:
    return (Span(*offsets) for offsets in trim_span(text, start, end))
