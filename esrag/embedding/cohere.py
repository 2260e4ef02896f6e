"""Cohere's embedding models, through its own client; it comes with the extra `esrag[cohere]`."""

import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import finalize

from esrag.embedding import EmbedderOptions, Kind
from esrag.embedding.service import ServiceEmbedder
from esrag.errors import SettingsError
from esrag.plugins import require_extra
from esrag.services import Failed, seconds_to_wait, words_of
from esrag.settings import variable

if TYPE_CHECKING:  # the client is imported where it is used, so that other providers need not have it
    from cohere import ClientV2


class CohereEmbedder(ServiceEmbedder):
    """Encodes texts with Cohere, passages and questions each in their own way."""

    provider = "cohere"
    default_url = "https://api.cohere.com"
    most_texts = 96

    def __init__(self, options: EmbedderOptions, **trial: Any) -> None:
        """Takes the options. Raises: SettingsError when there is no key, or the extra is not installed."""
        require_extra("the embedder 'cohere'", "cohere")
        super().__init__(options, **trial)
        if not self._key:
            raise SettingsError("the embedder 'cohere' needs a key", hint=f"set {variable('embedding.api_key')}")

    def _send(self, texts: Sequence[str], kind: Kind) -> Any:
        import httpx  # comes with the client
        from cohere.core import ApiError

        try:
            answer = self._client.embed(
                model=self._model,
                texts=texts,
                input_type="search_query" if kind == "query" else "search_document",
                embedding_types=["float"],
                truncate="NONE",  # an error, where the others would cut a text without a word
                request_options={"max_retries": 0},  # tries are counted in one place
            )
        except ApiError as error:
            wait_s = seconds_to_wait((error.headers or {}).get("retry-after"), time.time())
            raise Failed(error.status_code or 0, words_of(error.body), wait_s) from None
        except httpx.HTTPError as error:
            raise Failed(0, f"{type(error).__name__}: {error}") from None
        return answer.embeddings.float_

    @cached_property
    def _client(self) -> "ClientV2":
        import httpx
        from cohere import ClientV2

        http = httpx.Client(timeout=self._timeout_s, follow_redirects=False)  # the key stays with its host
        finalize(self, http.close)
        return ClientV2(self._key, base_url=self._url, client_name="esrag", timeout=self._timeout_s, httpx_client=http)
