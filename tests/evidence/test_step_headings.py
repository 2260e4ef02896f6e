"""Procedures whose steps are headings: all of them, from the page that the question is about."""

import pytest

WALK = "Take your time, since nothing is lost by waiting, and look at the sky before you go on. "
LAMP = f"""# Setting up a storm lamp

A storm lamp burns paraffin.

## Step 1: Fill the tank

{WALK * 6}

## Step 2: Trim the wick

{WALK * 6}

### Kinds of wicks

{WALK * 6}

## Step 3 (Optional): Clean the glass

{WALK * 6}
"""
STOVE = f"""# Setting up a stove

A stove burns wood, and so does no storm lamp.

## Step 1: Sweep the chimney

{WALK * 6}

## Step 2: Lay the fire

{WALK * 6}
"""
SETTINGS = {"embedding.model": "none", "chunking": {"size": 80, "overlap": 0}, "retrieval.k": 3}


@pytest.fixture
def index(open_pages):
    """An index of two pages with steps, which are in more passages than a search finds."""
    return open_pages({"lamp.md": LAMP, "stove.md": STOVE}, SETTINGS)


@pytest.mark.parametrize(
    "question", ["How do I set up a storm lamp?", "What are the steps of setting up a storm lamp?"]
)
def test_all_steps_are_said_in_order(index, question):
    """Each with the passage that it heads."""
    answer = index.ask(question)
    steps = ["Step 1: Fill the tank", "Step 2: Trim the wick", "Step 3 (Optional): Clean the glass"]
    assert [answer.text.find(step) >= 0 for step in steps] == [True, True, True]
    assert sorted(steps, key=answer.text.find) == steps
    assert [each.quote for each in answer.citations] == steps


@pytest.mark.parametrize(
    "question",
    [
        "How do I repaint a storm lamp?",  # no word of it, but of the page
        "Who sets up a storm lamp?",
        "What does a storm lamp burn?",
    ],
)
def test_another_question_gets_no_steps(index, question):
    """About the same page."""
    assert "Step 1" not in index.ask(question).text


@pytest.mark.parametrize("numbers", [(1, 3), (2, 3), (1, 2, 2)])
def test_steps_with_a_gap_are_no_procedure(open_pages, numbers):
    """They may be quoted, but not as all there is to do."""
    steps = "\n\n".join(f"## Step {n}: Do task {n}{n}\n\n{WALK}" for n in numbers)
    index = open_pages({"lamp.md": f"# Setting up a storm lamp\n\n{steps}"}, SETTINGS)
    text = index.ask("How do I set up a storm lamp?").text
    assert not all(f"Step {n}: Do task" in text for n in numbers)


def test_a_procedure_is_not_told_in_part(open_pages):
    """The evidence has room for two of its three steps."""
    limits = {**SETTINGS, "answer.evidence_chunks": 2}
    index = open_pages({"lamp.md": LAMP}, limits)
    assert "Step 1" not in index.ask("How do I set up a storm lamp?").text
