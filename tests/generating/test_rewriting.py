"""Follow-ups: what a question leaves to the one before is put into it, by rules or by a model."""

import pytest

from esrag.citations import REFUSAL
from esrag.errors import GeneratorError
from esrag.generating.prompts import Prompts
from esrag.generating.rewriting import make_standalone, rewrite
from esrag.models import Completion

FIRST = "What is the size of the encapsulation key of ML-KEM-768?"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("And of ML-KEM-1024?", "What is the size of the encapsulation key of ML-KEM-1024?"),
        ("What about its ciphertext?", "What about its ciphertext? (ML-KEM-768)"),
        ("Why?", "Why? (ML-KEM-768)"),
        ("Who is the author of the kettle's manual?", "Who is the author of the kettle's manual?"),
        ("Is ML-KEM-1024 slower than it?", "Is ML-KEM-1024 slower than it? (ML-KEM-768)"),
        ("How does IT support work?", "How does IT support work?"),
        ("What is SHAKE128?", "What is SHAKE128?"),
        ("What is the key that it takes?", "What is the key that it takes? (ML-KEM-768)"),
        ("Which key is that?", "Which key is that? (ML-KEM-768)"),
        ("Which keys have that property?", "Which keys have that property?"),
        ("And what does SHAKE128 do?", "And what does SHAKE128 do? (ML-KEM-768)"),
    ],
)
def test_what_leans_on_the_question_before_stands_alone_after(question, asked):
    """A name of the same kind is exchanged, else the names are added; what leans on nothing
    stays.
    """
    assert make_standalone(question, ["Who?", FIRST]) == asked
    assert make_standalone(question, []) == question


def test_without_names_the_words_are_the_subject():
    """As they were written."""
    assert (
        make_standalone("How heavy is it?", ["How large is the red kettle?"])
        == "How heavy is it? (large red kettle)"
    )
    assert make_standalone("Why?", ["What is it?"]) == "Why?"


class Saying:
    """A language model that says one thing, or fails."""

    model, takes_documents = "made-up", False

    def __init__(self, said):
        self.said, self.asked = said, []

    def complete(self, prompt):
        """What it was told to say."""
        self.asked.append(prompt)
        if isinstance(self.said, Exception):
            raise self.said
        return Completion(self.said)


def test_a_model_may_rewrite_it():
    """It sees the earlier questions, each on a line of its own."""
    model = Saying(" How large is the key of ML-KEM-1024? \n")

    assert (
        rewrite("And\nof 1024?", [FIRST], model, Prompts())
        == "How large is the key of ML-KEM-1024?"
    )
    assert model.asked[0].user == f"Question: {FIRST}\nLast question: And of 1024?"
    assert rewrite(FIRST, [], model, Prompts()) == FIRST
    assert len(model.asked) == 1


NO_QUESTION = [
    "",
    "a\nb",
    "x" * 501,
    REFUSAL,
    "How large is the key of ML-KEM-1024? [c1]",
    GeneratorError("gone"),
]


@pytest.mark.parametrize("said", NO_QUESTION)
def test_what_is_no_question_gives_way_to_the_rules(said):
    """So does a model that does not answer."""
    asked = rewrite("And of ML-KEM-1024?", [FIRST], Saying(said), Prompts())

    assert asked == FIRST.replace("768", "1024")


@pytest.mark.parametrize(
    ("question", "said", "is_kept"),
    [
        ("How many days of leave do I get?", "Is the pump waterproof?", False),
        ("How many days of leave do I get?", "How many days of leave do I get in Spain?", True),
        ("And what about its ciphertext?", "How long is the ciphertext of ML-KEM-768?", True),
        ("And what about its ciphertext?", "How long is the key of ML-KEM-768?", False),
        ("So, what does this mean?", "What does the size of ML-KEM-768 mean?", True),
        (
            "Which of those keys do they take?",
            "Which of the ML-KEM keys do encapsulations take?",
            True,
        ),
        ("And for 1024?", "How large is the key of ML-KEM-512?", False),
        ("Why?", "Why is the key of ML-KEM-768 that large?", True),
        ("Why?", "Is the pump waterproof?", False),
    ],
)
def test_a_model_keeps_to_the_words_that_were_typed(question, said, is_kept):
    """All but those that lean; another question in their place gives way to the rules."""
    asked = rewrite(question, [FIRST], Saying(said), Prompts())

    assert asked == (said if is_kept else make_standalone(question, [FIRST]))
