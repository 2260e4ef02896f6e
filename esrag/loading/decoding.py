"""Bytes → text: a byte order mark, else UTF-8, else what charset-normalizer makes of them."""

import codecs
import re

from esrag.errors import ParsingError

_SAMPLE = 65_536
_MARKS = (  # UTF-32's mark starts with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Bell, backspace and escape of a terminal may occur in text.
_CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
# Programs that declare Latin-1 write Windows' quotes and euro signs, and show them, as browsers do.
_LATIN_1 = {"iso-8859-1", "latin-1", "latin1"}
# Bytes that Windows-1252 does not have for letters and signs of Western Europe. Text in Polish,
# Czech, Greek or Cyrillic has some of them in its own encodings.
_WESTERN = "ÀÄÅÆÇÈÉÊÔÖØÜßàáâäåæçèéêëíîïñóôöøùúûü€£§«°·»¿¡©®–—‘’“”„…•™\xa0"
_OTHER = re.compile(b"[^\x00-\x7f" + re.escape(_WESTERN.encode("cp1252")) + b"]")
_NOT_TEXT = "holds bytes that are no text in any known encoding"


def is_text(data: bytes) -> bool:
    """Return whether the bytes can be text.

    That is the case if they are marked or patterned as UTF-16 or UTF-32, or nearly free of control
    characters.
    """
    sample = data[:_SAMPLE]
    # One in a hundred: of 823 real files text has none, a PDF 4.8 and a zip archive 11 at least; a
    # log may have a few.
    return bool(_encoding(sample)) or len(_CONTROLS.findall(sample)) * 100 <= len(sample)


def decode(data: bytes, declared: str = "") -> str:
    r"""Return the text of the bytes; a declared encoding is used if the bytes are valid in it.

    >>> decode(b"\x93Oil\x94, 5 \x80", "ISO-8859-1")
    '“Oil”, 5 €'

    Raises: ParsingError if no encoding fits.
    """
    if not is_text(data):
        raise ParsingError(_NOT_TEXT)

    wider = "cp1252" if declared.lower() in _LATIN_1 else ""
    for encoding in (_encoding(data[:_SAMPLE]), wider, declared, "utf-8"):
        try:
            if encoding:
                return data.decode(encoding)
        except (UnicodeError, LookupError, ValueError):
            continue
    return _guess(data)


def _encoding(sample: bytes) -> str:
    """Return the encoding that a byte order mark or a pattern of NUL bytes gives away, else ""."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    least = len(sample) / 5  # of Latin letters in UTF-16 each second byte is NUL
    if min(even, odd) == 0 and max(even, odd) > least:
        return "utf-16-be" if even else "utf-16-le"
    return ""


def _guess(data: bytes) -> str:
    """Return the text in the encoding that its bytes look like.

    A short text tells little, and most that is not UTF-8 is from Windows in Western Europe.

    >>> _guess("Begünstigter; 5 €".encode("cp1252"))
    'Begünstigter; 5 €'

    Raises: ParsingError if no encoding fits.
    """
    from charset_normalizer import from_bytes

    if not _OTHER.search(data):
        return data.decode("cp1252")
    best = from_bytes(data).best()
    if best is None:
        raise ParsingError(_NOT_TEXT)
    return str(best)
