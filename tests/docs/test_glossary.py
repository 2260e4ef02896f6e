"""The glossary covers the public records and the sections of the settings."""

import inspect
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from esrag import records
from esrag.settings import Settings

TEXT = (Path(__file__).parents[2] / "docs" / "concepts" / "glossary.md").read_text()
PAGE = TEXT.replace("\n  ", " ")  # entries may continue on indented lines
ENTRY = re.compile(r"^- \*\*(`?)([^*`]+)\1\*\*: (\S.*\.)$", re.MULTILINE)
TERMS = re.findall(
    r"\w+",
    "document chunk passage hit leg fusion RRF rerank evidence statement citation quote support "
    "verdict refusal"
    " confidence gate ledger batch job lease heartbeat sweep fingerprint migration alias"
    " preset feedback replay signal",
)
RECORDS = [
    name
    for name, kind in vars(records).items()
    if inspect.isclass(kind) and kind.__module__ == records.__name__ and not name.startswith("_")
]
SECTIONS = [
    name
    for name, info in Settings.model_fields.items()
    if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
]


def terms(page):
    """Return the page's terms as they are written, those in code font with their backticks."""
    return [f"{mark}{name}{mark}" for mark, name, _ in ENTRY.findall(page)]


def missing(page, wanted):
    """Return the wanted terms that the page does not define."""
    defined = set(terms(page))
    return [name for name in wanted if name not in defined]


def test_every_record_is_defined():
    """In code font, one line each."""
    assert len(RECORDS) > 5
    assert missing(PAGE, [f"`{name}`" for name in RECORDS]) == []


def test_every_settings_section_is_defined():
    """One line each, which names the section."""
    assert len(SECTIONS) > 5
    assert missing(PAGE, SECTIONS) == []


def test_every_product_term_is_defined():
    """One line each."""
    assert missing(PAGE, TERMS) == []


@pytest.mark.parametrize("name", ["`Hit`", "queue", "lease"])
def test_a_missing_term_is_noticed(name):
    """Without its line a term is missing, even if other lines mention it."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"- **{name}**"))

    assert missing(PAGE.replace(line, ""), [name]) == [name]


def test_the_terms_are_in_order():
    """Alphabetical, each once, and no line has another form."""
    names = terms(PAGE)
    lines = [line for line in PAGE.splitlines() if line.startswith("-")]

    assert len(set(names)) == len(names) == len(lines)
    assert names == sorted(
        names, key=lambda name: (name.strip("`").casefold(), name.startswith("`"))
    )
