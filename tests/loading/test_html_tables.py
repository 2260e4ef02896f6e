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


def test_a_name_beside_its_value_is_a_line(load_one):
    """As mails have them in boxes; a menu and a note beside a sign are no such rows."""
    rows = "<tr><td><b>Meeting ID</b></td><td>869 16</td></tr><tr><td>Time:</td><td>9 am</td></tr>"
    menu = "<tr><td><a href='a.html'>Home</a></td><td>Help</td></tr>"
    boxes = f"<table>{menu}{rows}<tr><td colspan=2>{KEYS}</td></tr></table>"
    text = load_one("a.html", page(boxes)).text
    assert "Meeting ID: 869 16\n\nTime: 9 am" in text
    assert "Home:" not in text


def test_a_note_in_a_box_has_paragraphs(load_one):
    """It is a row alone, with a sign beside the text."""
    note = "<tr><td>Note</td><td><p>Ignore the error.</p><p>Then go on.</p></td></tr>"
    assert load_one("a.html", page(f"<table>{note}</table>")).text == (
        "Note\n\nIgnore the error.\n\nThen go on."
    )


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


@pytest.mark.parametrize(
    "cell",
    [
        "<center>12 <a href='x'>file</a></center>",
        "<a href='x'>12</a> file",
        "<ul><li>12</li><li>file</li></ul>",
        "<label>12</label> <time>file</time>",
        "<div><p>1<b>2</b></p><p>file<script>x</script></p></div>",
    ],
    ids=["centred", "a link", "a list", "a label and a time", "paragraphs"],
)
def test_what_a_cell_holds_is_text(load_one, cell):
    """trafilatura would lose these cells, and the rows with them."""
    rows = "".join(f"<tr><td>Model {n}</td><td>{cell}</td></tr>" for n in range(6))
    words = "The manual tells of all the models. " * 20
    table = f"<table><tr><th>Name</th><th>Degree</th></tr>{rows}</table>"
    text = load_one("a.html", page(f"<h1>Models</h1><p>{words}</p>{table}<p>{words}</p>")).text
    assert "\nModel 3 | 12 file\n" in text


def test_a_table_of_links_is_a_menu(load_one):
    """It is left out, as other navigation is."""
    cell = "<td><a href='a.html'>Chapter on the models</a></td>"
    links = f"<tr>{cell * 2}</tr>" * 9
    words = "The manual tells of all the models. " * 20
    text = load_one("a.html", page(f"<table>{links}</table><h1>Models</h1><p>{words}</p>")).text
    assert "Chapter" not in text


def test_ten_thousand_tables_within_each_other_are_no_crash(load):
    """They are loaded, or the page is refused."""
    depth = 10_000
    content = "<table><tr><td>" * depth + "deep inside" + "</td></tr></table>" * depth
    try:
        (document,), _ = load("a.html", content)
    except ParsingError:
        return
    assert "deep inside" in document.text
