"""Stages by name, through entry points; the built-in ones are registered the same way as anybody's.

A package adds a stage by declaring an entry point in the group `esrag.<stage>`: see docs/guides/plugins.md.
"""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from esrag.errors import SettingsError

STAGES = ("loaders", "chunkers", "embedders", "engines", "rerankers", "generators")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One registered implementation and the distribution that brought it."""

    stage: str
    name: str
    target: str
    package: str


@cache
def _entries(stage: str) -> dict[str, EntryPoint]:
    """The stage's entry points by name; of two with one name, a third party's wins over the built-in one."""
    found = sorted(entry_points(group=f"esrag.{stage}"), key=lambda e: (e.name, _package(e) != "esrag", e.value))
    return {entry.name: entry for entry in found}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "?"


def names(stage: str) -> tuple[str, ...]:
    """The names registered for a stage, sorted."""
    return tuple(_entries(stage))


def plugins() -> tuple[Plugin, ...]:
    """Everything registered, by stage and name; nothing is imported for it."""
    return tuple(
        Plugin(stage, entry.name, entry.value, _package(entry))
        for stage in STAGES
        for entry in _entries(stage).values()
    )


def made_by(stage: str, name: str) -> str:
    """The distribution and its version that brought what is registered under a name; "" where that is not known."""
    entry = _entries(stage).get(name)
    return f"{entry.dist.name} {entry.dist.version}" if entry and entry.dist else ""


def require_extra(what: str, extra: str) -> None:
    """Raises: SettingsError where the package that an extra is named for is not installed."""
    if find_spec(extra.replace("-", "_")) is None:
        raise SettingsError(f"{what} needs a package that is not installed", hint=f"pip install 'esrag[{extra}]'")


def load(stage: str, name: str) -> Any:
    """The class registered under a name.

    Raises: SettingsError, with the known names, when there is none or it cannot be imported.
    """
    entry = _entries(stage).get(name)
    if entry is None:
        raise SettingsError(f"no {stage[:-1]} named {name!r}", hint=f"choose one of {', '.join(names(stage))}")
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        hint = f"reinstall the package {_package(entry)}, or remove it"
        raise SettingsError(f"the {stage[:-1]} {name!r} ({entry.value}) does not load: {error}", hint=hint) from error
