"""Question answering over your own documents: every sentence cited and checked, or refused.

>>> import esrag
>>> "ask" in dir(esrag.Index)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esrag.api import AnswerStream, Index, verify
    from esrag.api import open_index as open  # noqa: A004 -- read as esrag.open
    from esrag.errors import EsragError
    from esrag.jobs.reporting import IngestReport
    from esrag.records import Answer, Chunk, Citation, Evidence, Hit, StoredDocument
    from esrag.results import AskResult, Hits
    from esrag.verifying.drafts import DraftVerdict, SentenceVerdict

__all__ = [
    "Answer",
    "AnswerStream",
    "AskResult",
    "Chunk",
    "Citation",
    "DraftVerdict",
    "EsragError",
    "Evidence",
    "Hit",
    "Hits",
    "Index",
    "IngestReport",
    "SentenceVerdict",
    "StoredDocument",
    "open",
    "verify",
]

# Each name is imported when it is first used: the command line shows its help without any of them.
_HOMES = {
    "esrag.api": ("AnswerStream", "Index", "open", "verify"),
    "esrag.errors": ("EsragError",),
    "esrag.jobs.reporting": ("IngestReport",),
    "esrag.records": ("Answer", "Chunk", "Citation", "Evidence", "Hit", "StoredDocument"),
    "esrag.results": ("AskResult", "Hits"),
    "esrag.verifying.drafts": ("DraftVerdict", "SentenceVerdict"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), "open_index" if name == "open" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
