"""The tokens of the keyword leg, as a table that every engine can be held to."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.text.terms import MAX_TERM, find_technical_words, terms

TOKENS = {
    "": "",
    " \t\n.,;!?—…": "",
    "The running dogs": "run dog",
    "ML-KEM.KeyGen": "ml-kem.keygen ml kem keygen key gen",
    "(ML-KEM.KeyGen),": "ml-kem.keygen ml kem keygen key gen",
    "ML-KEM-768": "ml-kem-768 ml kem 768",
    "ML‑KEM‑768": "ml-kem-768 ml kem 768",  # non-breaking hyphens
    "SHAKE128": "shake128",
    "NTT": "ntt",
    "K-PKE.Encrypt": "k-pke.encrypt k pke encrypt",
    "C++ and F#.": "c++ c f# f",
    "snake_case __init__": "snake_case snake case init",
    "camelCase KeyGen": "camelcas camel case keygen key gen",
    "SHA3Hash X509": "sha3hash x509",
    "PDFs": "pdfs",
    "std::vector": "std::vector std vector",
    "TCP/IP AT&T": "tcp/ip tcp ip at&t t",
    "user@example.org": "user@example.org user exampl org",
    "it's its dog's dogs'": "dog dog",
    "it’s don’t O’Brien": "don't o'brien",
    "state-of-the-art": "state-of-the-art state art",
    "3.14 1.2.3 v1.2": "3.14 1.2.3 v1.2 v1 2",
    "1,184 bytes": "1184 1 184 byte",
    "2024-08-13": "2024-08-13 2024 08 13",
    "one,two;three": "one two three",
    "10–20": "10 20",
    "and a...b": "b",
    "naïve café ÉTÉ Straße": "naïv café été straße",
    "שָׁלוֹם مُحَمَّد हिन्दी": "שָׁלוֹם مُحَمَّد हिन्दी",
    "東京都 量 abc東京": "東京 京都 量 abc 東京",
    "한국어 カタカナ": "한국 국어 カタ タカ カナ",
    "soft\xadhyphen": "softhyphen",
    "𝑘 = 𝟛, ℎ ∈ ℤ at 20 ℃": "k 3 h z 20",  # letters of formulas
    '"NEAR(" OR * NOT ^ {x}:': "near x",
    "who is it": "",
}

WORDS = {
    "": (),
    "A plain sentence, well-known and re-used.": (),
    "ML-KEM.KeyGen of FIPS-203 calls SHAKE128": ("ML-KEM.KeyGen", "FIPS-203", "SHAKE128"),
    "snake_case camelCase C++ C# XOF's XOF": ("snake_case", "camelCase", "C++", "C#", "XOF"),
    "3.14 2024-08-13 1,184": (),
    "v1.2 of utf-8": ("v1.2", "utf-8"),
}


@pytest.mark.parametrize("text", TOKENS)
def test_tokens(text):
    """Each text gives just these tokens, in this order."""
    assert TOKENS[text].split() == terms(text)


@pytest.mark.parametrize("text", WORDS)
def test_technical_words(text):
    """Identifiers and compounds come as written, once, in order."""
    assert WORDS[text] == find_technical_words(text)


@pytest.mark.parametrize("query", ["KeyGen", "keygen", "ML-KEM", "kem", "ml-kem.keygen"])
def test_a_part_finds_its_compound(query):
    """What a reader calls it finds `ML-KEM.KeyGen`."""
    assert set(terms(query)) & set(terms("Algorithm 19: ML-KEM.KeyGen()"))


def test_technical_words_are_bounded():
    """At most as many as asked for."""
    assert 32 == len(find_technical_words(" ".join(f"X{i}" for i in range(100))))
    assert ("X0", "X1") == find_technical_words("X0 X1 X2", limit=2)


def test_long_runs_are_cut():
    """Encoded data costs one short term, and is found again by itself."""
    assert ["x" * MAX_TERM] == terms("x" * 100_000)


@given(st.text())
def test_any_text(text):
    """Any text gives terms without white space, capitals or quotes, the same ones each time."""
    made = terms(text)
    assert made == terms(text)
    assert all(term and not set(term) & set(' \t\n"') for term in made)
    assert {term for word in find_technical_words(text) for term in terms(word)} <= set(made)


@given(st.text(), st.text())
def test_texts_side_by_side(left, right):
    """White space divides: the terms of two lines are those of each."""
    assert terms(left) + terms(right) == terms(f"{left}\n{right}")


def test_speed():
    """240 words take about a millisecond once their stems are known (generous: the machine may be
    busy).
    """
    text = "The encapsulation key of ML-KEM-768 holds 1,184 bytes and running functions " * 22
    terms(text)
    took = []
    for _ in range(20):
        started = time.perf_counter()
        terms(text)
        took.append(time.perf_counter() - started)
    assert min(took) < 0.002
