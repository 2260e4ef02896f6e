"""Any model behind OpenAI's `/chat/completions`: OpenAI's own, vLLM, llama.cpp, Ollama, others."""

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPResponse
from typing import Any

from esrag.errors import GeneratorError
from esrag.http import Failed, iter_events, parts, post, redact, words_of
from esrag.models import Prompt, Tokens
from esrag.models.service import Part, ServiceModel, to_messages

_BAD_REQUESTS = (400, 422)
# Options that some servers and models refuse: the request is sent again without them.
_OPTIONAL = ("stream_options", "max_tokens", "temperature", "top_p")
_THINKS, _THOUGHT = "<think>", "</think>"
_END = "[DONE]"
_DONE: Mapping[str, Any] = {"choices": [{"finish_reason": "stop"}]}


class OpenAIModel(ServiceModel):
    """Asks a model with OpenAI's interface, as a stream; a key is sent where there is one."""

    provider = "openai"
    default_url = "https://api.openai.com/v1"
    _refused: frozenset[str] = frozenset()

    def _lacks_key(self) -> bool:
        return (
            not self._key and self._url == self.default_url
        )  # a server of one's own often has none

    def _parts(self, prompt: Prompt) -> Iterator[Part]:
        """Yield the answer without the thoughts before it, which some servers do not separate."""
        held: str | None = ""  # text that may be, or is, a thought; None: the thoughts are over
        for piece in self._iter_said(prompt):
            if held is None or isinstance(piece, Tokens):
                yield piece
                continue
            held = (held + piece).lstrip()
            if held.startswith(_THINKS):
                _, ended, rest = held.partition(_THOUGHT)
                held = None if ended else _THINKS + held[len(_THINKS) :][1 - len(_THOUGHT) :]
                yield rest
            elif not _THINKS.startswith(held):
                yield held
                held = None

        if held and held.startswith(_THINKS):
            limit = f"{self._section}.max_output_tokens"
            hint = f"allow more {limit}, or tell the server not to let it think"
            raise GeneratorError(f"{self._model} thought to the end of its answer", hint=hint)
        yield held or ""

    def _iter_said(self, prompt: Prompt) -> Iterator[str | Tokens]:
        """Yield all that the model says, including thoughts within its text."""
        reason, has_text = None, False
        for chunk in self._chunks(prompt):
            self.model = redact(chunk.get("model") or self.model, self._key)
            if tokens := _tokens(chunk):
                yield tokens
            for choice in (chunk.get("choices") or [])[:1]:
                reason = reason or choice.get("finish_reason")
                text = _text(choice)
                if text is not None:
                    has_text = True
                    yield text

        self._check_end(reason)
        if not has_text:
            raise GeneratorError(
                f"{self._url} answers without a text", hint=f"check {self._section}.model"
            )

    def _chunks(self, prompt: Prompt) -> Iterator[Mapping[str, Any]]:
        """Yield the parts of the answer. Raises: Failed, also for an error among them."""
        url, began = f"{self._url}/chat/completions", False
        while True:
            try:
                with post(url, self._body(prompt), self._key, self._options.timeout_s) as response:
                    for chunk in _chunks(response, self._max_bytes):
                        began = True
                        yield chunk
            except Failed as failed:
                if began or not self._drop_option(failed):
                    raise
            else:
                return

    def _drop_option(self, failed: Failed) -> bool:
        """Leave out an option from now on if a refusal names it; return whether it does."""
        named = [name for name in _OPTIONAL if name in failed.said and name not in self._refused]
        if failed.status not in _BAD_REQUESTS or not named:
            return False

        self._refused |= {named[0]}
        return True

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        """Return the request: both messages, and the options that were not refused."""
        wanted = self._options
        options = {
            "stream_options": {"include_usage": True},
            "max_tokens": wanted.max_output_tokens,
            "temperature": wanted.temperature,
            **({"top_p": wanted.top_p} if wanted.top_p < 1 else {}),
        }
        options = {name: value for name, value in options.items() if name not in self._refused}
        if "max_tokens" in self._refused:
            options["max_completion_tokens"] = wanted.max_output_tokens
        messages = to_messages(prompt)
        return {"model": self._model, "messages": messages, "stream": True, **options}


def _chunks(response: HTTPResponse, max_bytes: int) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a stream, or the one of a server that does not stream.

    Raises: Failed.
    """
    body = parts(response, max_bytes)
    is_whole = response.headers.get_content_type() == "application/json"

    for data in [b"".join(body).decode(), _END] if is_whole else iter_events(body):
        chunk = _DONE if data == _END else json.loads(data)
        if error := chunk.get("error"):
            raise Failed(_status(error), words_of(chunk))
        yield chunk
        if chunk is _DONE:
            return


def _text(choice: Mapping[str, Any]) -> str | None:
    """Return the text that a choice adds, without thoughts. Raises: TypeError for another type."""
    text = (choice.get("delta") or choice.get("message") or {}).get("content")
    if not isinstance(text, str | None):
        raise TypeError
    return text


def _status(error: Any) -> int:
    """Return HTTP's status of an error within an answer, as llama.cpp and vLLM give it; else 0."""
    code = error.get("code") if isinstance(error, Mapping) else 0
    return code if isinstance(code, int) and code >= 400 else 0  # noqa: PLR2004 -- HTTP's errors


def _tokens(chunk: Mapping[str, Any]) -> Tokens | None:
    found = chunk.get("usage") or {}
    read, wrote = found.get("prompt_tokens"), found.get("completion_tokens")
    return Tokens(read, wrote) if isinstance(read, int) and isinstance(wrote, int) else None
