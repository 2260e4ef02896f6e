"""Enrichment in an ingest: settings, limits, and a changed rule."""

import pytest

JOB = "{pattern: '/(2[0-9]{5})/', template: '{1}', type: number}"


@pytest.fixture
def firm(esrag):
    """A folder of one job, and a rule for its number."""
    folder = esrag.folder / "docs" / "225221"
    folder.mkdir(parents=True)
    (folder / "brief.md").write_text("# Brief\n\nThe roof of the library is renewed.\n")
    write(esrag, JOB)
    return esrag


def write(esrag, rule):
    (esrag.folder / "esrag.yaml").write_text(f"enriching:\n  rules:\n    job: {rule}\n")


def test_a_field_can_be_filtered_by(firm):
    assert firm("ingest", "docs").code == 0
    assert [document["metadata"]["job"] for document in firm("docs", "--json").lines] == [225221]
    hits = firm("search", "roof", "--where", "job=225221", "--json").json["hits"]
    assert [hit["metadata"]["job"] for hit in hits] == [225221]


def test_a_changed_rule_enriches_again(firm):
    """Every file is read, and nothing is encoded; without the rules the fields are gone."""
    assert firm("ingest", "docs").code == 0
    write(firm, JOB.replace("'{1}'", "'1{1}'"))
    ran = firm("ingest", "docs", "--json")
    counts = {name: ran.json[name] for name in ("changed", "unchanged", "embedded", "reused")}
    assert counts == {"changed": 1, "unchanged": 0, "embedded": 0, "reused": 1}
    assert _jobs(firm) == [1225221]
    assert firm("search", "brief", "--where", "job=1225221", "--json").json["hits"]

    assert firm("ingest", "docs", "--json").json["unchanged"] == 1
    (firm.folder / "esrag.yaml").unlink()
    assert firm("ingest", "docs", "--json").json["changed"] == 1
    assert _jobs(firm) == [None]


def _jobs(firm):
    return [document["metadata"].get("job") for document in firm("docs", "--json").lines]


def test_enrichers_work_in_turn(firm):
    """Rules read what those before found; an unknown one is named before any work."""
    (firm.folder / "docs" / "225221" / "brief.md").write_text("# Brief\n\nOf 4 March 2024.\n")
    write(firm, "{over: date, pattern: '-(\\d\\d)-', template: 'month {1}'}")
    assert firm("ingest", "docs", "--set", "enriching.chain=[dates, rules]").code == 0
    assert _jobs(firm) == ["month 03"]
    assert firm("search", "brief", "--where", "year=2024", "--json").json["hits"]

    ran = firm("ingest", "docs", "--set", "enriching.chain=[rules, nope]")
    assert (ran.code, "no enricher named 'nope'" in ran.err) == (2, True)


@pytest.mark.parametrize("model", ["hashing", "none"])
def test_a_field_may_be_searched_with_the_text(firm, model):
    """In both legs; the text stays what the document says."""
    settings = (firm.folder / "esrag.yaml").read_text()
    (firm.folder / "esrag.yaml").write_text(f"{settings}chunking: {{context: [job, owner]}}\n")
    leg = {"ESRAG_RETRIEVAL__METHOD": "keyword" if model == "none" else "vector"}
    variables = {"ESRAG_EMBEDDING__MODEL": model, "ESRAG_EMBEDDING__PROVIDER": "hashing", **leg}
    assert firm("ingest", "docs", **variables).code == 0

    (hit,) = firm("search", "225221", "--json", **variables).json["hits"]
    assert "225221" not in hit["text"]
    assert hit["score"] > 0
    (chunk,) = firm("chunks", "--json", **variables).lines
    assert chunk["context"] == "225221"

    (firm.folder / "esrag.yaml").write_text(settings)
    ran = firm("ingest", "docs", **variables)
    assert (ran.code != 0, "--rebuild" in ran.err) == (True, True)


def test_a_rule_that_never_ends_costs_its_file_alone(firm):
    """A pattern with exponential time is stopped with the process that parses."""
    write(firm, "{over: text, pattern: '(r|r)*(o|oo)*(a+)+$'}")
    (firm.folder / "docs" / "long.md").write_text("# Long\n\n" + "a" * 40 + "b\n")
    ran = firm("ingest", "docs", ESRAG_LOADING__TIMEOUT_S="2")
    assert "long.md" in ran.err
    assert [document["doc_id"] for document in firm("docs", "--json").lines] == ["brief"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{pattern: '('}", "is no regular expression"),
        ("{pattern: 'a', template: '{year}'}", "no group 'year'"),
        ("{pattern: ''}", "enriching.rules.job.pattern"),
        ("{pattern: 'a', type: colour}", "enriching.rules.job.type"),
    ],
)
def test_a_rule_that_cannot_be_meant(firm, rule, words):
    """One line, with the key and the reason."""
    write(firm, rule)
    ran = firm("ingest", "docs")
    assert ran.code == 2
    assert words in ran.err
    assert len(ran.err.splitlines()) <= 2
