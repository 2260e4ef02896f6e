"""Parts of a web page that fold: what a reader clicks to open one, and the part itself."""

import re
from itertools import islice
from typing import Any

_HEADING = re.compile(r"h[1-6]|dt")
_FOLDS = re.compile(r"accordion|collaps", re.IGNORECASE)
_MAX_ABOVE = 3  # elements between a button and its heading
_MAX_TAB = 200  # characters of a tab in the heading of its panel
_HIDING = ("aria-hidden", "class", "hidden", "style")


def show_folds(tree: Any) -> bool:
    """Make what stands above a folded part a heading if it asks, else leave it to its heading.

    Return whether the page has parts that fold. Buttons are no text otherwise, and trafilatura
    leaves out summaries, and tables below them.
    """
    has_tabs = _head_panels(tree)
    for part in tree.iterfind(".//*[@hidden='until-found']"):
        unfold(part)
    summaries, buttons = list(tree.iter("summary")), list(tree.iter("button"))
    for summary in summaries:
        summary.tag = "h4" if _asks(summary) else "p"
    for button in buttons:
        if button.get("aria-expanded") and not button.get("aria-controls"):
            _unfold_next(button)
        around = islice(button.iterancestors(), _MAX_ABOVE)
        if any(_HEADING.fullmatch(str(above.tag)) for above in around):
            button.tag = "span"
        elif _asks(button) and (opens(button) or _FOLDS.search(button.get("class", ""))):
            button.tag = "h4"
    return bool(has_tabs or summaries or buttons)


def _head_panels(tree: Any) -> bool:
    """Make each tab the heading of its panel, and return whether there are as many of both."""
    tabs = [tab for tab in tree.iterfind(".//*[@role='tab']") if has_text(tab)]
    panels = tree.findall(".//*[@role='tabpanel']")
    if len(tabs) != len(panels):
        return False

    for tab, panel in zip(tabs, panels, strict=True):
        heading = panel.makeelement("h4")
        heading.text, heading.tail = " ".join(tab.text_content().split())[:_MAX_TAB], panel.text
        panel.text = None
        panel.insert(0, heading)
        unfold(panel)
        tab.drop_tree()
    return bool(tabs)


def _unfold_next(button: Any) -> None:
    """Show what follows a button, or an element around it, and so is what the button opens."""
    for element in (button, *islice(button.iterancestors(), _MAX_ABOVE)):
        part = next(element.itersiblings("*"), None)
        if part is not None and has_text(part):
            unfold(part)
            return


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
