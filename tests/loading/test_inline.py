"""Markdown and reStructuredText become what a reader sees; every span stays true."""

import pytest

from esrag.loading.guarded import parts
from esrag.loading.inline import strip_marks, strip_rst_marks
from esrag.records import Source

MARKDOWN = """<!-- a note
for editors: the vault opens at midnight -->
<a name="top"></a>

# The **kettle** &amp; its `lid`

It holds **1.7&nbsp;litres**&mdash;see [the guide](guide.md "more") and <https://a.example/x>.
Run `kettle --boil **` as _root_, set `<index>` to <your-index>, 10<sup>6</sup> times.
A word<sup>2</sup> with a snake_case_name, __init__ and 2 * 3 * 4.

| Part | Size<br>in cm |
| --- | --- |
| `lid` | **12** &#124; 13 |

```python
def f(**kwargs):  # **bold** <!-- not a comment -->
```

Lid
---

The end &#x202e;of it\\*.
"""


def loaded(name, text, *, keep_hidden=False):
    (document,) = parts(
        Source(doc_id="d", name=name, data=text.encode(), keep_hidden=keep_hidden), 1_000_000
    )
    return document


def test_markdown_is_what_a_reader_sees():
    """Marks, tags, entities and comments go.

    Code in fences, names in <> and the marks of blocks stay.
    """
    document = loaded("a.md", MARKDOWN)
    text = document.text
    assert "It holds 1.7 litres—see the guide and https://a.example/x." in text
    assert "Run kettle --boil ** as root, set <index> to <your-index>, 10^6 times." in text
    assert "A word 2 with a snake_case_name, __init__ and 2 * 3 * 4." in text
    assert "def f(**kwargs):  # **bold** <!-- not a comment -->" in text
    assert "The end of it*." in text
    assert (
        text.splitlines()[text.splitlines().index("| --- | --- |") + 1] == "| lid | 12 &#124; 13 |"
    )
    assert "vault" not in text
    assert document.hidden == len("anoteforeditors:thevaultopensatmidnight")
    assert "vault" in loaded("a.md", MARKDOWN, keep_hidden=True).text

    assert document.title == "The kettle & its lid"
    starts = [text[section.start : section.end].split("\n")[0] for section in document.sections]
    assert starts == ["# The kettle & its lid", "Lid"]
    (table,) = document.tables
    assert text[table.start : table.end].splitlines() == [
        "| Part | Size in cm |",
        "| --- | --- |",
        "| lid | 12 &#124; 13 |",
    ]


RST = """Title of *this*
===============

See :pep:`8`, ``**literal**`` and `the guide <https://a.example>`_, **now**.

.. code-block:: python

   def f(*args, **kwargs): return ``x``

Then::

   **kept** as it is

=====  =====
``a``  **b**
=====  =====
1      2
=====  =====

Next
----

The *end*.
"""


def test_markdown_is_read_without_what_directs_a_site_generator():
    """Tags on lines of their own and attributes go, except in code."""
    text = loaded(
        "a.md",
        "# Lid\n{: .no_toc}\n{% include copy.html %}\n\nA [note](b.md){:target='_blank'}.\n"
        "{: .note .wide }\n\nWrite {% if x %} so.\n\n```\n{% include it.html %}\n```\n",
    ).text

    assert (
        " ".join(text.split()) == "# Lid A note. Write {% if x %} so. ``` {% include it.html %} ```"
    )


def test_restructured_text_is_what_a_reader_sees():
    """Marks and roles go, literal blocks stay, and tables are rows with bars."""
    document = loaded("a.rst", RST)
    text = document.text
    assert "See PEP 8, **literal** and the guide, now." in text
    assert "   def f(*args, **kwargs): return ``x``" in text
    assert "   **kept** as it is" in text
    assert "a | b\n1 | 2" in text
    assert [text[section.start : section.end].split("\n")[0] for section in document.sections] == [
        "Title of this",
        "Next",
    ]
    (table,) = document.tables
    assert text[table.start : table.end].startswith("a | b")
    assert text.endswith("The end.")


@pytest.mark.parametrize("clean", [strip_marks, strip_rst_marks])
@pytest.mark.parametrize(
    "hostile",
    [
        "[",
        "![",
        "[[]",
        "`",
        "``",
        "*a",
        "**a",
        "__a",
        "<a ",
        "&#",
        "<!--",
        ":a:`",
        "`a <",
        "a<sup>",
        "\\",
        "_a ",
    ],
)
def test_hostile_marks_keep_their_lines_and_take_linear_time(clean, hostile, growth):
    """What opens and never closes costs the same for each character."""
    assert clean(f"a{hostile}\nb").count("\n") == 1
    assert growth(lambda size: clean(hostile * (size // len(hostile)))) < 4


@pytest.fixture
def growth():
    """How much longer a call takes for four times the input than four times a call takes, at best
    of three.
    """
    from time import process_time

    def measured(call):
        def best(size):
            times = []
            for _ in range(3):
                start = process_time()
                call(size)
                times.append(process_time() - start)
            return min(times)

        return best(40_000) / max(4 * best(10_000), 0.001)

    return measured


def test_a_comment_that_never_ends_hides_nothing():
    """A stray mark is text; in a piece of code it is no comment either."""
    assert "here --> there" in loaded("a.md", "Write `<!--` here --> there.\n").text
    assert "to begin" in loaded("a.md", "Write <!-- to begin.\n").text


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("Use `<!--` to open and <!-- the vault --> end.\n", "Use <!-- to open and  end."),
        ("<!--\n```\nold\n-->\n\nShown.\n\n<!-- the vault -->\n", "Shown."),
        ("```\nold\n<!-- shown -->\n```\n\n<!-- the vault -->\n", "<!-- shown -->"),
    ],
)
def test_code_and_comments_end_where_they_end(body, shown):
    """A mark in code opens no comment, and a fence in a comment opens no block of code."""
    text = loaded("a.md", body).text
    assert shown in text
    assert "vault" not in text
