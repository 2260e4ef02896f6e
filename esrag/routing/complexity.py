"""Route a question by how hard it is, and by whether the documents can answer it at all."""

import re
from collections.abc import Mapping

from esrag.errors import SettingsError
from esrag.routing import Decision, Pass, Route, RouteRequest, RouterOptions
from esrag.routing.cues import sum_cues
from esrag.settings import Feature
from esrag.settings.layers import with_values
from esrag.text.terms import find_technical_words
from esrag.web.providers import WebSearch

_SECTIONS = ("retrieval.", "summaries.", "answer.")  # that a question may have of its own
_QUESTION = re.compile(
    r"\?\s+(?:and\s+)?(?=\w)|(?:\band|;|,)\s+(?=(?:what|who|when|where|which|why|how)\b)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?:\b(?:article|section|paragraph|annex|chapter|clause|rule|regulation|appendix|part)s?"
    r"|\b(?:art|sec|para)\.|§)\s*(?:\d[\w.()-]*|[IVX]+\b|[A-Z]\b)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][a-z][\w’'-]*(?:\s+[A-Z][\w’'-]+)*")
# The countries with the most people and trade; others are names.
_COUNTRY = re.compile(
    r"\b(?:Argentina|Australia|Austria|Belgium|Brazil|Canada|Chile|China|Colombia|Czechia|Denmark"
    r"|Egypt|Finland|France|Germany|Greece|Hungary|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy"
    r"|Japan|Kenya|Korea|Luxembourg|Malaysia|Mexico|Netherlands|New Zealand|Nigeria|Norway|Pakistan"
    r"|Peru|Philippines|Poland|Portugal|Romania|Russia|Saudi Arabia|Singapore|South Africa|Spain"
    r"|Sweden|Switzerland|Thailand|Turkey|Ukraine|United Arab Emirates|United Kingdom|United States"
    r"|UK|USA|Vietnam)\b"
)


class ComplexityRouter:
    """Gives complex questions settings of their own, and sends some to the web or to a model."""

    def __init__(self, options: RouterOptions) -> None:
        """Raises: SettingsError for overrides or a search service that cannot be used."""
        self._settings = options.settings.complexity
        for key in self._settings.overrides:
            if not key.startswith(_SECTIONS):
                hint = "settings of retrieval, summaries and answer can be"
                raise SettingsError(f"complexity.overrides: {key} cannot be one", hint=hint)
        with_values(options.settings, self._settings.overrides, "complexity.overrides")
        if "web" in self._settings.routes and options.settings.web.provider != "none":
            WebSearch(options.settings.web)

    def route(self, question: str, request: RouteRequest) -> Route | Pass:  # noqa: ARG002 -- the contract's
        """Return the way to the web, to a model alone, or to more passages for a hard question."""
        wanted = self._settings
        country = {"country": found[0]} if (found := _COUNTRY.search(question)) else {}
        changing = sum_cues(wanted.web_cues, question, country)
        if "web" in wanted.routes and changing >= wanted.web_threshold:
            reason = f"it asks for what changes (cues {changing:g})"
            return Route("web", Decision(confidence=_clamp(changing), reason=reason))

        opening = sum_cues(wanted.direct_openings, question, at_start=True)
        if "direct" in wanted.routes and opening > 0:
            reason = "it asks for no document"
            return Route("direct", Decision(confidence=_clamp(opening), reason=reason))

        hard = complexity(question, wanted.weights)
        if hard > wanted.threshold:
            decision = Decision(confidence=hard, reason=f"complexity {hard:g}")
            return Route("documents", decision, overrides=wanted.overrides)
        return Pass(f"complexity {hard:g}", _clamp(1 - hard))


def complexity(question: str, weights: Mapping[Feature, float]) -> float:
    """Return how hard a question is, 0..1, by its names, its questions and its references.

    >>> weights = {"name": 0.15, "question": 0.3, "reference": 0.3}
    >>> complexity("How heavy is the kettle?", weights)
    0.0
    >>> complexity("How do Article 3.2 and Article 4.5 differ, and when is each due?", weights)
    0.9
    """
    line = " ".join(question.split())
    references = [match.span() for match in _REFERENCE.finditer(line)]
    bare = _REFERENCE.sub(" ", line)
    names = {*(match[0] for match in _NAME.finditer(bare)), *find_technical_words(bare)}
    counts: Mapping[Feature, int] = {
        "name": len(names),
        "question": len(_QUESTION.findall(line)),
        "reference": len(references),
    }
    return _clamp(sum(counts[name] * weight for name, weight in weights.items()))


def _clamp(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 6)
