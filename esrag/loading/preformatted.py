"""Pages that are one preformatted text, as memos and manuals are that were made for printers."""

from typing import Any

from esrag.loading.layout import count_characters
from esrag.loading.plainer import HEADINGS

_MIN_SHARE = 0.95  # of a page's letters
_PAGE_END = "\n\f\n"


def read_preformatted(body: Any) -> str:
    r"""Return the text of a page that has next to nothing else, its pages parted by form feeds.

    It is empty for any other page, and for one with headings of its own.

    >>> from lxml import html
    >>> read_preformatted(html.fromstring("<div><pre>Ann [1]</pre><hr><pre>Ben</pre></div>"))
    'Ann [1]\n\x0c\nBen'
    >>> read_preformatted(html.fromstring("<div><p>Press:</p><pre>Enter</pre></div>"))
    ''
    """
    if next(body.iter(*HEADINGS), None) is not None:
        return ""

    texts = [each.text_content() for each in body.iter("pre")]
    letters = sum(map(count_characters, texts))
    if letters < _MIN_SHARE * count_characters(body.text_content()):
        return ""
    return _PAGE_END.join(texts)
