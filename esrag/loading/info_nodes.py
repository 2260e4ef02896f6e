"""Manuals in the format of Info: nodes of plain text, with lines and menus that lead to others."""

import re

_NODE = re.compile(r"[\f\n]{0,4}File: [^\n]{1,400}\bNode: [^\n]{1,400}\n")
_MENU = re.compile(r"^\* Menu:$", re.MULTILINE)
_END = "\x1f"


def join_nodes(text: str) -> str:
    r"""Return the nodes of a manual without their menus, and without tables of places.

    What stands before the first node is in it again. Any other text comes back as it is.

    >>> node = "\x1f\nFile: a.info,  Node: Lids,  Up: Top\n\n1 Lids\n"
    >>> join_nodes(f"This is a.info\n{node}They shut.\n\n* Menu:\n\n* Oil::\n\x1f\nTag Table:\n")
    '\n1 Lids\nThey shut.\n\n'
    >>> join_nodes("a\x1fb")
    'a\x1fb'
    """
    pieces = ((piece, _NODE.match(piece)) for piece in text.split(_END))
    nodes = [piece[head.end() :] for piece, head in pieces if head]
    return "\n".join(_MENU.split(node, 1)[0] for node in nodes) or text
