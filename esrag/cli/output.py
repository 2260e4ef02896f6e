"""Printing: JSON lines and plain text on stdout, remarks on stderr."""

import json
from collections.abc import Mapping
from typing import Any

import click

from esrag.text import normalise


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line; any terminal can take it."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, default=str))


def print_text(text: str) -> None:
    """Text for a reader, without anything that could act on the terminal."""
    click.echo(normalise(text))


def remark(text: str) -> None:
    """One line on stderr."""
    click.echo(" ".join(normalise(text).split()), err=True)


def pages(start_page: int, end_page: int) -> str:
    """Pages in words.

    >>> pages(3, 3), pages(3, 4)
    ('page 3', 'pages 3–4')
    """
    return f"page {start_page}" if start_page == end_page else f"pages {start_page}–{end_page}"
