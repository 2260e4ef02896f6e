"""Questions about the collection and summaries, through the command line."""

import pytest

ACT = """# Harbour Act

## 1 Definitions

A vessel is any craft that can be used for transport on water, with or without an engine.

## Abstract

The act regulates who may moor in the harbour and what every owner of a vessel pays for it.
It was passed after the flood of 1953, which had destroyed the southern quay. This act describes the
duties of the harbour master in detail. Copyright by the city of Fulmar, all rights reserved.

## 2 Fees

Every owner of a vessel pays a fee of 12 crowns for each night in the harbour.
"""


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus."""
    (corpus / "act.md").write_text(ACT)
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_the_documents_are_listed_each_with_its_citation(kitchen):
    """From the records of the index, as a note says."""
    ran = kitchen("ask", "Which documents do you have?", "--json", "--show-evidence", "--explain")
    answer = ran.json

    assert (ran.code, answer["route"], answer["refused"]) == (0, "collection", False)
    assert answer["answer"].splitlines() == [
        "- Harbour Act (act.md) [c1]",
        "- Kettle (kettle.md) [c2]",
        "- Lamp (lamp.html) [c3]",
        "- “The toaster has two slots. Its cable is 80 centimetres long.” (toaster.txt) [c4]",
    ]
    assert answer["notes"] == [
        "from the records of the index, not a quotation",
        "the collection has 4 documents",
    ]
    by_key = {item["key"]: item for item in answer["evidence"]}
    for citation in answer["citations"]:
        assert citation["quote"] in by_key[citation["key"]]["text"]
        assert citation["source"].endswith((".md", ".html", ".txt"))
    assert (answer["path"], answer["model"]) == ("records", "records")


def test_a_filter_hides_documents(kitchen):
    """From lists, numbers and names."""
    ask = ("--where", "folder=kitchen", "--json")

    listed = kitchen("ask", "Which documents do you have?", *ask).json["answer"]
    assert ("Kettle" in listed, "Lamp" in listed) == (True, False)
    assert "2 documents." in kitchen("ask", "How many documents are there?", *ask).json["answer"]
    assert kitchen("ask", "Summarise the Harbour Act", *ask).json["route"] == "documents"


def test_a_number_of_documents_of_a_format_says_so(kitchen):
    counted = kitchen("ask", "How many HTML documents do you have?", "--json").json
    listed = kitchen("ask", "Which markdown documents do you have?", "--json").json

    assert counted["answer"] == "The collection has 1 HTML document. [c1]"
    assert listed["notes"][-1] == "the collection has 2 Markdown documents"


def test_documents_on_a_topic_are_listed(kitchen):
    """Those with half of its words; a topic of none is a question to the passages."""
    answer = kitchen("ask", "Which documents do you have about a dimmer?", "--json").json
    assert answer["answer"] == "- Lamp (lamp.html) [c1]"
    assert (answer["route"], len(answer["citations"])) == ("collection", 1)
    assert answer["confidence_band"] == "medium"  # words in common are no proof

    most = kitchen("ask", "Which of these documents are about dimmer machines?", "--json").json
    assert most["answer"] == "- Lamp (lamp.html) [c1]"

    other = kitchen("ask", "Which documents do you have about quantum gravity?", "--json").json
    assert other["route"] == "documents"


def test_documents_are_found_by_their_names_too(kitchen):
    """A topic may be the name of a series, which no passage has."""
    for asked in ("Which act documents are in this collection?", "Which kettles are in here?"):
        answer = kitchen("ask", asked, "--json").json
        wanted = "act.md" if "act" in asked else "kettle.md"
        assert f"({wanted})" in answer["answer"].splitlines()[0]
        assert answer["route"] == "collection"


def test_a_format_counts_before_the_number_of_documents_does(esrag, corpus):
    """However many documents of other formats have the topic in their name."""
    for number in range(21):
        (corpus / f"a-stove-{number}.md").write_text(f"# Stove {number}\n\nIt is hot.")
    (corpus / "stove.html").write_text("<html><body><h1>Warmth</h1><p>It is hot.</p></body>")
    assert esrag("ingest", "docs").code == 0
    asked = "Which HTML documents do you have about stoves?"
    assert esrag("ask", asked, "--json").json["answer"] == "- Warmth (stove.html) [c1]"


def test_pages_are_those_of_the_record(kitchen):
    """Or the answer says that there are none; "a brief" is no document."""
    answer = kitchen("ask", "How many pages does the Harbour Act have?", "--json").json
    assert answer["answer"] == "Harbour Act (act.md) is in a format without pages. [c1]"
    assert (
        kitchen("ask", "How many pages does a brief have?", "--json").json["route"] == "documents"
    )


def test_a_summary_is_of_the_abstract_with_what_the_text_is_for(kitchen):
    """Cited sentences in their order, without boilerplate."""
    answer = kitchen("ask", "Summarise the Harbour Act, please.", "--json", "--explain").json

    assert (answer["route"], answer["refused"]) == ("summary", False)
    assert answer["answer"] == (
        "The act regulates who may moor in the harbour and what every owner of a vessel pays for "
        "it. [c1] It was passed after the flood of 1953, which had destroyed the southern quay. "
        "[c1] This act describes the duties of the harbour master in detail. [c1]"
    )
    assert [citation["doc_id"] for citation in answer["citations"]] == ["act"]
    assert answer["path"] == "document"
    one = kitchen("ask", "Summarise the Harbour Act in one sentence.", "--json").json["answer"]
    assert one == "This act describes the duties of the harbour master in detail. [c1]"


def test_a_document_without_an_abstract_is_summarised_by_its_sections(kitchen, corpus):
    """The first real sentence of each, then those that follow."""
    (corpus / "act.md").write_text(ACT.replace("Abstract", "3 Mooring"))
    assert kitchen("ingest", "docs").code == 0
    answer = kitchen("ask", "What is act.md about?", "--json").json["answer"]

    assert answer.startswith("A vessel is any craft")
    assert "The act regulates who may moor in the harbour" in answer


def test_small_talk_gets_a_fixed_line(esrag):
    """Without an index; a script takes it for a refusal."""
    ran = esrag("ask", "Hello! What can you do?")
    assert ran.code == 3
    assert ran.out.startswith("Ask a question about your documents")

    answer = esrag("ask", "thanks", "--json").json
    assert (answer["refused"], answer["reason"], answer["route"]) == (True, "small-talk", "direct")
    assert (answer["citations"], answer["confidence"]) == ([], 0)


def test_a_list_is_streamed_by_lines(kitchen):
    """And not printed twice."""
    ran = kitchen("ask", "Which documents do you have?", "--stream")
    assert ran.out.count("- Kettle (kettle.md) [c2]") == 1
    assert "did not" not in ran.err
