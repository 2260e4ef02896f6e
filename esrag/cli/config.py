"""`esrag config`: the settings in force."""

from typing import Any

import click

from esrag.cli.options import json_option, resolve, settings_options
from esrag.cli.output import print_json, print_text


@click.group()
def config() -> None:
    """Show the settings in force."""


@config.command()
@click.option("--origin", is_flag=True, help="Also say where each value came from.")
@json_option
@settings_options
def show(*, origin: bool, as_json: bool, **options: Any) -> int:
    """Print every setting; secrets are masked."""
    from esrag.settings import fields, shown, value_of

    resolved = resolve(**options)
    values = {key: value_of(resolved.settings, key) for key, _ in fields()}
    if as_json:
        origins = {key: resolved.origins.get(key, "default") for key in values}
        print_json(
            {"schema": "esrag.settings/1", "values": {k: shown(v) for k, v in values.items()}, "origins": origins}
        )
        return 0
    for key, value in values.items():
        source = f"  ({resolved.origins.get(key, 'default')})" if origin else ""
        print_text(f"{key} = {shown(value)}{source}")
    return 0
