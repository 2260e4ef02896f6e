"""`esrag compare`: variations of the settings, side by side."""

import json

import pytest

KETTLE = "How many litres does the kettle hold?"


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus."""
    assert esrag("ingest", "docs").code == 0
    return esrag


def write(esrag, variations):
    """Writes them into the settings file."""
    tree = {"compare": {"variations": variations}}
    (esrag.folder / "esrag.yaml").write_text(json.dumps(tree))


def test_each_variation_is_asked(kitchen):
    """By default the two legs alone and together; each has the hits of its own settings."""
    asked = kitchen("compare", KETTLE, "--json").json["variations"]
    assert [each["variation"] for each in asked] == ["keyword", "vector", "hybrid"]
    for each in asked:
        alone = kitchen("ask", KETTLE, "--method", each["variation"], "--explain", "--json").json
        assert each["answer"] == alone["answer"]
        assert each["hits"] == [hit["chunk_id"] for hit in alone["hits"]]
    shown = kitchen("compare", KETTLE).out
    assert shown.count("answered, confidence") == 3
    assert shown.count("1. kettle::p0001::c001  Kettle") == 3


def test_an_answer_of_several_lines_is_indented(kitchen):
    """The list of the documents below each variation."""
    lines = kitchen("compare", "Which documents are there?").out.splitlines()
    named = [line for line in lines if line and not line.startswith(" ")]
    assert [line.partition(":")[0] for line in named] == ["keyword", "vector", "hybrid"]
    assert len(lines) > 6


def test_one_question_is_not_several(kitchen):
    """In the line below the counts."""
    (kitchen.folder / "q.jsonl").write_text(json.dumps({"question": KETTLE, "answers": ["1.7"]}))
    assert "\n1 question. right: " in kitchen("compare", "--questions", "q.jsonl").out


def test_the_same_question_prints_the_same_bytes(kitchen):
    """No time is printed, and nothing is cached or kept."""
    kept = {"ESRAG_CACHE__URL": "cache.db", "ESRAG_RUNS__KEEP": "whole"}
    first, second = (kitchen("compare", KETTLE, "--json", **kept).out for _ in range(2))
    assert first == second
    assert kitchen("runs", "list", **kept).out == ""
    assert not (kitchen.folder / "cache.db").exists()


def test_variations_are_those_of_the_settings(kitchen):
    """With any keys of retrieval, rerank and answer; the rest is as set."""
    write(kitchen, {"plain": {}, "one": {"retrieval.k": 1, "rerank.chain": ["lexical"]}})
    plain, one = kitchen("compare", KETTLE, "--json", "--set", "retrieval.k=2").json["variations"]
    assert (len(plain["hits"]), len(one["hits"])) == (2, 1)


def test_labelled_questions_are_counted(kitchen):
    """What was right, wrong, missed and spared, and whether chance may explain a difference."""
    write(kitchen, {"usual": {"answer.refusal": 0.0}, "strict": {"answer.refusal": 1.0}})
    questions = [
        *({"question": KETTLE, "answers": ["1.7"]} for _ in range(6)),
        {"question": "How heavy is the kettle?", "answers": ["1.7 tons"]},
        {"question": "Who won the cup?", "answerable": False},
    ]
    (kitchen.folder / "q.jsonl").write_text("\n".join(map(json.dumps, questions)))
    usual, strict = kitchen("compare", "--questions", "q.jsonl", "--json").json["variations"]
    counts = ("right", "wrong", "missed", "spared")
    assert [usual[name] for name in counts] == [6, 2, 0, 0]
    assert [strict[name] for name in counts] == [0, 0, 7, 1]
    # Six pairs for the first and one for the second: 2 · (1 + 7) / 2⁷.
    assert (usual["chance"], strict["chance"]) == (None, 0.125)
    lines = kitchen("compare", "--questions", "q.jsonl").out.splitlines()
    assert [line.split()[:5] for line in lines[1:3]] == [
        ["usual", "6", "2", "0", "0"],
        ["strict", "0", "0", "7", "1"],
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"chunking.size": 9}, "sets chunking.size, which is not a setting of a question"),
        ({"engine.url": "elsewhere"}, "sets engine.url, which is not a setting"),
        ({"rerank.api_key": "s3cret"}, "sets rerank.api_key, which is not a setting"),
        ({"retrieval.kk": 9}, "unknown setting 'retrieval.kk'"),
        ({"retrieval.k": "many"}, "retrieval.k"),
    ],
)
def test_what_is_no_variation_is_one_line(kitchen, values, words):
    """Before anything is asked, with its name, and without a secret."""
    write(kitchen, {"odd": values})
    ran = kitchen("compare", KETTLE)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "compare.variations.odd" in ran.err
    assert "s3cret" not in ran.err


def test_a_file_may_not_send_passages_to_a_service_in_this_way(kitchen):
    """Until it is allowed, as for rerank.chain itself."""
    write(kitchen, {"theirs": {"rerank.chain": ["cohere"]}})
    ran = kitchen("compare", KETTLE, COHERE_API_KEY="k")
    assert (ran.code, "config allow" in ran.err) == (2, True)


def test_secrets_within_a_variation_are_masked_where_settings_are_shown(esrag):
    """A key by its name, and the password of an address."""
    secrets = {"answer.api_key": "s3cret", "engine.url": "https://me:s3cret@search.example"}
    write(esrag, {"odd": secrets})
    for form in ((), ("--json",)):
        shown = esrag("config", "show", *form)
        assert shown.code == 0
        assert "https://********@search.example" in shown.out
        assert "s3cret" not in shown.out


def test_what_is_to_be_asked_is_a_question_or_a_file(kitchen):
    """Neither, both, and a file that is none."""
    assert kitchen("compare").code == 2
    assert kitchen("compare", KETTLE, "--questions", "q.jsonl").code == 2
    assert kitchen("compare", "--questions", "missing.jsonl").code == 2
    (kitchen.folder / "empty.jsonl").write_text("\n")
    for command in ("compare", "route"):
        ran = kitchen(command, "--questions", "empty.jsonl")
        assert (ran.code, ran.out) == (2, "")
        assert "empty.jsonl is empty" in ran.err
    assert kitchen("compare", "--set", "compare.variations={}", KETTLE).code == 2
