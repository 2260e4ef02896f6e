"""Cohere's chat models, through its own client; it comes with the extra `esrag[cohere]`.

The passages are sent as documents under their keys, and the citations that come back become our markers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as changed
from functools import cached_property
from typing import TYPE_CHECKING, Any

from esrag.citations import MARKERS
from esrag.evidence import SentDocument
from esrag.generating import GenerationTask, GeneratorOptions, Usage
from esrag.generating.service import ServiceGenerator
from esrag.http import cohere_client, cohere_failures
from esrag.plugins import require_extra
from esrag.text import sentence_spans
from esrag.verifying.quotes import mask_quote
from esrag.verifying.verify import MAX_DRAFT, is_refusal

if (
    TYPE_CHECKING
):  # the client is imported where it is used, so that other generators need not have it
    from cohere import ClientV2

_MODEL = "command-a-03-2025"
_MARKERS = re.compile(rf"(?<!\s)\s*(?:{MARKERS.pattern}\s*)+", MARKERS.flags)
Cited = tuple[int, int, frozenset[str]]  # offsets in the answer, and the ids of the documents


class CohereGenerator(ServiceGenerator):
    """Asks a model of Cohere's; where it cites, the sentence gets the marker of the passage.

    Citations may come after the text, so the draft is shown once it is whole.
    """

    provider = "cohere"
    default_url = "https://api.cohere.com"
    takes_documents = True

    def __init__(self, options: GeneratorOptions, **trial: Any) -> None:
        """Store the options. Raises: SettingsError for a missing key, or a missing extra."""
        require_extra("the generator 'cohere'", "cohere")
        super().__init__(changed(options, model=options.model or _MODEL), **trial)

    def _pieces(self, task: GenerationTask) -> Iterator[str | Usage]:
        text, citations = "", []
        end: Any = None

        with cohere_failures():
            for number, event in enumerate(self._events(task)):
                if event.type == "message-start" and number:
                    raise ValueError(
                        event.type
                    )  # what the client makes of an event that it cannot read
                if event.type == "content-delta":
                    text += event.delta.message.content.text or ""  # no text: it thinks
                elif event.type == "citation-start":
                    citations.append(event.delta.message.citations)
                elif event.type == "message-end":
                    end = event.delta
                if (
                    len(text) + 1024 * len(citations) > self._max_bytes
                ):  # each of them comes with its passage
                    raise OverflowError

        self._check_end(end and end.finish_reason)
        yield insert_markers(text, [*_cited(citations, text)], [item.key for item in task.evidence])
        yield from _usage(end.usage)

    def _events(self, task: GenerationTask) -> Iterable[Any]:
        prompt = task.prompt
        more: Any = (
            {"documents": [_document(item) for item in prompt.documents]}
            if prompt.documents
            else {}
        )
        messages: Any = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        return self._client.chat_stream(
            model=self._model,
            messages=messages,
            **more,
            temperature=0,
            max_tokens=self._max_tokens,
        )

    @cached_property
    def _client(self) -> "ClientV2":
        return cohere_client(self, self._url, self._key, self._timeout_s)


def insert_markers(text: str, cited: Sequence[Cited], keys: Sequence[str]) -> str:
    """The text, after each sentence the keys of the citations that overlap it, unless it has markers already.

    Only those of `keys`, in their order; a refusal stays as it is.

    >>> cited = [(3, 8, frozenset(("c1", "c9"))), (16, 19, frozenset(("c1",)))]
    >>> insert_markers("It boils. It is red. [c2]", cited, ["c1"])
    'It boils. [c1] It is red. [c2]'
    """
    if is_refusal(text) or len(text) > MAX_DRAFT:
        return text

    parts, done = [], 0
    for start, end in sentence_spans(mask_quote(text)):
        found = {name for first, last, ids in cited if first < end and last > start for name in ids}
        markers = (
            ""
            if _is_marked(text, start, end)
            else "".join(f"[{key}]" for key in keys if key in found)
        )
        parts.append(f"{text[done:end]} {markers}" if markers else text[done:end])
        done = end

    return "".join((*parts, text[done:]))


def _is_marked(text: str, start: int, end: int) -> bool:
    """Whether a sentence holds markers or is followed by some; those that it begins with are another's."""
    other = _MARKERS.match(text, start, end)
    start = other.end() if other else start
    return start == end or bool(_MARKERS.search(text, start, end) or _MARKERS.match(text, end))


def _cited(citations: Iterable[Any], text: str) -> Iterator[Cited]:
    """Return the places of the citations; one with wrong offsets is dropped: the client omits what it cannot read."""
    for citation in citations:
        if text[citation.start : citation.end] == citation.text:
            ids = frozenset(source.id for source in citation.sources or ())
            yield citation.start, citation.end, ids


def _document(sent: SentDocument) -> Any:
    """A passage as Cohere takes it."""
    data = {"title": sent.title, "section": sent.section, "text": sent.text}
    return {"id": sent.key, "data": {name: value for name, value in data.items() if value}}


def _usage(said: Any) -> Iterator[Usage]:
    """Return the usage, if the service reports it."""
    tokens = said and said.tokens
    if tokens and tokens.input_tokens is not None and tokens.output_tokens is not None:
        yield Usage(round(tokens.input_tokens), round(tokens.output_tokens))
