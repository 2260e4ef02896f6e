"""Links from page to page, and menus: no text of a page."""

import time

import pytest

SAID = "<h1>Lids</h1><p>The lid keeps the heat, and is to be kept clean. It is of steel.</p>" * 5


@pytest.mark.parametrize(
    "around",
    [
        "<p>Next: <a rel='next' href='b'>Spouts</a>, Up: <a rel='up' href='a'>Kettles</a></p>",
        "<table><tr><td>A<tr><td><a accesskey='p' href='a'>Prev</a><td><a accesskey='N' href='c'>",
        "<div class='navheader'>Appendix A. Scale<hr><a accesskey='p' href='c'>Prev</a></div>",
        "<ul class='docnav'><li><a accesskey='p' href='a'>Prev</a><li>The Kettle Book</ul>",
        "<ul class='nav'><li><a href='a'>back</a><li><a href='b'>on</a></ul>",
        "<div><a href='/'>Home</a> | <a href='/news'>News</a> | <a href='/shop'>Shop</a></div>",
    ],
)
def test_links_to_other_pages_are_left_out(load_one, around):
    """Above a text; its own links stay."""
    text = load_one("a.html", f"<html><body>{around}{SAID}</body></html>").text
    assert text.startswith("Lids\n\nThe lid keeps")


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<p>See <a href='b.html'>Spouts</a>.</p>", "See Spouts."),
        (
            "<ul><li><a href='b'>One</a><li><a href='c'>Two</a><li><a href='d'>Six</a></ul>",
            "- Two\n- Six",
        ),
        ("<table class='nav'><tr><td>Buoy<td>7<tr><td>Light<td>8</table>", "Buoy | 7"),
        ("<p>It is kept clean by those who own it: <a rel='up' href='a'>see</a>.</p>", "own it"),
    ],
)
def test_links_in_a_text_are_kept(load_one, inside, text):
    """A list of links below a heading tells what there is."""
    assert text in load_one("a.html", f"<html><main>{SAID}{inside}</main>").text


def test_many_pagers_take_no_time(load_one):
    """Each element is looked at once, however deep it lies."""
    page = "<div>" * 250 + "<p><a rel='next' href='b'>Next</a></p>" * 20_000
    start = time.monotonic()
    load_one("a.html", f"<html><main>{SAID}{page}</main>")
    assert time.monotonic() - start < 30
