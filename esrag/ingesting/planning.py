"""What an ingest has to do: the files that are there against the documents that are stored.

A file is identified by its content: equal bytes under another name are a rename. A stored file is
unchanged if all its documents carry the hash of the bytes that are there now, and were enriched by
the rules of today; fewer documents than it holds mean a cut-short ingest.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType

from esrag.errors import LoadingError
from esrag.ingesting import Skip, State, Task
from esrag.loading.files import LeftOut, ListedFile, Listing, Problem, Reason, to_source
from esrag.loading.object_stores import place_of
from esrag.loading.reading import sha256_of
from esrag.loading.sources import is_address, is_below, path_of
from esrag.records import StoredDocument
from esrag.text import format_count, normalise

_OF_NOTHING = hashlib.sha256().hexdigest()

_LEFT_OUT: Mapping[Reason, str] = {
    "leads outside": (
        "left out because links are not followed out of this folder (--follow-links follows them)"
    ),
    "is ignored": "left out by .gitignore or .esragignore (--no-ignore reads what they name)",
    "is listed itself": (
        "left out because links to files of this folder are listed by the files' own names"
    ),
    "is esrag's own": "left out because esrag reads its settings there, or writes there itself",
}
_EMPTIED = "the folder is empty (is its disk mounted?)"
_QUIET = {"is listed itself", "is esrag's own"}  # reported only if documents are removed


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to load, sources that are gone, files that stay, and files that are left out.

    `removed` counts the gone sources without renames. `left_out` are the gone sources whose files
    still exist, but are no longer selected.
    """

    tasks: tuple[Task, ...]
    removed: int
    gone: tuple[str, ...]
    unchanged: int
    skips: tuple[Skip, ...]
    left_out: tuple[str, ...] = ()

    def count(self, state: State) -> int:
        """Return how many files are in that state."""
        return sum(task.state == state for task in self.tasks)


@dataclass(frozen=True, slots=True)
class StoredSource:
    """The stored documents of one source; rows of a table share `base_id` before their `#`.

    It is `complete` if all of its documents are stored, and were read from the same bytes and
    enriched by the same rules.
    """

    base_id: str
    sha256: str
    count: int
    complete: bool
    folder: str
    rules: str = ""


def _problems(listing: Listing, known: Mapping[str, StoredSource]) -> Iterator[Skip]:
    """Yield what could not be listed, with what to do about it."""
    for problem in listing.problems:
        yield Skip(problem.source, _add_advice(problem, known))


def plan(  # noqa: PLR0913 -- what was asked for, and what is known
    listing: Listing,
    known: Mapping[str, StoredSource],
    *,
    keep_missing: bool = False,
    rebuild: bool = False,
    max_bytes: int = sys.maxsize,
    promised: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """Return what to load, remove and leave, in the listing's order.

    A rebuild loads every file again, listed or stored, under its id; what is gone cannot be copied.
    A file larger than `max_bytes` is left out unread. `promised` are ids of files that are not
    stored yet.

    Raises: LoadingError if a store does not say whether a stored source is still there.
    """
    is_pruned = rebuild or not keep_missing
    listing = listing if keep_missing else _spare_emptied(listing, known)
    left_out = _find_left_out(listing, known) if is_pruned else {}
    unwanted = set[str]().union(*left_out.values())
    gone = unwanted | (_find_vanished(listing, known, everywhere=rebuild) if is_pruned else set())
    listed = [*listing.files, *(_iter_unlisted(listing, known, gone) if rebuild else ())]
    digests, skips = _hash_files(listed, max_bytes)
    present = [file for file in listed if file.source in digests]
    emptied = {skip.source for skip in skips if not skip.failed} & known.keys()
    stored_ids = {source: it.base_id for source, it in known.items() if source not in gone}
    ids = document_ids(present, {**promised, **stored_ids})
    former = Counter(known[source].sha256 for source in gone)
    tasks = tuple(_iter_tasks(present, digests, ids, {} if rebuild else known, former))
    removed = len(gone | emptied) - sum(task.state == "renamed" for task in tasks)

    return Plan(
        tasks=tasks,
        removed=removed,
        gone=tuple(sorted(gone | emptied)),
        unchanged=len(present) - len(tasks),
        skips=(*_problems(listing, known), *_accounts(listing, left_out), *skips),
        left_out=tuple(sorted(unwanted)),
    )


def _iter_tasks(
    present: Iterable[ListedFile],
    digests: Mapping[str, str],
    ids: Mapping[str, str],
    known: Mapping[str, StoredSource],
    gone: Counter[str],
) -> Iterator[Task]:
    """Yield a task for each file whose content is not stored yet.

    `gone` counts the contents that lost their file, by hash.
    """
    for file in present:
        digest, before = digests[file.source], known.get(file.source)
        if before and before.complete and before.sha256 == digest:
            continue

        yield Task(
            source=file.source,
            doc_id=ids[file.source],
            folder=_folder_of(file),
            state="changed" if before else _match_gone(digest, gone),
            sha256=digest,
            root=file.root,
        )


def _folder_of(file: ListedFile) -> str:
    """Return the folder to filter a document by, "" for the named folder itself."""
    return normalise(Path(file.relative).parent.as_posix().removeprefix("."))


def _match_gone(digest: str, gone: Counter[str]) -> State:
    """Return the state of a new file, and take its content off the gone ones if it is theirs."""
    if not gone[digest]:
        return "added"
    gone[digest] -= 1
    return "renamed"


def is_emptied(source: str) -> bool:
    """Return whether a file exists and is empty."""
    try:
        return not is_address(source) and path_of(source).stat().st_size == 0
    except OSError:
        return False


def is_gone(source: str) -> bool:
    """Return whether no file is there any more; False for a path without access.

    A folder that has a file's name by now is no file.

    Raises: LoadingError if a store does not say.
    """
    if is_address(source):
        try:
            return place_of(source).kind() != "file"
        except LoadingError as error:
            raise LoadingError(f"{source}: {error}", hint=error.hint) from error
    path = path_of(source)
    try:
        path.lstat()
        return path.is_dir()
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)


def document_ids(files: Sequence[ListedFile], known: Mapping[str, str]) -> dict[str, str]:
    """Return an id for each file.

    That is the id it has, else its stem, else as much of its path as makes it unique.
    """
    ids = {file.source: known[file.source] for file in files if file.source in known}

    for candidate in (_stem, _path_without_suffix, _relative_path, _path_with_mark):
        # All of them: an ingest cut short must not free a name.
        uses = Counter(map(candidate, files))
        taken = {*known.values(), *ids.values()}
        free = {name for name, count in uses.items() if count == 1 and name.strip()} - taken
        rest = [file for file in files if file.source not in ids]
        ids |= {file.source: candidate(file) for file in rest if candidate(file) in free}

    return ids


def _stem(file: ListedFile) -> str:
    return _replace_invisible(Path(file.relative).stem)


def _path_without_suffix(file: ListedFile) -> str:
    return _replace_invisible(Path(file.relative).with_suffix("").as_posix())


def _relative_path(file: ListedFile) -> str:
    return _replace_invisible(Path(file.relative).as_posix())


def _path_with_mark(file: ListedFile) -> str:
    mark = hashlib.sha256(file.source.encode()).hexdigest()[:8]
    return f"{_relative_path(file)}~{mark}"


def _replace_invisible(name: str) -> str:
    """Return a name that can be shown, with "_" for `#` and for invisible characters.

    `#` is reserved for rows. Invisible are, for example, a line end and a change of direction.
    """
    return "".join(
        mark if mark.isprintable() else "_" for mark in normalise(name).replace("#", "_")
    )


def require_rules(stored: Mapping[str, StoredSource], rules: str) -> dict[str, StoredSource]:
    """Return the sources, complete only if they were enriched by these rules.

    The others are loaded again, and their chunks keep their vectors.
    """
    return {
        source: replace(it, complete=it.complete and it.rules == rules)
        for source, it in stored.items()
    }


def group_by_source(documents: Iterable[StoredDocument]) -> dict[str, StoredSource]:
    """Return the stored documents by source.

    A source of two million documents takes no more memory than a source of one.
    """
    first: dict[str, StoredDocument] = {}
    counts: Counter[str] = Counter()
    mixed: set[str] = set()
    for document in documents:
        before = first.setdefault(document.source, document)
        counts[document.source] += 1
        if (document.source_sha256, document.rules) != (before.source_sha256, before.rules):
            mixed.add(document.source)

    return {
        source: _summarise(one, counts[source], is_mixed=source in mixed)
        for source, one in first.items()
    }


def _summarise(first: StoredDocument, count: int, *, is_mixed: bool) -> StoredSource:
    """Return a source with so many documents; `is_mixed` if they are not all of the same bytes."""
    return StoredSource(
        base_id=first.doc_id.partition("#")[0],
        sha256=first.source_sha256,
        count=count,
        complete=not is_mixed and count == first.source_documents,
        folder=str(first.metadata.get("folder", "")),
        rules=first.rules,
    )


def _hash_files(files: Iterable[ListedFile], max_bytes: int) -> tuple[dict[str, str], list[Skip]]:
    """Return the sha256 of each file by source, and the files that are empty or unreadable."""
    found = [(file.source, _hash(file.source, max_bytes)) for file in files]
    digests = {source: it for source, it in found if isinstance(it, str)}
    return digests, [it for _, it in found if isinstance(it, Skip)]


def _hash(source: str, max_bytes: int) -> str | Skip:
    """Return the sha256 of a file, or that it is empty or why it is unreadable."""
    try:
        digest = sha256_of(source, max_bytes)
    except LoadingError as error:
        return Skip(source, error.line)
    return Skip(source, "is empty", failed=False) if digest == _OF_NOTHING else digest


def _find_vanished(
    listing: Listing, known: Mapping[str, StoredSource], *, everywhere: bool
) -> set[str]:
    """Return stored sources that are gone, in the named folders or everywhere."""
    absent = sorted(known.keys() - {file.source for file in listing.files})
    folders = listing.folders
    return {
        source
        for source in absent
        if (everywhere or any(is_below(source, folder) for folder in folders)) and is_gone(source)
    }


def _spare_emptied(listing: Listing, known: Mapping[str, StoredSource]) -> Listing:
    """Return a listing in which a named folder with nothing left is missing, not emptied.

    The folder on which a disk is mounted is such a one without the disk.
    """
    emptied = [
        folder
        for folder in listing.folders
        if not is_address(folder)
        and any(is_below(source, folder) for source in known)
        and _is_empty(path_of(folder))
    ]
    problems = (Problem(folder, _EMPTIED) for folder in emptied)
    folders = tuple(folder for folder in listing.folders if folder not in emptied)
    return replace(listing, folders=folders, problems=(*listing.problems, *problems))


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


def _find_left_out(listing: Listing, known: Mapping[str, StoredSource]) -> dict[LeftOut, set[str]]:
    """Return stored sources that exist but are no longer selected, by the reason."""
    present = {file.source for file in listing.files}
    absent = known.keys() - present
    found: dict[LeftOut, set[str]] = {}

    for left_out in listing.left_out if absent else ():
        paths = set(left_out.paths)
        below = (source for source in absent if is_below(source, left_out.folder))
        found[left_out] = {
            source for source in below if paths & {source, *map(str, Path(source).parents)}
        }
    return found


def _accounts(listing: Listing, removed: Mapping[LeftOut, set[str]]) -> Iterator[Skip]:
    """Yield a line for each reason for which something in a folder was left out."""
    for left_out in listing.left_out:
        gone = len(removed.get(left_out, ()))
        if gone or left_out.reason not in _QUIET:
            also = (
                f"; what was stored of {format_count(gone, 'file')} before is removed"
                if gone
                else ""
            )
            found = format_count(len(left_out.paths), "path")
            yield Skip(left_out.folder, f"{found} {_LEFT_OUT[left_out.reason]}{also}", failed=False)


def _iter_unlisted(
    listing: Listing, known: Mapping[str, StoredSource], gone: Collection[str]
) -> Iterator[ListedFile]:
    """Yield stored files that still exist and were not named, with the folders to filter by."""
    for source in sorted(known.keys() - {file.source for file in listing.files} - set(gone)):
        yield ListedFile(
            source, (Path(known[source].folder) / source.rpartition("/")[2]).as_posix()
        )


def _add_advice(problem: Problem, known: Mapping[str, StoredSource]) -> str:
    """Return why a source cannot be listed, and how to remove its stored documents, if any."""
    is_missing = problem.reason.startswith("no such ") or problem.reason == _EMPTIED
    place = to_source(problem.source) if is_missing else ""
    count = sum(it.count for source, it in known.items() if place and is_below(source, place))
    if not count:
        return problem.reason
    what = "its document" if count == 1 else f"its {format_count(count, 'document')}"
    return f"{problem.reason}; to remove {what}: esrag remove --source {quote(problem.source)}"
