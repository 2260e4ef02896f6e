"""Stages by name, through entry points; the built-in ones are registered the same way as anybody's.

A package adds a stage by declaring an entry point in the group `esrag.<stage>`: see
docs/guides/plugins.md.
"""

import json
import re
import shlex
from dataclasses import dataclass
from functools import cache
from importlib.metadata import (
    Distribution,
    EntryPoint,
    EntryPoints,
    PackageNotFoundError,
    distribution,
    entry_points,
)
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from esrag.errors import SettingsError

STAGES = (
    "loaders",
    "enrichers",
    "chunkers",
    "embedders",
    "engines",
    "rerankers",
    "routers",
    "models",
    "generators",
)


@dataclass(frozen=True, slots=True)
class Plugin:
    """One registered implementation and the distribution that brought it."""

    stage: str
    name: str
    target: str
    package: str


@cache
def _entries() -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points by stage and name.

    Read once, for all stages: looking at every installed package takes as long as a short command.
    """
    installed = entry_points()
    return {stage: _by_name(installed.select(group=f"esrag.{stage}")) for stage in STAGES}


def _by_name(entries: EntryPoints) -> dict[str, EntryPoint]:
    """Of two with one name, a third party's replaces the built-in one."""
    # By their module, since the name of each package would have to be parsed from its metadata.
    found = sorted(entries, key=lambda e: (e.name, not e.value.startswith("esrag."), e.value))
    return {entry.name: entry for entry in found}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "?"


def names(stage: str) -> tuple[str, ...]:
    """Return the names registered for a stage, sorted."""
    return tuple(_entries()[stage])


def plugins() -> tuple[Plugin, ...]:
    """Return all plugins by stage and name, without importing them."""
    return tuple(
        Plugin(stage=stage, name=entry.name, target=entry.value, package=_package(entry))
        for stage in STAGES
        for entry in _entries()[stage].values()
    )


def distribution_of(stage: str, name: str) -> str:
    """Return the distribution and version of a plugin; "" if that is unknown."""
    entry = _entries()[stage].get(name)
    return f"{entry.dist.name} {entry.dist.version}" if entry and entry.dist else ""


def require_extra(what: str, extra: str) -> None:
    """Raise SettingsError if the package that an extra is named for is not installed."""
    if find_spec(extra.replace("-", "_")) is None:
        raise SettingsError(
            f"{what} needs a package that is not installed", hint=install_hint(extra)
        )


def install_hint(extra: str) -> str:
    """Return the command that installs an extra, from where esrag was installed.

    That is a checkout or a wheel. Without one the command names the extra's own packages, because
    an index may have another package under the name esrag.
    """
    try:
        esrag = distribution("esrag")
    except PackageNotFoundError:  # its folder is on the path, and that is all
        return f"install the packages of esrag's extra {extra}"

    if origin := _origin(esrag):
        editable, path = origin
        return f"pip install {'-e ' if editable else ''}{shlex.quote(f'{path}[{extra}]')}"

    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    parts = [requirement.partition(";") for requirement in esrag.requires or ()]
    packages = {package.strip() for package, _, condition in parts if marker.search(condition)}
    return f"pip install {' '.join(map(shlex.quote, sorted(packages)))}"


def _origin(installed: Distribution) -> tuple[bool, Path] | None:
    """Return whether it was installed as editable, and its folder or file.

    None if that is no longer there.
    """
    try:
        origin = json.loads(installed.read_text("direct_url.json") or "{}")  # PEP 610
        url = urlsplit(origin.get("url", ""))
        path = Path(unquote(url.path))
        is_here = url.scheme == "file" and path.exists()
        return (bool(origin.get("dir_info", {}).get("editable")), path) if is_here else None
    except (AttributeError, OSError, TypeError, ValueError):  # damaged
        return None


def load(stage: str, name: str) -> Any:
    """Return the class registered under a name.

    Raises: SettingsError, with the known names, for an unknown name, or a plugin that cannot be
    imported.
    """
    entry = _entries()[stage].get(name)
    if entry is None:
        raise SettingsError(
            f"no {stage[:-1]} named {name!r}", hint=f"choose one of {', '.join(names(stage))}"
        )
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        hint = f"reinstall the package {_package(entry)}, or remove it"
        raise SettingsError(
            f"the {stage[:-1]} {name!r} ({entry.value}) does not load: {error}", hint=hint
        ) from error
