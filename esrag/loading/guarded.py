"""Runs a loader so that nothing but documents, skipped parts and LoadingErrors comes out."""

from collections.abc import Iterator

from esrag.errors import LoadingError, ParsingError
from esrag.loading import Skipped
from esrag.loading.detect import loader_for
from esrag.loading.layout import join_lines
from esrag.records import Document, Source
from esrag.text import format_count

_OF_FORMATS = ("_csv", "binascii", "docx", "json", "pptx", "pypdfium2", "struct", "zipfile", "zlib")
_MAX_MESSAGE = 200  # characters of a third party's own words
_MAX_SKIPPED = 1000  # parts of one source that are listed; further ones are counted


def parts(source: Source, max_characters: int) -> Iterator[Document | Skipped]:
    """Yield documents that hold text and are not too long, and the parts left out, in order.

    Raises: UnsupportedFormat; ParsingError for whatever goes wrong in a parser, and if no
    document is left.
    """
    if not source.data:
        raise ParsingError("is empty")

    skipped: list[Skipped] = []
    loaded, uncounted = False, 0

    for part in _load(source):
        kept = _check(part, source, max_characters)
        if not isinstance(kept, Skipped):
            loaded = True
        elif len(skipped) < _MAX_SKIPPED:
            skipped.append(kept)
        else:
            uncounted += 1
            continue
        yield kept
    if uncounted:
        yield Skipped(f"{uncounted} more parts", "are left out as well")
    if not loaded:
        raise ParsingError(_explain_nothing(skipped, uncounted))


def _load(source: Source) -> Iterator[Document | Skipped]:
    try:
        _, loader = loader_for(source.name, source.data)
        yield from loader.load(source)
    except LoadingError:
        raise
    except MemoryError as error:
        raise ParsingError(
            "needs more memory to be parsed than loading.memory_bytes allows"
        ) from error
    except RecursionError as error:
        raise ParsingError("is nested too deeply") from error
    except Exception as error:  # a parser fails in its own way on each hostile file
        raise ParsingError(f"cannot be parsed: {_words(error)}") from error


def _words(error: Exception) -> str:
    """Return what an error says about the format.

    Of any other error only the kind is returned, because its message may quote the document.
    """
    kind = type(error)
    speaks_of_format = kind.__module__.partition(".")[0] in _OF_FORMATS
    return (
        join_lines(f"{kind.__name__}: {error}")[:_MAX_MESSAGE]
        if speaks_of_format
        else kind.__name__
    )


def _check(part: Document | Skipped, source: Source, max_characters: int) -> Document | Skipped:
    """Return the part, or why its document is left out."""
    if isinstance(part, Skipped):
        return part

    where = part.doc_id.removeprefix(source.doc_id).removeprefix("#")
    if not part.text.strip():
        return Skipped(f"row {where}" if where else "", "holds no text")
    if len(part.text) > max_characters:
        limit = f"loading.max_characters allows {max_characters}: split it or raise the limit"
        reason = f"holds {format_count(len(part.text), 'character')}, {limit}"
        return Skipped(f"row {where}" if where else "", reason)

    return part


def _explain_nothing(skipped: list[Skipped], uncounted: int) -> str:
    """Return why no document is left."""
    if not skipped:
        return "holds no text"
    first = skipped[-1] if not skipped[-1].where else skipped[0]
    others = len(skipped) - 1 + uncounted
    more = f" (and {others} more)" if first.where and others else ""
    return f"{first.where} {first.reason}{more}".strip()
