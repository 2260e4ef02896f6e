"""Raised digits of a PDF are exponents, whatever else its digits look like."""

import pytest
from fpdf import FPDF

from esrag.loading.pdf import PdfLoader
from esrag.records import Source


def text_of(*parts):
    """What is read of a line of parts, each with its place: LINE, SUP or SUB."""
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=11)
    for place, part in parts:
        pdf.char_vpos = place
        pdf.write(8, part)
    (document,) = PdfLoader().load(Source("a", "a.pdf", bytes(pdf.output())))
    return " ".join(document.text.split())  # pdfium begins a line behind some exponents


@pytest.mark.parametrize("exponent", ["8", "12", "-138.8", "-1"])
def test_an_exponent_is_told_from_a_digit(exponent):
    """256 would be another number than 2⁵⁶."""
    assert (
        text_of(("LINE", "It is 2"), ("SUP", exponent), ("LINE", " at 1184"))
        == f"It is 2^{exponent} at 1184"
    )


def test_ligatures_of_tex_without_unicode():
    """Nobody searches for "Con guration"."""
    said = "The con\x1cguration of the \x1cle \x15 e\x1ecient"
    assert text_of(("LINE", said)) == "The configuration of the file – efficient"


def test_more_of_them_on_a_line():
    """Each where it stands."""
    powers = [part for power in "0137" for part in (("LINE", "+ 2"), ("SUP", power), ("LINE", " "))]
    assert text_of(("LINE", "139 = "), *powers) == "139 = + 2^0 + 2^1 + 2^3 + 2^7"


@pytest.mark.parametrize("degrees", [30, 90, 270])
def test_turned_text_has_no_exponents(degrees):
    """Each of its digits stands above the one before it."""
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=11)
    with pdf.rotation(degrees, x=80, y=80):
        pdf.text(60, 80, "17 Jan 2021, 81 of 1184")
    (document,) = PdfLoader().load(Source("a", "a.pdf", bytes(pdf.output())))
    assert "^" not in document.text
    assert "2021" in document.text


def test_what_is_no_exponent_is_left_as_it_is():
    """Plain figures, signs between them, a note behind a word, and an index below."""
    line = "In 2024-08-13, 1184 of 10-20."
    assert text_of(("LINE", line)) == line
    assert (
        text_of(("LINE", "A key"), ("SUP", "12"), ("LINE", " of x1"), ("SUB", "20"))
        == "A key12 of x120"
    )
