"""Tables of aligned columns in plain text and Markdown, and tables of HTML within Markdown."""

import pytest

from esrag.evidence.lines import lines
from esrag.loading.aligned import find_aligned

TANKS = """What each tank of the ship holds is
listed in the following table.

              Fuel Water Crew
  bow tank      40   120  no
  aft tank      60    80  no
  keel            5   90  yes

The tanks are cleaned in spring."""
RULED = """TANK (Table 1)      COST  WGT   MADE
~~~~~~~~~~~~~~~~~ : ~~~~  ~~~ : ~~~~~~
Small tanks       :           :
  bow tank        : 1 40   12 : steel
  keel            :    5    9 : copper
"""


def rows_of(document):
    """The rows of a document as they can be read alone."""
    return [line.text for line in lines(document.text) if line.row]


@pytest.mark.parametrize("name", ["tanks.txt", "tanks.md"])
def test_aligned_columns_are_a_table(load_one, name):
    """A row is read with its header, also with one of single spaces, and with its caption."""
    document = load_one(name, TANKS)
    assert len(document.tables) == 1
    caption = "What each tank of the ship holds is listed in the following table"
    assert rows_of(document)[0] == f"{caption}: bow tank, Fuel: 40, Water: 120, Crew: no"
    assert document.text.endswith("\n\nThe tanks are cleaned in spring.")


def test_a_rule_says_where_the_columns_are(load_one):
    """Columns of colons are left out, and a line of one cell is the group of those below it."""
    assert rows_of(load_one("tanks.txt", RULED)) == [
        "Small tanks: TANK (Table 1): bow tank, COST: 1 40, WGT: 12, MADE: steel",
        "Small tanks: TANK (Table 1): keel, COST: 5, WGT: 9, MADE: copper",
    ]


def test_a_table_with_dashes_for_each_column_may_hold_text(load_one):
    """Its header has several lines, and what goes on below an empty first cell is the same row."""
    text = """                       Tanks
  Field   Size         served  Meaning
          (bits)
  ------  ------       ------  --------------------------
  Kind    4            all     what the tank holds; zero
                               for one that is empty
  Level   16           none    read from the gauge
"""
    assert rows_of(load_one("fields.txt", text)) == [
        (
            "Field: Kind, Size (bits): 4, Tanks served: all, Meaning: what the tank holds; zero for"
            " one that is empty"
        ),
        "Field: Level, Size (bits): 16, Tanks served: none, Meaning: read from the gauge",
    ]


def test_a_note_may_follow_the_last_line_of_dashes(load_one):
    """It is no part of the table."""
    dashes = "-" * 44
    rows = ["small      12%      8%", "large      30%     16%", "huge       40%     20%"]
    lines = [
        "Tank     Months  Months",
        "         1-12    13-18",
        dashes,
        *rows,
        dashes,
        "Of the price.",
    ]
    document = load_one("tanks.txt", "\n".join(lines))
    assert rows_of(document)[0] == "Tank: small, Months 1-12: 12%, Months 13-18: 8%"
    assert document.text.endswith("\n\nOf the price.")


def test_a_long_table_has_its_header_in_each_part(load_one):
    """So that each chunk of it can be read."""
    rows = "\n".join(f"tank-{n:<4}   {n:4}   {n + 1:4}" for n in range(300))
    document = load_one("tanks.txt", f"Name        Fuel  Water\n{rows}")
    parts = [document.text[span.start : span.end] for span in document.tables]
    assert len(parts) > 1
    assert all(part.startswith("Name | Fuel | Water\n") for part in parts)
    assert sum(part.count("\ntank") for part in parts) == 300


@pytest.mark.parametrize(
    "text",
    [
        "int     key;     /* of locks */\nchar    name;    /* of it */\nlong    size;    /* 3 */",
        "One     two     three\nfour    five    six\nseven   eight   nine\n",
        "a  b\n1  2\n3  4\n5  6",
        "Name      Fuel  Fuel\nbow         40   120\naft         60    80\nkeel         5    90",
        "             Fuel\n           in    out\nbow         40   120\naft         60    80",
        "bow         40   120\naft         60    80\nkeel         5    90",
        "Tank Mean Fuel\nbow         40   120\naft         60    80\nkeel         5    90",
        "Name      Fuel  Water\nbow         40   120\naft        6|0    80\nkeel         5    90",
        "Name   Fuel  Water\n----   ----  -----\nbow      40    120\naft      60     80\nNo others",
    ],
    ids=[
        "code",
        "words",
        "two columns",
        "names twice",
        "header of two lines",
        "no header",
        "names elsewhere",
        "bars in cells",
        "prose below a rule",
    ],
)
def test_other_aligned_words_are_no_table(text):
    """A cell that is labelled wrongly is worse than one without a label."""
    assert [*find_aligned(text.split("\n"))] == []


def test_an_aligned_table_in_fenced_code_stays(load_one):
    """As does all that is code."""
    text = f"# Tanks\n\n```\n{TANKS}\n```\n"
    assert load_one("tanks.md", text).tables == ()


def test_html_in_markdown_is_a_table(load_one):
    """Blank lines do not end it, and a cell outside of rows begins one."""
    text = """# Tanks

<table>

 <tr><td></td><td colspan="2"><b>Volume</b></td></tr>
 <tr>
  <th>Tank</th>

  <th>Fuel</th><th>Water</th>
 </tr>
 <tr><td>bow</td><td>40</td><td>120</td></tr>
 <tr style="display: none"><td>secret</td><td>1</td><td>2</td></tr>
   <td>aft</td><td>60</td><td>80</td></tr>
</table>

The end."""
    document = load_one("tanks.md", text)
    assert rows_of(document) == [
        "Tanks: Tank: bow, Volume Fuel: 40, Volume Water: 120",
        "Tanks: Tank: aft, Volume Fuel: 60, Volume Water: 80",
    ]
    assert "secret" not in document.text
    assert document.hidden == len("secret12")
    assert document.text.endswith("The end.")


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><td>Guides</td><td>1</td></tr>\n\nThe rest.",
        "<table><tr><td><h2>Guides</h2></td><td><ul><li>One</li></ul></td></tr></table>",
        "```\n<table><tr><td>Guides</td><td>1</td></tr></table>\n```",
    ],
    ids=["without an end", "that lays out a page", "in code"],
)
def test_other_html_in_markdown_is_no_table(load_one, text):
    """But its words are kept."""
    document = load_one("a.md", text)
    assert document.tables == ()
    assert "Guides" in document.text


@pytest.mark.parametrize("name", ["sets.txt", "sets.md"])
def test_a_line_may_divide_a_table_from_its_header_and_its_total(load_one, name):
    """The header may have two lines, and columns named by years."""
    rule = "  " + "-" * 40
    table = (
        "  Country     2021   2022/23  Replaced by\n"
        "                              30 Nov 2023\n"
        f"{rule}\n  Ireland       38        71      1,060\n"
        "  Germany      190       284        402\n"
        f"{rule}\n  Total        228       355      1,462\n{rule}"
    )
    rows = rows_of(load_one(name, f"Sets sold:\n\n{table}\n\nThat is all."))
    assert (
        rows[1]
        == "Sets sold: Country: Germany, 2021: 190, 2022/23: 284, Replaced by 30 Nov 2023: 402"
    )
    assert len(rows) == 3


def test_years_are_names_of_columns(load_one):
    """Also right below a title."""
    text = "3. VISITS\n---------\n            2022/23   2023/24\n  Pool       61,300    68,900\n"
    more = "  Library   104,800   103,100\n  Gym         9,150    13,600\n"
    rows = rows_of(load_one("visits.txt", text + more))
    assert rows[1].endswith("Library, 2022/23: 104,800, 2023/24: 103,100")


def test_a_line_below_a_title_is_no_table():
    """Nor is text in lines."""
    text = (
        "Kettles of this year\n====================\nSome are red.  Some are not.\nAll are.\nAll."
    )
    assert not [*find_aligned(text.split("\n"))]


def test_a_cell_may_be_longer_than_the_dashes_above_it(load_one):
    """Then the columns are where all rows are blank."""
    text = "Grade      Rise   Once\n---------  -----  -----\n1 - 3        4 %  450\n"
    rows = rows_of(load_one("a.txt", text + "Apprentices  5 %  200\nDirectors    0 %  none\n"))
    assert rows[1] == "Grade: Apprentices, Rise: 5 %, Once: 200"


SINGLE = """Each lamp:

 +--------------------+
 | Lamp  | Oil        |
 |-------+------------|
 | bow   | 40 ml of   |
 |       | whale oil  |
 |-------+------------|
 | stern | none       |
 +--------------------+
"""
DIVIDED = """ Lamp  | Oil
-------+------------
 bow   | 40 ml
 stern | none
(2 rows)
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            SINGLE,
            ["Each lamp: Lamp: bow, Oil: 40 ml of whale oil", "Each lamp: Lamp: stern, Oil: none"],
        ),
        (DIVIDED, ["Lamp: bow, Oil: 40 ml", "Lamp: stern, Oil: none"]),
    ],
)
def test_bars_part_the_columns_without_corners_above_them(load_one, text, rows):
    """As writers of manuals and clients of databases print tables."""
    assert rows_of(load_one("lamps.txt", text)) == rows


def test_other_lines_of_dashes_with_marks_are_no_table():
    """Such as an axis, or a grid of single letters in wide gaps."""
    axis = ["     |     ", "-----+-----", "     |     "]
    grid = ["      | A     B", "------+--------", "  up  | 1     2"]
    assert not [*find_aligned(axis)]
    assert not [*find_aligned(grid)]


def test_a_line_below_a_header_may_divide_it_from_words(load_one):
    """If each row has several cells."""
    text = (
        "  Lamp             Fuel             Keeper\n"
        "  ----------------------------------------\n"
        "  Harbour lamp     Whale oil        The pilot\n"
        "  Lantern          Rape seed        "
    )
    assert rows_of(load_one("lamps.txt", f"{text}Nobody")) == [
        "Lamp: Harbour lamp, Fuel: Whale oil, Keeper: The pilot",
        "Lamp: Lantern, Fuel: Rape seed, Keeper: Nobody",
    ]
    assert not rows_of(load_one("lamps.txt", f"{text}Nobody\n  See below"))
