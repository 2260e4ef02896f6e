"""Print JSON lines and plain text on stdout, and remarks on stderr."""

import re
from collections.abc import Mapping
from typing import Any

import click

# Bidirectional controls reorder the text around them, so that a reader sees another text.
# Right-to-left scripts do not need them.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
# What JSON leaves as it is, and a terminal may act on: \x9b begins a sequence as "\x1b[" does.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def print_json(value: Mapping[str, Any]) -> None:
    r"""Print a JSON object on one line, safe for any terminal.

    >>> print_json({"name": "a\x1b[2J\x9b2J"})
    {"name": "a\u001b[2J\u009b2J"}
    """
    import json

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    click.echo(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_text(text: str) -> None:
    """Print text without anything that could control the terminal."""
    click.echo(_strip_controls(text))


def remark(text: str) -> None:
    """Print one line on stderr."""
    click.echo(to_one_line(text), err=True)


def to_one_line(text: str) -> str:
    r"""Return the text on one line, without anything that could control the terminal.

    >>> to_one_line("a\x1b[2J\n b")
    'a[2J b'
    """
    return " ".join(_strip_controls(text).split())


def _strip_controls(text: str) -> str:
    from esrag.text import normalise

    return normalise(_TURNS.sub("", text))


def pages(start_page: int, end_page: int) -> str:
    """Return a range of pages in words.

    >>> pages(3, 3), pages(3, 4)
    ('page 3', 'pages 3–4')
    """
    return f"page {start_page}" if start_page == end_page else f"pages {start_page}–{end_page}"
