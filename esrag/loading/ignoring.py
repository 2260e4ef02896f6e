"""Ignore files, read as git reads them: `.gitignore` in a work tree, `.esragignore` anywhere.

As in ripgrep, a `.gitignore` counts only in a repository, a repository within another one has its
own rules alone, and a folder that is named itself is read even if the rules above it ignore it.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from esrag.errors import ParsingError
from esrag.loading.reading import read_unlinked

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_GIT, _OWN, _EXCLUDE = ".gitignore", ".esragignore", ".git/info/exclude"
_MAX_BYTES = 2**20
_MAX_STARS = 3  # of a name, and `**` of a path: each multiplies the time that a match can take


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Ignore files that apply to the entries of a folder, each with its folder, outermost first."""

    git: tuple[tuple[str, "GitIgnoreSpec"], ...] = ()
    own: tuple[tuple[str, "GitIgnoreSpec"], ...] = ()
    in_repository: bool = False

    def enter(self, folder: Path) -> "IgnoreRules":
        """Return the rules inside a folder below.

        Raises: ParsingError for an ignore file that cannot be used.
        """
        rules = self
        if _is_repository(folder):
            rules = replace(rules, git=_spec(folder, _EXCLUDE), in_repository=True)
        if rules.in_repository:
            rules = replace(rules, git=(*rules.git, *_spec(folder, _GIT)))
        return replace(rules, own=(*rules.own, *_spec(folder, _OWN)))

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Return whether an entry is ignored.

        The innermost rule decides, and a rule of `.esragignore` decides before any other.
        """
        name = f"{path}/" if is_folder else str(path)
        for base, spec in (*reversed(self.own), *reversed(self.git)):
            is_ignored = spec.check_file(name.removeprefix(base)).include
            if is_ignored is not None:
                return is_ignored
        return False


def rules_above(folder: Path) -> IgnoreRules:
    """Return the rules that a named folder inherits, from the root of its repository down.

    Raises: ParsingError for an ignore file that cannot be used.
    """
    places = [folder, *folder.parents]
    top = next((number for number, place in enumerate(places) if _is_repository(place)), 0)
    rules = IgnoreRules()

    for number in range(top, 0, -1):
        rules = rules.enter(places[number])
        if rules.ignores(places[number - 1], is_folder=True):
            rules = IgnoreRules(in_repository=True)
    return rules


def _is_repository(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def _spec(folder: Path, name: str) -> tuple[tuple[str, "GitIgnoreSpec"], ...]:
    """Return the rules of one ignore file with its folder; nothing if it does not exist.

    Raises: ParsingError.
    """
    path = folder / name
    try:
        data = read_unlinked(path, _MAX_BYTES)
    except ParsingError as error:
        raise ParsingError(f"{path} {error}") from error

    lines = [
        _limit_stars(line, path) for line in data.decode("utf-8-sig", "surrogateescape").split("\n")
    ]
    return ((f"{folder}".rstrip("/") + "/", _compile(lines)),) if data.strip() else ()


def _limit_stars(line: str, path: Path) -> str:
    """Return a pattern whose matching takes a bounded time.

    Raises: ParsingError for one with too many stars.
    """
    negation = "!" if line.startswith("!") else ""
    names = line.removeprefix(negation).rstrip("\r").split("/")
    parts = [name if name == "**" else re.sub(r"(?<!\\)\*{2,}", "*", name) for name in names]

    stars = max(parts.count("**"), *(part.count("*") for part in parts if part != "**"), 0)
    if stars > _MAX_STARS and not line.startswith("#"):
        message = (
            f"{path} has a pattern with more than {_MAX_STARS} stars in a name: "
            f"{line.strip()[:80]!r}"
        )
        raise ParsingError(message, hint="write it as several patterns")
    return negation + "/".join(parts)


def _compile(lines: list[str]) -> "GitIgnoreSpec":
    """Return the patterns of an ignore file; as in git, a malformed pattern matches nothing."""
    from pathspec import GitIgnoreSpec

    patterns: list[GitIgnoreSpecPattern] = []
    for line in lines:
        with suppress(ValueError, re.error):
            patterns += GitIgnoreSpec.from_lines([line]).patterns
    return GitIgnoreSpec(patterns)
