"""Zip archives as formats use them: recognised by their members, and refused if they are bombs."""

import re
import zipfile
from io import BytesIO
from typing import Any

from esrag.errors import ParsingError

_MIB = 2**20
_MAX_UNPACKED = 512 * _MIB
# A sheet of a million equal cells packs 17 : 1; a small part is harmless.
_MAX_RATIO, _SMALL = 200, 64 * _MIB
_OLE = b"\xd0\xcf\x11\xe0"


def recognise(name: str, data: bytes, suffix: str, member: str) -> float:
    """Return how sure it is that a member's name matches the pattern.

    1.0 if a member matches, 0.5 for a damaged or protected file with that suffix, else 0.0.
    """
    named = name.lower().endswith(suffix)
    if data.startswith(_OLE):
        return 0.5 if named else 0.0
    if not data.startswith(b"PK"):
        return 0.0
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return 1.0 if any(re.fullmatch(member, inner) for inner in archive.namelist()) else 0.0
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return 0.5 if named else 0.0


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Return the archive, if it may be unpacked.

    `zipfile` reads no more of a member than the size it declares, so the sum of these sizes is what
    it can cost.

    Raises: ParsingError for a bomb, a truncated archive and a protected or old binary Office file.
    """
    if data.startswith(_OLE):
        raise ParsingError(
            "is an encrypted or old binary Office file: "
            "save it without a password in the current format"
        )

    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise ParsingError("is not a whole zip archive (truncated?)") from error
    _require_no_bomb(archive, len(data))
    return archive


def _require_no_bomb(archive: zipfile.ZipFile, packed: int) -> None:
    """Raise ParsingError if so many bytes unpack to too many."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > _MAX_UNPACKED or (unpacked > _SMALL and unpacked > _MAX_RATIO * packed):
        size = f"{unpacked // _MIB} MiB from {packed // 1024} KiB"
        raise ParsingError(
            f"unpacks to {size}, at most {_MAX_UNPACKED // _MIB} MiB and {_MAX_RATIO} : "
            "1 are allowed"
        )


def read_xml(archive: zipfile.ZipFile, name: str) -> Any:
    """Return the root element of a member.

    Raises: ParsingError if the member is missing or is not XML.
    """
    from lxml import etree  # type: ignore[import-untyped]

    try:
        return parse_xml(archive.read(name))
    except (KeyError, zipfile.BadZipFile) as error:
        raise ParsingError(f"lacks a readable {name}") from error
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        # Its message may quote the document.
        raise ParsingError(f"holds a broken {name} (line {error.lineno})") from error


def parse_xml(data: bytes) -> Any:
    """Return the root element of XML; resolve no entities and fetch nothing."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)
