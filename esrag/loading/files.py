"""Files, folders and globs, on disks and in stores → the files to load, each once, in order."""

import glob
import itertools
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, get_args

from esrag.errors import ParsingError
from esrag.loading.ignoring import IgnoreRules, rules_above
from esrag.loading.object_stores import Place, place_of, translate_errors, without_password
from esrag.loading.sources import is_address, is_below, path_of, source_of

SQLITE_ENDS = ("", "-wal", "-shm", "-journal")  # of what SQLite writes
# Made by programs for themselves, an index of ours among them; what starts with "." is left out as
# well.
_LEFT_OUT = (
    *("node_modules", "__pycache__", "__MACOSX", "*.pyc", "~$*", "Thumbs.db", "desktop.ini"),
    *("vectors-*.f32", "index.sqlite3-unfinished"),
    *(
        f"{name}.sqlite3{end}"
        for name in ("index", "ledger", "cache", "runs")
        for end in SQLITE_ENDS
    ),
)

_NAMELESS = "has names that begin with /, which are not listed"

Reason = Literal["leads outside", "is ignored", "is listed itself", "is esrag's own"]


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to load: where it is, and its POSIX path below the folder it was asked for through.

    `root` is the real folder that the file must be in when it is read, or "" if links may lead
    anywhere.
    """

    source: str
    relative: str
    root: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """An argument or a folder that could not be listed, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files, folders and links below a named folder that exist and are not taken, and why."""

    folder: str
    reason: Reason
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Files by argument and then by path, what was not found, and the folders that were named."""

    files: tuple[ListedFile, ...]
    problems: tuple[Problem, ...] = ()
    folders: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the files below a folder are taken.

    `include` and `exclude` are globs on a file's path below its folder, or on its name; `exclude`
    leaves out folders too. `own` holds the real paths of esrag's own files: its settings, and what
    it writes.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    follow_links: bool = False
    ignore_files: bool = True
    own: frozenset[str] = frozenset()

    def takes(self, relative: str) -> bool:
        """Return whether a file may be taken, by its path."""
        return self.enters(relative) and (not self.include or _matches(relative, self.include))

    def enters(self, relative: str) -> bool:
        """Return whether a folder may be entered, by its path."""
        is_hidden = _name(relative).startswith(".")
        return (
            not is_hidden
            and not _matches(relative, _LEFT_OUT)
            and not _matches(relative, self.exclude)
        )

    def is_own(self, real: str) -> bool:
        """Return whether a real path is one of esrag's own files, or a side file of SQLite."""
        return any(real.removesuffix(end) in self.own for end in SQLITE_ENDS)


def list_files(arguments: Sequence[str], selection: Selection = Selection()) -> Listing:
    """List files that are named, are below a named folder, or match a named glob.

    A file that is named itself is always taken. A link below a folder is followed only to what is
    in that folder, unless the selection follows links. Each file is listed once, under its own name
    rather than a link's.
    """
    found = [
        (_list_address if is_address(argument) else _list_path)(argument, selection)
        for argument in arguments
    ]
    return Listing(
        files=_without_repeats(file for listing in found for file in listing.files),
        problems=tuple(problem for listing in found for problem in listing.problems),
        folders=tuple(folder for listing in found for folder in listing.folders),
        left_out=tuple(left_out for listing in found for left_out in listing.left_out),
    )


def _without_repeats(files: Iterable[ListedFile]) -> tuple[ListedFile, ...]:
    """Return the files, each once."""
    known: dict[str, ListedFile] = {}
    for file in files:
        source = file.source
        known.setdefault(source if is_address(source) else os.path.realpath(path_of(source)), file)
    return tuple(known.values())


def to_source(argument: str) -> str:
    """Return the source that a path or an address names, whether something is there or not."""
    return argument.rstrip("/") if is_address(argument) else source_of(_absolute(argument))


def _list_path(argument: str, selection: Selection) -> Listing:
    path = _absolute(argument)
    missing = _explain_missing(path) if argument else "an empty name: name a file or folder"
    if missing and glob.has_magic(argument):
        return _list_glob(path, argument, selection)
    if missing:
        return Listing((), (Problem(argument, missing),))
    if _is_folder(path):
        return replace(_Walk(path, selection).listing(), folders=(source_of(path),))
    return Listing((ListedFile(source_of(path), path.name),))


def _explain_missing(path: Path) -> str:
    """Return why a path leads to nothing; "" if it leads to something."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "no such file or folder"
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    return ""


def _is_folder(path: Path) -> bool:
    """Return whether the path is a folder; a link may lead to a place that may not be read."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _list_glob(pattern: Path, argument: str, selection: Selection) -> Listing:
    root = next(parent for parent in pattern.parents if not glob.has_magic(str(parent)))
    try:
        matched = _Matched(pattern.relative_to(root).as_posix())
    except ParsingError as error:
        return Listing((), (Problem(argument, error.line),))

    listing = _Walk(root, selection, matched).listing() if _is_folder(root) else Listing(())
    if listing.files or listing.problems or listing.left_out:
        return listing
    return Listing((), (Problem(argument, "matches no file"),))


class _Matched:
    """The paths below the fixed part of a glob that match it; `**` is any number of folders.

    Raises: ParsingError.
    """

    def __init__(self, pattern: str) -> None:
        from fsspec.utils import glob_translate

        parts = [part if part == "**" else re.sub(r"\*+", "*", part) for part in pattern.split("/")]
        self._depth = None if "**" in parts else len(parts)
        with translate_errors():
            self._matches = re.compile(glob_translate("/".join(parts))).match

    def takes(self, relative: str) -> bool:
        """Return whether the path or a folder that it is in matches."""
        return any(
            self._matches(part)
            for part in itertools.accumulate(relative.split("/"), "{}/{}".format)
        )

    def enters(self, folder: str) -> bool:
        """Return whether something below the folder may match."""
        return self._depth is None or folder.count("/") + 1 < self._depth or self.takes(folder)


@dataclass
class _Walk:
    """Lists what is below one folder on a disk: first what is really there, then what is linked."""

    root: Path
    selection: Selection
    matched: _Matched | None = None
    _found: dict[str, ListedFile] = field(default_factory=dict)  # by real path
    _problems: list[Problem] = field(default_factory=list)
    _entered: set[tuple[int, int]] = field(default_factory=set)
    _links: deque[tuple[Path, IgnoreRules]] = field(default_factory=deque)
    _left_out: dict[Reason, list[str]] = field(
        default_factory=lambda: {reason: [] for reason in get_args(Reason)}
    )

    def listing(self) -> Listing:
        """Return the files, sorted by path, and what was left out."""
        self._real_root = os.path.realpath(self.root)
        self._scan(self.root, self._rules_above())

        while self._links:
            self._follow(*self._links.popleft())

        files = sorted(self._found.values(), key=lambda file: file.relative)
        return Listing(tuple(files), tuple(self._problems), left_out=tuple(self._accounts()))

    def _scan(self, folder: Path, rules: IgnoreRules) -> None:
        """Take the files in and below a folder; links wait until everything real is known."""
        waiting = [(folder, rules)]
        while waiting:
            place, above = waiting.pop()
            try:
                names = self._enter(place)
            except OSError as error:
                self._problems.append(
                    Problem(str(error.filename), f"cannot be listed: {error.strerror}")
                )
            else:
                waiting += self._sort_out(place, names, self._rules(above, place))

    def _sort_out(
        self, place: Path, names: Iterable[tuple[str, bool]], rules: IgnoreRules
    ) -> Iterator[tuple[Path, IgnoreRules]]:
        """Take the files in a folder, put links aside, and yield the folders to enter."""
        real = os.path.realpath(place).rstrip("/")
        for name, is_link in names:
            path = place / name
            is_folder = _is_folder(path)
            if not self._wants(path, rules, is_folder=is_folder):
                continue
            if is_link:
                self._links.append((path, rules))
            elif is_folder:
                yield path, rules
            else:
                self._take(path, f"{real}/{name}")

    def _enter(self, place: Path) -> list[tuple[str, bool]]:
        """Return the sorted names in a folder and whether each is a link; nothing if visited."""
        status = place.stat()
        if (status.st_dev, status.st_ino) in self._entered:
            return []
        self._entered.add((status.st_dev, status.st_ino))
        with os.scandir(place) as entries:
            return sorted((entry.name, entry.is_symlink()) for entry in entries)

    def _rules_above(self) -> IgnoreRules:
        """Return the rules above the folder; an ignore file that cannot be used is a problem."""
        try:
            return (
                rules_above(Path(self._real_root)) if self.selection.ignore_files else IgnoreRules()
            )
        except ParsingError as error:
            self._problems.append(Problem(source_of(self.root), error.line))
            return IgnoreRules()

    def _rules(self, above: IgnoreRules, place: Path) -> IgnoreRules:
        """Return the rules inside a folder; an ignore file that cannot be used is a problem."""
        if not self.selection.ignore_files:
            return above
        try:
            return above.enter(self._in_root(place))
        except ParsingError as error:
            self._problems.append(Problem(source_of(place), error.line))
            return above

    def _wants(self, path: Path, rules: IgnoreRules, *, is_folder: bool) -> bool:
        """Return whether to take or enter an entry, and count what an ignore file leaves out."""
        relative = self._relative(path)
        select = self.selection.enters if is_folder else self.selection.takes
        match = self.matched and (self.matched.enters if is_folder else self.matched.takes)
        if not select(relative) or (match and not match(relative)):
            return False
        if rules.ignores(self._in_root(path), is_folder=is_folder):
            self._left_out["is ignored"].append(source_of(path))
            return False

        return True

    def _follow(self, path: Path, rules: IgnoreRules) -> None:
        """Take what a link leads to, unless that is outside or was taken already."""
        real = os.path.realpath(path)
        if not self.selection.follow_links and not is_below(real, self._real_root):
            self._left_out["leads outside"].append(source_of(path))
        elif real in self._found or self._was_entered(path):
            self._left_out["is listed itself"].append(source_of(path))
        elif _is_folder(path):
            self._scan(path, rules)
        else:
            self._take(path, real)

    def _was_entered(self, path: Path) -> bool:
        try:
            status = path.stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) in self._entered

    def _take(self, path: Path, real: str) -> None:
        if self.selection.is_own(real):
            self._left_out["is esrag's own"].append(source_of(path))
        else:
            root = "" if self.selection.follow_links else source_of(Path(self._real_root))
            self._found.setdefault(real, ListedFile(source_of(path), self._relative(path), root))

    def _accounts(self) -> Iterator[LeftOut]:
        """Yield what was left out, by its reason."""
        for reason, paths in self._left_out.items():
            if paths:
                yield LeftOut(source_of(self.root), reason, tuple(paths))

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _in_root(self, path: Path) -> Path:
        """Return the path by the real name of the folder that was named, to find its repository."""
        return Path(self._real_root, self._relative(path))


def _list_address(url: str, selection: Selection) -> Listing:
    """Return what an address leads to, or only a problem if the store does not list all of it."""
    try:
        return _list_store(url.rstrip("/"), selection)
    except ParsingError as error:
        return Listing((), (Problem(without_password(url), error.line),))


def _list_store(url: str, selection: Selection) -> Listing:
    place = place_of(url)
    kind = place.kind()
    if kind == "file":
        return Listing((ListedFile(place.url, _name(place.url)),))
    if kind == "folder":
        return replace(_walk(place, selection.takes, selection.enters), folders=(place.url,))
    if not glob.has_magic(url):
        raise ParsingError("no such object or folder")
    return _list_store_glob(url, selection)


def _list_store_glob(url: str, selection: Selection) -> Listing:
    fixed = "/".join(itertools.takewhile(lambda part: not glob.has_magic(part), url.split("/")))
    matched = _Matched(url[len(fixed) + 1 :])

    def takes(relative: str) -> bool:
        return selection.takes(relative) and matched.takes(relative)

    def enters(folder: str) -> bool:
        return selection.enters(folder) and matched.enters(folder)

    listing = _walk(place_of(fixed), takes, enters)
    if listing.files:
        return listing
    return replace(listing, problems=(*listing.problems, Problem(url, "matches no file")))


def _walk(root: Place, takes: Callable[[str], bool], enters: Callable[[str], bool]) -> Listing:
    """Return the files below a folder that are taken, sorted.

    Raises: ParsingError.
    """
    problems: list[Problem] = []
    found: list[str] = []
    folders = [""]

    while folders:
        folder = folders.pop()
        for name, is_folder in root.entries(folder):
            relative = f"{folder}/{name}".removeprefix("/")
            if is_folder and enters(relative) and name:
                folders.append(relative)
            elif is_folder and enters(relative):
                problems.append(Problem(f"{root.url}/{relative}", _NAMELESS))
            elif not is_folder and takes(relative):
                found.append(relative)

    files = tuple(ListedFile(f"{root.url}/{relative}", relative) for relative in sorted(found))
    return Listing(files, tuple(problems))


def _absolute(argument: str) -> Path:
    return Path(os.path.abspath(argument.removeprefix("file://")))  # noqa: PTH100 -- links are kept, ".." goes


def _matches(relative: str, patterns: Sequence[str]) -> bool:
    return any(
        fnmatchcase(relative, pattern) or fnmatchcase(_name(relative), pattern)
        for pattern in patterns
    )


def _name(relative: str) -> str:
    return relative.rpartition("/")[2]
