"""Rows of a table whose range holds the quantity that a question gives."""

import pytest

from esrag.evidence.ranges import keep_columns, read_range, split_rows
from esrag.evidence.tables import Row


def rows(header, *cells):
    """Rows with a fee each, by their first cell."""
    return {cell: Row("", ((header, cell), ("Fee", "5"))) for cell in cells}


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("Child 5–15", (5, 15), (4, 16)),
        ("under 12 metres", (11.9,), (12,)),
        ("up to £20,000", (20_000,), (20_001,)),
        ("£20,001 - £50,000", (30_000,), (20_000, 60_000)),
        ("over 5 m, up to 7 m", (7,), (5, 8)),
        ("12 metres or more but under 20 metres", (12, 19), (20, 11)),
        ("80% or more", (80, 99), (79,)),
        ("66 and over", (66,), (65,)),
        ("6 months or less left", (6,), (7,)),
    ],
)
def test_what_a_range_holds(text, inside, outside):
    """Bounds in words, signs and spans."""
    found = read_range(text)
    assert all(map(found.holds, inside))
    assert not any(map(found.holds, outside))


@pytest.mark.parametrize(
    ("question", "header", "meant"),
    [
        ("What does a licence for a 12 metre boat cost?", "Length", "9.01 to 15 metres"),
        ("What does a boat of 12 m cost?", "Length (m)", "9.01 to 15"),
        ("What does a 16 m boat cost?", "Length", "over 15 metres"),
    ],
)
def test_the_row_of_a_quantity_is_meant(question, header, meant):
    """And the others of its table are not."""
    table = rows(
        header, *(("up to 9", "9.01 to 15") if "(" in header else ("up to 9 metres",)), meant
    )
    found, others = split_rows(question, table.values())
    assert found == {table[meant]}
    assert others == {*table.values()} - found


@pytest.mark.parametrize(
    ("question", "cells"),
    [
        ("What does a 12 kg dog cost?", ("up to 9 metres", "over 9 metres")),
        ("What does a 12 metre boat cost?", ("up to 9 metres", "9 to 10 metres")),
        ("What does a licence cost in 2025?", ("up to 9 metres", "over 9 metres")),
        ("What is due after 3 years?", ("from 1 April 2024", "until 31 March 2025")),
    ],
)
def test_without_its_unit_or_range_no_row_is_meant(question, cells):
    """Then the words of a row decide."""
    assert split_rows(question, rows("Length", *cells).values()) == (set(), set())


def test_ages_are_years_without_a_unit():
    """As fares have them."""
    table = rows("Category", "Child 5–15", "Adult", "Over 65")
    found, others = split_rows("What does my 67-year-old father pay?", table.values())
    assert (found, others) == ({table["Over 65"]}, {table["Child 5–15"]})


def test_columns_for_other_amounts_are_left_out():
    """Unless there is none for the question's."""
    row = Row(
        "", (("Line", "stopped"), ("more than 6 months left", "0"), ("6 months or less", "40"))
    )
    assert keep_columns("What is due with four months left?", row).cells == row.cells[::2]
    assert keep_columns("What is due with a 4 kg box?", row) == row
