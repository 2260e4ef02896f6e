"""Headers of several rows become one, so that no figure of one year is read as one of another."""

from io import BytesIO

import docx
import openpyxl
import pytest

from esrag.evidence.lines import lines
from esrag.loading.headers import merge_headers, spread_cells

HEADER = "City | 2023 Revenue | 2023 Cost | 2022 Revenue | 2022 Cost"
ROWS = [
    ["City", 2023, None, 2022, None],
    [None, "Revenue", "Cost", "Revenue", "Cost"],
    ["Kiel", 57, 31, 44, 22],
]
MERGED = ("A1:A2", "B1:C1", "D1:E1")


def sheet(rows, *merged):
    """A workbook with one sheet, as Excel would save it."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merged_cells.add(cells)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("rows", "merged", "expected"),
    [
        (ROWS, MERGED, [HEADER, "Kiel | 57 | 31 | 44 | 22"]),
        (ROWS, (), [HEADER, "Kiel | 57 | 31 | 44 | 22"]),
        (
            [["All cities"], *ROWS],
            ("A1:E1", "B2:C2", "D2:E2"),
            ["All cities", HEADER, "Kiel | 57 | 31 | 44 | 22"],
        ),
        (
            [["City", "Length", "Weight"], [None, "(km)", "(kg)"], ["Kiel", 5, 3]],
            (),
            ["City | Length (km) | Weight (kg)", "Kiel | 5 | 3"],
        ),
        (
            [
                [None, "North", None, None, None, "South"],
                [None, 2023, None, 2022, None, 2023],
                ["City", "In", "Out", "In", "Out", "In"],
                ["Kiel", 5, 3, 4, 2, 1],
            ],
            ("B1:E1", "B2:C2", "D2:E2"),
            [
                (
                    "City | North 2023 In | North 2023 Out | North 2022 In | North "
                    "2022 Out | South 2023 In"
                ),
                "Kiel | 5 | 3 | 4 | 2 | 1",
            ],
        ),
        (
            [
                ["Region", "City", "Revenue"],
                ["North", "Kiel", 57],
                [None, "Jena", 61],
                ["South", "Ulm", 44],
            ],
            ("A2:A3",),
            [
                "Region | City | Revenue",
                "North | Kiel | 57",
                "North | Jena | 61",
                "South | Ulm | 44",
            ],
        ),
        (
            [["City", "Mayor"], ["Kiel", "A"], ["Jena", "B"]],
            (),
            ["City | Mayor", "Kiel | A", "Jena | B"],
        ),
        ([["City", 2022, 2023], ["Kiel", 44, 57]], (), ["City | 2022 | 2023", "Kiel | 44 | 57"]),
        (
            [["City", None, "Note"], ["Kiel", "x", 1], ["Jena", "y", 2]],
            (),
            ["City |  | Note", "Kiel | x | 1", "Jena | y | 2"],
        ),
        (
            [[None, 2022, 2023], [None, "t", "t"], ["Kiel", 11, 13]],
            (),
            [" | 2022 (t) | 2023 (t)", "Kiel | 11 | 13"],
        ),
        (
            [["City", 2022, 2023], ["Unit", "EUR million", "$m"], ["Kiel", 11, 13]],
            (),
            ["City Unit | 2022 (EUR million) | 2023 ($m)", "Kiel | 11 | 13"],
        ),
        (
            [["City", 2022, 2023], [None, "actual", "forecast"], ["Kiel", 11, 13]],
            (),
            ["City | 2022 actual | 2023 forecast", "Kiel | 11 | 13"],
        ),
        (
            [["City", "2022"], [None, "none"], ["Kiel", "some"], ["Jena", 13]],
            (),
            ["City | 2022", " | none", "Kiel | some", "Jena | 13"],
        ),
    ],
)
def test_the_rows_of_a_sheet(load_one, rows, merged, expected):
    """All header rows belong to the column, merged or not.

    A title, a label over rows and one header stay.
    """
    assert load_one("book.xlsx", sheet(rows, *merged)).text.split("\n")[2:] == expected


def test_merged_cells_of_a_hostile_sheet_are_bounded(load_one):
    """They may be said to cover millions of columns, and a thousand may lie upon each other."""
    merged = ["A1:XFD1048576", *(f"B{n}:XFD{n + 7}" for n in range(2, 1000))]
    text = load_one(
        "book.xlsx", sheet([["a", "b"], *[["c", n] for n in range(1000)]], *merged)
    ).text
    assert len(text) < 200_000


def test_the_other_formats(load_one):
    """HTML and Word say which cells cover others; a CSV file has empty ones."""
    page = (
        "<table><tr><th rowspan=2>City<th colspan=2>2023<th "
        "colspan=2>2022<tr><th>Revenue<th>Cost<th>Revenue<th>Cost"
        "<tr><td>Kiel<td>57<td>31<td>44<td>22</table>"
    )
    assert (
        load_one("page.html", f"<html><body>{page}</body></html>").text
        == f"{HEADER}\nKiel | 57 | 31 | 44 | 22"
    )

    document = docx.Document()
    table = document.add_table(3, 5)
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = str(cell or "")
    for (top, left), (bottom, right) in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (0, 4))):
        table.cell(top, left).merge(table.cell(bottom, right))
    file = BytesIO()
    document.save(file)
    assert load_one("table.docx", file.getvalue()).text == f"{HEADER}\nKiel | 57 | 31 | 44 | 22"

    lines = "City,2023,,2022,\n,Revenue,Cost,Revenue,Cost\nKiel,57,31,44,22\n"
    assert load_one("table.csv", lines).text == f"{HEADER}\nKiel | 57 | 31 | 44 | 22"


def test_what_is_copied_is_bounded():
    """A page of cells that each cover a hundred columns and all rows does not fill the memory."""
    rows = [[("word" * 20, 60_000, 100), ("x", 1, 1)]] + [[("y", 1, 1)] * 2] * 2000
    assert sum(len(cell) for row in spread_cells(rows) for cell in row) < 3_000_000
    assert merge_headers([]) == []


@pytest.mark.parametrize(
    ("header", "below", "merged"),
    [
        ("| Size | 2023 || 2022 ||", "| | In | Out | In | Out |", "2023 In"),
        ("| | 2023 || 2022 ||", "| **Size** | **In** | **Out** | **In** | **Out** |", "2023 In"),
        ("| Size | 2023 || 2022 ||", "| A | in | out | in | out |", "2023"),
        ("| Size | 2023 | 2022 | 2021 | 2020 |", "| | In | Out | In | Out |", "2023"),
    ],
)
def test_a_table_of_markdown_may_have_two_rows_of_names(load_one, header, below, merged):
    """The second has no label, or is in bold, and names what the first leaves open."""
    text = f"{header}\n|---|---|---|---|---|\n{below}\n| Kiel | 57 | 31 | 44 | 22 |\n"
    *_, kiel = [line.text for line in lines(load_one("table.md", text).text) if line.row]
    assert kiel.startswith(f"Size: Kiel, {merged}: 57")


def test_a_header_cell_that_reaches_below_the_header_stays(load_one):
    """Without it the cells of the row below would move to the left."""
    page = """<table>
    <tr><th rowspan="3">Gate</th><th colspan="2">Hours</th></tr>
    <tr><th>summer</th><th>winter</th></tr>
    <tr><td>9 to 12</td><td>closed</td></tr>
    <tr><td>Lake</td><td>10 to 14</td><td>closed</td></tr>
    </table>"""
    assert "Gate | 9 to 12 | closed" in load_one("gates.html", page).text


def test_shares_below_a_name_of_several_columns_are_names_too():
    """Of rates up to a share of the price, say; a row of figures has a label."""
    header = ["Term", "Fee", "Rate up to", "Rate up to"]
    rows = [["2 years", "none", "4.69", "4.84"], ["5 years", "none", "4.31", "4.42"]]
    names = ["Term", "Fee", "Rate up to 60%", "Rate up to 75%"]
    assert merge_headers([header, ["", "", "60%", "75%"], *rows]) == [names, *rows]
    assert merge_headers([header, ["1 year", "", "60%", "75%"], *rows])[0] == header


def test_rows_of_header_cells_of_a_page_are_its_header(load_one):
    """Whatever is below them: hours are no figures."""
    page = """<table>
    <tr><th rowspan="2"></th><th colspan="2">Main gate</th><th>Lake gate</th></tr>
    <tr><th>summer</th><th>winter</th><th>summer</th></tr>
    <tr><th>Monday</th><td>9 to 12</td><td>closed</td><td>10 to 14</td></tr>
    <tr><th>Friday</th><td>9 to 16</td><td>9 to 12</td><td>closed</td></tr>
    </table>"""
    assert load_one("gates.html", page).text.split("\n") == [
        " | Main gate summer | Main gate winter | Lake gate summer",
        "Monday | 9 to 12 | closed | 10 to 14",
        "Friday | 9 to 16 | 9 to 12 | closed",
    ]
