"""`esrag chat`: question after question, each of which may lean on those before."""

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import retrieval_options, settings_of
from esrag.cli.output import print_json, print_text, remark
from esrag.cli.streams import read_line, stop_unread
from esrag.errors import EsragError, UsageError

if TYPE_CHECKING:
    from esrag.context import Context
    from esrag.filters import Filter
    from esrag.results import AskResult

HELP = "/sources: the evidence of the last answer; /explain: how it came about; /new: forget what was asked; /quit"


@click.command()
@retrieval_options
def chat(*, as_json: bool, where: tuple[str, ...], **options: Any) -> int:
    """Ask question after question, each understood from those before.

    One such as "And of ML-KEM-1024?" is put into words of its own first; stderr says so. Commands: /sources, /explain,
    /new, /quit. What was asked is kept by this command alone. In a pipe each line of stdin is a question, and the exit
    code is the first error's; with --json each answer or error is a line.
    """
    from esrag.context import open_context
    from esrag.filters import parse_all
    from esrag.retrieving.conditions import check_filter

    stop_unread()
    conversation = Conversation(open_context(settings_of(**options)), parse_all(where), as_json=as_json)
    conversation.context.generator()  # a missing key or a wrong filter is reported before the first question
    check_filter(conversation.where, conversation.context.engine)
    if sys.stdin.isatty():
        remark(HELP)
        return _talk(conversation)
    for line in iter(read_line, ""):
        if line.strip() == "/quit":
            break
        if line.strip():
            conversation.take(line.strip())
    return conversation.code


def _talk(conversation: "Conversation") -> int:
    """Answer what is typed until /quit or Ctrl-D. Ctrl-C cancels an answer or drops the line; two in a row end it."""
    interrupted = False
    while True:
        line = ""
        try:
            click.echo("> ", nl=False, err=True)
            line = read_line()
            if not line or line.strip() == "/quit":
                return 0

            interrupted = False
            if line.strip():
                conversation.take(line.strip())
        except KeyboardInterrupt:  # before a line is complete the terminal has dropped what was typed
            click.echo(err=True)
            if not line and interrupted:
                remark("the chat is over")
                return 0

            interrupted = not line
            drops = "Ctrl-C once more, or Ctrl-D, ends the chat"
            remark(drops if interrupted else "the answer was cancelled; Ctrl-D ends the chat")


@dataclass(slots=True)
class Conversation:
    """What was asked so far, each question as one of its own, and the last answer."""

    context: "Context"
    where: "Filter | None"
    as_json: bool
    earlier: list[str] = field(default_factory=list)
    last: "AskResult | None" = None
    typed: str = ""  # what the last answer is for; its question may be in other words
    code: int = 0  # the first error's

    def take(self, line: str) -> None:
        """Answers a question, or does what a command says; an error ends the question, not the conversation."""
        commands = {"/sources": self._sources, "/explain": self._explain, "/new": self._forget}
        try:
            if not line.startswith("/"):
                self._ask(line)
            elif line in commands:
                commands[line]()
            else:
                raise UsageError(f"there is no command {line.split(maxsplit=1)[0][:40]!r}", hint=HELP)
        except EsragError as error:
            remark(f"error: {error.line}")
            self.code = self.code or error.exit_code
            if self.as_json:
                print_json(_failed(line, error))

    def _ask(self, line: str) -> None:
        from esrag.cli.ask import show_answer
        from esrag.pipeline import ask, resolve_followup
        from esrag.retrieving.legs import prepare_question

        typed = prepare_question(line)
        question = resolve_followup(typed, self.earlier, self.context)
        if question != typed:
            remark(f"asked: {question}")
        self.last, self.typed = ask(question, self.context, self.where), typed
        self.earlier.append(question)
        if self.as_json:
            self._print_json()
        else:
            show_answer(self.last)

    def _sources(self) -> None:
        self._show("evidence.txt.j2", evidence=True)

    def _explain(self) -> None:
        self._show("explain.txt.j2", explain=True)

    def _show(self, template: str, *, evidence: bool = False, explain: bool = False) -> None:
        """Print a part of the last answer by its template, or the whole with that part as JSON."""
        from esrag.cli.rendering import render

        asked = self._answered()
        if self.as_json:
            self._print_json(evidence=evidence, explain=explain)
        else:
            values = {"evidence": asked.evidence, "model": asked.model, "kibana_url": ""}
            print_text(render(template, asked=asked, **values))

    def _print_json(self, *, evidence: bool = False, explain: bool = False) -> None:
        from esrag.cli.ask import Parts, to_dict

        answer = to_dict(self._answered(), "", Parts(evidence=evidence, prompt=False, explain=explain))
        print_json(answer | {"typed": self.typed})

    def _forget(self) -> None:
        self.earlier.clear()
        self.last = None

    def _answered(self) -> "AskResult":
        if self.last is None:
            raise UsageError("nothing was asked yet", hint="type a question")
        return self.last


def _failed(line: str, error: EsragError) -> dict[str, Any]:
    """Return an error as JSON, in place of an answer."""
    from esrag.text import normalise

    said = {"error": str(error), "hint": error.hint, "exit_code": error.exit_code}
    return {"schema": "esrag.error/1", "question": normalise(line)} | said
