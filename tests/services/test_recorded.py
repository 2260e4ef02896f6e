"""Cohere's own client against recordings: a version of it that asks or reads otherwise is noticed
here.

The requests were recorded from the client itself, against the service that made_up_models.py plays.
The answers were not: they are written as the endpoints' public reference has them, with the fields
of answers of the real service that other projects publish. To record a request anew, take what the
failing assertion shows and look at what it means.
"""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from made_up_models import Stream, answer, service

from esrag.embedding.cohere import CohereEmbedder
from esrag.evidence.selection import documents
from esrag.models import Cited, Completion, Prompt, Tokens
from esrag.models.cohere import CohereModel
from esrag.records import Chunk, Evidence, Hit
from esrag.reranking import RerankOptions
from esrag.reranking.cohere import CohereReranker

__all__ = ["service"]

pytestmark = pytest.mark.skipif(find_spec("cohere") is None, reason="needs the extra cohere")

QUESTION = "How much does the kettle hold?"
TEXTS = ("The kettle holds 1.7 litres.", "It weighs 900 grams.", "The lamp has a dimmer.")
CHUNKS = [
    Chunk(
        chunk_id=f"d::p{n:04d}::c001",
        doc_id="d",
        ordinal=n,
        start=0,
        end=len(text),
        start_page=n,
        end_page=n,
        text=text,
        title="Kettle",
        section="Use > Grüße",
    )
    for n, text in enumerate(TEXTS, 1)
]


def chat(service):
    """An answer with citations, as a stream."""
    evidence = tuple(Evidence(f"c{n}", chunk, 1 / n) for n, chunk in enumerate(CHUNKS, 1))
    prompt = Prompt("Answer from the passages.", QUESTION, documents(evidence))
    options = service.model_options("cohere", model="command-a-03-2025")
    return CohereModel(options).complete(prompt)


def embed(service):
    """The width of a vector, then those of a question."""
    embedder = CohereEmbedder(service.options("cohere", model="embed-v4.0"))
    return np.round(embedder.embed([QUESTION, "lamp"], kind="query").astype(float), 4).tolist()


def rerank(service):
    """What takes the place of each hit's score."""
    hits = [Hit(chunk, 0.0) for chunk in CHUNKS]
    reranker = CohereReranker(
        RerankOptions(model="rerank-v3.5", url=service.url, api_key=service.key)
    )
    return [round(sum(added.values()), 4) for added in reranker.score(QUESTION, hits, 10.0)]


REPLAYED = [
    (
        chat,
        Completion(
            text="The kettle holds 1.7 litres. It weighs 900 grams.",
            tokens=Tokens(586, 63),
            model="command-a-03-2025",
            cited=(Cited(17, 28, ("c1",)), Cited(39, 48, ("c1", "c2"))),
        ),
    ),
    (embed, [[0.6, 0.8, 0.0], [0.0, 0.0, -1.0]]),
    (rerank, [0.9127, 0.0412, 0.0]),
]


def played(recorded, heard):
    """A script's entry: hears a request and gives the recorded answer."""

    def act(handler, _):
        heard.append(
            {"method": handler.command, "path": handler.path, "body": handler.server.asked[-1][2]}
        )
        assert handler.headers["Authorization"] == f"Bearer {handler.server.key}"
        answer(handler, Stream(recorded) if isinstance(recorded, list) else recorded)

    return act


@pytest.mark.parametrize(
    ("ask", "expected"), REPLAYED, ids=lambda each: getattr(each, "__name__", "")
)
def test_the_client_asks_and_reads_as_recorded(service, ask, expected):
    """Method, path and body, field by field, and of the answer what esrag takes from it."""
    recording = json.loads(
        (Path(__file__).parent / "recorded" / f"cohere.{ask.__name__}.json").read_text()
    )
    heard = []
    service.script = [played(each["answer"], heard) for each in recording]

    assert ask(service) == expected
    assert heard == [each["request"] for each in recording]
