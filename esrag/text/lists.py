"""Lists: the sentence or heading that introduces one, and its items."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from esrag.text import ITEM, drop_number, sentence_spans

# More characters do not read as one sentence.
MAX_CHARACTERS = 700
MAX_LIST = 3_000  # characters of a list of which at least the items' names are quoted
MAX_ITEM = 1_500  # characters of a numbered item
MAX_HEADING, MAX_MARKED = 90, 200
MIN_ITEMS = 2

# What introduces a list: a colon, or the word itself in a sentence before items.
_LEADS = re.compile(
    r":\Z|\w—\Z|\b(?:list|(?:the|these|as|any|each|one|all|of) following|below)\b[^.]{0,80}\.\Z"
    r"|\b(?:the|these) following(?: \w+){1,5}\Z"
    # "The hirer has to", "You get"
    r"|\w (?:to|then|that|if|by|can|may|must|shall|should|will|gets?|has|have|needs?|includes?"
    r"|is|are)\Z",
    re.IGNORECASE,
)
# At the end of an item, what introduces items below it.
_LEADS_BELOW = re.compile(r"(?<=[.!?])\s[^.!?]{1,200}(?::|(?<=\w)—)\Z|:\Z|(?<=\w)—\Z")
_NUMBERED = re.compile(r"\A(\d{1,2}|[a-z])\.\s")
_COUNTED = re.compile(r"\(?(\d{1,2}|[a-z])[.)]\s")
_FIRST = {"1", "a", "i"}
_ENTRY = re.compile(r"\A(?![ \t])([^\n:]{1,40}[\w)'\"`])\n[ \t]{1,20}(?=[^\W\d_a-z])")
_BULLET = re.compile(r"\A[^\w(]\s+")
_LETTERS, _DIGITS = re.compile("[a-z]+"), re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]")
UNDERLINE = r"\n([-=~^\"'`#*+.:_])\1{2,}\s*\Z"  # of a heading
_MARKED = re.compile(rf"\A#{{1,6}}\s+|{UNDERLINE}")
_ENDS_SENTENCE = re.compile(r"[.!?;,…]['\"”’)]*\Z")
_ENDS_PART = re.compile(r"[.!?:;,…—]['\"”’)]*\Z")
# What standards say of themselves introduces nothing.
_OF_ITSELF = re.compile(
    r"(?:this|the) (?:annex|appendix|chapter|clause|document|section) is"
    r" (?:normative|non-normative|informative)\.?",
    re.IGNORECASE,
)
_NAME = re.compile(r"\A([^:—–.]{2,60}?)(?::|\s(?:[—–]|-{1,3}))\s")

Spans = Sequence[tuple[int, int]]
Item = tuple[str, ...]  # its sentences
Level = tuple[str, int]  # the kind of mark, and the indent


@dataclass(frozen=True, slots=True)
class ItemList:
    """What introduces a list, its items, and whether the text ends with the last one.

    The items may continue at the beginning of the next passage.
    """

    introduction: str
    items: tuple[Item, ...]
    is_open: bool = False

    def render(self, *more: Sequence[Item]) -> tuple[str, ...]:
        """Return the list, and the items of each passage that goes on with it, as far as all fit.

        Items are whole, or have only their first sentences, or only their names. If the names are
        too long, the introduction stands alone.
        """
        for form in self.iter_forms(*more):
            if sum(map(len, form)) <= MAX_CHARACTERS:
                return form
        return (self.introduction,)

    def iter_forms(self, *more: Sequence[Item]) -> Iterator[tuple[str, ...]]:
        """Yield the list with whole items, with their first sentences, and with their names."""
        for shorten in (_say_all, _say_first, _say_name):
            own = f"{self.introduction} {_join(map(shorten, self.items))}".strip()
            yield (own, *(_join(map(shorten, items)) for items in more))


def introduces(said: str) -> bool:
    """Return whether a sentence says that a list follows."""
    return bool(_LEADS.search(said))


def read_list(text: str, spans: Spans, number: int) -> ItemList:
    r"""Return the list that follows a sentence or heading; "1." becomes "1)".

    "1." would look like the end of a sentence.

    >>> from esrag.text import sentence_spans
    >>> text = "Do this:\n1. Press. Wait.\n2. Let go.\nThen leave."
    >>> read_list(text, sentence_spans(text), 0).render()
    ('Do this: 1) Press. Wait. 2) Let go.',)
    """
    items, after = _items_after(text, spans, number)
    introduction = text[slice(*spans[number])]
    if items and introduction[-1].isalnum():
        introduction += ":"
    return ItemList(introduction, items, is_open=after == len(spans))


def read_headed_list(text: str, spans: Spans, number: int) -> ItemList | None:
    r"""Return the list below a heading, item or sentence that does not announce it, else None.

    >>> from esrag.text import sentence_spans
    >>> text = "## 2.1 Tools\n\n- a saw\n- files\n  - a flat file\n  - a round file"
    >>> read_headed_list(text, sentence_spans(text), 0).render()
    ('Tools: a saw; files, a flat file, a round file',)
    >>> read_headed_list(text, sentence_spans(text), 2).render()
    ('files: a flat file; a round file',)
    """
    begin, end = spans[number]
    said = text[begin:end]
    if not _is_item(text, spans, number + 1):
        return None
    if _is_item(text, spans, number) and not _begins_anew(text, spans, number + 1):
        return _read_list_below(text, spans, number)

    found = read_list(text, spans, number)
    begins = _COUNTED.match(found.items[0][0]) if found.items else None
    if len(found.items) < MIN_ITEMS or (begins and begins[1] not in _FIRST):
        return None
    heading = read_heading(said)
    if _OF_ITSELF.fullmatch(said) or heading.endswith("?"):
        return replace(found, introduction="")
    if _ENDS_SENTENCE.search(said):
        return found
    return replace(found, introduction=f"{heading}:") if heading else None


def _read_list_below(text: str, spans: Spans, number: int) -> ItemList | None:
    """Return the list below an item that is no sentence, else None.

    The indent of what comes first in a text is not known.
    """
    begin, end = spans[number]
    item, below = text[begin:end], read_list(text, spans, number)
    if begin == 0 or len(below.items) < MIN_ITEMS or _ENDS_SENTENCE.search(item):
        return None
    if _is_counted_on(text, spans[: number + 2], number + 1, item):  # the next item, not below
        return None
    return replace(below, introduction=f"{_say_item(item)}:")


def read_heading(said: str) -> str:
    r"""Return a heading without its number and marks; "" for any other text.

    >>> read_heading("## 2.1 Keys"), read_heading("Keys\n===="), read_heading("It is a key.")
    ('Keys', 'Keys', '')
    >>> read_heading("## Is it a key?"), read_heading("Is it a key?")
    ('Is it a key?', '')
    >>> read_heading("~~~~")  # below a question, which is a sentence of its own
    ''
    """
    if len(said) > MAX_MARKED or ITEM.match(said) or "|" in said or not _WORD.search(said):
        return ""
    bare = _MARKED.sub("", said)
    heading = drop_number(bare.strip())
    is_short = "\n" not in heading and len(heading) <= MAX_HEADING
    is_question = bare != said and heading.endswith("?")
    return heading if is_short and (is_question or not _ENDS_SENTENCE.search(heading)) else ""


def read_next_items(text: str, spans: Spans, last: Item) -> ItemList:
    """Return the items at the beginning of a text that goes on with a list after its `last` item.

    What comes before the next number belongs to the last item, and is left out.
    """
    if spans and not (_is_item(text, spans, 0) or _is_counted_on(text, spans, 0, last[0])):
        return ItemList("", ())
    return read_first_items(text, spans)


def read_first_items(text: str, spans: Spans) -> ItemList:
    """Return the items that come first in a text, without what introduces them."""
    first = next((n for n in range(len(spans)) if _is_item(text, spans, n)), len(spans))
    items, after = _items_after(text, spans[first:], -1)
    return ItemList("", items, is_open=bool(items) and after == len(spans) - first)


def _is_item(text: str, spans: Spans, number: int) -> bool:
    return number < len(spans) and _read_level(text, spans[number]) is not None


def _begins_anew(text: str, spans: Spans, number: int) -> bool:
    r"""Return whether an item is a first one, marked as the line before: that is a heading.

    >>> from esrag.text import sentence_spans
    >>> texts = ["2. How to do it\n1. Wait.\n2. Go.", "2. Tools\n - a saw\n - a file"]
    >>> [_begins_anew(text, sentence_spans(text), 1) for text in texts]
    [True, False]
    """
    counted = _COUNTED.match(text, spans[number][0])
    is_first = counted is not None and counted[1] in _FIRST
    return is_first and _read_level(text, spans[number]) == _read_level(text, spans[number - 1])


def _items_after(text: str, spans: Spans, number: int) -> tuple[tuple[Item, ...], int]:
    """Return the items after a sentence, and the number of the first sentence after them.

    A list that is too long has none. What follows an item at its own level is the next item, not a
    list below it; items of a lower level are part of the item.
    """
    items: list[Item] = []
    begin = spans[number][0] if number >= 0 else 0
    # "7. Keys", or "1. Do this:", may be a heading, whose list begins at its own indent.
    is_item = number >= 0 and ITEM.match(text, begin)
    above = _read_level(text, spans[number]) if is_item else None
    started, own = begin, ("", 0)  # the last item, and the level of all of them

    for after in range(number + 1, len(spans)):
        place, end = spans[after]
        said, level = text[place:end], _read_level(text, spans[after], is_led=number >= 0)
        if end - begin > MAX_LIST:
            return (), after
        if level and above and not _is_below(level, above):
            return tuple(items), after
        around = own if items else above
        if level and around and _is_apart(text, spans, after, around):
            return tuple(items), after

        if level and (not items or not _is_below(level, own)):
            items.append((_say_item(said),))
            started, own = place, own if len(items) > 1 else level
        elif items and (level or _goes_on(text, spans, after, started)):
            items[-1] = (*items[-1], _BULLET.sub("", said))
        else:
            return tuple(items), after

    return tuple(items), len(spans)


def _say_item(said: str) -> str:
    r"""Return an item without a mark, or with one that is no end of a sentence.

    >>> _say_item("- a saw"), _say_item("2. a file"), _say_item("key\n    A secret.")
    ('a saw', '2) a file', 'key: A secret.')
    """
    if entry := _ENTRY.match(said):
        return f"{entry[1]}: {said[entry.end() :]}"
    return _NUMBERED.sub(r"\1) ", _BULLET.sub("", said))


def _read_level(text: str, span: tuple[int, int], *, is_led: bool = False) -> Level | None:
    """Return the kind of mark of an item and its indent; None for any other line.

    In a list that a sentence leads to, a term above its definition is an item too.
    """
    said = text[slice(*span)]
    if is_led and _ENTRY.match(said):
        return "", find_indent(text, span[0])
    if not (ITEM.match(said) or _NUMBERED.match(said)):
        return None
    mark = said.split(maxsplit=1)[0]
    return _LETTERS.sub("a", _DIGITS.sub("1", mark)), find_indent(text, span[0])


def _is_below(level: Level, other: Level) -> bool:
    """Return whether an item is below another: further in, or as far with another mark."""
    return level[1] > other[1] or (level[1] == other[1] and level[0] != other[0])


def _is_apart(text: str, spans: Spans, number: int, own: Level) -> bool:
    """Return whether a numbered item is of another list than the items before, at their indent.

    As "(2)" is below an empty line and "(c)", for it is not the first one, or "1." below "-".
    """
    place, level = spans[number][0], _read_level(text, spans[number])
    counted = _COUNTED.match(text, place)
    return (
        level is not None
        and level[1] == own[1]
        and level[0] != own[0]
        and counted is not None
        and not (counted[1] in _FIRST and _WORD.search(own[0]))
        and "\n\n" in text[spans[number - 1][1] : place]
    )


def _goes_on(text: str, spans: Spans, number: int, item: int) -> bool:
    """Return whether a sentence is still of the item that starts at a place.

    It is on the same line or indented, or the item with the next number follows.
    """
    place = spans[number][0]
    between = text[spans[number - 1][1] : place]
    is_indented = find_indent(text, place) > find_indent(text, item)
    return (
        "\n" not in between
        or (between.count("\n") == 1 and is_indented)
        or _is_counted_on(text, spans, number, text[item:place])
    )


def _is_counted_on(text: str, spans: Spans, number: int, item: str) -> bool:
    """Return whether one of the sentences from `number` on is the item with the next number."""
    counted = _COUNTED.match(item)
    if not counted:
        return False

    following = int(counted[1]) + 1 if counted[1].isdigit() else chr(ord(counted[1]) + 1)
    wanted = re.compile(rf"\(?{following}[.)]\s")
    near = takewhile(
        lambda n: spans[n][0] - spans[number][0] <= MAX_ITEM, range(number, len(spans))
    )
    return any(wanted.match(text, spans[n][0]) for n in near)


def find_indent(text: str, place: int) -> int:
    """Return how many characters are before a place on its line."""
    return place - text.rfind("\n", 0, place) - 1


def _say_all(item: Item) -> str:
    """Return the sentences of an item, with a comma after each item in it."""
    *first, last = item
    said = [each if _ENDS_PART.search(each) else f"{each}," for each in first]
    return " ".join([*said, last])


def _say_first(item: Item) -> str:
    """Return the first sentence of an item, without what introduces parts that are left out.

    >>> _say_first(("Saw it. Use one of:", "a bow saw")), _say_first(("tools:", "a saw"))
    ('Saw it.', 'tools')
    """
    start, end = next(iter(sentence_spans(item[0])), (0, None))
    return _LEADS_BELOW.sub("", item[0][start:end])


def _say_name(item: Item) -> str:
    """Return what comes before the colon or dash of an item, else its first sentence."""
    named = _NAME.match(item[0])
    return named[1] if named else item[0]


def _join(items: Iterable[str]) -> str:
    """Return items in a row, with a semicolon after each that does not end a sentence."""
    said = [*items]
    marked = [each if _ENDS_SENTENCE.search(each) else f"{each};" for each in said[:-1]]
    return " ".join([*marked, *said[-1:]])
