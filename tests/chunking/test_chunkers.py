"""The contract of `esrag.chunking`, over every registered chunker."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esrag import plugins
from esrag.errors import SettingsError
from esrag.records import Document, Page, Section, Span
from esrag.text import word_spans

NAMES = plugins.names("chunkers")
# Words, marks and line ends that make sentences, headings, rows, steps and captions, and any other
# character.
FRAGMENTS = st.sampled_from(
    ["key ", "Alice ", "secret. ", "It ", "e.g. ", "x", "\n", "\n\n", "# Keys\n", (
        "2.1 Sizes\n"
    ), "- item\n",
     "1: step\n", "a | b\n", (
         "Table 3. Sizes\n"
     ), "====\n", "\t", "\u3000", "\u200b", "é\u0301", "𝐀", "سلام ",
     "a" * 130, "... "]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=4), max_size=60).map("".join)
SIZES = st.integers(1, 40).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def chunker(name, size, overlap=0, tokens=word_spans):
    return plugins.load("chunkers", name)(size, overlap, tokens)


def spans_of(name, text, size, overlap=0, **parts):
    return list(chunker(name, size, overlap)(Document("d", "plain", text, **parts)))


def texts_of(name, text, size, overlap=0, **parts):
    return [text[span.start : span.end] for span in spans_of(name, text, size, overlap, **parts)]


@st.composite
def documents(draw):
    """Documents with sections, pages and tables at any place."""
    text = draw(TEXTS)
    places = st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted)

    def stretches():
        found = draw(places)
        return list(pairwise(found))

    paths = st.lists(st.sampled_from(["A", "B", "Keys"]), max_size=3).map(tuple)
    return Document(
        "d",
        "plain",
        text,
        pages=tuple(Page(number, *span) for number, span in enumerate(stretches(), 1)),
        sections=tuple(Section(draw(paths), *span) for span in stretches()),
        tables=tuple(Span(*span) for span in stretches()[::2]),
    )


def assert_covers(text, spans):
    covered = set()
    for span in spans:
        covered.update(range(span.start, span.end))
    assert all(character.isspace() for place, character in enumerate(text) if place not in covered)


def longest_tables(document, size):
    return max(
        (len(word_spans(document.text[table.start : table.end])) for table in document.tables),
        default=size,
    )


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(document=documents(), sizes=SIZES)
def test_spans_are_in_order_and_cover_the_text(name, document, sizes):
    """Any chunker, any document: spans rise, none is blank or has loose ends, and
    nothing is lost.
    """
    spans = list(chunker(name, *sizes)(document))
    assert all(0 <= span.start < span.end <= len(document.text) for span in spans)
    assert all(one.start <= two.start and one.end < two.end for one, two in pairwise(spans))
    assert all(
        piece == piece.strip() for piece in (document.text[span.start : span.end] for span in spans)
    )
    assert_covers(document.text, spans)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(document=documents(), sizes=SIZES)
def test_spans_are_bounded_but_for_tables(name, document, sizes):
    """Any chunker, any document: no span is over the size, but for a table with its caption in
    `sections`.
    """
    size, overlap = sizes
    counts = [
        len(word_spans(document.text[span.start : span.end]))
        for span in chunker(name, size, overlap)(document)
    ]
    allowed = size
    if name == "sections":
        allowed = max(size, min(longest_tables(document, size), 8 * size) + size // 4)
    assert all(count <= allowed for count in counts)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(text=TEXTS, sizes=SIZES)
def test_neighbours_share_no_more_than_the_overlap(name, text, sizes):
    """Any chunker, any text: what two neighbours share is at most the overlap."""
    size, overlap = sizes
    spans = spans_of(name, text, size, overlap)
    for one, two in pairwise(spans):
        assert len(word_spans(text[two.start : one.end])) <= overlap


@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_keeps_whole_sentences_or_words(name):
    """The worked example: what fits stays whole."""
    text = (
        "AI is amazing. It can recognise images. It can understand text. It can generate content."
    )
    expected = {
        "sliding_window": [
            "AI is amazing. It can recognise images. It",
            "can understand text. It can generate content.",
        ]
    }
    in_sentences = [
        "AI is amazing. It can recognise images.",
        "It can understand text. It can generate content.",
    ]
    assert texts_of(name, text, 10) == expected.get(name, in_sentences)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (10, -1), (0, 0)])
def test_impossible_sizes_are_refused(name, size, overlap):
    """An overlap that is not smaller than the size, or no size at all, is an error that names the
    setting.
    """
    with pytest.raises(SettingsError, match="chunking"):
        chunker(name, size, overlap)


@pytest.mark.parametrize("name", NAMES)
def test_overlap_repeats_whole_sentences(name):
    """With an overlap the next chunk starts with what the last one ended with."""
    text = "One two three. Four five six. Seven eight nine. Ten eleven twelve."
    if name == "sliding_window":
        assert texts_of(name, text, 8, 4)[:2] == [
            "One two three. Four five six.",
            "Four five six. Seven eight nine.",
        ]
    else:
        assert texts_of(name, text, 8, 5)[:2] == [
            "One two three. Four five six.",
            "Four five six. Seven eight nine.",
        ]


@pytest.mark.parametrize("name", NAMES)
def test_a_word_without_end_is_cut(name):
    """A megabyte without a space becomes many bounded chunks, not one."""
    spans = spans_of(name, "a" * 1_000_000, 200)
    assert len(spans) == 50
    assert max(span.end - span.start for span in spans) == 20_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", " \n\t\u3000\n"])
def test_blank_text_gives_nothing(name, text):
    """A document without a character to see has no chunk."""
    assert spans_of(name, text, 10) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["\n" * 100_000, "a\n\n" * 8_000, ". (" * 8_000, "| x |\n" * 10_000]
)
def test_hostile_texts_take_bounded_time(name, text):
    """Tens of kilobytes of line ends, brackets or rows are cut within seconds."""
    began = time.process_time()
    assert_covers(text, spans_of(name, text, 200, 20))
    assert time.process_time() - began < 10


@pytest.mark.parametrize("name", NAMES)
def test_odd_tokens_do_no_harm(name):
    """Tokens of no width, several on one character, or with the space before them: spans still rise
    and cover.
    """

    def tokens(text):
        return [
            (0, 0),
            *((max(place - 1, 0), place + 1) for place in range(len(text)) for _ in range(3)),
        ]

    text = "One two. Three four five six. Seven"
    spans = list(chunker(name, 4, 2, tokens)(Document("d", "plain", text)))
    assert all(one.end < two.end for one, two in pairwise(spans))
    assert_covers(text, spans)


@pytest.mark.parametrize("name", NAMES)
def test_long_texts_are_counted_in_pieces(name):
    """The tokenizer never gets more than 50,000 characters at once, and the chunks are those of one
    pass.
    """
    seen = []

    def tokens(text):
        seen.append(len(text))
        return word_spans(text)

    text = "One two three four. " * 6000
    pieces = list(chunker(name, 50, 0, tokens)(Document("d", "plain", text)))
    assert max(seen) <= 50_000
    assert sum(seen) == len(text)
    assert pieces == spans_of(name, text, 50)


def test_paragraphs_are_joined_while_they_fit():
    """Short paragraphs share a chunk; a long one is cut between its sentences."""
    text = "One two.\n\nThree four.\n\nFive six seven eight. Nine ten eleven twelve."
    assert texts_of("paragraph", text, 6) == [
        "One two.\n\nThree four.",
        "Five six seven eight.",
        "Nine ten eleven twelve.",
    ]


def sectioned(*parts):
    """A text and its sections, from (path, text) pairs."""
    text, sections = "", []
    for path, body in parts:
        sections.append(Section(path, len(text), len(text) + len(body)))
        text += body
    return text, tuple(sections)


def test_sections_never_leave_their_section():
    """A chunk holds sentences of one section, its heading first."""
    body = "One two three four five six seven eight nine ten. "
    text, sections = sectioned((("A",), f"A\n{body * 3}\n"), (("B",), f"B\n{body * 3}\n"))
    found = texts_of("sections", text, 30, sections=sections)
    assert [piece[:5] for piece in found] == ["A\nOne", "One t", "B\nOne", "One t"]


def test_small_sections_are_joined_downwards():
    """A heading alone joins the section under it, and never the section before it."""
    body = "One two three four five six seven eight. "
    text, sections = sectioned(
        (("3", "3.1"), f"3.1 Last\n{body}\n"),
        (("4",), "4 Keys\n"),
        (("4", "4.1"), f"4.1 Sizes\n{body}\n"),
    )
    assert texts_of("sections", text, 25, sections=sections) == [
        f"3.1 Last\n{body}".strip(),
        f"4 Keys\n4.1 Sizes\n{body}".strip(),
    ]


def test_strict_sections_are_never_joined():
    """But for a bare heading, which goes with its first subsection."""
    body = "One two three four five."
    text, sections = sectioned(
        (("4",), "4 Keys\n"),
        (("4", "4.1"), f"4.1 Sizes\n{body}\n"),
        (("4", "4.2"), f"4.2 Names\n{body}\n"),
        (("5",), f"5 Ends\n{body}\n"),
    )
    assert texts_of("strict_sections", text, 100, sections=sections) == [
        f"4 Keys\n4.1 Sizes\n{body}",
        f"4.2 Names\n{body}",
        f"5 Ends\n{body}",
    ]


def test_a_strict_table_is_cut_between_rows():
    """No chunk is above the size."""
    rows = [f"ML-KEM-{n} | {n} | {n + 1}" for n in range(9)]
    text = "\n".join(rows)
    found = texts_of("strict_sections", text, 20, tables=(Span(0, len(text)),))
    assert len(found) > 1
    assert "\n".join(found) == text
    assert all(len(word_spans(piece)) <= 20 for piece in found)


def test_a_heading_alone_goes_with_a_subsection_that_does_not_fit():
    """A heading over a long subsection starts the first chunk of it, and is no chunk of its own."""
    body = "One two three four five six seven eight. "
    text, sections = sectioned(
        (("4",), "4 Keys\n"), (("4", "4.1"), f"4.1 Sizes\n{body}{body}{body}")
    )
    found = texts_of("sections", text, 25, sections=sections)
    assert [piece[:16] for piece in found] == ["4 Keys\n4.1 Sizes", "One two three fo"]


def test_what_introduces_a_list_goes_with_it():
    """Its last sentence does, and not what is before that."""
    before = "One two three four five six seven eight nine ten eleven."
    text = f"{before} A token holds at least:\n- the name of the issuer\n- the time of the issue"
    found = texts_of("sections", text, 20)
    assert found == [before, text[len(before) + 1 :]]


def test_a_term_goes_with_what_explains_it():
    """A short line above an indented text, as in lists of options."""
    told = [f"wait{n}\n\n  How many seconds part {n} waits.\n\n  Default: {n}" for n in range(6)]
    for size in (9, 10, 20):
        found = texts_of("sections", "\n\n".join(told), size)
        assert len(found) > 1
        assert all(text.startswith(("wait", "Default")) for text in found)
        assert not any(text.splitlines()[-1].startswith("wait") for text in found)


def test_tables_stay_whole_with_caption():
    """A table over the size is one chunk, with the caption over it; the text around it is not."""
    rows = "\n".join(f"ML-KEM-{n} | {n} | {n + 1}" for n in range(9))
    before, after = "Some words of text come before the table here.", "Some words come after it."
    text = f"{before}\n\nTable 3. Sizes\n{rows}\n\n{after}"
    table = Span(text.index("ML-KEM"), text.index("\n\n" + after))
    assert texts_of("sections", text, 20, tables=(table,)) == [
        before,
        f"Table 3. Sizes\n{rows}",
        after,
    ]


def test_a_heading_stays_with_its_table():
    """A section that is one table keeps its heading in the same chunk."""
    rows = "\n".join(f"a | {n}" for n in range(20))
    text, sections = sectioned((("Sizes",), f"Sizes\n{rows}"))
    assert texts_of("sections", text, 20, sections=sections, tables=(Span(6, len(text)),)) == [text]


def test_a_sheet_is_cut_between_rows():
    """A table of thousands of rows is no passage: it is cut, and no row is."""
    text = "\n".join(f"a | {n}" for n in range(1000))
    found = texts_of("sections", text, 20, tables=(Span(0, len(text)),))
    assert len(found) > 100
    assert "\n".join(found) == text
