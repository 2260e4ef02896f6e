"""Which files are found below folders, by globs and by name."""

import os
import subprocess

import pytest

from esrag.loading.files import Selection, list_files
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
    listing = list_files([str(folder / ".git/x.md")], Selection(["*.txt"], ["*.md"]))
    assert [(file.source, file.relative) for file in listing.files] == [
        (str(folder / ".git/x.md"), "x.md")
    ]


def test_include_and_exclude_match_paths_and_names(folder):
    """A pattern may be for the name, for the path, or leave out a folder."""
    assert relatives(list_files([str(folder)], Selection(["*.md"], ["build"]))) == [
        "a.md",
        "sub/c.md",
    ]
    assert relatives(list_files([str(folder)], Selection(["sub/*"]))) == ["sub/c.md"]


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
    assert [problem.source for problem in listing.problems] == [
        str(folder / "no"),
        str(folder / "*.none"),
        "\0",
    ]


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
    """Index, ledger, cache and runs, with what SQLite puts beside them, are left out."""
    for name in (
        "index.sqlite3",
        "runs.sqlite3",
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
    assert [problem.source for problem in list_files(["file:///no-such-file"]).problems] == [
        "file:///no-such-file"
    ]


def test_a_name_with_a_backslash_that_looks_spelled_out_is_itself(tmp_path):
    r"""`\udcff` may be six characters of a name, or one byte that is no UTF-8."""
    (tmp_path / r"six\udcff.md").write_text("x")
    (tmp_path / os.fsdecode(b"one\xff.md")).write_text("x")
    assert {path_of(file.source).name for file in list_files([str(tmp_path)]).files} == {
        path.name for path in tmp_path.iterdir()
    }


def test_links_that_lead_outside_are_left_out_unless_links_are_followed(folder, tmp_path_factory):
    """A file and a folder elsewhere are not taken through links, and what is in the folder is."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "account.md").write_text("secret")
    (folder / "file.md").symlink_to(outside / "account.md")
    (folder / "elsewhere").symlink_to(outside)
    (folder / "sub" / "hop").symlink_to(folder / "elsewhere")  # to a link that leads outside
    for argument in (folder, folder / "**/*.md"):
        listing = list_files([str(argument)])
        assert [name for name in relatives(listing) if "account" in name or name == "file.md"] == []
        (left_out,) = listing.left_out
        assert left_out.reason == "leads outside"
        assert str(folder / "elsewhere") in left_out.paths

    followed = relatives(list_files([str(folder)], Selection(follow_links=True)))
    assert len([name for name in followed if name == "file.md" or "account" in name]) == 1


def test_a_link_that_is_named_is_followed(folder, tmp_path_factory):
    """The user named it; links below it are held to the folder that it leads to."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "kept").mkdir()
    (outside / "kept" / "in.md").write_text("x")
    (outside / "kept" / "up.md").symlink_to(folder / "a.md")
    (folder / "named").symlink_to(outside / "kept")
    (folder / "named.md").symlink_to(outside / "kept" / "in.md")
    assert relatives(list_files([str(folder / "named")])) == ["in.md"]
    assert relatives(list_files([str(folder / "named.md")])) == ["named.md"]


def test_links_inside_never_take_the_place_of_a_file(folder):
    """A link that sorts before its file is no second document.

    What only a link reaches is taken through it.
    """
    (folder / "0.md").symlink_to(folder / "a.md")
    (folder / "00").symlink_to(folder / "sub")
    (folder / "annexed.md").symlink_to(folder / ".git" / "x.md")
    listing = list_files([str(folder)])
    assert relatives(listing) == ["a.md", "annexed.md", "b.txt", "build/z.md", "sub/c.md"]
    assert [(it.reason, len(it.paths)) for it in listing.left_out] == [("is listed itself", 2)]


def ignored_by_git(folder):
    """What git itself ignores of the files in a folder."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    ran = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        check=False,
        cwd=folder,
        input="\n".join(names),
        text=True,
        capture_output=True,
    )
    return set(ran.stdout.splitlines()), set(names)


def test_gitignore_is_read_as_git_reads_it(tmp_path):
    """Anchors, folders, negation, a rule further in, `**`, and the repository's own
    exclude file.
    """
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("excluded.md\n")
    (tmp_path / ".gitignore").write_text(
        "# a comment\n*.log\n!keep.log\n/top.md\nout/\n!out/kept.md\ndeep/**/leaf.md\n"
        "**/gone/*\n!**/gone/back.md\n"
        "trailing.md   \n\\!bang.md\ndocs/*.txt\n[ab]?.md\nfoo**bar.md\n[b-d].md\r\n"
    )
    for name in (
        *(
            "a.log",
            "keep.log",
            "top.md",
            "x/top.md",
            "out/a.md",
            "out/kept.md",
            "deep/1/2/leaf.md",
            "deep/leaf.md",
        ),
        *(
            "gone/a.md",
            "gone/back.md",
            "x/gone/a.md",
            "trailing.md",
            "!bang.md",
            "docs/a.txt",
            "docs/x/a.txt",
        ),
        *(
            "a1.md",
            "a12.md",
            "foo-x-bar.md",
            "excluded.md",
            "z.md",
            "sub/a.log",
            "sub/c.md",
            "sub/only.md",
        ),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "sub" / ".gitignore").write_text("!a.log\nonly.md\n")

    ignored, names = ignored_by_git(tmp_path)
    assert len(ignored) > 8
    assert set(relatives(list_files([str(tmp_path)]))) == names - ignored
    assert set(relatives(list_files([str(tmp_path / "**/*")]))) == names - ignored
    assert set(relatives(list_files([str(tmp_path)], Selection(ignore_files=False)))) == names
    inner = {name.removeprefix("sub/") for name in names - ignored if name.startswith("sub/")}
    assert set(relatives(list_files([str(tmp_path / "sub")]))) == inner


def test_where_ignore_files_count(tmp_path):
    """`.gitignore` in a repository alone, `.esragignore` anywhere and first.

    A named file or folder is read.
    """
    for name in ("a.md", "b.md", "data/c.md", "data/d.md", "nested/a.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / ".gitignore").write_text("a.md\ndata\n")
    assert relatives(list_files([str(tmp_path)])) == [
        "a.md",
        "b.md",
        "data/c.md",
        "data/d.md",
        "nested/a.md",
    ]
    (tmp_path / ".git").mkdir()
    (tmp_path / "nested" / ".git").mkdir()
    listing = list_files([str(tmp_path)])
    assert relatives(listing) == ["b.md", "nested/a.md"]
    assert [(it.reason, len(it.paths)) for it in listing.left_out] == [("is ignored", 2)]
    assert relatives(list_files([str(tmp_path / "data")])) == ["c.md", "d.md"]
    assert relatives(list_files([str(tmp_path / "a.md")])) == ["a.md"]
    (tmp_path / ".esragignore").write_text("!a.md\nb.md\nd.md\n")
    assert relatives(list_files([str(tmp_path)])) == ["a.md", "nested/a.md"]
    assert relatives(list_files([str(tmp_path), str(tmp_path / "b.md")])) == [
        "a.md",
        "nested/a.md",
        "b.md",
    ]


@pytest.mark.parametrize(
    "hostile", ["*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/a/**/b", "link", "folder"]
)
def test_an_ignore_file_that_cannot_be_used_is_a_problem(tmp_path, hostile):
    """What would take for ever to match, or is no plain file, is named: nobody thinks that it
    counts.
    """
    (tmp_path / "a.md").write_text("x")
    if hostile == "link":
        (tmp_path / ".esragignore").symlink_to(tmp_path / "a.md")
    elif hostile == "folder":
        (tmp_path / ".esragignore").mkdir()
    else:
        (tmp_path / ".esragignore").write_text(hostile)
    listing = list_files([str(tmp_path)])
    assert relatives(listing) == ["a.md"]
    assert ".esragignore" in listing.problems[0].reason


def test_what_the_settings_name_as_our_own_is_no_document(tmp_path):
    """Ledger and cache, whatever they are called, with what SQLite puts beside them, also through a
    link.
    """
    for name in ("work.md", "work.md-wal", "other.md"):
        (tmp_path / name).write_text("x")
    (tmp_path / "alias.md").symlink_to(tmp_path / "work.md")
    own = Selection(own=frozenset({str((tmp_path / "work.md").resolve())}))
    assert relatives(list_files([str(tmp_path)], own)) == ["other.md"]
