"""`esrag verify`: check the citations of a draft from any source."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text
from esrag.cli.streams import read_all
from esrag.errors import UsageError

if TYPE_CHECKING:
    from esrag.verifying.drafts import DraftVerdict

MAX_BYTES = 16 * 2**20
NOT_SUPPORTED = 3


@click.command()
@click.argument("file", metavar="FILE|-")
@json_option
@settings_options
def verify(file: str, *, as_json: bool, **options: object) -> int:
    """Check each sentence of a draft against the passages it cites.

    FILE, or stdin if it is -, holds {"draft": "It has 7 watts. [c1]", "passages": ["The lamp has 7
    watts."]}; the first passage is c1. A passage may also be an object with text, title and
    section. The exit code is 0 if every sentence is cited and supported, else 3. No index is
    needed.
    """
    from esrag.context import open_context
    from esrag.verifying.drafts import read_request, verify_draft

    settings = settings_of(**options)
    draft, passages = read_request(_read(file))
    entail = open_context(settings).entail
    found = verify_draft(draft, passages, entail, quotes=settings.answer.quotes)

    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    return 0 if found.supported else NOT_SUPPORTED


def _print(found: "DraftVerdict") -> None:
    for sentence in found.sentences:
        print_text(f"{'supported' if sentence.supported else 'rejected':10} {sentence.text}")
        if sentence.note:
            print_text(f"{'':10} {sentence.note}")
    print_text("supported" if found.supported else f"not supported: {found.note}")


def _read(file: str) -> str:
    """Return the content of a file or of stdin.

    Raises: UsageError if it cannot be read or is too large.
    """
    try:
        data = read_all(MAX_BYTES + 1) if file == "-" else _head(Path(file), MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(
                f"{file} has more than {MAX_BYTES:,} bytes", hint="check fewer sentences at once"
            )
        return data.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {error.reason}") from error


def _head(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
