"""The router by complexity: hard questions, and those that the documents cannot answer."""

import pytest

from esrag.errors import SettingsError
from esrag.routing import Pass, Route, RouteRequest, RouterOptions
from esrag.routing.complexity import ComplexityRouter, complexity
from esrag.settings import ComplexitySettings, Settings

EVERYWHERE = {"routes": ["direct", "web"]}


def route(question, web=None, **changed):
    settings = Settings(complexity=changed, web=web or {})
    return ComplexityRouter(RouterOptions(settings, None, None)).route(question, RouteRequest(None))


@pytest.mark.parametrize(
    ("question", "least", "most"),
    [
        ("How heavy is the kettle?", 0, 0),
        ("What does Article 5.2.1 say?", 0.3, 0.3),
        ("Who signs it, and when is it due?", 0.3, 0.3),
        ("Does Acme Holding pay it? And who does in Norway?", 0.6, 0.6),
        ("How do Articles 3.2 and 4.5 treat Acme in Germany, and who is liable?", 0.71, 1),
        pytest.param("?" * 500, 0, 0, id="marks"),
        pytest.param("Article 1, " * 100, 1, 1, id="references"),
    ],
)
def test_complexity_grows_with_names_questions_and_references(question, least, most):
    assert least <= complexity(question, ComplexitySettings().weights) <= most


def test_a_hard_question_gets_more_passages():
    hard = "How do Article 3.2 and Article 4.5 differ, and when is each due?"
    found = route(hard, overrides={"retrieval.k": 7})
    assert (found.kind, found.overrides) == ("documents", {"retrieval.k": 7})
    assert (found.decision.confidence, found.decision.reason) == (0.9, "complexity 0.9")
    assert isinstance(route("How heavy is the kettle?"), Pass)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the latest GloBE guidance in Germany?", "web"),
        ("What are the current rules in Germany?", "web"),
        ("What are current assets?", "documents"),
        ("How recent are the figures?", "documents"),
        ("Translate 'kettle' into French", "direct"),
        ("What does the guide say about how to translate a form?", "documents"),
    ],
)
def test_cues_lead_elsewhere(question, kind):
    """Only if the settings allow it."""
    found = route(question, **EVERYWHERE)
    assert (found.kind if isinstance(found, Route) else "documents") == kind
    assert isinstance(route(question), Pass)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"overrides": {"engine.url": "http://evil.example"}}, "engine.url cannot be one"),
        ({"overrides": {"retrieval.k": "many"}}, "retrieval.k"),
        ({"overrides": {"retrieval.nothing": 1}}, "retrieval.nothing"),
        ({"routes": ["web"], "web": {"provider": "brave"}}, "needs a key"),
        ({"routes": ["web"], "web": {"provider": "searxng"}}, "needs an address"),
    ],
)
def test_settings_that_cannot_be_meant(settings, words):
    """Are refused before a question costs anything."""
    web = settings.pop("web", None)
    with pytest.raises(SettingsError, match=words):
        route("How heavy is it?", web, **settings)
