"""Tables that lay out a page, and tables that trafilatura would lose."""

import pytest

from esrag.errors import ParsingError

MENU = "".join(f"<li><a href='{n}.html'>Chapter {n}</a></li>" for n in range(12))
KEYS = "<table><tr><td>Action</td><td>Key</td></tr><tr><td>Palm mute</td><td>P</td></tr></table>"


def page(body):
    return f"<html><body>{body}</body></html>"


def laid_out(content):
    return page(f"<table><tr><td><ul>{MENU}</ul></td><td>{content}</td></tr></table>")


@pytest.mark.parametrize("before", ["", f"<p>{'The manual tells of all the keys. ' * 20}</p>"])
def test_a_table_around_the_page_is_no_table(load_one, before):
    """The table within it is one, and so is a heading beside a menu."""
    text = load_one("a.html", laid_out(f"<h1>Keys</h1>{before}<h2>Note effects</h2>{KEYS}")).text
    assert text.endswith("\n\nAction | Key\nPalm mute | P")
    assert text.count("|") == 2


def test_a_message_in_boxes_has_paragraphs_and_a_table(load_one):
    """As mails have them, in a cell within a cell."""
    rows = f"<tr><td><h2>Your order</h2><p>It is on its way.</p></td></tr><tr><td>{KEYS}</td></tr>"
    boxes = f"<table><tr><td><table>{rows}</table></td></tr></table>"
    text = load_one("a.html", page(boxes)).text
    assert text == "Your order\n\nIt is on its way.\n\nAction | Key\nPalm mute | P"


def test_a_title_in_its_own_row_stays_in_the_table(load_one):
    """A cell with nothing but a heading is that of a table with data."""
    title = "<tr><td colspan=2><h4>General keys</h4></td></tr>"
    table = KEYS.replace("<table>", f"<table>{title}")
    assert load_one("a.html", page(table)).text == "General keys\nAction | Key\nPalm mute | P"


def test_tables_among_quotations_are_kept(load_one):
    """trafilatura would write all their cells without anything between."""
    rows = "".join(
        f"<tr><td><blockquote>{n}</blockquote></td><td><blockquote>Key {n}</blockquote></td></tr>"
        for n in range(1, 20)
    )
    words = "The manual tells of all the keys. " * 20
    text = load_one("a.html", page(f"<h1>Keys</h1><p>{words}</p><table>{rows}</table>")).text
    assert "\n7 | Key 7\n" in text


def test_ten_thousand_tables_within_each_other_are_no_crash(load):
    """They are loaded, or the page is refused."""
    depth = 10_000
    content = "<table><tr><td>" * depth + "deep inside" + "</td></tr></table>" * depth
    try:
        (document,), _ = load("a.html", content)
    except ParsingError:
        return
    assert "deep inside" in document.text
