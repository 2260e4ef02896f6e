"""Cohere's rerank models, through its own client; it comes with the extra `esrag[cohere]`."""

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar
from weakref import finalize

from esrag.chunking.cut import indexed_text
from esrag.errors import RerankError, SettingsError
from esrag.records import Hit
from esrag.reranking import Added, RerankOptions, by
from esrag.reranking.cross_encoder import replaced
from esrag.settings import variable

if TYPE_CHECKING:
    from cohere import ClientV2

_URL, _MODEL = "https://api.cohere.com", "rerank-v3.5"
_REFUSED = (401, 403)


class CohereReranker:
    """Asks Cohere how well each hit fits; its score, 0..1, takes the place of the one before.

    One request and no second try: whoever asks waits for it, and without it there is the order that there was.
    """

    takes_long: ClassVar[bool] = False  # one request whatever the number of hits; it has a time limit of its own

    def __init__(self, options: RerankOptions) -> None:
        """Takes the options. Raises: SettingsError when there is no key, or the extra is not installed."""
        if find_spec("cohere") is None:
            raise SettingsError(
                "the reranker 'cohere' needs a package that is not there", hint="pip install 'esrag[cohere]'"
            )
        if not options.api_key:
            raise SettingsError("the reranker 'cohere' needs a key", hint=f"set {variable('rerank.api_key')}")
        self._options = options

    def added(self, question: str, hits: Sequence[Hit]) -> Sequence[Added]:
        """The model's relevance in place of the hit's score."""
        import httpx
        from cohere.core import ApiError

        texts = [indexed_text(hit.chunk) for hit in hits]
        model = self._options.model or _MODEL
        try:
            answer = self._client.rerank(
                model=model, query=question, documents=texts, request_options={"max_retries": 0}
            )
            scores = {result.index: float(result.relevance_score) for result in answer.results}
        except ApiError as error:
            if error.status_code in _REFUSED:
                hint = f"is the key in {variable('rerank.api_key')} the right one?"
                raise SettingsError(f"Cohere refuses the key ({error.status_code})", hint=hint) from None
            raise RerankError(f"Cohere answered {error.status_code}") from None
        except httpx.HTTPError as error:
            raise RerankError(f"Cohere did not answer: {type(error).__name__}") from None
        except (ValueError, TypeError, AttributeError):
            raise RerankError("Cohere gave no scores") from None
        if sorted(scores) != list(range(len(hits))):
            raise RerankError(f"Cohere scored {len(scores)} of {len(hits)} hits")
        return by("cohere", replaced(hits, [scores[number] for number in range(len(hits))]))

    @cached_property
    def _client(self) -> "ClientV2":
        import httpx
        from cohere import ClientV2

        options = self._options
        http = httpx.Client(timeout=options.timeout_s, follow_redirects=False)  # the key stays with its host
        finalize(self, http.close)
        return ClientV2(options.api_key, base_url=options.url or _URL, client_name="esrag", httpx_client=http)
