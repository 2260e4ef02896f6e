"""How sure the evidence makes of an answer."""

import json

import pytest

TABLE = """# Models

Models come with a version and a number of dimensions, from which the size of an index follows.

| Name | Version | Dimensions |
| --- | --- | --- |
| hub/all-MiniLM-L12-v2 | 1.0.2 | 384 |
| hub/big-model-v3 | 1.0.1 | 1024 |
"""


@pytest.mark.parametrize(
    ("question", "is_unknown", "cell", "confidence"),
    [
        ("How many dimensions does all-MiniLM-L12-v2 have?", False, "row", 0.5),
        ("What are the dimensions of hub/big‑model‑v3?", False, "named", 0.85),
        ("How many dimensions does big-model-x3 have?", True, "row", 0),
        ("How many dimensions did big-model-v3 have in 1999?", True, "row", 0),
        ("How large is an index?", False, "", 0),
    ],
)
def test_a_cell_makes_sure_and_an_unknown_name_unsure(
    esrag, question, is_unknown, cell, confidence
):
    """A name is known as a part of a path too, with any kind of hyphen, but not as half a word."""
    (esrag.folder / "models.md").write_text(TABLE)
    assert esrag("ingest", "models.md", "--set", "embedding.model=none").code == 0

    asked = ("ask", "--json", "--explain", "--set", "embedding.model=none", question)
    told = json.loads(esrag(*asked).out)

    signals = told["signals"]
    assert (signals["is_unknown"], signals["cell"]) == (is_unknown, cell)
    assert told["confidence"] >= confidence
    assert told["confidence"] < 0.85 or confidence == 0.85
