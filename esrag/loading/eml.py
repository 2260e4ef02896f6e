"""E-mail messages."""

import re
from collections.abc import Iterator
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart

from esrag.errors import ParsingError
from esrag.loading import Skipped, html
from esrag.loading.decoding import decode, is_text
from esrag.loading.layout import Layout, join_lines
from esrag.records import Document, Source
from esrag.text import normalise

_HEADERS = ("From", "To", "Date", "Subject")
_SURE = re.compile(
    rb"^(?:mime-version|message-id|received|return-path):", re.IGNORECASE | re.MULTILINE
)
_FROM = re.compile(rb"^from:", re.IGNORECASE | re.MULTILINE)
_FIRST = re.compile(rb"(?:From [^\n]*\r?\n)?[A-Za-z][A-Za-z0-9-]*:")
_QUOTED = re.compile(r"^(?:>[ \t]?)+", re.MULTILINE)  # before the lines of an earlier message
_HEAD = 16_384  # bytes in which the headers that tell stand
# What the standard library's parser raises for headers and bodies that break the rules.
_BROKEN = (MessageError, LookupError, ValueError, AttributeError, TypeError, AssertionError)


class EmlLoader:
    """One message, as text or else as HTML; attachments are named and left out."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for a block of headers that only a message has, 0.5 by name."""
        if not is_text(data):
            return 0.0
        head = re.split(rb"\r?\n\r?\n", data[:_HEAD], maxsplit=1)[0]
        if _FIRST.match(head) and _SURE.search(head) and _FROM.search(head):
            return 1.0
        return 0.5 if name.lower().endswith(".eml") else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield one document that starts with the sender, the recipients, date and subject."""
        from email import message_from_bytes, policy

        message = message_from_bytes(source.data, policy=policy.default)
        fields = {name: _header(message, name) for name in _HEADERS}
        layout = Layout()
        layout.add("\n".join(f"{name}: {value}" for name, value in fields.items() if value))
        yield from _write_body(layout, message, keep_hidden=source.keep_hidden)
        names = list(_attachments(message))
        layout.add("\n".join(f"Attachment: {name}" for name in names))
        yield from (Skipped(f"attachment {name}", "attachments are not read") for name in names)
        metadata = {name.lower(): fields[name] for name in ("From", "To", "Date")}
        yield layout.document(source, "eml", fields["Subject"], metadata)


def _header(message: EmailMessage, name: str) -> str:
    """Return a header's text, as it is written if it breaks the rules."""
    try:
        return join_lines(normalise(str(message[name] or "")))
    except _BROKEN:
        raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
        return join_lines(normalise(str(raw)))


def _write_body(layout: Layout, message: EmailMessage, *, keep_hidden: bool) -> Iterator[Skipped]:
    """Add the message's text, or its HTML if it has no text."""
    part = _find_body(message)
    if part is None:
        return

    data = _payload(part)
    try:
        if part.get_content_type() == "text/html":
            tree = html.parse_page(html.page_text(data))
            if tree is not None:
                html.write_page(layout, tree, keep_hidden=keep_hidden)
        elif data:
            layout.add(_QUOTED.sub("", decode(data, _charset(part))))
    except ParsingError as error:
        yield Skipped("body", str(error))


def _find_body(message: EmailMessage) -> MIMEPart | None:
    try:
        return message.get_body(("plain", "html"))
    except _BROKEN:
        return None


def _payload(part: MIMEPart) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except _BROKEN:
        payload = None
    return payload if isinstance(payload, bytes) else b""


def _charset(part: MIMEPart) -> str:
    try:
        return part.get_content_charset() or ""
    except _BROKEN:
        return ""


def _attachments(message: EmailMessage) -> Iterator[str]:
    """Yield the names of the parts that are files."""
    for part in message.walk():
        try:
            name = part.get_filename()
        except _BROKEN:
            name = "without a readable name"
        if name:
            yield join_lines(normalise(name))
