"""Headings of web pages that set them in bold, and mark none."""

import pytest

from esrag.loading.html import HtmlLoader
from esrag.records import Source

TEXT = "<p>The company sells lamps to harbours, and has done so for many years.</p>" * 9


def load(body):
    """The document of a page with this body."""
    data = f"<html><body>{body}</body></html>".encode()
    (document,) = HtmlLoader().load(Source("d", "d.html", data))
    return document


def sections(body):
    """The paths of a page's sections."""
    return [" > ".join(section.path) for section in load(body).sections]


def bold(text, size=10):
    """A bold paragraph as reports have it."""
    return f'<p style="font-weight:bold;font-size:{size}pt">{text}</p>'


def test_a_report_has_parts_items_and_what_is_below():
    """By their names, sizes and capitals; the largest line is the title."""
    body = (
        bold("Acme Lamps, Inc.", 18)
        + bold("FORM 10-K", 16)
        + TEXT
        + f"{bold('PART I')}{bold('ITEM 1. BUSINESS')}{TEXT}{bold('STRATEGY')}{TEXT}"
        + f"{bold('Lamps and more')}{TEXT}{bold('ITEM 2. PROPERTIES')}{TEXT}"
    )
    assert load(body).title == "Acme Lamps, Inc."
    assert sections(body) == [
        "FORM 10-K",
        "PART I",
        "PART I > ITEM 1. BUSINESS",
        "PART I > ITEM 1. BUSINESS > STRATEGY",
        "PART I > ITEM 1. BUSINESS > STRATEGY > Lamps and more",
        "PART I > ITEM 2. PROPERTIES",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "<p><b>Strategy</b> is all.</p>",
        "<p>Strategy</p>",
        "<p><b>This is a sentence, and it ends with a full stop.</b></p>",
        "<p><b>figure 1: the lamps</b></p>",
        '<p style="font-weight:bold"><a href="#s">Strategy</a></p>',
        "<ul><li><p><b>Strategy</b></p></li></ul>",
        "<table><tr><td><p><b>Strategy</b></p></td><td>1</td></tr></table>",
        "<h2>Lamps</h2><p><b>Strategy</b></p>",
        "<p><b>Strategy</b></p>" * 3,
        '<p style="font-weight:bold">Strategy <span style="font-weight:normal">one</span></p>',
    ],
)
def test_other_lines_are_no_headings(line):
    """A word in a sentence, a cell, an item, a link, a running head, or a page with headings."""
    assert not [path for path in sections(f"{TEXT * 2}{line}{TEXT}") if "Strategy" in path]


def test_where_much_is_bold_nothing_is_a_heading():
    """It is the text."""
    assert sections(TEXT + "".join(bold(f"Line {n}") for n in range(9))) == []


def test_the_second_of_two_lines_alike_says_more_of_the_first():
    """As a date does; it stays text."""
    body = f"{TEXT}{bold('BALANCE SHEETS')}{bold('DECEMBER 31, 2021')}{TEXT}"
    assert sections(body) == ["BALANCE SHEETS"]
    assert "DECEMBER 31, 2021" in load(body).text


@pytest.mark.parametrize("size", ["", "font-size:9999999pt;", "font-size:xpt;", "font-size:20px;"])
def test_what_a_style_says_is_anybodys(size):
    """Also where it is no size at all."""
    line = f'<p style="{size}font-weight:bold">Strategy</p>'
    assert sections(f"{TEXT}{line}{TEXT}") == ["Strategy"]
