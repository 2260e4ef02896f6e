"""E-mail messages."""

import re
from collections.abc import Iterator, Sequence
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from typing import Any

from esrag.errors import ParsingError
from esrag.loading import Skipped, html
from esrag.loading.decoding import decode, is_text
from esrag.loading.layout import Layout, join_lines
from esrag.records import Document, Source
from esrag.text import normalise

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_DEPTH = 8  # of parts within parts
# Words that the first of two alternatives has of the other's: it may say that it is in the other.
_MIN_SHARE = 0.1
_SURE = re.compile(
    rb"^(?:mime-version|message-id|received|return-path):", re.IGNORECASE | re.MULTILINE
)
_FROM = re.compile(rb"^from:", re.IGNORECASE | re.MULTILINE)
_FIRST = re.compile(rb"(?:From [^\n]*\r?\n)?[A-Za-z][A-Za-z0-9-]*:")
_QUOTED = re.compile(r"^(?:>[ \t]?)+", re.MULTILINE)  # before the lines of an earlier message
_FOLD = re.compile(r"\r?\n[ \t]")
_FIELD = re.compile(r"^([A-Z]{1,20})(?:;[^:\n]{0,200})?:([^\r\n]*)", re.MULTILINE)
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d)?(Z?)")
_ESCAPED = re.compile(r"\\(.)")
_EVENT = {"SUMMARY": "Event", "DTSTART": "Begins", "DTEND": "Ends", "LOCATION": "Place"}
_HEAD = 16_384  # bytes in which the headers that tell stand
# What the standard library's parser raises for headers and bodies that break the rules.
_BROKEN = (MessageError, LookupError, ValueError, AttributeError, TypeError, AssertionError)


class EmlLoader:
    """One message, as text or else as HTML, with those it encloses; attachments are left out."""

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
        layout.add(_write_headers(message))
        yield from _write_body(layout, message, keep_hidden=source.keep_hidden)
        names = list(_attachments(message))
        layout.add("\n".join(f"Attachment: {name}" for name in names))
        yield from (Skipped(f"attachment {name}", "attachments are not read") for name in names)
        metadata = {name.lower(): fields[name] for name in ("From", "To", "Date")}
        yield layout.document(source, "eml", fields["Subject"], metadata)


def _write_headers(message: EmailMessage) -> str:
    fields = ((name, _header(message, name)) for name in _HEADERS)
    return "\n".join(f"{name}: {value}" for name, value in fields if value)


def _header(message: EmailMessage, name: str) -> str:
    """Return a header's text, as it is written if it breaks the rules."""
    try:
        return join_lines(normalise(str(message[name] or "")))
    except _BROKEN:
        raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
        return join_lines(normalise(str(raw)))


def _write_body(layout: Layout, message: EmailMessage, *, keep_hidden: bool) -> Iterator[Skipped]:
    """Add the parts of a message that are shown, and those of the messages that it encloses."""
    for part in _iter_shown(message):
        data = _payload(part)
        try:
            if part.get_content_type() == "text/html":
                tree = html.parse_page(html.page_text(data, _charset(part)))
                if tree is not None:
                    html.write_page(layout, tree, keep_hidden=keep_hidden)
            elif part.get_content_type() == "message/rfc822":
                enclosed: Any = part.get_payload(0)
                layout.add(_write_headers(enclosed))
            elif part.get_content_type() == "text/calendar":
                invitation = decode(data, _charset(part)) if data else ""
                layout.add(_write_events(invitation, has_body=part is not message))
            elif data:
                layout.add(_QUOTED.sub("", decode(data, _charset(part))))
        except ParsingError as error:
            yield Skipped("body", str(error))


def _iter_shown(part: MIMEPart, depth: int = 0) -> Iterator[MIMEPart]:
    """Yield the texts of a message in order, and before those of an enclosed one the part itself.

    Of alternatives one is yielded.
    """
    kind = part.get_content_type()
    if kind in ("text/plain", "text/html", "text/calendar") and not _find_file(part):
        yield part
    if depth > _MAX_DEPTH or not part.is_multipart():
        return

    within: Any = part.get_payload()
    if kind == "multipart/alternative":
        within = _choose(within)
    elif kind == "multipart/related":
        within = within[:1]
    elif kind == "message/rfc822":
        yield part
    for each in within:
        yield from _iter_shown(each, depth + 1)


def _choose(parts: Sequence[MIMEPart]) -> Sequence[MIMEPart]:
    """Return the first of alternatives, or a later one if the first says next to nothing.

    An invitation is no alternative: it has the time and the place, which texts often lack.
    """
    invitations = [part for part in parts if part.get_content_type() == "text/calendar"]
    texts = [part for part in parts if part not in invitations]
    lengths = [sum(len(_payload(each).split()) for each in _iter_shown(part)) for part in texts]
    enough = _MIN_SHARE * max(lengths, default=0)
    chosen = [part for part, words in zip(texts, lengths, strict=True) if words >= enough][:1]
    return [*chosen, *invitations]


def _write_events(invitation: str, *, has_body: bool) -> str:
    r"""Return the events of an invitation, with what they say if the message has no other text.

    >>> event = "BEGIN:VEVENT\nDTSTART:20250310T140000Z\nSUMMARY:Tea\\, at last\nEND:VEVENT"
    >>> _write_events(event, has_body=True)
    'Event: Tea, at last\nBegins: 2025-03-10 14:00 UTC'
    """
    names = _EVENT if has_body else {**_EVENT, "DESCRIPTION": "Description"}
    lines: list[str] = []
    for event in _FOLD.sub("", invitation).split("BEGIN:VEVENT")[1:]:
        fields = dict(_FIELD.findall(event.partition("BEGIN:VALARM")[0].partition("END:VEVENT")[0]))
        said = ((label, _write_value(fields.get(name, ""))) for name, label in names.items())
        lines += [f"{label}: {value}" for label, value in said if value]
    return "\n".join(lines)


def _write_value(value: str) -> str:
    """Return a date and time as in ISO 8601, and any other value without its escapes."""
    if moment := _MOMENT.fullmatch(value):
        year, month, day, hour, minute, zone = moment.groups()
        time = f" {hour}:{minute}" if hour else ""
        return f"{year}-{month}-{day}{time}" + (" UTC" if zone else "")
    return join_lines(_ESCAPED.sub(lambda mark: " " if mark[1] in "nN" else mark[1], value))


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
    yield from filter(None, map(_find_file, message.walk()))


def _find_file(part: MIMEPart) -> str:
    """Return the name of a part's file, "" for any other part."""
    try:
        name = part.get_filename()
    except _BROKEN:
        name = "without a readable name"
    return join_lines(normalise(name)) if name else ""
