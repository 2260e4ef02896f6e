"""Files, folders and globs → the files to load, each once, in a fixed order."""

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

# Made by programs for themselves, an index of ours among them; what starts with "." is left out as well.
_LEFT_OUT = (
    *("node_modules", "__pycache__", "__MACOSX", "*.pyc", "~$*", "Thumbs.db", "desktop.ini"),
    *("index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm", "vectors-*.f32"),
)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to load: its absolute path, the folder it was asked for through, and its POSIX path below that."""

    path: Path
    root: Path
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
    problems: tuple[Problem, ...]
    folders: tuple[Path, ...] = ()


def list_files(arguments: Sequence[str], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Listing:
    """The files that are named, are below a folder that is named, or match a glob that is named.

    `include` and `exclude` are globs on a file's path below its folder, or on its name; `exclude` leaves out folders
    too. A file that is named itself is always taken. Links are followed, each file and folder once.
    """
    problems: list[Problem] = []
    files: dict[str, ListedFile] = {}

    def wanted(relative: str, *, folder: bool = False) -> bool:
        if _matches(relative, _LEFT_OUT) or _name(relative).startswith(".") or _matches(relative, exclude):
            return False
        return folder or not include or _matches(relative, include)

    for argument in arguments:
        for file in _listed(argument, wanted, problems):
            files.setdefault(os.path.realpath(file.path), file)
    folders = tuple(path for path in map(_absolute, filter(None, arguments)) if _is_folder(path))
    return Listing(tuple(files.values()), tuple(problems), folders)


def _listed(argument: str, wanted: Callable[..., bool], problems: list[Problem]) -> Iterator[ListedFile]:
    path = _absolute(argument)
    missing = _missing(path) if argument else "an empty name: name a file or folder"
    if missing and glob.has_magic(argument):
        yield from _globbed(path, argument, wanted, problems)
    elif missing:
        problems.append(Problem(argument, missing))
    elif _is_folder(path):
        yield from _below(path, path, wanted, problems)
    else:
        yield ListedFile(path, path.parent, path.name)


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
            yield ListedFile(match, root, relative)


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
        found += [ListedFile(root / relative, root, relative) for relative in relatives if wanted(relative)]
    yield from sorted(found, key=lambda file: file.relative)


def _absolute(argument: str) -> Path:
    return Path(os.path.abspath(argument))  # noqa: PTH100 -- links are kept, ".." goes


def _matches(relative: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(relative, pattern) or fnmatchcase(_name(relative), pattern) for pattern in patterns)


def _name(relative: str) -> str:
    return relative.rpartition("/")[2]
