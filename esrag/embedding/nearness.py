"""How near the words of texts come to those of a question, by what the encoder knows of words.

The encoder's lowest tensor has a vector for each word of its vocabulary, before any text around it
is read: "fee" and "cost" lie near each other there. Looking them up costs next to nothing, so that
all statements can be compared, and the reader need not read them all.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from esrag.embedding import EmbedderOptions, bert, measure_products, model_files
from esrag.embedding.checkpoint import Checkpoint, Weights, read_checkpoint
from esrag.embedding.windows import open_tokenizer
from esrag.text.terms import STOP_WORDS, weigh_terms

Scores = npt.NDArray[np.float64]

FAR = 0.2  # cosine of words that have nothing to do with each other

_WORD = re.compile(r"\w+")


class WordNearness:
    """Compares texts by the vectors of their words, which are read at the first comparison."""

    def __init__(self, options: EmbedderOptions) -> None:
        self._options = options

    def compare(self, question: str, texts: Sequence[str]) -> Scores:
        """Return how near each text's words come to the question's, 0..1, shape (len(texts),).

        That is the mean over the question's words, by their rarity among the texts, of the nearest
        word's cosine: 1 for the word itself, 0 for one that is `FAR`.

        Raises: ModelError for weights that are missing or refused.
        """
        held = [_find_words(text) for text in texts]
        uses = Counter(word for words in held for word in words)
        asked = _find_words(question)
        if not asked or not uses:
            return np.zeros(len(texts))

        weights = np.array([*weigh_terms(asked, uses, len(texts)).values()])
        near = self._measure(asked, [*uses])
        place = {word: n for n, word in enumerate(uses)}
        nearest = [
            near[:, [place[word] for word in words]].max(axis=1, initial=0.0) for words in held
        ]
        shares: Scores = np.vecdot(np.array(nearest), weights) / weights.sum()
        return shares

    def _measure(self, asked: Sequence[str], words: Sequence[str]) -> Scores:
        """Return how near words come to others, shape (len(asked), len(words))."""
        cosines = measure_products(self._look_up(asked), self._look_up(words))
        near = ((cosines - FAR) / (1 - FAR)).clip(0, 1)
        is_same = np.array(asked)[:, None] == np.array(words)
        return np.where(is_same, 1.0, near)

    def _look_up(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the unit vectors of words, and zeros for those that the vocabulary lacks."""
        rows = np.zeros((len(words), self._vectors.shape[1]), np.float32)
        known = [n for n, word in enumerate(words) if word in self._vocabulary]
        found = self._vectors[[self._vocabulary[words[n]] for n in known]].astype(np.float32)
        rows[known] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return rows

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return open_tokenizer(self._checkpoint.tokenizer_path).get_vocab()

    @cached_property
    def _vectors(self) -> npt.NDArray[np.int8]:
        """The vectors as int8: a scale for each is not needed, since only directions are."""
        shape = self._checkpoint.config.vocab_size, self._checkpoint.config.hidden_size
        rows = Weights(self._checkpoint.folder).rows(bert.WORDS, *shape)
        return bert.quantise_rows(rows)[0]

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        folder = model_files.locate(self._options.model, offline=self._options.offline)
        return read_checkpoint(folder.path)


def _find_words(text: str) -> list[str]:
    """Return the distinct words of a text that are not stop words, in lower case.

    >>> _find_words("How much is the fee, and the other fee?")
    ['much', 'fee', 'other']
    """
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return [word for word in words if word not in STOP_WORDS]
