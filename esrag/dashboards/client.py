"""Kibana or OpenSearch Dashboards over HTTP: what it is, and the import of saved objects.

Every failure is one line and a hint. Nothing is tried again: the import may be repeated as a whole.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn
from urllib.parse import urlsplit

from esrag.engines import EngineOptions
from esrag.engines.server import auth
from esrag.errors import EngineError, EngineUnreachable, SettingsError
from esrag.plugins import install_hint

Product = Literal["kibana", "opensearch-dashboards"]

_TIMEOUT_S = 60  # for one answer; the first import after a start also fills caches
_SHOWN_CHARACTERS = 300
_SHOWN_FAILURES = 3
# Prefixes of the products' own headers.
_PREFIXES: Mapping[Product, str] = {"kibana": "kbn", "opensearch-dashboards": "osd"}
_OK, _FORBIDDEN, _STARTING = 200, (401, 403), 503
_HINTS: Mapping[int, str] = {
    401: "set engine.username and engine.password, or engine.api_key",
    403: "the user or key may not write saved objects",
    404: "kibana.url must hold the base path, where there is one",
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response; `product` is None if it is not named, `body` is None if it is not JSON."""

    status: int
    product: Product | None
    body: Any


class Client:
    """A client for one address; `engine` holds the credentials and what TLS trusts.

    Raises: SettingsError.
    """

    def __init__(self, url: str, engine: EngineOptions) -> None:
        there = replace(engine, url=url)
        self.shown_url = mask_url(url)
        if urlsplit(url).username:  # they are meant for this address
            there = replace(there, username="", password="", api_key="")
        self._headers = {"accept": "application/json", **auth.authorization(there)}
        self._node = _open_node(self.shown_url, auth.trust(there))

    def product(self) -> tuple[Product, str]:
        """Return the product that answers and its version, "" if unknown.

        Raises: EngineError, EngineUnreachable.
        """
        answer = self._send("GET", "/api/status")
        if answer.status == _STARTING:
            raise EngineUnreachable(
                f"{self.shown_url} is not ready yet", hint="wait until it has started"
            )
        if answer.status in _FORBIDDEN:
            raise self._explain_status(answer)
        if answer.product is None:
            self._raise_unknown_product()
        if answer.status != _OK:
            raise self._explain_status(answer)

        return answer.product, _version_in(answer.body)

    def store(self, product: Product, objects: Sequence[Mapping[str, Any]]) -> None:
        """Import objects over those of the same ids.

        Raises: EngineError, EngineUnreachable.
        """
        body, kind = _encode_file(objects)
        headers = {"content-type": kind, f"{_PREFIXES[product]}-xsrf": "true"}
        answer = self._send("POST", "/api/saved_objects/_import?overwrite=true", body, headers)
        if answer.status != _OK:
            raise self._explain_status(answer)
        if not isinstance(answer.body, Mapping):
            self._raise_unknown_product()

        count = answer.body.get("successCount")
        if answer.body.get("success") is not True or count != len(objects):
            raise self._explain_rejection(answer.body, len(objects))

    def close(self) -> None:
        """Close the connection."""
        self._node.close()

    def _send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> _Answer:
        from elastic_transport import HttpHeaders, TransportError

        said = HttpHeaders({**self._headers, **headers})
        try:
            came, data = self._node.perform_request(
                method, path, body, said, request_timeout=_TIMEOUT_S
            )
        except TransportError as error:
            raise self._explain_silence(error) from error

        return _Answer(came.status, _product_in(came.headers), _decode(data))

    def _explain_silence(self, error: Exception) -> EngineError:
        """Return the error of a request without an answer."""
        from elastic_transport import TlsError

        if isinstance(error, TlsError):
            hint = "set engine.ca_file, or write http:// for a server without TLS"
            message = f"no secure connection to {self.shown_url}: {_shorten(error)}"
            return EngineError(message, hint=hint)
        return EngineUnreachable(
            f"cannot reach {self.shown_url}: {_shorten(error)}",
            hint="is it running, and is kibana.url its address?",
        )

    def _explain_status(self, answer: _Answer) -> EngineError:
        body = answer.body if isinstance(answer.body, Mapping) else {}
        reason = _shorten(body.get("message") or body.get("error") or "no reason given")
        return EngineError(
            f"{self.shown_url} answered {answer.status}: {reason}",
            hint=_HINTS.get(answer.status, ""),
        )

    def _explain_rejection(self, body: Mapping[str, Any], count: int) -> EngineError:
        errors = body.get("errors")
        listed = errors if isinstance(errors, list) else []
        failed = [_describe_failure(item) for item in listed if isinstance(item, Mapping)]
        reason = "; ".join(failed[:_SHOWN_FAILURES]) or "no reason given"
        left = len(failed) - _SHOWN_FAILURES
        more = f"; and {left} more" if left > 0 else ""
        taken = f"{body.get('successCount', 0)} of {count} objects"
        return EngineError(
            f"{self.shown_url} took {taken}: {reason}{more}",
            hint="esrag kibana install can be repeated",
        )

    def _raise_unknown_product(self) -> NoReturn:
        hint = (
            "kibana.url must be the address of Kibana or OpenSearch Dashboards, with its base path"
        )
        raise EngineError(
            f"{self.shown_url} does not answer as Kibana or OpenSearch Dashboards do", hint=hint
        )


def mask_url(kibana_url: str) -> str:
    """Return an address without user and password.

    Raises: SettingsError.
    """
    try:
        return auth.mask_url(kibana_url)
    except SettingsError as error:
        raise _no_address() from error


def _open_node(url: str, trust: Mapping[str, Any]) -> Any:
    """Return the transport, which comes with the client of either engine.

    Raises: SettingsError.
    """
    try:
        from elastic_transport import Urllib3HttpNode
        from elastic_transport.client_utils import url_to_node_config
    except ImportError as error:
        message = "esrag kibana needs a package that is not installed: elastic-transport"
        raise SettingsError(message, hint=install_hint("elasticsearch")) from error
    try:
        there = url_to_node_config(url, use_default_ports_for_scheme=True)
    except ValueError as error:
        raise _no_address() from error
    return Urllib3HttpNode(replace(there, **trust))


def _no_address() -> SettingsError:
    return SettingsError("kibana.url is not an address", hint="write it as https://host:5601")


def _encode_file(objects: Sequence[Mapping[str, Any]]) -> tuple[bytes, str]:
    """Return a form with the objects as a file of JSON lines, and its content type."""
    from urllib3.filepost import encode_multipart_formdata

    lines = "".join(json.dumps(item) + "\n" for item in objects)
    file = ("esrag.ndjson", lines, "application/x-ndjson")
    return encode_multipart_formdata({"file": file})


def _product_in(headers: Mapping[str, str]) -> Product | None:
    """Return the product that named itself in the headers of a response."""
    named = (name for name, prefix in _PREFIXES.items() if f"{prefix}-name" in headers)
    return next(named, None)


def _version_in(body: Any) -> str:
    """Return the version in a product's status, "" if there is none."""
    version = body.get("version") if isinstance(body, Mapping) else None
    return str(version.get("number", "")) if isinstance(version, Mapping) else ""


def _decode(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _describe_failure(item: Mapping[str, Any]) -> str:
    """Return one object that was rejected, and why."""
    error = item.get("error")
    said = [error.get("type"), error.get("message")] if isinstance(error, Mapping) else [error]
    return (
        f"{item.get('type')} {item.get('id')}: "
        f"{_shorten(': '.join(str(part) for part in said if part))}"
    )


def _shorten(said: Any) -> str:
    """Return a message, or an error with its kind, on one line and cut short.

    For an error of the transport its cause is shown, which says more.
    """
    if isinstance(said, Exception):
        said = f"{type(said).__name__}: {said.__cause__ or said}"
    return " ".join(str(said).split())[:_SHOWN_CHARACTERS]
