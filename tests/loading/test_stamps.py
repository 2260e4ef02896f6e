"""Words set large across every page of a PDF are no part of its text."""

from fpdf import FPDF

from esrag.loading.pdf import PdfLoader
from esrag.records import Source

STAMP = "Draft, do not quote"
THINGS = ("lamps", "kettles", "lids", "spouts", "handles", "cables", "plugs", "trays")


def load(pages, stamped):
    """The text of a PDF with a stamp within the sentence of each page that is stamped."""
    pdf = FPDF()
    for page in range(pages):
        pdf.add_page()
        pdf.set_font("Helvetica", size=11)
        things = THINGS[page:] + THINGS[:page]
        pdf.text(20, 100, f"Of {things[0]} it is said that they were in the town and in the")
        if page in stamped:
            pdf.set_font("Helvetica", size=30)
            pdf.text(40, 115, STAMP)
            pdf.set_font("Helvetica", size=11)
        pdf.text(20, 125, f"shops as good as {things[1]} at all times.")
        for line, thing in enumerate(things[2:]):
            pdf.text(20, 150 + 8 * line, f"{thing.title()} are told of {things[line]} elsewhere.")
    (document,) = PdfLoader().load(Source("a", "a.pdf", bytes(pdf.output())))
    return " ".join(document.text.split())


def test_a_stamp_on_every_page_is_left_out():
    """It would stand within a sentence."""
    text = load(5, range(5))
    assert STAMP not in text
    assert "they were in the town and in the shops as good as kettles at all times." in text


def test_what_is_large_on_one_page_is_text():
    """Such as the title of a chapter."""
    assert STAMP in load(5, [2])
    assert load(3, range(3)).count(STAMP) == 3  # so few pages may be so many chapters
