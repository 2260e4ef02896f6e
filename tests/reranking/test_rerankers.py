"""What each reranker looks at, on hits small enough to be checked by hand."""

import numpy as np
import pytest

from esrag.embedding import EmbedderOptions
from esrag.embedding.hashing import HashingEmbedder
from esrag.embedding.opening import open_embedder
from esrag.errors import SettingsError
from esrag.plugins import load, names
from esrag.records import Chunk, Hit
from esrag.reranking import RerankOptions
from esrag.reranking.chain import Limits, rerank
from esrag.settings import Indicator

ENCODER = HashingEmbedder(EmbedderOptions(""))


def hit(n, score, text="", doc_id="d", **metadata):
    """A hit on the n-th chunk."""
    return Hit(
        Chunk(
            chunk_id=f"{doc_id}::p{n:04d}::c001",
            doc_id=doc_id,
            ordinal=n,
            start=0,
            end=len(text),
            start_page=n,
            end_page=n,
            text=text,
            metadata=metadata,
        ),
        score,
    )


def ordered(name, question, hits, **options):
    """The numbers of the chunks in the order of one reranker, and what it added."""
    chain = ((name, load("rerankers", name)(RerankOptions(**options))),)
    reranked = rerank(question, hits, chain, Limits(50))
    assert reranked.notes == ()
    return [one.chunk.ordinal for one in reranked.hits], [one.added for one in reranked.hits]


def test_hits_with_the_very_words_come_first():
    """Technical compounds as a whole: not the neighbour in the table, nor their parts."""
    hits = [
        hit(1, 0.3, "ML-KEM-512 has 800"),
        hit(2, 0.2, "ml-kem-768 has 1184"),
        hit(3, 0.1, "ML-KEM-768, SHAKE128"),
    ]
    order, added = ordered("exact-tokens", "Does ML-KEM-768 use SHAKE128?", hits)
    assert order == [3, 2, 1]
    assert [one["exact-tokens"] for one in added] == pytest.approx([2.4, 1.2, 0.0])
    assert ordered("exact-tokens", "how is it made", hits)[0] == [1, 2, 3]
    labelled = [hit(1, 0.2, "17 algorithms"), hit(2, 0.1, "Algorithm 17. It ends.")]
    assert ordered("exact-tokens", "the steps of algorithm 17", labelled)[0] == [2, 1]
    assert ordered("exact-tokens", "more than 17 algorithms", labelled)[0] == [1, 2]
    far = [hit(1, 12.0, "ML-KEM-512"), hit(2, 3.0, "ML-KEM-768")]
    assert ordered("exact-tokens", "What is ML-KEM-768?", far)[0] == [2, 1]


def test_words_that_few_hits_hold_count_more():
    """All hits speak of kettles, one of its weight."""
    hits = [
        hit(1, 0.02, "The kettle is red."),
        hit(2, 0.01, "A kettle weighs much."),
        hit(3, 0.0, "Kettles are old."),
    ]
    order, added = ordered("lexical", "How much does the kettle weigh?", hits)
    assert order == [2, 1, 3]
    assert 0 < added[1]["lexical"] < added[0]["lexical"] <= 1
    assert ordered("lexical", "?", hits)[0] == [1, 2, 3]


def test_each_source_in_turn():
    """The worked example: the three best of nine are from three sources, then the others follow."""
    scores = {
        6: (0.89, 0.87, 0.84),
        11: (0.82, 0.81),
        28: (0.79,),
        34: (0.78,),
        24: (0.77,),
        14: (0.76,),
        35: (0.75,),
    }
    pairs = sorted(
        ((score, source) for source, many in scores.items() for score in many), reverse=True
    )
    hits = [hit(n, score, source=source) for n, (score, source) in enumerate(pairs)]
    order, _ = ordered("round-robin", "?", hits, group_by="source")
    assert [pairs[n][1] for n in order] == [6, 11, 28, 34, 24, 14, 35, 6, 11, 6]
    # One document.
    assert ordered("round-robin", "?", hits, group_by="nothing")[0] == list(range(10))


def test_a_document_cannot_pass_for_several():
    """By default a source is a document, whatever its metadata say of themselves."""
    hits = [hit(1, 0.3, doc_id="a"), hit(2, 0.2, doc_id="a"), hit(3, 0.1, doc_id="b")]
    hits[0].chunk.metadata["doc_id"] = "z1"
    hits[1].chunk.metadata["doc_id"] = "z2"
    assert ordered("round-robin", "?", hits)[0] == [1, 3, 2]


def test_equal_scores_are_moved_too():
    """Ties of the fusion cannot undo what was decided."""
    hits = [hit(n, 0.5, source=n // 2) for n in range(6)]
    assert ordered("round-robin", "?", hits, group_by="source")[0] == [0, 2, 4, 1, 3, 5]


def test_what_says_the_same_comes_later():
    """With λ = 1 the nearest first; with less, a passage that repeats another gives way."""
    hits = [
        hit(1, 0.9, "red kettle"),
        hit(2, 0.8, "red kettle"),
        hit(3, 0.7, "kettle lamp"),
        hit(4, 0.6, "toaster"),
    ]
    assert ordered("mmr", "red kettle lamp", hits, embedder=ENCODER, relevance=1.0)[0] == [
        1,
        2,
        3,
        4,
    ]
    assert ordered("mmr", "red kettle lamp", hits, embedder=ENCODER, relevance=0.5)[0] == [
        1,
        3,
        4,
        2,
    ]


def test_bonuses_are_shown_one_by_one():
    """By host and not by what else stands in an address; by length; by words as words."""
    bonuses = {
        "authority": {"gov": 0.05, "USCIS.gov": 0.15},
        "completeness": {600: 0.1, 400: 0.05},
        "indicators": [
            Indicator(words=("digit",), bonus=0.03),
            Indicator(words=("is", "must"), bonus=0.02),
        ],
    }
    hits = [
        hit(1, 0.03, "This island", url="https://example.com/uscis.gov"),
        hit(2, 0.02, "It is 85,000." + " x" * 300, url="", source_url="https://www.uscis.gov/h1b"),
        hit(3, 0.01, "x" * 401, url="http://[broken"),
    ]
    order, added = ordered("quality", "?", hits, **bonuses)
    assert order == [2, 3, 1]
    assert added[0] == {"authority": 0.15, "completeness": 0.1, "indicators": 0.05}
    assert added[1] == {"authority": 0.0, "completeness": 0.05, "indicators": 0.0}
    assert added[2] == {"authority": 0.0, "completeness": 0.0, "indicators": 0.0}


def test_scores_are_scaled_to_one():
    """A step of its own, so that what comes after it has scores of a known range."""
    hits = [hit(1, 0.03, "a"), hit(2, 0.02, "b"), hit(3, 0.01, "c")]
    order, added = ordered("scale", "?", hits)
    assert (order, [each["scale"] for each in added]) == ([1, 2, 3], [0.97, 0.48, -0.01])
    assert ordered("scale", "?", hits[:1])[1][0]["scale"] == 0.97


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\@uscis.gov/",
        "https://evil.example\t@uscis.gov/",
        "https://uscis.gov@evil.example/",
        "javascript://uscis.gov/x",
        "//uscis.gov/",
        "https://uscis.gov.example/",
    ],
)
def test_an_address_that_only_looks_official_gets_nothing(url):
    """Whatever another program would make of it."""
    assert (
        ordered("quality", "?", [hit(1, 0.1, url=url)], authority={"uscis.gov": 0.15})[1][0][
            "authority"
        ]
        == 0
    )


class TokenEncoder:
    """Each word a vector of its own."""

    words = ("red", "kettle", "lamp", "old")

    def token_vectors(self, texts):
        """One-hot rows; unknown words are nothing."""
        rows = [
            [self.words.index(word) for word in text.split() if word in self.words]
            for text in texts
        ]
        return [np.eye(4, dtype=np.float32)[row].reshape(-1, 4) for row in rows]


def test_every_token_finds_its_best():
    """The mean of the best cosines, scaled by how far the scores lie apart: added up they are sums
    of z-scores.
    """
    hits = [hit(1, 0.3, "old lamp"), hit(2, 0.2, "red lamp"), hit(3, 0.1, "red kettle")]
    order, added = ordered(
        "late-interaction", "red kettle", hits, embedder=TokenEncoder(), weight=2.0
    )
    assert order == [3, 2, 1]
    spread = np.std([0.3, 0.2, 0.1])
    expected = [2 * spread * z for z in (np.array([1.0, 0.5, 0.0]) - 0.5) / np.std([1.0, 0.5, 0.0])]
    assert [one["late-interaction"] for one in added] == pytest.approx(expected, abs=1e-6)
    assert ordered("late-interaction", "nothing known", hits, embedder=TokenEncoder())[0] == [
        1,
        2,
        3,
    ]
    assert ordered("late-interaction", "red", hits[:1], embedder=TokenEncoder())[0] == [1]


def test_tokens_of_the_real_encoder_know_what_words_mean(real_model):
    """Other words for what is asked come before a word of the question in what is not, and that
    before neither.
    """
    encoder = open_embedder("onnx", EmbedderOptions(str(real_model), offline=True))
    hits = [
        hit(1, 0.1, "A kettle was painted red by the mayor."),
        hit(2, 0.1, "The large pot takes two litres of water when full."),
        hit(3, 0.1, "Elections are held in May."),
    ]
    assert ordered(
        "late-interaction", "What is the capacity of the kettle?", hits, embedder=encoder
    )[0] == [2, 1, 3]


def test_equal_scores_and_noise_are_told_apart():
    """Equal fused scores leave all to the tokens, however 0.1 three times spreads in floating
    point.
    """
    hits = [hit(n, 0.1, text) for n, text in enumerate(("lamp", "red", "red kettle"), 1)]
    assert ordered("late-interaction", "red kettle", hits, embedder=TokenEncoder())[0] == [3, 2, 1]

    class Noisy(TokenEncoder):
        def token_vectors(self, texts):
            """All alike but for the last digits."""
            rows = [np.full((1, 4), 0.5, dtype=np.float32) for _ in texts]
            rows[-1][0, 0] += 1e-7
            return rows

    assert ordered("late-interaction", "red", hits, embedder=Noisy())[0] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("mmr", {}, "needs a model"),
        ("late-interaction", {"embedder": ENCODER}, "token vectors"),
        ("late-interaction", {}, "token vectors"),
        ("cross-encoder", {}, "needs a model"),
        ("sentence-transformers", {}, "needs a model"),
        ("cohere", {}, "needs a key"),
    ],
)
def test_what_is_missing_is_said(name, options, said):
    """Each in one line, as a setting to be changed."""
    with pytest.raises(SettingsError, match=said):
        load("rerankers", name)(RerankOptions(**options))


class Encoder(HashingEmbedder, TokenEncoder):
    """All that a reranker may need of an encoder."""


@pytest.fixture
def opened(bert_folder, service):
    """Opens a reranker with all that it needs."""

    def open_one(name):
        if name in {"cohere", "sentence-transformers"}:
            pytest.importorskip(name.replace("-", "_"))
        model = "" if name == "cohere" else str(bert_folder(labels=1))
        return load("rerankers", name)(
            RerankOptions(
                embedder=Encoder(EmbedderOptions("")),
                model=model,
                url=service.url,
                api_key=service.key,
                authority={"gov": 0.1},
            )
        )

    return open_one


@pytest.mark.parametrize("name", names("rerankers"))
def test_the_contract(name, opened):
    """For each registered one: something for each hit, finite, twice the same, and the hits as they
    were.
    """
    hits = [
        hit(n, 1 / n, text)
        for n, text in enumerate(("the cat sat", "", "red kettle", "the cat sat"), 1)
    ]
    before = list(hits)
    reranker = opened(name)
    first = reranker.score("red cat", hits, 10.0)
    assert [dict(one) for one in first] == [
        dict(one) for one in reranker.score("red cat", hits, 10.0)
    ]
    assert len(first) == 4
    assert all(np.isfinite(value) for one in first for value in one.values())
    assert all(one for one in first)
    assert hits == before
    assert len(reranker.score("red cat", hits[:1], 10.0)) == 1
