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
    "web.url": ("web.api_key",),
    **{f"models.{name}.url": (f"models.{name}.api_key",) for name in PROFILES},
    "kibana.url": ("engine.password", "engine.api_key"),
}
_USED_BY_ALL = tuple(key for key in _SENT_TO if key != "kibana.url")  # that one is mostly for links


def require_tls(settings: Settings, keys: Iterable[str] = _USED_BY_ALL) -> None:
    """Raise SettingsError if a secret would be sent to another machine as plain text."""
    for key in keys if not settings.allow_unencrypted else ():
        url: str = value_of(settings, key)
        is_plain = url.startswith(("http://", "redis://")) and not is_loopback(url)
        if is_plain and _has_secret(settings, key):
            safe = "https://" if url.startswith("http") else "rediss://"
            trusted = f"set {variable('allow_unencrypted')}=true on a network that you trust"
            raise SettingsError(
                f"{key} would send a key or password to another machine without TLS",
                hint=f"write {safe}, or {trusted}",
            )


def _has_secret(settings: Settings, key: str) -> bool:
    """Return whether an address has a password, or a secret is sent to it."""
    secrets = (value_of(settings, secret) for secret in _SENT_TO[key])
    return has_password(value_of(settings, key)) or any(
        secret.get_secret_value() for secret in secrets
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
