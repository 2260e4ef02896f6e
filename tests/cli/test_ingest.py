"""`esrag ingest` is a sync: what the files hold is what the index holds, and nothing is embedded
twice.
"""

import json
import os
import subprocess

import pytest

COUNTS = ("added", "changed", "renamed", "removed", "unchanged", "failed")


def counts(ran):
    """The report's counts that are not zero."""
    return {name: ran.json[name] for name in COUNTS if ran.json[name]}


@pytest.fixture
def ingested(esrag, corpus):
    """The corpus in an index."""
    ran = esrag("ingest", "docs", "--json")
    assert (ran.code, counts(ran)) == (0, {"added": 3})
    assert ran.json["embedded"] == ran.json["chunks"] >= 3
    return corpus


def test_a_second_run_embeds_nothing(esrag, ingested):
    """Unchanged and touched files cost no embedding."""
    (ingested / "lamp.html").touch()
    ran = esrag("ingest", "docs", "--json")

    assert counts(ran) == {"unchanged": 3}
    assert ran.json["embedded"] == 0


def test_a_changed_file_replaces_its_chunks_and_embeds_only_what_is_new(esrag, ingested):
    """The old words are gone from the index; sections that stayed keep their vectors."""
    kettle = ingested / "kitchen" / "kettle.md"
    kettle.write_text(kettle.read_text().replace("1.7 litres", "2.5 litres"))
    ran = esrag("ingest", "docs", "--json")

    assert counts(ran) == {"changed": 1, "unchanged": 2}
    texts = " ".join(chunk["text"] for chunk in esrag("chunks", "kettle", "--json").lines)
    assert "2.5 litres" in texts
    assert "1.7 litres" not in texts


def test_a_vanished_file_goes_and_its_folder_was_named(esrag, ingested):
    """Deleted under a given folder: removed, with --keep-missing it stays."""
    (ingested / "lamp.html").unlink()

    assert counts(esrag("ingest", "docs", "--keep-missing", "--json")) == {"unchanged": 2}
    assert len(esrag("docs", "--json").lines) == 3
    assert counts(esrag("ingest", "docs", "--json")) == {"removed": 1, "unchanged": 2}
    assert [d["doc_id"] for d in esrag("docs", "--json").lines] == ["kettle", "toaster"]


@pytest.mark.parametrize("named", ["docs", "docs/lamp.html"])
def test_a_folder_with_the_name_of_a_file_replaces_it(esrag, ingested, named):
    """Nothing of the file is left, whether that folder is named or the one above it."""
    (ingested / "lamp.html").unlink()
    (ingested / "lamp.html").mkdir()
    (ingested / "lamp.html" / "bulb.md").write_text("The bulb takes 5 watts.\n")

    ran = esrag("ingest", named, "--json")
    assert (ran.json["added"], ran.json["removed"]) == (1, 1)
    assert [d["doc_id"] for d in esrag("docs", "--json").lines] == ["bulb", "kettle", "toaster"]


def test_another_folder_leaves_the_first_alone(esrag, ingested):
    """A sync is about the folders that were named."""
    other = esrag.folder / "other"
    other.mkdir()
    (other / "chair.txt").write_text("The chair has four legs.")

    assert counts(esrag("ingest", "other", "--json")) == {"added": 1}
    assert len(esrag("docs", "--json").lines) == 4


def test_a_rename_is_told_by_content_and_embeds_nothing(esrag, ingested):
    """The same bytes under another name: a new id, the old one gone, no embedding."""
    (ingested / "kitchen" / "toaster.txt").rename(ingested / "bread.txt")
    ran = esrag("ingest", "docs", "--json")

    assert counts(ran) == {"renamed": 1, "unchanged": 2}
    assert ran.json["embedded"] == 0
    assert [d["doc_id"] for d in esrag("docs", "--json").lines] == ["bread", "kettle", "lamp"]


def test_a_file_moved_to_another_folder_keeps_its_id_free_for_itself(esrag, ingested):
    """The id of what is gone may be taken by what came in its place."""
    (ingested / "kitchen" / "toaster.txt").rename(ingested / "toaster.txt")

    assert counts(esrag("ingest", "docs", "--json")) == {"renamed": 1, "unchanged": 2}
    assert [d["doc_id"] for d in esrag("docs", "--json").lines] == ["kettle", "lamp", "toaster"]


def test_a_dry_run_says_what_would_happen_and_does_nothing(esrag, ingested):
    """Counts as the real run would give them; the index stays."""
    (ingested / "lamp.html").unlink()
    (ingested / "new.txt").write_text("Something new.")
    ran = esrag("ingest", "docs", "--dry-run", "--json")

    assert (ran.json["added"], ran.json["removed"], ran.json["unchanged"]) == (1, 1, 2)
    assert len(esrag("docs", "--json").lines) == 3
    assert "would be: 1 added" in esrag("ingest", "docs", "--dry-run").out


@pytest.mark.parametrize("options", [(), ("--keep-missing",), ("--rebuild",)])
def test_a_dry_run_gives_the_counts_and_the_exit_code_of_the_real_one(esrag, ingested, options):
    """Whatever happened to the files; and so without any that failed."""
    (ingested / "hall").mkdir()
    # Two of the same, one of them new.
    (ingested / "kitchen" / "toaster.txt").rename(ingested / "hall" / "oven.txt")
    (ingested / "hall" / "copy.txt").write_bytes((ingested / "hall" / "oven.txt").read_bytes())
    kettle = ingested / "kitchen" / "kettle.md"
    kettle.write_text(kettle.read_text().replace("1.7", "2.5"))
    (ingested / "lamp.html").write_bytes(b"")
    (ingested / "new.txt").write_text("Something new.")
    both = [esrag("ingest", "docs", *options, *more, "--json") for more in (("--dry-run",), ())]
    assert (counts(both[0]), both[0].code) == (counts(both[1]), both[1].code)
    assert both[0].code == 0

    (ingested / "long.txt").write_text("Too long. " * 20_000)
    (ingested / "new.txt").rename(ingested / "newer.txt")
    (ingested / "dangling.txt").symlink_to("nowhere")
    wrong = (
        "docs",
        "missing.txt",
        "docs/dangling.txt",
        "--set",
        "loading.max_bytes=100000",
        *options,
    )
    both = [esrag("ingest", *wrong, *more, "--json") for more in (("--dry-run",), ())]
    assert (counts(both[0]), both[0].code) == (counts(both[1]), both[1].code)
    assert (both[0].json["skipped"], both[0].code) == (both[1].json["skipped"], 1)
    assert both[0].json["failed"] >= 2
    assert esrag("ingest", *wrong, "--dry-run").code == 1


def test_two_files_of_one_name_get_ids_that_tell_them_apart(esrag, ingested):
    """The stored one keeps its id; the newcomer is told by its folder."""
    (ingested / "hall").mkdir()
    (ingested / "hall" / "lamp.txt").write_text("The hall lamp is made of brass.")

    assert counts(esrag("ingest", "docs", "--json")) == {"added": 1, "unchanged": 3}
    assert {d["doc_id"] for d in esrag("docs", "--json").lines} == {
        "kettle",
        "toaster",
        "lamp",
        "hall/lamp",
    }


def test_paths_come_from_stdin_and_globs(esrag, corpus):
    """`-` is a list, a quoted glob is spelled out by esrag.

    --include and --exclude narrow a folder.
    """
    assert counts(
        esrag("ingest", "-", "--json", stdin="docs/lamp.html\ndocs/kitchen/kettle.md\n")
    ) == {"added": 2}
    assert counts(esrag("ingest", "docs/kitchen/*.txt", "--json")) == {"added": 1}
    assert (
        esrag("ingest", "docs", "--include", "*.md", "--dry-run", "--json").json["unchanged"] == 1
    )
    assert (
        esrag("ingest", "docs", "--exclude", "*.md", "--dry-run", "--json").json["unchanged"] == 2
    )


def test_a_name_from_stdin_may_be_any_bytes(esrag):
    """A name is what the disk holds, text or not."""
    (esrag.folder / os.fsdecode(b"kettle-\xff.txt")).write_text("It holds 1.7 litres.")
    done = subprocess.run(
        esrag.command("ingest", "-", "--json"),
        cwd=esrag.folder,
        # Strict, as Python is where a language is set.
        env=esrag.environment(PYTHONIOENCODING="utf-8"),
        input=b"kettle-\xff.txt\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout)["added"] == 1


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(esrag, corpus):
    """A missing path and a broken PDF fail the command, an empty file does not.

    The good files are in.
    """
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing follows")
    (corpus / "empty.txt").write_bytes(b"")
    ran = esrag("ingest", "docs", "missing.txt", "--json")

    assert (ran.code, counts(ran)) == (1, {"added": 3, "failed": 2})
    reasons = {skip["source"].rpartition("/")[2]: skip["failed"] for skip in ran.json["skipped"]}
    assert reasons == {"broken.pdf": True, "missing.txt": True, "empty.txt": False}


def test_a_file_that_breaks_keeps_what_was_stored_of_it(esrag, ingested):
    """A document is not lost because its file cannot be read for once."""
    (ingested / "lamp.html").write_bytes(b"%PDF-1.7\nnothing follows")
    ran = esrag("ingest", "docs", "--json")

    assert (ran.code, counts(ran)) == (1, {"unchanged": 2, "failed": 1})
    assert "kept" in ran.json["skipped"][0]["reason"]
    assert len(esrag("docs", "--json").lines) == 3


def test_an_emptied_file_is_removed(esrag, ingested):
    """Nothing is in it any more, so nothing of it can be cited."""
    (ingested / "lamp.html").write_bytes(b"")

    assert counts(esrag("ingest", "docs", "--json")) == {"removed": 1, "unchanged": 2}


def test_rows_that_left_a_table_leave_the_index(esrag):
    """A JSONL's lines are documents.

    A line that is gone is removed, the others are not embedded again.
    """
    lines = [
        '{"id": "a", "text": "The kettle boils."}\n',
        '{"id": "b", "text": "The lamp shines."}\n',
    ]
    (esrag.folder / "rows.jsonl").write_text("".join(lines))
    esrag("ingest", "rows.jsonl")
    (esrag.folder / "rows.jsonl").write_text(lines[1])
    ran = esrag("ingest", "rows.jsonl", "--json")

    assert counts(ran) == {"changed": 1}
    assert ran.json["embedded"] == 0
    assert [d["doc_id"] for d in esrag("docs", "--json").lines] == ["rows#b"]


def test_other_settings_need_a_rebuild_which_takes_everything_along(esrag, ingested):
    """Another chunk size is refused with the way out.

    The rebuild reads what is stored, named or not.
    """
    refused = esrag("ingest", "docs", "--set", "chunking.size=30")
    assert refused.code == 2
    assert "--rebuild" in refused.err

    ran = esrag("ingest", "--rebuild", "--set", "chunking.size=30", "--json")
    assert counts(ran) == {"added": 3}
    assert len(esrag("docs", "--json").lines) == 3


def test_nothing_to_ingest_is_wrong_use(esrag):
    """No path: exit 2 with a hint; an empty folder: nothing to do, exit 0."""
    (esrag.folder / "empty").mkdir()

    assert esrag("ingest").code == 2
    assert esrag("ingest", "empty").code == 0


def test_chunks_that_are_longer_than_the_encoder_reads_are_said(esrag, corpus):
    """One line before the work, which is done all the same.

    Not without an encoder, nor for what fits.
    """
    said = (
        "chunking.size is 255, and the encoder reads 254 tokens at once: "
        "a longer chunk gets the mean of its parts'"
    )
    large = ("--set", "chunking.size=255")
    ran = esrag("ingest", "docs", *large)
    assert (ran.code, ran.err.startswith(said)) == (0, True)
    fitting = (
        ("--set", "chunking.size=254"),
        (*large, "--set", "embedding.model=none"),
        (*large, "--dry-run"),
    )
    for number, options in enumerate(fitting):
        ran = esrag("ingest", "docs", *options, "--engine", f"other{number}")
        assert (ran.code, "chunking.size" in ran.err) == (0, False)
