"""`esrag ask`, `search` and `ingest` with a cache: quick, never stale, and the same without it."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from esrag.caching.opening import open_cache
from esrag.context import open_context
from esrag.engines import engine_options
from esrag.engines.embedded import EmbeddedEngine
from esrag.errors import ContextTooLarge, UsageError
from esrag.filters import parse
from esrag.pipeline import ask, search
from esrag.settings import CacheSettings
from esrag.settings.layers import resolve

QUESTION = "How many litres does the kettle hold?"


@pytest.fixture
def kitchen(esrag, corpus, tmp_path):
    """The command line over three documents, with a cache in a file."""
    assert esrag("ingest", "docs").code == 0
    return replace(
        esrag, variables=esrag.variables | {"ESRAG_CACHE__URL": str(tmp_path / "cache.db")}
    )


@pytest.fixture
def opened(kitchen, redis_url):
    """The settings and context of the same in this process, with a cache in Redis."""
    own = {"engine.url": str(kitchen.folder / ".esrag"), "cache.url": redis_url}
    settings = resolve(own, kitchen.variables, kitchen.folder).settings
    context = open_context(settings)
    yield settings, context
    context.engine.close()
    context.cache.close()


class Counting(EmbeddedEngine):
    """Counts its searches, and does something before each."""

    def __init__(self, options, before=lambda: time.sleep(0.2)):
        super().__init__(options)
        self.before, self.count = before, 0

    def search(self, request):
        """As it is, but counted."""
        self.count += 1
        self.before()
        return super().search(request)


def without_time(asked):
    """What is printed, but for whether and how quickly it was found."""
    shown = asked.to_dict(evidence=True, prompt=True, explain=True)
    del shown["cached"], shown["took_ms"]
    return json.dumps(shown, ensure_ascii=False, allow_nan=False)


QUESTIONS = {
    QUESTION: {},
    "boils": {"retrieval.k": 2},
    "lamp": {"retrieval.method": "keyword"},
    "bulb": {"retrieval.fusion": "weighted"},
    "Who won?": {"answer.refusal": 1},
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "where", [None, parse("folder=kitchen"), parse("page=9")], ids=["all", "some", "none"]
)
def test_a_kept_answer_is_the_same_to_the_letter(opened, question, where):
    """But for `cached` and `took_ms`; with all that can be shown of it, and also
    without a cache.
    """
    settings, context = opened
    own = {"engine.url": settings.engine.url, "cache.url": settings.cache.url, "answer.refusal": 0}
    context = replace(context, settings=resolve(own | QUESTIONS[question], {}, Path("/")).settings)
    plain, first, second = (
        ask(question, replace(context, cache=cache), where)
        for cache in (None, context.cache, context.cache)
    )

    assert [asked.cached for asked in (plain, first, second)] == [False, False, True]
    assert without_time(plain) == without_time(first) == without_time(second)
    assert list(second.took_ms) == ["cache"]


def test_the_command_prints_it_to_the_letter(kitchen):
    """As text even that it was kept is not seen; --json says so."""
    first, second, plain = (kitchen("ask", QUESTION, *more) for more in ((), (), ("--no-cache",)))
    assert first == second == plain

    first, second = (
        kitchen("ask", QUESTION, "--json", *more).out for more in (("--no-cache",), ())
    )
    assert first.replace('"cached": false', '"cached": true') == second != first


def test_kept_hits_are_the_same_to_the_letter(opened, admin):
    """But for `took_ms`; and are found without asking the index anything but its generation."""
    settings, context = opened
    context = replace(context, engine=Counting(engine_options(settings.engine)))
    found = (
        search("kettle", replace(context, cache=cache))
        for cache in (None, context.cache, context.cache)
    )
    plain, first, second = (repr(replace(it, took_ms={})) for it in found)

    assert plain == first == second
    assert context.engine.count == 2
    context.engine.close()


def test_without_the_cache_nothing_is_read_or_kept(kitchen):
    """`--no-cache`; with the cache both are kept."""
    for more, kept in ((("--no-cache",), 0), ((), 1)):
        assert kitchen("ask", QUESTION, *more).code == kitchen("search", QUESTION, *more).code == 0
        counted = kitchen("cache", "stats", "--json").json
        assert (counted["answers"], counted["queries"]) == (kept, kept)


@pytest.mark.faults
def test_a_changed_document_is_never_answered_from_before(opened, kitchen, corpus):
    """After a change, a rebuild, a new index in the same place, and a removal (case 28)."""
    _, context = opened
    kettle = corpus / "kitchen" / "kettle.md"

    def litres():
        asked = ask(QUESTION, context)
        return asked.cached, [
            amount
            for amount in ("1.7", "2.5", "3.5", "4.5")
            if f"{amount} litres" in asked.answer.text
        ]

    assert [litres(), litres()] == [(False, ["1.7"]), (True, ["1.7"])]
    kettle.write_text("The kettle holds 2.5 litres.\n")
    assert litres() == (True, ["1.7"])  # nothing was ingested yet
    kitchen("ingest", "docs")
    assert litres() == (False, ["2.5"])
    kettle.write_text("The kettle holds 3.5 litres.\n")
    kitchen("ingest", "docs", "--rebuild")
    assert litres() == (False, ["3.5"])
    shutil.rmtree(kitchen.folder / ".esrag")
    kettle.write_text("The kettle holds 4.5 litres.\n")
    kitchen("ingest", "docs")
    assert litres() == (False, ["4.5"])
    kettle.unlink()
    kitchen("ingest", "docs")
    assert litres() == (False, [])


@pytest.mark.live
@pytest.mark.faults
def test_a_server_moves_on_its_generation_too(kitchen, corpus, opensearch):
    """What workers on other machines changed is seen (case 28)."""
    kitchen = replace(
        kitchen,
        variables=kitchen.variables | {"ESRAG_ENGINE__URL": opensearch, "ESRAG_ENGINE__INDEX": "c"},
    )
    for litres in ("1.7", "2.5"):
        (corpus / "kitchen" / "kettle.md").write_text(f"The kettle holds {litres} litres.\n")
        assert kitchen("ingest", "docs").code == 0
        first, second = (kitchen("ask", QUESTION, "--json").json for _ in range(2))
        assert [first["cached"], second["cached"]] == [False, True]
        assert litres in first["answer"]
        assert first["answer"] == second["answer"]


@pytest.mark.faults
def test_an_ingest_in_the_middle_of_a_question_does_not_outlive_it(opened, kitchen, corpus):
    """The generation is read before anything is retrieved (case 28)."""
    settings, context = opened
    toaster = corpus / "kitchen" / "toaster.txt"

    def ingest():
        toaster.write_text("The toaster has six slots.\n")
        kitchen("ingest", "docs")

    engine = Counting(engine_options(settings.engine), before=ingest)
    asked = ask("How many slots?", replace(context, engine=engine))
    toaster.write_text("The toaster has eight slots.\n")
    engine.before = lambda: None
    again = ask("How many slots?", replace(context, engine=engine))

    assert "six" in asked.answer.text
    assert (again.cached, engine.count) == (False, 4)


@pytest.mark.faults
def test_fifty_who_ask_the_same_at_once_make_one_search(opened):
    """All get the one answer; so do fifty who search (case 29)."""
    settings, context = opened
    engine = Counting(engine_options(settings.engine))
    context = replace(context, engine=engine)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: ask(QUESTION, context), range(50)))
        hits = list(pool.map(lambda _: search(QUESTION, context), range(50)))

    assert engine.count == 4  # two of each: one is for the rows of tables
    assert len({asked.answer.text for asked in answers}) == 1
    assert sum(asked.cached for asked in answers) == 49
    assert len(set(map(repr, hits))) == 1
    engine.close()


def test_what_changes_an_answer_is_in_its_key(opened, tmp_path):
    """Each of these is answered anew; a blank more is not the same question."""
    settings, context = opened
    others = [
        {"retrieval.k": 3},
        {"retrieval.method": "keyword"},
        {"answer.max_sentences": 1},
        {"answer.refusal": 0.1},
        {"engine.username": "another"},
    ]
    secret = {"ESRAG_ENGINE__API_KEY": "secret"}
    url = {"engine.url": settings.engine.url, "cache.url": settings.cache.url, "answer.refusal": 0}
    variants = [resolve(url | other, {}, tmp_path).settings for other in ({}, *others)]
    variants.append(resolve(url, secret, tmp_path).settings)
    told = [ask(QUESTION, replace(context, settings=each)).cached for each in variants]
    told.append(ask(QUESTION, context, parse("folder=kitchen")).cached)
    told.append(ask(QUESTION, context, parse("folder=kitchen*")).cached)
    told.append(ask(f" {QUESTION}", context).cached)

    assert told == [False] * 10
    assert ask(QUESTION, context).cached is True
    assert ask(QUESTION, context, parse("folder=kitchen")).cached is True


def test_what_another_index_answers_is_its_own(kitchen, corpus):
    """In a folder of the same name somewhere else; both share the cache."""
    assert kitchen("ask", QUESTION, "--json").json["cached"] is False
    elsewhere = replace(kitchen, folder=corpus)
    (corpus / "kitchen" / "kettle.md").write_text("The kettle holds 9 litres.\n")
    elsewhere("ingest", "kitchen")
    asked = elsewhere("ask", QUESTION, "--json").json

    assert asked["cached"] is False
    assert "9 litres" in asked["answer"]


def test_a_refusal_is_kept_briefly_and_an_error_never(opened, admin):
    """So that what comes in is soon found, and what is mended works at once."""
    _, context = opened
    refusing = context.with_settings({"answer.refusal": 1.0})
    assert ask("Who won?", refusing).answer.refused
    assert search("kettle", context, parse("page=9")).hits == ()
    tight = context.with_settings({"answer.evidence_tokens": 1})
    with pytest.raises(ContextTooLarge, match="the best passage"):
        ask(QUESTION, tight)
    with pytest.raises(UsageError, match="empty"):
        ask(" ", context)

    keys = list(admin.scan_iter("esrag:c:[^n]:*"))  # not the counters
    assert sorted(key[:10] for key in keys) == [b"esrag:c:a:", b"esrag:c:s:"]
    assert all(0 < admin.ttl(key) <= 66 for key in keys)


@pytest.mark.faults
def test_a_damaged_answer_is_made_anew(opened, admin):
    """Whatever is in its place (case 27)."""
    _, context = opened
    first = ask(QUESTION, context)
    (key,) = admin.scan_iter("esrag:c:a:*")
    for damaged in (
        b"",
        b"{}",
        admin.get(key)[:-5],
        b'\x80\x04cposix\nsystem\n(S"touch pwned"\ntR.',
    ):
        admin.set(key, damaged)
        again = ask(QUESTION, context)
        assert (again.cached, without_time(again)) == (False, without_time(first))
        assert ask(QUESTION, context).cached is True
    assert not Path("pwned").exists()


@pytest.mark.faults
def test_a_dead_cache_costs_one_line(esrag, corpus, black_hole, tmp_path):
    """Ingest, ask and search do their work, whatever is wrong with it (case 26)."""
    (tmp_path / "text").write_text("no cache " * 1000)
    for url in (black_hole, str(tmp_path / "text")):
        where = {"ESRAG_CACHE__URL": url}
        for command in (("ingest", "docs", "--rebuild"), ("ask", QUESTION), ("search", "kettle")):
            ran = esrag(*command, **where)
            assert ran.code == 0, ran.err
            assert ran.err.count("warning: the cache") == 1, ran.err
            assert "secret" not in ran.err
        assert "1.7 litres" in ran.out


def test_an_index_from_a_full_cache_is_the_one_from_an_empty_cache(kitchen):
    """To the bit; nothing is embedded the second time."""
    first, second = (
        kitchen("ingest", "docs", "--engine", name, "--json").json for name in ("first", "second")
    )
    assert first["embedded"] > 0 == second["embedded"]
    assert first["chunks"] == second["chunks"]
    stored = [
        min(Path(kitchen.folder, name).rglob("vectors-*")).read_bytes()
        for name in ("first", "second")
    ]
    assert stored[0] == stored[1] != b""


def test_stats_and_clear(esrag, tmp_path):
    """In words and as JSON; without a cache one line says what to set."""
    where = {"ESRAG_CACHE__URL": str(tmp_path / "cache.db")}
    with closing(open_cache(CacheSettings(url=where["ESRAG_CACHE__URL"]))) as cache:
        cache.set_many({"a:1": b"x", "s:1": b"x", "e:1": b"x"}, 60)

    assert (
        "1 vector, 1 answer, 1 query, 0 responses, 0.0 MiB" in esrag("cache", "stats", **where).out
    )
    assert esrag("cache", "clear", **where).out == "removed 3 entries\n"
    assert "0 vectors, 0 answers, 0 queries" in esrag("cache", "stats", **where).out
    none = esrag("cache", "stats")
    assert (none.code, none.out) == (2, "")
    assert "hint: set cache.url" in none.err


def test_stats_of_a_dead_cache_is_an_error(esrag, black_hole):
    """One line without the password."""
    for command in ("stats", "clear"):
        ran = esrag("cache", command, ESRAG_CACHE__URL=black_hole)
        assert ran.code == 4
        assert "does not answer" in ran.err
        assert "secret" not in ran.err
