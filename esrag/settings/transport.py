"""Which secrets go to which address, and that none leaves the machine as plain text."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from esrag.errors import SettingsError
from esrag.settings import PROFILES, Settings, value_of, variable

# The secrets that go to each address, apart from a password of its own.
_SENT_TO: Mapping[str, Sequence[str]] = {
    "engine.url": ("engine.password", "engine.api_key"),
    "queue.url": (),
    "cache.url": (),
    "embedding.url": ("embedding.api_key",),
    "rerank.url": ("rerank.api_key",),
    **{f"models.{name}.url": (f"models.{name}.api_key",) for name in PROFILES},
    "kibana.url": ("engine.password", "engine.api_key"),
}
_USED_BY_ALL = tuple(key for key in _SENT_TO if key != "kibana.url")  # that one is mostly for links


def require_tls(settings: Settings, keys: Iterable[str] = _USED_BY_ALL) -> None:
    """Raise SettingsError if a secret would be sent to another machine as plain text."""
    for key in keys:
        url: str = value_of(settings, key)
        if (
            not url.startswith(("http://", "redis://"))
            or is_loopback(url)
            or settings.allow_unencrypted
        ):
            continue
        if has_password(url) or any(
            value_of(settings, secret).get_secret_value() for secret in _SENT_TO[key]
        ):
            safe = "https://" if url.startswith("http") else "rediss://"
            hint = (
                f"write {safe}, or set {variable('allow_unencrypted')}=true on a "
                "network that you trust"
            )
            raise SettingsError(
                f"{key} would send a key or password to another machine without TLS", hint=hint
            )


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine.

    >>> is_loopback("http://localhost:9200"), is_loopback("redis://[::1]/0")
    (True, True)
    >>> is_loopback("http://search:9200")
    False
    """
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def has_password(url: str) -> bool:
    """Return whether an address has a password.

    >>> has_password("redis://:secret@host"), has_password("redis://user@host")
    (True, False)
    """
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False
