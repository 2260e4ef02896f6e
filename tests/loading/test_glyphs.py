"""PDFs whose fonts do not say which characters their glyphs are."""

from esrag.loading.pdf import PdfLoader
from esrag.records import Source

_FONT = """<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R
/Encoding << /Type /Encoding /Differences [1 /fi 2 /fl 3 /minus] >>
/FirstChar 1 /LastChar 3 /Widths [500 500 584] >>"""
# As such fonts have it: both ligatures are an f, and the minus has no character.
_UNICODE = "3 beginbfchar <01> <0066> <02> <0066> <03> <0003> endbfchar"
_NAMED = {"ﬁ": r"\001", "ﬂ": r"\002", "−": r"\003"}


def load(lines):
    """The text of a PDF with these lines; a tab begins another column."""
    shown = "".join(
        f"1 0 0 1 {72 + 120 * column} {760 - 20 * row} Tm {_show(cell)} "
        for row, line in enumerate(lines)
        for column, cell in enumerate(line.split("\t"))
    )
    data = _write(shown)
    [document] = PdfLoader().load(Source("kettles.pdf", "kettles.pdf", data))
    return document.text


def _show(line):
    """The operators that show a line, its glyphs without a name in a font of their own."""
    pieces, done = [], ""
    for character in line:
        if character in _NAMED:
            pieces += [f"/F1 12 Tf ({done}) Tj", f"/F2 12 Tf ({_NAMED[character]}) Tj"]
            done = ""
        else:
            done += character
    return " ".join([*pieces, f"/F1 12 Tf ({done}) Tj"])


def _write(shown):
    stream = f"BT {shown} ET"
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def"
        f" 1 begincodespacerange <00> <ff> endcodespacerange {_UNICODE} endcmap end end"
    )
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            " /Resources << /Font << /F1 7 0 R /F2 5 0 R >> >> >>"
        ),
        f"<< /Length {len(stream)} >> stream\n{stream}\nendstream",
        _FONT,
        f"<< /Length {len(cmap)} >> stream\n{cmap}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body = "".join(f"{n} 0 obj\n{each}\nendobj\n" for n, each in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer << /Root 1 0 R /Size {len(objects) + 1} >>".encode("latin-1")


def test_an_f_as_wide_as_a_ligature_is_one():
    """Nobody searches for "fled fve", and "refect" is no word at all."""
    line = "If five of four for fun: they ﬁled ﬂexible satisﬁed reﬂect a ﬂame of fat in the ﬁeld."
    assert load([line]) == line.replace("ﬁ", "fi").replace("ﬂ", "fl")


def test_an_f_of_another_font_is_none():
    """Each font has a width of its own."""
    line = "If they fit, five of the flags are fine."
    assert load([line]) == line


def test_a_minus_without_a_character_is_one():
    """0.9 is another number than −0.9."""
    assert load(["It was −0.9 at 5, and −0.82 at 7."]) == "It was −0.9 at 5, and −0.82 at 7."


def test_rows_with_such_a_minus_are_rows():
    """What pdfium leaves out moves the places of all characters after it."""
    rows = [("Size", "Potential", "Rate"), ("2", "−0.9", "1.5"), ("4", "−0.8", "0.9")]
    lines = ["Table 1. Of steel", *("\t".join(row) for row in rows)]
    assert "4 | −0.8 | 0.9" in load(lines)
