"""A made-up BERT of two layers, the same arithmetic in plain NumPy, and a service that answers as
it is told.
"""

import json
import math
import sys
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from esrag.embedding import EmbedderOptions
from esrag.embedding.hashing import HashingEmbedder
from esrag.models import ModelOptions

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "dog",
    "ran",
    "far",
    "rain",
    "fell",
    "all",
    "day",
    ".",
    ",",
    "?",
]
VOCABULARY = [*SPECIAL, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
CONFIG = {
    "model_type": "bert",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 40,
    "vocab_size": len(VOCABULARY),
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
}
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]

MEAN = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}


def write_tokenizer(path):
    """A WordPiece tokeniser.

    Like the real model's file it asks for truncation and padding, which must be ignored.
    """
    tokenizer = Tokenizer(
        models.WordPiece({word: at for at, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = [(name, VOCABULARY.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", specials
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(path))


def made_up_tensors(config, labels):
    """Random weights by their names; larger ones than a trained model's, so that mistakes show."""
    random = np.random.default_rng(7)
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    tensors = {
        f"embeddings.{table}_embeddings.weight": random.normal(size=(rows, hidden))
        for table, rows in (
            ("word", config["vocab_size"]),
            ("position", config["max_position_embeddings"]),
            ("token_type", 2),
        )
    }

    def dense(name, out, into):
        tensors[f"{name}.weight"] = random.normal(size=(out, into)) / math.sqrt(into)
        tensors[f"{name}.bias"] = random.normal(size=out) / 5

    def norm(name):
        tensors[f"{name}.weight"] = 1 + random.normal(size=hidden) / 5
        tensors[f"{name}.bias"] = random.normal(size=hidden) / 5

    norm("embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(config["num_hidden_layers"])):
        for part in ("query", "key", "value"):
            dense(f"{layer}.attention.self.{part}", hidden, hidden)
        dense(f"{layer}.attention.output.dense", hidden, hidden)
        norm(f"{layer}.attention.output.LayerNorm")
        dense(f"{layer}.intermediate.dense", inner, hidden)
        dense(f"{layer}.output.dense", hidden, inner)
        norm(f"{layer}.output.LayerNorm")
    dense("pooler.dense", hidden, hidden)
    dense("classifier", labels, hidden)
    return {name: value.astype(np.float32) for name, value in tensors.items()}


@pytest.fixture
def bert_folder(tmp_path):
    """Writes a made-up BERT folder: `bert_folder(name, pooling=…, labels=…, **config)`."""

    def write(name="bert", pooling=None, labels=3, tensors=None, **config):
        folder = tmp_path / name
        (folder / "1_Pooling").mkdir(parents=True)
        config = CONFIG | config
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "modules.json").write_text(json.dumps(MODULES))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or MEAN))
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24}))
        save_file(tensors or made_up_tensors(config, labels), str(folder / "model.safetensors"))
        write_tokenizer(folder / "tokenizer.json")
        return folder

    return write


ACTIVATIONS = {
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu_new": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: np.maximum(x, 0),
}


class Reference:
    """BERT's forward pass in float64, one text at a time, written apart from the graph builder."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.w = {
            name: value.astype(np.float64)
            for name, value in load_file(str(folder / "model.safetensors")).items()
        }
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def dense(self, x, name):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return centred / spread * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def attention(self, x, name):
        heads = self.config["num_attention_heads"]
        q, k, v = (
            self.dense(x, f"{name}.{part}").reshape(len(x), heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        weights = np.exp(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1]))
        return (weights / weights.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(len(x), -1)

    def states(self, *text):
        encoding = self.tokenizer.encode(*text)
        tables = {
            "word": encoding.ids,
            "position": range(len(encoding.ids)),
            "token_type": encoding.type_ids,
        }
        x = sum(
            self.w[f"embeddings.{table}_embeddings.weight"][list(rows)]
            for table, rows in tables.items()
        )
        x = self.norm(x, "embeddings.LayerNorm")
        for layer in (
            f"encoder.layer.{number}" for number in range(self.config["num_hidden_layers"])
        ):
            y = self.dense(
                self.attention(x, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
            )
            x = self.norm(x + y, f"{layer}.attention.output.LayerNorm")
            y = ACTIVATIONS[self.config["hidden_act"]](self.dense(x, f"{layer}.intermediate.dense"))
            x = self.norm(x + self.dense(y, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return x

    def sentence(self, text, pooling="mean"):
        states = self.states(text)
        pooled = states.mean(0) if pooling == "mean" else states[0]
        return pooled / np.linalg.norm(pooled)

    def logits(self, first, second):
        return self.dense(
            np.tanh(self.dense(self.states(first, second)[0], "pooler.dense")), "classifier"
        )


@pytest.fixture(scope="session")
def reference():
    """The NumPy forward pass of a folder: `reference(folder).sentence(text)`."""
    return Reference


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch, request):
    """Each test has a cache folder of its own, but for those with the real weights, which may lie
    in the user's.
    """
    if "real_model" not in request.fixturenames:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


META = {"api_version": {"version": "2"}}


class Service(ThreadingHTTPServer):
    """A service with Cohere's `/v2/embed`, `/v2/rerank` and `/v2/chat`, OpenAI's `/embeddings` and
    `/chat/completions`.

    A chat is answered with the pieces `said`, of which Cohere cites `cited`: where, and the keys of
    the documents.

    `script` holds what the next requests are answered with, each a function of the handler and of
    the honest answer; when it is empty, all answers are honest. `asked` is what came: path, headers
    and body.
    """

    key = "sk-a-secret-nobody-may-see"
    dimensions = 256

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script, self.asked, self.ended = [], [], Event()
        self.in_base64 = False
        self.said, self.cited = ["The kettle holds ", "1.7 litres. [c1]"], []
        self.encoder = HashingEmbedder(EmbedderOptions("hashing"))
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def model_options(self, provider, **others):
        """What a language model of this service is opened with."""
        url = self.url + ("/v1" if provider == "openai" else "")
        return ModelOptions(**({"model": "made-up", "url": url, "api_key": self.key} | others))

    def options(self, provider, **others):
        """What an embedder of this service is opened with."""
        url = self.url + ("/v1" if provider == "openai" else "")
        return EmbedderOptions(**({"model": "made-up", "url": url, "api_key": self.key} | others))

    def handle_error(self, *_):
        """A client may leave when it likes."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*_)

    def stop(self):
        self.ended.set()
        self.shutdown()
        self.server_close()

    def honest(self, path, asked):
        """The right answer in the form of either service.

        OpenAI's in any order, for each row has its index.

        A document's relevance is the cosine of its vector with the question's; the best comes
        first.
        """
        if path == "/v2/rerank":
            question, *rows = self.encoder.embed([asked["query"], *asked["documents"]])
            scores = {n: float(row @ question) for n, row in enumerate(rows)}
            ranked = sorted(scores, key=scores.get, reverse=True)
            return {
                "id": "1",
                "results": [{"index": n, "relevance_score": scores[n]} for n in ranked],
                "meta": META,
            }
        if path == "/v2/chat":
            return cohere_chat(self.said, self.cited, asked)
        if path == "/v1/chat/completions":
            return openai_chat(self.said, asked)
        rows = 3 * self.encoder.embed(asked["texts" if path == "/v2/embed" else "input"])
        if path == "/v2/embed":
            found = {
                "id": "1",
                "embeddings": {"float": rows.tolist()},
                "texts": asked["texts"],
                "meta": META,
            }
            return found | {"response_type": "embeddings_by_type"}
        coded = [
            b64encode(row.tobytes()).decode() if self.in_base64 else row.tolist() for row in rows
        ]
        data = [
            {"object": "embedding", "index": number, "embedding": row}
            for number, row in enumerate(coded)
        ]
        return {
            "object": "list",
            "data": data[::-1],
            "model": asked["model"],
            "usage": {"total_tokens": len(rows)},
        }


class Stream(list):
    """An answer that comes as server-sent events, each of them as it is sent."""

    @classmethod
    def of(cls, entries, *, named=False):
        """Objects and the end of a stream; Cohere names each event by its type."""
        names = [f"event: {entry['type']}\n" if named else "" for entry in entries]
        events = [
            f"{name}data: {json.dumps(entry)}\n\n"
            for name, entry in zip(names, entries, strict=True)
        ]
        return cls([*events, "data: [DONE]\n\n"])


def openai_chat(said, asked):
    """An answer in OpenAI's form: whole, or in chunks as a stream, with its cost where that is
    asked for.
    """
    usage = {"prompt_tokens": 70, "completion_tokens": len(said), "total_tokens": 70 + len(said)}
    model = f"{asked['model']}-2026-11-22"
    if not asked.get("stream"):
        message = {"role": "assistant", "content": "".join(said)}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return {
            "id": "1",
            "object": "chat.completion",
            "model": model,
            "choices": choices,
            "usage": usage,
        }
    deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in said), {}]
    choices = [
        [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]
        for delta in deltas
    ]
    chunks = [{"choices": few, "usage": None} for few in choices]
    if asked.get("stream_options", {}).get("include_usage"):
        chunks.append({"choices": [], "usage": usage})
    return Stream.of(
        [{"id": "1", "object": "chat.completion.chunk", "model": model} | chunk for chunk in chunks]
    )


def cohere_chat(said, cited, asked):
    """An answer in Cohere's form: whole, or as a stream whose citations come after the text."""
    text, documents = (
        "".join(said),
        {each["id"]: each["data"] for each in asked.get("documents", [])},
    )
    citations = [
        {
            "start": start,
            "end": end,
            "text": text[start:end],
            "sources": [
                {"type": "document", "id": key, "document": {"id": key} | documents.get(key, {})}
                for key in keys
            ],
            "type": "TEXT_CONTENT",
        }
        for start, end, keys in cited
    ]
    tokens = {"input_tokens": 70, "output_tokens": len(said)}
    usage = {
        "billed_units": {"input_tokens": 9, "output_tokens": 1},
        "tokens": tokens,
        "cached_tokens": 16,
    }
    end = {"finish_reason": "COMPLETE", "usage": usage}
    if not asked.get("stream"):
        content = [{"type": "text", "text": text}]
        return {
            "id": "1",
            "message": {"role": "assistant", "content": content, "citations": citations},
        } | end
    role = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    texts = [{"type": "text", "text": ""}, *({"text": piece} for piece in said)]
    sent = [
        {"id": "1", "type": "message-start", "delta": {"message": role}},
        *(
            {
                "type": "content-delta" if number else "content-start",
                "index": 0,
                "delta": {"message": {"content": each}},
            }
            for number, each in enumerate(texts)
        ),
    ]
    for number, each in enumerate(citations):
        sent.append(
            {"type": "citation-start", "index": number, "delta": {"message": {"citations": each}}}
        )
        sent.append({"type": "citation-end", "index": number})
    ends = [{"type": "content-end", "index": 0}, {"type": "message-end", "delta": end}]
    return Stream.of([*sent, *ends], named=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave together, else the second waits for the first to be acknowledged.
    wbufsize = -1

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), asked))
        honest = self.server.honest(self.path, asked)
        act = self.server.script.pop(0) if self.server.script else answer
        act(self, honest)

    def log_message(self, *_):
        """Nothing is printed."""


def answer(handler, body, status=200, headers=None, part=1.0):
    """Sends an answer; of its body only a part, after which the connection ends."""
    if isinstance(body, Stream):
        stream(handler, body[: round(part * len(body))], ends=part == 1)
        return
    sent = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in (
        {"Content-Type": "application/json", "Content-Length": len(sent)} | (headers or {})
    ).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(sent[: round(part * len(sent))])
    handler.wfile.flush()
    handler.close_connection = part < 1


def stream(handler, events, wait_s=0.0, *, ends=True):
    """Sends events one by one, each a chunk of HTTP's; without an end the connection is cut."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.close_connection = not ends
    for event in map(str.encode, events):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        handler.wfile.flush()
        if wait_s and handler.server.ended.wait(wait_s):
            return
    if ends:
        handler.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def service():
    """A service that answers as it is told."""
    running = Service()
    yield running
    running.stop()


@pytest.fixture
def answering():
    """What a service can be told to do: `answering(status, body, headers)`, `answering.part()`,
    `answering.hang()`.
    """
    return Answering()


class Answering:
    """Entries of a script."""

    def __call__(self, status, body=None, headers=None):
        """Another answer than the honest one."""
        return lambda handler, honest: answer(
            handler, honest if body is None else body, status, headers
        )

    def changed(self, change):
        """The honest answer, changed."""
        return lambda handler, honest: answer(handler, change(honest))

    def part(self):
        """Half of the honest answer."""
        return lambda handler, honest: answer(handler, honest, part=0.5)

    def hang(self):
        """Half of the honest answer, and then nothing for as long as the service runs."""

        def act(handler, honest):
            answer(handler, honest, part=0.5)
            handler.server.ended.wait(30)

        return act


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self):
        self.now, self.slept = 1000.0, []

    def __call__(self):
        return self.now

    def sleep(self, wait_s):
        self.now += wait_s
        self.slept.append(wait_s)


@pytest.fixture
def clock():
    """Time that passes by sleeping only."""
    return Clock()
