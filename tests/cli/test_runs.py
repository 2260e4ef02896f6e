"""Records of questions: saved, replayed, compared, kept when the settings ask for it, and rated."""

import json
import stat

import pytest
from made_up_models import service

import esrag as package

__all__ = ["service"]

QUESTION = "How many litres does the kettle hold?"
WHOLE = {"ESRAG_RUNS__KEEP": "whole"}


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over three documents."""
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_a_changed_document_shows_in_replay_and_diff(kitchen, corpus):
    """The sentence that changed and the hits that left; before the change nothing differs."""
    assert kitchen("ask", QUESTION, "--save", "a.json").code == 0
    same = kitchen("replay", "a.json", "--save", "b.json")
    assert (same.code, same.out) == (0, "nothing differs\n")
    assert kitchen("diff", "a.json", "b.json").code == 0

    kettle = corpus / "kitchen" / "kettle.md"
    kettle.write_text(kettle.read_text().replace("1.7 litres", "2.5 litres"))
    (corpus / "lamp.html").unlink()
    assert kitchen("ingest", "docs").code == 0
    changed = kitchen("replay", "a.json", "--save", "c.json")
    assert changed.code == 1
    assert "- The kettle holds 1.7 litres.\n+ The kettle holds 2.5 litres.\n" in changed.out
    assert "hit left: lamp::p0001::c001\n" in changed.out
    assert kitchen("diff", "a.json", "c.json").out == changed.out

    assert "hit changed: kettle::p0001::c001\n" in changed.out
    found = kitchen("diff", "c.json", "a.json", "--json").json
    assert (found["schema"], found["entered"]) == ("esrag.diff/1", ["lamp::p0001::c001"])
    (text,) = [each for each in found["changed"] if each["chunk_id"] == "kettle::p0001::c001"]
    assert ("2.5 litres" in text["before"], "1.7 litres" in text["after"]) == (True, True)
    assert found["added_sentences"] == ["The kettle holds 1.7 litres."]


def test_a_difference_names_version_filter_and_settings(kitchen):
    """They explain what differs, and are no difference of the answers: the exit code stays 0."""
    kitchen("ask", QUESTION, "--save", "a.json")
    kitchen(
        "ask", QUESTION, "--save", "b.json", "--where", "folder=kitchen", "--set", "answer.steps=2"
    )
    newer = json.loads((kitchen.folder / "a.json").read_text()) | {"version": "9.9"}
    (kitchen.folder / "c.json").write_text(json.dumps(newer))

    ran = kitchen("diff", "a.json", "c.json")
    assert (ran.code, ran.out) == (
        0,
        f"version: {package.__version__} → 9.9\nnothing else differs\n",
    )
    out = kitchen("diff", "a.json", "b.json").out
    assert 'filter: (empty) → {"field": "folder", "values": ["kitchen"]}\n' in out
    assert "answer.steps: (default) → 2\n" in out
    assert "hit left: lamp::p0001::c001\n" in out


def test_a_record_of_an_older_version_is_compared(kitchen):
    """A part that it lacks is empty there, in a difference and in a replay."""
    kitchen("ask", QUESTION, "--save", "a.json")
    older = json.loads((kitchen.folder / "a.json").read_text())
    del older["answer"]["route"]
    (kitchen.folder / "older.json").write_text(json.dumps(older))
    for ran in (kitchen("diff", "older.json", "a.json"), kitchen("replay", "older.json")):
        assert (ran.code, ran.out) == (1, "route: (empty) → documents\n")


def test_a_record_judges_each_sentence_of_the_draft(kitchen, service):
    """Also those that a refusal never reached, with the reason of each."""
    service.said = ["It holds 9 litres. [c1] The kettle holds 1.7 litres. [c1] It is blue."]
    ran = kitchen("ask", QUESTION, "--save", "a.json", **_model(service))
    assert ran.code == 3
    sentences = json.loads((kitchen.folder / "a.json").read_text())["sentences"]
    assert [(each["text"], each["supported"], each["reason"]) for each in sentences] == [
        ("It holds 9 litres. [c1]", False, "unsupported"),
        ("The kettle holds 1.7 litres. [c1]", True, ""),
        ("It is blue.", False, "contract"),
    ]
    assert sentences[1]["citations"][0]["chunk_id"] == "kettle::p0001::c001"

    service.said = ["not found in provided docs"]
    kitchen("ask", QUESTION, "--save", "b.json", **_model(service))
    assert json.loads((kitchen.folder / "b.json").read_text())["sentences"] == []


def test_a_record_is_what_json_prints(kitchen):
    """Every part of the answer, with the settings and the filter; only its user can
    read the file.
    """
    kitchen("ask", QUESTION, "--save", "a.json", "--where", "folder=kitchen", "--k", "3")
    path = kitchen.folder / "a.json"
    record = json.loads(path.read_text())
    parts = (
        "--show-evidence",
        "--show-prompt",
        "--explain",
        "--where",
        "folder=kitchen",
        "--k",
        "3",
        "--json",
    )
    printed = kitchen("ask", QUESTION, *parts).json
    del printed["kibana_url"]
    assert record["answer"] | {"took_ms": {}} == printed | {"took_ms": {}}
    assert record["schema"] == "esrag.run/1"
    assert record["settings"]["retrieval.k"] == 3
    assert record["where"] == {"field": "folder", "values": ["kitchen"]}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kitchen("replay", "a.json").out == "nothing differs\n"


def test_nothing_is_kept_by_default(kitchen):
    """No file, no id; a listing says so."""
    assert "run_id" not in kitchen("ask", QUESTION, "--json").json
    listed = kitchen("runs", "list")
    assert (listed.code, listed.out) == (0, "")
    assert "runs.keep is off" in listed.err
    assert not list(kitchen.folder.glob(".esrag/runs*"))


def test_kept_runs_are_listed_shown_exported_and_rated(kitchen):
    """The newest first, with what was said of each; ids work in diff."""
    first = kitchen("ask", QUESTION, "--json", **WHOLE).json["run_id"]
    second = kitchen("ask", "Who won?", "--json", "--set", "answer.refusal=1", **WHOLE).json[
        "run_id"
    ]
    assert kitchen("feedback", first, "good", "--note", "to the point").code == 0

    listed = kitchen("runs", "list", "--json").lines
    assert [(run["run_id"], run["refused"], run["feedback"]) for run in listed] == [
        (second, True, []),
        (first, False, ["good"]),
    ]
    shown = kitchen("runs", "show", first).out
    assert "The kettle holds 1.7 litres. [c1]\n" in shown
    assert "\n[c1] Kettle > Size, page 1: docs/kitchen/kettle.md\n" in shown
    assert "feedback: good: to the point\n" in shown
    exported = kitchen("runs", "export").lines
    assert [run["run_id"] for run in exported] == [second, first]
    assert exported[1]["feedback"][0]["note"] == "to the point"
    assert exported[1] == kitchen("runs", "show", first, "--json").json
    assert "refused: False → True\n" in kitchen("diff", first, second).out


def test_a_run_without_texts_holds_none(kitchen):
    """No word of question, answer or document, in the record and in the file.

    Ids, scores and times stay.
    """
    kitchen(
        "ask", QUESTION, "--json", "--where", "folder=kitchen", ESRAG_RUNS__KEEP="without-texts"
    )
    (record,) = kitchen("runs", "export").lines
    assert record["answer"]["citations"][0]["chunk_id"] == "kettle::p0001::c001"
    assert record["answer"]["took_ms"]
    data = (kitchen.folder / ".esrag" / "runs.sqlite3").read_bytes()
    assert not [word for word in (b"litres", b"Kettle", b"kitchen") if word in data]
    assert "(kept without its text)" in kitchen("runs", "show", record["run_id"]).out


def test_no_part_of_an_answer_keeps_a_text(kitchen):
    """Parts, corrections and places worth a look; of an answer and of a refusal."""
    kept = {"ESRAG_RUNS__KEEP": "without-texts"}
    asked = kitchen("ask", "How many litres does the kettel hold, and who painted it?", **kept)
    refused = kitchen(
        "ask", "How many slots has the toaster in winter?", ESRAG_ANSWER__REFUSAL="1", **kept
    )
    assert ("kettel" in asked.err, "worth a look" in refused.err) == (True, True)
    data = (kitchen.folder / ".esrag" / "runs.sqlite3").read_bytes().lower()
    words = (b"litres", b"kettel", b"painted", b"slots", b"winter", b"kitchen", b"toaster.txt")
    assert not [word for word in words if word in data]


def test_old_and_many_runs_are_removed(kitchen):
    """By their size together, and by age; the feedback on them goes as well."""
    ids = [kitchen("ask", QUESTION, "--json", **WHOLE).json["run_id"] for _ in range(3)]
    kitchen("feedback", ids[0], "bad")
    size = len(json.dumps(kitchen("runs", "export").lines[0]))
    last = kitchen("ask", QUESTION, "--json", ESRAG_RUNS__MAX_BYTES=str(2 * size), **WHOLE).json[
        "run_id"
    ]
    assert kitchen("runs", "list", "--json").lines[0]["run_id"] == last
    assert len(kitchen("runs", "list", "--json").lines) <= 2
    newest = kitchen("ask", QUESTION, "--json", ESRAG_RUNS__MAX_DAYS="0.00001", **WHOLE).json[
        "run_id"
    ]
    assert newest in [run["run_id"] for run in kitchen("runs", "list", "--json").lines]


def test_a_run_that_cannot_be_kept_is_answered_with_a_note(kitchen):
    """Another program's file, and a folder where the file should be."""
    (kitchen.folder / "other.db").write_bytes(b"something else" * 100)
    ran = kitchen("ask", QUESTION, "--json", ESRAG_RUNS__URL="other.db", **WHOLE).json
    assert ran["answer"] == "The kettle holds 1.7 litres. [c1]"
    assert "the run was not kept" in ran["notes"][0]
    assert (kitchen.folder / "other.db").read_bytes().startswith(b"something else")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[",
        "[" * 100_000,
        "[]",
        "{}",
        '{"schema": "esrag.run/1"}',
        '{"schema": "esrag.hits/1", "run_id": "", "settings": {}, "where": {}, "answer": {}}',
        "\udcff",
    ],
)
def test_a_file_that_is_not_a_record_is_one_line(kitchen, content):
    """With what writes one, exit 2."""
    (kitchen.folder / "x.json").write_text(content, errors="surrogateescape")
    for command in (["replay", "x.json"], ["diff", "x.json", "x.json"]):
        ran = kitchen(*command)
        assert (ran.code, len(ran.err.splitlines())) == (2, 2), ran.err
        assert "esrag ask --save" in ran.err


def test_a_record_cannot_send_anything_anywhere(kitchen):
    """Addresses, files and secrets of a saved run are not applied again, nor is an
    unknown setting.
    """
    kitchen("ask", QUESTION, "--save", "a.json")
    record = json.loads((kitchen.folder / "a.json").read_text())
    hostile = {
        "models.default.url": "http://evil.example",
        "engine.url": "/etc",
        "rerank.url": "http://evil.example",
    }
    hostile |= {
        "rerank.model": "/etc",
        "rerank.chain": ["cohere"],
        "rerank.api_key": "k",
        "cache.url": "x.db",
        "runs.keep": "whole",
    }
    record["settings"] = hostile
    (kitchen.folder / "b.json").write_text(json.dumps(record))
    ran = kitchen("replay", "b.json")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "nothing else differs")
    assert not (kitchen.folder / "x.db").exists()

    for where in ({"field": "folder"}, {"and": 1}, {"field": "x", "values": [[]]}, {"not": {}}):
        (kitchen.folder / "c.json").write_text(json.dumps(record | {"where": where}))
        assert kitchen("replay", "c.json").code == 2
    deep = {"not": {"field": "a", "values": [1]}}
    for _ in range(40):
        deep = {"not": deep}
    (kitchen.folder / "d.json").write_text(json.dumps(record | {"where": deep}))
    assert kitchen("replay", "d.json").code == 2


def test_an_unknown_run_is_named(kitchen):
    """One line and a hint, exit 2, whether any run is kept or not."""
    assert kitchen("runs", "show", "nope").code == 2
    run_id = kitchen("ask", QUESTION, "--json", **WHOLE).json["run_id"]
    assert f"did you mean {run_id}?" in kitchen("runs", "show", run_id[:-1]).err
    assert kitchen("feedback", "nope", "good").code == 2
    assert kitchen("feedback", run_id, "fine").code == 2
    assert kitchen("feedback", run_id, "good", "--note", "x" * 3000).code == 2


def test_what_is_not_unicode_is_no_damage(kitchen):
    """Bytes that a terminal passes on: an unknown run, or a note without them."""
    for ran in (kitchen("runs", "show", "no\udcff"), kitchen("feedback", "no\udcff", "good")):
        assert (ran.code, "no run 'no" in ran.err) == (2, True)

    run_id = kitchen("ask", QUESTION, "--json", **WHOLE).json["run_id"]
    assert kitchen("feedback", run_id, "bad", "--note", "caf\udce9 closed").code == 0
    assert "feedback: bad: caf closed" in kitchen("runs", "show", run_id).out


def test_kept_runs_are_summed_up(kitchen):
    """With a bar for each day, as JSON too; without any, a remark says why."""
    assert kitchen("runs", "stats").err == "no runs are kept; runs.keep is off\n"
    kept = {"ESRAG_RUNS__KEEP": "without-texts"}
    kitchen("ask", QUESTION, **kept)
    kitchen("ask", "Who painted the Night Watch?", "--set", "answer.refusal=0.99", **kept)
    run_id = kitchen("runs", "list", "--json").lines[0]["run_id"]
    kitchen("feedback", run_id, "good")

    ran = kitchen("runs", "stats")
    first, _, header, documents, *_ = ran.out.splitlines()
    assert first.startswith("2 runs from 20")
    assert first.endswith(": 1 refused, 0 from the cache, 1 rated good, 0 bad")
    assert " ".join(header.split()) == "route runs refused cached hits good bad each day"
    assert documents.split() == ["documents", "2", "1", "0", "3.0", "1", "0", "█"]
    assert "refusal " in ran.out
    assert "median ms" in ran.out

    stats = kitchen("runs", "stats", "--json").json
    assert (stats["schema"], stats["total"]["runs"]) == ("esrag.stats/1", 2)
    assert stats["total"]["periods"] == [2]


def test_runs_are_kept_from_python_too(kitchen, monkeypatch):
    """By the same setting, in the same file."""
    monkeypatch.chdir(kitchen.folder)
    settings = {
        "embedding": {"provider": "hashing", "model": "hashing"},
        "answer.refusal": 0,
        "runs.keep": "whole",
    }
    with package.open(".esrag", settings=settings) as index:
        run_id = index.ask(QUESTION).run_id
    assert [run["run_id"] for run in kitchen("runs", "list", "--json").lines] == [run_id]


def test_a_wrong_place_is_refused_before_a_model_is_asked(kitchen, service):
    """A store of runs that cannot be meant, and files that cannot be written."""
    (kitchen.folder / "folder").mkdir()
    for arguments, variables, said in (
        ([], WHOLE | {"ESRAG_RUNS__URL": "redis://h/0"}, "runs.url must be a file, found an"),
        (["--save", "/nonexistent/x.json"], {}, "there is no folder /nonexistent"),
        (["--save", "docs/lamp.html/x.json"], {}, "there is no folder docs/lamp.html"),
        (["--save", "folder"], {}, "is a directory"),
    ):
        ran = kitchen("ask", QUESTION, *arguments, **_model(service), **variables)
        assert (ran.code, ran.out) == (2, ""), ran
        assert said in ran.err
    assert service.asked == []

    kitchen("ask", QUESTION, "--save", "a.json")
    ran = kitchen("replay", "a.json", "--save", "/nonexistent/x.json", **_model(service))
    assert (ran.code, ran.out, service.asked) == (2, "", [])


@pytest.mark.parametrize("as_json", [[], ["--json"], ["--stream"]])
def test_an_answer_is_printed_even_if_it_cannot_be_saved(kitchen, service, as_json):
    """First the answer, then the error in one line, exit 1: the answer was paid for."""
    ran = kitchen("ask", QUESTION, "--save", "/dev/full", *as_json, **_model(service))
    assert (ran.code, "The kettle holds 1.7 litres. [c1]" in ran.out) == (1, True)
    assert "error: the run was not saved: /dev/full cannot be written: No space" in ran.err
    assert len(service.asked) == 1


def test_a_difference_is_printed_even_if_its_run_cannot_be_saved(kitchen):
    """`replay` behaves as `ask` does."""
    kitchen("ask", QUESTION, "--save", "a.json")
    ran = kitchen("replay", "a.json", "--save", "/dev/full")
    assert (ran.code, ran.out) == (1, "nothing differs\n")
    assert "the run was not saved" in ran.err


def _model(service):
    """The variables that make a language model write the answers."""
    return {
        "ESRAG_GENERATOR__NAME": "model",
        "ESRAG_MODELS__DEFAULT__MODEL": "made-up",
        "ESRAG_MODELS__DEFAULT__URL": f"{service.url}/v1",
        "ESRAG_MODELS__DEFAULT__API_KEY": service.key,
    }
