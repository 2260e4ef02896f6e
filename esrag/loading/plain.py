"""Plain text."""

import re
from collections.abc import Iterator

from esrag.loading.aligned import write_aligned
from esrag.loading.decoding import decode, is_text
from esrag.loading.info_nodes import join_nodes
from esrag.loading.layout import Layout, shorten_leaders, trim
from esrag.loading.line_ends import join_cut_words
from esrag.loading.paged import join_pages
from esrag.loading.plain_headings import find_headings
from esrag.loading.plain_titles import find_title
from esrag.records import Document, Source
from esrag.text import normalise

# A colour or another command to a terminal, as in logs.
_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# An item as memos and manuals print it: "   o  a key", and not "   o = 5".
_O_BULLET = re.compile(r"^([ \t]{1,12})o(?=[ \t]{1,4}[\w\"'`(<\[])", re.MULTILINE)


class PlainLoader:
    """Any text that no other loader knows better."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 0.5 by name, 0.1 for any text."""
        if not is_text(data):
            return 0.0
        return 0.5 if name.lower().endswith((".txt", ".text", ".log")) else 0.1

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError if no encoding fits.
        """
        layout = Layout()
        title = write_plain(layout, _COLOUR.sub("", decode(source.data)))
        yield layout.document(source, "plain", title)


def write_plain(layout: Layout, written: str) -> str:
    """Write a text with its headings and tables into an empty layout, and return its title."""
    plain = join_cut_words(normalise(join_pages(join_nodes(written))))
    shown = shorten_leaders(_O_BULLET.sub(r"\1•", plain))
    text, tables = write_aligned(trim(shown))

    layout.add(text)
    for table in tables:
        layout.mark_table(table)
    for start, level, title in find_headings(text):
        layout.mark_heading(start, level, title)
    return find_title(text)
