"""Pages of one preformatted text."""


def test_a_preformatted_page_is_read_as_a_plain_text(load_one):
    """Its headings become sections, and the running lines of its pages go."""
    page = "<pre>RFC 7     Kettles     May 2001\n\n{0}.  {1}\n\n{2}\nLund [Page {0}]</pre>"
    names = ["Lids", "Spouts", "Handles", "Whistles"]
    texts = [f"   {name} are to be kept clean, as their owner may wish.\n" * 3 for name in names]
    pages = "<hr>".join(map(page.format, range(1, 5), names, texts))
    document = load_one("a.html", f"<html><title>Kettles</title><body>{pages}</body></html>")

    assert (document.kind, document.title) == ("html", "Kettles")
    assert [section.path for section in document.sections] == [
        (f"{n}. {name}",) for n, name in enumerate(names, 1)
    ]
    assert "[Page" not in document.text
    assert "RFC 7" not in document.text


def test_code_below_a_heading_is_no_such_page(load_one):
    """The page has its own structure."""
    code = "<h1>Log</h1><pre>" + "NOTES\n\n   The kettle whistles.\n" * 20 + "</pre>"
    document = load_one("a.html", f"<html><body>{code}</body></html>")
    assert [section.path for section in document.sections] == [("Log",)]
