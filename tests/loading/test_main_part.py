"""The part of a web page that its author marks as the main one."""

import pytest

INTRODUCTION = "The pool is open from nine to five, and closes at noon before a holiday. " * 4


def read(load_one, inside, around=""):
    """The text of a page's main part after its introduction."""
    main = f"<main><h1>Pool</h1><p>{INTRODUCTION}</p>{inside}</main>"
    text = load_one("a.html", f"<html><body>{around}{main}</body></html>").text
    return text.partition(INTRODUCTION.strip())[2].strip()


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<div class='product-meta'><p>It is 2 m deep.</p></div>", "It is 2 m deep."),
        ("<div class='caption options'>Two lanes</div>", "Two lanes"),
        ("<h2>Files</h2><ul><li><a href='f.pdf'>Fees</a></li></ul>", "Files\n- Fees"),
        ("<ol start='5' type='a'><li>Swim.<li value='8'>Rest.</ol>", "e) Swim.\nh) Rest."),
        ("<ul><li>One<ol><li>In it</ol><li>Two</ul>", "- One\n  1. In it\n- Two"),
        (
            "<table><tr><th>Day<th>Opens<tr><td rowspan=2>Monday<td>9<tr><td>14</table>",
            "Day | Opens\nMonday | 9\nMonday | 14",
        ),
        (
            "<div><span class='label'>Fee</span><span class='value'>5 euros</span></div>",
            "Fee 5 euros",
        ),
        ("<div><b class='a'>Fee</b><code>x</code></div>", "Feex"),
        (
            "<ol><li><span class='no'>(a)</span><span class='it'>the fee</span></li></ol>",
            "(a) the fee",
        ),
        (
            "<div class='toctree-wrapper'><h2>Deep</h2><p>No <a>diving</a>.</div>",
            "Deep\n\nNo diving.",
        ),
        ("<section id='pagination'><h2>Pages</h2><p>Ten.</p></section>", "Pages\n\nTen."),
        ("<h2><a role='doc-backlink' href='#t1'>Fees</a></h2><p>None.</p>", "Fees\n\nNone."),
        ("<p>A fact.<a class='footnote-backref' href='#r1'>↩</a></p>", "A fact."),
    ],
)
def test_what_it_says_is_kept(load_one, inside, text):
    """Whatever its author calls it."""
    assert read(load_one, inside) == text


@pytest.mark.parametrize(
    "inside",
    [
        "<ol class='breadcrumb'><li>Home</li></ol>",
        "<div role='navigation'>Next page</div>",
        "<div class='share-buttons'>Tell a friend</div>",
        "<section class='comments-area'><p>I was there too, it was fine.</p></section>",
        "<ul><li><a href='#fees'>Fees</a><li><a href='#hours'>Hours</a></ul>",
        "<div class='toctree-wrapper'><ul><li><a href='fees.html'>All fees</a></ul></div>",
        "<form>Search here</form>",
    ],
)
def test_what_stands_around_its_text_is_left_out(load_one, inside):
    """Menus, comments, and lists of the page's own headings."""
    assert read(load_one, inside) == ""


def test_a_page_with_most_words_elsewhere_is_read_as_any_page(load_one):
    """Its main part would not be what the page is about."""
    elsewhere = f"<div><h2>Sauna</h2><p>{'The sauna is warm, and open to all. ' * 40}</p></div>"
    page = f"<html><body>{elsewhere}<main><p>{INTRODUCTION}</p></main></body></html>"
    assert "The sauna is warm" in load_one("a.html", page).text


def test_a_main_part_with_more_around_its_text_is_read_as_any_page(load_one):
    """A name of a class that seems to tell of comments may be that of the whole text."""
    said = "The sauna is warm, and open to all. " * 40
    page = f"<main><h1>Pool</h1><div class='comments'><p>{said}</p></div></main>"
    assert "The sauna is warm" in load_one("a.html", f"<html><body>{page}</body></html>").text


def test_the_only_article_is_the_main_part_of_a_page_without_one(load_one):
    """Several articles are a list of them."""
    article = f"<article><p>{INTRODUCTION}</p><div class='caption'>Two lanes</div></article>"
    menu = "<div><a href='/'>Home</a> <a href='/shop'>Shop</a></div>"
    assert load_one("a.html", f"<html><body>{menu}{article}</body></html>").text == (
        f"{INTRODUCTION.strip()}\n\nTwo lanes"
    )


@pytest.mark.parametrize(
    ("box", "text"),
    [
        ("<dl><dt>Enrolment closes</dt><dd>22 August at noon</dd></dl>", "22 August at noon"),
        ("<!-- a --><p>Ring us</p><?b c?><p>Call 555 0142 from nine.</p>", "Call 555 0142"),
        ("<div><p>Ring us on 555 0142 from nine to noon.</p></div>", "Ring us on 555 0142"),
        ("<ul><li><a href='/a'>12 pools that you must see this year</a></li></ul>", ""),
        ("<p>Follow us, and never miss a thing again.</p>", ""),
    ],
)
def test_boxes_of_facts_beside_it_are_kept(load_one, box, text):
    """But not links to other pages, and not words without a figure."""
    aside = f"<aside role='complementary'>{box}</aside>"
    for found in (read(load_one, "", aside), read(load_one, aside)):
        assert (text in found) if text else not found
