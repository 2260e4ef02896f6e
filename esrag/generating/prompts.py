"""Prompts: the Jinja files `prompt.….txt.j2`, the package's or the user's own.

What documents and questions say is data in them: it is never read as a template, and every line of
a passage begins with "| ", so that no passage can end itself and pose as the prompt.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from traceback import walk_tb
from typing import Any

from jinja2 import (
    ChoiceLoader,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateSyntaxError,
    nodes,
)
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from esrag.citations import REFUSAL
from esrag.errors import SettingsError
from esrag.evidence.selection import render_passage
from esrag.models import Prompt
from esrag.records import Chunk, Evidence
from esrag.text import normalise

SYSTEM, USER = "prompt.system.txt.j2", "prompt.user.txt.j2"
QUOTES, REWRITE, REFORMULATE, INTENT, SUMMARY, DIRECT = (
    "prompt.quotes.txt.j2",
    "prompt.rewrite.txt.j2",
    "prompt.reformulate.txt.j2",
    "prompt.intent.txt.j2",
    "prompt.summary.txt.j2",
    "prompt.direct.txt.j2",
)
VARIABLES: dict[str, frozenset[str]] = {
    SYSTEM: frozenset(("refusal", "max_sentences")),
    USER: frozenset(("question", "evidence")),
    QUOTES: frozenset(),
    REWRITE: frozenset(),
    REFORMULATE: frozenset(),
    INTENT: frozenset(),
    SUMMARY: frozenset(("max_sentences",)),
    DIRECT: frozenset(),
}
EXAMPLE = Evidence(
    "c1",
    Chunk(
        chunk_id="kettle::p0001::c001",
        doc_id="kettle",
        ordinal=0,
        start=0,
        end=23,
        start_page=1,
        end_page=2,
        text="It is red.\nIt is large.",
        title="Kettle",
        section="Size",
    ),
    1,
)
# Loops and calls of a template together; the evidence of one question needs some hundreds.
MAX_TURNS = 100_000


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as a template sees it; no text of it holds a line end."""

    key: str
    source: str
    section: str
    lines: tuple[str, ...]


class Prompts:
    """The templates; a folder of the user's goes before the package's."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder

    @property
    def fingerprint(self) -> str:
        """Return a hash of all templates.

        Raises: SettingsError.
        """
        sources = (self._source(name) for name in VARIABLES)
        return blake2b("\0".join(sources).encode(), digest_size=16).hexdigest()

    def check(self, *, takes_documents: bool = False) -> None:
        """Raise SettingsError for a template that is unreadable, fails, or uses unknown variables.

        It is rendered as for a model that `takes_documents`, or for one that does not.
        """
        for name, known in VARIABLES.items():
            self._check_variables(name, known)

        self.prompt("How large?", [] if takes_documents else [EXAMPLE], 1, quotes=True)
        self.render_rewriting("How large?", ())
        self.render_reformulating("How large?", ())
        self.render_intents("How large?", {})
        self.render_summary("It is large.", 1)
        self.render_direct("Translate it.")

    def _check_variables(self, name: str, known: frozenset[str]) -> None:
        tree = self._parse_template(name)
        used = find_undeclared_variables(tree)
        for node in tree.find_all(nodes.Name):
            if node.name in used - known:
                what = f"{name}, line {node.lineno}: unknown variable {node.name!r}"
                raise SettingsError(what, hint=_hint(name))
        if missing := sorted(known - used):
            raise SettingsError(f"{name} does not use {', '.join(missing)}", hint=_hint(name))

    def prompt(
        self,
        question: str,
        evidence: Sequence[Evidence],
        max_sentences: int,
        *,
        quotes: bool = False,
        metadata: bool = True,
    ) -> Prompt:
        """Return the prompt for a question; with `quotes` it asks for them.

        Without `metadata`, passages have no source and no section.

        Raises: SettingsError for a template that cannot be rendered.
        """
        passages = [_passage(item) for item in evidence]
        if not metadata:
            passages = [replace(passage, source="", section="") for passage in passages]
        system = self._fill(SYSTEM, refusal=REFUSAL, max_sentences=max_sentences)
        system += f"\n{self._fill(QUOTES)}" if quotes else ""
        return Prompt(system, self._fill(USER, question=_one_line(question), evidence=passages))

    def render_rewriting(self, question: str, earlier: Sequence[str]) -> Prompt:
        """Return the prompt for a question that depends on earlier ones.

        Raises: SettingsError.
        """
        asked = [
            *(f"Question: {_one_line(before)}" for before in earlier),
            f"Last question: {_one_line(question)}",
        ]
        return Prompt(self._fill(REWRITE), "\n".join(asked))

    def render_reformulating(self, question: str, searched: Sequence[str]) -> Prompt:
        """Return the prompt for another query, after some that found too little.

        Raises: SettingsError.
        """
        said = [
            f"Question: {_one_line(question)}",
            *(f"Searched for: {_one_line(query)}" for query in searched),
        ]
        return Prompt(self._fill(REFORMULATE), "\n".join(said))

    def render_intents(self, question: str, described: Mapping[str, str]) -> Prompt:
        """Return the prompt for the intent of a question, of those that are described by name.

        Raises: SettingsError.
        """
        said = [
            *(f"Intent: {name}: {_one_line(text)}" for name, text in described.items()),
            f"Question: {_one_line(question)}",
        ]
        return Prompt(self._fill(INTENT), "\n".join(said))

    def render_summary(self, text: str, max_sentences: int) -> Prompt:
        """Return the prompt for the summary of a text. Raises: SettingsError."""
        said = "\n".join(f"| {line}" for line in normalise(text).split("\n"))
        return Prompt(self._fill(SUMMARY, max_sentences=max_sentences), said)

    def render_direct(self, question: str) -> Prompt:
        """Return the prompt for a request that no document answers. Raises: SettingsError."""
        return Prompt(self._fill(DIRECT), normalise(question))

    def _fill(self, name: str, **values: Any) -> str:
        try:
            self._environment.turns = 0
            return self._environment.get_template(name).render(values).strip("\n")
        except (
            TemplateError,
            _Endless,
            ArithmeticError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ) as error:
            raise SettingsError(_line(name, error), hint=_hint(name)) from error

    def _parse_template(self, name: str) -> nodes.Template:
        try:
            return self._environment.parse(self._source(name), name)
        except (TemplateError, RecursionError) as error:
            raise SettingsError(_line(name, error), hint=_hint(name)) from error

    def _source(self, name: str) -> str:
        if self._folder and not Path(self._folder).is_dir():
            raise SettingsError(
                f"generator.templates: there is no folder {self._folder!r}", hint=_hint(name)
            )
        try:
            return self._loader.get_source(self._environment, name)[0]
        except (TemplateError, OSError, UnicodeError) as error:
            raise SettingsError(_line(name, error), hint=_hint(name)) from error

    @cached_property
    def _loader(self) -> ChoiceLoader:
        folders = [*([self._folder] if self._folder else []), str(files("esrag.templates"))]
        return ChoiceLoader([FileSystemLoader(folder) for folder in folders])

    @cached_property
    def _environment(self) -> "_Environment":
        return _Environment(
            loader=self._loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )


class _Endless(Exception):  # noqa: N818 -- no error
    """The loops of a template take too many turns."""


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with a limit on all work of a template.

    Jinja limits a range, but not nested loops or macros.
    """

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, "counted", [], [], None, None, lineno=loop.lineno)
        return tree

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.turns = 0
        self.filters["counted"] = self._iter_counted

    def _iter_counted(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self._count_turn()
            yield value

    def call(self, *arguments: Any, **named: Any) -> Any:
        """Count and make a call, since a macro that calls itself twice would end too late."""
        self._count_turn()
        return super().call(*arguments, **named)

    def _count_turn(self) -> None:
        self.turns += 1
        if self.turns > MAX_TURNS:
            raise _Endless(f"its loops and calls take more than {MAX_TURNS:,} turns")


def _passage(item: Evidence) -> Passage:
    chunk = item.chunk
    last = "" if chunk.start_page == chunk.end_page else f"–{chunk.end_page}"
    source = _one_line(f"{chunk.doc_id}, page {chunk.start_page}{last}, {chunk.chunk_id}")
    return Passage(
        key=item.key,
        source=source,
        section=_one_line(chunk.section or chunk.title),
        lines=tuple(normalise(render_passage(item)).split("\n")),
    )


def _one_line(text: str) -> str:
    return " ".join(normalise(text).split())


def _line(name: str, error: Exception) -> str:
    if isinstance(error, TemplateSyntaxError):
        lines = [error.lineno]
    else:  # Jinja gives its templates frames of their own
        frames = walk_tb(error.__traceback__)
        lines = [line for frame, line in frames if Path(frame.f_code.co_filename).name == name]
    at = f", line {lines[-1]}" if lines else ""
    return f"{name}{at}: {_one_line(str(error)) or type(error).__name__}"


def _hint(name: str) -> str:
    uses = f"it has to use {' and '.join(sorted(VARIABLES[name]))}; " if VARIABLES[name] else ""
    return f"{uses}generator.templates names the folder it is read from"
