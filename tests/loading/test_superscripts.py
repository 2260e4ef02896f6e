"""A power is not read as a digit more, nor a footnote's mark as a part of a word or a number."""

from io import BytesIO
from zipfile import ZipFile

import docx
import pptx
import pytest

from esrag.loading.guarded import parts
from esrag.loading.superscripts import choose_joint
from esrag.records import Source

PIECES = [
    "It is 10",
    "^2",
    " m long",
    "^1",
    ", 9 m",
    "^2",
    " wide, from 2023 on.",
    "^4",
    " On the 19",
    "^th",
    " too.",
]
READ = "It is 10^2 m long 1, 9 m^2 wide, from 2023 on. 4 On the 19th too."


def text_of(name, data):
    (document,) = parts(Source("d", name, data), 10**6)
    return document.text


def html(pieces):
    inner = "".join(f"<sup>{it[1:]}</sup>" if it.startswith("^") else it for it in pieces)
    return f"<html><head><title>T</title></head><body><p>{inner}</p></body></html>".encode()


def word(pieces):
    document = docx.Document()
    paragraph = document.add_paragraph()
    for piece in pieces:
        paragraph.add_run(piece.removeprefix("^")).font.superscript = piece.startswith("^")
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def slides(pieces):
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(0, 0, 10**6, 10**6).text_frame.paragraphs[0]
    for piece in pieces:
        run = paragraph.add_run()
        run.text = piece.removeprefix("^")
        if piece.startswith("^"):
            run.font._element.set("baseline", "30000")
    file = BytesIO()
    presentation.save(file)
    return file.getvalue()


def open_text(pieces):
    names = ["office:1.0", "text:1.0", "style:1.0"]
    spaces = " ".join(
        f'xmlns:{it[:-4]}="urn:oasis:names:tc:opendocument:xmlns:{it}"' for it in names
    )
    inner = "".join(
        f'<text:span text:style-name="T1">{it[1:]}</text:span>' if it[0] == "^" else it
        for it in pieces
    )
    style = (
        '<style:style style:name="T1"><style:text-properties style:text-position="super '
        '58%"/></style:style>'
    )
    body = f"<office:body><office:text><text:p>{inner}</text:p></office:text></office:body>"
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        content = f"<office:document-content {spaces}>{style}{body}</office:document-content>"
        archive.writestr("content.xml", content)
    return file.getvalue()


MADE = {"a.html": html, "a.docx": word, "a.pptx": slides, "a.odt": open_text}


@pytest.mark.parametrize("name", MADE)
def test_what_is_raised_stands_apart(name):
    """In every format that says so."""
    assert text_of(name, MADE[name](PIECES)).endswith(READ)


@pytest.mark.parametrize("name", MADE)
def test_a_mark_of_several_pieces_is_one(name):
    """Editors cut a line as they like; a word is cut too."""
    assert text_of(name, MADE[name](["10", "^1", "^2", " metr", "es", "^3", "^,", "^4"])).endswith(
        "10^12 metres 3,4"
    )


def test_a_link_to_a_note_is_no_power():
    """2023 is a year here."""
    page = html(
        [
            "In 2023",
            '^<a href="#n5">5</a>',
            " and <b>so</b> on.",
            '^<a href="#n6">[6]</a>',
            " More.",
        ]
    )
    assert text_of("a.html", page) == "In 2023 5 and so on. [6] More."


def test_mail_and_tables_too():
    """Whoever reads HTML reads it so."""
    table = "<table><tr><th>Area</th></tr><tr><td>10<sup>6</sup> m<sup>2</sup></td></tr></table>"
    mail = (
        "Subject: A\nContent-Type: "
        f"text/html\n\n<html><body>{table}<p>7<sup>2</sup></p></body></html>"
    )
    text = text_of("a.eml", mail.encode())
    assert "10^6 m^2" in text
    assert "7^2" in text


@pytest.mark.parametrize(
    ("before", "mark", "between"),
    [
        ("x", "2", "^"),
        ("10", "-6", "^"),
        ("(a + b)", "n", "^"),
        ("cm", "3", "^"),
        ("word", "3", " "),
        ("the end.", "3", " "),
        ("the 2", "nd", ""),
        ("Acme", "®", ""),
        ("before ", "3", ""),
        ("", "3", ""),
        ("10", "", ""),
        ("10", "see the long note at the end of this page", " "),
    ],
)
def test_what_stands_between(before, mark, between):
    """A power, a footnote, an ending, or nothing to tell apart."""
    assert choose_joint(before, mark) == between
