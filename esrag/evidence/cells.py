"""Cells: the part of a table row that a question asks for, labelled as its row and column are."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from esrag.evidence import NO_DIRECT_ANSWER, SURE, DirectAnswer, Statement, find_best
from esrag.evidence.counts import gives_default, lacks_asked_number
from esrag.evidence.labels import DATES, find_labels
from esrag.evidence.lines import lines, to_line
from esrag.evidence.named_rows import find_unnamed, is_asked_for
from esrag.evidence.ranges import keep_columns, split_rows
from esrag.evidence.tables import NONE, Row, is_figure
from esrag.records import Evidence
from esrag.text import split_sentences
from esrag.text.dates import list_dates, list_only_dates, without_dates
from esrag.text.figures import header_units, is_unit, to_figures
from esrag.text.lists import MAX_CHARACTERS
from esrag.text.questions import find_other_terms, read_question, read_sides
from esrag.text.rows import find_name
from esrag.text.terms import MONTHS, compounds, find_years, terms

MIN_SHARED = 3  # words of the question in a cell with its labels
MAX_CELLS = 3  # more of them are the whole row
MAX_ROWS = 2  # that a question may compare

# Share of the question's words that a row has to have with its caption and the passage's titles,
# for its cell to be the answer without being the best statement. A label such as ML-KEM-768 tells
# more than other words.
MIN_SHARE, MIN_TECHNICAL_SHARE = 0.7, 0.4
# The same where the best statement has no number that the question asks for.
MIN_SHARE_FOR_NUMBER = 0.4
MIN_SHARE_FOR_VALUE = 0.5  # the same if the question names no header

_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]")
_SCALE = re.compile(
    r"\b[Ii][Nn] ((?i:thousand|million|billion)s?"
    r"(?: of(?: US| Swiss)? \w{1,20}| [A-Z]{3}\b| dollars| euros)?)"
)
_OF_ITS_OWN = re.compile(  # headers of columns that a table's unit does not apply to
    r"[%$€£]|\b(?:per|number|count|shares|staff|employees|people|rate|ratio|year|age|date|no)\b",
    re.IGNORECASE,
)
_ROW_OF_ITS_OWN = re.compile(
    r"%|\b(?:per (?:\w+ )?share|number|shares|staff|employees|ratio|rate)\b", re.IGNORECASE
)
_ASKS_FOR_MORE = re.compile(
    r"\W*(?:why|where|who|whom|whose|can|could|may|must|shall|should)\b", re.IGNORECASE
)
_SUPERLATIVE = re.compile(r"\b(\w{3,12})est\b")  # no table has the "inter" of interest
_NOT = re.compile(r"[(,]\s?not (?:the )?[^(),?]{1,40}|[(,][^(),?]{1,60} included\b")
MAX_QUARTERS, HALF_YEAR = 4, 6
_QUARTERS = ("first", "second", "third", "fourth", "1", "2", "3", "4")
_QUARTER = re.compile(r"\b(?:(first|second|third|fourth) quarter|q([1-4]))\b", re.IGNORECASE)
_NOUN = re.compile(
    r"\b(?:what|which) (?:[\w-]{1,40} ){0,3}?([\w-]{1,40})"
    r" (?:is|are|was|were|do|does|did|can|must|may|has|have|should|will)\b",
    re.IGNORECASE,
)
_OF_ANY_COLUMN = set(
    terms(
        "amount cost date figure kind length name number percentage price share size sum time total"
        " type value version year"
    )
)
_QUESTION_WORDS = set(terms("how much many"))
_PARTS = "; "
_CHANGES = set(terms("change increase decrease growth difference variance"))

Column = tuple[str, str]
Sides = Sequence[Sequence[str]]  # the terms of each thing that a question compares


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A row of a passage, and what it shares with the question."""

    key: str
    row: Row
    text: str
    asked: set[str]  # words of the question, with those that it says in another way
    numbers: int  # of the question that its label has and no header of it: a year, a size
    matched: int  # words of its label only
    explained: int  # words of its label and of its best header
    missing: int  # words of its name that the question lacks, none if it has the label's number
    unasked: int  # the same of its whole label
    headers: int  # words of its best header
    beyond: int  # other words of that header
    share: float  # of the question's words that its labels have with its caption and titles
    whole_share: float  # the same with its other cells
    is_technical: bool  # a technical word of the question is in its label, or its date in the row
    is_compared: bool  # its label is one of the things that the question compares


def answer_cells(
    question: str, evidence: Sequence[Evidence], statements: Sequence[Statement]
) -> DirectAnswer:
    """Return the cells that answer the question.

    Only rows that are among the statements count, or are too long to be one. The question has to
    have the whole label of a row and words of a header, or ask for a column and name another cell
    of the row. Otherwise the best statement counts if it is a row, or a row of its table with a
    better label.
    """
    best = find_best(statements)
    if not _asks_for_cell(question, evidence) or _is_answered(question, best):
        return NO_DIRECT_ANSWER

    asked, sides = _asked(question), read_sides(question)
    rows = [row for item in evidence for row in _candidates(question, item, asked, sides)]
    rows = _drop_unnamed(question, _keep_known(rows, statements))
    named = [row for row in rows if _is_named(row)]
    own = next((row for row in rows if best and row.text == best.text), None)
    by_name = _best([row for row in named if not row.unasked] or named)
    by_other = [] if by_name else _find_asked_for(question, rows)
    chosen = (
        by_name or by_other or _best_of_number(question, rows, best) or _best_of_table(rows, own)
    )

    found = tuple((row.key, _pick(row.asked, row.row, sides) or "") for row in chosen)
    is_told = all(len(list(split_sentences(text))) == 1 for _, text in found)
    is_lost = _loses_number(question, found, chosen) or _asks_for_other(question, chosen)
    if not (found and is_told) or is_lost:
        return _whole_row(by_name or by_other, own)
    said = {word for _, text in found for word in _terms(text)}
    if any(said.isdisjoint(side) or _is_of_another(side, chosen, rows) for side in sides):
        return NO_DIRECT_ANSWER  # of one thing only, where two are compared
    if by_name and _has_years(question, by_name, evidence):
        return DirectAnswer(found, "named")
    is_shared = all(
        row.matched or len(asked & _terms(text)) >= MIN_SHARED
        for row, (_, text) in zip(chosen, found, strict=True)
    )
    return DirectAnswer(found, "row" if is_shared else "")


def _asks_for_cell(question: str, evidence: Sequence[Evidence]) -> bool:
    """Return whether a cell may be the answer: of a table, or of a row with a date asked for."""
    has_table = any("|" in item.chunk.text for item in evidence)
    return not _ASKS_FOR_MORE.match(question) and (has_table or bool(list_dates(question)))


def _is_answered(question: str, best: Statement | None) -> bool:
    """Return whether a sentence surely answers a question of yes or no."""
    is_sentence = best is not None and not best.is_row and (best.reading or 0.0) >= SURE
    return is_sentence and read_question(question).kind == "yesno"


def _is_of_another(
    side: Sequence[str], chosen: Sequence[_Candidate], rows: Sequence[_Candidate]
) -> bool:
    """Return whether another row of the table is about a thing, and none of the chosen ones is.

    "Max. speed" in the row of one plan does not tell of the plan "Max".
    """
    own = {word for row in chosen for word in _terms(_label(row.row))}
    others = (row for row in rows if any(_is_of_table(row, each) for each in chosen))
    return own.isdisjoint(side) and any(
        not _terms(_label(row.row)).isdisjoint(side) for row in others
    )


def _has_years(question: str, rows: Sequence[_Candidate], evidence: Sequence[Evidence]) -> bool:
    """Return whether each row has the years in question, or its table or the titles above it."""
    asked, headings = find_years(question), {item.key: item.chunk.headings for item in evidence}
    told = (f"{headings[row.key]}\n{row.row.above}\n{row.text}" for row in rows)
    return all(asked <= find_years(text) for text in told)


def _asks_for_other(question: str, rows: Sequence[_Candidate]) -> bool:
    """Return whether a question asks for something that neither the row nor a header names.

    Asked for permissions, "Mode" may be the column, though another has a word of the question.
    """
    found = _NOUN.search(question)
    noun = set(terms(found[1])) - _OF_ANY_COLUMN if found else set[str]()
    own = _terms(question)
    said = {word for row in rows for word in _terms(row.text) | (row.asked - own)}
    return bool(noun) and noun.isdisjoint(said)


def _keep_known(rows: Sequence[_Candidate], statements: Sequence[Statement]) -> list[_Candidate]:
    known = {(each.key, each.text) for each in statements}
    return [row for row in rows if (row.key, row.text) in known or len(row.text) > MAX_CHARACTERS]


def _drop_unnamed(question: str, rows: Sequence[_Candidate]) -> list[_Candidate]:
    named = [_name_cells(row) for row in rows]
    unnamed = find_unnamed(question, named)
    return [row for row, cells in zip(rows, named, strict=True) if cells not in unnamed]


def _find_asked_for(question: str, rows: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the row that a question names with another cell than it asks for, if it is one."""
    found = {
        row.row: row
        for row in rows
        if is_asked_for(question, _name_cells(row), [header for header, _ in row.row.cells])
    }
    return [*found.values()] if len(found) == 1 else []


def _name_cells(row: _Candidate) -> tuple[str, str, tuple[str, ...]]:
    return row.key, row.text, tuple(cell for _, cell in row.row.cells)


def _loses_number(
    question: str, found: Sequence[tuple[str, str]], rows: Sequence[_Candidate]
) -> bool:
    """Return whether a question asks for a number, and its row has one, but no cell has a figure.

    The description of a parameter may have "Default is 20."
    """
    if any(any(map(str.isdigit, text)) for _, text in found):
        return False
    told = (Statement(key, 0, text) for key, text in found)
    whole = (Statement(row.key, 0, row.text) for row in rows)
    return any(
        lacks_asked_number(question, cell) and not lacks_asked_number(question, row)
        for cell, row in zip(told, whole, strict=True)
    )


def _whole_row(by_name: Sequence[_Candidate], own: _Candidate | None) -> DirectAnswer:
    """Return the row that the question names, whose cell has several sentences.

    Otherwise the best statement's, if its label is a technical word of the question.
    """
    if len(by_name) == 1 and len(by_name[0].text) <= MAX_CHARACTERS:
        return DirectAnswer(((by_name[0].key, by_name[0].text),), "row")
    if (
        own is None
        or not own.is_technical
        or own.missing
        or len(list(split_sentences(own.text))) != 1
    ):
        return NO_DIRECT_ANSWER
    return DirectAnswer(((own.key, own.text),), "row")


def _pick(asked: set[str], row: Row, sides: Sides) -> str | None:
    """Return the cells of the row that are asked for, each labelled, or None for the whole row.

    The row has to share words with the question, and so does a column's header with words that the
    other headers lack.
    """
    values = row.cells[1:]
    words = [cell for n, (_, cell) in enumerate(row.cells) if not n or not is_figure(cell)]
    if not _label(row) or not any(asked & _terms(word) for word in words):
        return None

    picked, _ = _columns(_without_label(asked, row), values, sides)
    if not 0 < len(picked) <= MAX_CELLS or all(_is_told(values[n][1], asked) for n in picked):
        return None
    return f"{_label(row)}, {_PARTS.join(_render(values[n], row) for n in picked)}"


def _is_told(cell: str, asked: set[str]) -> bool:
    """Return whether a cell says nothing that the question does not; a dash stands for none."""
    return cell not in NONE and _terms(cell) <= asked


def is_cell_of(text: str, row: Row) -> bool:
    """Return whether a text is one or several cells of the row, as `answer_cells` gives them."""
    label = _label(row)
    if not label or not text.startswith(f"{label}, "):
        return False

    rest = f"{text.removeprefix(f'{label}, ')}{_PARTS}"
    for cell in row.cells[1:]:
        rest = rest.removeprefix(f"{_render(cell, row)}{_PARTS}")
    return not rest


def _asked(question: str) -> set[str]:
    """Return the words of a question, also as tables write them: high for highest, depth for deep.

    >>> sorted(_asked("The highest price at the end of 2021?") - _terms("highest price end 2021"))
    ['31', 'decemb', 'high']
    """
    question = _NOT.sub(" ", question)
    return _terms(question).union(*_list_added(question).values())


def _quarter(question: str) -> int:
    """Return the quarter that a question asks for, 1..4, else 0."""
    found = _QUARTER.search(question)
    return _QUARTERS.index((found[1] or found[2]).casefold()) % MAX_QUARTERS + 1 if found else 0


def _find_quarters(question: str, rows: Iterable[Row]) -> set[Row]:
    """Return the rows of the quarter that a question asks for, whatever their dates.

    The third quarter is the third row below "Quarter ended", or the third of four from below if the
    rows go back in time.
    """
    quarter = _quarter(question)
    tables: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows if quarter else ():
        if row.cells and "quarter" in row.cells[0][0].casefold():
            tables[tuple(header for header, _ in row.cells)].append(row)

    found = set[Row]()
    for table in tables.values():
        place = MAX_QUARTERS - quarter if _goes_back(table) else quarter - 1
        found |= {*table[place : place + 1]}
    return found


def _goes_back(rows: Sequence[Row]) -> bool:
    """Return whether the first two rows are named by months, the later one first."""
    names = [row.cells[0][1] for row in rows[:2]]
    months = [n for name in names for n, month in enumerate(MONTHS) if month[:3] in name]
    return len(months) == len(rows[:2]) > 1 and (months[1] - months[0]) % len(MONTHS) > HALF_YEAR


def _terms(text: str) -> set[str]:
    return set(terms(to_figures(text)))


def _iter_rows(question: str, text: str) -> Iterator[tuple[str, Row, bool]]:
    """Yield the rows with a label and values, each as a line, and whether it is the one meant.

    Rows of other years, dates or ranges than the question's are left out.
    """
    years, dates = find_years(question), {*list_dates(question)}
    said = lines(text)
    rows = [line.row for line in said if line.row]
    in_range, out_of_range = split_rows(question, rows)
    meant = in_range | _find_quarters(question, rows)

    for line in said:
        row = line.row
        if row is None or not row.cells or not _label(row) or row in out_of_range:
            continue
        names = tuple(header for header, _ in row.cells)
        given = find_years("\n".join((row.above, row.cells[0][1], *names)))
        days = {day for _, cell in row.cells for day in list_only_dates(cell)} if dates else None
        is_other = days and dates.isdisjoint(days)
        if not is_other and (not years or not given or years & given):
            yield to_line(line.text), keep_columns(question, row), row in meant


def _candidates(
    question: str, item: Evidence, words: set[str], sides: Sides
) -> Iterator[_Candidate]:
    """Yield the rows of a passage with what they share with the question."""
    titles = _terms(item.chunk.headings)
    given, named, members = _terms(question), compounds(question), _members(question)
    dates, bare, added = {*list_dates(question)}, without_dates(question), _list_added(question)

    for text, row, is_meant in _iter_rows(question, item.chunk.text):
        name = row.cells[0][1]
        asked = words | (_terms(name) if is_meant else set())
        cells = [cell for _, cell in row.cells] if dates else []
        if dated := [cell for cell in cells if dates.intersection(list_only_dates(cell))]:
            asked = _terms(bare) | _terms(" ".join(dated))
        other = _without_label(asked, row)
        columns, shared = _columns(other, row.cells[1:], sides)
        heads = _terms(" ".join(header for header, _ in row.cells))
        headers = [_terms(row.cells[1 + n][0]) for n in columns] if shared else []
        over = set[str]().union(*headers)
        label = _label_terms(row, asked)
        unasked = set() if _is_member(name, members, asked) else label - asked
        held = titles | _terms(row.above) | label | heads
        yield _Candidate(
            key=item.key,
            row=row,
            text=text,
            asked=asked,
            numbers=0 if unasked else sum(map(str.isdigit, (label & given) - heads)),
            matched=len((asked & label) - over),
            explained=len(asked & label)
            + max((len(other & words) for words in headers), default=0),
            missing=len(unasked & _terms(find_name(name))),
            unasked=len(unasked),
            headers=shared,
            beyond=len(over - asked),
            share=_share(asked, held, added),
            whole_share=_share(asked, held | _terms(text), added),
            is_technical=bool(dated) or not named.isdisjoint(compounds(name) | label),
            is_compared=any(label <= {*side} for side in sides),
        )


@lru_cache(maxsize=8)  # a question is looked for in many passages
def _list_added(question: str) -> dict[str, set[str]]:
    """Return what tables have instead of a question's words: price for cost, high for highest."""
    bases = _SUPERLATIVE.findall(question)
    added = {term: _terms(base) for base in bases for term in _terms(f"{base}est")}
    return added | find_other_terms(question)


def _share(asked: set[str], held: set[str], added: dict[str, set[str]]) -> float:
    """Return the share of the words asked for that are held, or have other words that are.

    >>> asked, added = _asked("cash at the end of 2021"), _list_added("cash at the end of 2021")
    >>> _share(asked, {"cash", "31", "decemb", "2021"}, added)
    1.0
    >>> _share({"drill", "cost", "price"}, {"drill", "price"}, {"cost": {"price"}})
    1.0
    """
    own = asked - set[str]().union(*added.values()) - _QUESTION_WORDS
    found = [word for word in own if word in held or not held.isdisjoint(added.get(word, ()))]
    return len(found) / max(len(own), 1)


def _label_terms(row: Row, asked: set[str]) -> set[str]:
    """Return the words of a row's label; a number has its header's: the "4-byte" row, or "FAL2".

    >>> row = Row("", (("FAL", "2"), ("Requirement", "signed")))
    >>> _label_terms(row, {"fal2"}), sorted(_label_terms(row, {"fal", "2"}))
    ({'fal2'}, ['2', 'fal'])
    """
    header, name = row.cells[0]
    if not name.isdecimal():
        return _terms(name)
    joined = f"{header}{name}".casefold()
    return {joined} if joined in asked else {name} | (_terms(header) & asked)


def _members(text: str) -> set[tuple[str, str]]:
    """Return the numbered members of series that a text names: lamp 7, berth 12, but no dates."""
    return {
        (word, label)
        for word, found in find_labels(to_figures(text)).items()
        for label in found
        if label.isdigit() and word not in DATES
    }


def _is_member(label: str, named: set[tuple[str, str]], asked: set[str]) -> bool:
    """Return whether a row's label has a member that is named, and no number that is not.

    >>> named = {("berth", "12")}
    >>> _is_member("Berth 12 at the quay", named, {"berth", "12"})
    True
    >>> _is_member("Berth 12 in 2021", named, {"berth", "12", "2020"})
    False
    """
    return bool(_members(label) & named) and not any(map(str.isdigit, _terms(label) - asked))


def _is_named(row: _Candidate) -> bool:
    """Return whether the question names the row and the column, and is about little else."""
    least = MIN_TECHNICAL_SHARE if row.is_technical or row.is_compared else MIN_SHARE
    values = row.row.cells[1:]
    is_said = len(values) == 1 and any(map(str.isalpha, values[0][1]))
    is_asked_for = row.is_technical and is_said and row.whole_share >= MIN_SHARE_FOR_VALUE
    has_column = row.headers or is_asked_for
    return bool(row.matched and has_column) and not row.missing and row.whole_share >= least


def _is_other_change(row: _Candidate) -> bool:
    """Return whether a row gives a change, such as a cash flow, and the question asks for none."""
    return not row.asked & _CHANGES and not _CHANGES.isdisjoint(_terms(_label(row.row)))


def _best(rows: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the rows whose label fits best, and that have most words of the question."""
    fits = [
        (
            row.numbers,
            row.explained,
            -row.missing,
            not _is_other_change(row),
            -row.unasked,
            -row.beyond,
            round(row.share, 3),
        )
        for row in rows
    ]
    most = max(fits, default=())
    found = {row.row: row for row, fit in zip(rows, fits, strict=True) if fit == most}
    apart = {_figures(row): row for row in reversed(found.values())}
    return [*reversed(apart.values())] if len(apart) <= MAX_ROWS else []


def _figures(candidate: _Candidate) -> tuple[str, ...]:
    """Return a row's name and figures: tables that repeat them say the same."""
    (_, label), *values = candidate.row.cells
    return label.casefold(), *(re.sub(r"[^\d.()-]", "", text) for _, text in values)


def _best_of_number(
    question: str, rows: Sequence[_Candidate], best: Statement | None
) -> list[_Candidate]:
    """Return the row with the number that the question asks for and the best statement lacks."""
    if not lacks_asked_number(question, best):
        return []
    named = [row for row in rows if row.matched and row.headers and not row.unasked]
    return _best([row for row in named if row.whole_share >= MIN_SHARE_FOR_NUMBER])


def _best_of_table(rows: Sequence[_Candidate], own: _Candidate | None) -> list[_Candidate]:
    """Return the best row, or those whose label fits better, and whose whole fits no worse."""
    if own is None:
        return []
    rows = [row for row in rows if row.is_compared or row.whole_share >= own.whole_share]
    better = [
        row
        for row in rows
        if _is_of_table(row, own) and (row.numbers, row.explained) > (own.numbers, own.explained)
    ]
    named = [row for row in rows if row.matched and row.headers and not row.missing]
    elsewhere = [
        row
        for row in named
        if row.explained > own.explained or (own.missing and row.explained == own.explained)
    ]
    return _best(better) or _best(elsewhere) or [own]


def _is_of_table(row: _Candidate, other: _Candidate) -> bool:
    names = [name for name, _ in row.row.cells], [name for name, _ in other.row.cells]
    return row.row == other.row or (names[0] == names[1] and _caption(row) == _caption(other))


def _caption(row: _Candidate) -> str:
    return row.row.above.removesuffix(row.row.group)


def _label(row: Row) -> str:
    """Return what names the row: its first cell, below the title of its group.

    A number is named by its header: "Lamp: 7".
    """
    if len(row.cells) < 2:  # noqa: PLR2004 -- a label and a value
        return ""
    header, cell = row.cells[0]
    name = cell.rstrip(" ,:;")
    if header and not any(map(str.isalpha, name)):
        name = f"{header.rstrip(' ,:')}: {name}"
    return f"{row.group}: {name}" if row.group else name


def _columns(asked: set[str], values: Sequence[Column], sides: Sides) -> tuple[list[int], int]:
    """Return the columns whose headers share most words with the question, and how many words.

    Words of all headers do not count, unless there is only one column. A column without other words
    is better. A comparison of two columns asks for both.
    """
    headers = [_terms(name) | _gives_default(text) for name, text in values]
    common = set.intersection(*headers) if len(headers) > 1 else set[str]()
    own = [words - common for words in headers]

    def find_of(side: set[str]) -> list[int]:
        return [n for n, words in enumerate(headers) if words >= side or set() < own[n] <= side]

    compared = [find_of({*side}) for side in sides]
    if compared and all(compared):
        return sorted({n for columns in compared for n in columns}), len(sides)

    shared = [len(asked & words) for words in own]
    most = max(shared, default=0)
    if len(values) == 1:
        return [0], most
    best = [n for n, count in enumerate(shared) if count == most and most]
    exact = [n for n in best if own[n] <= asked]
    return exact or best, most


def _gives_default(text: str) -> set[str]:
    """Return the word "default" if a cell says which value that is, else nothing."""
    return {"default"} if gives_default(text) else set()


def _without_label(asked: set[str], row: Row) -> set[str]:
    """Return the words of a question without those of the row, if it names all of these."""
    label = _terms(row.cells[0][1])
    return asked - label if label <= asked else asked


def _render(cell: Column, row: Row) -> str:
    """Return a cell with its header, and with the unit that its table gives for all figures."""
    name, text = cell[0].rstrip(" ,:"), cell[1].rstrip(" ,") or cell[1]
    unit = _unit(cell, row) if is_figure(text) else ""
    return " ".join(filter(None, (f"{name}:" if name else "", text, unit)))


def _unit(cell: Column, row: Row) -> str:
    """Return the unit of a figure that has none in its own cell and header, else "".

    A power of ten is said as the table says it: "(in millions of CHF)".
    """
    name, text = cell
    if "%" in text or _SCALE.search(name) or _OF_ITS_OWN.search(name):
        return ""
    if _ROW_OF_ITS_OWN.search(row.cells[0][1]):
        return ""

    for above in (row.cells[0][0], row.above):
        if scale := _SCALE.search(above):
            return f"(in {scale[1]})"
    return "" if re.search(r"[$€£]", text) or header_units(name) else _unit_above(row)


def _unit_above(row: Row) -> str:
    """Return the unit in brackets above a table, or above the names of its rows, else ""."""
    for above in (row.cells[0][0], row.above):
        for inside in _BRACKETS.findall(above):
            unit = str(inside).removeprefix("in ").strip()
            if unit.isalpha() and is_unit(unit):
                return unit
    return ""
