"""Every registered loader keeps the contract of esrag.loading."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esrag import plugins
from esrag.errors import LoadingError, ParsingError, UnsupportedFormat
from esrag.loading.detect import loader_for
from esrag.loading.guarded import parts
from esrag.records import Document, Source
from esrag.text import normalise

LOADERS = plugins.names("loaders")
SUFFIXES = [
    "",
    *(
        f".{s}"
        for s in re.findall(
            "[a-z]+", "csv docx eml epub htm jsonl md odt pdf pptx rst tsv txt xlsx zip"
        )
    ),
]
STARTS = [
    b"",
    b"PK\x03\x04",
    b"%PDF-1.7\n",
    b"<html><table>",
    b"From: a\nMIME-Version: 1.0\n",
    b"---\n",
    b"\xff\xfe",
]


def tried(name, data):
    """The documents, or the message of the LoadingError; any other exception fails the test."""
    try:
        return [
            part for part in parts(Source("d", name, data), 10_000) if isinstance(part, Document)
        ]
    except LoadingError as error:
        return str(error)


@pytest.mark.parametrize("name", LOADERS)
def test_each_loader_is_chosen_for_its_own_format_whatever_the_file_is_called(name, samples):
    """The loader gets its sample by name, and, where the bytes tell, under a wrong name too."""
    file, data = samples[name]
    assert loader_for(file, data)[0] == name
    if name in ("docx", "eml", "epub", "html", "odt", "pdf", "pptx", "xlsx"):
        assert loader_for("report.txt", data)[0] == name


@pytest.mark.parametrize("name", LOADERS)
def test_documents_have_normalised_text_and_true_spans(name, samples, load):
    """Text is normalised, spans lie in it in order, ids differ and start with the source's, the
    kind is the name.
    """
    file, data = samples[name]
    documents, _ = load(file, data, 10_000)
    assert documents
    assert len({document.doc_id for document in documents}) == len(documents)
    for document in documents:
        assert document.kind == name
        assert document.doc_id == "d" or document.doc_id.startswith("d#")
        assert normalise(document.text) == document.text.strip("\n")
        assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
        for spans in (document.pages, document.sections, document.tables):
            edges = [edge for span in spans for edge in (span.start, span.end)]
            assert edges == sorted(edges)
            assert all(0 <= edge <= len(document.text) for edge in edges)
        assert all(
            document.text[section.start : section.end].strip() for section in document.sections
        )


@pytest.mark.parametrize("name", LOADERS)
def test_loading_twice_gives_the_same_documents(name, samples, load):
    """A loader is a function of the bytes."""
    assert load(*samples[name]) == load(*samples[name])


@pytest.mark.parametrize("name", [n for n in LOADERS if n not in ("csv", "tsv", "jsonl", "plain")])
def test_headings_become_sections(name, samples, load):
    """Each format that has headings gives sections; eml has none."""
    file, data = samples[name]
    documents, _ = load(file, data, 10_000)
    assert bool(documents[0].sections) is (name != "eml")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    suffix=st.sampled_from(SUFFIXES), start=st.sampled_from(STARTS), data=st.binary(max_size=300)
)
def test_random_bytes_raise_nothing_but_loading_errors(suffix, start, data):
    """Whatever the bytes and the name, there are normalised documents or a one-line
    LoadingError.
    """
    outcome = tried(f"file{suffix}", start + data)
    assert (
        "\n" not in outcome
        if isinstance(outcome, str)
        else all(document.text.strip() for document in outcome)
    )


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(LOADERS), cut=st.floats(0, 1), flipped=st.integers(0, 255))
def test_a_damaged_file_raises_nothing_but_loading_errors(samples, name, cut, flipped):
    """A sample with one byte changed, or cut off there, is loaded or refused."""
    file, data = samples[name]
    place = int(cut * (len(data) - 1))
    for damaged in (data[:place], data[:place] + bytes([flipped]) + data[place + 1 :]):
        outcome = tried(file, damaged)
        assert "\n" not in outcome if isinstance(outcome, str) else outcome


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(max_size=300),
    suffix=st.sampled_from([".txt", ".md", ".rst", ".html", ".csv", ".tsv", ".eml"]),
)
def test_any_text_gives_true_spans(text, suffix):
    """Text formats never place a span outside the text."""
    outcome = tried(f"file{suffix}", text.encode("utf-8", "replace"))
    for document in () if isinstance(outcome, str) else outcome:
        for span in (*document.sections, *document.tables):
            assert 0 <= span.start <= span.end <= len(document.text)


def test_what_nobody_recognises_is_refused():
    """A binary that no loader claims is unsupported, and the hint says where the formats are
    listed.
    """
    for name, data in (("a.bin", bytes(range(256)) * 9), ("a.zip", b"PK\x05\x06" + b"\0" * 18)):
        with pytest.raises(UnsupportedFormat, match="of no supported format") as caught:
            loader_for(name, data)
        assert "esrag plugins" in caught.value.hint


@pytest.mark.parametrize("name", ["a.pdf", "a.PDF", "a.txt", "a.htm", "a.docx", "a.jsonl"])
def test_a_name_that_the_bytes_do_not_keep_is_a_failure(name):
    """A damaged file of a known name is no file to pass over."""
    with pytest.raises(ParsingError, match="neither that nor text"):
        loader_for(name, b"\x00\x01\x02" * 99)
