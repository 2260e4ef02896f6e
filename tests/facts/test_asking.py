"""Facts as they are imported and asked for, on every engine."""

import json
import uuid

import pytest

LIVE = [pytest.param(name, marks=pytest.mark.live) for name in ("opensearch", "elasticsearch")]
DAY = ("--set", "facts.as_of=2025-01-31")
FACTS = """question,answer,source_url,valid_from,valid_until,harbour
What is the mooring fee?,The mooring fee is $40 a night.,https://harbour.example/fees,2024-01-01,,North
What is the mooring fee?,The mooring fee was $30 a night.,https://harbour.example/old,2020-01-01,2023-12-31,North
How many berths does the harbour have?,The harbour has 120 berths.,https://harbour.example/berths,,,North
Who pays the mooring fee?,The owner of the boat pays the mooring fee.,https://harbour.example/fees,,,North
What is the H-1B cap?,"The H-1B cap is 65,000 visas a year.",https://visa.example/cap,,,
What is the fine for being late?,The fine is $7.,https://harbour.example/fees,,,North
What is the launch fee?,The launch fee is $12.,https://harbour.example/fees,,2022-12-31,North
"""


@pytest.fixture
def at(esrag, corpus, name, request):
    """Runs commands on an index of the engine under test, with its facts."""
    url = ".esrag" if name == "embedded" else request.getfixturevalue(name)
    where = {"ESRAG_ENGINE__INDEX": f"f-{uuid.uuid4().hex[:8]}", "ESRAG_ENGINE__URL": url}

    def run(*arguments, **variables):
        return esrag(*arguments, **{**where, **variables})

    (esrag.folder / "facts.csv").write_text(FACTS)
    assert run("facts", "import", "facts.csv").code == 0
    assert run("ingest", "docs").code == 0
    return run


@pytest.mark.parametrize("name", ["embedded", *LIVE])
def test_a_fact_is_imported_asked_for_and_removed(at, esrag, name):
    """The same on every engine: exact, similar, of an earlier time, filtered, gone."""
    exact = at("ask", "What is the mooring fee", "--json", *DAY).json
    assert exact["answer"] == "The mooring fee is $40 a night. [c1]"
    assert (exact["route"], exact["confidence"], exact["notes"]) == (
        "facts",
        1.0,
        ["this holds from 2024-01-01"],
    )
    assert exact["citations"][0]["source"] == "https://harbour.example/fees"

    similar = at("ask", "how many berths has the harbour?", "--json", *DAY, "--explain").json
    assert (similar["answer"], similar["confidence"], similar["path"]) == (
        "The harbour has 120 berths. [c1]",
        0.9,
        "facts-similar",
    )
    assert "$30" in at("ask", "What was the mooring fee in 2022?", *DAY).out
    asked = ("ask", "What is the mooring fee?", "--json", *DAY, "--where")
    assert at(*asked, "folder!=kitchen").json["route"] == "facts"
    assert at(*asked, "folder=kitchen").json["route"] == "documents"  # a fact has no folder

    (esrag.folder / "routes.jsonl").write_text(
        '{"question": "What is the mooring fee?", "route": "facts"}'
    )
    counted = ("route", "--questions", "routes.jsonl", *DAY, "--where")
    assert at(*counted, "harbour=North").out == "1 of 1 question as labelled\n"
    assert at(*counted, "folder=kitchen").out.endswith("\n0 of 1 question as labelled\n")

    first = at("facts", "list", "--json").lines[0]["fact_id"]
    assert at("facts", "remove", first).out == "1 fact removed\n"
    assert at("facts", "remove", first).code == 2
    (esrag.folder / "facts.csv").write_text(FACTS.splitlines()[0] + "\n")
    assert at("facts", "import", "facts.csv").out.startswith("0 added, 0 changed, 6 removed")
    assert at("route", "What is the mooring fee?", "--json").json["route"] == "documents"


@pytest.mark.parametrize("name", ["embedded"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what's the price for mooring?", "$40"),
        ("mooring cost", "$40"),
        ("H1B cap", "65,000"),
        ("How many H-1Bs is the cap?", "65,000"),
        ("Who has to pay the mooring fee?", "The owner"),
        ("Who pays for mooring?", "The owner"),
        ("What is the fine for being late?", "$7"),
        # Nearly the question of a fact, but of another thing.
        ("What is the mooring time?", ""),
        ("What is the mooring fee for a yacht?", ""),
        ("Where do I pay the mooring fee?", ""),
        ("Why is there a mooring fee?", ""),
        ("Is there a mooring fee?", ""),
        ("What is not the mooring fee?", ""),
        ("What was the mooring fee in 2019?", ""),
        ("What is the H-2B cap?", ""),
        ("When was the H-1B cap reached?", ""),
        ("What is the launch fee?", ""),  # it expired
        ("Can I moor for $40?", ""),
        ("fee", ""),  # of several facts
    ],
)
def test_only_a_fact_with_every_word_answers(at, name, question, answer):
    """A wrong fact is worse than none."""
    found = at("route", question, "--json", *DAY).json
    assert (found["route"] == "facts") == bool(answer), found
    if answer:
        assert answer in at("ask", question, *DAY).out


@pytest.mark.parametrize("name", ["embedded"])
def test_what_differs_in_the_documents_is_said(at, esrag, name):
    """The fact answers, and a note quotes the best sentence of the documents."""
    (esrag.folder / "docs" / "fees.md").write_text(
        "# Tariff\n\nThe mooring fee is 55 dollars a night.\n"
    )
    at("ingest", "docs")
    asked = at("ask", "What is the mooring fee?", "--json", *DAY).json
    assert "$40" in asked["answer"]
    assert asked["notes"][-1] == (
        "the documents differ: 'Tariff' says: The mooring fee is 55 dollars a night."
    )

    (esrag.folder / "docs" / "fees.md").write_text("# Tariff\n\nThe mooring fee is $40 a night.\n")
    at("ingest", "docs")
    assert len(at("ask", "What is the mooring fee?", "--json", *DAY).json["notes"]) == 1


@pytest.mark.parametrize("name", ["embedded"])
def test_a_cached_answer_goes_with_its_fact(at, esrag, name):
    """A changed fact is a new answer, though the documents are the same."""
    cached = {"ESRAG_CACHE__URL": "cache.sqlite3"}
    asked = ("ask", "What is the mooring fee?", "--json", *DAY)
    at(*asked, **cached)
    assert at(*asked, **cached).json["cached"]

    (esrag.folder / "facts.csv").write_text(FACTS.replace("$40", "$44"))
    assert at("facts", "import", "facts.csv").out.startswith("0 added, 1 changed")
    assert "$44" in at(*asked, **cached).json["answer"]


@pytest.mark.parametrize("name", ["embedded"])
def test_the_chain_and_the_cues_are_settings(at, name):
    """Without routers no fact answers, and cues may forbid one."""
    asked = ("route", "mooring cost", "--json", *DAY)
    assert at(*asked, "--set", "routing.chain=[]").json["route"] == "documents"
    passed = at(*asked, "--set", "facts.threshold=0.9").json
    assert (passed["route"], passed["routing"]["confidence"]) == ("documents", 0.8)
    assert passed["routing"]["reason"] == "it does not ask for a fact (cues 0.2)"
    unknown = at(*asked, "--set", "routing.chain=[oracle]")
    assert (unknown.code, "no router named 'oracle'" in unknown.err) == (2, True)


@pytest.mark.parametrize("name", ["embedded"])
def test_bad_rows_are_named_and_the_others_stand(at, esrag, name):
    """Exit code 1, and `check` says it without storing anything."""
    bad = FACTS + "What is the tide?,It is high.,,,,\nWhat is the mooring fee?,$1,x,2024-05-01,,\n"
    (esrag.folder / "facts.csv").write_text(bad)
    checked = at("facts", "check", "facts.csv", "--json")
    problems = [(each["place"], each["reason"][:11]) for each in checked.json["problems"]]
    assert (checked.code, problems) == (
        1,
        [("line 9", "has no sour"), ("line 2", "contradicts"), ("line 10", "contradicts")],
    )
    imported = at("facts", "import", "facts.csv")
    assert (imported.code, imported.out) == (
        1,
        "0 added, 0 changed, 1 removed, 6 unchanged, 3 left out\n",
    )
    assert "left out: line 9 has no source_url" in imported.err
    stored = at("facts", "check", *DAY)
    assert (stored.code, "expired on 2022-12-31" in stored.out) == (1, True)


def test_files_of_one_name_in_two_folders_keep_their_facts(esrag):
    """An import removes what the file itself has no more, and nothing of its namesake."""
    for folder, thing in (("a", "boat"), ("b", "car")):
        (esrag.folder / folder).mkdir()
        row = f"What is the {thing} fee?,It is $7.,https://a.example"
        (esrag.folder / folder / "fees.csv").write_text(f"question,answer,source_url\n{row}\n")

    assert esrag("facts", "import", "a/fees.csv").out.startswith("1 added")
    imported = esrag("facts", "import", "b/fees.csv").out
    assert imported.startswith("1 added, 0 changed, 0 removed, 0 unchanged"), imported
    again = esrag("facts", "import", str(esrag.folder / "b" / "." / "fees.csv")).out
    assert again.startswith("0 added, 0 changed, 0 removed, 1 unchanged"), again


def test_a_fact_of_two_sentences_has_no_question_between_them(esrag, corpus):
    """The title of a document says what "It" is; that of a fact was just asked."""
    row = "How much is the lamp?,It costs 5 euros. It burns oil.,https://a.example"
    (esrag.folder / "facts.csv").write_text(f"question,answer,source_url\n{row}\n")
    esrag("facts", "import", "facts.csv")
    esrag("ingest", "docs")
    said = "It costs 5 euros. [c1] It burns oil. [c1]"
    asked = esrag("ask", "How much is the lamp?").out
    assert " ".join(asked.partition("\n\n")[0].split()) == said
    assert "lamp?)" not in esrag("chat", input="How much is the lamp?\n").out


def test_without_facts(esrag, corpus):
    """Nothing is stored, and a missing file is one line."""
    esrag("ingest", "docs")
    assert "no facts are stored" in esrag("facts", "list").err
    missing = esrag("facts", "import", "none.csv")
    assert (missing.code, missing.err.count("\n")) == (2, 2), missing.err
    assert esrag("facts", "remove").code == 2
    route = json.loads(esrag("route", "What is the fee?", "--json").out)
    assert (route["route"], route["routing"]["router"]) == ("documents", "")


TIES = """question,answer,source_url
What is the adult yearly pool fee?,It is $50.,https://pool.example
What is the child yearly pool fee?,It is $50.,https://pool.example
What is the local yearly pool fee?,It is $90.,https://pool.example
"""


@pytest.mark.parametrize("name", ["embedded"])
def test_facts_that_fit_alike_and_differ_answer_nothing(at, esrag, name):
    """However many of them agree before the one that does not."""
    (esrag.folder / "ties.csv").write_text(TIES)
    assert at("facts", "import", "ties.csv").out.startswith("3 added")
    asked = ("route", "What is the yearly pool fee?", "--json", *DAY)
    assert at(*asked).json["route"] == "documents"

    (esrag.folder / "ties.csv").write_text(TIES.replace("90", "50"))
    assert at("facts", "import", "ties.csv").out.startswith("0 added, 1 changed")
    assert at(*asked).json["route"] == "facts"


@pytest.mark.parametrize("name", ["embedded"])
def test_a_fact_may_have_the_time_in_its_question(at, esrag, name):
    """Then it needs no dates, but those that it has count."""
    rows = (
        "What was the pool fee in 2023?,It was $7.,https://pool.example,,",
        "What was the sauna fee in 2023?,It was $9.,https://pool.example,2024-01-01,",
    )
    (esrag.folder / "years.csv").write_text("\n".join((FACTS.splitlines()[0][:-8], *rows)))
    assert at("facts", "import", "years.csv").out.startswith("2 added")

    found = at("route", "what was the pool fee in 2023", "--json", *DAY).json
    assert found["route"] == "facts", found
    assert "$7" in at("ask", "What was the pool fee in 2023?", *DAY).out
    for other in ("What was the pool fee in 2022?", "What was the sauna fee in 2023?"):
        assert at("route", other, "--json", *DAY).json["route"] == "documents"
