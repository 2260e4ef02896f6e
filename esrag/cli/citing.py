"""Print an answer for a reader: the subject of each sentence, and the source of each citation."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import click

from esrag.citations import KEY, MARKERS, CheckedSentence, name_of
from esrag.cli.output import pages, print_text, remark, to_one_line
from esrag.records import Answer, Citation
from esrag.results import Place

# First words of a sentence whose subject is in an earlier sentence or was cut off.
_PRONOUN = r"It|Its|He|His|She|Her|They|Their|This|These|That|Those|Such|The (?:former|latter|same)"
_VERB = r"is|are|was|were|has|have|had|can|may|must|will|would"
_LACKS_SUBJECT = re.compile(rf"[\"“'(]*(?:{_PRONOUN}|{_VERB})\b")
_MARKERS = re.compile(rf"{MARKERS.pattern}(?:\s*{MARKERS.pattern})*", MARKERS.flags)
_MAX_TITLE_CHARACTERS = 80


def print_answer(answer: Answer) -> None:
    """Print the text of an answer.

    The passage's title follows a sentence that lacks its subject.
    """
    print_text("".join(_pieces(answer)))


def print_sentence(sentence: str) -> None:
    """Print a sentence of a stream, with the passage's title if it lacks its subject."""
    name = sentence.name if isinstance(sentence, CheckedSentence) else ""
    print_text(f"{sentence}{_subject(sentence, name)}")


def print_citations(citations: Sequence[Citation]) -> None:
    """Print a line for each citation: its key, title, section, pages and source."""
    if citations:
        click.echo()
    for citation in citations:
        click.echo(_line(citation))


def print_places(places: Sequence[Place]) -> None:
    """Print a remark on each place worth a look: its title, section, pages and source."""
    for place in places:
        remark(f"worth a look: {_place(place)}")


def _pieces(answer: Answer) -> Iterator[str]:
    """Yield the text of an answer and the titles to insert between its sentences.

    >>> her = Citation("c1", "p7", 1, 1, "p7::c1", 0, 9, "", 1.0, title="Maria Thayer")
    >>> text = "Thayer is an actress. [c1] She was born in Portland. [c1]"
    >>> "".join(_pieces(Answer(text, False, citations=(her,))))
    'Thayer is an actress. [c1] She was born in Portland. [c1] (Maria Thayer)'
    """
    names = {each.key: name_of(each.title, each.section) for each in answer.citations}
    start = 0

    for markers in _MARKERS.finditer(answer.text):
        sentence, start = answer.text[start : markers.end()], markers.end()
        yield sentence
        keys = KEY.findall(markers[0].lower())
        yield _subject(sentence, names.get(keys[0], ""))
    yield answer.text[start:]


def _subject(sentence: str, name: str) -> str:
    """Return the name to print after a sentence that lacks its subject; "" after any other."""
    shown = to_one_line(name)[:_MAX_TITLE_CHARACTERS]
    return f" ({shown})" if shown and _LACKS_SUBJECT.match(sentence.lstrip()) else ""


def _line(citation: Citation) -> str:
    """Return a citation as one line. Its source is a link if the terminal supports links.

    >>> of_passage = {"title": "Fares", "section": "Fares > Tickets", "source": "s3://b/fares.md"}
    >>> _line(Citation("c2", "fares", 1, 2, "fares::c1", 0, 9, "", 1.0, **of_passage))
    '[c2] Fares > Tickets, pages 1–2: s3://b/fares.md'
    """
    return f"[{citation.key}] {_place(citation, is_link=True)}"


def _place(place: Citation | Place, *, is_link: bool = False) -> str:
    """Return title, section, pages and source of a passage."""
    title, section = to_one_line(place.title), to_one_line(place.section)
    name = section if section.startswith(title) else f"{title} > {section}".removesuffix(" > ")
    line = f"{name or to_one_line(place.doc_id)}, {pages(place.start_page, place.end_page)}"
    if not place.source:
        return line

    row = "".join(place.doc_id.partition("#")[1:])  # for a file with many documents
    text = _relative(place.source) + to_one_line(row)
    return f"{line}: {_link(text, place) if is_link else text}"


def _relative(source: str) -> str:
    """Return a path below the current folder as a relative path, any other source unchanged."""
    path = Path(source)
    here = Path.cwd()
    return to_one_line(str(path.relative_to(here)) if path.is_relative_to(here) else source)


def _link(text: str, citation: Citation | Place) -> str:
    """Return the text as a hyperlink (OSC 8) to the cited page.

    That is done if stdout is a terminal that may support it.
    """
    if not _may_link():
        return text

    is_file = citation.source.startswith("/")
    address = (
        f"file://{quote(citation.source)}#page={citation.start_page}"
        if is_file
        else quote(citation.source, ":/")
    )
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def _may_link() -> bool:
    """Return whether stdout is a terminal that may support links."""
    is_dumb = os.environ.get("TERM", "dumb") == "dumb" or "NO_COLOR" in os.environ
    return sys.stdout.isatty() and not is_dumb
