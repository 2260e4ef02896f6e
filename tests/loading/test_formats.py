"""What each loader keeps of its format."""

import io
import json
import re
from datetime import date, datetime, time, timedelta
from email.message import EmailMessage
from email.mime.text import MIMEText

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from fpdf import FPDF
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from esrag.errors import ParsingError
from esrag.evidence.lines import lines
from esrag.loading import Skipped
from esrag.loading.pdf import without_hyphens
from esrag.loading.running_heads import without_running_lines
from esrag.records import Columns

RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def paths(document):
    return [section.path for section in document.sections]


def tables(document):
    return [document.text[table.start : table.end] for table in document.tables]


@pytest.mark.parametrize(
    ("encoding", "line"),
    [
        ("cp1252", "Begünstigter: 5 €, où êtes-vous à l’hôtel, el niño, Søren på båden"),
        ("cp1250", "Wpłata na konto, należność; Účet za elektřinu, částka k úhradě"),
        ("cp1251", "Счёт за электричество"),
    ],
)
def test_short_text_is_read_in_the_encoding_of_its_region(load_one, encoding, line):
    """Spreadsheets save CSV in the encoding of Windows, and a short one tells little."""
    assert load_one("a.txt", line.encode(encoding)).text == line


@pytest.mark.parametrize(
    "data",
    [
        "Žluťoučký kůň".encode(),
        "\ufeffŽluťoučký kůň".encode(),
        "Žluťoučký kůň".encode("utf-16"),
        "Žluťoučký kůň, a text in Latin letters".encode("utf-16-le"),
        "Žluťoučký kůň".encode("utf-32"),
    ],
)
def test_plain_text_is_read_in_its_encoding(load_one, data):
    """UTF-8, UTF-16 and UTF-32 are read with a byte order mark, UTF-8 and mostly Latin UTF-16
    without.
    """
    assert load_one("a.txt", data).text.startswith("Žluťoučký kůň")


def test_latin_1_is_guessed(load_one):
    """Bytes that are not UTF-8 are read as the encoding that makes words of them."""
    text = (
        "Die Straße über den Fluß führt zur Mühle; "
        "dort gibt es früh am Morgen schöne Äpfel und Käse. " * 3
    )
    assert load_one("a.txt", text.encode("latin-1")).text == text.strip()


def test_right_to_left_text_stays_as_it_is_stored(load_one):
    """Arabic is kept in logical order, its letters unchanged."""
    assert load_one("a.txt", "مرحبا بالعالم 2024").text == "مرحبا بالعالم 2024"


def test_markdown_headings_outside_code_are_sections(load_one, samples):
    """ATX and setext headings count, those in fenced code do not.

    Front matter gives title and metadata.
    """
    document = load_one(*samples["markdown"])
    assert document.title == "Guide"
    assert document.metadata == {"year": 2024}
    assert document.text.startswith("# Guide")
    assert paths(document) == [("Guide",), ("Guide", "Setup")]
    assert tables(document) == ["| a | b |\n|---|---|\n| 1 | 2 |"]


def test_markdown_with_broken_front_matter_is_kept_whole(load):
    """Front matter that is no YAML stays in the text and is reported.

    The title is the first heading.
    """
    (document,), (skipped,) = load(
        "a.md", "---\ntitle: [a\n---\n# The `real` [title](x.md) {#id}\n"
    )
    assert document.text.startswith("---\ntitle: [a")
    assert document.title == "The real title"
    assert skipped.where == "front matter"


def test_markdown_lists_and_rules_are_no_setext_headings(load_one):
    """A line of dashes below a list, a table or an empty line underlines nothing."""
    assert paths(load_one("a.md", "- item\n---\n\n---\n\n| a | b |\n|---|---|\n")) == []


def test_markdown_quotations_are_paragraphs(load_one):
    """They lose their marks, unless in code; a rule below one underlines nothing."""
    document = load_one("a.md", "It says:\n> [!NOTE]\n> Keep\n> it dry.\n---\n\n```\n> make\n```\n")
    assert document.text.split("\n") == [
        *("It says:", "", "", "Keep", "it dry.", "", "---", "", "```", "> make", "```")
    ]
    assert paths(document) == []


def test_rst_levels_follow_the_order_of_the_adornments(load_one):
    """The first adornment met is the outermost, with an overline it is another one.

    Short ones are none.
    """
    text = "=====\nTitle\n=====\n\nA\n===\n\nB\n---\n\nab\n--\n\nC\n===\n\nlong words\n---\n"
    found = paths(load_one("a.rst", text))
    assert found == [
        ("Title",),
        ("Title", "A"),
        ("Title", "A", "B"),
        ("Title", "A", "ab"),
        ("Title", "C"),
    ]


def test_a_peps_fields_are_metadata(load_one, samples):
    """The field list at the top gives the title and values that can be filtered by."""
    document = load_one(*samples["rst"])
    assert document.title == "Style Guide"
    assert document.metadata == {"pep": 8}


def test_rst_tables_are_spans(load_one):
    """Grid tables and simple tables are rows, with the headers that span their columns.

    Those with other cells that span stay as they are.
    """
    grid = "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+"
    simple = "  == ====\n  a  b\n  == ====\n  1  *2*\n     3\n  4  5\n  == ===="
    header = "+---+-------+\n|   | a+    |\n| n +---+---+\n|   | b | c |\n"
    headed = f"{header}+---+---+---+\n| 1 | 2 | 3 |\n+---+---+---+"
    spanned = "+---+---+\n| a | b |\n+===+===+\n| 1     |\n+---+---+"
    bare = "== ==\n1  2\n3  4\n== =="
    text = f"Text.\n\n{grid}\n\nText.\n\n{simple}\n\n{headed}\n\n{spanned}\n\nText.\n\n{bare}\n"
    assert tables(load_one("a.rst", text)) == [
        "a | b\n1 | 2 3",
        "a | b\n1 | 2 3\n4 | 5",
        "n | a+ b | a+ c\n1 | 2 | 3",
        spanned,
        bare,
    ]


def test_rst_directives_say_what_they_show(load_one):
    """A name stands before its description, notes and versions are words, targets are left out."""
    text = (
        ".. _size:\n\n.. program:: lamp\n\n.. option:: --size\n\n   how *big* it is,\n"
        "   in metres\n\n"
        ".. py:method:: burn(hours)\n   :noindex:\n\n   :param int hours: how long\n"
        "   :returns: nothing\n\n.. confval:: oil\n   :default: ``3``\n\n   Litres of oil.\n\n"
        ".. warning::\n\n   It is hot.\n\n.. versionchanged:: 2.1 It glows.\n\n"
        ".. option:: --parts\n\n   - a lid\n   - a wick\n"
    )
    assert load_one("a.rst", text).text == (
        "--size: how big it is,\n   in metres\n\n"
        "burn(hours)\n\n   hours: how long\n   Returns: nothing\n\n"
        "oil (default: 3): Litres of oil.\n\nWarning: It is hot.\n\n"
        "Changed in version 2.1: It glows.\n\n--parts\n\n   - a lid\n   - a wick"
    )


def test_directives_that_are_shown_as_code_stay(load_one):
    """A manual of the format itself keeps its examples."""
    code = "   .. _size:\n\n   .. note:: It is hot.\n\n      :param size: how big"
    text = f"Write this::\n\n{code}\n\n.. note:: Or this:\n\n.. code-block:: rst\n\n{code}\n\nEnd."

    found = load_one("a.rst", text).text
    assert found.count(code) == 2
    assert "\nNote: Or this:\n" in found


def test_text_with_many_directives_is_rst(load_one):
    """Manuals of some programs are named .txt; a few signs of the kind show nothing."""
    text = ".. option:: --size\n\n   how big it is\n\n"

    assert load_one("a.txt", text * 5).text.startswith("--size: how big it is")
    assert load_one("a.txt", text).text.startswith(".. option:: --size")


def test_html_loses_its_navigation_and_keeps_headings_and_tables(load_one, samples):
    """The main text is kept, with sections and tables."""
    document = load_one(*samples["html"])
    assert document.title == "Ducks"
    assert "Home" not in document.text
    assert paths(document) == [("Ducks",), ("Ducks", "Food")]
    assert tables(document) == ["Bird | Legs\nDuck | 2"]


def test_preformatted_pages_lose_nothing(load_one):
    """A page that is one <pre> keeps its words and its lines."""
    lines = [f"line {number} of   the memo" for number in range(200)]
    text = load_one("rfc.html", f"<html><body><pre>{chr(10).join(lines)}</pre></body></html>").text
    assert text == "\n".join(lines)


@pytest.mark.parametrize("before", ["", f"<p>{'The manual tells of lamps. ' * 20}</p>"])
def test_terms_stand_before_their_definitions(load_one, before):
    """So do several terms; a question, and a term without a definition in words, stand alone."""
    items = (
        "<dt>Lamp</dt><dd><p>A thing that <b>glows</b>.</p><p>It is hot.</p></dd>"
        "<dt>wick</dt><dt><code>w</code>:</dt><dd>what burns</dd><dt>Is it hot?</dt><dd>Yes.</dd>"
        "<dt>Parts</dt><dd><ul><li>a lid</li><li>a spout</li></ul></dd><dt>last</dt>"
    )
    text = load_one("a.html", f"<html><body>{before}<dl>{items}</dl><p>End.</p></body></html>").text

    assert text.removeprefix(re.sub("<[^>]*>", "", before).strip()).strip().split("\n\n") == [
        "Lamp: A thing that glows.",
        "It is hot.",
        "wick, w: what burns",
        "Is it hot?",
        "Yes.",
        "Parts\n- a lid\n- a spout",
        "last",
        "End.",
    ]


def test_headings_that_are_links_survive(load_one, build):
    """Pages whose headings are all links, which look like menus, keep them as sections."""
    parts = (
        f'<h2><a href="#{n}">{n}.</a> <a href="#{n}">Part {n}</a></h2><p>{build.words}</p>'
        for n in range(9)
    )
    document = load_one("a.html", f"<html><body>{''.join(parts)}</body></html>")
    assert paths(document) == [(f"{number}. Part {number}",) for number in range(9)]


def test_a_tiny_page_is_kept_whole_but_for_its_navigation(load_one):
    """There is too little text to tell what is around it."""
    page = (
        "<html><body><nav>Home</nav><h1>Lamp</h1><p>E27</p><ul><li>60 watts</li></ul>"
        "<p><a href='/shade'>Linen shade</a></p><footer>Imprint</footer></body></html>"
    )
    assert load_one("lamp.html", page).text == "Lamp\n\nE27\n- 60 watts\n\nLinen shade"


def test_html_is_read_in_its_declared_encoding_and_fetches_nothing(load_one):
    """A declared encoding is believed; scripts, frames and entities of other files are left out."""
    page = (
        '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html><head><meta '
        'charset="windows-1250"></head>'
    )
    page += (
        "<body><script>alert(1)</script><iframe src='http://localhost:1/'>no</iframe><p>kůň &x; "
        "and more</p></body>"
    )
    text = load_one("a.html", page.encode("windows-1250")).text
    assert "kůň" in text
    assert "alert" not in text
    assert "root:" not in text


def test_deeply_nested_html_is_no_crash(load):
    """Ten thousand nested elements are loaded or refused, without a RecursionError."""
    try:
        (document,), _ = load("a.html", "<div>" * 10_000 + "deep inside" + "</div>" * 10_000)
    except ParsingError:
        return
    assert "deep inside" in document.text


def test_pdf_pages_are_physical_and_outlines_are_sections(load_one, samples):
    """Pages count from 1, a bookmark whose title is on its page starts a section, properties give
    the title.
    """
    document = load_one(*samples["pdf"])
    assert document.title == "Paper on keys"
    assert [document.text[page.start : page.end].split("\n")[0] for page in document.pages] == [
        "One",
        "Two",
    ]
    assert paths(document) == [("One",), ("Two",)]


def test_marks_of_an_outline_need_neither_the_quotes_nor_the_numbers_of_the_page(load_one):
    """An outline has the quotes of a typewriter, and a first word may look like a number."""
    pdf = FPDF()
    pdf.set_font("Helvetica", size=11)
    for mark, line in (
        ("A keeper's `lamp'", "1.1 A keeper´s ´lamp´"),
        ("R commands", "2 R commands"),
    ):
        pdf.add_page()
        pdf.start_section(mark)
        pdf.cell(0, 8, line)
    document = load_one("a.pdf", bytes(pdf.output()))
    assert paths(document) == [("A keeper's `lamp'",), ("R commands",)]


def test_running_heads_and_page_numbers_go(load_one, build):
    """Lines at the edge of most pages go with their page numbers.

    The same words within a page stay.
    """
    inner = [
        [f"Part {n * n}", "Annual report", "and", "more", "and", f"the end of {n * n}"]
        for n in range(1, 6)
    ]
    pages = [["Annual report", *lines, f"page {n + 3}"] for n, lines in enumerate(inner)]
    document = load_one("a.pdf", build.pdf(pages))
    assert [document.text[page.start : page.end].split("\n") for page in document.pages] == inner


@pytest.mark.parametrize("head", ["Chapter {0}: {1} {2}", "CHAPTER {0}. {1} {0}.2. {1}"])
def test_heads_of_many_short_chapters_are_running_heads(head):
    """Each is on two pages, and they share their form: the page number, or the chapter's."""
    names = ["LIDS", "OIL", "WICKS", "GLASS", "FLAMES", "SMOKE"]
    bodies = [["x" * n + "y", f"{n * n} wicks", "z" * n] for n in range(1, 13)]
    pages = [
        [head.format(1 + n // 2, names[n // 2], n + 9), *body] for n, body in enumerate(bodies)
    ]
    assert without_running_lines(pages) == bodies


def test_a_line_of_several_words_with_the_page_number_is_a_running_head():
    """On two pages too: left ones may have another than right ones, or there are no others."""
    left, right = "{} Kettle 60, user manual", "Cleaning and descaling {}"
    heads = [(right, left)[n % 2].format(41 + n) for n in range(4)]
    pages = [[head, f"Do {n * n} things.", "end"] for n, head in enumerate(heads)]
    assert [page[0] for page in without_running_lines(pages)] == [page[1] for page in pages]
    pages = [[f"Fill in {n}.", f"Page {n} of 2"] for n in (1, 2)]
    assert without_running_lines(pages) == [["Fill in 1."], ["Fill in 2."]]
    pages = [[f"Exercise {n}", f"Draw {n * n} pots."] for n in (1, 2)]
    assert without_running_lines(pages) == pages


def test_numbered_headings_at_the_top_of_pages_are_no_running_heads():
    """Numbers that do not follow the pages make lines different."""
    pages = [[f"Section {number}", "text"] for number in (1, 5, 6, 9, 13)]
    assert [page[0] for page in without_running_lines(pages)] == [page[0] for page in pages]


def test_words_cut_at_line_ends_are_whole_again():
    """A cut word is joined if it occurs whole; names and pairs of known words keep their hyphen."""
    texts = [
        "encapsulation and a human that is readable",
        "encap\ufffesulation of FIPS\ufffe203 is human\uffferreadable",
    ]
    assert without_hyphens(texts)[1] == "encapsulation of FIPS-203 is humanrreadable"
    assert without_hyphens([texts[0], "human\ufffereadable"])[1] == "human-readable"


def test_a_pdf_table_stays_with_its_caption(load_one, build):
    """The caption, the header and the rows of numbers are one table; the prose below is
    not in it.
    """
    rows = [
        "Table 3. Sizes (in bytes) of keys",
        "encapsulation key ciphertext",
        "K-512 800 768",
        "K-768 1184 1088",
    ]
    document = load_one(
        "a.pdf", build.pdf([["As Table 3 shows, it is a matter of the sizes.", *rows, build.words]])
    )
    assert tables(document) == ["\n".join(rows)]


def test_scanned_encrypted_and_truncated_pdfs_say_so(load, build):
    """Each kind of PDF that cannot be read has its own line."""
    whole = build.pdf([["text"]])
    with pytest.raises(
        ParsingError, match=r"has no text on its 2 pages \(scanned\?\): run OCR first"
    ):
        load("a.pdf", build.pdf([[], []]))
    with pytest.raises(ParsingError, match="is encrypted: needs a password"):
        load("a.pdf", build.pdf([["secret"]], password="x"))
    with pytest.raises(ParsingError, match=r"is not a whole PDF|has no text"):
        load("a.pdf", whole[: len(whole) // 3])


def test_docx_keeps_paragraphs_and_tables_in_order(load_one, samples):
    """Headings are sections, tables rows, a nested table a part of its cell."""
    document = load_one(*samples["docx"])
    assert document.title == "Field guide"
    assert document.metadata == {"author": "A. Writer"}
    assert paths(document) == [("Birds",), ("Birds", "Food")]
    assert tables(document) == ["Bird | Legs\nDuck | 2 left, right"]
    assert (
        document.text.index("Ducks swim.")
        < document.text.index("Duck |")
        < document.text.index("Weeds")
    )


@pytest.mark.parametrize(("level", "sections"), [("1", ["Keys"]), ("", []), ("12", []), ("9", [])])
def test_the_outline_of_a_word_style_makes_headings(load_one, build, level, sections):
    """One of the nine levels does; anything else is body text, and the document is still read."""
    document = docx.Document()
    style = document.styles.add_style("Chapter", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
    style.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {WORD} w:val="{level}"/>'))
    document.add_paragraph("Keys", style="Chapter")
    document.add_paragraph("A key opens a lock.")

    loaded = load_one("a.docx", build.saved(document))
    assert [each.path[-1] for each in loaded.sections] == sections


def test_styles_inherit_the_level_of_a_heading_but_no_title(load_one, build):
    """However many styles lie between them."""
    document = docx.Document()
    for parent, name in (("Heading 1", "Part"), ("Part", "Annex"), ("Title", "Motto")):
        style = document.styles.add_style(name, docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = document.styles[parent]
        document.add_paragraph(f"{name} of keys", style=name)

    loaded = load_one("a.docx", build.saved(document))
    assert paths(loaded) == [("Part of keys",), ("Annex of keys",)]
    assert loaded.title == ""


@pytest.mark.parametrize(
    ("points", "title"),
    [([12, 24, 24, 12], "Lamps of the Tower"), ([12, 14, 14, 12], ""), ([24, 24, 24, 24], "")],
)
def test_a_cover_of_large_letters_is_the_title(load_one, build, points, title):
    """If the letters are large, and not all of them."""
    document = docx.Document()
    for text, size in zip(("Ministry", "Lamps of", "the Tower", "They burn."), points, strict=True):
        document.add_paragraph().add_run(text).font.size = docx.shared.Pt(size)
    assert title == load_one("a.docx", build.saved(document)).title


def run(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


def power(base, upper):
    return f"<m:sSup><m:e>{run(base)}</m:e><m:sup>{run(upper)}</m:sup></m:sSup>"


def fraction(above, below):
    return f"<m:f><m:num>{run(above)}</m:num><m:den>{run(below)}</m:den></m:f>"


def root(degree, inner):
    return f"<m:rad><m:radPr/><m:deg>{degree}</m:deg><m:e>{run(inner)}</m:e></m:rad>"


def total(limits, inner):
    sign = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
    return f"<m:nary>{sign}{limits}<m:e>{run(inner)}</m:e></m:nary>"


@pytest.mark.parametrize(
    ("equation", "text"),
    [
        ((run("x="), power("a", "2"), fraction("b+c", "4")), "x=a^2(b+c)/4"),
        ((fraction("b", "4"), root("", "y"), total("", "z")), "b/4 √(y)∑z"),
        ((root(run("3"), "x"), run("+"), root(run("n"), "y")), "∛(x)+n√(y)"),
        ((run("2"), fraction("1", "n"), run("x"), run("y")), "2 1/n xy"),
        ((total(f"<m:sub>{run('i=1')}</m:sub><m:sup>{run('n')}</m:sup>", "x"),), "∑_(i=1)^n x"),
        ((f"<m:d><m:e>{run('a')}</m:e><m:e>{run('b')}</m:e></m:d>",), "(a|b)"),
        (
            (
                '<m:d><m:dPr><m:begChr m:val="["/><m:sepChr m:val=","/><m:endChr m:val="["/>',
                f"</m:dPr><m:e>{run('a')}</m:e><m:e>{run('b')}</m:e></m:d>",
            ),
            "[a,b[",
        ),
    ],
)
def test_the_equations_of_a_word_document_are_text(load_one, build, equation, text):
    """On one line, and not what they look like: each part keeps its index, limits and brackets."""
    document = docx.Document()
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    paragraph = document.add_paragraph("The sum is ")
    paragraph._p.append(parse_xml(f"<m:oMath {math}>{''.join(equation)}</m:oMath>"))
    assert load_one("a.docx", build.saved(document)).text == f"The sum is {text}"


def test_docx_keeps_insertions_and_controls_and_leaves_deletions_out(load_one, build):
    """Tracked insertions, content controls and text boxes are text, tracked deletions are not."""
    document = docx.Document()
    body = document.element.body
    run = "<w:r><w:t>{}</w:t></w:r>"
    deleted = "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
    for inner in (
        f"<w:p {WORD}><w:ins>{run.format('inserted')}</w:ins>{deleted}</w:p>",
        f"<w:sdt {WORD}><w:sdtContent><w:p>{run.format('controlled')}</w:p></w:sdtContent></w:sdt>",
        (
            f"<w:p {WORD}><w:r><w:txbxContent><w:p>{run.format('boxed')}</w:p>"
            "</w:txbxContent></w:r></w:p>"
        ),
    ):
        body.insert(len(body) - 1, parse_xml(inner))
    assert load_one("a.docx", build.saved(document)).text.split() == [
        "inserted",
        "controlled",
        "boxed",
    ]


def test_symbols_and_checkboxes_of_word_are_characters(load_one, build):
    """A tick in a table and a box of a form are no text of the file, but a reader sees them."""
    document = docx.Document()
    table = document.add_table(2, 2)
    for place, text in enumerate(("Task", "Done", "Paint", "")):
        table.cell(place // 2, place % 2).text = text
    tick = f'<w:r {WORD}><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'
    table.cell(1, 1).paragraphs[0]._p.append(parse_xml(tick))

    member = document.add_paragraph("Member: ")
    for text, state in (("yes ", "<w:checked/>"), ("no", '<w:default w:val="0"/>')):
        box = f"<w:ffData><w:checkBox>{state}</w:checkBox></w:ffData>"
        begin = f'<w:r {WORD}><w:fldChar w:fldCharType="begin">{box}</w:fldChar></w:r>'
        member._p.append(parse_xml(begin))
        member.add_run(f" {text}")

    text = load_one("a.docx", build.saved(document)).text
    assert text == "Task | Done\nPaint | ✓\n\nMember: ☑ yes ☐ no"


def test_csv_rows_with_text_are_documents(load_one, load, samples):
    """A text column makes each row a document with title, metadata and an id of its own."""
    first, second = load(*samples["csv"])[0]
    assert (first.doc_id, first.title, first.text, first.metadata) == (
        "d#1",
        "One",
        "First row.\n\nyear: 2024",
        {"year": 2024},
    )
    assert second.doc_id == "d#1~2"


def test_a_table_of_figures_may_have_no_header(load_one):
    """Its first row is data, and its columns have numbers."""
    text = load_one("a.csv", "Kiel;5.1;north\nJena;4;east\nUlm;3;south\n").text
    assert text.splitlines()[:2] == ["column 1 | column 2 | column 3", "Kiel | 5.1 | north"]
    text = load_one("a.csv", "City;2023;Side\nJena;4;east\nUlm;3;south\n").text
    assert text.splitlines()[:2] == ["City | 2023 | Side", "Jena | 4 | east"]


def test_csv_columns_of_long_cells_are_text(load, build):
    """Without a telling name the column of sentences is the text, followed by the others."""
    documents, _ = load("a.csv", f'code,remarks\nx,"{build.words}"\ny,"{build.words}"\n')
    assert [(d.doc_id, d.text, d.metadata) for d in documents][1] == (
        "d#2",
        f"{build.words}\n\ncode: y",
        {"code": "y"},
    )


def test_headings_of_word_may_be_bold_or_have_an_outline(load_one, build):
    """Bold paragraphs are headings if there are no others, and if they do not repeat."""
    document = docx.Document()
    for heading in ("Opening hours", "Returns", "Note", "Note", "Note"):
        document.add_paragraph().add_run(heading).bold = True
        document.add_paragraph(f"{build.words} {build.words}")
    partly = document.add_paragraph("Partly ")
    partly.add_run("bold").bold = True
    assert paths(load_one("a.docx", build.saved(document))) == [("Opening hours",), ("Returns",)]

    outline = parse_xml(f'<w:outlineLvl {WORD} w:val="1"/>')
    partly._p.get_or_add_pPr().append(outline)
    assert paths(load_one("a.docx", build.saved(document))) == [("Partly bold",)]


def test_a_slide_has_its_own_section_and_the_values_of_its_chart(load_one, build):
    """Without a title the topmost text is its heading."""
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    first.shapes.title.text = "Prices"
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    data.add_series("Revenue", (5.5, None))
    kind, box = XL_CHART_TYPE.COLUMN_CLUSTERED, (Inches(1), Inches(2), Inches(5), Inches(3))
    chart = first.shapes.add_chart(kind, *box, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Revenue in EUR million"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    for text, top in (("They live in Kiel.", 2), ("Staff", 1)):
        shape = second.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1))
        shape.text_frame.text = text

    document = load_one("a.pptx", build.saved(deck))
    assert paths(document) == [("Prices",), ("Staff",)]
    assert document.text.splitlines() == [
        "Prices", "", "Revenue in EUR million", "", " | Revenue", "2023 | 5.5", "2024", "",
        "Staff", "", "They live in Kiel.",
    ]  # fmt: skip


def test_a_row_is_searched_by_all_of_its_cells(load):
    """Those of columns with the same name are told together, and those of one without a text.

    An address is left to the metadata.
    """
    head = "name,phone,note,note,page,description"
    rows = "Ann,301,new,kind,https://a.example/ann,Leads the team.\nBob,302,,,,\n,,,,,\n"
    documents, skipped = load("a.csv", f"{head}\n{rows}")
    assert [(d.title, d.text) for d in documents] == [
        ("Ann", "Leads the team.\n\nphone: 301\nnote: new; kind"),
        ("Bob", "phone: 302"),
    ]
    assert not skipped


def test_a_named_column_is_all_of_the_text(load):
    """What the settings name is what they want."""
    documents, _ = load("a.csv", "a,b\nIt rains.,1\n", columns=Columns(text="a"))
    assert [(d.text, d.metadata) for d in documents] == [("It rains.", {"b": 1})]


def test_two_columns_of_one_name_are_no_header_of_two_rows(load_one):
    """Unless they are above other names: a first row of data is a row."""
    text = load_one("a.csv", "Key,Note,Note\nA,lid,tap\nB,cup,pan\nC,jug,mug\n").text
    assert text.splitlines()[:2] == ["Key | Note | Note", "A | lid | tap"]
    text = load_one("a.csv", ",In,In\nKey,May,June\nA,lid,tap\nB,cup,pan\n").text
    assert text.splitlines()[:2] == ["Key | In May | In June", "A | lid | tap"]


def test_empty_cells_at_the_end_of_a_row_are_no_fault(load_one):
    """Nor is the line in which Excel names the delimiter."""
    text = load_one("a.csv", "sep=;\nCity;Side;\nKiel;north;;\nUlm;south\nJena;east;\n").text
    assert text.splitlines() == ["City | Side", "Kiel | north", "Ulm | south", "Jena | east"]


def test_nested_fields_are_text(load):
    """Of a line of JSON."""
    line = json.dumps({"question": "How long?", "answers": [{"text": "Two years"}]})
    assert [(d.title, d.text) for d in load("a.jsonl", f"{line}\n")[0]] == [
        ("How long?", "How long?\nTwo years")
    ]
    line = json.dumps({"title": "Oil", "answer": {"text": "Use it.", "steps": ["Pour", "Wait"]}})
    assert [d.text for d in load("a.jsonl", f"{line}\n")[0]] == ["Use it.\nPour\nWait"]


def test_a_list_of_objects_in_json_is_read_as_lines_are(load):
    """With its escapes decoded; other JSON is a text."""
    faq = json.dumps([{"question": "Wo ist Zürich?", "answer": "Im Süden."}, {"n": 1}])
    documents, skipped = load("faq.json", faq)
    assert [(d.doc_id, d.title, d.text) for d in documents] == [
        ("d#1", "Wo ist Zürich?", "Im Süden.")
    ]
    assert [part.where for part in skipped] == ["row 2"]
    assert [d.text for d in load("a.json", '{"n": [1, 2]}')[0]] == ['{"n": [1, 2]}']


def test_percents_and_units_of_a_sheet_are_shown(load_one, build):
    """As a reader sees them: a value of 0.075 is 7.5 %."""
    book = openpyxl.Workbook()
    for row, (value, shown) in enumerate(
        [
            (1e20, "0%"),
            (0.075, "0.0%"),
            (1200, '#,##0 "EUR"'),
            (1067, "00000"),
            (-0.5, "#,##0.00"),
            (timedelta(hours=37), "[h]:mm"),
            (timedelta(seconds=90), "[m]:ss"),
            (time(5, 45), "hh:mm"),
            (datetime(2025, 6, 30, 5, 45), "yyyy-mm-dd hh:mm"),  # noqa: DTZ001 -- as in a sheet
        ],
        start=1,
    ):
        book.active.cell(row, 1, "name")
        book.active.cell(row, 2, value).number_format = shown
    text = load_one("a.xlsx", build.saved(book)).text
    lines = (line.partition(" | ")[2] for line in text.splitlines())
    assert [*filter(None, lines)] == [
        *("1e+20", "7.5%", "1,200 EUR", "01067", "-0.50", "37:00", "0:01:30", "05:45"),
        "2025-06-30 05:45",
    ]  # fmt: skip


def test_a_message_has_all_that_it_shows(load):
    """Each of its texts, the longer of two alternatives if the first says nothing, and forwards."""
    inner = EmailMessage()
    inner["Subject"] = "Oil"
    inner.set_content("It costs 99 euros.")
    message = EmailMessage()
    message["From"] = "ada@a.example"
    message["Subject"] = "Fwd"
    message.set_content("See HTML.")
    message.add_alternative(f"<p>{'The lamp burns oil. ' * 10}</p>", subtype="html")
    message.make_mixed()
    message.add_attachment("Kept apart.", filename="note.txt")
    message.add_attachment(inner)
    message.attach(MIMEText("Bye for now."))

    (document,), skipped = load("a.eml", message.as_bytes())
    blocks = document.text.split("\n\n")
    assert blocks[1].startswith("The lamp burns oil.")
    assert blocks[2:] == [
        "Subject: Oil", "It costs 99 euros.", "Bye for now.", "Attachment: note.txt",
    ]  # fmt: skip
    assert [part.where for part in skipped] == ["attachment note.txt"]


def test_an_invitation_says_when_and_where(load):
    """Its text alone often does not; what the calendar repeats of the text is left out."""
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nDTSTART:16010101T000000\r\nEND:VTIMEZONE\r\n"
        "BEGIN:VEVENT\r\nDTSTART;TZID=Europe/Berlin:20250310T140000\r\nSUMMARY:Budget re\r\n view"
        "\r\nLOCATION:Room 4\\, north\r\nDESCRIPTION:Bring figures."
        "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    message = EmailMessage()
    message["From"] = "ada@a.example"
    message.set_content("Please come.")
    message.add_alternative(event, subtype="calendar")
    (document,), _ = load("a.eml", message.as_bytes())
    shown = "Event: Budget review\nBegins: 2025-03-10 14:00\nPlace: Room 4, north"
    assert document.text.endswith(f"Please come.\n\n{shown}")

    alone = EmailMessage()
    alone.set_content(event, subtype="calendar")
    (document,), _ = load("a.eml", alone.as_bytes())
    assert document.text.endswith(f"{shown}\nDescription: Bring figures.")


MARKED = """<h1 align="center">
  Kettle
</h1>

See [the guide][g], a[i][j] and [G]. [![CI](a.svg)](https://a.example)

## Run it { #run .x }

1. Type

    ```sh
    run *all* <b>
    ```

[WARNING]: stop

f(x){ return } It\\. ![Lid](a.png){ width=300 } [X](https://a.example/X_(y)) 'boils'

[g]: https://a.example "Guide"
"""


def test_marks_of_markdown_that_readers_do_not_see(load_one):
    """HTML's headings, references, attributes, fences below items, and escapes."""
    document = load_one("a.md", MARKED)
    assert (document.title, [s.path for s in document.sections][-1]) == (
        "Kettle",
        ("Kettle", "Run it"),
    )
    assert "See the guide, a[i][j] and G. CI" in document.text
    assert "    run *all* <b>" in document.text
    assert document.text.rstrip().endswith("[WARNING]: stop\n\nf(x){ return } It. Lid X 'boils'")


def test_the_question_of_a_csv_is_the_title_of_its_answer(load):
    """So that it is searched; a column of titles goes before."""
    documents, _ = load("a.csv", "question,answer,topic\nMay I swim?,In July.,pool\n")
    assert [(d.title, d.text, d.metadata) for d in documents] == [
        ("May I swim?", "In July.\n\ntopic: pool", {"topic": "pool"})
    ]
    documents, _ = load("a.csv", "question,answer,title\nMay I swim?,In July.,Pool\n")
    assert [(d.title, d.metadata) for d in documents] == [("Pool", {"question": "May I swim?"})]


def test_questions_and_answers_of_a_csv_need_no_header(load):
    """The first row is a question with its answer, as all are."""
    rows = '"May I swim?","In July."\n"Is it deep?","No, 1.2 metres."\n'
    documents, _ = load("a.csv", rows)
    assert [(d.title, d.text) for d in documents] == [
        ("May I swim?", "In July."),
        ("Is it deep?", "No, 1.2 metres."),
    ]


def test_cells_of_a_csv_may_begin_with_blanks(load_one):
    """A quote after blanks opens a cell."""
    text = load_one("a.csv", 'Name, Fee, Until\n"Adult", "12,50", "31 May"\n').text
    assert text == "Name | Fee | Until\nAdult | 12,50 | 31 May"


def test_csv_without_text_is_one_table(load_one, samples):
    """Short cells give one document, whose rows begin with what they are called by."""
    document = load_one(*samples["tsv"])
    assert document.text == "port | metres\nBrest | 6.9\nHull | 6.2"
    text = load_one("a.csv", "no,name,price\nA-1,Saw,9.50\nA-2,File,4.10\n").text
    assert text == "name | no | price\nSaw | A-1 | 9.50\nFile | A-2 | 4.10"
    assert tables(document) == [document.text]


def test_broken_csv_rows_do_not_lose_the_good_ones(load):
    """A row with too many cells and a quote that never closes are reported by line.

    The rows around them stay.
    """
    text = 'id,text\n1,one\n2,two,too,many\n3,"never closed\n4,four\n5,"five\nlines"\n6\n7, \n'
    documents, skipped = load("a.csv", text)
    assert [(document.doc_id, document.text) for document in documents] == [
        ("d#1", "one"),
        ("d#4", "four"),
        ("d#5", "five\nlines"),
    ]
    assert skipped == (
        Skipped("line 3", "has 4 cells, the header has 2"),
        Skipped("line 4", "has a quote that is never closed"),
        Skipped("line 8", "has 1 cell, the header has 2"),
        Skipped("line 9", "holds no text"),
    )


def test_jsonl_lines_are_documents(load):
    """Text, title and id by their names, other scalars as metadata.

    Broken lines are reported by number.
    """
    good = {
        "_id": 7,
        "title": "One",
        "text": "First.",
        "metadata": {"year": 2024, "tags": []},
        "draft": True,
    }
    lines = [
        json.dumps(good),
        "{broken",
        "[1]",
        "",
        json.dumps({"q": "no text", "a": "field"}),
        '{"text": ""}',
    ]
    (first, second), skipped = load("a.jsonl", "\n".join(lines))
    assert (first.doc_id, first.title, first.text) == ("d#7", "One", "First.")
    assert first.metadata == {"year": 2024, "draft": True}
    assert (second.doc_id, second.text) == ("d#5", "no text\nfield")
    assert [part.where for part in skipped] == ["line 2", "line 3", "row 6"]


def test_mail_has_headers_body_and_named_attachments(load, samples):
    """The plain part is the text; an attachment is named and reported."""
    (document,), skipped = load(*samples["eml"])
    assert document.title == "Lunch"
    assert document.metadata["from"] == "a@example.org"
    assert "At noon — in the café." in document.text
    assert "At one" not in document.text
    assert document.text.endswith("Attachment: menu.pdf")
    assert skipped == (Skipped("attachment menu.pdf", "attachments are not read"),)


def test_lines_of_an_earlier_message_are_read_without_their_marks(load):
    """A sentence goes on over them."""
    quoted = "> I can't switch\n> the alarms off.\n> > Why?\n"
    head = "From: a@example.com\nSubject: Alarms\n"
    (document,), _ = load("a.eml", f"{head}\nSee below.\n\n{quoted}")
    assert document.text.endswith("See below.\n\nI can't switch\nthe alarms off.\nWhy?")


@pytest.mark.parametrize(
    ("charset", "page"),
    [
        ("windows-1251", "<p>Привет, цена 20 рублей.</p>"),
        ("iso-8859-2", "<p>Cena: 5 zł, żółty kolor.</p>"),
        ("utf-8", '<html><head><meta charset="iso-8859-1"></head><body>Größe: 5 €</body></html>'),
    ],
)
def test_the_page_of_a_message_is_in_the_charset_of_its_header(load, charset, page):
    """A mail program may leave another one in the page, or none."""
    head = f"From: a@b\nMIME-Version: 1.0\nContent-Type: text/html; charset={charset}\n\n"
    (document,), _ = load("a.eml", head.encode() + page.encode(charset))
    assert document.text.endswith(re.sub("<.*?>", "", page))


@pytest.mark.parametrize(
    "headers",
    [
        "From: a@b\nContent-Type: text/plain; charset=unknown-9\n",
        "From: =?utf-8?q?=ff=fe?= <a@b\nTo: ,,<>\nDate: never\n",
        "From: a@b\nContent-Transfer-Encoding: base64\nContent-Type: text/plain\n",
        "From: a@b\nContent-Type: multipart/mixed\n",
        "From: a@b\nSubject: =?x?y?z?=\nContent-Type: ;;;\n",
    ],
)
def test_mail_that_breaks_the_rules_is_still_read(load, headers):
    """Unknown encodings, broken addresses and missing boundaries lose no message."""
    (document,), _ = load("a.eml", f"{headers}MIME-Version: 1.0\n\nGood day.\n")
    assert document.text.startswith("From:")


def test_slides_are_pages_and_sections(load_one, samples):
    """A slide's title, table and notes are on its page."""
    document = load_one(*samples["pptx"])
    assert paths(document) == [("Results",), ("Outlook",)]
    assert tables(document) == ["Year | Sales\n2024 | 812"]
    first = document.pages[0]
    assert document.text[first.start : first.end].endswith("Say that sales grew.")


def test_sheets_are_pages_sections_and_tables(load_one, samples):
    """Each sheet's rows are lines under its name."""
    document = load_one(*samples["xlsx"])
    assert document.text == "Sales\n\nYear | Amount\n2024 | 12\n\nCosts\n\nRent | 0.5"
    assert paths(document) == [("Sales",), ("Costs",)]
    assert tables(document) == ["Year | Amount\n2024 | 12", "Rent | 0.5"]


def test_a_sheet_that_declares_a_million_columns_is_quick(load_one, build):
    """The declared size of a sheet is not believed."""
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B100000"] = "first", "last"
    assert load_one("a.xlsx", build.saved(book)).text == "Sheet\n\nfirst\n | last"


def test_a_book_is_read_in_the_order_of_its_spine(load, samples):
    """Chapters follow the spine, not the manifest; a missing one is reported."""
    (document,), skipped = load(*samples["epub"])
    assert document.title == "Two Chapters"
    assert paths(document) == [("one",), ("two",)]
    assert skipped == (Skipped("book/gone.xhtml", "is missing in the archive"),)


def test_odt_has_headings_lists_tables_and_notes(load_one, samples):
    """The elements for spaces become text, and a note follows its section."""
    document = load_one(*samples["odt"])
    assert paths(document) == [("Tides",), ("Tides", "Ports")]
    assert "High  water.\n- Spring\n\nTwice a day.\n\nPorts" in document.text
    assert tables(document) == ["Port | Metres\nBrest | 6.9"]


ODT = "".join(
    (
        "<office:document-content",
        *(
            f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
            for name in ("office", "text", "table", "style", "drawing", "svg-compatible")
        ),
        "><office:body><office:text>{}</office:text></office:body></office:document-content>",
    )
)


def test_items_of_odt_keep_their_paragraphs_and_levels(load_one, build):
    """A second paragraph of an item has no bullet; a list in an item is indented."""
    item = "<text:list><text:list-item><text:p>{}</text:p>{}</text:list-item></text:list>"
    items = item.format("Ebb", f"<text:p>It falls.</text:p>{item.format('Deep', '')}")
    content = ODT.format(f"<text:p>Tides are two.</text:p>{items}<text:p>So it is.</text:p>")
    text = load_one("a.odt", build.zip({"content.xml": content})).text
    assert text == "Tides are two.\n- Ebb\nIt falls.\n  - Deep\n\nSo it is."


LISTS = """<text:list-style style:name="L1">
 <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
 <text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>
</text:list-style>
<text:outline-style>
 <text:outline-level-style text:level="1" style:num-format="1"/>
 <text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>
</text:outline-style>
<style:style style:name="Bare" style:list-style-name=""/>"""


def test_items_and_headings_of_odt_have_the_numbers_that_programs_show(load_one, build):
    """A list begins anew, unless it continues another one; a heading may have no number."""
    item = "<text:list-item{}><text:p>{}</text:p>{}</text:list-item>".format
    listed = '<text:list text:style-name="L1" {}>{}</text:list>'.format
    heading = '<text:h text:outline-level="{}" text:style-name="{}">{}</text:h>'.format
    inner = f"<text:list>{item('', 'in cash', '')}{item('', 'by card', '')}</text:list>"
    content = ODT.format(
        LISTS
        + heading(1, "", "Term")
        + heading(1, "", "Rent")
        + heading(2, "", "Amount")
        + listed('xml:id="one"', item("", "Sign", "") + item("", "Pay", inner))
        + listed("", item("", "Read", ""))
        + listed('text:continue-list="one"', item("", "Move in", ""))
        + listed('text:continue-numbering="true"', item(' text:start-value="7"', "Leave", ""))
        + heading(1, "Bare", "Annex")
    )
    text = load_one("a.odt", build.zip({"content.xml": content})).text
    assert [line for line in text.split("\n") if line] == [
        *("1 Term", "2 Rent", "2.1 Amount", "1. Sign", "2. Pay", "  a) in cash", "  b) by card"),
        *("1. Read", "3. Move in", "7. Leave", "Annex"),
    ]


def test_notes_and_descriptions_of_pictures_do_not_interrupt_odt(load_one, build):
    """Notes follow the section, and a reader does not see the descriptions."""
    note = (
        "<text:note><text:note-citation>2</text:note-citation><text:note-body>{}</text:note-body>"
    )
    note = f"{note.format('<text:p>Children pay half.</text:p>')}</text:note>"
    picture = "<svg-compatible:title>Cat</svg-compatible:title><svg-compatible:desc>A cat"
    picture = f"<drawing:frame>{picture} on a wall</svg-compatible:desc></drawing:frame>"
    fees = f"<text:p>{picture}The fee of 40 euros{note} is due in May.</text:p>"
    content = ODT.format(f"<text:h>Fees{note}</text:h>{fees}<text:h>Hours</text:h>")
    document = load_one("a.odt", build.zip({"content.xml": content}))
    assert paths(document) == [("Fees",), ("Hours",)]
    assert document.text.split("\n\n") == [
        *("Fees", "The fee of 40 euros is due in May.", "Children pay half.", "Children pay half."),
        "Hours",
    ]


def test_covered_cells_of_odt_have_the_text_above_or_before_them(load_one, build):
    """A cell may cover several rows and columns."""
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    rows = (
        cell("", "Port") + cell(' table:number-columns-spanned="2"', "Metres"),
        cell(' table:number-rows-spanned="2"', "Kiel") + cell("", "5") + cell("", "3"),
        "<table:covered-table-cell/>" + cell("", "6") + cell("", "2"),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    content = ODT.format(f"<table:table>{table}</table:table>")
    document = load_one("a.odt", build.zip({"content.xml": content}))
    assert tables(document) == ["Port | Metres | Metres\nKiel | 5 | 3\nKiel | 6 | 2"]


def test_encrypted_odt_says_so(load, build):
    """A manifest that speaks of encryption is a password, not a broken file."""
    members = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": "<encryption-data/>",
    }
    with pytest.raises(ParsingError, match="is encrypted"):
        load("a.odt", build.zip(members))


def test_entities_in_office_files_are_not_resolved(load, build):
    """An entity that names a file, or that grows without end, brings nothing in."""
    bomb = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "&a;&a;">]>'
    content = f"""<?xml version="1.0"?>{bomb}<d
      xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
      xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>
      <text:p>before &b; after</text:p></office:text></office:body></d>"""
    members = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    try:
        (document,), _ = load("a.odt", build.zip(members))
    except ParsingError:
        return
    assert "root:" not in document.text


def test_zip_bombs_are_refused_before_they_are_unpacked(load, build):
    """An archive that unpacks to far more than it holds is refused by its declared sizes."""
    members = {"mimetype": b"x", "word/document.xml": bytes(80 * 2**20)}
    with pytest.raises(ParsingError, match="unpacks to 80 MiB from"):
        load("a.docx", build.zip(members))


@pytest.mark.parametrize("kind", ["docx", "epub", "odt", "pptx", "xlsx"])
def test_truncated_archives_say_so(load, samples, kind):
    """Half of an archive is refused with a reason."""
    name, data = samples[kind]
    with pytest.raises(ParsingError, match="is not a whole zip archive"):
        load(name, data[: len(data) // 2])


def test_password_protected_office_files_say_so(load):
    """The container that Office encrypts into is named for what it is."""
    with pytest.raises(ParsingError, match="encrypted or old binary Office file"):
        load("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))


def test_a_text_that_is_named_pdf_is_read_as_text(load_one):
    """The bytes decide, not the name."""
    assert load_one("a.pdf", "Only a note.").kind == "plain"


@pytest.mark.parametrize(
    ("data", "message"), [("", "is empty"), (" \n\t", "holds no text"), ("long", "holds 4 char")]
)
def test_empty_blank_and_too_long_texts_say_so(load, data, message):
    """There is no document without text, and none that is longer than the setting allows."""
    with pytest.raises(ParsingError, match=message):
        load("a.txt", data, max_characters=3)


def test_xlsx_dates_are_iso(load_one, build):
    """Dates are written as dates, without a midnight."""
    from datetime import datetime

    book = openpyxl.Workbook()
    book.active.append([datetime(2024, 2, 3), "x"])  # noqa: DTZ001 -- sheets know no zones
    file = io.BytesIO(build.saved(book))
    assert "2024-02-03 | x" in load_one("a.xlsx", file.getvalue()).text


def test_tables_on_one_sheet_are_apart(load_one, build):
    """Side by side or below one another; a title above holds for both."""
    book = openpyxl.Workbook()
    for row in (
        ["Budget, thousands of euros"],
        ["Income", 2024, None, "Spending", 2024],
        ["Fares", 12, None, "Fuel", 7],
        ["Total", 12, None, "Total", 7],
        ["", " "],  # looks empty
        ["Shift", "From", "Until"],
        ["Early", "dawn", "noon"],
    ):
        book.active.append(row)
    assert tables(load_one("a.xlsx", build.saved(book))) == [
        "Budget, thousands of euros\nIncome | 2024\nFares | 12\nTotal | 12",
        "Budget, thousands of euros\nSpending | 2024\nFuel | 7\nTotal | 7",
        "Shift | From | Until\nEarly | dawn | noon",
    ]


def test_titles_above_the_columns_of_a_table_stand_before_it(load, load_one):
    """They are no names; the lines below keep their numbers."""
    titles = "Lost property 2025,,\nKept at the pier for 60 days\n,,\n"
    document = load_one("a.csv", f"{titles}Tag,Item,Place\nLP-1,umbrella,lounge\n")
    assert (document.title, document.text.split("\n\n")) == (
        "Lost property 2025",
        [
            *("Lost property 2025", "Kept at the pier for 60 days"),
            "Tag | Item | Place\nLP-1 | umbrella | lounge",
        ],
    )
    _, skipped = load("a.csv", f"{titles}Tag,Item,text\nLP-1,umbrella,It is black.\nLP-2,hat\n")
    assert [part.where for part in skipped] == ["line 1", "line 2", "line 6"]


def test_pairs_above_a_table_and_an_empty_line_are_no_header(load_one):
    """Banks write the account and the period so; a table of two columns stays one."""
    account = "Account:;DE12 3456;;\nBalance:;1.234,56 EUR;;\n"
    table = "Day;Payee;Purpose;EUR\n2.1.2025;Power Ltd;Power;-89,00\n3.1.2025;Acme;Wages;2.500\n"
    document = load_one("a.csv", f"{account}\n{table}")
    assert document.text.startswith("Account: DE12 3456\n\nBalance: 1.234,56 EUR\n\nDay | Payee")
    assert document.text.endswith("3.1.2025 | Acme | Wages | 2.500")
    assert (
        load_one("a.csv", "Name;EUR\nRent;5\n\nFuel;6\n").text == "Name | EUR\nRent | 5\nFuel | 6"
    )


def test_paragraphs_of_a_slide_are_items(load_one, build):
    """As PowerPoint shows them: with bullets, in levels."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Agenda"
    frame = slide.placeholders[1].text_frame
    frame.text = "Welcome"
    for text, level in (("The year", 0), ("traffic", 1)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    assert load_one("a.pptx", build.saved(deck)).text == (
        "Agenda\n- Welcome\n- The year\n  - traffic"
    )


@pytest.mark.parametrize(
    ("shown", "text"),
    [("0.0%", "25.4%"), ("General", "0.254"), ('"€"#,##0.00', "€0.254"), ('0,,"M"', "0.254")],
)
def test_values_of_a_chart_have_the_format_of_its_numbers(load_one, build, shown, text):
    """And the days of its axis are dates."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData(number_format=shown)
    data.categories = [date(2024, 1, 1), date(2024, 2, 1)]
    data.add_series("Share", (0.254, None))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, Inches(4), Inches(3), data)
    assert tables(load_one("a.pptx", build.saved(deck))) == [
        f" | Share\n2024-01-01 | {text}\n2024-02-01"
    ]


def add_diagram(deck, texts, parents):
    """Add SmartArt with a text for each parent, by number from 1, to a deck's last slide."""
    spaces = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    spaces += 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    points = '<dgm:pt modelId="0" type="doc"/>'
    lines = '<dgm:cxn srcId="1" destId="0" srcOrd="0"/>'  # in a circle
    for number, (text, parent) in enumerate(zip(texts, parents, strict=True), start=1):
        said = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>"
        points += (
            f'<dgm:pt modelId="{number}">{said}</dgm:pt><dgm:pt modelId="p{number}" type="pres"/>'
        )
        lines += f'<dgm:cxn srcId="{parent}" destId="{number}" srcOrd="{number}"/>'
        lines += f'<dgm:cxn type="presOf" srcId="{number}" destId="p{number}" srcOrd="0"/>'
    data = f"<dgm:dataModel {spaces}>{points}{lines}</dgm:dataModel>".encode()

    slide, kind = deck.slides[len(deck.slides) - 1], f"{RELATED}/diagramData"
    part = pptx.opc.package.Part(
        pptx.opc.packuri.PackURI("/ppt/diagrams/data1.xml"),
        "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
        deck.part.package,
        data,
    )
    frame = slide.shapes.add_table(1, 1, 0, 0, 100, 100)._element
    frame.graphic.graphicData.clear()
    frame.graphic.graphicData.set("uri", "http://schemas.openxmlformats.org/drawingml/2006/diagram")
    own = f'xmlns:r="{RELATED}" r:dm="{slide.part.relate_to(part, kind)}"'
    frame.graphic.graphicData.append(parse_xml(f"<dgm:relIds {spaces} {own}/>"))
    return frame


def test_the_texts_of_a_diagram_on_a_slide_are_items(load_one, build):
    """In the levels of SmartArt; none of a hidden one."""
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Who we are"
    frame = add_diagram(deck, ("Director", "Sales", "Ann Lund", "Works"), (0, 1, 2, 1))
    assert load_one("a.pptx", build.saved(deck)).text == (
        "Who we are\n\n- Director\n  - Sales\n    - Ann Lund\n  - Works"
    )
    frame.nvGraphicFramePr.cNvPr.set("hidden", "1")
    assert load_one("a.pptx", build.saved(deck)).text == "Who we are"


def test_covered_cells_of_a_slide_have_the_text_above_or_before_them(load_one, build):
    """A cell may cover several rows and columns."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    table = slide.shapes.add_table(3, 3, 0, 0, 100, 100).table
    for place, text in enumerate(("Port", "Metres", "", "Kiel", "5", "3", "", "6", "2")):
        table.cell(place // 3, place % 3).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    document = load_one("a.pptx", build.saved(deck))
    assert tables(document) == ["Port | Metres | Metres\nKiel | 5 | 3\nKiel | 6 | 2"]


LIST_TABLE = """Sizes of lamps
==============

.. list-table:: What they *burn*
   :header-rows: 2
   :widths: 30 35 35

   * - Lamp
     - Oil
     - Price
   * -
     - ml
     - net | gross
   * - Davy
     - 40
     - 1 | 2
   * - Argand,
       a tall one
     -
     - 3

.. csv-table::
   :header: "Lamp", "Made in"

   "Davy", "Kiel, Jena"
   "Argand", 1780

.. csv-table:: From elsewhere
   :file: lamps.csv

Then::

  .. list-table:: Shown
     :header-rows: 1

     * - a
     * - b
"""


def test_rst_directives_of_tables_are_tables(load_one):
    """Unless they have no header, or are shown as text."""
    document = load_one("lamps.rst", LIST_TABLE)
    assert tables(document) == [
        "Lamp | Oil ml | Price net ¦ gross\nDavy | 40 | 1 ¦ 2\nArgand, a tall one |  | 3",
        "Lamp | Made in\nDavy | Kiel, Jena\nArgand | 1780",
    ]
    assert "\n\nWhat they burn\n\nLamp | " in document.text
    assert "* - a" in document.text
    assert ":file: lamps.csv" in document.text
    rows = [line.text for line in lines(document.text) if line.row]
    assert rows[0] == "What they burn: Lamp: Davy, Oil ml: 40, Price net ¦ gross: 1 ¦ 2"
