"""Saved records, which are files that anybody may have written."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from esrag.errors import EsragError, UsageError
from esrag.private import opener
from esrag.runs import SCHEMA

MAX_BYTES = 64 * 2**20


class _Hit(BaseModel):
    model_config = ConfigDict(extra="allow")
    chunk_id: str


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow")
    question: str
    answer: str
    refused: bool
    reason: str
    confidence: float
    model: str
    hits: list[_Hit]


class _Record(BaseModel):
    model_config = ConfigDict(extra="allow")
    run_id: str
    settings: dict[str, Any]
    where: dict[str, Any]
    answer: _Answer


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a file.

    Raises: UsageError if it cannot be read or is not a record.
    """
    record = _load(path)
    if record.get("schema") != SCHEMA:
        found = f"{str(record.get('schema'))[:40]!r}"
        raise UsageError(f"{path} is not a record of {SCHEMA}, found {found}", hint=_HINT)
    return dict(record)


def _load(path: Path) -> Any:
    try:
        _require_small(path)
        record = json.loads(path.read_bytes())
        _Record.model_validate(record)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path} is not a record: {_explain(error)}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON", hint=_HINT) from error
    return record


def _require_small(path: Path) -> None:
    if path.stat().st_size > MAX_BYTES:
        hint = "esrag ask --save writes a record"
        raise UsageError(f"{path} has more than {MAX_BYTES:,} bytes", hint=hint)


def _explain(error: ValidationError) -> str:
    """Return the first thing that is wrong, with its key."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    return f"{key or 'it'}: {first['msg'].lower()}"


_HINT = "esrag ask --save FILE writes a record"


def check_target(path: Path) -> None:
    """Check that a record can be written to a file. Raises: UsageError."""
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(
            f"cannot write {path}: there is no folder {folder}",
            hint="name a file in a folder that exists",
        )
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(
            f"cannot write {path}: it is a folder, or you may not write there",
            hint="name a file that you may write",
        )


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record to a file that only its user can read. Raises: EsragError."""
    try:
        with open(path, "w", encoding="utf-8", opener=opener) as file:
            json.dump(record, file, ensure_ascii=False, allow_nan=False, indent=1)
            file.write("\n")
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it holds no valid text"
        raise EsragError(
            f"the run was not saved: {path} cannot be written: {cause}",
            hint="what was printed is complete; name another file",
        ) from error
