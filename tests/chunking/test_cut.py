"""Chunk records: ids, pages, section paths, what is indexed."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from esrag.chunking.cut import chunks, text_to_index
from esrag.chunking.outline import outline
from esrag.chunking.sections import SectionsChunker, StrictSectionsChunker
from esrag.chunking.sentence import SentenceChunker
from esrag.records import Break, Document, Page, Section
from esrag.text import word_spans

SENTENCES = SentenceChunker(3, 0, word_spans)
WHOLE = SentenceChunker(99, 0, word_spans)


def paged(*texts, **parts):
    """A document with one page a text."""
    text = "\n".join(texts)
    ends = [len("\n".join(texts[:count])) for count in range(1, len(texts) + 1)]
    starts = [0, *(end + 1 for end in ends)]
    pages = tuple(
        Page(number, *span) for number, span in enumerate(zip(starts, ends, strict=False), 1)
    )
    return Document("a.pdf", "pdf", text, pages=pages, **parts)


def test_ids_count_within_the_page_a_chunk_starts_on():
    """Ids hold the document, the page and the number on that page, and are readable."""
    made = chunks(paged("A b. C d.", "E f.", "G h. I j."), SENTENCES)
    assert [chunk.chunk_id for chunk in made] == [
        "a.pdf::p0001::c001",
        "a.pdf::p0001::c002",
        "a.pdf::p0002::c001",
        "a.pdf::p0003::c001",
        "a.pdf::p0003::c002",
    ]
    assert [chunk.ordinal for chunk in made] == [0, 1, 2, 3, 4]


def test_a_chunk_over_a_page_break_has_both_pages():
    """A chunk that runs on over a page break starts on one page and ends on the next."""
    (chunk,) = chunks(paged("This goes", "on."), SentenceChunker(9, 0, word_spans))
    assert (chunk.start_page, chunk.end_page) == (1, 2)


def test_without_pages_all_is_page_one():
    """A format without pages has page 1 alone."""
    made = chunks(Document("a", "plain", "A b. C d."), SENTENCES)
    assert {(chunk.start_page, chunk.end_page) for chunk in made} == {(1, 1)}


def test_a_chunk_knows_where_another_page_or_section_begins_in_it():
    """A chunk of small sections names each, and the page of each, and only what changes."""
    text = "Rent\nIt is 900.\nPets\nOne cat may\nlive here."
    pages = (Page(1, 0, 31), Page(2, 32, len(text)))
    sections = (Section(("Rent",), 0, 16), Section(("Pets",), 16, len(text)))
    document = Document("a.pdf", "pdf", text, pages=pages, sections=sections)
    (chunk,) = chunks(document, SectionsChunker(40, 0, word_spans))
    assert (chunk.start_page, chunk.section) == (1, "Rent")
    assert chunk.breaks == (Break(16, 1, "Pets"), Break(32, 2, "Pets"))


def test_a_path_of_many_headings_is_no_break():
    """A chunk of sections within hundreds of others does not repeat the path of each."""
    text = "Rent\nIt is 900.\nPets\nNo cats."
    above = [f"Chapter {number}" for number in range(300)]
    sections = (Section(("Rent",), 0, 16), Section((*above, "Pets"), 16, len(text)))
    (chunk,) = chunks(Document("a", "plain", text, sections=sections), WHOLE)
    assert chunk.breaks == ()


def test_sections_title_words_and_metadata_come_along():
    """A chunk knows the deepest section it starts in, its document's title and metadata, and its
    technical words.
    """
    sections = (Section(("Keys",), 0, 16), Section(("Keys", "Sizes"), 5, 16))
    document = Document(
        doc_id="a",
        kind="plain",
        text="Key\n\nML-KEM-768.",
        title="The  title",
        sections=sections,
        metadata={"year": 2024},
    )
    first, second = chunks(document, SentenceChunker(6, 0, word_spans))
    assert (first.section, second.section) == ("Keys", "Keys > Sizes")
    assert (second.title, second.metadata) == ("The title", {"year": 2024})
    assert any("768" in word for word in second.keywords)


def test_a_bare_heading_gives_way_to_its_subsection():
    """A chunk that begins with one has the path of what follows."""
    text = "Keys\nSizes\nA key has 768 bits."
    end = len(text)
    sections = (Section(("Keys",), 0, end), Section(("Keys", "Sizes"), 5, end))
    document = Document("a", "plain", text, sections=sections)
    (chunk,) = chunks(document, StrictSectionsChunker(20, 0, word_spans))
    assert chunk.section == "Keys > Sizes"


def test_headings_are_bounded():
    """A file that calls a megabyte a heading does not get it copied into every chunk."""
    text = "A b. C d."
    section = Section(("word " * 200_000,), 0, len(text))
    made = chunks(
        Document(doc_id="a", kind="plain", text=text, title="t" * 1_000_000, sections=(section,)),
        SENTENCES,
    )
    assert max(len(text_to_index(chunk)) for chunk in made) < 500


@settings(deadline=None)
@given(
    text=st.text(st.sampled_from("ab. \n\u3000é𝐀"), max_size=200),
    cuts=st.sets(st.integers(0, 200), max_size=5),
)
def test_chunks_are_true_slices_with_unique_ids(text, cuts):
    """Any text and any pages: text is the slice its offsets name, pages never fall, ids
    are unique.
    """
    places = sorted(cut for cut in cuts if cut <= len(text))
    pages = tuple(Page(number, *span) for number, span in enumerate(pairwise(places), 1))
    made = chunks(Document("a", "plain", text, pages=pages), SectionsChunker(4, 1, word_spans))
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in made)
    assert len({chunk.chunk_id for chunk in made}) == len(made)
    assert all(one.start_page <= two.start_page for one, two in pairwise(made))
    assert all(chunk.start_page <= chunk.end_page for chunk in made)


def test_indexed_text_adds_title_and_section_once():
    """Title, section path and text, a line each; what is empty or said already is left out."""
    (chunk,) = chunks(Document("a", "plain", "Yes."), SENTENCES)
    assert text_to_index(chunk) == "Yes."
    assert (
        text_to_index(replace(chunk, title="Keys", section="Sizes > Small"))
        == "Keys\nSizes > Small\nYes."
    )
    assert (
        text_to_index(replace(chunk, title="Keys", section="keys > Sizes")) == "Keys\nSizes\nYes."
    )
    assert text_to_index(replace(chunk, title="Keys", section="Keys")) == "Keys\nYes."


@settings(deadline=None)
@given(
    cuts=st.sets(st.integers(0, 30), max_size=9),
    depths=st.lists(st.integers(0, 3), min_size=9, max_size=9),
)
def test_an_outline_tiles_the_text(cuts, depths):
    """Any sections: the outline covers the text without gaps or overlaps."""
    text = "a" * 30
    spans = pairwise(sorted(cuts))
    sections = tuple(
        Section(("A",) * depth, *span) for depth, span in zip(depths, spans, strict=False)
    )
    tiles = outline(Document("a", "plain", text, sections=sections))
    assert "".join(text[tile.start : tile.end] for tile in tiles) == text
