"""Parts of a web page that fold: what a reader clicks to open one, and the part itself."""

import re
from itertools import islice
from typing import Any

_HEADING = re.compile(r"h[1-6]|dt")
_FOLDS = re.compile(r"accordion|collaps", re.IGNORECASE)
_MAX_ABOVE = 3  # elements between a button and its heading
_HIDING = ("aria-hidden", "class", "hidden", "style")


def show_folds(tree: Any) -> bool:
    """Make what stands above a folded part a heading if it asks, else leave it to its heading.

    Return whether the page has parts that fold. Buttons are no text otherwise, and trafilatura
    leaves out summaries, and tables below them.
    """
    summaries, buttons = list(tree.iter("summary")), list(tree.iter("button"))
    for summary in summaries:
        summary.tag = "h4" if _asks(summary) else "p"
    for button in buttons:
        around = islice(button.iterancestors(), _MAX_ABOVE)
        if any(_HEADING.fullmatch(str(above.tag)) for above in around):
            button.tag = "span"
        elif _asks(button) and (opens(button) or _FOLDS.search(button.get("class", ""))):
            button.tag = "h4"
    return bool(summaries or buttons)


def opens(control: Any) -> set[str]:
    """Return the ids of the parts of a page that an element with a text opens in their place."""
    opened = control.get("aria-controls", "")
    if not opened or control.get("aria-haspopup") is not None:
        return set()
    return set(opened.split()) if has_text(control) else set()


def has_text(element: Any) -> bool:
    """Return whether an element says something."""
    return any(map(str.strip, element.itertext()))


def unfold(part: Any) -> None:
    """Show a part, to trafilatura too."""
    for name in _HIDING:
        part.attrib.pop(name, None)


def _asks(element: Any) -> bool:
    return str(element.text_content()).rstrip().endswith("?")
