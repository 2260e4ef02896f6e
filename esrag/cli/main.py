"""`esrag`: find and run the command, and turn any error into one line, a hint and an exit code."""

import os
import sys
from importlib import import_module

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand

from esrag.cli.output import remark
from esrag.cli.streams import finish, open_streams
from esrag.errors import EsragError

# Where each command is, and its help in short: the list of commands imports none of them.
COMMANDS: dict[str, tuple[str, str]] = {
    "ingest": ("esrag.cli.ingest:ingest", "Update the index to match the files."),
    "remove": ("esrag.cli.remove:remove", "Remove documents by id, by source or by a condition."),
    "jobs": ("esrag.cli.jobs:jobs", "List, show, retry, cancel, resume and prune ingest jobs."),
    "worker": ("esrag.cli.worker:worker", "Process queued ingest batches until stopped."),
    "ask": ("esrag.cli.ask:ask", "Answer a question and cite a passage for every sentence."),
    "chat": ("esrag.cli.chat:chat", "Ask questions in a conversation, with follow-ups."),
    "search": ("esrag.cli.search:search", "Show the matching chunks, best first."),
    "runs": ("esrag.cli.runs:runs", "List, show, sum up and export the records of questions."),
    "replay": (
        "esrag.cli.replay:replay",
        "Repeat the question of a saved run, and show what changed.",
    ),
    "diff": ("esrag.cli.replay:diff", "Show what differs between two runs."),
    "feedback": ("esrag.cli.runs:feedback", "Rate the answer of a kept run."),
    "compare": (
        "esrag.cli.compare:compare",
        "Ask a question with several settings, side by side.",
    ),
    "calibrate": ("esrag.cli.calibrate:calibrate", "Fit answer.refusal to your own questions."),
    "facts": ("esrag.cli.facts:facts", "Import, list, check and remove facts."),
    "route": ("esrag.cli.route:route", "Show how a question would be answered, and why."),
    "docs": ("esrag.cli.stored:docs", "List the documents in the index."),
    "chunks": (
        "esrag.cli.stored:chunks",
        "Print all chunks, those of one document, or a single one.",
    ),
    "index": ("esrag.cli.index:index", "Create, list, swap, migrate and remove indexes."),
    "cache": ("esrag.cli.cache:cache", "Count and remove cached entries."),
    "init": ("esrag.cli.init:init", "Write an esrag.yaml based on PRESET."),
    "config": (
        "esrag.cli.config:config",
        "Show the settings in force, and allow or deny a settings file.",
    ),
    "models": ("esrag.cli.models:models", "List, download and check the encoder's weights."),
    "verify": (
        "esrag.cli.verify:verify",
        "Check each sentence of a draft against the passages it cites.",
    ),
    "plugins": (
        "esrag.cli.plugins:plugins",
        "List the registered stages and where they come from.",
    ),
    "doctor": (
        "esrag.cli.doctor:doctor",
        "Check every part, and report each problem and its remedy.",
    ),
    "kibana": ("esrag.cli.kibana:kibana", "Explore the index in Kibana or OpenSearch Dashboards."),
}

INTERRUPTED = 130
_BUG = "this is a bug; esrag --debug … shows the stack trace"


class Commands(click.Group):
    """A group that imports a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands as click does, from the table above."""
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        rows = [
            (name, click.Command(name, help=text).get_short_help_str(limit))
            for name, (_, text) in COMMANDS.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Raises: NoSuchCommand, which suggests similar names."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:  # click compares with imported commands only
            raise NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from error


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="esrag")
@click.option("--debug", is_flag=True, help="Show the stack trace of an error.")
def cli(*, debug: bool) -> None:
    """Question answering over your own documents: every sentence cited and checked, or refused.

    Exit codes: 0 done, 1 failed, 2 invalid usage or settings, 3 refused (the answer is not in the
    documents), 4 a service or another writer took too long, 130 interrupted, 141 the output pipe
    was closed.
    """


def main() -> None:
    """Run the command line and exit."""
    open_streams()
    try:
        sys.exit(finish(_run()))
    except (KeyboardInterrupt, click.Abort) as error:
        remark(str(error) or "interrupted")
        os._exit(INTERRUPTED)  # an orderly exit would wait seconds for the encoder's threads
    except Exception as error:
        if "--debug" in sys.argv and not isinstance(error, click.ClickException):
            raise
        sys.exit(_explain(error))


def _run() -> int:
    """Run the command and return its exit code. A group without a command prints its help."""
    try:
        code = cli.main(standalone_mode=False)
    except NoArgsIsHelpError as bare:
        click.echo(bare.format_message())
        return bare.exit_code
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> int:
    """Print an error and a hint on stderr, and return the exit code."""
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        _print(error.format_message(), f"{context.command_path if context else 'esrag'} --help")
        return error.exit_code
    if isinstance(error, EsragError):
        _print(str(error), error.hint)
        return error.exit_code
    if isinstance(error, OSError) and error.strerror:
        _print(f"{error.strerror.lower()}: {error.filename or 'standard output'}")
        return 1

    _print(f"{type(error).__name__}: {error}", _BUG)
    return 1


def _print(error: str, hint: str = "") -> None:
    remark(f"error: {error}")
    if hint:
        remark(f"hint: {hint}")


if __name__ == "__main__":
    main()
