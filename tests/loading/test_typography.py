"""Headings of a PDF without an outline: by size, weight and number; sections by running heads."""

import pytest
from fpdf import FPDF

from esrag.loading.pdf import PdfLoader
from esrag.records import Source

WORDS = (
    "The keys of the scheme are made from the seed, and the seed is kept by the one who made it."
)
BODY, LARGE, BOLD = ("", 11), ("", 16), ("B", 11)


def make(pages, width=0):
    """A PDF of lines with their weight and size."""
    pdf = FPDF()
    for lines in pages:
        pdf.add_page()
        for (weight, size), text in lines:
            pdf.set_font("Helvetica", weight, size)
            pdf.multi_cell(width, 8, text, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def load(pages, width=0):
    (document,) = PdfLoader().load(Source("d", "a.pdf", make(pages, width)))
    return document


def paths(document):
    return [section.path for section in document.sections]


def text(*headings, lines=4):
    """The headings, each with lines below it."""
    return [line for heading in headings for line in (heading, *[(BODY, WORDS)] * lines)]


def test_the_numbers_of_headings_are_their_levels():
    """Of any size; a number with or without a dot, and the letter of an appendix."""
    pages = [
        text((LARGE, "1. Scope"), (BOLD, "1.1 Terms"), (BOLD, "1.1.1.Keys")),
        text((LARGE, "2 Use"), (LARGE, "Appendix A - Values"), (BOLD, "A.1 Sizes")),
    ]
    assert paths(load(pages)) == [
        ("1. Scope",),
        ("1. Scope", "1.1 Terms"),
        ("1. Scope", "1.1 Terms", "1.1.1.Keys"),
        ("2 Use",),
        ("Appendix A - Values",),
        ("Appendix A - Values", "A.1 Sizes"),
    ]


def test_a_numbered_heading_may_begin_with_a_path_or_stand_above_small_letters():
    pages = [text((LARGE, "3. Folders"), (BOLD, "3.1. /etc : Settings")), text((LARGE, "4. Use"))]
    calls = [(LARGE, "4.1. Calls"), (BODY, f"kettle_boil() and others. {WORDS}")]
    assert paths(load([*pages, calls, [(BODY, WORDS)] * 20])) == [
        ("3. Folders",),
        ("3. Folders", "3.1. /etc : Settings"),
        ("4. Use",),
        ("4. Use", "4.1. Calls"),
    ]


def test_sections_of_one_name_on_a_page_are_told_apart_by_their_numbers():
    page = text((LARGE, "1. Lids"), (BOLD, "1.1. Use"), (LARGE, "2. Oil"), (BOLD, "2.1. Use"))
    assert paths(load([page, text((LARGE, "3. Wax"), lines=20)])) == [
        ("1. Lids",),
        ("1. Lids", "1.1. Use"),
        ("2. Oil",),
        ("2. Oil", "2.1. Use"),
        ("3. Wax",),
    ]


def test_a_section_is_not_within_one_of_another_number():
    """Where the heading "3. Care" is not found."""
    pages = [text((LARGE, "2. Use"), (BOLD, "2.1. Oil")), text((BOLD, "3.1. Lids"))]
    assert paths(load(pages))[-1] == ("3.1. Lids",)


def test_without_numbers_the_size_is_the_level():
    pages = [text((LARGE, "Kettles"), (BOLD, "Care")), text((BOLD, "Repair"), (LARGE, "Lamps"))]
    assert paths(load(pages)) == [
        ("Kettles",),
        ("Kettles", "Care"),
        ("Kettles", "Repair"),
        ("Lamps",),
    ]


def test_a_heading_of_two_lines_is_one():
    heading = "What the keeper of the kettles has to do before the winter"
    document = load([text((LARGE, heading)), text((LARGE, "Lamps"))], width=100)
    assert paths(document) == [(heading,), ("Lamps",)]
    assert document.text[document.sections[0].start :].startswith("What the keeper")


@pytest.mark.parametrize(
    "line",
    [
        (BOLD, "Figure 3. The kettle from below"),
        (BOLD, "Table 2: Kettles by size"),
        (BOLD, "1 Scope ............. 7"),
        (BOLD, "The kettle must never be left alone while it boils."),
        (BOLD, "the rest of a sentence"),
        (BOLD, "17"),
        (("", 8), "A note below the text"),
        (BODY, "3.4 Plain"),
    ],
)
def test_what_is_no_heading(line):
    """Captions, contents, sentences, numbers alone, and what is set as the text or smaller."""
    pages = [text((LARGE, "Kettles"), line), text((LARGE, "Lamps"))]
    assert paths(load(pages)) == [("Kettles",), ("Lamps",)]


def test_a_title_that_comes_back_is_none():
    """Nor is a line of the contents, which ends with its page."""
    pages = [
        [(BOLD, "1 Scope 2"), (BOLD, "2 Use 4"), *text((BOLD, "Example"))],
        text((BOLD, "1 Scope"), (BOLD, "Example")),
        text((BOLD, "2 Use"), (BOLD, "Example")),
    ]
    assert paths(load(pages)) == [("1 Scope",), ("2 Use",)]


def test_a_call_out_among_numbered_headings_is_none():
    """It is set like none of them."""
    numbered = [(LARGE, f"{n} Part {'abcd'[n]}") for n in range(1, 4)]
    pages = [text(numbered[0], (BOLD, "Important")), text(numbered[1]), text(numbered[2])]
    assert paths(load(pages)) == [("1 Part b",), ("2 Part c",), ("3 Part d",)]


def test_where_all_is_bold_only_size_counts():
    bold = [(BOLD, WORDS)] * 4
    pages = [
        [(BOLD, "Short and bold"), *bold, (LARGE, "Kettles"), *bold],
        [(LARGE, "Lamps"), *bold],
    ]
    assert paths(load(pages)) == [("Kettles",), ("Lamps",)]


def test_too_many_are_none():
    """A page of large words has no structure; nor has a cover."""
    assert (
        paths(load([[(LARGE, f"Word {'ab'[n % 2] * n}") for n in range(1, 9)] + text()] * 2)) == []
    )
    cover = [(LARGE, "Annual report"), (BOLD, "Kettles and Lamps")]
    assert paths(load([cover, [(BODY, WORDS)] * 20])) == []


def test_an_outline_goes_first(build):
    (document,) = PdfLoader().load(
        Source("d", "a.pdf", build.pdf([["One", WORDS], ["Two", WORDS]], outline=True))
    )
    assert paths(document) == [("One",), ("Two",)]


def test_the_outline_may_leave_out_the_word_before_a_letter():
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", "", 11)
    pdf.start_section("A Values")
    pdf.multi_cell(0, 8, f"Appendix A Values\n{WORDS}")
    (document,) = PdfLoader().load(Source("d", "a.pdf", bytes(pdf.output())))
    assert paths(document) == [("A Values",)]


def headed(names, document="On kettles"):
    """Pages with the document's name and their number, and the name of their part, as heads."""
    cover = [(BODY, "A report"), (BODY, document), (BODY, "of the year")]
    pages = [
        [
            (BODY, f"{number} {document}" if number % 2 else f"Report no. 7   {number}"),
            (BODY, name),
            *[(BODY, f"{WORDS} {'x' * number}")] * 3,
        ]
        for number, name in enumerate(names, 2)
    ]
    return [cover, *pages]


def test_running_heads_name_sections():
    """Each from its first page on; they are not in the text, and the pages' own words are."""
    document = load(headed(["Summary"] * 3 + ["Opinion"] * 4 + ["Dissent"] * 3))
    assert paths(document) == [("Summary",), ("Opinion",), ("Dissent",)]
    starts = [section.start for section in document.sections]
    assert starts == [document.pages[number].start for number in (1, 4, 8)]
    assert ("Opinion" in document.text, "Report no." in document.text) == (False, False)
    assert document.text.count("The keys") == 30


def test_a_running_head_that_the_first_pages_have_is_the_title():
    """Unless the file has one."""
    assert load(headed(["Summary"] * 8)).title == "On kettles"
    assert load([text((BODY, "On kettles"))] * 4).title == ""


def test_the_largest_lines_of_the_first_page_are_the_title():
    """If they follow each other; a running head that says it goes first."""
    large = [(LARGE, "On kettles"), (LARGE, "and pans")]
    assert load([text((BODY, "1950"), *large[:1]), text(*large[1:])]).title == "On kettles"
    assert load([[*large, *text((BODY, "1950"))]]).title == "On kettles and pans"
    assert load([text(*large)]).title == ""


def test_a_running_head_may_lack_a_comma_of_the_title():
    """The cover may say more between the names."""
    pages = [[(BODY, f"{n} KETTLES, INC. v. PAN"), (BODY, "x" * n)] for n in range(2, 8)]
    cover = [(BODY, "KETTLES, INC., et al. v. PAN"), (BODY, "y")]
    assert load([cover, *pages]).title == "KETTLES, INC. v. PAN"


@pytest.mark.parametrize(("line", "title"), [("On red kettles", "On kettles"), ("On pots", "")])
def test_a_running_head_may_shorten_the_title(line, title):
    """If the first pages have all its words."""
    _, *pages = headed(["Summary"] * 8)
    assert load([[(BODY, "A report"), (BODY, line)], *pages]).title == title


def test_a_watermark_goes_wherever_it_is():
    """First on some pages, and last on others."""
    mark = (BODY, "Not for publication")
    pages = [
        [mark, *lines] if number % 2 else [*lines, mark]
        for number, lines in enumerate(headed(["Summary"] * 3 + ["Opinion"] * 5))
    ]
    document = load(pages)
    assert "publication" not in document.text
    assert paths(document) == [("Summary",), ("Opinion",)]
