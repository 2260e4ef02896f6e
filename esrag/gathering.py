"""Gathering: a question → hits → the evidence that may answer it.

If the evidence does not suffice, other wordings are searched, at most `answer.steps` searches in
all. The best one counts. No language model writes an answer before the evidence is good enough.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from esrag.citations import Reason
from esrag.context import Context
from esrag.engines import Engine, SearchResult
from esrag.engines.clock import Clock
from esrag.errors import GeneratorError
from esrag.evidence import NO_DIRECT_ANSWER, DirectAnswer, Statement, find_best, selection
from esrag.evidence.abbreviations import add_abbreviations
from esrag.evidence.algorithms import extract_steps, with_steps
from esrag.evidence.cells import answer_cells
from esrag.evidence.confidence import Signals, confidence
from esrag.evidence.counts import find_default, lacks_asked_number, lacks_default
from esrag.evidence.entries import find_entry
from esrag.evidence.first_cells import answer_first_cells, with_tables
from esrag.evidence.imprint import answer_author, answer_date, answer_release
from esrag.evidence.open_lists import with_open_lists
from esrag.evidence.quantities import gives_other_kind, lacks_asked_unit
from esrag.evidence.selection import EvidenceBudget, compress_evidence
from esrag.evidence.statements import statements
from esrag.evidence.step_headings import answer_procedure, with_procedure
from esrag.evidence.values import answer_value
from esrag.filters import Filter
from esrag.generating.rewriting import reformulate, subject
from esrag.records import Chunk, Evidence, Hit
from esrag.results import Step
from esrag.retrieval import measure_cosines, retrieve
from esrag.retrieving.neighbours import with_neighbours
from esrag.retrieving.spelling import Correction, repair
from esrag.retrieving.variants import phrases, variants
from esrag.text import word_spans
from esrag.text.dates import gives_other_dates
from esrag.text.mentions import leave_out_numbers
from esrag.text.terms import MONTHS, compounds, find_years, gives_other_years, terms

# Said in many ways: periods, and sizes such as "5-character".
_NO_NAME = re.compile(r"[hq][1-4]|fy(?:\d\d){1,2}|\d+(?:-[a-z]+)+")
_BEFORE_NUMBER = re.compile(r"(?<=[a-z])(?:\\-)?(?=\d)")  # of an escaped word
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
# Chunks before and after a hit that are looked at. The longest algorithm of FIPS 203 spans four;
# the steps of a tutorial may be chapters.
REACH, FAR = 3, 40

_NAME = re.compile(r"(?<=[\w,;] )[A-Z][a-z]\w{2,}")
MIN_NAME = 4  # letters of a name that a passage has: "German" for "Germany"
STRANGE = 0.2  # cosine; below it, what was answered in four collections had words in common
THEME, THEME_CHUNKS = 0.05, 10  # of a collection, that have the name of what it is about

_ASKS = re.compile(r"[^\W_]{2}|[^\x00-\x7f]")  # one letter asks for nothing


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the best search found for a question, and what it lacks; `steps` are all searches.

    `algorithm` holds the steps of the algorithm in question, each with its marker; "" without one.
    `cells` are those of tables that answer the question.
    """

    retrieved: SearchResult
    evidence: tuple[Evidence, ...]
    statements: tuple[Statement, ...]
    signals: Signals
    confidence: float
    lacks: Reason | None
    steps: tuple[Step, ...] = ()
    algorithm: str = ""
    cells: DirectAnswer = NO_DIRECT_ANSWER


def repair_spelling(
    question: str, context: Context, where: Filter | None = None
) -> tuple[str, tuple[Correction, ...]]:
    """Return the question in the documents' spelling, if `retrieval.spelling` is on."""
    if not context.settings.retrieval.spelling:
        return question, ()
    return repair(question, context.engine, context.embedder, where)


def select(question: str, query: str, result: SearchResult, context: Context) -> Gathered:
    """Return the passages among a query's hits that may be cited, and how sure they make."""
    clock = Clock()
    evidence, stated = _select(question, result, context)

    is_plain = query == question and not context.settings.retrieval.variants
    closeness = _closeness(result) if is_plain else _closeness_to(question, result, context)
    best = find_best(stated)
    cells = _find_cells(question, evidence, stated, result.hits, context)
    algorithm = extract_steps(question, evidence, enabled=context.settings.answer.algorithms)
    has_entry = find_entry(question, stated) is not None
    signals = Signals(
        relevance=best.fit if best else 0.0,
        closeness=closeness,
        is_unknown=not has_entry and _is_unknown(question, evidence),
        lacks_unit=lacks_asked_unit(question, stated) or lacks_default(question, stated),
        lacks_number=lacks_asked_number(question, best)
        and not find_default(question, best, stated),
        lacks_year=_lacks_year(question, best),
        lacks_name=_lacks_name(question, evidence, context.engine),
        cell=cells.way,
        reading=best.reading if best else None,
        has_steps=bool(algorithm),
        has_entry=has_entry,
        is_row=best is not None and best.is_row,
    )
    is_strange = _is_strange(f"{question} {query}", closeness, evidence)
    sureness = confidence(signals) if _ASKS.search(question) and not is_strange else 0.0
    clock.lap("evidence")

    return Gathered(
        retrieved=replace(result, took_ms={**result.took_ms, **clock.took_ms}),
        evidence=evidence,
        statements=stated,
        signals=signals,
        confidence=sureness,
        lacks=_lack(result, sureness, context),
        algorithm=algorithm,
        cells=cells,
    )


def _find_cells(
    question: str,
    evidence: Sequence[Evidence],
    stated: Sequence[Statement],
    hits: Sequence[Hit],
    context: Context,
) -> DirectAnswer:
    """Return the cells, the steps of a procedure, or the author or date that are asked for."""
    ways: tuple[Callable[[], DirectAnswer], ...] = (
        lambda: answer_cells(question, evidence, stated),
        lambda: answer_procedure(question, evidence, hits, _look_around(context, FAR)),
        lambda: answer_first_cells(question, evidence, _look_around(context)),
        lambda: answer_value(question, evidence, stated),
        lambda: answer_release(question, evidence, stated),
        lambda: answer_author(question, evidence, stated),
        lambda: answer_date(question, evidence, stated),
    )
    cells = next((each for way in ways if (each := way()).found), NO_DIRECT_ANSWER)
    is_of_other_kind = any(gives_other_kind(question, text) for _, text in cells.found)
    return NO_DIRECT_ANSWER if is_of_other_kind else cells


def _is_strange(words: str, closeness: float | None, evidence: Sequence[Evidence]) -> bool:
    """Return whether no passage has any of the words, or means nearly the same.

    The reader was not trained with such questions, and takes some for answered.
    """
    asked = set(terms(words))
    if not asked or closeness is None or closeness >= STRANGE:
        return False
    return all(asked.isdisjoint(terms(_whole(item.chunk))) for item in evidence)


def _is_unknown(question: str, evidence: Sequence[Evidence]) -> bool:
    """Return whether the question has a technical word or a year that no passage has."""
    named = {name for name in compounds(question) if not _NO_NAME.fullmatch(name)}
    named |= find_years(question)
    for item in evidence if named else ():
        text = _whole(item.chunk).translate(_DASHES)
        named -= set(terms(text))
        named = {name for name in named if not _has_word(text, name)}
    return bool(named)


def _lacks_name(question: str, evidence: Sequence[Evidence], engine: Engine) -> bool:
    """Return whether the question has a name that no passage has, though passages would have it.

    What the collection is about, such as Python, need not be in a passage about one part of it.
    """
    missing = {name: terms(name) for name in _find_missing_names(question, evidence)}
    if not missing:
        return False
    counts = engine.count_terms([term for found in missing.values() for term in found])
    many = max(THEME_CHUNKS, THEME * engine.info().chunks)
    return any(all(counts.get(term, 0) < many for term in found) for found in missing.values())


def _find_missing_names(question: str, evidence: Sequence[Evidence]) -> list[str]:
    """Return the names in a question that no passage has, not even in another form.

    A name is a capitalised word after the first one, unless most of these are capitalised.

    >>> _find_missing_names("How tall is Mount Everest in May?", [])
    ['Mount', 'Everest']
    >>> _find_missing_names("Weather Limits Of Ferries", [])
    []
    >>> _find_missing_names("For lamp 7, Which oil is used?", [])
    []
    """
    words = question.split()[1:]
    found = [each[0] for each in _NAME.finditer(question)]
    names = [name for name in found if terms(name) and name not in MONTHS]
    if not names or 2 * sum(word[0].isupper() for word in words) > len(words):
        return []
    held = _fold("\n".join(_whole(item.chunk) for item in evidence))
    return [name for name in names if _fold(name)[: max(MIN_NAME, len(name) - 2)] not in held]


def _whole(chunk: Chunk) -> str:
    """Return a passage with the names of its document and section."""
    return f"{chunk.doc_id}\n{chunk.whole_text}"


def _fold(text: str) -> str:
    """Return a text in lower case without accents.

    >>> _fold("Säntis")
    'santis'
    """
    plain = unicodedata.normalize("NFKD", text)
    return "".join(one for one in plain if not unicodedata.combining(one)).casefold()


def _lacks_year(question: str, best: Statement | None) -> bool:
    """Return whether the best statement has other years or dates than the question.

    Years may also be in its headings.

    >>> said = Statement("c1", 0, "It was 5 in 2021."), Statement("c1", 0, "It was 5.")
    >>> [_lacks_year("What was it in 2020?", each) for each in said]
    [True, False]
    """
    if best is None:
        return False
    told = f"{best.section} {best.under} {best.text}"
    return gives_other_years(find_years(question), told) or gives_other_dates(question, best.text)


def _has_word(text: str, word: str) -> bool:
    """Return whether a text has a technical word, perhaps with its number apart or in four digits.

    >>> _has_word("PEP 8", "pep8"), _has_word("pep-0008", "pep8"), _has_word("SHA-256-A", "sha-256")
    (True, True, False)
    """
    spaced = _BEFORE_NUMBER.sub("[ -]?0{0,3}", re.escape(word))
    return bool(re.search(rf"(?<!\w)(?<!\w[.-]){spaced}(?!\w|[.-]\w)", text, re.IGNORECASE))


class Searches:
    """The searches for a question: the first sufficient one counts, else the most confident one.

    Of equally confident searches the earliest counts.
    """

    def __init__(self, question: str, context: Context, where: Filter | None) -> None:
        self._question, self._context, self._where = question, context, where
        self._steps: list[Step] = []
        self._notes: list[str] = []
        self._best: Gathered | None = None

    def iter_queries(self) -> Iterator[str]:
        """Yield the question, then other words for it, until one finds enough evidence."""
        queries = _queries(self._question, self._context, self._notes)
        for query in islice(queries, self._context.settings.answer.steps):
            yield query
            if self._best and not self._best.lacks:
                return

    def add(self, query: str, found: Gathered) -> None:
        """Note what a query found."""
        self._steps.append(Step(query, len(found.retrieved.hits), found.confidence))
        best = self._best
        if best is None or (best.lacks and (not found.lacks or found.confidence > best.confidence)):
            self._best = found

    def result(self) -> Gathered:
        """Return what the search that counts found."""
        best = self._best
        if best is None:
            raise AssertionError("the question itself is the first query")

        retrieved = replace(best.retrieved, notes=(*best.retrieved.notes, *self._notes))
        lacks = _reason(best, self._steps, self._context, self._where)
        return replace(best, retrieved=retrieved, lacks=lacks, steps=tuple(self._steps))


def _reason(
    found: Gathered, steps: Sequence[Step], context: Context, where: Filter | None
) -> Reason | None:
    """Return why the evidence does not suffice, as precisely as all searches tell."""
    if found.lacks == "no-hits" and where and retrieve(steps[0].query, context).hits:
        return "filtered-out"
    if found.lacks == "below-threshold" and 1 < len(steps) == context.settings.answer.steps:
        return "budget"
    return found.lacks


def _queries(question: str, context: Context, notes: list[str]) -> Iterator[str]:
    """Yield the question, then other words for it: by rules, by a model, and its bare subject.

    The model is called until it has no new ones, each time with everything tried so far. If it
    fails, `notes` say so.
    """
    queries = [*variants(question, phrases(context.settings.retrieval.operations))]
    yield from queries

    while (query := _reformulate(question, queries, context, notes)) and query not in queries:
        queries.append(query)
        yield query
    if (about := subject(question)) and about not in queries:
        yield about


def _reformulate(question: str, queries: Sequence[str], context: Context, notes: list[str]) -> str:
    """Return the model's next query; "" if it has none or fails."""
    model = context.assistant
    try:
        return reformulate(question, queries, model, context.prompts) if model else ""
    except GeneratorError as error:
        notes.append(f"the model's other words were left out: {error.line}")
        return ""


def _select(
    question: str, retrieved: SearchResult, context: Context
) -> tuple[tuple[Evidence, ...], tuple[Statement, ...]]:
    """Return the passages that may be cited, and their statements. Raises: ContextTooLarge."""
    budget = _budget(context)
    compress = context.settings.answer.compress and context.generator().prompted
    around = _add_neighbours(question, retrieved.hits, context)
    evidence = selection.select(around, budget.without_sizes if compress else budget)
    chunks = [item.chunk for item in evidence]
    # Those of the document that is asked for would speak for its cover.
    asked = leave_out_numbers(question, [f"{one.title}\n{one.doc_id}" for one in chunks])
    asked = add_abbreviations(asked, [one.text for one in chunks])
    stated = statements(asked, evidence, context.read)

    return (compress_evidence(question, evidence, stated, budget) if compress else evidence), stated


def _budget(context: Context) -> EvidenceBudget:
    limits = context.settings.answer
    tokens = context.embedder.tokens if context.embedder else word_spans
    return EvidenceBudget(
        chunks=limits.evidence_chunks,
        characters=limits.evidence_characters,
        tokens=limits.evidence_tokens,
        count=lambda text: len(tokens(text)),
    )


def _add_neighbours(question: str, hits: Sequence[Hit], context: Context) -> Iterable[Hit]:
    """Return the hits with the rest of the algorithm, table or list in question, and neighbours."""
    limits, around = context.settings.answer, _look_around(context)
    whole = with_steps(question, hits, around, enabled=limits.algorithms)
    whole = with_procedure(question, whole, _look_around(context, FAR))
    whole = with_open_lists(question, with_tables(question, whole, around), around)
    return with_neighbours(whole, context.engine, limits.neighbours)


def _look_around(context: Context, reach: int = REACH) -> Callable[[Chunk], Sequence[Chunk]]:
    """Return what gives the chunks around one, as far as an algorithm or a list may reach."""
    return lambda chunk: context.engine.neighbours(chunk, reach)


def _lack(retrieved: SearchResult, sureness: float, context: Context) -> Reason | None:
    """Return what evidence lacks to be answered from; None if nothing."""
    limits = context.settings.answer
    if not retrieved.hits:
        return "no-hits"
    if len(retrieved.hits) < limits.min_hits:
        return "too-few-hits"
    return "below-threshold" if sureness < limits.refusal else None


def _closeness(retrieved: SearchResult) -> float | None:
    """Return the best cosine among the hits; None without hits of the vector leg."""
    return max(
        (hit.vector_score for hit in retrieved.hits if hit.vector_score is not None), default=None
    )


def _closeness_to(question: str, result: SearchResult, context: Context) -> float | None:
    """Return the best cosine between the question and hits of other words."""
    if context.embedder is None or _closeness(result) is None:
        return None
    return max(measure_cosines(question, result.hits, context).values(), default=None)
