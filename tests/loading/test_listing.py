"""Which files are found below folders, by globs and by name."""

import os

import pytest

from esrag.loading.listing import list_files
from esrag.loading.sources import path_of


@pytest.fixture
def folder(tmp_path):
    for name in (
        "a.md",
        "b.txt",
        "sub/c.md",
        ".hidden",
        ".git/x.md",
        "node_modules/y.md",
        "sub/~$c.docx",
        "build/z.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def relatives(listing):
    return [file.relative for file in listing.files]


def test_folders_are_listed_sorted_without_what_programs_keep(folder):
    """Hidden files, .git, node_modules and lock files are left out; each file knows its root."""
    listing = list_files([str(folder)])
    assert relatives(listing) == ["a.md", "b.txt", "build/z.md", "sub/c.md"]
    assert all(file.source == str(folder / file.relative) for file in listing.files)
    assert listing.problems == ()


def test_a_named_file_is_always_taken(folder):
    """Neither being hidden nor a filter keeps a file out that is named itself."""
    listing = list_files([str(folder / ".git/x.md")], include=["*.txt"], exclude=["*.md"])
    assert [(file.source, file.relative) for file in listing.files] == [(str(folder / ".git/x.md"), "x.md")]


def test_include_and_exclude_match_paths_and_names(folder):
    """A pattern may be for the name, for the path, or leave out a folder."""
    assert relatives(list_files([str(folder)], include=["*.md"], exclude=["build"])) == ["a.md", "sub/c.md"]
    assert relatives(list_files([str(folder)], include=["sub/*"])) == ["sub/c.md"]


def test_globs_are_taken_relative_to_their_fixed_part(folder):
    """A glob lists files, and folders with what is below them, but nothing hidden."""
    assert relatives(list_files([str(folder / "*.md")])) == ["a.md"]
    assert relatives(list_files([str(folder / "**/*.md")])) == ["a.md", "build/z.md", "sub/c.md"]
    assert relatives(list_files([str(folder / "s*")])) == ["sub/c.md"]


def test_each_file_is_listed_once(folder):
    """Overlapping arguments and links to the same file give one entry, the first."""
    (folder / "z-link.md").symlink_to(folder / "a.md")
    listing = list_files([str(folder / "sub"), str(folder), str(folder / "*.md")])
    assert relatives(listing) == ["c.md", "a.md", "b.txt", "build/z.md"]


def test_loops_of_links_end(folder):
    """A folder that links lead back to is entered once."""
    (folder / "sub/up").symlink_to(folder, target_is_directory=True)
    assert relatives(list_files([str(folder)])) == ["a.md", "b.txt", "build/z.md", "sub/c.md"]


def test_what_is_missing_is_a_problem_and_the_rest_goes_on(folder):
    """A missing path and a glob without a match are named; the others are listed."""
    listing = list_files([str(folder / "no"), str(folder / "*.none"), str(folder / "a.md"), "\0"])
    assert relatives(listing) == ["a.md"]
    assert [problem.source for problem in listing.problems] == [str(folder / "no"), str(folder / "*.none"), "\0"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_may_not_be_listed_is_a_problem(folder):
    """A folder without rights is named, its neighbours are listed."""
    (folder / "sub").chmod(0)
    try:
        listing = list_files([str(folder)])
    finally:
        (folder / "sub").chmod(0o755)
    assert relatives(listing) == ["a.md", "b.txt", "build/z.md"]
    assert [problem.source for problem in listing.problems] == [str(folder / "sub")]


def test_names_in_no_encoding_are_listed(folder):
    """A name of undecodable bytes is a file as any other."""
    with open(os.path.join(os.fsencode(folder), b"\xff\xfe.md"), "wb") as file:  # noqa: PTH123, PTH118 -- bytes
        file.write(b"x")
    (found,) = [file for file in list_files([str(folder)]).files if not file.relative.isascii()]
    assert os.fsencode(found.relative) == b"\xff\xfe.md"
    assert path_of(found.source).read_bytes() == b"x"


def test_special_files_are_listed_for_the_reader_to_refuse(folder):
    """A broken link and a named pipe are accounted for, not passed over."""
    (folder / "dead.md").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe.md")
    assert {"dead.md", "pipe.md"} <= set(relatives(list_files([str(folder)])))


def test_what_esrag_keeps_beside_documents_is_no_document(tmp_path):
    """Index, ledger and cache, with what SQLite puts beside them, are left out."""
    for name in (
        "index.sqlite3",
        "ledger.sqlite3-wal",
        "ledger.sqlite3",
        "cache.sqlite3-shm",
        "vectors-1.f32",
        "a.sqlite3.md",
    ):
        (tmp_path / name).write_text("x")
    assert relatives(list_files([str(tmp_path)])) == ["a.sqlite3.md"]


def test_a_file_address_is_the_path(folder):
    """`file://` names files, folders and globs as their paths do."""
    for end in ("", "/a.md", "/**/*.md"):
        assert list_files([f"file://{folder}{end}"]) == list_files([f"{folder}{end}"])
    assert [problem.source for problem in list_files(["file:///no-such-file"]).problems] == ["file:///no-such-file"]


def test_a_name_with_a_backslash_that_looks_spelled_out_is_itself(tmp_path):
    r"""`\udcff` may be six characters of a name, or one byte that is no UTF-8."""
    (tmp_path / r"six\udcff.md").write_text("x")
    (tmp_path / os.fsdecode(b"one\xff.md")).write_text("x")
    assert {path_of(file.source).name for file in list_files([str(tmp_path)]).files} == {
        path.name for path in tmp_path.iterdir()
    }
