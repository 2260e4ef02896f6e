"""The reader: what it tells apart, what it depends on, and when there is one."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from esrag.embedding import EmbedderOptions
from esrag.embedding.opening import open_embedder
from esrag.embedding.reader import ANSWERS_FILE, WEIGHTS_FILE, Reader, open_reader
from esrag.jobs.work import Work
from esrag.settings.layers import resolve
from esrag.verifying.drafts import to_evidence
from esrag.verifying.verify import verify

MODEL = "all-MiniLM-L6-v2"
QUESTION = "How long is the cable of the kettle?"
ANSWER = "Kettle: The cable has a length of 80 centimetres."
OTHERS = [
    "Kettle: It boils a litre of water in three minutes.",
    "Lamp: The shade is made of linen.",
    "Contents of the manual of the kettle",
]


@pytest.fixture(scope="module")
def reader(real_model):
    """The reader that ships."""
    return Reader(EmbedderOptions(MODEL, offline=True))


def test_an_answer_is_told_from_what_is_about_the_same(reader):
    """The statement that answers has the highest score, above 0; the others are below it."""
    best, *others = reader(QUESTION, [ANSWER, *OTHERS])
    assert best > 0
    assert max(others) < best - 1


def test_a_score_does_not_depend_on_what_else_is_read(reader):
    """The same bits alone, among others, and with another number of threads."""
    together = reader(QUESTION, [*OTHERS, ANSWER])
    alone = np.concatenate([reader(QUESTION, [text]) for text in (*OTHERS, ANSWER)])
    one = Reader(EmbedderOptions(MODEL, offline=True, workers=1))(QUESTION, [*OTHERS, ANSWER])
    assert (together == alone).all()
    assert (together == one).all()


PASSAGE = (
    "Kettle: The kettle has a cable of 80 centimetres and switches itself off when the water boils "
    "or when it is lifted from its base. Children must not use it without an adult."
)
PARAPHRASE = "As soon as its water is boiling, or once you lift it off the base, it turns off."


@pytest.mark.parametrize(
    "false",
    [
        "It guarantees that children of any age can always use it without any help at all.",
        "The ferry to the islands leaves the harbour twice a day between May and October.",
    ],
)
def test_a_paraphrase_is_told_from_what_the_passage_does_not_say(reader, false):
    """What a passage says in other words is likelier to be supported."""
    (true,), (other,) = reader.entail(PARAPHRASE, [PASSAGE]), reader.entail(false, [PASSAGE])
    assert true > other + 1


def test_the_check_accepts_a_paraphrase_and_rejects_what_is_not_said(reader):
    """Most words of the paraphrase are not in the passage."""
    evidence = to_evidence([PASSAGE])
    assert verify(f"{PARAPHRASE} [c1]", evidence).refused
    assert not verify(f"{PARAPHRASE} [c1]", evidence, reader.entail).refused

    claim = "It guarantees that children of any age can use it without any help at all. [c1]"
    assert verify(claim, evidence, reader.entail).reason == "unsupported"


def test_support_does_not_depend_on_what_else_is_read(reader):
    """The same bits alone and together."""
    together = reader.entail(PARAPHRASE, [PASSAGE, *OTHERS])
    alone = [reader.entail(PARAPHRASE, [text])[0] for text in (PASSAGE, *OTHERS)]
    assert together.tolist() == alone


def test_what_is_added_is_small():
    """It is added to the reader's layers above the first, and has a head of its own."""
    tensors = load_file(ANSWERS_FILE)
    assert ANSWERS_FILE.stat().st_size < 5_000_000
    assert not [name for name in tensors if name.startswith(("embeddings", "encoder.layer.0."))]
    assert tensors["classifier.weight"].shape == (1, 384)


def test_an_answer_in_other_words_is_told_from_near_misses(reader):
    """The question is a person's own, and shares a word with each statement."""
    best, *others = reader(
        "Do they pay if my bike gets nicked overnight?",
        [
            "Cover: We pay for a bicycle that is stolen at night if it was locked.",
            "Cover: We pay for a bicycle's tyres and brakes.",
            "Cover: The yearly premium is due in January.",
        ],
    )
    assert best > max(others) + 1


@pytest.mark.parametrize("question", ["", "?", "word " * 4000, "\x00", "水" * 300])
@pytest.mark.parametrize("statement", ["", "word " * 4000, "[SEP] [SEP] [CLS]", "\ud800"])
def test_any_text_gets_a_score(reader, question, statement):
    """Texts of no length, of more than the reader takes, and of no words."""
    statement = statement.encode(errors="replace").decode()
    (score,), (support,) = reader(question, [statement]), reader.entail(question, [statement])
    assert np.isfinite([score, support]).all()


def test_nothing_to_read_is_no_error(reader):
    """No statements, no scores."""
    assert reader(QUESTION, []).shape == (0,)


def test_the_file_holds_no_more_than_the_layers_above_the_first():
    """Words and lowest layer are the encoder's; matrices are in int8; at most 10 MB are shipped."""
    tensors = load_file(WEIGHTS_FILE)
    assert WEIGHTS_FILE.stat().st_size < 10_000_000
    assert not [name for name in tensors if name.startswith(("embeddings", "encoder.layer.0."))]
    matrices = {
        name: rows for name, rows in tensors.items() if rows.ndim == 2 and "encoder" in name
    }
    assert {rows.dtype for rows in matrices.values()} == {np.dtype(np.int8)}
    assert all(len(tensors[f"{name}.scale"]) == len(rows) for name, rows in matrices.items())


@pytest.mark.parametrize(
    ("provider", "model"), [("onnx", "./other"), ("onnx", "none"), ("hashing", MODEL)]
)
def test_only_the_default_encoder_has_a_reader(provider, model):
    """The reader shares its words, so that no other encoder has one."""
    options = EmbedderOptions(model)
    assert open_reader(open_embedder(provider, options), options) is None


@pytest.mark.parametrize("is_on", [True, False])
def test_the_setting_switches_it_off(tmp_path, is_on):
    """With `answer.reader: false` nothing is read."""
    flags = {"engine.url": str(tmp_path / "index"), "answer.reader": is_on}
    context = Work(resolve(flags, environ={}).settings).context
    assert (context.read is not None) == is_on
