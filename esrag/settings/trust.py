"""Which settings files may decide where texts, keys and passwords go.

A file that lies in a folder may be anybody's: it came with an archive, a clone or a shared disk.
Until the user has allowed it, it may not name an address or a service, nor a path outside its own
folder, nor change what TLS trusts. What was allowed is kept in the user's state folder, a file for
each settings file, with the hash of its content: a change ends it.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from esrag.errors import SettingsError
from esrag.settings import PROFILES

_PATHS_OR_ADDRESSES = frozenset(
    ("engine.url", "ledger.url", "cache.url", "runs.url", "generator.templates")
)
_ADDRESSES = frozenset(
    (
        "queue.url",
        "embedding.url",
        "rerank.url",
        "web.url",
        *(f"models.{name}.url" for name in PROFILES),
        "kibana.url",
    )
)
# A language model is called at its provider's own address unless another one is set.
_MODELS = frozenset(f"models.{name}.{key}" for name in PROFILES for key in ("provider", "model"))
# These stay on the machine; any other name may be a service.
_LOCAL = {
    "routing.chain": frozenset(("complexity", "facts", "intents")),
    "web.provider": frozenset(("none",)),
    "embedding.provider": frozenset(("hashing", "onnx", "sentence-transformers")),
    "rerank.chain": frozenset(
        (
            "cross-encoder",
            "exact-tokens",
            "late-interaction",
            "lexical",
            "mmr",
            "quality",
            "round-robin",
            "scale",
            "sentence-transformers",
        )
    ),
}
_TRANSPORT = frozenset(
    (
        "engine.ca_file",
        "engine.certificate_fingerprint",
        "engine.verify_certificates",
        "allow_unencrypted",
    )
)

VARIATIONS = "compare.variations"  # each sets other settings

Standing = Literal["allowed", "changed", "unknown"]


def redirects(key: str, value: Any, folder: Path) -> bool:
    """Return whether a value of a settings file in `folder` decides where texts or secrets go.

    >>> here = Path()
    >>> redirects("models.fast.url", "http://localhost", here), redirects("cache.url", "c.db", here)
    (True, False)
    >>> redirects("rerank.chain", ["mmr", "cohere"], here), redirects("rerank.chain", ["mmr"], here)
    (True, False)
    >>> redirects(VARIATIONS, {"theirs": {"rerank.chain": ["cohere"]}}, here)
    True
    """
    if key == VARIATIONS:
        overlays = value.values() if isinstance(value, Mapping) else ()
        pairs = (
            pair for overlay in overlays if isinstance(overlay, Mapping) for pair in overlay.items()
        )
        return any(redirects(str(name), given, folder) for name, given in pairs)
    if key in _ADDRESSES or key in _MODELS or key in _TRANSPORT:
        return True
    if key in _LOCAL:
        names = value if isinstance(value, list | tuple) else [value]
        return not {str(name) for name in names} <= _LOCAL[key]

    return key in _PATHS_OR_ADDRESSES and (
        "://" in str(value) or not _is_within(str(value), folder)
    )


def is_foreign(path: Path) -> bool:
    """Return whether a file belongs to somebody who is neither the user nor root."""
    return path.stat().st_uid not in (os.geteuid(), 0)


def standing(path: Path, content: bytes) -> Standing:
    """Return whether the user has allowed this file with this content."""
    try:
        kept = _record(path).read_text(encoding="utf-8", errors="replace")
    except (OSError, SettingsError):
        return "unknown"

    return "allowed" if kept == _line(path, content) else "changed"


def allow(path: Path, content: bytes) -> None:
    """Remember that the user allows the file with this content. Raises: SettingsError, OSError."""
    record = _record(path)
    record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    scratch = record.with_name(f"{record.name}.{os.getpid()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(_line(path, content))
    scratch.replace(record)


def deny(path: Path) -> None:
    """Forget that a file was allowed. Raises: SettingsError, OSError."""
    _record(path).unlink(missing_ok=True)


def _is_within(path: str, folder: Path) -> bool:
    """Return whether a path, with its links followed, is in the folder."""
    try:
        return (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, a NUL
        return False


def _record(path: Path) -> Path:
    """Return the file that records whether a file is allowed.

    Raises: SettingsError for a user without a home.
    """
    stated = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        state = stated if stated.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise SettingsError(
            "the user has no home to remember it in", hint="set XDG_STATE_HOME to a folder"
        ) from error

    return state / "esrag" / "allowed" / sha256(os.fsencode(path.resolve())).hexdigest()


def _line(path: Path, content: bytes) -> str:
    """Return what is kept of an allowed file, in the form of sha256sum."""
    return (
        f"{sha256(content).hexdigest()}  "
        f"{os.fsencode(path.resolve()).decode(errors='backslashreplace')}\n"
    )
