"""A question for a definition finds the passage that has it among those that use its term."""

import pytest

MENTIONS = "\n\n".join(
    f"Proxy of hall {n}: the proxy asks the proxy of the next hall for the lens, proxy by proxy."
    for n in range(30)
)
GLOSSARY = """# Glossary

Lens Glass that bends light.
Proxy Program that asks on behalf of others, so that nobody has to walk from hall to hall.
"""
SETTINGS = {"embedding.model": "none", "chunking": {"size": 60, "overlap": 0}, "answer.refusal": 0}


@pytest.fixture
def index(open_pages):
    """An index of a page that mentions proxies thirty times, and of a glossary."""
    return open_pages({"mentions.md": MENTIONS, "glossary.md": GLOSSARY}, SETTINGS)


@pytest.mark.parametrize(
    "question", ["What is a proxy?", "What does PROXY mean?", "Define proxies."]
)
def test_the_glossary_comes_first(index, question):
    """However a definition is asked for."""
    first, *rest = index.search(question, k=5)
    assert "glossary" == first.chunk.doc_id
    assert first.score >= max(hit.score for hit in rest)
    assert "asks on behalf of others" in index.ask(question).text


def test_an_entry_is_found_beside_sentences_that_define(open_pages):
    """Even if many say what the term is."""
    lenses = [f"A lens is a thing of hall {n}, a lens of many, says hall {n}." for n in range(30)]
    entry = "Terms of the house.\n\nlens\n    Glass that bends light on its way through it."
    index = open_pages({"halls.md": "\n\n".join(lenses), "house.txt": entry}, SETTINGS)
    assert "house" in {hit.chunk.doc_id for hit in index.search("What is a lens?", k=5)}


def test_another_question_is_answered_by_mentions(index):
    """A question for something else has no use for a definition."""
    assert "mentions" == index.search("Which proxy asks for the lens?", k=1)[0].chunk.doc_id
    assert "mentions" == index.search("What is the proxy of hall 7 asked for?", k=1)[0].chunk.doc_id


def test_a_filter_holds_for_definitions(index):
    """And what nobody defines is found as before."""
    found = index.search("What is a proxy?", k=5, where={"doc_id": "mentions"})
    assert {"mentions"} == {hit.chunk.doc_id for hit in found}
    assert index.search("What is a hall?", k=5)
