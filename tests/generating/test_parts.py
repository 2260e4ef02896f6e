"""A question that asks for several things is split where each part is a question by itself."""

import pytest

from esrag.generating.parts import split_question


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What's the wellness policy? And who is the client for job 225221?",
            ["What's the wellness policy?", "Who is the client for job 225221?"],
        ),
        (
            "Which set is recommended, and how large is its key?",
            ["Which set is recommended?", "How large is its key?"],
        ),
        (
            "In what year was it built and who built it?",
            ["In what year was it built?", "Who built it?"],
        ),
        ("Is leave paid and can I carry it over?", ["Is leave paid?", "Can I carry it over?"]),
        (
            "What should I do if the pump fails; who do I call?",
            ["What should I do if the pump fails?", "Who do I call?"],
        ),
        (
            "What were the revenue and the net income for 2022?",
            ["What was the revenue for 2022?", "What was the net income for 2022?"],
        ),
        (
            "What are the rights and the duties of the trustees?",
            ["What are the rights of the trustees?", "What are the duties of the trustees?"],
        ),
        (
            "What is the ciphertext's size in ML-KEM-512 and in ML-KEM-768?",
            [
                "What is the ciphertext's size in ML-KEM-512?",
                "What is the ciphertext's size in ML-KEM-768?",
            ],
        ),
        (
            "Who wrote the plan, when was it adopted, and where is it kept?",
            ["Who wrote the plan?", "When was it adopted?", "Where is it kept?"],
        ),
        (
            "How many cars does the Brannish Maid carry and how many does Hull 214?",
            [
                "How many cars does the Brannish Maid carry?",
                "How many cars does Hull 214 carry?",
            ],
        ),
        (
            "When did Davy open, and when did Lucy, and when will the new one?",
            ["When did Davy open?", "When did Lucy open?", "When will the new one?"],
        ),
        (
            "How many people live in Oslo and how many in Bergen?",
            ["How many people live in Oslo?", "How many people live in Bergen?"],
        ),
        (
            "What does a child pay and what does a senior get?",
            ["What does a child pay?", "What does a senior get?"],
        ),
    ],
)
def test_each_part_is_a_question(question, parts):
    assert [*split_question(question, 3)] == parts


@pytest.mark.parametrize(
    "question",
    [
        "Who decides when and how a chunk is cited?",
        "How does the compiler know what is safe and what is dangerous?",
        "What is the rule on what is allowed and what is not?",
        "When the kiln is cold and how is it opened?",
        "When I'm straightening a wheel, how much can I twist a nipple?",
        "Tell me what to do and what to avoid.",
        "Who wrote and who edited the plan?",
        "When and where is the meeting?",
        "What colour of glaze and how many firings are needed?",
        "How is a lost badge reported and to whom?",
        "How do Article 3.2 and Article 4.5 differ, and when is each due?",
        "What is the difference between the fee and the term of a loan?",
        "What are the terms and conditions of the lease?",
        "Which of the trustees, who are members, may vote?",
        "In FIPS 203, what does decapsulation mean?",
        "Hello? Is anyone there?",
        "Can AES be implemented in software and in hardware?",
        "What is it? What is what? Who is who? When is it?",  # more than three
        "and " * 500,
        "what is " * 500,
    ],
)
def test_one_question_stays_whole(question):
    assert split_question(question, 3) == (question,)


def test_one_part_at_most_is_no_split():
    question = "What is the fee? Who pays it?"
    assert split_question(question, 1) == (question,)
    assert split_question(question, 2) == ("What is the fee?", "Who pays it?")
