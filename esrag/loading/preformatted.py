"""Pages that are one preformatted text, as memos and manuals are that were made for printers."""

from typing import Any

_MIN_SHARE = 0.95  # of a page's letters
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
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
    if next(body.iter(*_HEADINGS), None) is not None:
        return ""

    texts = [each.text_content() for each in body.iter("pre")]
    letters = sum(map(_count_letters, texts))
    if letters < _MIN_SHARE * _count_letters(body.text_content()):
        return ""
    return _PAGE_END.join(texts)


def _count_letters(text: str) -> int:
    return len("".join(text.split()))
