"""A list that goes on in the next chunk is said whole, even if only its beginning is found."""

import pytest

from esrag.evidence.open_lists import with_open_lists
from esrag.records import Chunk, Hit

STEPS = ("Open the gate", "Ring the bell", "Free the chain", "Push the boat", "Close the gate")
PAGE = "# Launch\n\nLaunching a boat from the slipway has five steps:\n\n" + "\n".join(
    f"{n}. {step}. The keeper who is on duty at the slipway watches it from the tower above."
    for n, step in enumerate(STEPS, 1)
)
OTHERS = {f"other{n}.md": f"# Other {n}\n\nNothing about this is of use: {n}." for n in range(3)}
SETTINGS = {"embedding.model": "none", "answer.neighbours": 0, "answer.refusal": 0}


@pytest.fixture
def index(open_pages):
    """An index whose chunks have one or two steps each, of which one hit is read."""
    return open_pages(
        {"launch.md": PAGE, **OTHERS},
        {**SETTINGS, "chunking": {"size": 45, "overlap": 0}, "retrieval.k": 1},
    )


def test_all_steps_are_said(index):
    """Though the hit has only the first ones."""
    question = "What are the steps of launching a boat from the slipway?"
    (hit,) = index.search(question, k=1)
    assert STEPS[-1] not in hit.chunk.text
    assert all(step in index.ask(question).text for step in STEPS[:4])


def test_another_question_reads_its_hits_alone(index):
    """It asks for no list."""
    asked = index.ask("Who watches the launching of a boat from the slipway?")
    assert 1 == len(asked.evidence)


TASKS = "Hand over the keys,Sign the log,Return the lamp,Clean the stove,Air the room,Empty the hut"
RETIRING = "\n".join(
    f"- {task}. Whoever stays should hear of it from the keeper who leaves, and well before the "
    "day of the last watch, so that nobody has to ask."
    for task in TASKS.split(",")
)
LISTS = f"""# Harbour

## Lists

These lists reach the keepers who are on duty at the harbour:

- keepers: what a keeper who leaves the harbour should know of the next keeper
- harbour: what else a keeper takes care of

## Leaving

If you leave the service, take these steps:

{RETIRING}
"""


def test_the_list_whose_introduction_has_the_question_goes_on(open_pages):
    """Not one whose items have more of its words."""
    index = open_pages(
        {"harbour.md": LISTS, **OTHERS},
        {**SETTINGS, "chunking": {"size": 120, "overlap": 0}, "retrieval.k": 3},
    )
    text = index.ask("Which steps does a keeper take to leave the service?").text
    assert "Hand over the keys" in text
    assert "Empty the hut" in text
    assert "Whoever stays" not in text


def test_a_list_with_one_word_of_the_question_does_not_outdo_another():
    """Though that word introduces it."""
    texts = (
        "Lamps:\n\n- oil\n- gas",
        "Do as follows:\n\n- fill the tank of a stove\n- trim its wick",
        "- close the stove",
    )
    one, other, after = (
        Chunk(f"d::p0001::c00{n}", "d", n, 0, len(text), 1, 1, text) for n, text in enumerate(texts)
    )
    hits = Hit(one, 1.0), Hit(other, 0.9)
    question = "Which steps fill a stove and trim wicks of lamps?"
    found = with_open_lists(question, hits, lambda chunk: [after] if chunk == other else [])
    assert [hit.chunk for hit in found] == [one, other, after]
