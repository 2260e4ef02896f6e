"""Runs: one record of everything that one question did, to be kept, saved, replayed and compared.

A record is JSON: `esrag.run/1` with an id, the time, the settings that differ from their defaults,
the filter, the answer with all its parts, and a verdict on each sentence of its draft. Nothing is
kept unless `runs.keep` says so.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from pydantic import SecretStr

from esrag.filters import Filter, filter_to_dict
from esrag.settings import Settings, fields, to_plain, value_of
from esrag.settings.trust import redirects

SCHEMA = "esrag.run/1"
Keep = Literal["off", "without-texts", "whole"]
Verdict = Literal["good", "bad"]

# Sections whose values decide what an answer is over the same index.
ANSWERING = (
    "routing",
    "facts",
    "intents",
    "complexity",
    "summaries",
    "retrieval",
    "rerank",
    "answer",
)
_NOT_REPLAYED = frozenset(
    (
        *("rerank.url", "rerank.model", "rerank.api_key"),
        *("intents.classifier", "complexity.routes"),  # they may send the question to a service
    )
)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a reader said of a run's answer."""

    run_id: str
    verdict: Verdict
    note: str
    at: str


def build_record(
    answer: Mapping[str, Any],
    sentences: Sequence[Mapping[str, Any]],
    settings: Settings,
    where: Filter | None,
) -> dict[str, Any]:
    """Return the record of a question that was just answered.

    `answer` has all its parts; `sentences` are the verdicts on those of its draft.
    """
    now = datetime.now(UTC)
    return {
        "schema": SCHEMA,
        "run_id": f"{now:%Y%m%dT%H%M%S}-{uuid4().hex[:8]}",
        "at": now.isoformat(timespec="milliseconds"),
        "version": version("esrag"),
        "index": settings.engine.index,
        "settings": _list_differing(settings),
        "where": filter_to_dict(where),
        "answer": dict(answer),
        "sentences": [*sentences],
    }


def remove_texts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without anything that quotes a question, an answer or a document."""
    bare = deepcopy(dict(record))
    answer = bare["answer"]
    bare["where"] = {}
    answer |= {"answer": "", "notes": [], "prompt": {}, "draft": "", "evidence": []}
    for quoted in ("citations", "nearest", "summaries"):
        answer[quoted] = [_drop_texts(each) for each in answer[quoted]]
    answer["hits"] = [_drop_texts(each) | {"metadata": {}} for each in answer["hits"]]
    for said in (answer, *answer["parts"]):
        said |= {"question": "", "scope": "", "routing": {**said["routing"], "reason": ""}}
    answer["corrections"] = []
    answer["steps"] = [each | {"query": ""} for each in answer["steps"]]
    bare["sentences"] = [
        each | {"text": "", "note": "", "citations": [*map(_drop_texts, each["citations"])]}
        for each in bare["sentences"]
    ]

    return bare


def _drop_texts(passage: Mapping[str, Any]) -> dict[str, Any]:
    """Return a citation, a place, a summary or a hit without what it quotes and names."""
    quoted = ("quote", "text", "title", "section", "source")
    return {name: "" if name in quoted else value for name, value in passage.items()}


def select_replayed(record: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings of a record that can be applied again.

    None of them is an address, a service, a file or a secret.
    """
    return {
        key: value
        for key, value in record["settings"].items()
        if key.partition(".")[0] in ANSWERING
        and key not in _NOT_REPLAYED
        and not redirects(key, value, Path())
    }


def _list_differing(settings: Settings) -> dict[str, object]:
    """Return the settings that differ from their defaults; secrets and addresses are left out."""
    defaults = Settings()
    return {
        key: to_plain(value_of(settings, key))
        for key, info in fields()
        if info.annotation is not SecretStr
        and not key.endswith("url")
        and value_of(settings, key) != value_of(defaults, key)
    }
