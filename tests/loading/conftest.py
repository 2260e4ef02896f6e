"""Small files of every format, made by the libraries that write them, or by hand."""

import io
import json
import zipfile
from email.message import EmailMessage
from types import SimpleNamespace

import docx
import openpyxl
import pptx
import pytest
from fpdf import FPDF

from esrag.loading import Skipped
from esrag.loading.guarded import parts
from esrag.records import Document, Source

WORDS = "The key is encapsulated once and decapsulated by the party that holds the other one."

ODT_CONTENT = """<?xml version="1.0"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0">
 <office:body><office:text>
  <text:h text:outline-level="1">Tides</text:h>
  <text:p>High<text:s text:c="2"/>water.<text:note><text:note-citation>1</text:note-citation>
  <text:note-body><text:p>Twice a day.</text:p></text:note-body></text:note></text:p>
  <text:list><text:list-item><text:p>Spring</text:p></text:list-item></text:list>
  <text:h text:outline-level="2">Ports</text:h>
  <table:table><table:table-row><table:table-cell><text:p>Port</text:p></table:table-cell>
  <table:table-cell><text:p>Metres</text:p></table:table-cell></table:table-row>
  <table:table-row><table:table-cell><text:p>Brest</text:p></table:table-cell>
  <table:table-cell><text:p>6.9</text:p></table:table-cell></table:table-row></table:table>
 </office:text></office:body></office:document-content>"""
OPF = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>Two Chapters</dc:title><dc:creator>A. Writer</dc:creator></metadata>
<manifest><item id="b" href="two.xhtml"/><item id="a" href="one%20x.xhtml"/>
<item id="c" href="gone.xhtml"/></manifest>
<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>"""
CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book/main.opf"/></rootfiles></container>"""


def zipped(members: dict[str, str | bytes]) -> bytes:
    """An archive with the members in order, the first stored as it is."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for index, (name, data) in enumerate(members.items()):
            archive.writestr(name, data, zipfile.ZIP_STORED if index == 0 else zipfile.ZIP_DEFLATED)
    return file.getvalue()


def saved(document) -> bytes:
    """The bytes of a document of any of the Office libraries."""
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def make_pdf(
    pages: list[list[str]], *, title: str = "", password: str = "", outline: bool = False
) -> bytes:
    """A PDF with the lines of each page.

    Each page's first line is a bookmark where an outline is asked for.
    """
    pdf = FPDF()
    pdf.set_font("Helvetica", size=11)
    if title:
        pdf.set_title(title)
    if password:
        pdf.set_encryption(owner_password=password, user_password=password)
    for lines in pages:
        pdf.add_page()
        if outline:
            pdf.start_section(lines[0])
        for line in lines:
            pdf.cell(0, 8, line, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def make_docx() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Field guide"
    document.core_properties.author = "A. Writer"
    document.add_heading("Birds", 1)
    document.add_paragraph("Ducks swim.")
    table = document.add_table(2, 2)
    for index, text in enumerate(("Bird", "Legs", "Duck", "2")):
        table.cell(index // 2, index % 2).text = text
    inner = table.cell(1, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "left", "right"
    document.add_heading("Food", 2)
    document.add_paragraph("Weeds and snails.")
    return saved(document)


def make_pptx() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Results"
    table = slide.shapes.add_table(2, 2, 0, 0, 1000000, 1000000).table
    for index, text in enumerate(("Year", "Sales", "2024", "812")):
        table.cell(index // 2, index % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say that sales grew."
    second = presentation.slides.add_slide(presentation.slide_layouts[5])
    second.shapes.title.text = "Outlook"
    return saved(presentation)


def make_xlsx() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Sales"
    book.active.append(["Year", "Amount"])
    book.active.append([2024, 12.0])
    book.create_sheet("Costs").append(["Rent", 0.5])
    return saved(book)


def make_eml() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Lunch", "a@example.org", "b@example.org"
    message["Date"], message["Message-ID"] = "Mon, 10 Oct 2022 05:14:09 -0700", "<1@example.org>"
    message.set_content("At noon — in the café.")
    message.add_alternative("<p>At one.</p>", subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="menu.pdf")
    return message.as_bytes()


def make_samples() -> dict[str, tuple[str, bytes]]:
    page = "<html><head><title>Ducks</title></head><body><nav>Home</nav><article><h1>Ducks</h1>"
    page += (
        f"<p>{WORDS} "
        f"{WORDS}</p><h2>Food</h2><p>{WORDS}</p><table><tr><th>Bird</th><th>Legs</th></tr>"
    )
    page += "<tr><td>Duck</td><td>2</td></tr></table></article></body></html>"
    rows = [
        {"_id": "a", "title": "One", "text": "First.", "year": 2024},
        {"_id": "a", "text": "Second."},
    ]
    odt = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ODT_CONTENT}
    epub = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "book/main.opf": OPF,
    }
    epub |= {
        f"book/{n}.xhtml": f"<html><body><h1>{n[:3]}</h1><p>{WORDS}</p></body></html>"
        for n in ("one x", "two")
    }
    markdown = (
        "---\ntitle: Guide\nyear: 2024\n---\n# Guide\n\nText.\n\n```\n# no "
        "heading\n```\n\nSetup\n-----\n\n"
    )
    rst = "PEP: 8\nTitle: Style Guide\n\n=====\nIntro\n=====\n\nText.\n\nLayout\n------\n\nMore.\n"
    return {
        "csv": ("rows.csv", b"id;title;text;year\n1;One;First row.;2024\n1;Two;Second row.;2025\n"),
        "docx": ("guide.docx", make_docx()),
        "eml": ("lunch.eml", make_eml()),
        "epub": ("book.epub", zipped(epub)),
        "html": ("ducks.html", page.encode()),
        "jsonl": ("rows.jsonl", "\n".join(map(json.dumps, rows)).encode()),
        "markdown": ("guide.md", f"{markdown}| a | b |\n|---|---|\n| 1 | 2 |\n".encode()),
        "odt": ("tides.odt", zipped(odt)),
        "pdf": (
            "paper.pdf",
            make_pdf([["One", WORDS], ["Two", WORDS]], title="Paper on keys", outline=True),
        ),
        "plain": ("note.txt", "A note.\r\nTwo lines, e\u0301.".encode()),
        "pptx": ("talk.pptx", make_pptx()),
        "rst": ("pep.rst", rst.encode()),
        "tsv": ("table.tsv", b"port\tmetres\nBrest\t6.9\nHull\t6.2\n"),
        "xlsx": ("book.xlsx", make_xlsx()),
    }


@pytest.fixture(scope="session")
def samples() -> dict[str, tuple[str, bytes]]:
    """A file name and bytes for each loader."""
    return make_samples()


@pytest.fixture(scope="session")
def build() -> SimpleNamespace:
    """The functions that make files."""
    return SimpleNamespace(pdf=make_pdf, zip=zipped, saved=saved, words=WORDS)


@pytest.fixture(scope="session")
def load():
    """Loads bytes under a file name, in this process: the documents, and the parts that were left
    out.
    """

    def loaded(name: str, data: bytes | str, max_characters: int = 1_000_000, **options):
        source = Source("d", name, data.encode() if isinstance(data, str) else data, **options)
        found = list(parts(source, max_characters))
        documents = tuple(part for part in found if isinstance(part, Document))
        return documents, tuple(part for part in found if isinstance(part, Skipped))

    return loaded


@pytest.fixture(scope="session")
def load_one(load):
    """Loads bytes that hold one document and nothing to skip."""

    def loaded(name: str, data: bytes | str):
        (document,), skipped = load(name, data)
        assert skipped == ()
        return document

    return loaded
