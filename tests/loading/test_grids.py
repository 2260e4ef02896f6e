"""Tables as a reader sees them: signs with their numbers, years over them, headers that return."""

from io import BytesIO

import openpyxl
import pytest
from fpdf import FPDF

from esrag.evidence.lines import lines
from esrag.loading.grids import tidy_grid

REPORT = """<html><body><h1>Annual report</h1>
<p>The harbour earned more than in any year before, and the fees were raised in spring.</p>
<p>BALANCE SHEETS</p><p>The assets at the end of each year were as follows:</p>
<table>
<tr><td></td><td></td><td colspan=2>2021</td><td></td><td></td><td colspan=2>2020</td><td></td></tr>
<tr><td>Current assets:</td></tr>
<tr><td>Cash</td><td></td><td>$</td><td>16,058</td><td></td><td></td><td>$</td><td>5,993</td><td>
</td></tr>
<tr><td>Total current assets</td><td></td><td></td><td>17,000</td><td></td><td></td><td></td>
<td>6,100</td><td></td></tr>
<tr><td>Net change</td><td></td><td>$</td><td>(84</td><td>)</td><td></td><td>$</td><td>12</td><td>
</td></tr>
<tr><td>Margin</td><td></td><td></td><td>8.1</td><td>%</td><td></td><td></td><td>7</td><td>%</td>
</tr>
</table>
<p>The auditors have seen these figures, and they found nothing that is wrong with them.</p>
</body></html>"""


def rows_of(text):
    """The rows of a text as they can be read alone."""
    return [line.text for line in lines(text) if line.row]


def test_signs_and_spacer_columns_of_a_financial_page(load_one):
    """A row has its years, its group until the total, and what introduces the table."""
    text = load_one("report.html", REPORT).text
    table = (
        " | 2021 | 2020\nCurrent assets:\nCash | $16,058 | $5,993\n"
        "Total current assets | 17,000 | 6,100\nNet change | $(84) | $12\nMargin | 8.1% | 7%"
    )
    assert table in text
    above = "BALANCE SHEETS: The assets at the end of each year were as follows: "
    assert rows_of(text) == [
        f"{above}Current assets: Cash, 2021: $16,058, 2020: $5,993",
        f"{above}Current assets: Total current assets, 2021: 17,000, 2020: 6,100",
        f"{above}Net change, 2021: $(84), 2020: $12",
        f"{above}Margin, 2021: 8.1%, 2020: 7%",
    ]


def test_dashes_and_columns_of_their_own_stay():
    """A dash is a cell, and two columns of figures are two."""
    rows = [["Lamp", "Oil", "", "Gas"], ["A", "-", "", "5"], ["B", "4", "", "-"]]
    assert tidy_grid(rows) == [[row[0], row[1], row[3]] for row in rows]
    rows = [["Name", "Yes", "No"], ["A", "1", ""], ["B", "", "1"]]
    assert tidy_grid(rows) == rows


def test_a_header_over_all_years_belongs_to_each(load_one):
    """Also if it stands over the first of them only."""
    rows = "<tr><td><td>Years ended May 31,<td><tr><td>Item:<td>2021<td>2020<tr><td>Fees<td>5<td>4"
    page = f"<html><body><table>{rows}</table></body></html>"
    assert load_one("a.html", page).text.split("\n") == [
        "Item: | Years ended May 31, 2021 | Years ended May 31, 2020",
        "Fees | 5 | 4",
    ]


def test_periods_at_the_right_of_their_columns(load_one):
    """As spreadsheets for printing have them, one block of rows below the other."""
    book = openpyxl.Workbook()
    for row in [
        ["Segments"],
        ["In millions of CHF", None, "June 2023", None, "June 2022"],
        [None, "Sales", "Profit", "Sales", "Profit"],
        ["North", 57, 5, 44, 4],
        ["Total", 57, 5, 44, 4],
        ["In millions of CHF", None, "June 2021", None, "June 2020"],
        [None, "Sales", "Profit", "Sales", "Profit"],
        ["North", 39, 3, 38, 2],
    ]:
        book.active.append(row)
    book.save(file := BytesIO())
    assert load_one("a.xlsx", file.getvalue()).text.split("\n\n")[1:] == [
        (
            "Segments\nIn millions of CHF | June 2023 Sales | June 2023 Profit | June 2022 Sales"
            " | June 2022 Profit\nNorth | 57 | 5 | 44 | 4\nTotal | 57 | 5 | 44 | 4"
        ),
        (
            "Segments\nIn millions of CHF | June 2021 Sales | June 2021 Profit | June 2020 Sales"
            " | June 2020 Profit\nNorth | 39 | 3 | 38 | 2"
        ),
    ]


def test_lists_that_are_laid_out_as_tables(load_one):
    """They are items of a list, and no rows with a header."""
    page = "".join(
        f"<table><tr><td>•</td><td>{text}</td></tr></table>"
        for text in ("Sell more games;", "Enter other markets.")
    )
    text = load_one("a.html", f"<html><body><p>We do this:</p>{page}</body></html>").text
    assert text == "We do this:\n- Sell more games;\n- Enter other markets."


def test_a_long_table_repeats_its_caption_and_header(load_one):
    """Each part can be read by itself, and says which group it continues."""
    rows = "".join(f"<tr><td>Ship {n}<td>{n}00<td>{n}0" for n in range(1, 200))
    page = (
        "<html><body><p>Fees of the harbour, in euros:</p><table><tr><th>Name<th>2021<th>2020"
        f"<tr><td>Sailing ships:{rows}</table></body></html>"
    )
    document = load_one("a.html", page)
    above = "Fees of the harbour, in euros"
    parts = [document.text[table.start : table.end] for table in document.tables]
    assert len(parts) > 3
    assert max(map(len, parts)) < 1_300
    assert parts[1].startswith(f"{above}\nName | 2021 | 2020\nSailing ships:\nShip ")

    found = [row for part in parts[1:] for row in rows_of(part)]
    assert found[-1] == f"{above}: Sailing ships: Name: Ship 199, 2021: 19900, 2020: 1990"
    assert len(rows_of(document.text)) == 199


def test_styled_figures_of_a_page_are_kept(load_one):
    """The reader of pages would lose a figure in an element of its own at the end of a row."""
    rows = "".join(
        f"<tr><td><p>Lamp {n}</p></td><td><p>{n}</p></td><td><p><span>{n}.35</span></p></td></tr>"
        for n in range(5)
    )
    prose = "<p>The lamps of the harbour burn oil, and each of them is lit at dusk by hand.</p>"
    page = f"<html><body>{prose * 3}<table><tr><td>Name<td>Oil<td>Years</tr>{rows}</table></html>"
    assert "Lamp 4 | 4 | 4.35" in load_one("a.html", page).text


def test_names_under_groups_of_columns(load_one):
    """The second row of the header has text where the rows below it have figures."""
    header = "<tr><td>AWARDS<td><td>STOCK<td><tr><td>Name<td>Sold<td>Held<td>Left"
    table = f"<table>{header}<tr><td>A<td>5<td>4<td>3</table>"
    assert load_one("a.html", f"<html><body>{table}</html>").text.split("\n") == [
        "AWARDS Name | AWARDS Sold | STOCK Held | STOCK Left",
        "A | 5 | 4 | 3",
    ]


def test_a_long_table_of_markdown_is_continued_too(load_one):
    """Its parts have the caption, the header and the line below it."""
    rows = "\n".join(f"| lamp{n} | {n} | what lamp {n} is for |" for n in range(100))
    text = (
        f"# Lamps\n\nThe following table lists them.\n\n| Name | Oil | Use |\n|--|--|--|\n{rows}\n"
    )
    document = load_one("a.md", text)
    parts = [document.text[table.start : table.end] for table in document.tables]
    assert len(parts) > 2
    assert all(part.startswith("| Name | Oil | Use |\n|--|--|--|\n| lamp") for part in parts)
    assert document.text.count("The following table lists them") == len(parts)
    assert len(rows_of(document.text)) == 100


def pdf(*lines):
    """A page whose cells stand where they are told to, in millimetres from the left."""
    page = FPDF()
    page.add_page()
    page.set_font("helvetica", size=11)
    for number, cells in enumerate(lines):
        for left, text in cells:
            page.text(left, 20 + 6 * number, text)
    return bytes(page.output())


SIZES = (
    [(20, "The sizes of all keys of the harbour are in the table below this line.")],
    [(20, "Table 3. Sizes (in bytes) of keys")],
    [(55, "short key"), (95, "long key"), (130, "text")],
    [(20, "Lock A"), (60, "800"), (99, "1632"), (133, "768")],
    [(20, "Lock B"), (99, "2400"), (133, "1088")],
    [(20, "The locks are new.")],
)
FEES = (
    [(20, "Fees"), (80, "2021"), (120, "2020")],
    [(20, "Sailing ships"), (78, "$ 1,250"), (118, "$ 900")],
    [(20, "Ferries"), (80, "12"), (120, "7")],
)


KEYS = (
    [(60, "Key size")],
    [(60, "(bytes)")],
    [(100, "Rounds")],
    [(20, "Lock A"), (65, "16"), (105, "10")],
    [(20, "Lock B"), (65, "32"), (105, "14")],
)


def test_a_header_of_a_pdf_that_is_read_cell_by_cell(load_one):
    """Cells of several lines come one after the other, above the rows."""
    assert load_one("a.pdf", pdf(*KEYS)).text == (
        " | Key size (bytes) | Rounds\nLock A | 16 | 10\nLock B | 32 | 14"
    )


def test_columns_of_a_pdf(load_one):
    """By the places of their words, also where a cell is empty."""
    text = load_one("a.pdf", pdf(*SIZES)).text
    assert rows_of(text) == [
        "Table 3. Sizes (in bytes) of keys: Lock A, short key: 800, long key: 1632, text: 768",
        "Table 3. Sizes (in bytes) of keys: Lock B, long key: 2400, text: 1088",
    ]
    assert text.endswith("The locks are new.")


def test_figures_of_a_pdf_need_no_caption(load_one):
    """Two rows of a name with figures are a table; other words far apart are none."""
    assert load_one("a.pdf", pdf(*FEES)).text == (
        "Fees | 2021 | 2020\nSailing ships | $ 1,250 | $ 900\nFerries | 12 | 7"
    )
    contents = [
        [(20, "1"), (30, "Introduction"), (150, "5")],
        [(20, "2"), (30, "Keys"), (150, "7")],
    ]
    assert "|" not in load_one("a.pdf", pdf(*contents)).text


FILES = (
    [(20, "The program writes these files, each with an extension of its own:")],
    [(20, "Extension"), (60, "default name"), (110, "content")],
    [(20, ".dist"), (60, "outdist"), (110, "distances of all pairs")],
    [(20, ".tree"), (60, "outtree"), (110, "trees, in the order")],
    [(110, "of their weights")],
    [(20, ".eps"), (60, "outlm"), (110, "a graphics file")],
    [(20, "They are described below.")],
)


def test_words_of_a_pdf_below_names_of_columns_are_a_table(load_one):
    """What goes on below the last cell belongs to its row."""
    text = load_one("a.pdf", pdf(*FILES)).text
    table = (
        "Extension | default name | content\n.dist | outdist | distances of all pairs\n"
        ".tree | outtree | trees, in the order of their weights\n.eps | outlm | a graphics file"
    )
    assert text.split("\n\n")[1:] == [table, "They are described below."]


@pytest.mark.parametrize(
    "rows",
    [
        [("render", "-jpeg", "JPEG"), ("render", "-png", "PNG"), ("render", "-sgi", "an image")],
        [("Kiel", "Kiel", "a port"), ("Oslo", "a port", "Oslo"), ("Bergen", "a port", "North")],
        [("STK600", "socket", "ATtiny11"), ("STK601", "socket", "ATtiny12"), ("STK6", "x", "AT")],
    ],
    ids=["a command", "twice the same name", "figures"],
)
def test_words_of_a_pdf_without_names_of_columns_are_no_table(load_one, rows):
    """The first line would be read as a header that it is not."""
    lines = [list(zip((20, 60, 110), row, strict=True)) for row in [*rows, rows[-1]]]
    assert "|" not in load_one("a.pdf", pdf(*lines)).text
