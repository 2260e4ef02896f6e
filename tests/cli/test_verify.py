"""`esrag verify`: the check of citations for text that anybody wrote, alone or from Python."""

import json
import subprocess
import sys

import pytest

PASSAGES = [
    "The lamp has 7 watts. It is not dimmable.",
    {"text": "The cable is 3 metres long.", "title": "Lamp"},
]


def request(draft, passages=PASSAGES):
    return json.dumps({"draft": draft, "passages": passages})


def test_a_supported_draft_has_exit_code_0(esrag):
    """Whichever way it comes; each sentence is cited with its place."""
    draft = "The lamp has 7 watts. [c1] The cable of the lamp is 3 metres long. [c2]"
    (esrag.folder / "draft.json").write_text(request(draft))
    told = esrag("verify", "draft.json")
    assert (told.code, told.out.splitlines()[-1], told.err) == (0, "supported", "")

    found = esrag("verify", "-", "--json", stdin=request(draft)).json
    assert (found["schema"], found["supported"], found["reason"]) == ("esrag.verdict/1", True, "")
    assert [sentence["supported"] for sentence in found["sentences"]] == [True, True]
    assert found["sentences"][0]["citations"][0]["quote"] == "The lamp has 7 watts."
    assert not (esrag.folder / ".esrag").exists(), "no index is needed"


def test_a_full_stop_may_stand_behind_the_markers(esrag):
    """It belongs to the sentence before them, for the whole draft and for each sentence."""
    ran = esrag(
        "verify",
        "-",
        "--json",
        stdin=request("The lamp has 7 watts [c1]. It is not dimmable [c1]."),
    )
    assert (ran.code, [sentence["reason"] for sentence in ran.json["sentences"]]) == (0, ["", ""])
    assert [sentence["text"] for sentence in ran.json["sentences"]][1] == "It is not dimmable. [c1]"


@pytest.mark.parametrize(
    ("draft", "reasons"),
    [
        ("The lamp has 7 watts. [c1] It is dimmable. [c1]", ["", "unsupported"]),
        ("The lamp has 9 watts. [c1] The cable is 3 metres long. [c2]", ["unsupported", ""]),
        ("The lamp has 7 watts. [c1] It is red.", ["", "contract"]),
        ("The lamp has 7 watts. [c3]", ["contract"]),
        ("The lamp has 7 watts.", ["contract"]),
        ("I could not find this in the documents.", ["model-refused"]),
    ],
)
def test_each_sentence_has_its_own_verdict(esrag, draft, reasons):
    """One that is not supported does not hide the others; the exit code is 3."""
    ran = esrag("verify", "-", "--json", stdin=request(draft))
    assert (ran.code, ran.json["supported"]) == (3, False)
    assert [sentence["reason"] for sentence in ran.json["sentences"]] == reasons
    assert ran.json["note"]

    told = esrag("verify", "-", stdin=request(draft))
    assert told.code == 3
    assert told.out.count("rejected") == sum(map(bool, reasons))


def test_an_empty_draft_supports_nothing(esrag):
    """It is no answer."""
    ran = esrag("verify", "-", "--json", stdin=request(""))
    assert (ran.code, ran.json["sentences"]) == (3, [])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "not JSON"),
        ("[" * 5000, "not JSON"),
        ("[]", "an object with a draft"),
        ('{"draft": "A. [c1]"}', "an object with a draft"),
        ('{"draft": 1, "passages": []}', "an object with a draft"),
        (request("A. [c1]", [1]), "passage 1"),
        (request("A. [c1]", ["a", {"title": "T"}]), "passage 2"),
        (request("A. [c1]", [{"text": "a", "title": None}]), "passage 1"),
        (request("A. [c1]", ["a"] * 1001), "at most 1000 passages"),
    ],
    ids=["nothing", "depth", "list", "half", "number", "other", "title", "null", "many"],
)
def test_what_is_no_request_is_one_line_and_exit_2(esrag, given, words):
    """What was expected, and what was found."""
    ran = esrag("verify", "-", stdin=given)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert len(ran.err.splitlines()) <= 2


def test_a_request_without_an_end_is_read_to_its_limit(esrag):
    """As a file or from a pipe; it is not parsed."""
    (esrag.folder / "large.json").write_text("a" * (16 * 2**20 + 1))
    for name, given in (("large.json", ""), ("-", "a" * (16 * 2**20 + 1))):
        ran = esrag("verify", name, stdin=given)
        assert (ran.code, "has more than 16,777,216 bytes" in ran.err) == (2, True)


def test_a_file_that_cannot_be_read_is_named(esrag):
    """One that is not there, a folder, other bytes."""
    (esrag.folder / "bytes").write_bytes(b"\xff\xfe\xff")
    for name, words in (
        ("none.json", "No such file"),
        (".", "Is a directory"),
        ("bytes", "not UTF-8"),
    ):
        ran = esrag("verify", name)
        assert ran.code == 2
        assert words in ran.err


def test_python_gives_what_the_command_gives(esrag):
    """The same check; importing the package opens nothing large."""
    draft = "The lamp has 7 watts. [c1] It is dimmable. [c1]"
    program = f"""
import dataclasses, json, sys
import esrag
assert not {{"numpy", "onnxruntime", "sqlite3", "httpx", "elasticsearch"}} & set(sys.modules)
found = esrag.verify({draft!r}, {PASSAGES!r}, settings={{"embedding.provider": "hashing"}})
print(json.dumps(dataclasses.asdict(found)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=esrag.folder,
        env=esrag.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    printed = esrag("verify", "-", "--json", stdin=request(draft)).json
    assert json.loads(done.stdout) == {
        name: value for name, value in printed.items() if name != "schema"
    }
