"""Pages of which a search for the main content keeps no heading."""

SAID = "The lid keeps the heat in, the spout lets the steam out, and both are to be kept clean. "
LIST = "<dl><dt>lid<dd>It keeps the heat.<dt>spout<dd>It lets the steam out.</dl>"
CODE = "<pre>boil 1\nboil 2</pre>"
PAGE = (
    f"<h1>Kettles</h1><p>{SAID}</p><div><h2>Parts</h2></div>"
    f"<div><p>{SAID}</p>{LIST}{CODE}<p>{SAID}</p></div>"
)


def test_a_page_without_menus_keeps_its_headings_and_code(load_one):
    """Its sections, its definitions and the lines of its code."""
    document = load_one("a.html", f"<html><title>Kettles</title><body>{PAGE}</body></html>")
    assert [section.path for section in document.sections] == [("Kettles",), ("Kettles", "Parts")]
    assert "lid: It keeps the heat." in document.text
    assert "boil 1\nboil 2" in document.text
