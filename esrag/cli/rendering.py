"""Render the Jinja files in `templates/` as text.

A missing variable is an error, and data is not interpreted.
"""

from importlib.resources import files
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from esrag.cli.output import pages
from esrag.evidence.selection import render_passage
from esrag.text import format_count


def render(name: str, **values: Any) -> str:
    """Return the template rendered with these values, without a trailing newline."""
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(str(files("esrag.templates"))),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.globals.update(count=format_count, pages=pages, sent=render_passage)
    return environment.get_template(name).render(values).strip("\n")
