"""Rerankers that are models: a cross-encoder from a folder, and Cohere's service, which may do
anything.
"""

import time
from importlib.util import find_spec

import numpy as np
import pytest

from esrag.embedding import EmbedderOptions
from esrag.embedding.onnx import OnnxClassifier
from esrag.errors import ModelError, SettingsError
from esrag.plugins import load
from esrag.records import Chunk, Hit
from esrag.reranking import RerankOptions
from esrag.reranking.chain import Limits, rerank

TEXTS = ("the dog ran far", "the cat sat on the mat", "rain fell all day")
QUESTION = "cat mat"
HITS = [
    Hit(
        Chunk(
            chunk_id=f"d::p{n:04d}::c001",
            doc_id="d",
            ordinal=n,
            start=0,
            end=len(text),
            start_page=n,
            end_page=n,
            text=text,
        ),
        1 / n,
    )
    for n, text in enumerate(TEXTS, start=1)
]
cohere = pytest.mark.skipif(find_spec("cohere") is None, reason="needs the extra cohere")


def reranked(name, **options):
    """The hits after one reranker."""
    return rerank(
        QUESTION, HITS, ((name, load("rerankers", name)(RerankOptions(**options))),), Limits(50)
    )


def numbers(found):
    """The hits by the numbers of their chunks."""
    return [hit.chunk.ordinal for hit in found.hits]


def test_a_cross_encoder_from_a_folder(bert_folder):
    """Its head's score of question and text takes the place of the fused one."""
    folder = str(bert_folder(labels=1))
    found = reranked("cross-encoder", model=folder)
    logits = OnnxClassifier(EmbedderOptions(folder)).logits([(QUESTION, text) for text in TEXTS])[
        :, -1
    ]
    assert numbers(found) == [int(n) + 1 for n in np.argsort(-logits)]
    assert [hit.score for hit in found.hits] == pytest.approx(
        sorted(logits.tolist(), reverse=True), abs=1e-6
    )


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="the extra is not installed")
def test_sentence_transformers_reads_the_same_folder(bert_folder):
    """It orders as ours does; of a single label it gives the logistic function."""
    folder = str(bert_folder(labels=1))
    found = reranked("sentence-transformers", model=folder)
    ours = reranked("cross-encoder", model=folder, precision="fp32")
    expected = [1 / (1 + np.exp(-hit.score)) for hit in ours.hits]
    assert numbers(found) == numbers(ours)
    assert [hit.score for hit in found.hits] == pytest.approx(expected, abs=1e-4)
    with pytest.raises(ModelError, match=r"cannot read .* as a cross-encoder"):
        reranked("sentence-transformers", model=str(bert_folder("of-three-labels")))


@cohere
def test_cohere_scores_what_it_is_sent(service):
    """One request with the question and the texts; the best comes first."""
    found = reranked("cohere", url=service.url, api_key=service.key)
    assert numbers(found)[0] == 2
    ((path, headers, asked),) = service.asked
    assert (path, headers["Authorization"]) == ("/v2/rerank", f"Bearer {service.key}")
    assert (asked["query"], asked["documents"], asked["model"]) == (
        QUESTION,
        list(TEXTS),
        "rerank-v3.5",
    )
    assert found.hits[0].score == pytest.approx(
        float(np.dot(*service.encoder.embed([QUESTION, TEXTS[1]]))), abs=1e-6
    )


def twice(body):
    """With one document twice."""
    return body | {"results": [*body["results"], body["results"][0]]}


def beyond(value):
    """With a relevance that is none."""
    return lambda body: (
        body | {"results": [{"index": n, "relevance_score": value} for n in range(3)]}
    )


def in_words(body):
    """With an index that is none."""
    return body | {"results": [{"index": "first", "relevance_score": 0.5}, *body["results"][1:]]}


def fewer(body):
    """Without the last document."""
    return body | {"results": body["results"][:-1]}


def unknown(body):
    """With a document that was not sent."""
    return body | {"results": [*body["results"][:-1], {"index": 9, "relevance_score": 0.5}]}


FAULTS = {
    "fewer": fewer,
    "unknown": unknown,
    "twice": twice,
    "words": beyond("high"),
    "below": beyond(-1e300),
    "above": beyond(7),
    "no index": in_words,
}


def drip(handler, honest):
    """A byte at a time, for longer than anybody waits."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        if handler.server.ended.wait(0.05):
            return


@cohere
@pytest.mark.parametrize(
    "fault", [*FAULTS, "hang", "drip", "part", "no JSON", "deep", "large", 429, 500, 400]
)
def test_without_an_answer_the_order_stays(service, answering, fault):
    """After one try, and within the time; the notes say why, without the key."""
    script = {
        "hang": answering.hang(),
        "drip": drip,
        "part": answering.part(),
        "no JSON": answering(200, "<html>"),
        "deep": answering(200, "[" * 200_000),
        "large": answering(200, f'{{"results": [{{"index": 0, "relevance_score": {10**400}}}]}}'),
    }
    if isinstance(fault, int):
        script[fault] = answering(fault, {"message": f"no {service.key}"})
    service.script.append(script.get(fault) or answering.changed(FAULTS[fault]))
    chain = (
        (
            "cohere",
            load("rerankers", "cohere")(RerankOptions(url=service.url, api_key=service.key)),
        ),
    )
    began = time.monotonic()
    found = rerank(QUESTION, HITS, chain, Limits(50, 1.0))
    assert time.monotonic() - began < 3
    assert (numbers(found), len(service.asked)) == ([1, 2, 3], 1)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("cohere was left out: ")
    assert service.key not in found.notes[0]


@cohere
@pytest.mark.parametrize(
    ("status", "hint"), [(401, "ESRAG_RERANK__API_KEY"), (404, "rerank.url"), (302, "rerank.url")]
)
def test_what_will_not_pass_is_an_error(service, answering, status, hint):
    """A wrong key, address or model: the user is told which setting it is."""
    service.script.append(
        answering(
            status, {"message": f"{service.key} is wrong"}, {"Location": "http://127.0.0.1:1"}
        )
    )
    with pytest.raises(SettingsError, match=str(status)) as caught:
        reranked("cohere", url=service.url, api_key=service.key)
    assert hint in caught.value.hint
    assert service.key not in str(caught.value)


@cohere
@pytest.mark.parametrize(
    "options",
    [
        {"url": "nonsense"},
        {"url": "http://a\nb"},
        {"url": "http://user:hunter2@host"},
        {"api_key": "ключ"},
    ],
)
def test_no_address_and_no_key(options):
    """Said when it is opened, without what may be secret."""
    with pytest.raises(SettingsError) as caught:
        load("rerankers", "cohere")(RerankOptions(**{"api_key": "a-key", **options}))
    assert "hunter2" not in str(caught.value) + repr(RerankOptions(**options))


def test_a_model_that_tells_more_apart_is_none(bert_folder):
    """Of three labels nobody knows which one means that they fit."""
    with pytest.raises(ModelError, match="3 labels"):
        reranked("cross-encoder", model=str(bert_folder(labels=3)))


def test_other_weights_are_another_cross_encoder(bert_folder):
    """So that an answer that was kept is not given after the folder changed."""
    first, second = (load("rerankers", (
        "cross-encoder"
    ))(RerankOptions(model=str(bert_folder(name, labels=n))))
                     for name, n in (("one", 1), ("two", 2)))  # fmt: skip
    assert first.fingerprint != second.fingerprint
