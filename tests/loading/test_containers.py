"""Markdown's dialects: titles of boxes and tabs stay, what opens and closes them goes."""

import pytest

DIALECTS = {
    "Material for MkDocs": """=== "Linux"

    Use apt.

    1. Wait.

        === "Debian"

            Use apt-get.

===+ 'macOS'

    Use brew.
""",
    "Docusaurus": """import Tabs from '@theme/Tabs';
import './a.css'

<Tabs groupId="os" values={[{label: 'a', value: 'b'}]}>
<TabItem value="l" label="Linux">

Use apt.

1. Wait.
</TabItem>
<TabItem value="d" label='Debian' default>Use apt-get.</TabItem>
<TabItem value="m" label="macOS">Use brew.</TabItem>
</Tabs>
""",
    "GitBook": """{% tabs %}
{% tab title="Linux" %}
Use apt.

1. Wait.
{% endtab %}
{% tab title="Debian" %}
Use apt-get.
{% endtab %}
{% tab title="macOS" %}
Use brew.
{% endtab %}
{% endtabs %}
""",
    "Hugo": """{{< tabs >}}
{{< tab "Linux" >}}
Use apt.

1. Wait.
{{< /tab >}}
{{% tab name="Debian" %}}
Use apt-get.
{{% /tab %}}
{{< tab header="macOS" lang="en" >}}
Use brew.
{{< /tab >}}
{{< /tabs >}}
""",
}
BOXES = (
    '!!! warning "Mind the lid"\n    It is hot.\n\n    Wait.\n',
    '???+ note inline end "Mind the lid"\n    It is hot.\n\n    Wait.\n',
    ":::tip Mind the lid\nIt is hot.\n\nWait.\n:::\n",
    ":::note[Mind the lid]\nIt is hot.\n\nWait.\n:::\n",
    "::: warning Mind the lid\nIt is hot.\n\nWait.\n:::\n",
    '<Callout type="info" title="Mind the lid">\nIt is hot.\n\nWait.\n</Callout>\n',
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tabs_head_their_panels(dialect, load_one):
    """Each is a section below that around it, its content without a margin but that of an item."""
    document = load_one("a.mdx", f"# Kettle\n\n## Install\n\n{DIALECTS[dialect]}")
    lines = [line.strip() for line in document.text.split("\n") if line.strip()]
    assert lines == [
        *("# Kettle", "## Install", "### Linux", "Use apt.", "1. Wait."),
        *("### Debian", "Use apt-get.", "### macOS", "Use brew."),
    ]
    assert [len(section.path) for section in document.sections] == [1, 2, 3, 3, 3]


@pytest.mark.parametrize("box", BOXES)
def test_boxes_keep_their_titles(box, load_one):
    """The title is a paragraph of its own."""
    text = load_one("a.md", f"# Kettle\n\nBefore.\n\n{box}\nAfter.\n").text
    lines = [line for line in text.split("\n") if line.strip()]
    assert lines == ["# Kettle", "Before.", "Mind the lid", "It is hot.", "Wait.", "After."]


@pytest.mark.parametrize(
    "line",
    [
        "Write <Name> here.",
        "Use `<Tabs>` and `</Tabs>`.",
        "a ::: b",
        "import it from 'there' by hand",
        "=== more",
        '!!! That is "how" we shout',
        "The field {{ title }} is shown.",
    ],
)
def test_what_opens_nothing_stays(line, load_one):
    """A placeholder, a piece of code, or a sentence."""
    assert load_one("a.md", f"# Kettle\n\n{line}\n").text.endswith(line.replace("`", ""))


def test_code_is_no_container(load_one):
    """Marks in fenced code are kept, within a box as well."""
    code = '```\n=== "a"\n:::tip\n<Tabs>\n</Tabs>\n{{< tab "b" >}}\n```'
    inside = "\n".join(f"    {line}" for line in code.split("\n"))
    assert load_one("a.md", f"{code}\n").text == code
    assert load_one("a.md", f"!!! note\n{inside}\n").text.strip() == code


def test_boxes_in_boxes_end(load_one):
    """Of two hundred, the margins of eight are taken away."""
    nested = "".join(f'{"    " * depth}!!! note "n{depth}"\n' for depth in range(200))
    text = load_one("a.md", f"{nested}\nThe end.\n").text
    assert text.startswith("n0")
    assert text.endswith("\n\nThe end.")


def test_footnotes_follow_their_section(load_one):
    """Without marks; a mark without a note stays, as does one in code."""
    body = (
        "# Fees\n\nEntry is 5 €[^1], see [^b] and `[^1]` and [^none].\n\n"
        "Hours\n-----\n\n9 to 5 [^1].\n\n"
        "[^1]: Children 3 €.\n    Dogs 1 €.\n\n[^b]: Cash only.\n[^unused]: In May.\n"
    )
    lines = [line for line in load_one("a.md", body).text.split("\n") if line.strip()]
    assert lines == [
        *("# Fees", "Entry is 5 €, see and [^1] and [^none].", "Children 3 €.", "Dogs 1 €."),
        *("Cash only.", "Hours", "-----", "9 to 5.", "In May."),
    ]


def test_items_on_one_line_are_apart(load_one):
    """Of a list in HTML."""
    text = load_one("a.md", "<ol><li>Open it.</li> <li>Wait.</li><li>Close it.</li></ol>\n").text
    assert text.strip() == "1. Open it.\n2. Wait.\n3. Close it."
