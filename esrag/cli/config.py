"""`esrag config`: the settings in force, and the files that may decide where texts and keys go."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, look_at, settings_options
from esrag.cli.output import print_json, print_text, remark

if TYPE_CHECKING:
    from esrag.settings import Layer

file_argument = click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.group()
def config() -> None:
    """Show the settings in force, and allow a settings file."""


@config.command()
@click.option("--origin", is_flag=True, help="Also say where each value came from.")
@json_option
@settings_options
def show(*, origin: bool, as_json: bool, **options: Any) -> int:
    """Print every setting and what it means; secrets are masked."""
    from esrag.settings import fields, mask_value, not_allowed, value_of

    resolved = look_at(**options)
    values = {key: mask_value(value_of(resolved.settings, key)) for key, _ in fields()}
    origins = {key: resolved.origins.get(key, "default") for key in values}
    for layer, keys in resolved.withheld:
        remark(f"nothing is sent anywhere yet: {not_allowed(layer, keys)}")

    if as_json:
        print_json({"schema": "esrag.settings/1", "values": values, "origins": origins})
        return 0

    for key, info in fields():
        print_text(f"# {info.description}")
        print_text(_line(key, values[key]) + (f"  ({origins[key]})" if origin else ""))
    return 0


@config.command()
@file_argument
def allow(file: Path | None) -> int:
    """Let a settings file decide where texts and keys go.

    FILE is the esrag.yaml in use, and that of ESRAG_ENVIRONMENT, unless another is named. It holds until the file
    changes. Without it, a file that was found in a folder may not name an address, a path outside its folder, or what
    TLS trusts.
    """
    from esrag.settings import decides, mask_value
    from esrag.trust import allow as remember

    for layer in _layers(file):
        path, content = layer.file, layer.content
        if path:
            remember(path, content)
            remark(f"allowed {path}")
        for key in decides(layer):
            print_text(_line(key, mask_value(layer.values[key])))
    return 0


@config.command()
@file_argument
def deny(file: Path | None) -> int:
    """Take back what `esrag config allow` did."""
    from esrag.trust import deny as forget

    for layer in _layers(file):
        if layer.file:
            forget(layer.file)
            remark(f"{layer.file} is not allowed any more")
    return 0


def _line(key: str, value: Any) -> str:
    """Return a setting as it is shown: text as it is, everything else as YAML has it."""
    return f"{key} = {value if isinstance(value, str) else json.dumps(value, default=str)}"


def _layers(file: Path | None) -> "list[Layer]":
    """Return the settings file that is named, else those in use. Raises: UsageError where there is none."""
    from esrag.errors import UsageError
    from esrag.settings import file_layers, read_file

    layers = [read_file(file)] if file else [*file_layers(os.environ, Path())]
    if not layers:
        raise UsageError("there is no esrag.yaml here or in a folder above", hint="esrag init writes one")
    return layers
