"""Headings of plain text."""

import pytest


def paths(document):
    """The paths of a document's sections."""
    return [section.path for section in document.sections]


def test_numbered_headings_give_their_levels(load_one):
    """The items of a numbered list, and lines with columns, are none."""
    text = (
        "Rules of the Club\n\n1. Members\n\n   All may join.\n\n"
        "  1.1. Fees\n\n   They are paid.\n\n"
        "   1. In May\n\n   2. In June\n\n2. Votes\n\n   All vote.\n\n"
        "3 Contents . . . . . 7\n\n   Text.\n\nA.1 Old rules\n\n   None.\n"
    )
    assert paths(load_one("a.txt", text)) == [
        ("1. Members",),
        ("1. Members", "1.1. Fees"),
        ("2. Votes",),
        ("A.1 Old rules",),
    ]


PAGES = (
    "\n\n          Kettles at Sea\n         and in Harbour\n\n1.  iKettle\n\n   The lid of the",
    "   kettle is blue.\n\n2.  Care\n\n   It is oiled.",
    "   It shines.",
)


@pytest.mark.parametrize("feed", ["\f", "\n"])
def test_the_pages_of_a_memo_are_joined(load_one, feed):
    """A paragraph goes on; running lines are no text, and the title may have two lines."""
    head, foot = (
        "Memo 7           Kettles        May 2024",
        "Lind          Informational     [Page {}]",
    )
    pages = [f"{head}\n\n{page}\n\n\n{foot.format(n)}" for n, page in enumerate(PAGES, 1)]

    document = load_one("a.txt", f"\n{feed}".join(pages))

    assert document.title == "Kettles at Sea and in Harbour"
    assert paths(document) == [("1. iKettle",), ("2. Care",)]
    assert document.text.endswith(
        "   The lid of the\n   kettle is blue.\n\n2.  Care\n\n   It is oiled.\n\n   It shines."
    )


def test_numbered_capitals_need_no_blank_line_below(load_one):
    """And they may have a remark behind them; items of a list and other words are no headings."""
    text = (
        "They are old.\n\n1. FISH PIE            serves four\n600 g haddock\nBake it.\n\n"
        "2. TABLET  (makes us ill)\nsugar\n\n3. Stew with beans\nbeans\n\n4. A4\npaper\n\n"
        "1. RED\n2. BLUE\n"
    )
    assert paths(load_one("a.txt", text)) == [("1. FISH PIE",), ("2. TABLET",)]


def test_lines_above_an_indented_text_are_headings(load_one):
    """Those in capitals need no blank line below; sentences and page heads are none."""
    text = (
        "NAME\n       kettle - boils water\n\nIn general\n\n   It boils.\n\n"
        "  Of the lid\n\n   It shuts.\n\nRFC 7             Kettles            May 2020\n\n"
        "   It goes on.\n\nIt ends here.\n\n   Yes."
    )
    assert paths(load_one("a.txt", text)) == [
        ("NAME",),
        ("In general",),
        ("In general", "Of the lid"),
    ]


def test_underlined_lines_are_headings(load_one):
    """But not the header of a table."""
    text = "Kettles\n=======\n\nUse\n---\nBoil.\n\nName      Size\n---------------\nred       5 l\n"
    assert paths(load_one("a.txt", text)) == [("Kettles",), ("Kettles", "Use")]


def test_questions_are_headings_of_their_answers(load_one):
    """They may go on in the next line."""
    text = "Q: Can I boil\n   milk in it?\n\nA: No, it burns.\n\nQ: Why?\n\nA: It is sweet.\n"
    assert paths(load_one("a.txt", text)) == [("Can I boil milk in it?",), ("Why?",)]


@pytest.mark.parametrize(
    "text",
    ["A note to all.\n\nSee you.", "1. Tea\n\n2. Milk\n\n3. Water", "a\n\n  b\n\n    c", "Q: Why"],
)
def test_other_text_has_no_headings(load_one, text):
    """A list or a letter has no sections."""
    assert paths(load_one("a.txt", text)) == []


def test_the_letter_o_before_an_indented_item_is_a_bullet(load_one):
    """As memos and manuals print lists; a variable, or an o at the beginning of a line, is none."""
    text = "You need:\n\n  o a key\n\n   o  a lock\n\no mare, o fortuna\n\n    o = 5"
    expected = "You need:\n\n  • a key\n\n   •  a lock\n\no mare, o fortuna\n\n    o = 5"
    assert load_one("a.txt", text).text == expected


WIDE = "Terminology of Copperware for Long-Distance Navigation Under Full Canvas"


@pytest.mark.parametrize(
    ("top", "title"),
    [
        ("            6BONE Formats (pTLA)", "6BONE Formats (pTLA)"),
        (
            "          Care of Kettles (CK):\n              Lids of 1984",
            "Care of Kettles (CK): Lids of 1984",
        ),
        (WIDE, WIDE),
        ("\t\tThe Kettle Licence\n\t\thttps://a.example/", "The Kettle Licence"),
    ],
)
def test_a_title_may_be_wide_or_several_lines_or_begin_with_a_number(load_one, top, title):
    """They stand below the names and the date of a memo."""
    text = (
        f"Kettle Group          A. Boiler\nMemo                 May 2026\n\n\n{top}\n\nIt boils.\n"
    )
    assert load_one("a.txt", text).title == title


def test_chapters_are_above_their_sections(load_one):
    """Their headings, and those of sections, may go on in the next line."""
    text = (
        "Chapter 1. Boiling\n\n1.1. How long does water boil in a kettle of the largest size, and\n"
        "why does it?\n\nIt does.\n\nChapter 2. Care\n\n2.1.  Cleaning and\n      Oiling\n\nYes.\n"
        "\n2.2.  clean it and\n      oil it.\n"
    )
    assert paths(load_one("a.txt", text)) == [
        ("Chapter 1. Boiling",),
        (
            "Chapter 1. Boiling",
            "1.1. How long does water boil in a kettle of the largest size, and why does it?",
        ),
        ("Chapter 2. Care",),
        ("Chapter 2. Care", "2.1. Cleaning and Oiling"),
    ]


def test_numbered_headings_may_be_centred_indented_or_end_with_a_stop(load_one):
    """Items that end with one are none."""
    centred = "                             1.  BOILING\n\nIt boils.\n\n1.1. Care\n\nOil it.\n"
    assert paths(load_one("a.txt", centred)) == [("1. BOILING",), ("1. BOILING", "1.1. Care")]
    indented = "   1. Care\n\n   Oil it.\n\n      2. Each day\n\n   3. Tea\n\n   Cook it.\n"
    assert paths(load_one("a.txt", indented)) == [("1. Care",), ("3. Tea",)]
    stopped = "  1. Care of Lids.\n\n  Oil\nthem.\n\n  2. Clean kettles.\n\nAlways.\n"
    assert paths(load_one("a.txt", stopped)) == [("1. Care of Lids",)]


def test_a_word_with_a_hyphen_is_whole_at_the_end_of_a_line(load_one):
    """Also in the heading of two lines; the columns of a drawing stay."""
    text = (
        "2.1.  The Care of Kettles of Copper on Ships with Long-\n      Distance Crews\n\n"
        "   The captain reads the gauge of each kettle at end-\n   to-end checks.\n\n"
        "   +-- kettle ---- lamp ------ chart ---- gauge -- end-\n   |\n"
    )
    document = load_one("a.txt", text)
    assert document.sections[0].path == (
        "2.1. The Care of Kettles of Copper on Ships with Long-Distance Crews",
    )
    assert "at end-to-end\n   checks." in document.text
    assert "-- end-\n   |" in document.text


def test_a_line_that_goes_on_in_the_text_below_is_no_heading(load_one):
    """It leads to an example or a list."""
    text = "Oil\n\n   It burns.\n\nTo light the lamp, press it with\n\n   lamp --on\n\n   Done.\n"
    assert paths(load_one("a.txt", text)) == [("Oil",)]
