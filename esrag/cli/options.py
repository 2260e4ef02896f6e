"""Options that several commands share, and the settings they lead to."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from esrag.errors import UsageError

if TYPE_CHECKING:
    from esrag.settings import Resolved, Settings

Command = Callable[..., Any]


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/reference/json.md).")


question_argument = click.argument("words", nargs=-1, required=True, metavar="QUESTION...")


def question_of(words: Sequence[str]) -> str:
    """Return the question that was typed, its words joined, or what stands on stdin for a single "-".

    >>> question_of(["What", "is AES?"])
    'What is AES?'
    """
    return sys.stdin.read().rstrip("\r\n") if tuple(words) == ("-",) else " ".join(words)


def settings_options(command: Command) -> Command:
    """`--set KEY=VALUE`, and `--index` and `--engine` for the two that are wanted most."""
    for option in (
        click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Any setting, by its dotted key."),
        click.option("--index", help="Name of the index (engine.index)."),
        click.option("--engine", metavar="FOLDER|URL", help="Where the index is (engine.url)."),
    ):
        command = option(command)
    return command


def retrieval_options(command: Command) -> Command:
    """What `ask` and `search` have in common."""
    fusions, methods = click.Choice(["rrf", "weighted"]), click.Choice(["vector", "keyword", "hybrid"])
    conditions = "folder=a,b  kind!=pdf  'year>=2024'  doc_id=x*"
    for option in (
        json_option,
        click.option(
            "--no-cache",
            "cache__url",
            is_flag=True,
            callback=lambda _context, _option, given: "" if given else None,
            help="Make it anew, and keep nothing of it.",
        ),
        click.option("--where", multiple=True, metavar="CONDITION", help=conditions),
        click.option("--fusion", "retrieval__fusion", type=fusions, help="How the two legs become one list."),
        click.option("--method", "retrieval__method", type=methods, help="Legs that are searched."),
        click.option(
            "--budget",
            "rerank__budget_ms",
            callback=_milliseconds,
            metavar="TIME",
            help="Time for reranking, as 800ms.",
        ),
        click.option("--rerank", "rerank__chain", metavar="NAME,…", help='Rerankers in order; "" for none.'),
        click.option("--k", "retrieval__k", type=click.IntRange(1, 1000), help="Hits that are retrieved."),
    ):
        command = option(command)
    return settings_options(command)


def _milliseconds(_context: click.Context, _option: click.Parameter, given: str | None) -> int | None:
    """A time, written 800ms or 1.5s. Raises: UsageError."""
    if given is None:
        return None
    written = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{1,3})?)(ms|s)", given)
    time_ms = round(float(written[1]) * (1000 if written[2] == "s" else 1)) if written else 0
    if not time_ms:
        raise UsageError(f"--budget {given!r} is no time", hint="write it as 800ms or 1.5s")
    return time_ms


def resolve(sets: Sequence[str] = (), index: str | None = None, engine: str | None = None, **flags: Any) -> "Resolved":
    """Settings with the command's flags on top; `flags` are dotted keys with "." written as "__", None is not given."""
    from esrag import settings

    values = {key.replace("__", "."): value for key, value in flags.items() if value is not None}
    values |= {"engine.index": index} if index else {}
    values |= {"engine.url": engine} if engine else {}
    return settings.resolve(values | dict(_pair(pair) for pair in sets))


def settings_of(**options: Any) -> "Settings":
    """`resolve` for those who do not ask where a value came from."""
    return resolve(**options).settings


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text!r} has no value", hint="write it as --set chunking.size=150")
    return key.strip(), value
