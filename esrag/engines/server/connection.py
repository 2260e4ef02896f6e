"""One way to talk to either server: a request in, a decoded body out, failures as EsragErrors.

The connection detects the product of the server, and that product's client sends the requests
(time-outs, connections, TLS).
"""

import json
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, NoReturn, TypeVar

from esrag.engines import EngineOptions
from esrag.engines.server import auth
from esrag.errors import EngineError, EngineUnreachable, IndexUnwritable, SettingsError
from esrag.plugins import install_hint

_T = TypeVar("_T")
Product = Literal["elasticsearch", "opensearch"]
Body = Mapping[str, Any] | Iterable[Mapping[str, Any]] | str | None

_SUPPORTED: Mapping[str, tuple[tuple[int, int], str]] = {
    "elasticsearch": ((8, 18), "8.18 or newer"),
    "opensearch": ((2, 19), "2.19 or newer"),
}
_FORBIDDEN, _NOT_FOUND, _UNAVAILABLE = 403, 404, 503
BUSY = (429, 502, 503, 504)  # statuses of transient failures
_OLDEST_MAJOR = 8  # Elasticsearch accepts media types of its own and the previous major version
_SHOWN_CHARACTERS = 300
# They say that something failed, not what.
_OUTER_ONLY = ("search_phase_execution_exception", "status_exception")
_DISK_FULL = "flood-stage"  # a block that is also a 429 but is not transient
_DISK_FULL_HINT = "the server's disk is full: free space, then run the command again"
WAITED_HINT = "run: esrag doctor"  # it reports what is red, full or overloaded
# Otherwise a failed shard goes unnoticed, and hits are missing.
WHOLE = {"allow_partial_search_results": False}
# From here on a server quotes the document that it refuses; so does the error's cause.
_QUOTING = re.compile(
    r"(?<![. ])[. ]*+(Preview of field's value|The prefix of the first immense term is): .*",
    re.DOTALL,
)
_HINTS: Mapping[int, str] = {
    401: "set engine.username and engine.password, or engine.api_key",
    403: "the user or key may not do this: see Least privileges in docs/guides/search-server.md",
    413: "the server takes smaller requests only: raise its http.max_content_length",
}


@dataclass(frozen=True, slots=True)
class Server:
    """Product and version as reported by a server."""

    product: Product
    version: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait for an answer, and between the tries of what failed for the moment.

    `request_waits_s` is for a server that is away or busy: a restarting node answers again within
    half a minute. `bulk_waits_s` is for entries of a bulk that the server had no room for. A try
    follows each wait.
    """

    request_waits_s: Sequence[float] = (1, 2, 4, 8, 16, 32)
    bulk_waits_s: Sequence[float] = (0.5, 1, 2, 4, 8, 16)
    timeout_s: float = 30  # the clients' 10 s are too short for a full bulk on a loaded server


RETRIES = RetryPolicy()


class Refused(EngineError):  # noqa: N818 -- named for what it is
    """An error response of the server.

    `status` is the HTTP status, `kind` the server's name for the error, `body` the whole response.
    """

    def __init__(self, message: str, status: int, kind: str, body: Any, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.kind = kind
        self.body = body


class Unwilling(Refused, IndexUnwritable):
    """The server accepts no writes for now: full disk, blocked index, or overload."""


class Connection:
    """A server behind one address; opened at first use."""

    def __init__(self, options: EngineOptions, retries: RetryPolicy = RETRIES) -> None:
        self.retries = retries
        self._options = options
        self._send: Callable[..., Any] | None = None
        self._close: Callable[[], None] = lambda: None
        self._major = _OLDEST_MAJOR
        self._server: Server | None = None
        self._opening = Lock()

    @property
    def shown_url(self) -> str:
        """Return the address without user and password.

        Raises: SettingsError.
        """
        return auth.mask_url(self._options.url)

    @property
    def server(self) -> Server:
        """Return product and version of the server.

        Raises: EngineUnreachable, or EngineError for another product or an old version.
        """
        with self._opening:
            if self._server is None:
                self._server = self._open()
            return self._server

    def _open(self) -> Server:
        try:
            self._open_elasticsearch()
            server = self._ask_server()
        except ValueError as error:  # raised by a client for an invalid host
            message = f"invalid server address {self.shown_url}: {_describe(error)}"
            raise SettingsError(message, hint="look at engine.url") from error
        except Refused as error:
            if error.status == _NOT_FOUND:  # a missing index is a 404 as well
                self._refuse_server()
            server = _infer_server(error)
        if server.product == "opensearch":
            self._open_opensearch()
        return server

    def _ask_server(self) -> Server:
        """Ask the server for its product and version, without retries: a wrong address stays wrong.

        Raises: EngineError.
        """
        said = self._try("GET", "/", None, {}).get("version")
        if not isinstance(said, Mapping):
            self._refuse_server()

        server = _read_server(said)
        oldest, words = _SUPPORTED[server.product]
        if server.version < oldest:
            message = f"{self.shown_url} is {server.text}, esrag needs {words}"
            raise EngineError(message, hint="upgrade the server")

        self._major = server.version[0]
        return server

    def request(self, method: str, path: str, body: Body = None, **parameters: Any) -> Any:
        """Return the decoded response, retrying transient failures.

        A mapping is sent as JSON, an iterable as lines, and text as it is. Every request of this
        package may be repeated: ids are deterministic, so a request that was applied before its
        response got lost is applied again with the same result. Raises: Refused, EngineUnreachable.
        """
        return self._retry(lambda: self._try(method, path, body, parameters))

    def get(self, path: str, **parameters: Any) -> Any | None:
        """Return the response for a path; None if it is not found. Raises: as `request`."""
        try:
            return self.request("GET", path, **parameters)
        except Refused as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    def read(self, index: str, ids: Sequence[str], **parameters: Any) -> list[Any]:
        """Return the entries with these ids.

        Raises: as `request`, also if an entry could not be read, since it may well exist.
        """

        def ask() -> list[Any]:
            docs = self._try("POST", f"/{index}/_mget", {"ids": list(ids)}, parameters)["docs"]
            for doc in filter(_is_unread, docs):
                raise refusal(self.shown_url, _UNAVAILABLE, doc, about=str(doc.get("_id", "")))
            return [doc for doc in docs if doc.get("found")]

        return self._retry(ask)

    def search(self, lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the responses to many searches in one request.

        Raises: as `request`, also if one of the responses is an error.
        """

        def ask() -> list[dict[str, Any]]:
            answers: list[dict[str, Any]] = self._try("POST", "/_msearch", lines, {})["responses"]
            for answer in answers:
                if "error" in answer:
                    raise refusal(self.shown_url, answer.get("status", 400), answer)
            return answers

        return self._retry(ask)

    def ask(self, path: str) -> Any:
        """Return the response for a path without retries, for diagnostics. Raises: as `request`."""
        _ = self.server
        return self._try("GET", path, None, {})

    def close(self) -> None:
        """Close the connections; the next use reopens them."""
        with suppress(Exception):
            self._close()
        self._send, self._server, self._major = None, None, _OLDEST_MAJOR

    def _retry(self, ask: Callable[[], _T]) -> _T:
        """Call `ask`, retrying transient failures. Raises: Refused, EngineUnreachable."""
        _ = self.server
        for wait_s in (*self.retries.request_waits_s, None):
            try:
                return ask()
            except EngineUnreachable:
                if wait_s is None:
                    raise
            except Refused as error:
                if error.status not in BUSY or error.hint == _DISK_FULL_HINT:
                    raise
                if wait_s is None:
                    error.hint = WAITED_HINT
                    raise
            time.sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    def _try(self, method: str, path: str, body: Body, parameters: Mapping[str, Any]) -> Any:
        if self._send is None:
            raise AssertionError("opened before")

        said = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in parameters.items()
        }
        answer = self._send(method, path, said, _headers(body), _text(body))
        if not isinstance(answer, Mapping):
            self._refuse_server()
        return answer

    def _open_elasticsearch(self) -> None:
        try:
            import elasticsearch
        except ImportError as error:
            raise _missing_error("elasticsearch") from error

        self._close()  # left by a failed attempt to open
        client = elasticsearch.Elasticsearch(
            request_timeout=self.retries.timeout_s, **self._client_options()
        )
        self._send = self._wrap_elasticsearch(client.perform_request)
        self._close = client.close

    def _wrap_elasticsearch(self, perform: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that sends a request and raises our errors."""
        from elasticsearch import UnsupportedProductError

        def send(method: str, path: str, parameters: Any, headers: Any, body: str | None) -> Any:
            headers = {name: self._add_version(kind) for name, kind in headers.items()}
            with self._elasticsearch_failures(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the client repeats the server's deprecation notes
                try:
                    return perform(method, path, params=parameters, headers=headers, body=body).body
                except UnsupportedProductError as error:
                    return error.body

        return send

    @contextmanager
    def _elasticsearch_failures(self) -> Iterator[None]:
        import elasticsearch

        try:
            yield
        except elasticsearch.ApiError as error:
            raise refusal(self.shown_url, error.status_code, error.body) from error
        except (elasticsearch.SerializationError, RecursionError):
            self._refuse_server()
        except elasticsearch.SSLError as error:
            raise self._tls_error(error) from error
        except elasticsearch.TransportError as error:
            raise self._unreachable_error(error) from error

    def _open_opensearch(self) -> None:
        try:
            import opensearchpy
        except ImportError as error:
            raise _missing_error("opensearch") from error

        self._close()
        client = opensearchpy.OpenSearch(timeout=self.retries.timeout_s, **self._client_options())
        self._send = self._wrap_opensearch(client.transport.perform_request)
        self._close = client.close

    def _wrap_opensearch(self, perform: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that sends a request and raises our errors."""

        def send(method: str, path: str, parameters: Any, headers: Any, body: str | None) -> Any:
            with self._opensearch_failures():
                return perform(method, path, headers=headers, params=parameters, body=body)

        return send

    @contextmanager
    def _opensearch_failures(self) -> Iterator[None]:
        import opensearchpy

        try:
            yield
        except (opensearchpy.SerializationError, RecursionError):
            self._refuse_server()
        except opensearchpy.SSLError as error:
            raise self._tls_error(error) from error
        except opensearchpy.TransportError as error:
            if isinstance(error.status_code, int):
                answer = error.error if error.info is None else error.info
                raise refusal(self.shown_url, error.status_code, answer) from error
            raise self._unreachable_error(error) from error

    def _client_options(self) -> dict[str, Any]:
        """Return the options that both clients share."""
        options = self._options
        common = {
            "hosts": [self.shown_url],
            "max_retries": 0,
            "headers": auth.authorization(options),
        }
        return common | auth.trust(options)

    def _add_version(self, kind: str) -> str:
        """Return the media type for the server's version; the client only knows its own release."""
        return (
            f"application/vnd.elasticsearch+{kind.removeprefix('application/')}; "
            f"compatible-with={self._major}"
        )

    def _unreachable_error(self, error: Exception) -> EngineUnreachable:
        hint = "is the server running, and is engine.url its address?"
        return EngineUnreachable(f"cannot reach {self.shown_url}: {_describe(error)}", hint=hint)

    def _tls_error(self, error: Exception) -> EngineError:
        """Return the error of a failed TLS connection; it is not transient."""
        hint = (
            "set engine.ca_file or engine.certificate_fingerprint, "
            "or write http:// if the server has no TLS"
        )
        return EngineError(
            f"no secure connection to {self.shown_url}: {_describe(error)}", hint=hint
        )

    def _refuse_server(self) -> NoReturn:
        hint = "engine.url must be the address of Elasticsearch or OpenSearch"
        raise EngineError(f"{self.shown_url} does not answer as a search engine does", hint=hint)


def _read_server(said: Mapping[str, Any]) -> Server:
    """Return the server from its `version`."""
    number = str(said.get("number", ""))
    is_opensearch = said.get("distribution") == "opensearch"
    product: Product = "opensearch" if is_opensearch else "elasticsearch"
    return Server(product, _version(number), f"{product} {number}")


def _infer_server(refused: Refused) -> Server:
    """Infer the server from a refusal, since each product words its refusals differently.

    Raises: the refusal, if it is not one of a missing right.

    A server reveals its product and version only to users and keys with the cluster privilege
    `monitor`. Otherwise the oldest supported version is assumed. What newer versions can do in
    addition does not change any answer.
    """
    if refused.status != _FORBIDDEN or refused.kind != "security_exception":
        raise refused

    product: Product = "opensearch" if "no permissions for" in str(refused) else "elasticsearch"
    oldest, _ = _SUPPORTED[product]
    return Server(product, oldest, f"{product} of a version it does not tell this user or key")


def refusal(url: str, status: int, body: Any, *, about: str = "") -> Refused:
    """Return an error response as one of our errors; `about` names an entry of a bulk response."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    kind = str(error.get("type", "")) if isinstance(error, Mapping) else ""
    reason = _reason(error) or "no reason given"
    said = " ".join(_QUOTING.sub("", reason).split())[:_SHOWN_CHARACTERS]
    message = f"{url} answered {status}{about and f' for {about}'}: {said}"
    unwilling = status in BUSY or kind == "cluster_block_exception" or _DISK_FULL in reason
    return (Unwilling if unwilling else Refused)(
        message, status, kind, body, hint=_hint(status, kind, reason)
    )


def _is_unread(doc: Mapping[str, Any]) -> bool:
    """Return whether an entry could not be looked up; a missing index simply has none."""
    error = doc.get("error")
    return bool(error) and not (
        isinstance(error, Mapping) and error.get("type") == "index_not_found_exception"
    )


def _hint(status: int, kind: str, reason: str) -> str:
    if _DISK_FULL in reason:
        return _DISK_FULL_HINT
    # Permanent; a 503 is a missing master.
    if kind == "cluster_block_exception" and status == _FORBIDDEN:
        return "the index is blocked: look for index.blocks in its settings"
    return _HINTS.get(status, "")


def _headers(body: Body) -> dict[str, str]:
    accepted = {"accept": "application/json"}
    if body is None:
        return accepted
    kind = "json" if isinstance(body, Mapping) else "x-ndjson"
    return {**accepted, "content-type": f"application/{kind}"}


def _text(body: Body) -> str | None:
    """Return a body in the form in which it is sent."""
    if body is None or isinstance(body, str):
        return body
    return (
        json.dumps(body)
        if isinstance(body, Mapping)
        else "".join(f"{json.dumps(line)}\n" for line in body)
    )


def _reason(error: Any) -> str:
    """Return the reason of an error and that of its cause.

    For errors that only say that something failed, return the reason of the cause alone.
    """
    if not isinstance(error, Mapping):
        return str(error or "")

    inner = _inner_reason(error)
    outer = str(error.get("reason") or error.get("message") or "")
    if inner and error.get("type") in _OUTER_ONLY:
        return inner
    return f"{outer}: {inner}" if outer and inner and inner not in outer else outer or inner


def _inner_reason(error: Mapping[str, Any]) -> str:
    """Return the first reason among those of shards, causes and suppressed errors."""
    parts = [
        *(shard.get("reason") for shard in error.get("failed_shards", ())),
        error.get("caused_by"),
        *error.get("suppressed", ()),
        *error.get("root_cause", ()),
    ]
    return next(filter(None, (_reason(part) for part in parts if part)), "")


def _describe(error: Exception) -> str:
    cause = error.__cause__ or error  # Elasticsearch's client only says "Connection error"
    return f"{type(error).__name__}: {' '.join(str(cause).split())[:_SHOWN_CHARACTERS]}"


def _version(number: str) -> tuple[int, int]:
    major, _, rest = number.partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def _missing_error(product: str) -> SettingsError:
    message = f"engine.url is an address, which needs a package that is not installed: {product}"
    return SettingsError(message, hint=install_hint(product))
