"""Question answering over your own documents: every sentence cited and checked, or refused.

>>> import esrag
>>> "ask" in dir(esrag.Index)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esrag.api import AnswerStream, Index, open, verify  # noqa: A004 -- read as esrag.open
    from esrag.citations import OnSentence
    from esrag.engines import SearchResult
    from esrag.errors import (
        ContextTooLarge,
        EmbeddingError,
        EngineError,
        EngineUnreachable,
        EsragError,
        GeneratorError,
        IndexBusy,
        IndexMismatch,
        IndexMissing,
        KeyRefused,
        LedgerError,
        ModelError,
        SettingsError,
        UsageError,
    )
    from esrag.evidence.confidence import Signals
    from esrag.facts.importing import FactsReport
    from esrag.facts.reading import Fault
    from esrag.filters import Filter, Where
    from esrag.ingesting import Progress, Skip
    from esrag.jobs.reporting import IngestReport
    from esrag.models import Prompt
    from esrag.models.metering import ModelCall, Usage
    from esrag.records import Answer, Break, Chunk, Citation, Evidence, Hit, StoredDocument
    from esrag.results import AskResult, Hits, Part, Place, Step
    from esrag.retrieving.spelling import Correction
    from esrag.routing import Decision, Route
    from esrag.settings import Settings
    from esrag.verifying.drafts import DraftVerdict, Passage, SentenceVerdict

    __version__: str

# Each name is imported when it is first used: the command line shows its help without any of them.
_HOMES = {
    "esrag.api": ("AnswerStream", "Index", "open", "verify"),
    "esrag.citations": ("OnSentence",),
    "esrag.engines": ("SearchResult",),
    "esrag.errors": (
        "ContextTooLarge",
        "EmbeddingError",
        "EngineError",
        "EngineUnreachable",
        "EsragError",
        "GeneratorError",
        "IndexBusy",
        "IndexMismatch",
        "IndexMissing",
        "KeyRefused",
        "LedgerError",
        "ModelError",
        "SettingsError",
        "UsageError",
    ),
    "esrag.evidence.confidence": ("Signals",),
    "esrag.facts.importing": ("FactsReport",),
    "esrag.facts.reading": ("Fault",),
    "esrag.filters": ("Filter", "Where"),
    "esrag.ingesting": ("Progress", "Skip"),
    "esrag.jobs.reporting": ("IngestReport",),
    "esrag.models": ("Prompt",),
    "esrag.models.metering": ("ModelCall", "Usage"),
    "esrag.records": ("Answer", "Break", "Chunk", "Citation", "Evidence", "Hit", "StoredDocument"),
    "esrag.results": ("AskResult", "Hits", "Part", "Place", "Step"),
    "esrag.retrieving.spelling": ("Correction",),
    "esrag.routing": ("Decision", "Route"),
    "esrag.settings": ("Settings",),
    "esrag.verifying.drafts": ("DraftVerdict", "Passage", "SentenceVerdict"),
}

__all__ = [
    "Answer",
    "AnswerStream",
    "AskResult",
    "Break",
    "Chunk",
    "Citation",
    "ContextTooLarge",
    "Correction",
    "Decision",
    "DraftVerdict",
    "EmbeddingError",
    "EngineError",
    "EngineUnreachable",
    "EsragError",
    "Evidence",
    "FactsReport",
    "Fault",
    "Filter",
    "GeneratorError",
    "Hit",
    "Hits",
    "Index",
    "IndexBusy",
    "IndexMismatch",
    "IndexMissing",
    "IngestReport",
    "KeyRefused",
    "LedgerError",
    "ModelCall",
    "ModelError",
    "OnSentence",
    "Part",
    "Passage",
    "Place",
    "Progress",
    "Prompt",
    "Route",
    "SearchResult",
    "SentenceVerdict",
    "Settings",
    "SettingsError",
    "Signals",
    "Skip",
    "Step",
    "StoredDocument",
    "Usage",
    "UsageError",
    "Where",
    "__version__",
    "open",
    "verify",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("esrag")
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
