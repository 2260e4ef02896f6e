"""What web pages say in elements that trafilatura leaves out, or in one line of several."""

import pytest

INTRODUCTION = "The pool is open from nine to five, and closes at noon before a holiday. " * 4


def read(load_one, body):
    """The text of a page after its introduction."""
    page = f"<html><body><div><h1>Pool</h1><p>{INTRODUCTION}</p>{body}</div></body></html>"
    return load_one("a.html", page).text.partition(INTRODUCTION.strip())[2].strip()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>We open at <time>08:00</time> daily.</p>", "We open at 08:00 daily."),
        ("<p>She said <q>never</q> and left.</p>", 'She said "never" and left.'),
        ("<ul><li><label><input type='checkbox'> 3 carrots</label></li></ul>", "- 3 carrots"),
        ("<p>It is <math><mi>A</mi><mo>=</mo><mn>2</mn></math> now.</p>", "It is A=2 now."),
        ("<p>It is <math alttext='a^2'><mi>a</mi></math> now.</p>", "It is a^2 now."),
        (
            (
                "<p>It is <math><semantics><mi>A</mi><annotation encoding='application/x-tex'>A^2"
                "</annotation></semantics></math> now.</p>"
            ),
            "It is A^2 now.",
        ),
        ("<figure><img src='a.png'><figcaption>The old lamp</figcaption></figure>", "The old lamp"),
        ("<center>Signed in Graz</center>", "Signed in Graz"),
        ("<aside class='footnote'><p>It was slow.</p></aside>", "It was slow."),
        ("<aside class='menu'><p>It was slow.</p></aside>", ""),
        (f"<form><p>{'Apply before May. ' * 3}</p></form>", ("Apply before May. " * 3).strip()),
        ("<form><p>Search</p></form>", ""),
        ("<ol><li>Press it.</li><li value='7'>Wait.</li></ol>", "1. Press it.\n7. Wait."),
        ("<ol><li>One<ol><li>In it</li></ol></li><li>Two</li></ol>", "1. One\n  1. In it\n2. Two"),
    ],
)
def test_what_a_reader_sees_is_kept(load_one, body, text):
    """In its line, without what only sends or searches."""
    assert read(load_one, body) == text


@pytest.mark.parametrize(
    "block",
    [
        "<pre>import a\n\ndef f():\n    return 1</pre>",
        "<pre><code>import a\n\ndef f():\n    return 1\n</code></pre>",
        "<div class='highlight'><pre><span>import</span> a\n\ndef f():\n    return 1\n</pre></div>",
        "<figure><pre>import a\n\ndef f():\n    return 1</pre></figure>",
    ],
)
def test_code_keeps_its_lines(load_one, block):
    """Within a line of prose it has none."""
    assert read(load_one, block) == "import a\n\ndef f():\n    return 1"
    assert read(load_one, "<p>Use <code>foo\nbar</code> here.</p>") == "Use foo bar here."


def test_a_short_page_numbers_its_items(load_one):
    """As its author does: trafilatura does not read such a page."""
    text = load_one("a.html", "<ol start='5'><li>Press.</li><li value='9'>Wait.</li></ol>").text
    assert text == "5. Press.\n9. Wait."


def test_a_section_may_be_named_as_what_sites_put_around_texts(load_one):
    """Its heading says why it has the id."""
    section = (
        f"<section id='related-parts'><h2>3. Related parts</h2><p>{INTRODUCTION}</p></section>"
    )
    page = f"<html><body><h1>Pool</h1><p>{INTRODUCTION * 2}</p>{section}</body></html>"
    document = load_one("a.html", page)
    assert [section.path[-1] for section in document.sections] == ["Pool", "3. Related parts"]
