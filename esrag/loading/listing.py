"""Files, folders and globs, on disks and in stores → the files to load, each once, in a fixed order."""

import glob
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from esrag.errors import ParsingError
from esrag.loading.sources import is_address, path_of, source_of
from esrag.loading.stores import Place, place_of, told, without_password

_ENDS = ("", "-wal", "-shm", "-journal")  # of what SQLite writes
# Made by programs for themselves, an index of ours among them; what starts with "." is left out as well.
_LEFT_OUT = (
    *("node_modules", "__pycache__", "__MACOSX", "*.pyc", "~$*", "Thumbs.db", "desktop.ini"),
    *("vectors-*.f32", *(f"{name}.sqlite3{end}" for name in ("index", "ledger", "cache") for end in _ENDS)),
)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to load: where it is, and its POSIX path below the folder it was asked for through."""

    source: str
    relative: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An argument or a folder that could not be listed, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found, by argument and then by path, what was not, and the folders that were named."""

    files: tuple[ListedFile, ...]
    problems: tuple[Problem, ...] = ()
    folders: tuple[str, ...] = ()


def list_files(arguments: Sequence[str], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Listing:
    """The files that are named, are below a folder that is named, or match a glob that is named.

    `include` and `exclude` are globs on a file's path below its folder, or on its name; `exclude` leaves out folders
    too. A file that is named itself is always taken. Links are followed, each file and folder once.
    """

    def wanted(relative: str, *, folder: bool = False) -> bool:
        if _matches(relative, _LEFT_OUT) or _name(relative).startswith(".") or _matches(relative, exclude):
            return False
        return folder or not include or _matches(relative, include)

    found = [(_in_store if is_address(argument) else _on_disk)(argument, wanted) for argument in arguments]
    files: dict[str, ListedFile] = {}
    for file in (file for listing in found for file in listing.files):
        files.setdefault(file.source if is_address(file.source) else os.path.realpath(path_of(file.source)), file)
    problems = (problem for listing in found for problem in listing.problems)
    return Listing(tuple(files.values()), tuple(problems), tuple(it for listing in found for it in listing.folders))


def source_named(argument: str) -> str:
    """Return the source that a path or an address names, whether something is there or not."""
    return argument.rstrip("/") if is_address(argument) else source_of(_absolute(argument))


def is_at(source: str, place: str) -> bool:
    """Whether a source is a file that was named, or is below a folder that was.

    >>> is_at("/docs/a.md", "/docs"), is_at("/docs.md", "/docs"), is_at("/docs", "/docs")
    (True, False, True)
    """
    return source == place or source.startswith(f"{place.rstrip('/')}/")


def _on_disk(argument: str, wanted: Callable[..., bool]) -> Listing:
    path = _absolute(argument)
    missing = _missing(path) if argument else "an empty name: name a file or folder"
    problems: list[Problem] = []
    if missing and glob.has_magic(argument):
        return Listing(tuple(_globbed(path, argument, wanted, problems)), tuple(problems))
    if missing:
        return Listing((), (Problem(argument, missing),))
    if _is_folder(path):
        return Listing(tuple(_below(path, path, wanted, problems)), tuple(problems), (source_of(path),))
    return Listing((ListedFile(source_of(path), path.name),))


def _missing(path: Path) -> str:
    """Why a path leads to nothing; "" where something is there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "there is no such file or folder"
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    return ""


def _is_folder(path: Path) -> bool:
    """Whether it is a folder, as far as can be seen: a link may lead to where nothing may be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _globbed(
    pattern: Path, argument: str, wanted: Callable[..., bool], problems: list[Problem]
) -> Iterator[ListedFile]:
    root = next(parent for parent in pattern.parents if not glob.has_magic(str(parent)))
    found = sorted(glob.glob(str(pattern), recursive=True))  # noqa: PTH207 -- Path.glob lists hidden files
    if not found:
        problems.append(Problem(argument, "matches no file"))
    for match in map(Path, found):
        relative = match.relative_to(root).as_posix()
        if not all(wanted(part, folder=True) for part in Path(relative).parts):
            continue
        if _is_folder(match):
            yield from _below(match, root, wanted, problems)
        elif wanted(relative):
            yield ListedFile(source_of(match), relative)


def _below(folder: Path, root: Path, wanted: Callable[..., bool], problems: list[Problem]) -> Iterator[ListedFile]:
    """The wanted files below a folder, sorted; a folder that links lead back to is entered once."""

    def unreadable(error: OSError) -> None:
        problems.append(Problem(str(error.filename), f"cannot be listed: {error.strerror}"))

    entered: set[tuple[int, int]] = set()
    found: list[ListedFile] = []
    for place, folders, names in os.walk(folder, onerror=unreadable, followlinks=True):
        try:
            status = Path(place).stat()
        except OSError as error:
            unreadable(error)
            status = None
        if status is None or (status.st_dev, status.st_ino) in entered:
            folders.clear()
            continue
        entered.add((status.st_dev, status.st_ino))
        below = Path(place).relative_to(root)
        folders[:] = sorted(name for name in folders if wanted((below / name).as_posix(), folder=True))
        relatives = ((below / name).as_posix() for name in names)
        found += [ListedFile(source_of(root / relative), relative) for relative in relatives if wanted(relative)]
    yield from sorted(found, key=lambda file: file.relative)


def _in_store(url: str, wanted: Callable[..., bool]) -> Listing:
    """What an address leads to; nothing but a problem where the store does not tell all of it."""
    try:
        return _found(url.rstrip("/"), wanted)
    except ParsingError as error:
        return Listing((), (Problem(without_password(url), error.line),))


def _found(url: str, wanted: Callable[..., bool]) -> Listing:
    place = place_of(url)
    kind = place.kind()
    if kind == "file":
        return Listing((ListedFile(place.url, _name(place.url)),))
    if kind == "folder":
        return replace(_walked(place, wanted, lambda folder: wanted(folder, folder=True)), folders=(place.url,))
    if not glob.has_magic(url):
        raise ParsingError("there is no such object or folder")
    return _matched(url, wanted)


def _matched(url: str, wanted: Callable[..., bool]) -> Listing:
    from fsspec.utils import glob_translate

    fixed = "/".join(itertools.takewhile(lambda part: not glob.has_magic(part), url.split("/")))
    pattern = url[len(fixed) + 1 :]
    with told():
        matches = re.compile(glob_translate(pattern)).match

    def taken(relative: str) -> bool:
        """Whether it or a folder that it is in matches."""
        return any(matches(part) for part in itertools.accumulate(relative.split("/"), "{}/{}".format))

    def entered(folder: str) -> bool:
        may_match_below = "**" in pattern or folder.count("/") < pattern.count("/")
        return wanted(folder, folder=True) and (may_match_below or taken(folder))

    listing = _walked(place_of(fixed), lambda relative: wanted(relative) and taken(relative), entered)
    return listing if listing.files else replace(listing, problems=(*listing.problems, Problem(url, "matches no file")))


def _walked(root: Place, taken: Callable[[str], bool], entered: Callable[[str], bool]) -> Listing:
    """The files below a folder that are taken, sorted. Raises: ParsingError."""
    problems: list[Problem] = []
    found: list[str] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        for name, is_folder in root.entries(folder):
            relative = f"{folder}/{name}".removeprefix("/")
            if is_folder and entered(relative) and name:
                folders.append(relative)
            elif is_folder and entered(relative):
                problems.append(Problem(f"{root.url}/{relative}", "has names that begin with /, which are not listed"))
            elif not is_folder and taken(relative):
                found.append(relative)
    return Listing(tuple(ListedFile(f"{root.url}/{relative}", relative) for relative in sorted(found)), tuple(problems))


def _absolute(argument: str) -> Path:
    return Path(os.path.abspath(argument.removeprefix("file://")))  # noqa: PTH100 -- links are kept, ".." goes


def _matches(relative: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(relative, pattern) or fnmatchcase(_name(relative), pattern) for pattern in patterns)


def _name(relative: str) -> str:
    return relative.rpartition("/")[2]
