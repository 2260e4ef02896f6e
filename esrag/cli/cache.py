"""`esrag cache`: count and remove cached entries."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text
from esrag.text import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from esrag.caching import Cache
    from esrag.settings import Settings


@click.group()
def cache() -> None:
    """Count and remove cached entries."""


@cache.command()
@json_option
@settings_options
def stats(*, as_json: bool, **options: Any) -> int:
    """Count entries, hits and misses, and calls of language models.

    Calls are counted as spent if a model answered, and as saved if the cache did. The counts go on
    over restarts, until the cache is cleared.
    """
    from esrag.settings import mask_value

    settings = settings_of(**options)
    usage, where = _open(settings).usage(), mask_value(settings.cache.url)
    if as_json:
        print_json({"schema": "esrag.cache/1", "where": where, **asdict(usage)})
    else:
        print_text(f"{where}: {usage}")
        for line in _lookups(usage.counts):
            print_text(line)
        if any(name.endswith("_calls") for name in usage.counts):
            print_text(_model_calls("spent", usage.counts))
            print_text(_model_calls("saved", usage.counts))
    return 0


@cache.command()
@settings_options
def clear(**options: Any) -> int:
    """Remove all of esrag's entries. Other programs' entries in the same store stay."""
    print_text(f"removed {format_count(_open(settings_of(**options)).clear(), 'entry')}")
    return 0


def _lookups(counts: "Mapping[str, float]") -> "Iterator[str]":
    """Yield a line on the hits and misses of each kind of entry that was looked up."""
    from esrag.caching import LOOKED_UP

    for kind in (kind.name.lower() for kind in LOOKED_UP):
        hits, misses = (round(counts.get(f"{kind}_{name}", 0)) for name in ("hits", "misses"))
        if hits or misses:
            counted = f"{format_count(hits, 'hit')}, {format_count(misses, 'miss')}"
            yield f"{kind} cache: {counted} ({hits / (hits + misses):.0%} hits)"


def _model_calls(kind: str, counts: "Mapping[str, float]") -> str:
    """Return a line on the calls of language models that were made, or that the cache saved."""
    calls, read, wrote = (
        round(counts.get(f"{kind}_{name}", 0))
        for name in ("calls", "input_tokens", "output_tokens")
    )
    return (
        f"language models, {kind}: {format_count(calls, 'call')}, "
        f"{read} tokens read, {wrote} written, "
        f"cost {counts.get(f'{kind}_cost', 0):.4f}"
    )


def _open(settings: "Settings") -> "Cache":
    """Return the cache. Raises: SettingsError if `cache.url` is empty."""
    from esrag.caching.opening import open_cache
    from esrag.errors import SettingsError

    opened = open_cache(settings.cache)
    if opened is None:
        raise SettingsError(
            "no cache: cache.url is empty", hint="set cache.url to a file or a Redis URL"
        )
    return opened
