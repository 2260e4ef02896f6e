"""Cohere's embedding models, through its own client; it comes with the extra `esrag[cohere]`."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from esrag.embedding import EmbedderOptions, Kind
from esrag.embedding.service import ServiceEmbedder
from esrag.errors import SettingsError
from esrag.http import cohere_client, cohere_failures
from esrag.plugins import require_extra
from esrag.settings import variable

# The client is imported where it is used, so that other providers need not have it.
if TYPE_CHECKING:
    from cohere import ClientV2


class CohereEmbedder(ServiceEmbedder):
    """Encodes texts with Cohere, passages and questions each in their own way."""

    provider = "cohere"
    default_url = "https://api.cohere.com"
    max_texts = 96

    def __init__(self, options: EmbedderOptions, **trial: Any) -> None:
        """Store the options. Raises: SettingsError for a missing key, or a missing extra."""
        require_extra("the embedder 'cohere'", "cohere")
        super().__init__(options, **trial)
        if not self._key:
            raise SettingsError(
                "the embedder 'cohere' needs a key", hint=f"set {variable('embedding.api_key')}"
            )

    def _send(self, texts: Sequence[str], kind: Kind) -> Any:
        with cohere_failures():
            answer = self._client.embed(
                model=self._model,
                texts=texts,
                input_type="search_query" if kind == "query" else "search_document",
                embedding_types=["float"],
                truncate="NONE",  # an error, where the others would cut a text without a word
                request_options={"max_retries": 0},  # tries are counted in one place
            )
        return answer.embeddings.float_

    @cached_property
    def _client(self) -> "ClientV2":
        return cohere_client(self, self._url, self._key, self._timeout_s)
