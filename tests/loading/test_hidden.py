"""Text that a reader of a file does not see is left out and counted, or kept where that is asked
for.
"""

import zipfile
from io import BytesIO

import docx
import openpyxl
import pptx
import pytest
from bounded import limited
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor

from esrag.loading.concealed import remove_concealed
from esrag.loading.guarded import parts
from esrag.loading.html import parse_page
from esrag.records import Source

SECRET = "The vault opens at midnight."
SHOWN = "The museum opens at nine."
CHARACTERS = len("".join(SECRET.split()))


def loaded(name, data, *, keep_hidden=False):
    (document,) = parts(
        Source(doc_id="d", name=name, data=data, keep_hidden=keep_hidden), 1_000_000
    )
    return document


def require_left_out(name, data, characters=CHARACTERS):
    """The secret is gone and counted, what is shown stays, and with `keep` there is both."""
    document = loaded(name, data)
    assert "vault" not in document.text
    assert "museum opens at nine" in document.text
    assert document.hidden == characters
    kept = loaded(name, data, keep_hidden=True)
    assert "vault opens at" in " ".join(kept.text.split())
    assert kept.hidden == 0


def require_kept(name, data):
    document = loaded(name, data)
    assert "vault opens at" in " ".join(document.text.split())
    assert document.hidden == 0


CONCEALED = [
    "hidden",
    'aria-hidden="true"',
    'style="display:none"',
    'style="color:red; DISPLAY : none !important"',
    'style="display:/* no */none"',
    'style="visibility:hidden"',
    'style="opacity:0"',
    'style="opacity: 0.0;"',
    'style="font-size:0"',
    'style="font-size:0.1px"',
    'style="color:#fff;background:#FFFFFF"',
    'style="color:white;background-color:rgb(255, 255, 255)"',
    'style="color:transparent"',
    'style="position:absolute;left:-9999px"',
    'style="text-indent:-9999px"',
    'style="height:0;overflow:hidden"',
    'style="transform:scale(0)"',
    'style="transform: rotate(3deg) scale( 0 , 0 )"',
    'style="transform:scaleX(0)"',
    'style="transform:translateX(-9999px)"',
    'style="scale:0"',
    'style="clip-path:inset(100%)"',
    'style="clip-path:inset(50%)"',
    'style="clip-path:inset(0 60% 0 40%)"',
    'style="clip-path:circle(0)"',
    'style="clip-path:circle(0px at 50% 50%)"',
    'style="clip-path:ellipse(0 50%)"',
    'style="position:absolute;clip:rect(0, 0, 0, 0)"',
    'style="color:#fff"',
    'style="color:#FFFFFF"',
    'style="color:#fefefe"',
    'style="color:white"',
    'style="color:rgb(255,255,255)"',
    'style="color:rgb(255 255 255 / 1)"',
    'style="color:rgba(255, 255, 255, 1)"',
    'style="color:red;color:white!important;color:red"',
    'style="color:white;background:white none"',
    'style="color:white;background-color:inherit"',
    'style="background:#222;color:#202020"',
]
SHOWN_STYLES = [
    "",
    'aria-hidden="false"',
    'style="display:block"',
    'style="opacity:0.9"',
    'style="font-size:0.9em"',
    'style="color:#eee"',
    'style="color:inherit"',
    'style="color:initial"',
    'style="color:var(--ink)"',
    'style="color:rgba(255,255,255,0.9)"',
    'style="color:#fff;background:#000"',
    'style="color:#fff;background:#000 none"',
    'style="color:#fff;background:rgb(0, 0, 0)"',
    'style="color:#fff;background:linear-gradient(red, blue)"',
    'style="color:#fff;background-color:#fff;background-image:url(a.png)"',
    'style="color:transparent;-webkit-background-clip:text;background-image:url(a.png)"',
    'style="transform:scale(1)"',
    'style="transform:scaleX(-1)"',
    'style="transform:scale3d(1, 1, 0)"',
    'style="clip-path:inset(10% 20% 30%)"',
    'style="clip-path:inset(60% 30% 0)"',
    'style="clip-path:circle(50%)"',
    'style="clip:rect(auto, auto, auto, auto)"',
    'style="margin-left:-10px"',
    'style="height:0"',
    'style="background:url(a.png);color:white"',
]


def page(attributes, body='style="opacity:0"'):
    return (
        f"<html><body {body}><h1>Hours</h1><p>{SHOWN}</p><p "
        f"{attributes}><b>{SECRET}</b></p></body></html>"
    ).encode()


@pytest.mark.parametrize("attributes", CONCEALED)
def test_of_a_page_what_its_elements_hide_is_left_out(attributes):
    """By an attribute or by an inline style, however it is spelled.

    A page that its script shows is not hidden.
    """
    require_left_out("a.html", page(attributes))


@pytest.mark.parametrize("attributes", SHOWN_STYLES)
def test_of_a_page_what_is_shown_stays(attributes):
    """Styles that do not hide."""
    require_kept("a.html", page(attributes))


def test_of_a_page_what_is_a_template_is_left_out():
    """A browser shows it only when a script copies it."""
    text = f"<html><body><h1>Hours</h1><p>{SHOWN}</p><template>{SECRET}</template></body></html>"
    require_left_out("a.html", text.encode())


def test_white_text_of_a_page_on_an_element_with_a_white_background_is_left_out():
    """The background may be that of an element around it, and be named by an old attribute."""
    text = (
        f'<html><body bgcolor="#FFFFFF"><p>{SHOWN}</p><div><font '
        f'color="white">{SECRET}</font></div></body></html>'
    )
    require_left_out("a.html", text.encode())
    dark = text.replace("<div>", '<div style="background:#123">')
    require_kept("a.html", dark.encode())


def colours(inner, head=""):
    return (
        f"<html><head>{head}</head><body><h1>Hours</h1><p>{SHOWN}</p>{inner}</body></html>"
    ).encode()


@pytest.mark.parametrize(
    "dark",
    [
        '<div style="background:#123"><p style="color:#fff">{}</p></div>',
        '<table><tr bgcolor="navy"><td><font color="white">{}</font></td></tr></table>',
        '<table background="a.png"><tr><td style="color:white">{}</td></tr></table>',
        '<div style="color:#fff"><p style="background:#000">{}</p></div>',
        '<div style="color:#fff"><p><span style="color:#000">{}</span></p></div>',
        '<div style="color:#fff"><p><a href="b.html">{}</a></p></div>',
        '<p style="color:#fff;background:#fff"><b style="color:#300">{}</b></p>',
    ],
)
def test_white_text_of_a_page_on_something_dark_stays(dark):
    """The background, or the colour, of another element decides; a link has its own colour."""
    require_kept("a.html", colours(dark.format(SECRET)))


@pytest.mark.parametrize(
    "light",
    [
        '<div style="color:#fff"><p><b>{}</b></p></div>',
        '<div style="background:#123"><p style="background:white;color:#fff">{}</p></div>',
        '<div style="color:#fff"><!-- x -->{}<p style="background:#000">Shown as well.</p></div>',
        '<div style="color:#fff"><p style="background:#000">Shown as well.</p>{}</div>',
    ],
)
def test_white_text_of_a_page_without_a_background_is_left_out(light):
    """Only what is white: a part of the same element with a background stays."""
    document = loaded("a.html", colours(light.format(SECRET)))
    assert ("vault" in document.text, document.hidden) == (False, CHARACTERS)
    assert ("Shown as well." in document.text) == ("as well" in light)


def test_white_text_of_a_page_with_a_style_sheet_stays():
    """A sheet that is not read may make the page dark; what is under a white element is hidden."""
    link = '<link rel="stylesheet" href="a.css">'
    require_kept("a.html", colours(f'<p style="color:#fff">{SECRET}</p>', link))
    white = f'<p style="color:#fff;background:#fff">{SECRET}</p>'
    require_left_out("a.html", colours(white, link))


def test_a_hidden_element_in_another_is_counted_once():
    """The outer one is left out with all that is in it."""
    inner = f'<div hidden><p style="display:none">{SECRET}</p></div>'
    require_left_out("a.html", colours(inner))


def test_a_page_that_hides_all_of_itself_stays():
    """Its script shows it."""
    text = f'<html style="color:#fff"><body style="color:white">{SHOWN} {SECRET}</body></html>'
    require_kept("a.html", text.encode())


HIDING_RULES = [
    ".x{display:none}",
    "#i { DISPLAY : none !important }",
    "div{opacity:0}",
    "div.x{visibility:hidden}",
    "p + p{opacity:1}div{opacity:0}",
    "h2, .other, .x {font-size:0}",
    "body{color:#333}.x{color:#fff}",
    "body{background:#222}.x{color:#222}",
    "/* } */ .y{display:block} .x{display:none /* ; */}",
    "<!-- .x{display:none} -->",
    "@media screen{.x{display:none}}",
    "@import url(a.css); .x{left:-9999px}",
    ".x{display:block}.x{display:none}",
    ".x{display:none}div{display:block}",
    ".x{display:none!important}#i{display:block}",
    ".y{content:'}'}.x{display:none}",
    ".x{clip-path:inset(50%)",
    ".x{display:none}@media print{.x{display:block}}",
    "@keyframes a{from{display:block}}.x{display:none}.x::before{display:block}",
    "@media (width<9px){.y{display:block}}.x{display:none}",
]
SHOWING_RULES = [
    ".X{display:none}",
    ".y{display:none}",
    "p.x{display:none}",
    ".x{display:none}.x{display:block}",
    ".x{display:none}#i{display:block}",
    "div{display:none}.x{display:block}",
    "div{display:none!important}.x{display:block!important}",
    "@media print{.x{display:none}}",
    "@keyframes x{from{opacity:0}}",
    ".x::after{display:none}",
    ".x .y{display:none}",
    ".y > .x, .x:hover{display:none}",
    ".x{display:none}.x:target{display:block}",
    ".x{display:none}@media (min-width:600px){.x{display:block}}",
    ".x{display:none}body > .x{display:block}",
    ".x{color:#fff}body{background:#123}",
    ".x{color:#fff}:root{background:#123}",
    ".x{color:#fff}@media screen and (min-width:1px){body{background:#123}}",
    ".x{color:#fff}.x:not(.y){background:#123}",
    "body{display:none}",
]


def with_rules(rules):
    return colours(f'<div class="z x" id="i">{SECRET}</div>', f"<style>{rules}</style>")


@pytest.mark.parametrize("rules", HIDING_RULES)
def test_of_a_page_what_its_style_sheet_hides_is_left_out(rules):
    """By a class, an id or a tag; the order of rules, specificity and importance count."""
    require_left_out("a.html", with_rules(rules))


@pytest.mark.parametrize("rules", SHOWING_RULES)
def test_of_a_page_what_its_style_sheet_may_show_stays(rules):
    """Another rule wins, or may win: on some screens, or with a selector of several parts."""
    require_kept("a.html", with_rules(rules))


def test_an_inline_style_wins_over_a_style_sheet():
    """Unless the rule is important."""
    inner = f'<p class="x" style="display:block">{SECRET}</p>'
    require_kept("a.html", colours(inner, "<style>.x{display:none}</style>"))
    require_left_out("a.html", colours(inner, "<style>.x{display:none !important}</style>"))
    for other in ("<style media=print>", "<noscript><style>"):
        require_kept("a.html", colours(inner, f"{other}.x{{display:none!important}}</style>"))


def test_a_hostile_style_sheet_takes_linear_time():
    """A megabyte of rules, of selectors with one rule, of braces, and of conditions."""
    many = [f".a{i}" for i in range(30_000)]
    everything = "top:1;left:1;color:red;width:1;height:1;display:block;opacity:1;scale:1"
    sheets = (
        "".join(f"{one}{{{everything}}}" for one in many),
        ".x{top:0}" * 50_000,
        f"{','.join(many)}{{{everything}}}" + f"{','.join(many)}{{{'top:1;' * 40_000}}}",
        "{" * 250_000 + "}" * 250_000,
        "@media screen{" * 35_000,
        "(" * 250_000 + "[" * 250_000 + "{top:0}",
    )
    body = "".join(f'<p class="x {one[1:]}">y' for one in many)
    with limited(20):
        for sheet in sheets:
            assert remove_concealed(parse_page(colours(body, f"<style>{sheet}").decode())) == 0


def test_of_a_message_and_a_book_hidden_text_is_left_out():
    """Their pages are read as pages are."""
    head = b"From: a@b.c\nMIME-Version: 1.0\nMessage-ID: <1@b.c>\nContent-Type: text/html\n\n"
    require_left_out("a.eml", head + page("hidden"))
    require_left_out("a.epub", epub(page("hidden")))


def epub(data):
    container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    package = (
        '<package><manifest><item id="p" href="p.html"/></manifest><spine><itemref '
        'idref="p"/></spine></package>'
    )
    return zipped({"META-INF/container.xml": container, "b.opf": package, "p.html": data})


def zipped(members):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def saved(document):
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word(change):
    """A Word document with the secret in a run of its own that is changed."""
    document = docx.Document()
    document.add_paragraph(SHOWN)
    change(document, document.add_paragraph("Also: ").add_run(SECRET))
    return saved(document)


def by_run(document, run):
    run.font.hidden = True


def by_character_style(document, run):
    base = document.styles.add_style("Quiet", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
    base.font.hidden = True
    style = document.styles.add_style("Quieter", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
    style.base_style = base
    run.style = style


def by_size(document, run):
    run.font.size = Pt(1)


def by_colour(document, run):
    run.font.color.rgb = RGBColor(255, 255, 255)


def by_revision(document, run):
    deleted = OxmlElement("w:ins")
    run._r.addprevious(deleted)
    deleted.append(run._r)
    run.font.hidden = True


@pytest.mark.parametrize("change", [by_run, by_character_style, by_size, by_colour, by_revision])
def test_of_a_word_document_hidden_runs_are_left_out(change):
    """By themselves, by a style, in white, too small to be read, or in an insertion."""
    require_left_out("a.docx", word(change))


def test_of_a_word_document_hidden_paragraphs_and_rows_are_left_out():
    """A paragraph by its style, a row of a table by its own mark."""
    document = docx.Document()
    style = document.styles.add_style("Secret", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
    style.font.hidden = True
    document.add_paragraph(SHOWN)
    document.add_paragraph(SECRET, style="Secret")
    table = document.add_table(2, 1)
    table.cell(0, 0).text, table.cell(1, 0).text = "Shown", SECRET
    table.rows[1]._tr.get_or_add_trPr().append(OxmlElement("w:hidden"))
    require_left_out("a.docx", saved(document), 2 * CHARACTERS)


def test_of_a_word_document_what_only_looks_hidden_stays():
    """A run that its own mark shows, white text on a shading or in a table."""

    def shown(document, run):
        style = document.styles.add_style("Quiet", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
        style.font.hidden = True
        run.style = style
        run.font.hidden = False

    def shaded(document, run):
        by_colour(document, run)
        shading = OxmlElement("w:shd")
        shading.set(qn("w:fill"), "000080")
        run._r.get_or_add_rPr().append(shading)

    require_kept("a.docx", word(shown))
    require_kept("a.docx", word(shaded))
    document = docx.Document()
    by_colour(document, document.add_table(1, 1).cell(0, 0).paragraphs[0].add_run(SECRET))
    require_kept("a.docx", saved(document))


def slides():
    """A presentation with a slide that is shown."""
    presentation = pptx.Presentation()
    return presentation, add_slide(presentation, SHOWN)


def add_slide(presentation, text):
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    slide.shapes.add_textbox(Pt(10), Pt(10), Pt(200), Pt(40)).text_frame.text = text
    return slide


def test_of_a_presentation_hidden_slides_and_shapes_are_left_out():
    """A slide with its notes, a shape, one in a group, and one beside the slide.

    Pages keep their numbers.
    """
    presentation, first = slides()
    hidden = add_slide(presentation, SECRET)
    hidden.notes_slide.notes_text_frame.text = SECRET
    hidden.element.set("show", "0")
    add_slide(presentation, "The third slide.")
    shape = first.shapes.add_textbox(Pt(10), Pt(90), Pt(200), Pt(40))
    shape.text_frame.text = SECRET
    shape.element.nvSpPr.cNvPr.set("hidden", "1")
    beside = first.shapes.add_textbox(Pt(-400), Pt(90), Pt(200), Pt(40))
    beside.text_frame.text = SECRET
    group = first.shapes.add_group_shape()
    inner = group.shapes.add_textbox(Pt(10), Pt(90), Pt(200), Pt(40))
    inner.text_frame.text = SECRET
    inner.element.nvSpPr.cNvPr.set("hidden", "true")
    data = saved(presentation)
    document = loaded("a.pptx", data)
    assert ("vault" in document.text, document.hidden >= 4 * CHARACTERS) == (False, True)
    assert "museum" in document.text
    (third,) = [
        page for page in document.pages if "third slide" in document.text[page.start : page.end]
    ]
    assert third.number == 3
    assert loaded("a.pptx", data, keep_hidden=True).text.count("vault") == 5


def test_of_a_workbook_hidden_rows_columns_and_sheets_are_left_out():
    """Rows after a gap, columns in a span, sheets that are hidden or very hidden."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Museum", "Note", "Other"])
    sheet.append(["museum opens at nine", SECRET, SECRET])
    sheet["A9"], sheet["A10"] = SECRET, "The last row."
    sheet.row_dimensions[9].hidden = True
    sheet.column_dimensions.group("B", "C", hidden=True)
    for name, state in (("H", "hidden"), ("V", "veryHidden")):
        other = book.create_sheet(name)
        other["A1"] = SECRET
        other.sheet_state = state
    document = loaded("a.xlsx", saved(book))
    assert "vault" not in document.text
    assert "The last row." in document.text
    assert document.hidden == 5 * CHARACTERS + len("NoteOther")
    assert [section.path for section in document.sections] == [("Sheet",)]
    assert loaded("a.xlsx", saved(book), keep_hidden=True).text.count("vault") == 5


def test_of_an_open_document_hidden_text_is_left_out():
    """By a style or its parent, in a hidden section, paragraph or row."""
    names = ("office", "text", "table", "style")
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names
    )
    content = f"""<office:document-content {spaces}><office:automatic-styles>
      <style:style style:name="T1" style:parent-style-name="Quiet"/></office:automatic-styles>
      <office:body><office:text><text:p>{SHOWN}</text:p><text:p>Also:
      <text:span text:style-name="T1">{SECRET}</text:span> goes on.</text:p>
      <text:section text:display="none"><text:p>{SECRET}</text:p></text:section>
      <text:p><text:hidden-paragraph text:is-hidden="true"/>{SECRET}</text:p>
      <table:table><table:table-row><table:table-cell><text:p>Shown</text:p></table:table-cell></table:table-row>
      <table:table-row table:visibility="collapse"><table:table-cell><text:p>{SECRET}</text:p>
      </table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>"""
    styles = f"""<office:document-styles {spaces}><office:styles><style:style style:name="Quiet">
      <style:text-properties text:display="none"/></style:style></office:styles>
      </office:document-styles>"""
    data = zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content,
            "styles.xml": styles,
        }
    )
    require_left_out("a.odt", data, 4 * CHARACTERS)
    assert "goes on." in loaded("a.odt", data).text


def pdf(content, *, image=None, box="0 0 600 800", extra=""):
    """A PDF of one page, painted by these operators, in Helvetica as /F."""
    stream = content.encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /CropBox [{box}] /Contents 4 0 R "
        "/Resources << /Font << /F 5 0 R >> /XObject << /I 6 0 R /X 7 0 R /Y 8 0 R >> "
        "/ExtGState << /C << /ca 0 >> /H << /ca 0.5 >> /M << /BM /Multiply >> >> "
        f"{extra} >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        IMAGE,
        FORM,
        BOX,
    ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    return (
        out
        + head
        + table
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (len(objects) + 1, len(out))
    )


def shows(text, place="100 600"):
    return f"BT /F 12 Tf {place} Td ({text}) Tj ET "


IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
    b"/BitsPerComponent 8 /Length 1 >>\n"
    b"stream\n\x80\nendstream"
)
WHITE = f"1 g {shows(SECRET)}".encode()
FORM = (
    b"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F 5 0 R "
    b">> >> /Length %d >>\n"
    b"stream\n%s\nendstream" % (len(WHITE), WHITE)
)
BOX = (
    b"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Length 24 >>\n"
    b"stream\n1 g 90 590 300 30 re f  \nendstream"
)
FIRST = "0 g " + shows(SHOWN, "100 700")
INVISIBLE = {
    "without ink": f"3 Tr {shows(SECRET)}",
    "white": f"1 g {shows(SECRET)}",
    "nearly white": f"0.98 g {shows(SECRET)}",
    "as blue as the box": f"0 0 1 rg 90 590 300 30 re f {shows(SECRET)}",
    "white on a white box on a dark one": (
        f"0 g 0 500 600 200 re f 1 g 90 590 300 30 re f {shows(SECRET)}"
    ),
    "transparent": f"/C gs {shows(SECRET)}",
    "clipped": f"q 10 10 50 50 re W n {shows(SECRET)} Q",
    "outside": shows(SECRET, "100 900"),
    "beside": shows(SECRET, "-400 600"),
    "tiny": f"q 0.05 0 0 0.05 0 0 cm {shows(SECRET, '2000 2000')} Q",
    "under a white box": f"0 g {shows(SECRET)} 1 g 90 590 300 30 re f",
    "under a black box": f"0 0.4 0 rg {shows(SECRET)} 0 g 90 590 300 30 re f",
    "under a box of lines": f"0 g {shows(SECRET)} 1 g 90 590 m 90 620 l 390 620 l 390 590 l h f",
    "under a moved box": f"0 g {shows(SECRET)} q 300 0 0 30 90 590 cm 1 g 0 0 1 1 re f Q",
    "under a turned box": f"0 g {shows(SECRET)} q 0 30 -300 0 390 590 cm 1 g 0 0 1 1 re f Q",
    "under a clipped box": f"0 g {shows(SECRET)} q 80 580 400 50 re W n 1 g 0 0 600 690 re f Q",
    "under a box in a form": f"0 g {shows(SECRET)} /Y Do",
    "in a form": "/X Do",
    "in a form that is moved": "q 1 0 0 1 5 5 cm /X Do Q",
}
VISIBLE = {
    "black": shows(SECRET),
    "white on a dark box": f"0 0 0.4 rg 90 590 300 30 re f 1 g {shows(SECRET)}",
    "a white form on a dark box": "0 0 0.4 rg 90 590 300 30 re f /X Do",
    "on a box": f"1 1 0 rg 90 590 300 30 re f 0 g {shows(SECRET)}",
    "under half a box": f"0 g {shows(SECRET)} 1 g 90 590 60 30 re f",
    "under a translucent box": f"0 g {shows(SECRET)} /H gs 1 g 90 590 300 30 re f",
    "under a blended box": f"0 g {shows(SECRET)} /M gs 1 1 0 rg 90 590 300 30 re f",
    "under a frame": f"0 g {shows(SECRET)} 1 G 90 590 300 30 re S",
    "under a triangle": f"0 g {shows(SECRET)} 1 g 90 590 m 500 590 l 90 640 l h f",
    "under a slanted box": f"0 g {shows(SECRET)} q 1 1 -1 1 0 0 cm 1 g 340 240 200 300 re f Q",
    "under a box that is clipped": (
        f"0 g {shows(SECRET)} q 90 590 40 40 re W n 1 g 0 0 600 690 re f Q"
    ),
    "under a box that is clipped by a shape": (
        f"0 g {shows(SECRET)} q 0 0 m 600 0 l 0 690 l h W n 1 g 0 0 600 690 re f Q"
    ),
    "white on a picture": f"q 300 0 0 60 90 580 cm /I Do Q 1 g {shows(SECRET)}",
    "white with an outline": f"1 g 0 G 2 Tr {shows(SECRET)}",
    "white on a dark shape": (
        f"0 g 90 590 m 400 590 l 450 600 l 400 640 l 90 640 l h f 1 g {shows(SECRET)}"
    ),
    "clipped by a larger box": f"q 50 500 500 200 re W n {shows(SECRET)} Q",
    "small": f"q 0.2 0 0 0.2 0 0 cm {shows(SECRET, '500 2000')} Q",
    "what OCR read in a scan": f"q 600 0 0 800 0 0 cm /I Do Q 3 Tr {shows(SECRET)}",
    "what OCR read in a scan on a white page": (
        f"3 Tr {shows(SECRET)} 1 g 0 0 600 690 re f q 600 0 0 600 0 0 cm /I Do Q"
    ),
    "what OCR read in strips": (
        f"q 600 0 0 400 0 0 cm /I Do Q q 600 0 0 400 0 400 cm /I Do Q 3 Tr {shows(SECRET)}"
    ),
}


@pytest.mark.parametrize("name", INVISIBLE)
def test_of_a_pdf_text_that_cannot_be_seen_is_left_out(name):
    """Without ink, in the colour behind it, clipped, outside the page, tiny; also in a form."""
    require_left_out("a.pdf", pdf(FIRST + INVISIBLE[name]))


@pytest.mark.parametrize("name", VISIBLE)
def test_of_a_pdf_text_that_can_be_seen_stays(name):
    """White on something dark, over a picture, with an outline; the text layer of a scan."""
    require_kept("a.pdf", pdf(FIRST + VISIBLE[name]))


def test_of_a_pdf_what_is_cropped_is_left_out():
    """The page's box may be smaller than its paper."""
    require_left_out("a.pdf", pdf(FIRST + shows(SECRET, "100 100"), box="0 400 600 800"))


def test_a_pdf_of_nothing_but_hidden_text_says_so():
    """It is not taken for a scan."""
    from esrag.errors import ParsingError

    with pytest.raises(ParsingError, match="only hidden text"):
        loaded("a.pdf", pdf(f"3 Tr {shows(SECRET)}"))


def test_the_ingest_reports_what_was_left_out_and_keep_has_it(esrag, corpus):
    """Counted in the report.

    The setting is part of what an index is made with, so that a change reads again.
    """
    (corpus / "page.html").write_bytes(page("hidden"))
    (corpus / "sheet.pdf").write_bytes(pdf(FIRST + INVISIBLE["white"]))
    ran = esrag("ingest", "docs")
    assert f"hidden text left out: {2 * CHARACTERS} characters in 2 files" in ran.err
    report = esrag("ingest", "docs", "--rebuild", "--json").json
    assert (report["hidden_characters"], report["hidden_files"]) == (2 * CHARACTERS, 2)
    assert "vault" not in esrag("chunks", "--json").out

    keep = ("--set", "loading.hidden=keep")
    refused = esrag("ingest", "docs", *keep)
    assert (refused.code, "--rebuild" in refused.err) == (2, True)
    kept = esrag("ingest", "docs", *keep, "--rebuild", "--json").json
    assert (kept["added"], kept["hidden_files"]) == (5, 0)
    assert esrag("chunks", "--json").out.count("vault") == 2
