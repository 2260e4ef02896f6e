"""`esrag chat`: a conversation, in which a question may refer to earlier ones."""

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import answer_options, settings_of
from esrag.cli.output import print_json, print_text, remark
from esrag.cli.streams import read_line, stop_unread
from esrag.errors import EsragError, UsageError

if TYPE_CHECKING:
    from esrag.context import Context
    from esrag.filters import Filter
    from esrag.generating.followups import Turn
    from esrag.models.metering import ModelCall
    from esrag.results import AskResult

HELP = (
    "/sources: show the evidence; /explain: show how the answer was found; /new: "
    "forget earlier questions; /quit"
)


@click.command()
@answer_options
def chat(*, as_json: bool, where: tuple[str, ...], **options: Any) -> int:
    """Ask questions in a conversation, with follow-ups.

    A follow-up such as "And of ML-KEM-1024?" is first rewritten as a standalone question, which is
    printed on stderr. Commands: /sources, /explain, /new, /quit. Earlier questions are kept only
    while the command runs. If stdin is a pipe, each line is a question, and the exit code is that
    of the first error. With --json, each answer or error is one line.
    """
    from esrag.context import open_context
    from esrag.filters import parse_all
    from esrag.retrieving.filter_check import check_filter

    stop_unread()
    conversation = Conversation(
        open_context(settings_of(**options)), parse_all(where), as_json=as_json
    )
    conversation.context.open_writers()  # a missing key is reported before the first question
    check_filter(conversation.where, conversation.context.engine)
    return _talk(conversation) if sys.stdin.isatty() else _answer_lines(conversation)


def _answer_lines(conversation: "Conversation") -> int:
    """Answer the questions of a pipe, one a line, and return the exit code of the first error."""
    for line in iter(read_line, ""):
        if line.strip() == "/quit":
            break
        if line.strip():
            conversation.take(line.strip())
    return conversation.code


def _talk(conversation: "Conversation") -> int:
    """Answer questions until /quit or Ctrl-D.

    Ctrl-C cancels an answer or drops the line; two in a row end the chat.
    """
    remark(HELP)
    interrupted = False

    while True:
        line = ""
        try:
            click.echo("> ", nl=False, err=True)
            line = read_line()
            if not line or line.strip().lower() in {"/quit", "quit", "exit"}:
                return 0

            interrupted = False
            if line.strip():
                conversation.take(line.strip())
        except KeyboardInterrupt:  # the terminal has dropped what was typed on an incomplete line
            click.echo(err=True)
            if not line and interrupted:
                remark("chat ended")
                return 0

            interrupted = not line
            drops = "press Ctrl-C again or Ctrl-D to end the chat"
            remark(drops if interrupted else "answer cancelled; press Ctrl-D to end the chat")


@dataclass(slots=True)
class Conversation:
    """The questions so far, each in standalone form with its answer, and the last answer."""

    context: "Context"
    where: "Filter | None"
    as_json: bool
    earlier: "list[Turn]" = field(default_factory=list)
    last: "AskResult | None" = None
    typed: str = ""  # the question as typed; the last answer may be to a rewritten one
    code: int = 0  # that of the first error

    def take(self, line: str) -> None:
        """Answer a question or run a command; an error does not end the conversation."""
        commands = {"/sources": self._sources, "/explain": self._explain, "/new": self._forget}
        try:
            if not line.startswith("/"):
                self._ask(line)
            elif line in commands:
                commands[line]()
            else:
                raise UsageError(f"unknown command {line.split(maxsplit=1)[0][:40]!r}", hint=HELP)
        except EsragError as error:
            remark(f"error: {error.line}")
            self.code = self.code or error.exit_code
            if self.as_json:
                print_json(_to_error(line, error))

    def _ask(self, line: str) -> None:
        from esrag.parts import turn_of
        from esrag.pipeline import ask, resolve_followup
        from esrag.retrieving.legs import prepare_question

        typed = prepare_question(line)
        calls: list[ModelCall] = []
        question = resolve_followup(typed, self.earlier, self.context.with_recorder(calls.append))
        if question != typed:
            remark(f"asked: {question}")
        self.last = ask(question, self.context, self.where).with_calls(calls)
        self.typed = typed
        if self.last.route != "direct":  # "thanks" is nothing that a question could lean on
            self.earlier.append(turn_of(self.last))
        self._show_answer()

    def _show_answer(self) -> None:
        """Print the last answer."""
        from esrag.cli.ask import show_answer

        if self.as_json:
            self._print_json()
        else:
            show_answer(self._require_answer())

    def _sources(self) -> None:
        self._show("evidence.txt.j2", evidence=True)

    def _explain(self) -> None:
        self._show("explain.txt.j2", explain=True)

    def _show(self, template: str, *, evidence: bool = False, explain: bool = False) -> None:
        """Print a part of the last answer with its template.

        As JSON print the whole answer with that part.
        """
        from esrag.cli.rendering import render

        asked = self._require_answer()
        if self.as_json:
            self._print_json(evidence=evidence, explain=explain)
        else:
            values = {"evidence": asked.evidence, "model": asked.model, "kibana_url": ""}
            print_text(render(template, asked=asked, **values))

    def _print_json(self, *, evidence: bool = False, explain: bool = False) -> None:
        from esrag.cli.ask import Parts, to_dict

        answer = to_dict(
            self._require_answer(), "", Parts(evidence=evidence, prompt=False, explain=explain)
        )
        print_json(answer | {"typed": self.typed})

    def _forget(self) -> None:
        self.earlier.clear()
        self.last = None

    def _require_answer(self) -> "AskResult":
        if self.last is None:
            raise UsageError("no question has been asked yet", hint="type a question")
        return self.last


def _to_error(line: str, error: EsragError) -> dict[str, Any]:
    """Return an error as JSON, to be printed instead of an answer."""
    from esrag.text import normalise

    said = {"error": str(error), "hint": error.hint, "exit_code": error.exit_code}
    return {"schema": "esrag.error/1", "question": normalise(line)} | said
