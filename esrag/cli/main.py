"""`esrag`: find and run the command, and turn any error into one line, a hint and an exit code."""

import os
import sys
from importlib import import_module

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand

from esrag.cli.output import remark
from esrag.cli.streams import finish, open_streams
from esrag.errors import EsragError

COMMANDS = {
    "ingest": "esrag.cli.ingest:ingest",
    "remove": "esrag.cli.remove:remove",
    "jobs": "esrag.cli.jobs:jobs",
    "worker": "esrag.cli.worker:worker",
    "ask": "esrag.cli.ask:ask",
    "chat": "esrag.cli.chat:chat",
    "search": "esrag.cli.search:search",
    "runs": "esrag.cli.runs:runs",
    "replay": "esrag.cli.replay:replay",
    "diff": "esrag.cli.replay:diff",
    "feedback": "esrag.cli.runs:feedback",
    "calibrate": "esrag.cli.calibrate:calibrate",
    "docs": "esrag.cli.stored:docs",
    "chunks": "esrag.cli.stored:chunks",
    "index": "esrag.cli.index:index",
    "cache": "esrag.cli.cache:cache",
    "init": "esrag.cli.init:init",
    "config": "esrag.cli.config:config",
    "models": "esrag.cli.models:models",
    "verify": "esrag.cli.verify:verify",
    "plugins": "esrag.cli.plugins:plugins",
    "doctor": "esrag.cli.doctor:doctor",
    "kibana": "esrag.cli.kibana:kibana",
}

INTERRUPTED = 130


class Commands(click.Group):
    """A group that imports a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

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
        remark(f"error: {error.format_message()}")
        context = getattr(error, "ctx", None)
        remark(f"hint: {context.command_path} --help" if context else "hint: esrag --help")
        return error.exit_code
    if isinstance(error, EsragError):
        remark(f"error: {error}")
        if error.hint:
            remark(f"hint: {error.hint}")
        return error.exit_code
    if isinstance(error, OSError) and error.strerror:
        remark(f"error: {error.strerror.lower()}: {error.filename or 'standard output'}")
        return 1

    remark(f"error: {type(error).__name__}: {error}")
    remark("hint: this is a bug; esrag --debug … shows the stack trace")
    return 1


if __name__ == "__main__":
    main()
