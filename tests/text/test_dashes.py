"""A dash at the end of a line: it introduces a list in laws, and is an empty cell in tables."""

from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence
from esrag.text import sentence_spans
from esrag.text.lists import read_list

LAW = """5.—(1) An application must include—
(a) the name of the vessel;
(b) proof of insurance of at least—
  (i) 2,000 crowns, or
  (ii) 3,000 crowns, for a longer vessel;
(c) the fee.

(2) The authority decides within 56 days."""
TABLE = "Options | Price | Value\nIssued | 9,000 | —\nExpired | 42,000 | —"


def test_a_dash_introduces_a_list():
    """Which ends where the numbers of the clauses above go on."""
    found = read_list(LAW, sentence_spans(LAW), 0).render()
    assert found[0].endswith("(ii) 3,000 crowns, for a longer vessel; (c) the fee.")


def test_a_row_with_an_empty_cell_at_its_end_is_a_statement():
    """It introduces nothing."""
    chunk = Chunk(
        chunk_id="d::c0",
        doc_id="d",
        ordinal=0,
        start=0,
        end=len(TABLE),
        start_page=1,
        end_page=1,
        text=TABLE,
    )
    said = statements("How many options expired?", [Evidence("c1", chunk, 1.0)])
    assert any("42,000" in each.text for each in said)
