"""Texts longer than a model's window: read in equal windows, then pooled; nothing is cut off."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from esrag.embedding import Vectors
from esrag.errors import ModelError

if TYPE_CHECKING:  # the library is imported where it is used, so that this module costs nothing
    from tokenizers import Tokenizer

TokenIds = npt.NDArray[np.int32]


class WindowTokeniser:
    """A tokenizer.json with a window of `size` tokens of text, not counting special tokens."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        self._tokenizer = open_tokenizer(path)
        self._before, self._after = _special_tokens(self._tokenizer)
        self.size = max_tokens - len(self._before) - len(self._after)
        if self.size < 1:
            raise ModelError(
                f"{path}: a window of {max_tokens} tokens leaves no room next to its special tokens"
            )

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return where each token of the text starts and ends, without special tokens."""
        offsets: list[tuple[int, int]] = self._tokenizer.encode(
            text, add_special_tokens=False
        ).offsets
        return offsets

    def windows(self, text: str) -> list[TokenIds]:
        """Return the text's token ids in windows of equal length, each within its special tokens.

        Lengths are equal to one token.

        A text without any token is one window of special tokens.
        """
        ids = np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int32)
        parts = np.array_split(ids, max(1, -(-len(ids) // self.size)))
        return [np.concatenate([self._before, part, self._after]) for part in parts]

    def states(self, window: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return a window's rows without those of the special tokens."""
        return window[len(self._before) : len(window) - len(self._after)]


def _special_tokens(tokenizer: "Tokenizer") -> tuple[TokenIds, TokenIds]:
    """Return the ids before and after a text, learnt from one."""
    whole = tokenizer.encode("a")
    ids, added = (
        np.array(whole.ids, dtype=np.int32),
        np.array(whole.special_tokens_mask, dtype=bool),
    )
    before = int(np.argmin(added))
    return ids[:before], ids[before + np.count_nonzero(~added) :]


def open_tokenizer(path: Path) -> "Tokenizer":
    """Return the tokeniser of a tokenizer.json, without the truncation and padding it may ask for.

    Raises: ModelError for a file that is missing or broken.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(f"cannot read the tokeniser {path}: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def pool_windows(vectors: Sequence[Vectors], windows: Sequence[TokenIds]) -> Vectors:
    """Return a text's unit vector: the mean of its windows' vectors, weighted by their tokens.

    The vector of a single window stays as it is.
    """
    if len(vectors) == 1:
        return vectors[0]
    mean = np.average(vectors, axis=0, weights=[len(window) for window in windows])
    return (mean / np.linalg.norm(mean)).astype(np.float32)
