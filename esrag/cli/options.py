"""Options that several commands share, and the settings that result from them."""

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.output import remark
from esrag.cli.streams import read_text
from esrag.errors import UsageError

if TYPE_CHECKING:
    from esrag.settings import Settings
    from esrag.settings.layers import Resolved

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

_UNIT_MS = {"ms": 1, "s": 1000}


class NumberRange(click.FloatRange):
    """A number within a range, which nan passes as click compares."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number. Raises: click.BadParameter."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not in the range {self._describe_range()}.", param, ctx)
        return number


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (docs/reference/json.md)."
)


question_argument = click.argument("words", nargs=-1, required=True, metavar="QUESTION...")


def question_of(words: Sequence[str]) -> str:
    """Return the words of the question joined, or the text on stdin if the only word is "-".

    >>> question_of(["What", "is AES?"])
    'What is AES?'
    """
    is_piped = tuple(words) == ("-",)
    return read_text().rstrip("\r\n") if is_piped else " ".join(words)


def settings_options(command: Command) -> Command:
    """Add `--set KEY=VALUE` and its most common shortcuts, `--index` and `--engine`."""
    for option in _SETTINGS_OPTIONS:
        command = option(command)
    return command


def retrieval_options(command: Command) -> Command:
    """Add the options that `ask`, `chat` and `search` share."""
    options: tuple[Decorator, ...] = (json_option, *_SEARCH_OPTIONS, *_RERANK_OPTIONS)
    for option in options:
        command = option(command)

    return settings_options(command)


def answer_options(command: Command) -> Command:
    """Add the options that `ask` and `chat` share."""
    return retrieval_options(
        click.option(
            "--no-metadata",
            "answer__metadata",
            flag_value=False,
            default=None,
            type=click.UNPROCESSED,
            help="Send a language model the passages without document, page and section.",
        )(command)
    )


def _split_names(given: str) -> list[str]:
    """Return the names in a comma-separated list.

    >>> _split_names("lexical, mmr"), _split_names("")
    (['lexical', 'mmr'], [])
    """
    return [name.strip() for name in given.split(",") if name.strip()]


def _to_chain(
    _context: click.Context, _option: click.Parameter, given: str | list[str] | None
) -> list[str] | None:
    """Return the rerankers of --rerank or --no-reranking, which share a value."""
    return _split_names(given) if isinstance(given, str) else given


def _to_milliseconds(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> int | None:
    """Return a duration such as 800ms or 1.5s in milliseconds. Raises: UsageError."""
    if given is None:
        return None

    written = re.fullmatch(r"([0-9]{1,5}(?:\.[0-9]{1,3})?)(ms|s)", given)
    time_ms = round(float(written[1]) * _UNIT_MS[written[2]]) if written else 0
    if not time_ms:
        hint = "write it as 800ms or 1.5s"
        raise UsageError(f"invalid --budget value {given!r}: expected a duration", hint=hint)

    return time_ms


# In the reverse order of the help.
_SETTINGS_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set any setting by its dotted key.",
    ),
    click.option("--index", help="Use the index with this name (engine.index)."),
    click.option(
        "--engine", metavar="FOLDER|URL", help="Use the index at this place (engine.url)."
    ),
)
_SEARCH_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--no-cache",
        "cache__url",
        is_flag=True,
        callback=lambda _context, _option, given: "" if given else None,
        help="Compute the result again and do not cache it.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="CONDITION",
        help="Search only where folder=a,b or kind!=pdf or 'year>=2024' or doc_id=x*; "
        "can be repeated.",
    ),
    click.option(
        "--fusion",
        "retrieval__fusion",
        type=click.Choice(["rrf", "weighted"]),
        help="Combine the two legs by ranks or by scores.",
    ),
    click.option(
        "--vector-weight",
        "retrieval__vector_weight",
        type=NumberRange(0, 1),
        help="Give this share to the vector leg, and the rest to the keyword leg.",
    ),
    click.option(
        "--method",
        "--retrieval-method",
        "retrieval__method",
        type=click.Choice(["vector", "keyword", "bm25", "hybrid"]),
        callback=lambda _context, _option, given: "keyword" if given == "bm25" else given,
        help="Search by meaning, by words (keyword or bm25), or by both.",
    ),
)
_RERANK_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--budget",
        "rerank__budget_ms",
        callback=_to_milliseconds,
        metavar="TIME",
        help="Stop reranking after this time, such as 800ms or 2s.",
    ),
    click.option(
        "--no-reranking",
        "rerank__chain",
        flag_value="",
        default=None,
        callback=_to_chain,
        help="Leave the order of the fusion as it is.",
    ),
    click.option(
        "--rerank",
        "rerank__chain",
        callback=_to_chain,
        metavar="NAME,…",
        help='Rerank with these, in order; "" disables reranking.',
    ),
    click.option(
        "--k", "retrieval__k", type=click.IntRange(1, 1000), help="Retrieve this many hits."
    ),
)


def resolve(**options: Any) -> "Resolved":
    """Return the settings with the command's flags applied, checked and ready to use.

    `sets`, `index` and `engine` are the options of every command. Other keys are dotted keys with
    "." written as "__", and None means not given. A remark names the files of a parent folder that
    are used.
    """
    from esrag.settings import layers

    resolved = layers.resolve(_flags(**options))
    _say_what_is_used(*_find_above(resolved))
    return resolved


def look_at(**options: Any) -> "Resolved":
    """Return the same settings for display, including those of a file that is not allowed yet."""
    from esrag.settings import layers

    resolved = layers.read_settings(_flags(**options))
    _say_what_is_used(*_find_above(resolved))
    return resolved


def settings_of(**options: Any) -> "Settings":
    """Return the settings of `resolve` without their origins."""
    return resolve(**options).settings


def _flags(
    sets: Sequence[str] = (),
    index: str | None = None,
    engine: str | None = None,
    **flags: Any,
) -> dict[str, Any]:
    given = {"engine.index": index, "engine.url": engine, **flags}
    values = {key.replace("__", "."): value for key, value in given.items() if value is not None}
    return values | dict(_pair(pair) for pair in sets)


def _find_above(resolved: "Resolved") -> list[str]:
    """Return the settings files and the index in use that were found in a parent folder."""
    from esrag.settings.layers import FOUND, settings_file

    base = settings_file({}, Path())
    found = [str(path) for path in resolved.files if path == base and base.parent != Path()]
    index = resolved.settings.engine.url
    is_found = resolved.origins.get("engine.url") == FOUND and Path(index).exists()
    return [*found, *([index] if is_found else [])]


@cache  # prints once per command
def _say_what_is_used(*found: str) -> None:
    context = click.get_current_context(silent=True)
    if found and not (context and context.params.get("as_json")):
        remark(f"using {' and '.join(found)}")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"--set {text!r} has no value: expected KEY=VALUE, such as chunking.size=150"
        )
    return key.strip(), value
