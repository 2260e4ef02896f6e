"""EPUB books: the pages of the spine, in reading order."""

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from esrag.errors import ParsingError
from esrag.loading import Skipped, archive, html
from esrag.loading.layout import Layout
from esrag.records import Document, Source

_CONTAINER = "META-INF/container.xml"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


class EpubLoader:
    """EPUB 2 and 3 without protection."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for an archive with a container file, 0.5 for a damaged one by name."""
        return archive.recognise(name, data, ".epub", _CONTAINER)

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield one document.

        Raises: ParsingError for a bomb, a protected or a damaged archive.
        """
        with archive.open_archive(source.data) as files:
            opf = _find_book(files)
            package = archive.read_xml(files, opf)
            layout = Layout()
            for name in _spine(package, posixpath.dirname(opf)):
                if problem := _add_page(layout, files, name, keep_hidden=source.keep_hidden):
                    yield Skipped(name, problem)

        title, author = (
            package.findtext(f".//{_DUBLIN_CORE}{field}", "") for field in ("title", "creator")
        )
        yield layout.document(source, "epub", title, {"author": author})


def _find_book(files: ZipFile) -> str:
    """Return the name of the member that describes the book. Raises: ParsingError."""
    rootfile = archive.read_xml(files, _CONTAINER).find(".//{*}rootfile")
    if rootfile is None:
        raise ParsingError(f"names no book in {_CONTAINER}")
    return str(rootfile.get("full-path", ""))


def _spine(package: Any, folder: str) -> Iterator[str]:
    """Yield the members that hold the book's pages, in reading order."""
    places = {
        item.get("id"): item.get("href", "") for item in package.iterfind("{*}manifest/{*}item")
    }
    for reference in package.iterfind("{*}spine/{*}itemref"):
        if place := places.get(reference.get("idref")):
            yield posixpath.normpath(posixpath.join(folder, unquote(place)))


def _add_page(layout: Layout, files: ZipFile, name: str, *, keep_hidden: bool) -> str:
    """Add one page of the book, and return what is wrong with it."""
    try:
        tree = html.parse_page(html.page_text(files.read(name)))
    except KeyError:
        return "is missing in the archive"
    except (BadZipFile, RuntimeError, ParsingError) as error:
        # RuntimeError: zipfile needs a password.
        return str(error)
    if tree is not None:
        html.write_page(layout, tree, keep_hidden=keep_hidden)
    return ""
