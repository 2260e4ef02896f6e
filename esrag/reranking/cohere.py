"""Cohere's rerank models, through its own client; it comes with the extra `esrag[cohere]`."""

import math
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, ClassVar
from weakref import finalize

from esrag.chunking.cut import indexed_text
from esrag.errors import EsragError, KeyRefused, RerankError, SettingsError
from esrag.plugins import require_extra
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, in_place
from esrag.services import Failed, shown_words, sound_address, sound_key, words_of
from esrag.settings import variable

_URL, _MODEL = "https://api.cohere.com", "rerank-v3.5"
_LONGEST_S = 10.0  # without a budget: whoever asks waits for it


class CohereReranker:
    """Asks Cohere how well each hit fits; its score, 0..1, takes the place of the one before.

    One request and no second try: without it there is the order that there was.
    """

    cost: ClassVar[Cost] = "request"

    def __init__(self, options: RerankOptions) -> None:
        require_extra("the reranker 'cohere'", "cohere")
        self._key = sound_key(options.api_key, "rerank")
        if not self._key:
            raise SettingsError("the reranker 'cohere' needs a key", hint=f"set {variable('rerank.api_key')}")
        self._url = sound_address(options.url or _URL, "rerank")
        self._model = options.model or _MODEL
        self._client = self._opened()  # now: importing it takes longer than an answer may

    def _opened(self) -> Any:
        import httpx
        from cohere import ClientV2

        http = httpx.Client(follow_redirects=False)  # the key stays with its host
        finalize(self, http.close)
        return ClientV2(self._key, base_url=self._url, client_name="esrag", httpx_client=http)

    def added(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:
        """The model's relevance in place of the hit's score."""
        texts = [indexed_text(hit.chunk) for hit in hits]
        try:
            scores = self._scores(question, texts, min(left_s, _LONGEST_S))
        except Failed as failed:  # the cause would show the answer's own words, which may hold the key
            raise self._error(failed) from None
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            raise RerankError(f"{self._url} does not answer as Cohere does") from None
        if len(scores) != len(hits):
            raise RerankError(f"{self._url} scored {len(scores)} of {len(hits)} hits")
        return in_place("cohere", hits, scores)

    def _scores(self, question: str, texts: Sequence[str], within_s: float) -> list[float]:
        """The relevance of each text that was scored, in the order of the texts.

        The client's time limit is one for each part of an answer, and a part may be a byte: so another thread asks, and
        is left to itself when the time is over. Raises: Failed; ValueError, TypeError, … for an answer of another form.
        """
        came: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._ask, args=(question, texts, within_s, came.put), daemon=True).start()
        try:
            answer = came.get(timeout=within_s)
        except Empty:
            raise Failed(0, f"no answer within {within_s:.1f} s") from None
        if isinstance(answer, Exception):
            raise answer
        found = {result.index: float(result.relevance_score) for result in answer.results}
        if not all(0 <= score <= 1 for score in found.values()) or len(found) != len(answer.results):
            raise ValueError
        return [found[number] for number in range(len(texts)) if number in found]

    def _ask(self, question: str, texts: Sequence[str], within_s: float, give: Any) -> None:
        """Gives the answer, or what went wrong."""
        import httpx
        from cohere.core import ApiError, RequestOptions

        once = RequestOptions(max_retries=0, timeout_in_seconds=max(1, math.ceil(within_s)))
        try:
            give(self._client.rerank(model=self._model, query=question, documents=texts, request_options=once))
        except ApiError as error:
            give(Failed(error.status_code or 0, words_of(error.body)))
        except httpx.HTTPError as error:
            give(Failed(0, f"{type(error).__name__}: {error}"))
        except Exception as error:  # noqa: BLE001 -- raised where it is waited for
            give(error)

    def _error(self, failed: Failed) -> EsragError:
        """What a failed request means to the user."""
        said = shown_words(failed.said, self._key)
        if failed.status == 0:
            return RerankError(f"{self._url} did not answer: {said}")
        message = f"{self._url} answered {failed.status}: {said}"
        if failed.refuses_key:
            return KeyRefused(message, hint=f"is the key in {variable('rerank.api_key')} the right one?")
        if failed.finds_nothing:
            return SettingsError(message, hint="look at rerank.url and rerank.model")
        return RerankError(message)
