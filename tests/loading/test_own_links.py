"""Links of a page to its own places."""

import time

import pytest

LINKS = "<li><a href='#l'>1. Lids</a><li><a href='#s'>Spouts</a><li><a href='#h'>Handles</a>"
PLACES = "<p id='l'>Lids are of steel.<p id='s'>Spouts are of tin.<p id='h'>Handles are of wood."


def read(load_one, inside):
    """Load a page with something between its heading and its text."""
    return load_one("a.html", f"<html><body><h1>Kettles</h1>{inside}{PLACES}</body></html>")


@pytest.mark.parametrize(
    "contents",
    [
        f"<h2>Table of contents</h2><ul>{LINKS}</ul>",
        f"<section><h2>Contents</h2><div><ul>{LINKS}</ul></div></section>",
        f"<div class='toc'><p><b>Inhalt</b></p><ul>{LINKS}</ul></div>",
        f"<ul class='toc'>{LINKS}</ul>",
    ],
)
def test_contents_are_left_out(load_one, contents):
    """Every heading would be said twice, and what follows would be below "Contents"."""
    document = read(load_one, contents)
    paths = [section.path for section in document.sections]
    assert paths == [("Kettles",)]
    assert "Spouts\n" not in document.text


@pytest.mark.parametrize(
    "kept",
    [
        f"<p>A kettle has:</p><ul>{LINKS}</ul>",
        f"<h2>Contents</h2><ul>{LINKS.replace('#s', '#elsewhere')}</ul>",
        f"<h2>Contents</h2><ul>{LINKS} and more</ul>",
    ],
)
def test_other_lists_are_kept(load_one, kept):
    """A list that says something, or leads to other pages."""
    assert "- Spouts\n- Handles" in read(load_one, kept).text


def test_marks_behind_headings_are_left_out(load_one):
    """A sign that leads to the heading itself; a link of one letter is a word."""
    document = read(load_one, "<h2>C<a href='#c'>#</a></h2><h2>Plan <a href='#b'>B</a></h2>")
    assert [section.path[-1] for section in document.sections] == ["Kettles", "C", "Plan B"]


def test_many_lists_take_no_time(load_one):
    """However many lists and empty elements a page has."""
    page = f"<ul>{LINKS}</ul><i></i>" * 10_000
    start = time.monotonic()
    load_one("a.html", f"<html><main><h1>Kettles</h1>{page}{PLACES}</main></html>")
    assert time.monotonic() - start < 30
