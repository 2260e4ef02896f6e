"""Tables of a PDF with rules or shades between their rows alone, as a reader sees them."""

import pytest
from fpdf import FPDF

LONG = "Replacement of a debit card that was lost or damaged by the customer"
FEES = (
    ("Service", "Basic", "Plus"),
    ("Monthly fee", "3.50", "8.90"),
    (LONG, "9.00", "6.00"),
    ("Standing order", "2.20", "free of charge"),
    ("Statement by post", "1.10", "0.95"),
)
READ = "\n".join(map(" | ".join, FEES))


def new_page():
    page = FPDF()
    page.add_page()
    page.set_font("helvetica", size=11)
    return page


def draw(rows, rules, *, lefts=(20, 100, 140)):
    """Rows at these heights, each cell from its left on, and rules: (height, left, right)."""
    page = new_page()
    for top, *cells in rows:
        for left, cell in zip(lefts, cells, strict=False):
            page.text(left, top, cell)
    for top, left, right in rules:
        page.line(left, top, right, top)
    return bytes(page.output())


@pytest.mark.parametrize(
    "options",
    [
        {"borders_layout": "HORIZONTAL_LINES"},
        {"borders_layout": "NONE", "cell_fill_color": 220, "cell_fill_mode": "ROWS"},
        {"borders_layout": "HORIZONTAL_LINES", "v_align": "TOP"},
    ],
)
def test_cells_of_several_lines(options, load_one):
    """A name that needs two lines is one cell, wherever its figures stand beside it."""
    page = new_page()
    with page.table(col_widths=(40, 20, 25), width=120, text_align="LEFT", **options) as table:
        for row in FEES:
            table.row(row)
    document = load_one("a.pdf", bytes(page.output()))
    assert document.text == READ
    assert [document.text[table.start : table.end] for table in document.tables] == [READ]


def test_rows_between_three_rules(load_one):
    """Below the header are rows without rules between them, and titles of some."""
    rows = [
        (30, "Form", "BA-C", "BA-G"),
        (40, "Written", "120", "90"),
        (46, "Studio examination,", "", ""),
        (51, "first year", "", ""),
        (46, "", "240", "300"),
        (57, "Portfolios"),
        (63, "Presentation", "40", "35"),
    ]
    text = load_one("a.pdf", draw(rows, [(25, 18, 170), (33, 18, 170), (67, 18, 170)])).text
    assert text.split("\n") == [
        "Form | BA-C | BA-G",
        "Written | 120 | 90",
        "Studio examination, first year | 240 | 300",
        "Portfolios",
        "Presentation | 40 | 35",
    ]


def test_leaders_are_no_part_of_a_name(load_one):
    """Nor is a running head, above a rule of its own, of the header."""
    rows = [
        (15, "Seeds of the hut", "no. 7"),
        (30, "Kind", "Members", "Others"),
        (40, "Leek . . . . . . . . .", "0.80", "1.20"),
        (50, "Squash .........", "1.90", "2.60"),
    ]
    rules = [(18, 10, 200), *((top, 18, 170) for top in (25, 33, 43, 53))]
    text = load_one("a.pdf", draw(rows, rules)).text
    assert text.endswith("Kind | Members | Others\nLeek | 0.80 | 1.20\nSquash | 1.90 | 2.60")


def test_the_first_and_the_last_row_may_lack_a_rule(load_one):
    """The caption above is apart."""
    rows = [
        (15, "Prices of seeds in this year"),
        (30, "Kind", "Members", "Others"),
        (40, "Leek", "0.80", "sold out"),
        (50, "Squash", "1.90", "2.60"),
        (60, "Onion", "2.25", "3.10"),
        (80, "Orders go to the hut."),
    ]
    text = load_one("a.pdf", draw(rows, [(top, 18, 170) for top in (33, 43, 53)])).text
    assert text.split("\n\n") == [
        "Prices of seeds in this year",
        "\n".join(" | ".join(row[1:]) for row in rows[1:-1]),
        "Orders go to the hut.",
    ]


@pytest.mark.parametrize("left", [62, 75])
def test_a_header_may_be_over_several_columns(left, load_one):
    """A rule below it tells which, or its place in the middle of as many as others have."""
    lefts = (20, 60, 80, 120, 140)
    rows = [
        (36, "Method", "6:30", "13:00", "6:30", "13:00"),
        (46, "Thermal", "0.83", "0.79", "0.61", "0.58"),
        (56, "LeafTap", "0.91", "0.88", "0.84", "0.81"),
    ]
    page = new_page()
    page.text(left, 30, "Rosa")
    page.text(left + 60, 30, "Nero")
    for top, *cells in rows:
        for place, cell in zip(lefts, cells, strict=True):
            page.text(place, top, cell)
    for place in (58, 118) if left == 62 else ():
        page.line(place, 31.5, place + 40, 31.5)
    for top in (25, 39, 49, 59):
        page.line(18, top, 160, top)
    header = load_one("a.pdf", bytes(page.output())).text.split("\n")[0]
    assert header == "Method | Rosa 6:30 | Rosa 13:00 | Nero 6:30 | Nero 13:00"


def test_tables_of_the_same_width_are_apart(load_one):
    """A caption or a paragraph stands between them."""
    tables = [(f"Table {n} Sizes", ("Part", "Size"), ("lid", str(n)), ("can", "9")) for n in (1, 2)]
    rows, rules = [], []
    for top, (caption, *cells) in zip((20, 70), tables, strict=True):
        rows += [(top, caption), *((top + 10 * n, *row) for n, row in enumerate(cells, start=1))]
        rules += [(top + 10 * n + 3, 18, 170) for n in (1, 2, 3)]
    text = load_one("a.pdf", draw(rows, rules)).text
    assert text.split("\n\n") == [
        *("Table 1 Sizes", "Part | Size\nlid | 1\ncan | 9"),
        *("Table 2 Sizes", "Part | Size\nlid | 2\ncan | 9"),
    ]


def test_paragraphs_between_rules_are_no_table(load_one):
    """Nor are those in two columns."""
    said = "A sail that is left in the sun for a whole summer loses half"
    rows = [(20 + 6 * n, said) for n in range(20)]
    rules = [(top, 18, 170) for top in (15, 45, 81, 141)]
    assert "|" not in load_one("a.pdf", draw(rows, rules)).text
    columns = [(top, words, words) for top, words in rows]
    assert "|" not in load_one("a.pdf", draw(columns, rules, lefts=(10, 120))).text


def test_a_paragraph_below_a_rule_of_the_page_is_none_of_a_table(load_one):
    """Short lines beside it, such as a heading and a name, do not hide it."""
    line = "The hut has sold seeds to its members for many years, and it will go on to do so"
    rows = [
        (20, "Report of the hut"),
        (26, "Rosa, treasurer"),
        *((32 + 6 * n, line) for n in range(3)),
        (50, "for some time."),
        (56, "Prices"),
        (68, "Kind", "Members", "Others"),
        (78, "Leek", "few", "many"),
        (88, "Squash", "none", "few"),
    ]
    rules = [(top, 18, 170) for top in (14, 71, 91)]
    text = load_one("a.pdf", draw(rows, rules)).text
    assert text.endswith(
        "Prices\n\nKind | Members | Others\nLeek | few | many\nSquash | none | few"
    )


def test_a_title_parts_tables_with_other_columns(load_one):
    """Though their rules are as long, and nothing else stands between them."""
    rows = [
        (20, "Year", "Title", "", "Press"),
        (30, "1938", "Tide tables made plain", "", "Gull"),
        (40, "1949", "Chart of the estuary", "", "Gull"),
        (54, "Posts held"),
        (64, "Post", "", "From", "Pay"),
        (74, "Tracer of the harbours board", "", "May 1931", "83 pounds"),
        (84, "Surveyor of the estuary", "", "May 1951", "640 pounds"),
    ]
    rules = [(top, 18, 170) for top in (15, 23, 43, 58, 67, 87)]
    text = load_one("a.pdf", draw(rows, rules, lefts=(20, 40, 90, 140))).text
    assert text.split("\n\n") == [
        (
            "Year | Title | Press\n1938 | Tide tables made plain | Gull\n"
            "1949 | Chart of the estuary | Gull"
        ),
        "Posts held",
        (
            "Post | From | Pay\nTracer of the harbours board | May 1931 | 83 pounds\n"
            "Surveyor of the estuary | May 1951 | 640 pounds"
        ),
    ]


def test_marks_of_items_stand_before_them(load_one):
    """Also those that the page draws after the list."""
    page = new_page()
    items = ("A map of the stretch.", "The form FP7.", "The consent of the owner.")
    for n, item in enumerate(items):
        page.text(30, 30 + 8 * n, item)
    page.text(20, 60, "Send them by post.")
    for n, mark in enumerate("abc"):
        page.text(24, 30 + 8 * n, f"{mark}.")
    text = load_one("a.pdf", bytes(page.output())).text
    assert text.split("\n")[:3] == [f"{m}. {item}" for m, item in zip("abc", items, strict=True)]
    assert text.rstrip().endswith("Send them by post.")


@pytest.mark.parametrize("caption", ["Table 1: Boats", "Tab. 1: Boats"])
def test_columns_without_rules_are_a_table_below_its_caption(caption, load_one):
    """In either spelling, and without figures."""
    page = new_page()
    page.text(20, 30, caption)
    for number, row in enumerate((("Boat", "Port"), ("Fulmar", "Kiel"), ("Heron", "Jena"))):
        for left, cell in zip((20, 100), row, strict=True):
            page.text(left, 40 + 6 * number, cell)
    (table,) = (document := load_one("a.pdf", bytes(page.output()))).tables
    assert document.text[table.start : table.end] == "Boat | Port\nFulmar | Kiel\nHeron | Jena"
