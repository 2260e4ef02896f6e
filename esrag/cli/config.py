"""`esrag config`: show the settings, and trust files that decide where texts and keys go."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, look_at, settings_options
from esrag.cli.output import print_json, print_text, remark

if TYPE_CHECKING:
    from esrag.settings import Settings
    from esrag.settings.layers import Layer, Resolved

file_argument = click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)


@click.group()
def config() -> None:
    """Show the settings in force, and allow or deny a settings file."""


@config.command()
@click.option("--origin", is_flag=True, help="Also print where each value came from.")
@json_option
@settings_options
def show(*, origin: bool, as_json: bool, **options: Any) -> int:
    """Print every setting as YAML, with its description. Secrets are masked.

    The output can be saved as an esrag.yaml. Values that a file may not contain, such as secrets,
    are commented out.
    """
    from esrag.settings import fields, mask_value, value_of

    resolved = look_at(**options)
    values = {key: mask_value(value_of(resolved.settings, key)) for key, _ in fields()}
    origins = {key: resolved.origins.get(key, "default") for key in values}

    _remark_withheld(resolved)
    if as_json:
        print_json({"schema": "esrag.settings/1", "values": values, "origins": origins})
    else:
        _print(resolved.settings, values, origins if origin else {})
    return 0


def _remark_withheld(resolved: "Resolved") -> None:
    """Remark on settings that are not used, because their file is not allowed yet."""
    from esrag.settings.layers import trust_error

    for layer, keys in resolved.withheld:
        remark(f"nothing is sent anywhere yet: {trust_error(layer, keys)}")


def _print(settings: "Settings", values: dict[str, Any], origins: dict[str, str]) -> None:
    """Print the values as YAML, section by section."""
    from esrag.settings import fields

    section = ""
    for key, info in fields():
        branch = key.rpartition(".")[0]
        if branch != section:
            print_text(f"\n{branch}:")
            section = branch
        indent = "  " if branch else ""
        origin = f"  # {origins[key]}" if key in origins else ""
        print_text(f"{indent}# {info.description}")
        print_text(f"{indent}{_to_line(settings, key, values[key])}{origin}")


def _to_line(settings: "Settings", key: str, shown: Any) -> str:
    """Return a setting as YAML, commented out if a file may not contain its value."""
    from esrag.settings import to_plain, value_of

    line = _yaml(key.rpartition(".")[2], shown)
    return line if shown == to_plain(value_of(settings, key)) else f"# {line}"


@config.command()
@file_argument
def allow(file: Path | None) -> int:
    """Let a settings file decide where texts and keys go.

    FILE defaults to the esrag.yaml in use and that of ESRAG_ENVIRONMENT. The permission lasts until
    the file changes. Without it, a file found in a folder may not name an address, a path outside
    its folder, or the certificates that TLS trusts.
    """
    from esrag.settings import mask_value
    from esrag.settings.layers import decides
    from esrag.settings.trust import allow as remember

    for layer in _layers(file):
        path, content = layer.file, layer.content
        if path:
            remember(path, content)
            remark(f"allowed {path}")
        for key in decides(layer):
            print_text(_yaml(key, mask_value(layer.values[key])))
    return 0


@config.command()
@file_argument
def deny(file: Path | None) -> int:
    """Revoke `esrag config allow`."""
    from esrag.settings.trust import deny as forget

    for layer in _layers(file):
        if layer.file:
            forget(layer.file)
            remark(f"{layer.file} is no longer allowed")
    return 0


def _yaml(name: str, value: Any) -> str:
    """Return a setting as one line of YAML."""
    from esrag.settings.files import to_yaml

    return f"{name}: {to_yaml(value)}"


def _layers(file: Path | None) -> "list[Layer]":
    """Return the named settings file, or those in use. Raises: UsageError if no file is found."""
    from esrag.errors import UsageError
    from esrag.settings.layers import file_layers, read_file

    layers = [read_file(file)] if file else [*file_layers(os.environ, Path())]
    if not layers:
        raise UsageError(
            "no esrag.yaml found here or in a parent folder", hint="esrag init writes one"
        )
    return layers
