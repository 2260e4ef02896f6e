"""Rerankers that are models: a cross-encoder from a folder, and Cohere's service, which may do anything."""

from importlib.util import find_spec

import numpy as np
import pytest

from esrag.embedding import EmbedderOptions
from esrag.embedding.onnx import OnnxClassifier
from esrag.errors import SettingsError
from esrag.plugins import load
from esrag.records import Chunk, Hit
from esrag.reranking import RerankOptions
from esrag.reranking.chain import Limits, rerank

TEXTS = ("the dog ran far", "the cat sat on the mat", "rain fell all day")
QUESTION = "cat mat"
HITS = [
    Hit(Chunk(f"d::p{n:04d}::c001", "d", n, 0, len(text), n, n, text), 1 / n) for n, text in enumerate(TEXTS, start=1)
]
cohere = pytest.mark.skipif(find_spec("cohere") is None, reason="needs the extra cohere")


def reranked(name, **options):
    """The hits after one reranker."""
    return rerank(QUESTION, HITS, ((name, load("rerankers", name)(RerankOptions(**options))),), Limits(50))


def numbers(found):
    """The hits by the numbers of their chunks."""
    return [hit.chunk.ordinal for hit in found.hits]


def test_a_cross_encoder_from_a_folder(bert_folder):
    """Its head's score of question and text takes the place of the fused one."""
    folder = str(bert_folder(labels=1))
    found = reranked("cross-encoder", model=folder)
    logits = OnnxClassifier(EmbedderOptions(folder)).logits([(QUESTION, text) for text in TEXTS])[:, -1]
    assert numbers(found) == [int(n) + 1 for n in np.argsort(-logits)]
    assert [hit.score for hit in found.hits] == pytest.approx(sorted(logits.tolist(), reverse=True), abs=1e-6)


@cohere
def test_cohere_scores_what_it_is_sent(service):
    """One request with the question and the texts; the best comes first."""
    found = reranked("cohere", url=service.url, api_key=service.key)
    assert numbers(found)[0] == 2
    ((path, headers, asked),) = service.asked
    assert (path, headers["Authorization"]) == ("/v2/rerank", f"Bearer {service.key}")
    assert (asked["query"], asked["documents"], asked["model"]) == (QUESTION, list(TEXTS), "rerank-v3.5")
    assert found.hits[0].score == pytest.approx(float(np.dot(*service.encoder.embed([QUESTION, TEXTS[1]]))), abs=1e-6)


def fewer(body):
    """Without the last document."""
    return body | {"results": body["results"][:-1]}


def unknown(body):
    """With a document that was not sent."""
    return body | {"results": [*body["results"][:-1], {"index": 9, "relevance_score": 0.5}]}


def no_number(body):
    """With a relevance that is none."""
    return body | {"results": [{"index": n, "relevance_score": "high"} for n in range(3)]}


@cohere
@pytest.mark.parametrize("fault", ["hang", "part", "fewer", "unknown", "no number", "no JSON", 429, 500, 400])
def test_without_an_answer_the_order_stays(service, answering, fault):
    """After one try, and within the time; the notes say why, without the key."""
    changes = {"fewer": fewer, "unknown": unknown, "no number": no_number}
    script = {"hang": answering.hang(), "part": answering.part(), "no JSON": answering(200, "<html>")}
    if isinstance(fault, int):
        script[fault] = answering(fault, {"message": f"no {service.key}"})
    service.script.append(script.get(fault) or answering.changed(changes[fault]))
    found = reranked("cohere", url=service.url, api_key=service.key, timeout_s=0.5)
    assert (numbers(found), len(service.asked)) == ([1, 2, 3], 1)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("cohere was left out: ")
    assert service.key not in found.notes[0]


@cohere
def test_a_wrong_key_is_an_error(service, answering):
    """It will not pass: the user is told, and which variable it is."""
    service.script.append(answering(401, {"message": "invalid api token"}))
    with pytest.raises(SettingsError, match="refuses the key") as caught:
        reranked("cohere", url=service.url, api_key=service.key)
    assert "ESRAG_RERANK__API_KEY" in caught.value.hint
