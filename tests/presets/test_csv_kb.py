"""The preset csv-kb over its example and made-up tables: docs/reference/systems/csv-kb.md."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_models import service

from esrag.chunking.sentence import SentenceChunker
from esrag.records import Document
from esrag.settings.layers import resolve
from esrag.text import character_spans

__all__ = ["service"]

EXAMPLE = Path(__file__).parents[2] / "examples" / "csv-kb"
HEADER = "number,heading,body_text,source"
COLUMNS = {"text": "body_text", "title": "heading", "id": "number"}
REAL = {"ESRAG_EMBEDDING__PROVIDER": "onnx", "ESRAG_EMBEDDING__MODEL": "all-MiniLM-L6-v2"}
KETTLES = (
    f"{HEADER}\n"
    '7,Kettle,"The kettle holds 1.7 litres. It weighs 900 grams.",1\n'
    "8,Toaster,The toaster has two slots and a long cable.,1\n"
    "9,Lamp,The lamp takes a bulb of at most 60 watts.,2\n"
)
KETTLE = "How many litres does the kettle hold?"


@pytest.fixture
def knowledge(esrag):
    """The command line with the preset and its columns, in a folder with a small table."""
    (esrag.folder / "esrag.yaml").write_text(
        f"preset: csv-kb\nloading:\n  columns: {json.dumps(COLUMNS)}\n"
    )
    write(esrag, KETTLES)
    return esrag


def write(esrag, text):
    """Writes the table."""
    data = text if isinstance(text, bytes) else text.encode()
    (esrag.folder / "kb.csv").write_bytes(data)


def rows_of(esrag):
    """The ids of the rows that are stored."""
    ids = (document["doc_id"] for document in esrag("docs", "--json").lines)
    return sorted(doc_id.partition("#")[2] for doc_id in ids)


def test_init_and_three_commands_answer(esrag):
    """As the page has it; names of columns that are usual need no setting."""
    write(esrag, KETTLES.replace("body_text", "text").replace("heading", "title"))
    assert esrag("init", "csv-kb").code == 0
    assert esrag("ingest", "kb.csv").code == 0
    answered = esrag("ask", KETTLE, "--json").json
    assert "1.7 litres" in answered["answer"]
    assert answered["citations"][0]["title"] == "Kettle"


def test_columns_are_those_of_the_settings(knowledge):
    """Text, title and id; all others are metadata to filter by."""
    assert knowledge("ingest", "kb.csv").code == 0
    chunk = knowledge("chunks", "--json").lines[0]
    assert (chunk["doc_id"], chunk["title"]) == ("kb#7", "Kettle")
    assert chunk["text"] == "The kettle holds 1.7 litres. It weighs 900 grams."
    assert chunk["metadata"] == {"folder": "", "source_": 1}


def test_a_column_that_is_not_there_is_named(knowledge):
    """With those that are, and nothing is stored."""
    write(knowledge, "id,text\n1,The kettle is red.\n")
    ran = knowledge("ingest", "kb.csv")
    assert ran.code == 1
    assert "has no column 'body_text'; its columns: id, text" in ran.err


def test_lines_of_json_have_columns_too(knowledge):
    """A line without one is left out by its number."""
    lines = [{"number": 1, "heading": "A", "body_text": "The pan is wide."}, {"number": 2}]
    (knowledge.folder / "kb.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ran = knowledge("ingest", "kb.jsonl", "--json")
    (skipped,) = ran.json["skipped"]
    assert skipped["source"].endswith("kb.jsonl:line 2")
    assert skipped["reason"] == "has no 'body_text'"
    assert rows_of(knowledge) == ["1"]


def test_other_columns_need_a_rebuild(knowledge):
    """They are part of what an index was made with."""
    knowledge("ingest", "kb.csv")
    other = {"ESRAG_LOADING__COLUMNS__TITLE": "source"}
    assert knowledge("ingest", "kb.csv", **other).code == 2
    assert knowledge("ingest", "kb.csv", "--rebuild", **other).code == 0
    assert knowledge("chunks", "--json").lines[0]["title"] == "1"


def test_only_what_is_new_is_embedded(knowledge):
    """Rows that were there are recognised, wherever they stand by now."""
    knowledge("ingest", "kb.csv")
    first, *others = KETTLES.splitlines(keepends=True)[1:]
    write(knowledge, f"{HEADER}\n10,Pan,The pan is made of iron.,2\n{''.join(others)}{first}")
    report = knowledge("ingest", "kb.csv", "--json").json
    assert (report["embedded"], report["reused"]) == (1, 3)
    assert rows_of(knowledge) == ["10", "7", "8", "9"]


BROKEN = {
    "too few cells": (b"11,Pan,The pan is wide.\n", "has 3 cells, the header has 4"),
    "too many cells": (b"11,Pan,The pan is wide,2,3\n", "has 5 cells, the header has 4"),
    "no text": (b"11,Pan,,2\n", "holds no text"),
    "a quote that never closes": (b'11,Pan,"The pan is wide.,2\n', "never closed"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_rows_are_named_by_their_line(knowledge, kind):
    """And the good ones around them are in."""
    broken, reason = BROKEN[kind]
    lines = KETTLES.encode().splitlines(keepends=True)
    write(knowledge, b"".join([*lines[:2], broken, *lines[2:]]))
    (skipped,) = knowledge("ingest", "kb.csv", "--json").json["skipped"]
    assert skipped["source"].endswith("kb.csv:line 3")
    assert reason in skipped["reason"]
    assert rows_of(knowledge) == ["7", "8", "9"]


@pytest.mark.slow  # ten megabytes are many sentences
def test_odd_bytes_lose_no_row(knowledge):
    """A byte order mark, NUL bytes, Latin-1 and a cell of ten megabytes."""
    lines = KETTLES.encode().splitlines(keepends=True)
    odd = [
        b"11,Caf\xe9,Caf\xe9 cr\xe8me is served at noon.,2\n",
        b"12,Nothing,The pan\x00 is wide and heavy.,2\n",
        b"13,Long," + b"A pan is a pan. " * 650_000 + b",2\n",
    ]
    write(knowledge, b"".join([*lines, *odd]))
    patient = replace(knowledge, max_s=240)  # it takes one minute where nothing else runs
    assert patient("ingest", "kb.csv", ESRAG_EMBEDDING__MODEL="none").code == 0
    assert rows_of(knowledge) == ["11", "12", "13", "7", "8", "9"]
    write(knowledge, b"\xef\xbb\xbf" + KETTLES.encode())
    assert knowledge("ingest", "kb.csv", ESRAG_EMBEDDING__MODEL="none").code == 0
    assert rows_of(knowledge) == ["7", "8", "9"]


def test_of_ten_thousand_rows_the_broken_hundredth_is_named(knowledge):
    """Each by its line, and all others are in."""
    bad = set(range(50, 10_000, 100))
    lines = [
        f"{n},Row {n}" if n in bad else f"{n},Row {n},Shelf {n} is made of wood.,{n % 7}"
        for n in range(10_000)
    ]
    write(knowledge, "\n".join([HEADER, *lines, ""]))
    ran = knowledge("ingest", "kb.csv", "--json", ESRAG_EMBEDDING__MODEL="none")
    named = [skip["source"].rpartition(" ")[2] for skip in ran.json["skipped"]]
    assert named == [str(n + 2) for n in sorted(bad)]
    assert len(knowledge("docs", "--json").lines) == 10_000 - len(bad)


def test_sizes_in_characters_by_hand():
    """Whole sentences of at most thirty characters, as in the sheet's example."""
    text = (
        "AI is amazing. It can recognize images. It can understand text. It can generate content."
    )
    spans = SentenceChunker(30, 0, character_spans)(Document("d", "plain", text))
    assert [text[span.start : span.end] for span in spans] == [
        "AI is amazing.",
        "It can recognize images.",
        "It can understand text.",
        "It can generate content.",
    ]


@pytest.mark.parametrize("strategy", ["sentence", "sliding_window", "paragraph"])
def test_chunks_hold_at_most_that_many_characters(knowledge, strategy):
    """By the flags of the command; words stay whole, and every row is covered."""
    flags = ("--chunk-strategy", strategy, "--chunk-size", "28", "--chunk-overlap", "8")
    assert knowledge("ingest", "kb.csv", *flags).code == 0
    texts = [chunk["text"] for chunk in knowledge("chunks", "--json").lines]
    assert max(map(len, texts)) <= 28
    with (knowledge.folder / "kb.csv").open(newline="") as file:
        words = {word for row in csv.DictReader(file) for word in row["body_text"].split()}
    assert {word for text in texts for word in text.split()} == words


def test_an_overlap_above_the_size_is_refused(knowledge):
    """Before any work."""
    ran = knowledge("ingest", "kb.csv", "--chunk-size", "20", "--chunk-overlap", "21")
    assert (ran.code, "smaller than chunking.size, got 21 of 20" in ran.err) == (2, True)


def test_weak_hits_are_left_out_and_counted(knowledge):
    """Of scores that are scaled to 0 to 1; none left is a refusal that says so."""
    knowledge("ingest", "kb.csv")
    least = ("--set", "retrieval.min_score=0.9")
    found = knowledge("search", "kettle", "--json", *least).json
    assert [hit["doc_id"] for hit in found["hits"]] == ["kb#7"]
    assert found["notes"] == ["left out 2 hits with a score below retrieval.min_score 0.9"]
    refused = knowledge("ask", KETTLE, "--set", "retrieval.min_score=2")
    assert refused.code == 3
    assert "left out 3 hits with a score below retrieval.min_score 2" in refused.err


def test_without_a_minimum_no_hit_is_left_out(knowledge):
    """Nor those of negative cosines: every chunk is a hit of the vector leg."""
    knowledge("ingest", "kb.csv")
    found = knowledge("search", "iron pan", "--method", "vector", "--json").json
    assert len(found["hits"]) == 3
    assert max(hit["vector_score"] for hit in found["hits"]) < 0


def test_the_flags_of_a_search(knowledge):
    """Each changes what it names, on ask and on search."""
    knowledge("ingest", "kb.csv")

    def legs(*flags):
        hit, *_ = knowledge("search", "kettle slots", "--json", *flags).json["hits"]
        return hit["keyword_rank"] is not None, hit["vector_rank"] is not None

    assert legs("--retrieval-method", "bm25") == legs("--method", "keyword") == (True, False)
    assert legs("--retrieval-method", "vector") == (False, True)
    assert legs("--vector-weight", "1") == (True, True)
    shown = knowledge("search", "kettle", "--explain").out
    assert "round-robin" in shown
    assert "round-robin" not in knowledge("search", "kettle", "--explain", "--no-reranking").out
    assert knowledge("ask", KETTLE, "--no-reranking", "--vector-weight", "0.2").code == 0
    assert knowledge("ask", KETTLE, "--vector-weight", "1.2").code == 2


def test_a_pipe_of_questions_takes_the_flags(knowledge):
    """As `ask` does."""
    knowledge("ingest", "kb.csv")
    flags = ("--retrieval-method", "bm25", "--no-reranking", "--no-metadata")
    ran = knowledge("chat", *flags, stdin=f"{KETTLE}\n")
    assert (ran.code, "1.7 litres" in ran.out) == (0, True)


def test_a_model_is_sent_passages_with_their_source_or_without(knowledge, service):
    """The text of a passage is the same."""
    knowledge("ingest", "kb.csv")
    model = {
        "ESRAG_GENERATOR__NAME": "model",
        "ESRAG_MODELS__DEFAULT__MODEL": "made-up",
        "ESRAG_MODELS__DEFAULT__URL": f"{service.url}/v1",
        "ESRAG_MODELS__DEFAULT__API_KEY": service.key,
    }
    asking = replace(knowledge, variables=knowledge.variables | model)
    whole, bare = (
        asking("ask", KETTLE, "--show-prompt", "--json", *flags).json["prompt"]["user"]
        for flags in ((), ("--no-metadata",))
    )
    assert "| from kb#7, page 1, kb#7::p0001::c001, Kettle" in whole
    assert "from kb#7" not in bare
    kept = [line for line in whole.splitlines() if not line.startswith("| from ")]
    assert bare.splitlines() == kept


def test_the_second_question_is_paid_by_the_cache(knowledge):
    """To the byte, and it shows; another weight or document is another question."""
    knowledge("ingest", "kb.csv")
    first, second = (knowledge("ask", KETTLE, "--json").json for _ in range(2))
    assert (first["cached"], second["cached"]) == (False, True)
    assert second["answer"] == first["answer"]
    assert knowledge("ask", KETTLE, "--json", "--vector-weight", "0.6").json["cached"] is False
    write(knowledge, KETTLES + "10,Pan,The pan is made of iron.,2\n")
    knowledge("ingest", "kb.csv")
    assert knowledge("ask", KETTLE, "--json").json["cached"] is False


def test_what_the_cache_saved_is_counted_over_commands(knowledge):
    """Hits and misses of each kind, until it is cleared."""
    knowledge("ingest", "kb.csv")
    for _ in range(3):
        knowledge("ask", KETTLE)
        knowledge("search", "lamp")
    counts = knowledge("cache", "stats", "--json").json["counts"]
    assert (counts["answer_hits"], counts["answer_misses"]) == (2, 1)
    assert (counts["query_hits"], counts["query_misses"]) == (2, 1)
    assert counts["vector_misses"] == 3
    shown = knowledge("cache", "stats").out
    assert "answer cache: 2 hits, 1 miss (67% hits)" in shown
    knowledge("cache", "clear")
    assert "answer cache" not in knowledge("cache", "stats").out


def test_the_cache_is_beside_the_index_wherever_a_command_is_typed(knowledge):
    """And not in the package, nor in each folder."""
    knowledge("ingest", "kb.csv")
    below = knowledge.folder / "below"
    below.mkdir()
    answered = [
        replace(knowledge, folder=folder)("ask", KETTLE, "--json").json["cached"]
        for folder in (knowledge.folder, below)
    ]
    assert answered == [False, True]
    assert (knowledge.folder / ".esrag" / "cache.sqlite3").exists()
    assert not any(below.iterdir())


def test_the_preset_asks_for_all_of_it():
    """In one word."""
    settings = resolve({"preset": "csv-kb"}).settings
    assert (settings.chunking.strategy, settings.chunking.unit) == ("sentence", "characters")
    wanted = settings.retrieval
    assert (wanted.method, wanted.fusion, wanted.vector_weight, wanted.k) == (
        *("hybrid", "weighted"),
        *(0.7, 3),
    )
    rerank = settings.rerank
    assert (rerank.chain, rerank.depth, rerank.group_by) == (("round-robin",), 10, "source")
    assert settings.cache.url


@pytest.mark.weights
def test_the_example_keeps_its_score(knowledge, real_model):
    """As the page says, with two questions of room; the halves are on different topics."""
    knowledge("ingest", EXAMPLE / "articles.csv", **REAL)
    files = {half: EXAMPLE / f"questions-{half}.jsonl" for half in ("tune", "held")}
    scores = {
        half: knowledge(
            *("compare", "--questions", file, "--json"), **REAL, ESRAG_ANSWER__REFUSAL="0.45"
        ).json["variations"][0]
        for half, file in files.items()
    }
    assert {score["variation"] for score in scores.values()} == {"hybrid"}

    assert scores["tune"]["right"] >= 14
    assert scores["held"]["right"] >= 12
    assert scores["tune"]["spared"] + scores["held"]["spared"] >= 6
    topics = [
        {json.loads(line)["topic"] for line in file.read_text().splitlines()}
        for file in files.values()
    ]
    assert not topics[0] & topics[1]


@pytest.mark.weights
def test_the_example_takes_turns_between_its_sources(knowledge, real_model):
    """The three best hits are of three issues of the newsletter, and not two of the 11th."""
    assert knowledge("ingest", EXAMPLE / "articles.csv", **REAL).code == 0
    with (EXAMPLE / "articles.csv").open(newline="") as file:
        sources = {row["number"]: row["source"] for row in csv.DictReader(file)}

    def found(*flags):
        hits = knowledge("search", "chain lubricant", "--json", *flags, **REAL).json["hits"]
        return [sources[hit["doc_id"].partition("#")[2]] for hit in hits]

    assert found() == ["11", "28", "6"]
    assert found("--no-reranking") == ["11", "11", "28"]
