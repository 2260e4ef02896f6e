"""Follow-ups: what a question leaves to the one before is put into it, by rules or by a model."""

import pytest

from esrag.citations import REFUSAL
from esrag.errors import GeneratorError
from esrag.generating.followups import Turn, make_standalone
from esrag.generating.names import find_names
from esrag.generating.prompts import Prompts
from esrag.generating.rewriting import rewrite
from esrag.models import Completion

FIRST = "What is the size of the encapsulation key of ML-KEM-768?"
BEFORE = [Turn("Who?"), Turn(FIRST)]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("And of ML-KEM-1024?", "What is the size of the encapsulation key of ML-KEM-1024?"),
        ("What about its ciphertext?", "What is the size of the ciphertext of ML-KEM-768?"),
        ("Why?", "Why? (size encapsulation key ML-KEM-768)"),
        ("Tell me more.", "Tell me more. (ML-KEM-768)"),
        ("Can you give me an example?", "Can you give me an example? (ML-KEM-768)"),
        ("How do I change it?", "How do I change it? (size encapsulation key ML-KEM-768)"),
        ("Show me the kettle.", "Show me the kettle."),
        ("Who is the author of the kettle's manual?", "Who is the author of the kettle's manual?"),
        ("Is ML-KEM-1024 slower than it?", "Is ML-KEM-1024 slower than ML-KEM-768?"),
        ("How does IT support work?", "How does IT support work?"),
        ("What is SHAKE128?", "What is SHAKE128?"),
        ("What is the key that it takes?", "What is the key that ML-KEM-768 takes?"),
        ("Which key is that?", "Which key is that? (ML-KEM-768)"),
        ("Which keys have that property?", "Which keys have that property?"),
        ("And what does SHAKE128 do?", "And what does SHAKE128 do? (ML-KEM-768)"),
    ],
)
def test_what_leans_on_the_question_before_stands_alone_after(question, asked):
    """A name of the same kind is exchanged, else the names are added; what leans on nothing
    stays.
    """
    assert make_standalone(question, BEFORE) == asked
    assert make_standalone(question, []) == question


def test_without_names_the_words_are_the_subject():
    """As they were written."""
    assert (
        make_standalone("How heavy is it?", [Turn("How large is the red kettle?")])
        == "How heavy is it? (large red kettle)"
    )
    assert make_standalone("Why?", [Turn("What is it?")]) == "Why?"


@pytest.mark.parametrize(
    ("before", "question", "asked"),
    [
        ("How much does a hammer cost?", "and a saw?", "How much does a saw cost?"),
        ("How much does a hammer cost?", "How much does a saw?", "How much does a saw cost?"),
        (
            "When is the library open on Saturdays?",
            "What about the swimming pool?",
            "When is the swimming pool open on Saturdays?",
        ),
        ("Can I bring my dog?", "And my cat?", "Can I bring my cat?"),
        ("May a tenant keep a cat?", "and a small dog", "May a tenant keep a small dog?"),
        ("What is the price of the hammer?", "And the saw?", "What is the price of the saw?"),
        ("Who votes for Davy?", "And the guests?", "And the guests? (Davy)"),
    ],
)
def test_a_thing_without_a_name_is_exchanged_too(before, question, asked):
    """With the last one of the question before, which keeps its verb."""
    assert make_standalone(question, [Turn(before)]) == asked


POOL, LEASE = "Riverside swimming pool", "Lease, Garden Street"
KEY = "(loose lose front door key, Lease, Garden Street)"


@pytest.mark.parametrize(
    ("title", "chat"),
    [
        (
            POOL,
            [
                ("hi, when is the pool open?", "hi, when is the pool open?"),
                ("and on sundays?", "when is the pool open on sundays?"),
                ("what about the sauna?", "when is the sauna open on sundays?"),
                ("how much is it?", f"how much is it? (sauna open sundays, {POOL})"),
                (
                    "can i hire a towel there?",
                    f"can i hire a towel there? (sauna open sundays, {POOL})",
                ),
            ],
        ),
        (
            POOL,
            [
                ("how much is a swim for adults?", "how much is a swim for adults?"),
                ("and for children?", "how much is a swim for children?"),
                ("and pensioners?", "how much is a swim for pensioners?"),
            ],
        ),
        (
            LEASE,
            [
                ("did I lose a front door key?", "did I lose a front door key?"),
                ("what if i loose one?", f"what if i loose one? (lose front door key, {LEASE})"),
                ("how much is a new one?", f"how much is a new one? {KEY}"),
            ],
        ),
        (
            "Aunt Rosa's recipes",
            [
                ("how do i make pancakes?", "how do i make pancakes?"),
                (
                    "how many people is that for?",
                    "how many people is that for? (make pancakes, Aunt Rosa's recipes)",
                ),
                (
                    "can i freeze them?",
                    "can i freeze them? (people make pancakes, Aunt Rosa's recipes)",
                ),
                ("and the soup?", "can i freeze the soup?"),
            ],
        ),
    ],
)
def test_a_chat_keeps_its_topic_and_not_the_title(title, chat):
    """What an earlier turn was about stays; what a follow-up replaces goes."""
    turns = []
    for typed, asked in chat:
        assert make_standalone(typed, turns) == asked
        turns.append(Turn(asked, "It is so.", (title,)))


def test_a_refused_question_is_no_topic_unless_something_of_it_is_exchanged():
    """What has an answer is what the chat is about."""
    turns = [Turn("Can I hire a room?", "Yes.", ("The library",)), Turn("Can I bring my laptop?")]
    assert make_standalone("Who do I ask there?", turns) == (
        "Who do I ask there? (hire room, The library)"
    )
    assert make_standalone("And my dog?", turns) == "Can I bring my dog?"


def test_a_noun_that_opens_a_sentence_of_the_answer_is_no_name():
    """Though it is written with a capital there."""
    before = Turn("Which class is right?", "Employees travel in second class.")
    assert make_standalone("Who says it?", [before]) == "Who says it? (class right)"


SIZE = Turn("How large is the encapsulation key of ML-KEM-768?", "ML-KEM-768: 1184 bytes")
AUTHOR = Turn("Who wrote PEP 8?", "It was written by Guido van Rossum and Barry Warsaw.")
CHOICE = Turn(
    "Which parameter set does NIST recommend?",
    "NIST recommends using ML-KEM-768 as the default parameter set.",
)
CACHE = Turn("What is the cache in Borg?", "The cache holds lists of files.")
METHOD = Turn("Which method is the safest in Postgres?", "The safest one is slow.")
HEIGHT = Turn("How high is the dam?", "The dam is 40 metres high.", ("Dams of the North",))


@pytest.mark.parametrize(
    ("before", "question", "asked"),
    [
        (SIZE, "and its ciphertext?", "How large is the ciphertext of ML-KEM-768?"),
        (SIZE, "and for 512?", "How large is the encapsulation key of ML-KEM-512?"),
        (SIZE, "What about ML-KEM-1024?", "How large is the encapsulation key of ML-KEM-1024?"),
        (SIZE, "And the shared secret?", "How large is the shared secret of ML-KEM-768?"),
        (SIZE, "Why is it that large?", "Why is ML-KEM-768 that large?"),
        (AUTHOR, "When was it created?", "When was PEP 8 created?"),
        (AUTHOR, "And PEP 257?", "Who wrote PEP 257?"),
        (AUTHOR, "and 20?", "Who wrote PEP 20?"),
        (AUTHOR, "What about the Zen of Python?", "Who wrote the Zen of Python?"),
        (AUTHOR, "What is its status?", "What is PEP 8's status?"),
        (AUTHOR, "Where does he work?", "Where does Guido van Rossum work?"),
        (AUTHOR, "What is it about?", "What is PEP 8 about?"),
        (CHOICE, "How large is its ciphertext?", "How large is ML-KEM-768's ciphertext?"),
        (CHOICE, "Why?", "Why? (parameter set NIST recommend, ML-KEM-768)"),
        (CACHE, "Is it on by default?", "Is cache in Borg on by default?"),
        (CACHE, "How do I make one?", "How do I make one? (cache in Borg)"),
        (METHOD, "What about md5?", "What about md5? (method safest Postgres)"),
        (METHOD, "And in Redis?", "Which method is the safest in Redis?"),
        (METHOD, "Is that the default?", "Is that the default? (method safest Postgres)"),
        (HEIGHT, "When was it built?", "When was it built? (high dam, Dams of the North)"),
        (SIZE, "Who painted the Mona Lisa?", "Who painted the Mona Lisa?"),
        (SIZE, "And who painted the Mona Lisa?", "And who painted the Mona Lisa? (ML-KEM-768)"),
        (Turn("What was sold in H1 2021?"), "And in 2022?", "What was sold in H1 2022?"),
        (Turn("Who sat in Cruz v. Ash?"), "And in Doe v. Roe?", "Who sat in Doe v. Roe?"),
        (Turn("How old is the pier?"), "Is it possible?", "Is it possible? (old pier)"),
        (Turn("Who made Java in Javaland?"), "And Python?", "Who made Python in Javaland?"),
        (Turn("What is C?"), "Can it be null?", "Can C be null?"),
    ],
)
def test_the_subject_is_in_the_question_its_answer_or_the_evidence(before, question, asked):
    """The question before is completed, or a name stands where a pronoun stood."""
    assert make_standalone(question, [before]) == asked


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What does NIST say about AAL2?", ["NIST", "AAL2"]),
        ("Is Table 3 of FIPS 203 complete?", ["Table 3 of FIPS 203"]),
        ("the Bank of", ["Bank"]),
        ("Galaxy Gaming's auditors, Moss Adams LLP", ["Gaming", "Moss Adams LLP"]),
        ("How long is a key?", []),
        ("", []),
    ],
)
def test_names_are_capitals_and_identifiers(text, names):
    """The first word of a text is no name by its capital alone."""
    assert find_names(text) == names


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
        rewrite("And\nof 1024?", [Turn(FIRST)], model, Prompts())
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
    asked = rewrite("And of ML-KEM-1024?", [Turn(FIRST)], Saying(said), Prompts())

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
        ("And if it cannot find one?", "What if ML-KEM-768 cannot find one?", True),
    ],
)
def test_a_model_keeps_to_the_words_that_were_typed(question, said, is_kept):
    """All but those that lean; another question in their place gives way to the rules."""
    asked = rewrite(question, [Turn(FIRST)], Saying(said), Prompts())

    assert asked == (said if is_kept else make_standalone(question, [Turn(FIRST)]))
