"""Services over HTTP: one way to ask them, and what their failures say.

The standard library asks: no HTTP client is sure to come with what esrag needs.
"""

import json
import random
import re
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import mktime_tz, parsedate_tz
from http.client import HTTPException, HTTPResponse
from io import IncrementalNewlineDecoder
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener
from weakref import finalize

from esrag.errors import KeyRefused, SettingsError
from esrag.settings import is_address, variable
from esrag.text import normalise

# The client is imported where it is used, so that other services need not have it.
if TYPE_CHECKING:
    from cohere import ClientV2

Entry = TypeVar("Entry")

_SHOWN_CHARACTERS = 300
_MAX_ASKED_S = 86_400.0
_TIMED_OUT, _TOO_MANY = 408, 429
_PART_BYTES = 2**16
_MAX_SAID_BYTES = 2**20


class Failed(Exception):  # noqa: N818 -- named for what it is
    """A request that brought nothing.

    `status` is HTTP's, 0 where no answer came; `said` the service's words; `wait_s` how long it
    asks to wait.
    """

    def __init__(self, status: int, said: str, wait_s: float | None = None) -> None:
        super().__init__(status)
        self.status, self.said, self.wait_s = status, said, wait_s

    @property
    def is_transient(self) -> bool:
        """Return whether another try may succeed."""
        return self.status in (0, _TIMED_OUT, _TOO_MANY) or self.status >= 500  # noqa: PLR2004 -- HTTP's server errors

    @property
    def refuses_key(self) -> bool:
        """Return whether the service refuses the key."""
        return self.status in (401, 403)

    @property
    def finds_nothing(self) -> bool:
        """Return whether the address or the model is wrong or has moved."""
        return self.status == 404 or 300 <= self.status < 400  # noqa: PLR2004 -- HTTP's redirects

    def pause_s(self, tried: int) -> float:
        """Return how long to wait before the next try.

        That is as long as the service asks for, else a random time that doubles, so that not all
        come back at once.
        """
        return 2.0 ** (tried - 1) * random.uniform(0.5, 1) if self.wait_s is None else self.wait_s  # noqa: S311 -- no secret

    def require_settings(self, message: str, section: str) -> None:
        """Raise KeyRefused or SettingsError if the key, the address or the model is wrong."""
        if self.refuses_key:
            raise KeyRefused(
                message, hint=f"is the key in {variable(f'{section}.api_key')} the right one?"
            ) from None
        if self.finds_nothing:
            raise SettingsError(
                message, hint=f"look at {section}.url and {section}.model"
            ) from None


@contextmanager
def post(url: str, body: Mapping[str, Any], key: str, timeout_s: float) -> Iterator[HTTPResponse]:
    """Yield the answer to a JSON body, to be read; a key is sent if there is one.

    Raises: Failed.
    """
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    with _open(url, json.dumps(body).encode(), headers, timeout_s) as response:
        yield response


@contextmanager
def get(url: str, headers: Mapping[str, str], timeout_s: float) -> Iterator[HTTPResponse]:
    """Yield the answer to a request without a body, to be read. Raises: Failed."""
    with _open(url, None, headers, timeout_s) as response:
        yield response


@contextmanager
def _open(
    url: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float
) -> Iterator[HTTPResponse]:
    # Some services reject urllib's own name.
    named = {"User-Agent": "esrag", **headers}
    request = Request(url, body, named)  # noqa: S310 -- http or https: looked at before

    try:
        with build_opener(_NoRedirects).open(request, timeout=timeout_s) as response:
            yield response
    except HTTPError as error:
        raise _to_failed(error) from None
    except (OSError, HTTPException) as error:  # refused, cut off, timed out
        cause = getattr(error, "reason", error)
        raise Failed(0, f"{type(cause).__name__}: {cause}") from None


def parts(response: HTTPResponse, max_bytes: int) -> Iterator[bytes]:
    """Yield the body of an answer as it comes.

    Raises: Failed if it is cut off, OverflowError if it is larger than `max_bytes`.
    """
    expected, came = response.length or 0, 0
    while part := response.read1(_PART_BYTES):
        came += len(part)
        if came > max_bytes:
            raise OverflowError
        yield part
    if came < expected:  # of which http.client says nothing
        raise Failed(0, "the connection ended before the answer did")


def iter_events(body: Iterable[bytes]) -> Iterator[str]:
    r"""Yield the data of each event of a stream (WHATWG, HTML, 9.2.6).

    Empty and incomplete events are skipped.

    >>> list(iter_events([b": hello\r", b"\ndata: 1\r\ndata:2\r\n\r\n"]))
    ['1\n2']
    >>> list(iter_events([b"event: end\ndata: [DONE]\n\ndata: half"]))
    ['[DONE]']
    """
    data: list[str] = []
    for line in _iter_lines(body):
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif name == "error":
            # No field of the standard, but llama.cpp's up to 2025: data would have come instead.
            data.append(f'{{"error":{value}}}')
        elif not line:
            if any(data):
                yield "\n".join(data)
            data = []


def _iter_lines(body: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines that have ended."""
    characters = getincrementaldecoder("utf-8-sig")("replace")
    decoder = IncrementalNewlineDecoder(characters, translate=True)
    rest = ""
    for part in body:
        *lines, rest = (rest + decoder.decode(part)).split("\n")
        yield from lines


def iter_in_time(
    left_s: float, source: Callable[[], Iterator[Entry]], clock: Callable[[], float]
) -> Generator[Entry, None, None]:
    """Yield what the source gives, as it comes, until the time is over.

    A client's time limit is one for each part of an answer, and a part may be a byte. So another
    thread asks, and is abandoned when the time is over.

    Raises: Failed when the time is over; what the source raises.
    """
    ends = clock() + left_s
    came: SimpleQueue[tuple[Entry, ...] | Exception] = SimpleQueue()
    left = Event()
    Thread(target=_give, args=(source, came.put, left.is_set), daemon=True).start()

    try:
        # Looked at each time: entries may come faster than they are taken.
        while (still_s := ends - clock()) > 0:
            try:
                found = came.get(timeout=still_s)
            except Empty:
                break
            if isinstance(found, Exception):
                raise found
            if not found:
                return
            yield from found
    finally:
        left.set()
    raise Failed(0, f"no whole answer within {left_s:.1f} s")


def cohere_client(owner: object, url: str, key: str, timeout_s: float) -> "ClientV2":
    """Return Cohere's own client, which is closed when its owner goes.

    `timeout_s` is the limit for each part of an answer.
    """
    import httpx  # comes with the client
    from cohere import ClientV2

    http = httpx.Client(timeout=timeout_s, follow_redirects=False)  # the key stays with its host
    finalize(owner, http.close)
    return ClientV2(key, base_url=url, client_name="esrag", timeout=timeout_s, httpx_client=http)


@contextmanager
def cohere_failures() -> Iterator[None]:
    """Turn errors of Cohere's client for a request without a result into Failed."""
    import httpx
    from cohere.core import ApiError

    try:
        yield
    except ApiError as error:
        wait_s = seconds_to_wait((error.headers or {}).get("retry-after"), time.time())
        raise Failed(error.status_code or 0, words_of(error.body), wait_s) from None
    except httpx.HTTPError as error:
        raise Failed(0, f"{type(error).__name__}: {error}") from None


def words_of(body: Any) -> str:
    """Return the message of an error, in the forms of several services.

    These are OpenAI, Cohere, vLLM, Ollama, FastAPI and Gemini.

    >>> words_of({"error": {"message": "no such model", "code": 404}}), words_of(["full"])
    ('no such model', 'full')
    >>> words_of({"detail": []})
    ''
    """
    if isinstance(body, list) and body:
        return words_of(body[0])
    if isinstance(body, Mapping):
        return next(
            (words_of(body[key]) for key in ("error", "message", "detail") if body.get(key)), ""
        )
    return body if isinstance(body, str) else ""


def seconds_to_wait(retry_after: str | None, now: float) -> float | None:
    """Return the seconds from now in the header Retry-After, or None.

    The header has a number of seconds or a date (RFC 9110, 10.2.3); None stands for anything else.

    >>> seconds_to_wait("7", 0), seconds_to_wait("Thu, 01 Jan 1970 00:01:00 GMT", 45)
    (7.0, 15)
    >>> seconds_to_wait("soon", 0) is None
    True
    """
    said = (retry_after or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", said, re.ASCII):
        return min(float(said), _MAX_ASKED_S)
    try:
        date = parsedate_tz(said)
        return None if date is None else max(0, min(mktime_tz(date) - now, _MAX_ASKED_S))
    except (ValueError, OverflowError):
        return None


def redact(said: str, key: str) -> str:
    """Return a service's message for display, without the key and without terminal controls."""
    line = " ".join(normalise(said.replace(key, "********") if key else said).split())
    return line[:_SHOWN_CHARACTERS] or "no reason given"


def check_address(url: str, section: str) -> str:
    """Return the address without a slash at its end.

    Raises: SettingsError, which does not quote the address: it may hold a password.
    """
    if not _is_sound(url):
        message = f"{section}.url must be the address of a service, without user and password"
        hint = f"write https://host/path, and the key as {variable(f'{section}.api_key')}"
        raise SettingsError(message, hint=hint)
    return url.rstrip("/")


def _is_sound(url: str) -> bool:
    """Return whether an address has a host and a path at most, and only visible characters."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return False

    has_only_path = bool(parts.hostname) and not parts.query + parts.fragment and "@" not in url
    return is_address(url) and has_only_path and re.fullmatch(r"[!-~]+", url) is not None


def check_key(key: str, section: str) -> str:
    """Return the key, if it fits into a header.

    Raises: SettingsError, which does not quote it.
    """
    key = key.strip()
    if not re.fullmatch(r"[!-~]*", key):
        hint = f"look at {variable(f'{section}.api_key')}"
        raise SettingsError(f"{section}.api_key holds characters that no key has", hint=hint)
    return key


def _give(
    source: Callable[[], Iterator[Entry]],
    put: Callable[[tuple[Entry, ...] | Exception], None],
    is_left: Callable[[], bool],
) -> None:
    """Pass on each entry, then an empty one, or the error."""
    try:
        for entry in source():
            put((entry,))
            if is_left():
                return
        put(())
    except Exception as error:  # noqa: BLE001 -- raised where it is waited for
        put(error)


class _NoRedirects(HTTPRedirectHandler):
    """A redirect is an error: the key would go along to wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        """Return no request."""


def _to_failed(error: HTTPError) -> Failed:
    said = ""
    with error, suppress(OSError, HTTPException):
        said = error.read(_MAX_SAID_BYTES).decode(errors="replace")
    with suppress(ValueError, RecursionError):
        said = words_of(json.loads(said)) or said
    return Failed(error.code, said, seconds_to_wait(error.headers.get("Retry-After"), time.time()))
