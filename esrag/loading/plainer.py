"""Elements of a web page made plainer, so that trafilatura keeps what they say."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

# Trafilatura leaves these out, or gives each a line of its own; their text is a part of the line.
_WITHIN_LINES = ("data", "label", "output", "q", "sup", "time")
_BLOCKS = {"center": "div", "figure": "div", "figcaption": "p", "legend": "p"}
_NOTE = re.compile(r"admonition|callout|footnote|note|tip|warning", re.IGNORECASE)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SAYS = (*HEADINGS, "li", "p", "td")
_MAX_AROUND = 2  # elements between a heading and the one that is named after it
_ENDS_LABEL, _BEGINS_VALUE = re.compile(r"\w[\w)]\Z|\A\(\w{1,4}\)\Z"), re.compile(r"\W?\w.")
_MIN_SAID = 40  # characters of a form that is more than fields


def make_plainer(tree: Any) -> bool:
    """Make elements that trafilatura drops such as it keeps, and return whether there were some.

    Figures keep their captions and code its lines. Notes in an `aside` belong to the text, and so
    do forms with sentences.
    """
    from lxml import etree  # type: ignore[import-untyped]

    steps: tuple[Callable[[Any], bool], ...] = (
        _show_formulas,
        _wrap_code,
        _rename_blocks,
        _part_labels,
        _drop_slugs,
    )
    found = [step(tree) for step in steps]
    has_words = next(tree.iter(*_WITHIN_LINES), None) is not None
    for quoted in tree.iter("q"):
        quoted.text, quoted.tail = f'"{quoted.text or ""}', f'"{quoted.tail or ""}'
    etree.strip_tags(tree, *_WITHIN_LINES)
    return has_words or any(found)


def _show_formulas(tree: Any) -> bool:
    """Replace each formula by its text: as its author wrote it, if the page says how."""
    written = ".//annotation[@encoding='application/x-tex']"
    formulas = list(tree.iter("math"))
    for formula in formulas:
        said = formula.get("alttext") or formula.findtext(written)
        said = said or "".join(map(str.strip, formula.itertext()))
        formula.tail = f"{said}{formula.tail or ''}"
        formula.drop_tree()
    return bool(formulas)


def _wrap_code(tree: Any) -> bool:
    """Mark preformatted text as code: trafilatura keeps the lines of code."""
    blocks = [block for block in tree.iter("pre") if block.find(".//code") is None]
    for block in blocks:
        code = block.makeelement("code")
        code.text, block.text = block.text, None
        code.extend(list(block))
        block.append(code)
    return bool(blocks)


def _rename_blocks(tree: Any) -> bool:
    found = [*tree.iter(*_BLOCKS), *filter(_is_note, tree.iter("aside"))]
    found += filter(_says_much, tree.iter("form", "fieldset"))
    for block in found:
        block.tag = _BLOCKS.get(block.tag, "div")
    return bool(found)


def _part_labels(tree: Any) -> bool:
    """Put a space between a label and the text right after it, which style sheets set apart.

    As in `<span class="label">Fee</span><span class="value">5 euros</span>`.
    """
    labels = [label for label in tree.iter("span", "strong", "b", "small") if _is_label(label)]
    for label in labels:
        label.tail = " "
    return bool(labels)


def _is_label(element: Any) -> bool:
    after = element.getnext()
    is_alone = not (element.tail or len(element))
    if not is_alone or after is None or after.tag not in ("a", "div", "span", "strong"):
        return False
    label, value = element.text or "", next(after.itertext(), "")
    classes = element.get("class"), after.get("class")
    is_in_code = next(element.iterancestors("code", "pre", "kbd", "dt"), None) is not None
    return (
        classes[0] != classes[1]
        and bool(_ENDS_LABEL.search(label) and _BEGINS_VALUE.match(value))
        and not is_in_code
    )


def _drop_slugs(tree: Any) -> bool:
    """Remove the ids that repeat the heading of a section, such as "related-work".

    Trafilatura takes them for what a site calls the boxes around its texts.
    """
    is_changed = False
    for heading in tree.iter(*HEADINGS):
        title = _to_letters(heading.text_content())
        for element in (heading, *islice(heading.iterancestors(), _MAX_AROUND)):
            name = _to_letters(element.get("id", ""))
            if name and title.endswith(name):
                del element.attrib["id"]
                is_changed = True
    return is_changed


def _to_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _is_note(aside: Any) -> bool:
    return bool(aside.get("role") == "note" or _NOTE.search(aside.get("class", "")))


def _says_much(form: Any) -> bool:
    said = (each.text_content().strip() for each in form.iter(*_SAYS))
    return any(len(text) >= _MIN_SAID for text in said)
