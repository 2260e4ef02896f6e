"""Tables of a PDF with rules around their cells, as a reader sees them."""

import pytest
from fpdf import FPDF

FLOWS = (
    ("Tube", "Flow", None, "Life"),
    (None, "min.", "max.", None),
    ("A, of a soft grade that bends", "0.02 l/h", "1.2 l/h", "2,000 h"),
    ("B, of a hard grade that does not", "0.08 l/h", "4.6 l/h", "1,500 h"),
)
READ = (
    "Tube | Flow min. | Flow max. | Life\n"
    "A, of a soft grade that bends | 0.02 l/h | 1.2 l/h | 2,000 h\n"
    "B, of a hard grade that does not | 0.08 l/h | 4.6 l/h | 1,500 h"
)


def new_page():
    page = FPDF()
    page.add_page()
    page.set_font("helvetica", size=11)
    return page


def draw_cell(page, left, top, width, height, text, *, draw="rect"):
    """A cell whose text has as many lines as it needs, with rules around it."""
    if draw == "rect":
        page.rect(left, top, width, height)
    else:  # areas as thin as a line
        for side in ((left, top, width, 0.2), (left, top + height, width, 0.2)):
            page.rect(*side, style="F")
        for side in ((left, top, 0.2, height), (left + width, top, 0.2, height)):
            page.rect(*side, style="F")
    page.set_xy(left, top + 1)
    page.multi_cell(width, 5, text)


def flows(draw):
    """The table of flows: two headers in one, and names that need two lines."""
    page = new_page()
    page.text(10, 15, "The flows of both tubes are measured with water:")
    cells = [
        (10, 20, 40, 14, "Tube"), (50, 20, 60, 7, "Flow"), (110, 20, 30, 14, "Life"),
        (50, 27, 30, 7, "min."), (80, 27, 30, 7, "max."),
    ]  # fmt: skip
    for n, row in enumerate(FLOWS[2:]):
        lefts = ((10, 40), (50, 30), (80, 30), (110, 30))
        cells += [
            (left, 34 + 14 * n, width, 14, text)
            for (left, width), text in zip(lefts, row, strict=True)
        ]
    for cell in cells:
        draw_cell(page, *cell, draw=draw)
    page.text(10, 80, "Tube B lasts less long.")
    return bytes(page.output())


@pytest.mark.parametrize("draw", ["rect", "thin areas"])
def test_cells_of_several_lines_and_headers_over_several_columns(load_one, draw):
    """Each cell is whole, and a header is over each of its columns."""
    document = load_one("a.pdf", flows(draw))
    assert document.text.split("\n\n") == [
        "The flows of both tubes are measured with water:",
        READ,
        "Tube B lasts less long.",
    ]
    assert [document.text[table.start : table.end] for table in document.tables] == [READ]


def table_of(rows, **options):
    page = new_page()
    with page.table(**options) as table:
        for row in rows:
            table.row(row)
    return bytes(page.output())


def test_words_without_figures(load_one):
    """Rules make a table, whatever its cells have."""
    rows = [("Class", "Meaning", "Disposal"), ("Public", "for everybody", "paper bin"),
            ("Internal", "of the firm alone", "shredder")]  # fmt: skip
    assert load_one("a.pdf", table_of(rows)).text == "\n".join(map(" | ".join, rows))


def test_a_table_goes_on_with_its_header_on_the_next_page(load_one):
    """Without it, its first row there would be taken for one."""
    rows = [("Berth", "Depth"), *((f"Berth {n}", f"{n} m") for n in range(60))]
    text = load_one("a.pdf", table_of(rows, repeat_headings=0)).text
    assert text.count("Berth | Depth\n") == 2
    assert all(f"Berth {n} | {n} m" in text for n in range(60))


def test_tables_below_each_other_stay_apart(load_one):
    """The rows of the second one are not of the first one's header."""
    page = new_page()
    for rows in ([("Sail", "Area"), ("jib", "20")], [("Rope", "Length"), ("sheet", "9")]):
        with page.table() as table:
            for row in rows:
                table.row(row)
        page.ln(4)
    text = load_one("a.pdf", bytes(page.output())).text
    assert text == "Sail | Area\njib | 20\n\nRope | Length\nsheet | 9"


def test_a_grid_that_lays_out_paragraphs_is_no_table(load_one):
    """Its paragraphs are read as text, sentence by sentence."""
    long = "A sail that is left in the sun for a whole summer loses half of its strength. " * 4
    rows = [("Sails", long), ("Ropes", long.replace("sail", "rope"))]
    assert "|" not in load_one("a.pdf", table_of(rows)).text


@pytest.mark.parametrize("sides", [2, 90])
def test_charts_and_boxes_are_no_tables(load_one, sides):
    """The lines of a chart have no text between them; a box has a single cell."""
    page = new_page()
    for n in range(sides):
        page.line(20, 30 + n, 180, 30 + n)
        page.line(20 + n, 30, 20 + n, 130)
    page.text(25, 30.5, "5 10 15")
    page.text(20, 150, "Figure 1. Lines.")
    assert load_one("a.pdf", bytes(page.output())).text == "5 10 15\nFigure 1. Lines."


def test_a_page_full_of_rules_takes_no_longer(load_one):
    """Maps have thousands of lines."""
    page = new_page()
    for n in range(9_000):
        page.line(10 + n % 180, 10 + n // 50, 14 + n % 180, 10 + n // 50)
        page.line(10 + n % 180, 10 + n // 50, 10 + n % 180, 16 + n // 50)
    page.text(25, 250, "A map.")
    assert load_one("a.pdf", bytes(page.output())).text == "A map."


@pytest.mark.parametrize(
    ("value", "is_table"),
    [("1.6 mm", True), ("8:35", True), ("10:20 - 10:40", True), ("< 4 %", True), ("2021", False),
     ("1, red", False), ("-0.1 -0.2", False), ("0.5 days later than before", False)],
)  # fmt: skip
def test_values_with_units_are_figures(load_one, value, is_table):
    """Without rules, rows of a name with several of them are a table."""
    page = new_page()
    for number, name in enumerate(("Part", "Inner tube", "Outer tube")):
        for left, text in ((20, name), (80, value), (140, value)):
            page.text(left, 20 + 6 * number, text)
    assert ("|" in load_one("a.pdf", bytes(page.output())).text) is is_table
