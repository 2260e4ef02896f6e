"""Any service with OpenAI's `/embeddings`: OpenAI itself, vLLM, Ollama, llama.cpp and others."""

import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import numpy as np

from esrag.embedding import Kind
from esrag.embedding.service import ServiceEmbedder
from esrag.http import parts, post

_MAX_BYTES = 2**20  # of an answer for each text: 4,096 numbers take some 90,000


class OpenAIEmbedder(ServiceEmbedder):
    """Encodes texts with a service that has OpenAI's interface; a key is sent if there is one."""

    provider = "openai"
    default_url = "https://api.openai.com/v1"
    max_texts = 128

    def _send(self, texts: Sequence[str], kind: Kind) -> Any:  # noqa: ARG002 -- both are read alike
        body = {"model": self._model, "input": list(texts)}
        with post(f"{self._url}/embeddings", body, self._key, self._timeout_s) as response:
            answer = b"".join(parts(response, _MAX_BYTES * len(texts)))
        return _rows(json.loads(answer))


def _rows(answer: Any) -> list[Any]:
    """Return the vectors by their index.

    Raises: ValueError, TypeError, KeyError or AttributeError for another form.
    """
    rows = {
        entry.get("index", number): _row(entry["embedding"])
        for number, entry in enumerate(answer["data"])
    }
    return [rows[number] for number in range(len(answer["data"]))]


def _row(embedding: Any) -> Any:
    """Return a list of numbers, or the numbers in base64 bytes."""
    return (
        np.frombuffer(b64decode(embedding, validate=True), "<f4")
        if isinstance(embedding, str)
        else embedding
    )
