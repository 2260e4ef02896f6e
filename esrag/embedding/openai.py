"""Any service that speaks OpenAI's `/embeddings`: OpenAI's own, vLLM, Ollama, llama.cpp and others, by `embedding.url`.

Asked with the standard library: no HTTP client is sure to come with what esrag needs.
"""

import json
import time
from base64 import b64decode
from collections.abc import Sequence
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from esrag.embedding import Kind
from esrag.embedding.service import Failed, ServiceEmbedder, seconds_to_wait, words_of


class OpenAIEmbedder(ServiceEmbedder):
    """Encodes texts with a service that has OpenAI's interface; a key is sent where there is one."""

    provider = "openai"
    default_url = "https://api.openai.com/v1"
    most_texts = 128

    def _send(self, texts: Sequence[str], kind: Kind) -> Any:  # noqa: ARG002 -- both are read alike
        # Some services turn urllib's own name away.
        headers = {"Content-Type": "application/json", "User-Agent": "esrag"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "input": list(texts)}).encode()
        request = Request(f"{self._url}/embeddings", body, headers)  # noqa: S310 -- http or https: looked at before
        try:
            with build_opener(_NoRedirects).open(request, timeout=self._timeout_s) as response:
                answer = response.read()
        except HTTPError as error:
            raise _failed(error) from None
        except (OSError, HTTPException) as error:  # refused, cut off, timed out
            cause = getattr(error, "reason", error)
            raise Failed(0, f"{type(cause).__name__}: {cause}") from None
        return _rows(json.loads(answer))


class _NoRedirects(HTTPRedirectHandler):
    """A redirect is an error: the key would go along to wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        """No request."""


def _failed(error: HTTPError) -> Failed:
    said = ""
    with error, suppress(OSError, HTTPException):
        said = error.read().decode(errors="replace")
    with suppress(ValueError, RecursionError):
        said = words_of(json.loads(said)) or said
    return Failed(error.code, said, seconds_to_wait(error.headers.get("Retry-After"), time.time()))


def _rows(answer: Any) -> list[Any]:
    """The vectors by their index. Raises: ValueError, TypeError, KeyError, AttributeError for another form."""
    rows = {entry.get("index", number): _row(entry["embedding"]) for number, entry in enumerate(answer["data"])}
    return [rows[number] for number in range(len(answer["data"]))]


def _row(embedding: Any) -> Any:
    """A list of numbers, or their bytes in base64."""
    return np.frombuffer(b64decode(embedding, validate=True), "<f4") if isinstance(embedding, str) else embedding
