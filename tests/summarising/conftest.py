"""A small shop of things, each described in a document of its own."""

from dataclasses import replace

import pytest

TEXTS = {
    "kettle": ("The kettle boils water for tea and coffee in three minutes.", "It holds 2 litres."),
    "lamp": ("The lamp lights a desk with one bulb of at most 60 watts.", "Its shade is linen."),
    "saw": ("The saw cuts planks of oak and beech for shelves and tables.", "Its blade is steel."),
}


@pytest.fixture
def shop(esrag):
    """Three documents of two sections, and the command line with summaries."""
    folder = esrag.folder / "docs"
    folder.mkdir()
    for name, (about, more) in TEXTS.items():
        head = f"# {name.title()}\n\n## Abstract\n\n{about}\n\n"
        (folder / f"{name}.md").write_text(f"{head}## Parts\n\n{more}\n")
    wanted = {"ESRAG_SUMMARIES__OF": "documents", "ESRAG_SUMMARIES__TOP_K": "1"}
    return replace(esrag, variables=esrag.variables | wanted)


@pytest.fixture
def texts():
    """What each document is about, and the rest of it."""
    return TEXTS
