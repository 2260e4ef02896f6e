"""Back a sentence with a verbatim quote from a passage.

A quote ends its sentence: `A key has 1184 bytes ("keys of 1184 bytes"). [c1]`. The brackets are
optional, and quotation marks may have any shape. A quote may differ from its passage in white
space, in the shape of quotation marks, apostrophes, dashes and mathematical letters, and in a
hyphen where a line ends within a word. The words that are shown are the passage's own.
"""

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from esrag.evidence.cells import is_cell_of
from esrag.evidence.lines import lines, strip_markers, to_line
from esrag.records import Chunk
from esrag.text.terms import terms
from esrag.verifying.support import QUOTATION, Unsupported

MIN_QUOTE_WORDS = 3  # fewer words are a term, which says nothing about its subject
MAX_CHARACTERS = 300  # three lines; in a longer quote some words always match
MAX_WITHIN = 8  # quotation marks to try as the beginning of the quote

Span = tuple[int, int]

_MARKS = '"“”„‟«»'
_SHAPES = dict.fromkeys(_MARKS, '"') | dict.fromkeys("’‘ʼ", "'") | dict.fromkeys("‐‑–—−", "-")
_MATHEMATICAL = map(chr, range(0x1D400, 0x1D800))  # italic and bold, one for one; not superscripts
_PLAIN = str.maketrans(_SHAPES | {letter: normalize("NFKC", letter) for letter in _MATHEMATICAL})
_OPENS = re.compile(rf"(?<!\w)[{_MARKS}]")
_CLOSES = re.compile(rf"[{_MARKS}]\s?\)?\s?([.!?…]?)\s?\)?\Z")
# Starts at the first blank, for speed.
_WITHIN = re.compile(rf"(?<!\s)\s*\(?(?:{QUOTATION.pattern})\)?")
_ENDS = " \n.,;:!?…"  # characters at the end of a quote that its passage may lack
_BROKEN = r"(?:-\s*\n\s*|\xad)"  # within a word
# Not a part of a word, a number or a compound, such as the 5 of 1.5 or the KEM of ML-KEM.
_WHOLE = r"(?<![\w-])(?<!\d[.,]){}(?!\w|[.,-]\w)"


def back_with_quote(sentence: str, passages: Sequence[Chunk]) -> tuple[str, str]:
    """Return a sentence without its quote, and with the passage's own words as its quote.

    A sentence that occurs in a passage, or is a table row with its header, is its own quote.

    Raises: Unsupported.
    """
    texts = [chunk.text for chunk in passages]
    if any(_own(sentence, text) for text in texts):
        return sentence, sentence

    parts = list(_parts(sentence))
    for rest, quote, full_stop in parts:
        for text in texts:
            if span := _found(quote, text):
                words = " ".join(strip_markers(text[slice(*span)]).split())
                return _shown(rest, words, full_stop)
    if parts:
        raise Unsupported(f"the quote {parts[0][1][:80]!r} is not in")
    raise Unsupported(
        f"it does not end with a quote of {MIN_QUOTE_WORDS} words to {MAX_CHARACTERS} characters of"
    )


def find_quote(sentence: str, text: str) -> Span | None:
    """Return the span of the text that a sentence quotes, or None.

    The whole sentence, its end or a part may be the quote.
    """
    if span := _own(sentence, text):
        return span
    within = ("".join(groups) for groups in QUOTATION.findall(sentence))
    quotes = (*(quote for _, quote, _ in _parts(sentence)), *within)
    return next(filter(None, (_found(quote.strip(_ENDS), text) for quote in quotes)), None)


def strip_quote(sentence: str) -> str:
    """Return the sentence without its quotes.

    >>> strip_quote('It is closed ("It is closed. It is red"). It says "it is closed" too.')
    'It is closed. It says too.'
    """
    return _WITHIN.sub("", sentence)


def mask_quote(text: str) -> str:
    """Return the text with quotes masked, so that no sentence ends within one.

    The last character of a quote stays.

    >>> mask_quote('He says ("it is. Is it?") and goes.')
    'He says (“xxxxxxxxxxxx?”) and goes.'
    """
    return QUOTATION.sub(lambda found: f"“{'x' * (len(found[0]) - 3)}{found[0][-2]}”", text)


def _shown(rest: str, words: str, full_stop: str) -> tuple[str, str]:
    """Return the sentence and its shown form.

    Raises: Unsupported if the quote is about something else.
    """
    if not rest:
        return words, f"“{words}”{full_stop}"
    if set(terms(rest)).isdisjoint(terms(words)):
        raise Unsupported(f"the quote {words[:80]!r} does not speak of it in")
    body = rest.rstrip(".!?…")
    return rest, f"{body} (“{words}”){full_stop or rest[len(body) :]}"


def _parts(sentence: str) -> Iterator[tuple[str, str, str]]:
    """Yield the text before a quote at the end, the quote, and the full stop.

    A quote may contain others: the longest comes first, but after those that follow a bracket.
    """
    closes = _CLOSES.search(sentence)
    if not closes:
        return

    marks = _OPENS.finditer(sentence, max(closes.start() - MAX_CHARACTERS - 1, 0), closes.start())
    full_stop = closes[1] or (
        sentence[closes.start() - 1] if sentence[closes.start() - 1] in ".!?…" else ""
    )

    for opens in sorted(marks, key=lambda mark: sentence[mark.start() - 1] != "(")[:MAX_WITHIN]:
        quote = sentence[opens.end() : closes.start()].strip(_ENDS)
        if len(quote.split()) >= MIN_QUOTE_WORDS or (
            not quote.isascii() and len(terms(quote)) >= MIN_QUOTE_WORDS
        ):
            yield sentence[: opens.start()].rstrip(" \n(:,;–—"), quote, full_stop


def _own(sentence: str, text: str) -> Span | None:
    """Return the span of the sentence, or of its table row with the header.

    A sentence may also be labelled cells of a row, "ML-KEM-768, ciphertext: 1088 bytes".
    """
    if span := _found(sentence, text):
        return span
    sources = (
        line.source
        for line in lines(text)
        if _found(sentence, to_line(line.text))
        or (line.row is not None and is_cell_of(sentence.rstrip("."), line.row))
    )
    return next(filter(None, (_found(source, text) for source in sources)), None)


def _found(quote: str, text: str) -> Span | None:
    # The translation keeps the length.
    held, quote = (strip_markers(one).translate(_PLAIN) for one in (text, quote))
    words = quote.replace("\xad", "").split()
    if not words or len(" ".join(words)) > len(held):
        return None
    joint = f"{_BROKEN}?" if re.search(_BROKEN, held) else ""
    # Most lines lack a word: to look for the words costs a hundredth of building a pattern.
    if not joint and any(part not in held for word in words for part in word.split("-")):
        return None

    pattern = r"\s+".join(joint.join(map(re.escape, word)) for word in words)
    found = re.search(_WHOLE.format(pattern.replace(r"\-", r"\-(?:\s*\n\s*)?")), held)
    return found.span() if found else None
