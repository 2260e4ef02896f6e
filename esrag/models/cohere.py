"""Cohere's chat models, through its own client; it comes with the extra `esrag[cohere]`.

The passages are sent as documents under their keys, and come back in the citations.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from esrag.http import cohere_client, cohere_failures
from esrag.models import Cited, ModelOptions, Prompt, PromptDocument, Tokens
from esrag.models.service import Part, ServiceModel, to_messages
from esrag.plugins import require_extra
from esrag.text import normalise

if TYPE_CHECKING:  # the client is imported where it is used, so that other models need not have it
    from cohere import ClientV2


class CohereModel(ServiceModel):
    """Asks a model of Cohere's, with the passages as documents, and reads its citations."""

    provider = "cohere"
    default_url = "https://api.cohere.com"
    takes_documents = True

    def __init__(self, options: ModelOptions, **trial: Any) -> None:
        """Store the options. Raises: SettingsError for a missing key, or a missing extra."""
        require_extra("the model provider 'cohere'", "cohere")
        super().__init__(options, **trial)

    def _parts(self, prompt: Prompt) -> Iterator[Part]:
        with cohere_failures():
            text, citations, end = self._collect(self._events(prompt))

        self._check_end(end and end.finish_reason)
        yield text
        yield from _iter_cited(citations, text)
        yield from _tokens(end.usage)

    def _collect(self, events: Iterable[Any]) -> tuple[str, list[Any], Any]:
        """Return the text, its citations, and what the end of the answer says."""
        text, citations, end = "", [], None

        for number, event in enumerate(events):
            if event.type == "message-start" and number:
                raise ValueError(event.type)  # what the client makes of one that it cannot read
            if event.type == "content-delta":
                text += event.delta.message.content.text or ""  # no text: it thinks
            elif event.type == "citation-start":
                citations.append(event.delta.message.citations)
            elif event.type == "message-end":
                end = event.delta
            if len(text) + 1024 * len(citations) > self._max_bytes:  # each comes with its passage
                raise OverflowError

        return text, citations, end

    def _events(self, prompt: Prompt) -> Iterable[Any]:
        more: dict[str, Any] = {}
        if prompt.documents:
            more["documents"] = [_document(item) for item in prompt.documents]
        if self._options.top_p < 1:
            more["p"] = self._options.top_p

        return self._client.chat_stream(
            model=self._model,
            messages=to_messages(prompt),
            **more,
            temperature=self._options.temperature,
            max_tokens=self._options.max_output_tokens,
        )

    @cached_property
    def _client(self) -> "ClientV2":
        return cohere_client(self, self._url, self._key, self._options.timeout_s)


def _iter_cited(citations: Iterable[Any], text: str) -> Iterator[Cited]:
    """Yield the citations, with offsets in the text as it is shown.

    One with wrong offsets is dropped: the client omits what it cannot read.
    """
    for citation in citations:
        if text[citation.start : citation.end] == citation.text:
            start, end = (len(normalise(text[:place])) for place in (citation.start, citation.end))
            yield Cited(start, end, tuple(source.id for source in citation.sources or ()))


def _document(sent: PromptDocument) -> Any:
    """Return a passage as Cohere takes it."""
    data = {"title": sent.title, "section": sent.section, "text": sent.text}
    return {"id": sent.key, "data": {name: value for name, value in data.items() if value}}


def _tokens(said: Any) -> Iterator[Tokens]:
    """Yield the tokens, if the service reports them."""
    tokens = said and said.tokens
    if tokens and tokens.input_tokens is not None and tokens.output_tokens is not None:
        yield Tokens(round(tokens.input_tokens), round(tokens.output_tokens))
