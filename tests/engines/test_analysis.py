"""One table of tokens, held to by every engine: a text, what is searched for it, and what servers
make of its words.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import WORDLESS, prepared

from esrag.engines.embedded.index_folder import DATABASE
from esrag.engines.embedded.searching import EVERYWHERE
from esrag.text.terms import terms

SERVERS = ("opensearch", "elasticsearch")
LIVE = [pytest.param(name, marks=pytest.mark.live) for name in SERVERS]

# text: (the field `terms`, which is searched; the field `text`, of English words; its sub-field
# `technical`)
TOKENS = {
    "ML-KEM-768": ("ml-kem-768 ml kem 768", "ml kem 768", "ml-kem-768 ml kem 768"),
    "(ml-kem-768),": ("ml-kem-768 ml kem 768", "ml kem 768", "(ml-kem-768), ml kem 768"),
    "ML-KEM.KeyGen": (
        "ml-kem.keygen ml kem keygen key gen",
        "ml kem.keygen",
        "ml-kem.keygen ml kem key gen",
    ),
    "K-PKE.Encrypt": (
        "k-pke.encrypt k pke encrypt",
        "k pke.encrypt",
        "k-pke.encrypt k pke encrypt",
    ),
    "SHA3-256": ("sha3-256 sha3 256", "sha3 256", "sha3-256 sha3 256"),
    "FIPS203": ("fips203", "fips203", "fips203"),
    "HTTP2Server": ("http2server", "http2server", "http2server"),
    "ML_KEM_768": ("ml_kem_768 ml kem 768", "ml_kem_768", "ml_kem_768 ml kem 768"),
    "int8_hnsw": ("int8_hnsw int8 hnsw", "int8_hnsw", "int8_hnsw int8 hnsw"),
    "rank_window_size": (
        "rank_window_size rank window size",
        "rank_window_s",
        "rank_window_size rank window size",
    ),
    "CVE-2024-3094": (
        "cve-2024-3094 cve 2024 3094",
        "cve 2024 3094",
        "cve-2024-3094 cve 2024 3094",
    ),
    "C++ and F#": ("c++ c f# f", "c f", "c++ c and f# f"),
    "std::vector": ("std::vector std vector", "std vector", "std::vector std vector"),
    "v1.2.3": ("v1.2.3 v1 2 3", "v1.2.3", "v1.2.3 v1 2 3"),
    "node.js": ("node.js node js", "node.j", "node.js node js"),
    "3.14": ("3.14", "3.14", "3.14 3 14"),
    "1,184 bytes": ("1184 1 184 byte", "1,184 byte", "1,184 1 184 bytes"),
    "2^256 − 1": ("2 256 1", "2 256 1", "2^256 2 256 − 1"),
    "user@example.org": (
        "user@example.org user exampl org",
        "user example.org",
        "user@example.org user example org",
    ),
    "café": ("café", "café", "café"),
    "naïve Ärzte": ("naïv ärzte", "naïv ärzte", "naïve ärzte"),
    "the cats' toys": ("cat toy", "cat toi", "the cats' cats toys"),
    "Alice’s keys": ("alic key", "alic kei", "alice’s alice s keys"),
    "don't": ("don't", "don't", "don't don t"),
    "running runs ran": ("run run ran", "run run ran", "running runs ran"),
    "it is not in the": ("", "", "it is not in the"),
    "密钥封装": ("密钥 钥封 封装", "密 钥 封 装", "密钥封装"),
    "鍵カプセル化": ("鍵カ カプ プセ セル ル化", "鍵 カプセル 化", "鍵カプセル化"),
    "한국어": ("한국 국어", "한국어", "한국어"),
    "हिन्दी עברית العربية ไทย": ("हिन्दी עברית العربية ไทย",) * 3,
    "snow ❄ 👍": ("snow", "snow ❄ 👍", "snow ❄ 👍"),
    "... — !": ("", "", "... — !"),
}


@pytest.fixture(scope="module")
def tokens_of(make_engine):
    """Gives the tokens of a text in a field of a server's index.

    Of the embedded engine, which has one, as stored.
    """
    engines = {}

    def tokens(name, field, text):
        if name not in engines:
            engines[name] = make_engine(name)
            with engines[name].writer(WORDLESS):
                pass
        return (_stored if name == "embedded" else _analysed)(engines[name], field, text)

    yield tokens
    for engine in engines.values():
        engine.close()


def _stored(engine, field, text):
    with engine.writer(WORDLESS) as writer:
        writer.replace([prepared("d", [text], vectors=False)])
    (path,) = Path(engine._options.url).rglob(DATABASE)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE VIRTUAL TABLE temp.tokens USING fts5vocab (main, words, instance)")
        found = database.execute("SELECT term FROM tokens WHERE col = ? ORDER BY offset", [field])
        return [term for (term,) in found if term != EVERYWHERE]


def _analysed(engine, field, text):
    """What the server makes of an entry's field; in `terms` an entry holds esrag's tokens."""
    text = " ".join(terms(text)) if field == "terms" else text
    index = engine._indexes.find_current().name
    answer = engine._connection.request(
        "POST", f"/{index}/_analyze", {"field": field, "text": text}
    )
    return [token["token"] for token in answer["tokens"]]


@pytest.mark.parametrize("name", ["embedded", *LIVE])
def test_every_engine_searches_the_same_tokens(tokens_of, name):
    """What an index file holds, and what a server analyses, are esrag's own tokens of the table."""
    expected = {text: searched.split() for text, (searched, _, _) in TOKENS.items()}
    assert expected == {text: terms(text) for text in TOKENS}
    assert expected == {text: tokens_of(name, "terms", text) for text in TOKENS}


@pytest.mark.parametrize("name", LIVE)
def test_servers_analyse_words_alike(tokens_of, name):
    """The English analyser and the technical one make of each text what the table says, in titles
    too.
    """
    for field in ("text", "title"):
        found = {
            text: (tokens_of(name, field, text), tokens_of(name, f"{field}.technical", text))
            for text in TOKENS
        }
        assert {
            text: (english.split(), technical.split())
            for text, (_, english, technical) in TOKENS.items()
        } == found


@pytest.mark.parametrize("name", ["embedded", *LIVE])
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)
@given(text=st.text(max_size=80))
def test_any_text_gives_the_same_tokens(tokens_of, name, text):
    """No engine splits, folds or drops a token of esrag's, whatever script it is of."""
    assert terms(text) == tokens_of(name, "terms", text)
