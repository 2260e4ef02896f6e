"""Search services: the request of each, and where its answer has the results."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlencode

from esrag.errors import SettingsError, WebError
from esrag.http import Failed, check_address, check_key, get, parts, post, redact
from esrag.settings import WebSettings, is_address, variable
from esrag.text import drop_unshowable, normalise
from esrag.web import WebResult

MAX_BYTES = 4 * 2**20  # of an answer
MAX_TEXT, MAX_TITLE, MAX_URL = 4_000, 200, 2_000  # characters of a result
# What stands apart from the text before it, though without a blank.
_BLOCK = re.compile(
    r"</?(?:article|blockquote|br|d[dlt]|div|figure|h[1-6]|hr|li|ol|p|pre|section|t[dhr]|table|ul)\b",
    re.IGNORECASE,
)
_URLS = {"brave": "https://api.search.brave.com", "tavily": "https://api.tavily.com"}


class WebSearch:
    """Asks the search service of the settings."""

    def __init__(self, settings: WebSettings) -> None:
        """Raises: SettingsError if a key or an address is missing, or cannot be one."""
        self._settings = settings
        self._key = check_key(settings.api_key.get_secret_value(), "web")
        url = settings.url or _URLS.get(settings.provider, "")
        if not url:
            hint = f"set {variable('web.url')} to the address of your SearXNG"
            raise SettingsError("web.provider searxng needs an address", hint=hint)
        if settings.provider in _URLS and not self._key:
            hint = f"set {variable('web.api_key')}"
            raise SettingsError(f"web.provider {settings.provider} needs a key", hint=hint)
        self._url = check_address(url, "web")

    def search(self, question: str) -> tuple[WebResult, ...]:
        """Return the results that have an address and a text, best first.

        Raises: WebError.
        """
        try:
            with self._ask(question) as response:
                answer = json.loads(b"".join(parts(response, MAX_BYTES)))
        except Failed as failed:
            said = redact(failed.said, self._key)
            raise WebError(f"{self._settings.provider} answers {failed.status}: {said}") from None
        except OverflowError:
            raise WebError(f"{self._settings.provider} answers with too much") from None
        except (ValueError, RecursionError):
            raise WebError(f"{self._settings.provider} answers with something else") from None
        return (*_iter_results(answer),)[: self._settings.results]

    def _ask(self, question: str) -> AbstractContextManager[HTTPResponse]:
        most, timeout_s = self._settings.results, self._settings.timeout_s
        match self._settings.provider:
            case "tavily":
                body = {"query": question, "max_results": most}
                return post(f"{self._url}/search", body, self._key, timeout_s)
            case "brave":
                wanted = urlencode({"q": question, "count": most})
                headers = {"X-Subscription-Token": self._key}
                return get(f"{self._url}/res/v1/web/search?{wanted}", headers, timeout_s)
        wanted = urlencode({"q": question, "format": "json"})
        return get(f"{self._url}/search?{wanted}", {}, timeout_s)


def _iter_results(answer: Any) -> Iterator[WebResult]:
    """Yield what can be read of an answer: Brave's results are below `web`, others' at the top."""
    found = answer.get("web", answer) if isinstance(answer, Mapping) else {}
    results = found.get("results") if isinstance(found, Mapping) else []
    for result in results if isinstance(results, list) else []:
        if isinstance(result, Mapping) and (read := _read(result)):
            yield read


def _read(result: Mapping[str, Any]) -> WebResult | None:
    url = result.get("url")
    said = [result.get("content") or result.get("description"), *_list(result, "extra_snippets")]
    text = "\n".join(filter(None, map(_to_text, said)))[:MAX_TEXT]
    if not (isinstance(url, str) and is_address(url) and len(url) <= MAX_URL and text):
        return None
    return WebResult(drop_unshowable(url), _to_text(result.get("title"))[:MAX_TITLE], text)


def _list(result: Mapping[str, Any], name: str) -> list[Any]:
    value = result.get(name)
    return value if isinstance(value, list) else []


def _to_text(value: Any) -> str:
    """Return a text without mark-up, scripts included."""
    if not isinstance(value, str) or not value.strip():
        return ""
    import lxml.html  # type: ignore[import-untyped]
    from lxml import etree

    shown = _BLOCK.sub(r" \g<0>", drop_unshowable(value[: 4 * MAX_TEXT]))
    tree = lxml.html.document_fromstring(f"<div>{shown}</div>")
    etree.strip_elements(tree, "script", "style", with_tail=False)
    return " ".join(normalise(tree.text_content()).split())
