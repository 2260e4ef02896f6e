"""The line that has the figure that a question asks for, by its label."""

from dataclasses import replace

import pytest

from esrag.evidence import NO_DIRECT_ANSWER
from esrag.evidence.statements import statements
from esrag.evidence.values import answer_value
from esrag.verifying.drafts import to_evidence

PUMP = (
    "Weight | 2.3 kg\nNoise at 1 m | 48 dB\nConnected load (max.) | 1,900 W\n\n"
    "The pump is new. It is green: see figure 2."
)
WASHER = "Depth: 60 cm\nOwner: Ada Park, in room 3\nWeight: 38 kg\n\nIts door bears 6 kg."


def find(question, **texts):
    """What answers, among passages of documents with these names."""
    given = to_evidence([{"text": text, "section": "Technical data"} for text in texts.values()])
    evidence = tuple(
        replace(item, chunk=replace(item.chunk, doc_id=f"manuals/{name}.pdf"))
        for name, item in zip(texts, given, strict=True)
    )
    return answer_value(question, evidence, statements(question, evidence))


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("How heavy is the DX-12 pump?", "Weight: 2.3 kg"),
        ("weight of the pump", "Weight: 2.3 kg"),
        ("What is the noise level of the pump?", "Noise at 1 m: 48 dB"),
        ("How loud is the DX-12?", "Noise at 1 m: 48 dB"),
        ("What connected load does the pump have?", "Connected load (max.): 1,900 W"),
        ("washer weight", "Weight: 38 kg"),
        ("How deep is the washer?", "Depth: 60 cm"),
        ("Who owns the washer?", "Owner: Ada Park, in room 3"),
    ],
)
def test_a_property_of_what_a_document_is_about(question, line):
    """Both have a weight: the name of the document tells which one is meant."""
    found = find(question, pump_DX_12=PUMP, washer=WASHER)
    assert (found.way, [text for _, text in found.found]) == ("named", [line])


@pytest.mark.parametrize(
    "question",
    [
        "How heavy is it?",
        "What is the weight of the door of the washer?",
        "Why is the weight of the pump 2.3 kg?",
        "Who gives the weight of the pump?",
        "What is the price of the pump?",
        "What is the weight of the boat?",
    ],
)
def test_no_line_for_other_things_and_other_questions(question):
    """A weight of something else would be a wrong answer."""
    assert find(question, pump=PUMP, washer=WASHER) is NO_DIRECT_ANSWER


def test_lines_of_several_documents_are_no_answer():
    """Nothing tells which of the pumps is meant."""
    assert (
        find("How heavy is the pump?", pump_A=PUMP, pump_B=PUMP.replace("2.3", "2.4"))
        is NO_DIRECT_ANSWER
    )
