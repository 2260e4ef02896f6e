"""Styles of word processors: what a style does not say itself, it has from its parent."""

from collections.abc import Mapping
from typing import TypeVar

Said = TypeVar("Said")


def inherit(name: str, own: Mapping[str, Said | None], parents: Mapping[str, str]) -> Said | None:
    """Return what a style says, or its nearest ancestor that says anything; None if none does."""
    for _ in range(len(own)):  # a style may be its own parent
        if name not in parents or own[name] is not None:
            break
        name = parents[name]
    return own.get(name)
