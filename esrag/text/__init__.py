"""Text as every stage sees it: normalised once, and split into sentences and words by offsets.

Within blocks, nupunkt (Bommarito, Katz & Bommarito, 2025) finds the sentences. Blocks are needed
because PDFs and spreadsheets are full of lines that end without a full stop: headings, list items,
rows, captions, steps of algorithms.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise

_PLACE = re.compile(r"\{(\w{1,40})\}")

# C0 and C1 controls except tab and newline, lone surrogates, noncharacters and byte order marks.
# Nothing can display them, a terminal may act on them, and SQLite and UTF-8 refuse some.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)

# Characters that are invisible on the page (Unicode's Default_Ignorable_Code_Point, and the
# annotation marks). They could carry a hidden message, or split a word such as "not" before it is
# compared.
_INVISIBLE = (
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Some scripts and emoji need them. One is kept after each character that it belongs to.
_PICTURES = "\xa9\xae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# Hebrew to Arabic Extended-A, India to Tibet, Myanmar, Khmer, Mongolian, other Asian scripts.
_JOINED_SCRIPTS = (
    "\u0590-\u0fff\u1000-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1900-\u1cff\ua840-\uabff"
    "\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010800-\U00011fff\U0001e800-\U0001efff"
)
_VARIANT = "[\ufe00-\ufe0f]"
# England, Scotland and Wales: a black flag, the country's letters as tags, and an end tag.
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in country) + "\U000e007f"
    for country in ("gbeng", "gbsct", "gbwls")
)
_KEPT = "|".join(
    (
        _FLAGS,
        f"[{_PICTURES}]{_VARIANT}?(?:\u200d[{_PICTURES}]{_VARIANT}?)+",
        f"[{_PICTURES}]{_VARIANT}",
        "[#*0-9]\ufe0f(?=\u20e3)",
        f"[{_HAN}][\ufe00-\ufe0f\U000e0100-\U000e01ef]",
        "[\u1810-\u18af][\u180b-\u180f]",
        f"(?!\u061c)[{_JOINED_SCRIPTS}][\u200c-\u200f]",
        "[\u200e\u200f](?=[\u0590-\u060f\u0620-\u08ff\ufb1d-\ufdcf\ufe70-\ufefc])",
    )
)
_NEEDED_OR_INVISIBLE = re.compile(f"({_KEPT})|[{_INVISIBLE}]")
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_MADE_OF_MARKS = "\u0f73\u0f75\u0f81"
# With its line break: the word continues there.
_SOFT_HYPHEN = re.compile(r"\xad(?:[ \t]*\n[ \t]*(?=\w))?")

# A row up to this length is read as a whole, because "act.)" in a cell looks like a sentence's end.
_MAX_ROW_CHARACTERS = 700

# nupunkt reads pieces: on a megabyte without a blank line, this is a third faster and bounds
# memory.
_PIECE_CHARACTERS = 20_000

_WORD = re.compile(r"\w+|[^\w\s]")
_CAPTION = r"(?:Table|Figure|Fig\.|Algorithm|Listing|Chart)\s+[A-Z]?[\d.-]{0,8}[.:]"
_ROW_OR_HEADING = re.compile(r"\||#{1,6}\s")
MARKS = "*•‣▪▸◦–●■＊○□◆◇⋄❖►▶➢➤→⇒✓✔✗✘☐☑☒⁃∙·"  # before items
ITEM = re.compile(rf"(?:[-+{MARKS}]|\(?(?:\d{{1,3}}|[a-z]|[ivx]{{1,5}})\)|\d{{1,3}}:)\s")
ASKED = re.compile(r"Q(?:uestion)?(?: ?\d{1,3})?[:.]\s+")  # before a question with its answer
_NUMBERED = re.compile(rf"\d{{1,3}}\.\s|(?:\d{{1,3}}\.){{1,5}}\d{{1,3}}\.?\s|{_CAPTION}\s")
_DOTTED, _MIN_WRAPPED = re.compile(r"\d{1,3}\.\d{1,3}\s"), 50  # characters
# "SECTION 5: Fire", below a sentence
_PART = re.compile(
    r"(?:annex|appendix|chapter|part|section) [\dA-Z]{1,4}[.:]? [^\n]{1,80}(?<![.,;:?!])",
    re.IGNORECASE,
)
# "'Loan' means a sum that …;" in a list of what terms mean
_MEANT = re.compile(
    r"[\"“‘'][^\"“”‘’']{1,60}[\"”’'],?"
    r" (?:means|includes|refers to|denotes|has the (?:same )?meaning"
    r"|(?:shall|will) (?:have the meaning|include|mean))\b"
)
_CUT_HERE = re.compile(r"(?:[-–—_.·✂] ){5,}[-–—_.·✂]?")  # of a form, stripped
_COUNTED = re.compile(r"\s{0,12}(\d{1,2}|[a-z])\.\s")
_NUMBERED_HEADING = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,5}\.?\s[^\n]{1,90}(?<![.,;:?!])")
MIN_CLAUSE_WORDS = 8  # fewer are a title that ends with a full stop
_SECTION_NUMBER = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){0,5}\.?|[A-Z](?:\.\d{1,3}){1,5}\.?|[A-Z]\.)\s"
)
# A spreadsheet's "City: Kiel; Founded: 1242".
NAMED_ROW = re.compile(r"[^:;|\n]{1,80}: [^;\n]*; [^:;|\n]{1,80}: ")
_UNDERLINE = re.compile(r"([=~\-*^])\1{2,}")
_LABEL = re.compile(rf"\(?\w{{1,5}}[.):]|{_CAPTION}")
_BEGINS_NOTHING = re.compile(r"\s*[)\]},:;](?!\S?[)(])")  # but a smiley
_SHORTENED = re.compile(  # before a word in small letters or a number
    r"\b(?i:approx|avg|dept|est|excl|ext|incl|max|min|nos?|temp)\. [a-z\d]\Z"
)
_MAX_SHORTENED = 8  # characters
# nupunkt takes the "A" for an initial: "… by car. A ticket is …". But "fig. A shows" goes on.
_BEFORE_A = re.compile(
    r"(?<![^\W_])(?!(?:app|art|cap|col|div|fig|par|ref|sec|vol)\.)[a-z]{3,20}\.\s{1,4}(?=A [a-z])"
)
# A line that ends like this continues on the next one: "…, as listed in / Table 3. The …".
_OPEN_END = re.compile(
    r"(?:[,(–-]|\b(?:a|an|and|are|as|at|by|for|from|in|into|is|of|on|or|that|the|to|with"
    r"|see|section|sections|chapter"
    r"|tables?|figures?|fig\.|algorithm|equation|eq\.|step|page|part|no\.|appendix|point))$",
    re.IGNORECASE,
)


def normalise(text: str) -> str:
    r"""Return the text in NFC, with newlines as line ends, without characters that do not show.

    >>> normalise("cafe\u0301\r\nb\x00\fc"), normalise("no\u200bt \U000e0041so\xad")
    ('café\nb\nc', 'not so')
    """
    text = unicodedata.normalize(
        "NFC", _with_few_marks(_SOFT_HYPHEN.sub("", drop_unshowable(text)))
    )
    if text.isascii() or not _ANY_INVISIBLE.search(text):
        return text

    seen = _NEEDED_OR_INVISIBLE.sub(lambda found: found[1] or "", text)
    return unicodedata.normalize("NFC", seen)


def _with_few_marks(text: str) -> str:
    """Return the text with at most 30 combining marks in a row, as in Unicode's stream-safe format.

    Python takes quadratic time to put the marks in order.
    """
    return text if text.isascii() else _long_run_of_marks().sub(r"\1", text)


@cache
def _long_run_of_marks() -> re.Pattern[str]:
    """Return a pattern for over 30 combining marks in a row.

    Characters that decompose to begin with such a mark count as well.
    """
    characters = map(chr, range(0x300, 0x1EB00))
    marks = "".join(it for it in characters if unicodedata.combining(it) or it in _MADE_OF_MARKS)
    return re.compile(f"([{marks}]{{30}})[{marks}]+")


def format_count(number: int, noun: str) -> str:
    """Return a number and its noun, in the singular or the plural.

    >>> format_count(1, "file"), format_count(2000, "batch"), format_count(0, "query")
    ('1 file', '2,000 batches', '0 queries')
    """
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith(('ch', 's', 'x')) else 's'}"


def drop_unshowable(text: str) -> str:
    r"""Return the text with newlines as line ends and without undisplayable characters.

    Unlike `normalise`, it also works on a text in pieces.

    >>> drop_unshowable("a\r\n\x1b[1m")
    'a\n[1m'
    """
    return _UNSHOWABLE.sub("", re.sub("\r\n|[\r\f\v\x85\u2028\u2029]", "\n", text))


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the offsets of words and single punctuation marks: the tokens without an encoder.

    >>> word_spans("pH 7.")
    [(0, 2), (3, 4), (4, 5)]
    """
    return [match.span() for match in _WORD.finditer(text)]


def character_spans(text: str) -> list[tuple[int, int]]:
    """Return the offsets of every character: the tokens of sizes in characters.

    >>> character_spans("pH")
    [(0, 1), (1, 2)]
    """
    return [(at, at + 1) for at in range(len(text))]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    r"""Return the offsets of sentences: in order, not overlapping, trimmed, covering all words.

    A heading, a list item, a table row or a step of an algorithm is a sentence of its own.

    >>> text = "2 Keys\n\nA key is long. It is\nsecret, cf. Sec. 3.\n- one\n- two"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['2 Keys', 'A key is long.', 'It is\nsecret, cf. Sec. 3.', '- one', '- two']
    """
    return [span for start, end in block_spans(text) for span in _sentences(text, start, end)]


def split_sentences(text: str) -> Iterator[str]:
    """Yield pieces that are one sentence each, also when read by themselves."""
    spans = sentence_spans(text)
    if len(spans) == 1:
        yield text
    else:
        for start, end in spans:
            yield from split_sentences(text[start:end])


def block_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of blocks, which no sentence crosses, trimmed and in order.

    A block is a paragraph, a heading, an item or a row. A line to cut along is left out.
    """
    start = offset = 0
    previous = ""
    lines = text.split("\n")
    counted = _find_counted(lines)

    for number, raw in enumerate(lines):
        line = raw.strip()
        if _CUT_HERE.fullmatch(previous):
            start = offset
        elif number in counted or _CUT_HERE.fullmatch(line) or _parts(previous, line):
            yield from trim_span(text, start, offset)
            start = offset
        previous = line
        offset += len(raw) + 1
    if not _CUT_HERE.fullmatch(previous):
        yield from trim_span(text, start, len(text))


def _find_counted(lines: Iterable[str]) -> set[int]:
    """Return which lines are the items "1.", "2." … or "a.", "b." … of a list.

    Whatever stands before them.

    >>> sorted(_find_counted(["You have to", "1. sweep,", "2. lock,", "see step", "7. of it"]))
    [1, 2]
    """
    items: set[int] = set()
    last, place, was_figure = 0, 0, True

    for number, line in enumerate(lines):
        if not (mark := _COUNTED.match(line)):
            continue
        is_figure = mark[1].isdigit()
        count = int(mark[1]) if is_figure else ord(mark[1]) - ord("a") + 1
        is_next = last > 0 and (count, is_figure) == (last + 1, was_figure)
        if is_next:
            items |= {place, number}
        last = count if count == 1 or is_next else 0
        place, was_figure = number, is_figure

    return items


def trim_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without surrounding white space, or nothing for a blank one.

    >>> list(trim_span(" a ", 0, 3)), list(trim_span("  ", 0, 2))
    ([(1, 2)], [])
    """
    piece = text[start:end]
    if kept := piece.strip():
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(kept)


def drop_number(heading: str) -> str:
    """Return a heading without the number of its section.

    >>> drop_number("3.1 Keys"), drop_number("A.2. Tables"), drop_number("A key")
    ('Keys', 'Tables', 'A key')
    """
    number = _SECTION_NUMBER.match(heading)
    return heading[number.end() :].strip() if number else heading.strip()


def get_heading(path: str) -> str:
    """Return the last heading of a section's path.

    >>> get_heading("Keys > Sizes"), get_heading("")
    ('Sizes', '')
    """
    return path.rpartition(" > ")[2]


def is_clause(heading: str) -> bool:
    """Return whether a heading is a whole sentence, as the numbered clauses of a contract may be.

    >>> is_clause("4.2 The tenant may keep one cat if it is small."), is_clause("4.2 Pets.")
    (True, False)
    """
    return heading.endswith(".") and len(heading.split()) >= MIN_CLAUSE_WORDS


def get_number(heading: str) -> str:
    """Return the number of a heading's section, or "".

    >>> get_number("3.1 Keys"), get_number("A.2. Tables"), get_number("A key")
    ('3.1', 'A.2', '')
    """
    number = _SECTION_NUMBER.match(heading)
    return number[0].strip(" .") if number else ""


def pieces(text: str, start: int, end: int, characters: int) -> Iterator[tuple[int, int]]:
    """Yield spans of at most `characters` that tile `text[start:end]`.

    They are cut after white space if possible.

    >>> list(pieces("one two three", 0, 13, 5))
    [(0, 4), (4, 8), (8, 13)]
    """
    while end - start > characters:
        window = text[start : start + characters]
        cut = max(window.rfind(" "), window.rfind("\n")) + 1 or characters
        yield start, start + cut
        start += cut
    yield start, end


def _parts(previous: str, line: str) -> bool:
    """Return whether a block ends between two adjacent, stripped lines."""
    if not previous or not line or _stands_alone(previous) or _stands_alone(line):
        return True
    if NAMED_ROW.match(line) and NAMED_ROW.match(previous):
        return True
    if ITEM.match(line) or _MEANT.match(line) or _UNDERLINE.fullmatch(previous):
        return True
    if _OPEN_END.search(previous[-16:]) or _is_wrapped(previous, line):
        return False
    is_part = previous[-1] in ".!?" and _PART.fullmatch(line)
    if is_part or _NUMBERED.match(line) or _NUMBERED_HEADING.fullmatch(previous):
        return True

    return _ends_early(previous, line) or (
        _is_row(previous) and line[0].isupper() and not _is_row(line)
    )


def _is_wrapped(previous: str, line: str) -> bool:
    """Return whether two long lines are of one sentence, though the second begins with a number.

    As in "… with the launch of Mac OS X / 10.2 in August 2002, …": there is no heading.
    """
    is_long = min(len(previous), len(line)) >= _MIN_WRAPPED
    is_open = previous[-1].isalnum() and not _NUMBERED.match(previous)
    return is_long and is_open and bool(_DOTTED.match(line))


def _stands_alone(line: str) -> bool:
    return bool(_ROW_OR_HEADING.match(line)) or " | " in line or "\t" in line


def _is_row(line: str) -> bool:
    """Return whether a line is mostly numbers, like a table row in a PDF."""
    words = line[:200].split()
    numbers = sum(word[0].isdigit() for word in words)
    return numbers > 1 and 2 * numbers >= len(words)


def _ends_early(previous: str, line: str) -> bool:
    """Return whether a line ends well before the next one.

    That is a heading, a last row or the end of a paragraph. Lines wrapped to a width are ragged by
    a word or two; 0.6 leaves room for a long word.
    """
    first_word = line[:40].split(maxsplit=1)[0]
    starts_anew = first_word[0].isupper() or first_word[0].isdigit()
    return starts_anew and len(previous) + 1 + len(first_word) < 0.6 * len(line)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of one block. A label such as "Table 3." stays with what it labels."""
    if end - start <= _MAX_ROW_CHARACTERS and " | " in text[start:end]:
        yield start, end
        return

    held = None
    for begin, stop in _split(text, start, end):
        span = (begin if held is None else held, stop)
        held = span[0] if _goes_on(text, span, start, end) else None
        if held is None:
            yield span


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of one block, cut at each mark that may end one."""
    from nupunkt import sent_spans

    for piece_start, piece_end in pieces(text, start, end, _PIECE_CHARACTERS):
        for first, last in sent_spans(text[piece_start:piece_end]):
            begin, stop = piece_start + first, piece_start + last
            cuts = [cut.end() for cut in _BEFORE_A.finditer(text, begin, stop)]
            for one, other in pairwise((begin, *cuts, stop)):
                yield from trim_span(text, one, other)


def _goes_on(text: str, span: tuple[int, int], block_start: int, end: int) -> bool:
    """Return whether a sentence goes on after what looks like its end.

    It does after a label such as "Table 3.", within "Max. load", and before a mark that begins no
    sentence, as in "(est.): 7".
    """
    start, stop = span
    if stop >= end:
        return False
    is_cut = _SHORTENED.search(text, max(start, stop - _MAX_SHORTENED), stop + 2)
    return bool(is_cut or _BEGINS_NOTHING.match(text, stop)) or (
        start == block_start and _LABEL.fullmatch(text, start, stop) is not None
    )


def find_closest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known names with the most similar spelling, best first, ignoring case.

    >>> find_closest("PDF", ["eml", "pdf"]), find_closest("yaer", ["year", "author"])
    (['pdf'], ['year'])
    >>> find_closest("x", ["year"])
    []
    """
    from difflib import get_close_matches

    by_fold = {each.casefold(): each for each in sorted(known, reverse=True)}
    return [by_fold[fold] for fold in get_close_matches(name.casefold(), by_fold, count)]


def list_places(template: str) -> list[str]:
    """Return the names in braces of a template.

    >>> list_places("Job {job} (20{year})")
    ['job', 'year']
    """
    return _PLACE.findall(template)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with a value in each place that has one; values are never templates.

    >>> fill("Job {job} {x}", {"job": "{x}"})
    'Job {x} {x}'
    """
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), template)
