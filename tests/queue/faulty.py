"""The hashing embedder, which does what a text tells it: wait for a file, kill its process or that
one's parent.
"""

import os
import re
import signal
import time
from pathlib import Path

import numpy as np

from esrag.embedding.hashing import HashingEmbedder

MAX_WAIT_S = 60


class FaultyEmbedder(HashingEmbedder):
    """`WAIT FOR x` waits until the file x is in the folder $FAULTS.

    `KILL CHILD` and `KILL PARENT` do what they say.

    `ONE TOO FEW` loses a vector, `TOO NARROW` a number of each, `NO NUMBERS` makes them all NaN;
    `QUOTE ME` is an error that quotes the text. With $SLOW it takes so many seconds to open, like a
    large model.
    """

    opened = False

    def embed(self, texts, kind="passage"):
        """Unit rows, unless it was killed."""
        if not self.opened:
            time.sleep(float(os.environ.get("SLOW", "0")))
            self.opened = True
        for order, name in (
            found for text in texts for found in re.findall(r"(WAIT FOR|KILL) (\w+)", text)
        ):
            if order == "KILL":
                os.kill(os.getpid() if name == "CHILD" else os.getppid(), signal.SIGKILL)
            _wait_for(Path(os.environ["FAULTS"], name))
        for text in texts:
            if "QUOTE ME" in text:
                raise ValueError(f"cannot embed {text!r}") from KeyError(text)
        rows = super().embed(texts, kind)
        if any("ONE TOO FEW" in text for text in texts):
            return rows[:-1]
        if any("TOO NARROW" in text for text in texts):
            return rows[:, :-1]
        return rows * np.nan if any("NO NUMBERS" in text for text in texts) else rows


def _wait_for(file):
    end = time.monotonic() + MAX_WAIT_S
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.02)


class QuotingLoader:
    """Takes files named *.quoted, and fails with an error that quotes them."""

    def recognises(self, name, data):
        """By the name alone."""
        return 1.0 if name.endswith(".quoted") else 0.0

    def load(self, source):
        """Never."""
        raise ValueError(f"cannot read {source.data.decode()}")
