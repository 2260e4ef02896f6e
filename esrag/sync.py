"""What an ingest has to do: the files that are there against the documents that are stored.

A file is told by its content: the same bytes under another name are a rename. A stored file is unchanged when all its
documents carry the hash of the bytes that are there now; fewer documents than it holds mean a cut-short ingest.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from esrag.errors import LoadingError
from esrag.loading.listing import ListedFile, Listing
from esrag.loading.reading import require_regular, unreadable
from esrag.records import StoredDocument
from esrag.text import normalise

State = Literal["added", "changed", "renamed"]


@dataclass(frozen=True, slots=True)
class Task:
    """One file to load: the id its document gets, the folder it can be filtered by, what is stored of it now."""

    path: Path
    doc_id: str
    folder: str
    state: State
    stored_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skip:
    """A source or a part of one that is left out, and why; `failed` is False where there was nothing to find."""

    source: str
    reason: str
    failed: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to load, sources that are gone (renames not counted) and their documents, what stays, what is left out."""

    tasks: tuple[Task, ...]
    removed: int
    removed_ids: tuple[str, ...]
    unchanged: int
    skips: tuple[Skip, ...]

    def count(self, state: State) -> int:
        """How many files are in that state."""
        return sum(task.state == state for task in self.tasks)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is stored of one source."""

    doc_ids: tuple[str, ...]
    sha256: str
    complete: bool
    folder: str

    @property
    def base_id(self) -> str:
        """The id that rows of a table share before their `#`."""
        return self.doc_ids[0].partition("#")[0]


def plan(
    listing: Listing, stored: Iterable[StoredDocument], *, keep_missing: bool = False, rebuild: bool = False
) -> Plan:
    """What to load, remove and leave, in the listing's order.

    A rebuild loads every file again, listed or stored, under the id it has; what is gone cannot be taken along.
    """
    known = _by_source(stored)
    listed = [*listing.files, *(_unlisted(listing, known) if rebuild else ())]
    digests, skips = _digests(listed)
    present = [file for file in listed if source_of(file.path) in digests]
    gone = _vanished(listing, known, everywhere=rebuild) if rebuild or not keep_missing else set()
    emptied = {skip.source for skip in skips if not skip.failed} & known.keys()
    ids = document_ids(present, {source: it.base_id for source, it in known.items() if source not in gone})
    before = {} if rebuild else known
    tasks = tuple(_tasks(present, digests, ids, before, Counter(known[source].sha256 for source in gone)))
    removed = len(gone | emptied) - sum(task.state == "renamed" for task in tasks)
    removed_ids = tuple(doc_id for source in sorted(gone | emptied) for doc_id in known[source].doc_ids)
    problems = tuple(Skip(problem.source, problem.reason) for problem in listing.problems)
    return Plan(tasks, removed, removed_ids, len(present) - len(tasks), (*problems, *skips))


def _tasks(
    present: Iterable[ListedFile],
    digests: Mapping[str, str],
    ids: Mapping[str, str],
    known: Mapping[str, "_Known"],
    gone: Counter[str],
) -> Iterator[Task]:
    """The files whose content is not stored yet; `gone` counts the contents that lost their file, by hash."""
    for file in present:
        source = source_of(file.path)
        digest, before = digests[source], known.get(source)
        if before and before.complete and before.sha256 == digest:
            continue
        state: State = "changed" if before else "renamed" if gone[digest] else "added"
        gone[digest] -= state == "renamed"
        folder = Path(file.relative).parent.as_posix().removeprefix(".")
        yield Task(file.path, ids[source], normalise(folder), state, before.doc_ids if before else ())


def source_of(path: Path) -> str:
    """A path as it is stored and shown; bytes that are no UTF-8 are spelled out."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _path_of(source: str) -> Path:
    r"""The path that `source_of` spelled out.

    >>> source_of(_path_of(r"/docs/\udcff.md")) == r"/docs/\udcff.md"
    True
    """
    return Path(re.sub(r"\\u(dc[89a-f][0-9a-f])", lambda match: chr(int(match[1], 16)), source))


def _is_gone(source: str) -> bool:
    """Whether nothing is there any more; a path that may not be looked at is there."""
    try:
        _path_of(source).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def document_ids(files: Sequence[ListedFile], known: Mapping[str, str]) -> dict[str, str]:
    """An id for each file: the one it has, else its stem, else as much of its path as it takes to be the only one."""
    ids = {source_of(file.path): known[source_of(file.path)] for file in files if source_of(file.path) in known}
    taken = set(known.values())
    rest = [file for file in files if source_of(file.path) not in known]
    for candidate in (_stem, _path_without_suffix, _relative_path, _marked_path):
        uses = Counter(candidate(file) for file in files)  # all of them: an ingest cut short must not free a name
        alone = [file for file in rest if uses[candidate(file)] == 1 and candidate(file).strip()]
        named = {source_of(file.path): candidate(file) for file in alone if candidate(file) not in taken}
        ids |= named
        taken |= set(named.values())
        rest = [file for file in rest if source_of(file.path) not in named]
    return ids


def _stem(file: ListedFile) -> str:
    return _plain(Path(file.relative).stem)


def _path_without_suffix(file: ListedFile) -> str:
    return _plain(Path(file.relative).with_suffix("").as_posix())


def _relative_path(file: ListedFile) -> str:
    return _plain(Path(file.relative).as_posix())


def _marked_path(file: ListedFile) -> str:
    mark = hashlib.sha256(source_of(file.path).encode()).hexdigest()[:8]
    return f"{_relative_path(file)}~{mark}"


def _plain(name: str) -> str:
    """A name that can be shown; `#` is left to rows, and what cannot be seen (a line end, a turn to the left) goes."""
    return "".join(mark if mark.isprintable() else "_" for mark in normalise(name).replace("#", "_"))


def _by_source(stored: Iterable[StoredDocument]) -> dict[str, _Known]:
    grouped: dict[str, list[StoredDocument]] = {}
    for document in stored:
        grouped.setdefault(document.source, []).append(document)
    return {source: _known(documents) for source, documents in grouped.items()}


def _known(documents: Sequence[StoredDocument]) -> _Known:
    first = documents[0]
    same = all(document.source_sha256 == first.source_sha256 for document in documents)
    complete = same and len(documents) == first.source_documents
    doc_ids = tuple(document.doc_id for document in documents)
    return _Known(doc_ids, first.source_sha256, complete, str(first.metadata.get("folder", "")))


def _digests(files: Iterable[ListedFile]) -> tuple[dict[str, str], list[Skip]]:
    """The sha256 of each file by source, and the files that are empty or cannot be read."""
    digests: dict[str, str] = {}
    skips: list[Skip] = []
    for file in files:
        source = source_of(file.path)
        try:
            status = file.path.stat()
            require_regular(status.st_mode)
            if status.st_size == 0:
                skips.append(Skip(source, "is empty", failed=False))
            else:
                with file.path.open("rb") as stream:
                    digests[source] = hashlib.file_digest(stream, "sha256").hexdigest()
        except LoadingError as error:
            skips.append(Skip(source, str(error)))
        except OSError as error:
            skips.append(Skip(source, str(unreadable(file.path, error))))
    return digests, skips


def _vanished(listing: Listing, known: Mapping[str, _Known], *, everywhere: bool) -> set[str]:
    """Stored sources that are no longer there, under the folders that were named or everywhere."""
    present = {source_of(file.path) for file in listing.files}
    return {
        source
        for source in known.keys() - present
        if (everywhere or _under(_path_of(source), listing.folders)) and _is_gone(source)
    }


def _unlisted(listing: Listing, known: Mapping[str, _Known]) -> Iterator[ListedFile]:
    """Stored files that are still there and were not named, in the folders they are filtered by."""
    present = {source_of(file.path) for file in listing.files}
    for source in sorted(known.keys() - present):
        path, folder = _path_of(source), Path(known[source].folder)
        if not _is_gone(source):
            yield ListedFile(path, path.parents[len(folder.parts)], (folder / path.name).as_posix())


def _under(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
