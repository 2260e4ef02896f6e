"""Put the numbered steps of algorithms on lines of their own.

The text of a PDF has the steps as they were painted: several on a line, one over several lines, a
label after its step or, on a page with columns, before all steps.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from esrag.text import trim_span

Label = re.Match[str]
Labels = list[Label]  # `1:`, `2:`, … of one algorithm, or of the part that a text contains
Spans = tuple[tuple[int, int], ...]

# Characters without white space. The longest step of FIPS 203 has 78, and the longest distance from
# a heading to its first step is 262. Numbers much further down belong to something else.
_MAX_STEP, _MAX_HEAD = 500, 800

# `1:`, also within a line but not in the cells of a table, or the number of a list's item: `1.`.
_LABEL = re.compile(
    r"(?<!\S)(?<!\| )(\d{1,3}):(?!\S)|^[^\S\n]*(\d{1,3})[.)](?=[^\S\n])", re.MULTILINE
)
# A PDF's accents and exponents may come before a label.
_LINE_START = re.compile(r"[^A-Za-z|\n]{0,8}")
# "Algorithm 13 is invoked with …" and "Algorithm 6 (see …" are not headings.
_HEADING = re.compile(
    r"(?:^[^A-Za-z|(\n]{0,8}|(?<=[.!?]\s))Algorithm\s+(\d{1,3})"
    r"(?:[.:]\s+|\s+(?![a-z]+[^\S\n]+[a-z]))(?=\w)",
    re.MULTILINE,
)
_TOO_FAR = re.compile(rf"(?:\s*+\S){{{_MAX_HEAD + 1}}}")
_NEXT_LINE = re.compile(r"\n(.*)")
_IS_RATIO = re.compile(r"\s*\d")  # or a time
_LATE = re.compile(r"[^A-Za-z]*|.*(?:←|=).*")  # "x ← f 5: (y)": the text that a label can follow
# A line that can only begin a step.
_GOES_ON = re.compile(r"\s*[(\[{)\]}▷←=+⋅×‖\U0001d400-\U0001d7ff]")
_ROW_OR_HEADING = re.compile(r"^[^\S\n]*+(?:\||#{1,6}\s)|\t| \| ", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LOOP = re.compile(r"(?<=[\w)\]};.])[^\S\n]+(?=for \([^()\n;]*[=←][^()\n;]*;[^()\n;]*;[^()\n]*\))")


def split_steps(text: str) -> str:
    r"""Return the text with each step and loop of a numbered algorithm on its own line.

    A loop is `for (…; …; …)`.

    Only white space changes, and table rows stay the same.

    >>> print(split_steps("1: i ← 0\n2: while i < 9 do 3: call f(i,\nn) 4: end while"))
    1: i ← 0
    2: while i < 9 do
    3: call f(i, n)
    4: end while
    """
    laid_out, position = "", 0
    for labels in _runs(text):
        if len(labels) > 1:
            spans = _spans(text, labels)
            before = _loops(text[position : spans[0][0]]).rstrip(" \t")
            laid_out += before if not before or before.endswith("\n") else f"{before}\n"
            laid_out += "\n".join(_on_one_line(text[start:end]) for start, end in spans)
            position = spans[-1][1]
    return laid_out + _loops(text[position:])


def steps(text: str, number: int) -> Spans:
    r"""Return the spans of the numbered steps under the heading "Algorithm N", or () without them.

    Labels that come together before their steps are one span with them.

    >>> text = "Algorithm 4 Twice(x)\nInput: x\n1: y ← x + x 2: return y\nMore on Algorithm 4."
    >>> [text[start:end] for start, end in steps(text, 4)], steps(text, 5)
    (['1: y ← x + x', '2: return y'], ())
    """
    _, labels = _algorithm(text, number)
    return _spans(text, labels) if labels else ()


def block(text: str, number: int) -> tuple[int, int] | None:
    """Return the span from the heading "Algorithm N" to its last step; None if one is missing."""
    start, labels = _algorithm(text, number)
    return (start, _spans(text, labels)[-1][1]) if labels else None


def _algorithm(text: str, number: int) -> tuple[int, Labels]:
    """Return the start of the heading "Algorithm N" and its labels."""
    after = 0
    headings = [*_HEADING.finditer(text)]
    is_headed = any(int(heading[1]) == number for heading in headings)

    for labels in _runs(text) if is_headed else ():
        heading = _heading(headings, after, labels[0])
        if heading and int(heading[1]) == number:
            return heading.start(), labels
        after = labels[-1].end()

    return 0, []


def _runs(text: str) -> Iterator[Labels]:
    """Yield labels that count up from 1, at the beginning of a line or under a heading."""
    labels: Labels = []
    headings = [*_HEADING.finditer(text)]
    for label in _LABEL.finditer(text):
        if labels and _follows(text, labels[-1], label):
            labels.append(label)
        elif _is_first(headings, labels, label):
            if labels:
                yield labels
            labels = [label]
    if labels:
        yield labels


def _is_first(headings: Sequence[re.Match[str]], before: Labels, label: Label) -> bool:
    """Return whether a label begins a run. A list has steps only under a heading."""
    after = before[-1].end() if before else 0
    is_step = not _is_item(label) and _begins_line(label.string, label)
    return is_step or _heading(headings, after, label) is not None


def _heading(headings: Sequence[re.Match[str]], after: int, label: Label) -> re.Match[str] | None:
    """Return the last "Algorithm N" above a first label if it is near."""
    above = bisect_left(headings, label.start(), key=re.Match.end)
    if _number(label) != 1 or not above:
        return None
    heading = headings[above - 1]
    is_far = heading.start() < after or _TOO_FAR.match(label.string, heading.start(), label.start())
    return None if is_far else heading


def _follows(text: str, last: Label, label: Label) -> bool:
    """Return whether a label is the next one of the same algorithm, with one step in between."""
    is_next = _number(label) == _number(last) + 1 and _is_item(label) == _is_item(last)
    is_ratio = not _begins_line(text, label) and _IS_RATIO.match(text, label.end())
    if not is_next or is_ratio:
        return False

    between = text[last.end() : label.start()]
    if _size(between) > _MAX_STEP or _HEADING.search(text, last.end(), label.start()):
        return False

    _, *later_lines = between.split("\n")
    _, *later_paragraphs = _BLANK_LINE.split(between)
    return not any(map(_ROW_OR_HEADING.search, later_lines)) and not re.search(
        "[A-Za-z]", "".join(later_paragraphs)
    )


def _spans(text: str, labels: Labels) -> Spans:
    """Return each step from its label to the next.

    Labels without a step join the next one that has it.
    """
    starts = [_start(text, None, labels[0])] + [
        _start(text, last, label) for last, label in pairwise(labels)
    ]
    ends = [*starts[1:], _end(text, labels)]
    spans: list[tuple[int, int]] = []
    begun: int | None = None

    for label, start, end in zip(labels, starts, ends, strict=True):
        begun = start if begun is None else begun
        if (
            text[label.end() : end].strip()
            or text[start : label.start()].strip()
            or label is labels[-1]
        ):
            spans += trim_span(text, begun, end)
            begun = None

    return tuple(spans)


def _start(text: str, last: Label | None, label: Label) -> int:
    """Return where a step begins.

    That is at its label, or at the line whose label follows the step's first words.
    """
    line = _line(text, label)
    if last is None:
        return line if _begins_line(text, label) else label.start()
    is_late = last.end() <= line and bool(_LATE.fullmatch(text, line, label.start()))
    is_open = text.count("(", last.end(), line) > text.count(")", last.end(), line)
    return line if is_late and not is_open else label.start()


def _end(text: str, labels: Labels) -> int:
    """Return the end of the last step: its line and following lines that can only belong to a step.

    If labels come without their steps, each has a line after them.
    """
    label_end = labels[-1].end()
    end = text.find("\n", label_end)
    end = len(text) if end < 0 else end
    without = 0 if text[label_end:end].strip() else _trailing(text, labels)

    for found in _NEXT_LINE.finditer(text, end):
        line = found[1]
        if (
            not line.strip()
            or _ROW_OR_HEADING.search(line)
            or not (without or _GOES_ON.match(line) or (_is_item(labels[-1]) and line[0] == " "))
        ):
            break
        without -= bool(without)
        end = found.end()

    return end


def _trailing(text: str, labels: Labels) -> int:
    """Return how many labels at the end have no text between them."""
    count = 1
    for last, label in reversed(list(pairwise(labels))):
        if text[last.end() : label.start()].strip():
            break
        count += 1
    return count


def _on_one_line(step: str) -> str:
    """Return the step joined to one line, with the indentation after its label."""
    return " ".join(filter(None, map(str.strip, step.split("\n"))))


def _number(label: Label) -> int:
    return int(label[1] or label[2])


def _is_item(label: Label) -> bool:
    return label[2] is not None


def _begins_line(text: str, label: Label) -> bool:
    return bool(_LINE_START.fullmatch(text, _line(text, label), label.start()))


def _line(text: str, label: Label) -> int:
    return text.rfind("\n", 0, label.start()) + 1


def _size(text: str) -> int:
    return len("".join(text.split()))


def _loops(text: str) -> str:
    """Return the text with every loop on a new line, except in rows of tables."""
    return "\n".join(
        line if _ROW_OR_HEADING.search(line) else _LOOP.sub("\n", line) for line in text.split("\n")
    )
