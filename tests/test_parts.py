"""A question in parts: each part is searched by itself, and the answer is cited as a whole."""

import json
import re

import pytest

HOLDS = "How many litres does the kettle hold"
SLOTS = "How many slots does the toaster have"
SHIPS = "How many ships did Xerxes lose"


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus."""
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_each_part_is_answered(kitchen):
    """In order, with markers that belong to the evidence of the whole."""
    asked = kitchen("ask", f"{HOLDS}, and {SLOTS}?", "--json", "--show-evidence").json
    alone = [kitchen("ask", f"{part}?", "--json").json for part in (HOLDS, SLOTS)]

    bare = [re.sub(r" \[c\d+\]", "", each["answer"]) for each in (*alone, asked)]
    assert bare[2] == f"{bare[0]}\n{bare[1]}"
    assert [part["question"] for part in asked["parts"]] == [f"{HOLDS}?", f"{SLOTS}?"]
    assert asked["confidence"] == min(each["confidence"] for each in alone)

    evidence = {item["key"]: item for item in asked["evidence"]}
    assert len(evidence) == len({item["chunk_id"] for item in asked["evidence"]})
    for citation in asked["citations"]:
        assert citation["quote"] in evidence[citation["key"]]["text"]
        assert f"[{citation['key']}]" in asked["answer"]


def test_a_part_without_an_answer_is_told(kitchen):
    """The others are answered; without any, it is the refusal of the whole question."""
    limit = {"ESRAG_ANSWER__REFUSAL": "0.3"}
    ran = kitchen("ask", f"{SHIPS}, and {HOLDS.lower()}?", **limit)
    assert (ran.code, "1.7 litres" in ran.out) == (0, True)
    assert f"no answer to '{SHIPS}?': below-threshold" in ran.err

    refused = kitchen("ask", f"{SHIPS}, and who sank them?", "--json", **limit)
    assert (refused.code, refused.json["parts"]) == (3, [])


def test_a_part_leans_on_the_one_before(kitchen):
    asked = kitchen("ask", f"{HOLDS}, and how many watts does it have?", "--json").json
    assert "kettle" in asked["parts"][1]["question"]


def test_a_part_leans_on_an_answer(esrag):
    """What the first part found is what the second one asks about."""
    text = "# Sets\n\nML-KEM-768 is the recommended set.\n\nThe key of ML-KEM-768 has 1184 bytes.\n"
    (esrag.folder / "sets.md").write_text(text)
    assert esrag("ingest", "sets.md").code == 0

    question = "Which set is the recommended one, and how large is its key?"
    asked = esrag("ask", question, "--json").json
    assert "ML-KEM-768" in asked["parts"][1]["question"]
    assert "1184 bytes" in asked["answer"]


def test_a_time_that_was_told_is_not_asked_for_again(esrag):
    """Another sentence with a year would follow."""
    text = "In May 1999, Ada Park founded the club. Ben Fox left it in June 2004."
    (esrag.folder / "club.txt").write_text(text)
    assert esrag("ingest", "club.txt").code == 0

    question = "Who founded the club, and when did that happen?"
    asked = esrag("ask", question, "--json", ESRAG_ANSWER__REFUSAL="0").json
    assert [part["question"] for part in asked["parts"]] == ["Who founded the club?"]
    assert "2004" not in asked["answer"]


def test_sentences_are_streamed_as_they_are_printed(kitchen):
    """Under the keys of the whole answer."""
    question = f"{HOLDS}, and {SLOTS}?"
    assert kitchen("ask", question, "--stream").out == kitchen("ask", question).out


def test_what_answers_two_parts_is_told_once(kitchen):
    """In the answer and in the stream."""
    ran = kitchen("ask", f"{HOLDS}, and how many litres does the kettle hold?", "--stream")
    assert ran.out.count("1.7 litres") == 1


def test_what_was_told_keeps_its_place(kitchen):
    """The order of the answers and of the evidence is that of the parts."""
    question = f"{HOLDS}? {SLOTS}? And how many litres does the kettle hold?"
    asked = kitchen("ask", question, "--json", "--show-evidence").json
    first, second = asked["answer"].splitlines()
    assert ("1.7 litres" in first, "slots" in second) == (True, True)
    keys = [item["key"] for item in asked["evidence"]]
    assert keys == [f"c{number}" for number in range(1, len(keys) + 1)]


def test_parts_are_an_option(kitchen):
    """`routing.parts: 1` asks the question as a whole."""
    asked = kitchen("ask", f"{HOLDS}, and {SLOTS}?", "--json", ESRAG_ROUTING__PARTS="1").json
    assert asked["parts"] == []


def test_each_part_has_its_own_route(esrag, corpus):
    """A fact answers one part, and the documents the other."""
    fact = {"question": "What is the fee?", "answer": "The fee is $4.", "source_url": "tariff"}
    (esrag.folder / "facts.jsonl").write_text(json.dumps(fact))
    assert esrag("ingest", "docs").code == 0
    assert esrag("facts", "import", "facts.jsonl").code == 0

    question = f"What is the fee? {HOLDS}?"
    asked = esrag("ask", question, "--json").json
    assert [part["route"] for part in asked["parts"]] == ["facts", "documents"]
    assert (asked["route"], asked["answer"].splitlines()[0]) == ("documents", "The fee is $4. [c1]")
    routed = esrag("route", question).out.splitlines()
    assert [line.split("? ")[1].split(":")[0].split(" ")[0] for line in routed] == [
        "facts", "documents",
    ]  # fmt: skip


def test_a_record_judges_all_parts(kitchen):
    """Each sentence against the evidence of the whole."""
    assert kitchen("ask", f"{HOLDS}, and {SLOTS}?", "--save", "a.json").code == 0
    record = json.loads((kitchen.folder / "a.json").read_text())
    assert [each["supported"] for each in record["sentences"]] == [True, True]
