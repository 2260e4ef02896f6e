"""Citations: the markers from sentences to passages, the refusal, and the reasons for one."""

import re
from collections.abc import Callable
from typing import Literal, Self

REFUSAL = "not found in provided docs"
# The answer to small talk, which asks nothing of the documents.
SMALL_TALK = (
    "Ask a question about your documents, and every sentence of the answer cites a passage; "
    '"Which documents do you have?" lists them.'
)

# [c2], and what models make of it: [C2], [c1, c2], 【c1】. A longer number is not a key, so that
# int() takes every key.
MARKERS = re.compile(r"[\[【]\s*c\d{1,6}(?:\s*[,;]\s*c\d{1,6})*\s*[\]】]", re.IGNORECASE)
KEY = re.compile(r"c\d+", re.IGNORECASE)

# Called with each sentence, with its markers, as it passes its check.
OnSentence = Callable[[str], None]


class CheckedSentence(str):
    """A sentence that passed its check; `name` is the title of the passage that it cites first."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, text: str, name: str) -> Self:
        """Return the text together with a name."""
        sentence = super().__new__(cls, text)
        sentence.name = name
        return sentence


def name_of(title: str, section: str) -> str:
    """Return a passage's name: the title of its document, else its last heading.

    >>> name_of("Fares", "Fares > Tickets"), name_of("", "Fares > Tickets")
    ('Fares', 'Tickets')
    """
    return title or section.rpartition(" > ")[2]


# `gathering` decides whether the evidence suffices, `answering` whether it contradicts itself,
# `verifying.verify` whether the draft is supported, and `middleware` what is small talk.
Reason = Literal[
    "no-hits",
    "filtered-out",
    "too-few-hits",
    "below-threshold",
    "budget",
    "contradictory",
    "unsupported",
    "contract",
    "model-refused",
    "small-talk",
]

REASONS: dict[Reason, str] = {
    "no-hits": "no passage of the index matches the question",
    "filtered-out": "passages match the question, but none within the filter",
    "too-few-hits": "fewer passages match than answer.min_hits asks for",
    "below-threshold": "the best passages do not answer the question well enough (answer.refusal)",
    "budget": "nor do those of any other wording, as many as answer.steps allows",
    "contradictory": "passages of two documents that fit alike say different things",
    "unsupported": "a sentence says more than the passage it cites",
    "contract": "a sentence is not cited, or cites a passage that was not given",
    "model-refused": "the generator found no answer in the evidence",
    "small-talk": "a greeting, thanks or a question about esrag is no question to the documents",
}


def ignore(_: object) -> None:
    """Do nothing: the callback for unused sentences, pieces of text and calls."""
