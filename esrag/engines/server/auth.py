"""Access to a server: its address without secrets, the authorization header, and TLS trust."""

import re
import ssl
from base64 import b64encode
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from esrag.engines import EngineOptions
from esrag.errors import SettingsError
from esrag.settings.project import expand_home


def mask_url(url: str) -> str:
    """Return an address without user and password. Raises: SettingsError.

    >>> mask_url("https://me:secret@search.example:9200/logs")
    'https://search.example:9200/logs'
    """
    parts = _split(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def authorization(options: EngineOptions) -> dict[str, str]:
    """Return the header for an API key, or for user and password, which may be in the address.

    It is built here because Elasticsearch's client accepts ASCII passwords only. Raises:
    SettingsError.
    """
    if key := options.api_key.strip():
        if not re.fullmatch(r"[!-~]+", key):
            raise SettingsError(
                "engine.api_key holds characters that no key has",
                hint="give its encoded form, base64",
            )
        return {"authorization": f"ApiKey {key}"}

    parts = _split(options.url)
    user = options.username or unquote(parts.username or "")
    password = options.password or unquote(parts.password or "")
    basic = b64encode(f"{user}:{password}".encode(errors="surrogateescape")).decode()
    return {"authorization": f"Basic {basic}"} if user else {}


def trust(options: EngineOptions) -> dict[str, Any]:
    """Return the TLS settings under the names that both clients use. Raises: SettingsError."""
    if _split(options.url).scheme != "https":
        return {}
    if options.certificate_fingerprint:
        fingerprint = _fingerprint(options.certificate_fingerprint)
        return {"ssl_context": _trust_only(fingerprint), "ssl_assert_fingerprint": fingerprint}
    chosen = {"verify_certs": options.verify_certificates, "ssl_show_warn": False}
    return chosen | ({"ca_certs": _authority(options.ca_file)} if options.ca_file else {})


def _split(url: str) -> SplitResult:
    """Split an address; errors do not quote it, because it may contain a password."""
    with suppress(ValueError):
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
        if parts.hostname and "@" not in parts.path + parts.query + parts.fragment:
            return parts

    hint = "write engine.url as https://host:9200, and user and password as settings of their own"
    raise SettingsError("engine.url is not the address of a server", hint=hint)


def _authority(ca_file: str) -> str:
    """Return the path of a certificate file after checking that it can be read."""
    try:
        path = expand_home(ca_file)
        ssl.create_default_context(cafile=path)
    except (OSError, ValueError) as error:  # no such file, or an invalid file name
        message = (
            f"no certificates can be read from {ca_file}: "
            f"{getattr(error, 'strerror', None) or error}"
        )
        raise SettingsError(message, hint="engine.ca_file must be a file in PEM form") from error
    return path


def _fingerprint(given: str) -> str:
    digits = given.replace(":", "").lower()
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        message = f"engine.certificate_fingerprint must be 64 hexadecimal digits, got {given!r}"
        hint = (
            "set engine.certificate_fingerprint to what "
            "openssl x509 -noout -fingerprint -sha256 prints for the certificate"
        )
        raise SettingsError(message, hint=hint)
    return digits


def _trust_only(fingerprint: str) -> ssl.SSLContext:
    """Return a context that trusts one certificate and nothing else in the chain.

    Elasticsearch's client also accepts a fingerprint that it finds elsewhere in the chain, without
    verifying the chain. An attacker could send the authority's certificate, which is public, after
    a certificate of their own and be accepted.
    """

    class Pinned(ssl.SSLSocket):
        def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 -- ssl's signature
            super().do_handshake(block)
            _require_certificate(self, fingerprint)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.sslsocket_class = Pinned
    return context


def _require_certificate(connected: ssl.SSLSocket, fingerprint: str) -> None:
    came = sha256(connected.getpeercert(binary_form=True) or b"").hexdigest()
    if came != fingerprint:
        message = f"the certificate has the fingerprint {came}, expected {fingerprint}"
        raise ssl.SSLError(1, message)
