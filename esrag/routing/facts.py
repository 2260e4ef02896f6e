"""Route a question to the fact that answers it."""

from esrag.facts.finding import Match
from esrag.routing import Decision, Pass, Route, RouteRequest, RouterOptions
from esrag.routing.cues import sum_cues


class FactsRouter:
    """Answers from a fact if one fits the question, and if the question asks for one."""

    def __init__(self, options: RouterOptions) -> None:
        self._facts = options.facts
        self._settings = options.settings.facts

    def route(self, question: str, request: RouteRequest) -> Route | Pass:
        """Return the route to a fact; the confidence is 1 for its own question, else the cues."""
        match = self._facts.find(question, request.where)
        if match is None:
            return Pass()
        asked = f"the fact {match.fact.question!r}"
        if not match.holds:
            return Pass(f"{asked} does not hold at that time")

        likeness = max(match.similarity, float(match.is_exact))
        if likeness >= self._settings.similarity:
            nearly = "" if match.is_exact else "nearly "
            return _to(match, 1.0, f"it is {nearly}the question of {asked}")
        return self._weigh(question, match, asked)

    def _weigh(self, question: str, match: Match, asked: str) -> Route | Pass:
        """Return the route to a fact of a similar question, if the cues suffice."""
        score = self.score(question)
        if match.covered <= self._settings.overlap:
            return Pass(f"{asked} has too few words in common with it", 1 - score)
        if score < self._settings.threshold:
            return Pass(f"it does not ask for a fact (cues {score:g})", 1 - score)
        return _to(match, score, f"its words are those of {asked}")

    def score(self, question: str) -> float:
        """Return the sum of a question's cues, clamped to 0..1."""
        openings = sum_cues(self._settings.openings, question, at_start=True)
        cues = sum_cues(self._settings.cues, question)
        return round(min(1.0, max(0.0, openings + cues)), 6)


def _to(match: Match, confidence: float, reason: str) -> Route:
    return Route(
        "facts", Decision(confidence=confidence, reason=reason), doc_ids=(match.chunk.doc_id,)
    )
