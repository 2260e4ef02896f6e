"""No text keeps a command busy for long: what is read in the main process and in the parser takes
linear time.
"""

import unicodedata

import pytest
from bounded import limited

from esrag.errors import ParsingError
from esrag.loading import html, markdown, markdown_lines, rst
from esrag.loading.guarded import parts
from esrag.loading.reading import sha256_of
from esrag.loading.running_heads import without_running_lines
from esrag.records import Source
from esrag.text import normalise

CPU_S = 10  # what grows with the square of the text takes minutes


@pytest.mark.parametrize(
    "hang",
    [
        lambda: html.HtmlLoader().recognises("a.md", b"<!-- a -->" * 200 + b"text"),
        lambda: list(markdown.tables([(0, "a | b", False), (6, "|" + " " * 100_000 + "x", False)])),
        lambda: markdown_lines.read_title("{:" * 200_000),
        lambda: list(parts(Source("d", "a.md", b"<ul>" + b"<li>a</li>" * 100_000), 10**9)),
        lambda: list(rst.tables([(0, "== ==")] * 100_000 + [(0, "x")])),
        lambda: normalise("a" + "\u0301\u0316" * 240_000),
        lambda: list(parts(Source("d", "a.html", b"<html><p>" + b"a<sup>1</sup>" * 40_000), 10**9)),
        lambda: list(parts(Source("d", "a.csv", b'x",,"\n' * 30_000), 10**9)),
    ],
    ids=["comments", "blanks", "attributes", "items", "borders", "marks", "raised", "quotes"],
)
def test_a_hostile_text_takes_linear_time(hang):
    """Each of these took a time that grew with the square of the text, or faster."""
    with limited(CPU_S):
        hang()


def test_only_long_runs_of_marks_are_cut():
    """Thirty marks on one letter are kept; every character that begins with a mark
    counts as one.
    """
    assert normalise("x" + "\u0316" * 30) == "x" + "\u0316" * 30
    assert normalise("x" + "\u0316" * 31 + "y") == "x" + "\u0316" * 30 + "y"
    for letter in map(chr, range(0x110000)):
        if unicodedata.combining(unicodedata.normalize("NFD", letter)[0]) and normalise(letter):
            assert len(normalise("x" + letter * 100)) < 100, hex(ord(letter))


def test_a_file_of_the_kernel_is_hashed_to_the_size_it_says_it_has(tmp_path):
    """Some have no end: nothing is read beyond what their size promises, and nothing of
    a device.
    """
    (tmp_path / "endless.txt").symlink_to("/proc/self/maps")
    assert sha256_of(str(tmp_path / "endless.txt")) == sha256_of("/proc/self/status")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    with pytest.raises(ParsingError, match="device"):
        sha256_of(str(tmp_path / "zero.txt"))


def test_a_coloured_log_is_text():
    """Its bells and colours go; a binary file is no text."""
    log = b"\x1b[31mERROR\x1b[0m the pump stopped\x07\n"
    (document,) = parts(Source("d", "a.txt", log), 1000)
    assert document.text == "ERROR the pump stopped"
    with pytest.raises(ParsingError):
        list(parts(Source("d", "a.txt", bytes(range(32)) * 4), 1000))


def test_pages_that_are_all_alike_keep_their_text():
    """Lines that are all there is are no running heads."""
    page = ["Safety notice", "Keep the valve shut."]
    assert without_running_lines([page] * 5) == [page] * 5
