"""Cite a fact as the answer that it is, and find what keeps it from being one."""

from esrag.facts import Fact
from esrag.facts.storing import to_chunk
from esrag.records import Evidence
from esrag.text import split_sentences
from esrag.verifying.verify import Check, Rules


def to_draft(answer: str) -> str:
    """Return a fact's answer with a marker after each sentence."""
    return " ".join(f"{part} [c1]" for part in split_sentences(answer))


def find_refusal(fact: Fact) -> str:
    """Return why the check of citations refuses a fact's answer, so that it is never given.

    >>> find_refusal(Fact("How much is the oil?", "It is $5.", "the price list"))
    ''
    >>> find_refusal(Fact("How much is the oil?", "It is $5 [c2].", "the price list"))
    'has an answer that cannot be cited: cites c2, which was not given'
    """
    evidence = (Evidence("c1", to_chunk(fact), 1.0),)
    answer = Check(fact.question, evidence, Rules()).answer(to_draft(fact.answer))
    return f"has an answer that cannot be cited: {answer.notes[0]}" if answer.refused else ""
