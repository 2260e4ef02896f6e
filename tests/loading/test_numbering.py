"""Numbers of Word's lists and headings, which Word counts, and its notes."""

import docx
import pytest
from docx.oxml import parse_xml

SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LEVELS = (
    ("decimal", "%1."),
    ("decimal", "%1.%2"),
    ("lowerLetter", "(%3)"),
    ("bullet", "o"),
    ("upperRoman", "Part %5:"),
)


@pytest.fixture
def document():
    """An empty document with a list of five levels: 70 for paragraphs, 71 to begin anew."""
    made = docx.Document()
    levels = "".join(
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{digits}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for number, (digits, text) in enumerate(LEVELS)
    )
    root = made.part.numbering_part.element
    root.insert(
        0, parse_xml(f'<w:abstractNum {SPACE} w:abstractNumId="70">{levels}</w:abstractNum>')
    )
    for name, more in (
        (70, ""),
        (71, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride>'),
    ):
        root.append(
            parse_xml(
                f'<w:num {SPACE} w:numId="{name}"><w:abstractNumId w:val="70"/>{more}</w:num>'
            )
        )
    return made


def add(document, text, level, *, name=70, style=None):
    """Add an item of a list, or a heading with its number."""
    paragraph = document.add_paragraph(text, style=style)
    number = f'<w:ilvl w:val="{level}"/><w:numId w:val="{name}"/>'
    paragraph._p.get_or_add_pPr().append(parse_xml(f"<w:numPr {SPACE}>{number}</w:numPr>"))


def test_items_have_the_numbers_that_word_shows(load_one, build, document):
    """Each level begins anew below the next item of the level above."""
    for text, level in (
        *(
            ("Rent", 0),
            ("It is due monthly.", 1),
            ("in cash", 2),
            ("by transfer", 2),
            ("at once", 3),
        ),
        *(("Repairs", 0), ("The roof is ours.", 1), ("The lid", 4)),
    ):
        add(document, text, level)
    add(document, "Notice", 0, name=71)

    assert load_one("a.docx", build.saved(document)).text.split("\n") == [
        *("1. Rent", "1.1 It is due monthly.", "    (a) in cash", "    (b) by transfer"),
        *("      - at once", "2. Repairs", "2.1 The roof is ours.", "        - Part I: The lid"),
        "4. Notice",
    ]


def test_headings_have_their_numbers(load_one, build, document):
    """Other texts name sections by them."""
    add(document, "Rent", 0, style="Heading 1")
    add(document, "Due", 1, style="Heading 2")
    sections = load_one("a.docx", build.saved(document)).sections
    assert [section.path for section in sections] == [("1. Rent",), ("1. Rent", "1.1 Due")]


def test_styles_have_lists_too(load_one, build, document):
    """As programs write them that make documents."""
    document.add_paragraph("Press it.", style="List Number")
    document.add_paragraph("Wait.", style="List Number")
    document.add_paragraph("a lid", style="List Bullet")
    assert load_one("a.docx", build.saved(document)).text == "1. Press it.\n2. Wait.\n- a lid"


def test_a_list_that_no_part_describes_has_bullets(load_one, build, document):
    """And a paragraph that leaves its list has none."""
    add(document, "a lid", 0, name=999)
    add(document, "The end", 0, name=0)
    assert load_one("a.docx", build.saved(document)).text == "- a lid\n\nThe end"


NOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


def test_notes_follow_the_section_that_refers_to_them(load_one, build):
    """At the end of a document they would seem to be part of its last section."""
    document = docx.Document()
    document.add_heading("Rent", 1)
    paragraph = document.add_paragraph("It is due monthly.")
    mark = paragraph.add_run()
    mark.font.superscript = True
    mark._r.append(parse_xml(f'<w:footnoteReference {SPACE} w:id="2"/>'))
    document.add_paragraph("It may rise.")
    document.add_heading("Repairs", 1)
    notes = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>'
        for number, text in ((2, "On the third day."), (3, "Nobody refers to this."))
    )
    blob = f"<w:footnotes {SPACE}>{notes}</w:footnotes>".encode()
    part = docx.opc.part.Part(docx.opc.packuri.PackURI("/word/footnotes.xml"), "a/xml", blob)
    document.part.relate_to(part, NOTES)

    assert load_one("a.docx", build.saved(document)).text.split("\n\n") == [
        *("Rent", "It is due monthly.", "It may rise.", "On the third day.", "Repairs"),
        "Nobody refers to this.",
    ]


def test_cells_of_a_table_have_the_numbers_that_word_shows(load_one, build, document):
    """A column may only have numbers, which a cell that another one covers has none of."""
    table = document.add_table(4, 2)
    for place, text in enumerate(("No.", "Task", "", "Sand", "", "Oil", "", "Wax")):
        table.cell(place // 2, place % 2).text = text
    number = f'<w:pPr {SPACE}><w:numPr><w:ilvl w:val="0"/><w:numId w:val="70"/></w:numPr></w:pPr>'
    for row in (1, 2, 3):
        table.cell(row, 0).paragraphs[0]._p.append(parse_xml(number))
    for row, value in ((2, "restart"), (3, "continue")):
        merge = parse_xml(f'<w:vMerge {SPACE} w:val="{value}"/>')
        table.cell(row, 0)._tc.get_or_add_tcPr().append(merge)
    add(document, "Leave.", 0)

    text = load_one("a.docx", build.saved(document)).text
    assert text == "No. | Task\n1. | Sand\n2. | Oil\n2. | Wax\n3. Leave."
