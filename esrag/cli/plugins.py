"""`esrag plugins`: list the registered stages."""

from dataclasses import asdict

import click

from esrag.cli.options import json_option
from esrag.cli.output import print_json, print_text


@click.command()
@json_option
def plugins(*, as_json: bool) -> int:
    """List the registered stages and where they come from."""
    from esrag.plugins import plugins as registered

    for plugin in registered():
        if as_json:
            print_json({"schema": "esrag.plugin/1", **asdict(plugin)})
        else:
            print_text(f"{plugin.stage:10} {plugin.name:22} {plugin.target}  ({plugin.package})")
    return 0
