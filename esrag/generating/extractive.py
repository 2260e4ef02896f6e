"""The extractive generator: it answers with the documents' own sentences, and invents nothing.

The statement that fits the question best is taken, then others that may be meant instead, while the
answer is short.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from esrag.citations import REFUSAL
from esrag.evidence import NEAR, SURE, Statement, find_best
from esrag.evidence.asked import asks_same
from esrag.evidence.counts import find_default, is_bare_default
from esrag.evidence.entries import DEFINED, find_entry
from esrag.evidence.tables import drop_lead
from esrag.generating import Draft, GenerationTask, GeneratorOptions
from esrag.generating.antecedents import follows, goes_on, needs_former, refers_back, stands_alone
from esrag.generating.comparing import compare, count_words
from esrag.text import get_heading, split_sentences
from esrag.text.dates import is_dated
from esrag.text.figures import to_figures
from esrag.text.questions import read_question
from esrag.text.terms import compounds, find_years, gives_other_years, terms
from esrag.verifying.opposites import NEGATION
from esrag.verifying.support import Unsupported, support

MAX_WORDS = 60  # of an answer, from which no sentence is added to the best one
# Share of the best fit that a sentence beside the best one has at least: the best statement answers
# 72 of 100 questions about documents, the best or the second 84.
ADDED = 0.63
# The same for a list if the question wants one, and for a sentence if it wants a fact.
LISTED = 0.85
LISTED_HOW = 0.95  # of a list, if the question asks how: a sentence may say it all
# Where the reader is sure of the best one, what is added has a score that is hardly lower: of 541
# answers 38 get shorter, and are as good. So has a list that is the answer instead of the best one:
# of nine over eleven sets three had a lower score, and none of these was good.
LESS = 5.0
# The reader's score up to which nothing is added to a best statement of which it is not sure: over
# nine sets with 472 answerable questions, answers get 7 % shorter, and one more is good.
ADDED_ABOVE = -3.0
MAX_BRIEF = 20  # words of a definition that the sentence after it may complete
MAX_LEAD = 8  # words of a list's lead that may name what the list has
MAX_COUNTED = 90  # words of what is counted in sentences
MAX_JOINED = 120  # words of a list that takes the place of several of its items
MAX_APART = 3  # sentences from "The first …" to "The second …"
ALIKE = 0.8  # sentences that share more of their words than this say the same

_SINGLE = {"count", "yesno", "who", "time"}  # kinds of questions that no list answers
_SENTENCES = {*_SINGLE, "comparison", "definition"}  # those that single sentences answer
_CUT = re.compile(r"\b(?:an?|and|at|by|either|for|from|of|or|the|to|with)\Z")  # within a sentence
_ALL = re.compile(r"\bfollowing\b", re.IGNORECASE)  # in a list's lead
_REASONS = re.compile(r"\b(?:reasons?|because|causes?)\b", re.IGNORECASE)  # in a list's lead
_STEPS = re.compile(r"\bsteps\b", re.IGNORECASE)
_ENTRY = re.compile(r"(?P<term>[^:.]{1,60}: )?(?:An?|Any|One|The) [a-z]")
_IS_ONE = re.compile(
    r"\A[^.:;]{1,80}?\b(?:(?:is|are|was|were) (?:an?|the|any|one)|means?|refers? to|denotes?)\b"
    r"|\b(?:is|are) (?:called|known as|termed|referred to as)\b[^.,;]{1,40}[.]?\Z"
)
# The beginning of an entry about a person: "Dr Ada Lind: Partner."
_PERSON = re.compile(
    r"(?:(?:Dr|Mr|Ms|Mrs|Prof)\.? )?(?:[A-Z][\w'’.-]{0,30} ){1,3}[A-Z][\w'’-]{1,30}: "
)
_ARTICLE = re.compile(r"\bwhat (?:exactly )?(?:is|are) (an?) ", re.IGNORECASE)
_THINGS = re.compile(r"\b(?:what|which|list|name)\b", re.IGNORECASE)  # "How …?" asks for acts
# "Which ready-made burning modes …": what a list of them is announced as
_PLURAL = re.compile(
    r"\b(?:what|which|list|name)(?: (?:are|were))?(?: (?:all|the)){0,2}"
    r"(?: (?:kinds?|sorts?|types?) of ([\w-]{1,40})| ((?:[\w-]{1,40} ){0,3}?[\w-]{1,40}s))\b",
    re.IGNORECASE,
)
_KIND = re.compile(r"\b(?:kinds?|sorts?|types?) of\b", re.IGNORECASE)
_SERIES = re.compile(r"(?:[^,;.]{2,60}[,;] ){2,20}(?:[^,;.]{1,60} )?(?:and|or) [^,;.]{2,60}")
_ORDINAL = re.compile(
    r"(?:\w+ ){0,2}?(?:first|second|third|fourth|fifth|sixth|seventh|last|finally)(?:ly)?\b"
    r"|(?:and )?(?:then|next) (?:there|comes?)\b",
    re.IGNORECASE,
)
# "one of three different modes", "The following places are checked": the noun of what follows.
_PROMISED = re.compile(
    r"\b(?:the following|(?:one of|these|there are|has|have)(?: the)?"
    r" (?:two|three|four|five|six|seven|eight|nine|ten))"
    r"((?: [\w\"“'’-]{1,40}){0,3}? [\"“]?[\w-]{2,40}s)\b",
    re.IGNORECASE,
)
_NAMES_ALL = re.compile(r"(?:The|These) [^.:]{0,60}?\bare [^.]{1,200},? (?:and|or) [^.,]{1,60}")
# "How many …?", "When …?": beside a figure, what has none adds nothing.
_FIGURED, BESIDE = {"count", "time"}, 2  # kinds of questions, and statements that may be added
_DIGIT = re.compile(r"\d")
_WHICH, _THIS = re.compile(r"\bwhich (\w+)", re.IGNORECASE), re.compile(r"This (\w+)\b")
MAX_BEHIND = 4  # statements from what says that a list follows to it
_ANNOUNCED = re.compile(r"\b(?:two|three|four|five|six|seven)\b")


class ExtractiveGenerator:
    """Quotes the sentences that fit the question best; needs no model."""

    model = "extractive"
    prompted = False

    def __init__(self, _: GeneratorOptions) -> None:
        """Accept the options; none is used."""

    def generate(self, task: GenerationTask) -> Draft:
        """Return up to `max_sentences` sentences, each with its marker."""
        text = _steps(task) or _cells(task) or _sentences(task) or REFUSAL
        task.on_piece(text)
        return Draft(text)


def _steps(task: GenerationTask) -> str:
    """Return the steps of the algorithm in question; "" for any other question."""
    return task.algorithm if _STEPS.search(task.question) else ""


def _cells(task: GenerationTask) -> str:
    """Return the labelled cells of tables, or the author, that the question asks for; else "".

    Cells that their passage would not support, such as one that repeats a number, are left to the
    whole row.
    """
    chunks = {item.key: item.chunk for item in task.evidence}
    try:
        for key, text in task.cells.found:
            for sentence in split_sentences(text):
                support(sentence, [chunks[key]])
    except Unsupported:
        return ""
    return " ".join(
        f"{sentence} [{key}]"
        for key, text in task.cells.found
        for sentence in split_sentences(text)
    )


def _sentences(task: GenerationTask) -> str:
    chosen = _choose(task.question, _leave_out_years(task), task.max_sentences)
    dated = _find_dated_heading(task, chosen[0]) if chosen else ""
    return " ".join(filter(None, [dated, *(_cite(each, task.question) for each in chosen)]))


def _find_dated_heading(task: GenerationTask, best: Statement) -> str:
    """Return the heading above an undated statement, cited, if it has the date asked for; else "".

    As in a list of changes, or in minutes: "2.8.0 – 2022-06-02".
    """
    heading = get_heading(best.section)
    if read_question(task.question).kind != "time" or not is_dated(heading):
        return ""
    texts = {item.key: item.chunk.text for item in task.evidence}
    is_told = is_dated(best.text) or heading in best.text
    return f"{heading}: [{best.key}]" if heading in texts[best.key] and not is_told else ""


def _leave_out_years(task: GenerationTask) -> Sequence[Statement]:
    """Return the statements without those of other years than the question's, unless the best is.

    The year may stand in the title: two annual reports have the same sentence with other figures.
    """
    asked = find_years(task.question)
    headings = {item.key: item.chunk.headings for item in task.evidence}

    def is_of_others(each: Statement) -> bool:
        return gives_other_years(asked, f"{headings[each.key]} {each.under} {each.text}")

    best = find_best(task.statements)
    if best is None or is_of_others(best):
        return task.statements
    return [each for each in task.statements if not is_of_others(each)]


def _choose(question: str, found: Sequence[Statement], max_sentences: int) -> list[Statement]:
    """Return the best statement and others near it; ties go to the earlier one.

    The others add something, and are about the same as the best one: if that names ML-KEM-768 as
    the question does, the row of ML-KEM-512 is left out. Those of the best one's passage come
    first, in reading order, and before it if it refers back below the same heading. A comparison
    has the best statement for each of its sides.
    """
    found = [each for each in found if each.items or not _CUT.search(each.text)] or found
    if not found:
        return []
    ranked = _rank(question, found)
    if compared := compare(question, ranked)[:max_sentences]:
        return sorted(compared, key=lambda each: each.order)
    near = _choose_near(question, ranked, found)[:max_sentences]
    if read_question(question).kind not in _SENTENCES:
        near = _join_items(near, found)
    best, *others = chosen = near
    is_said = asks_same(question, best.under) or bool(_find_person(best, others))
    is_whole = stands_alone(best) and not is_said
    later = [each for each in others if is_whole or each.section != best.section]
    return sorted(chosen, key=lambda each: (each.key != best.key, each in later, each.order))


def _join_items(chosen: list[Statement], found: Sequence[Statement]) -> list[Statement]:
    """Return the list that the best statement and others are items of, unless it is long.

    >>> items = [Statement("c1", n, text) for n, text in enumerate(("a saw", "a file"))]
    >>> tools = Statement("c1", 2, "Tools: a saw; a file; a plane", items=3)
    >>> _join_items(items, [*items, tools]) == [tools], _join_items(items, items) == items
    (True, True)
    """
    lists = [each for each in found if each.items > 1 and each.key == chosen[0].key]
    for listed in lists:
        held = [each for each in chosen if each is not listed and each.text in listed.text]
        if held[:1] == chosen[:1] and len(held) > 1 and count_words([listed]) <= MAX_JOINED:
            return [listed]
    return chosen


def _rank(question: str, found: Sequence[Statement]) -> list[Statement]:
    """Return the statements, best first; whole lists last where a single fact is asked for."""
    ranked = sorted(found, key=lambda statement: (-statement.fit, statement.order))
    kind = read_question(question).kind
    if kind not in _SINGLE:
        return ranked
    facts = [each for each in ranked if each.items <= 1]
    if kind == "who" and _ALL.search(ranked[0].text.partition(":")[0]):
        return ranked
    if not facts or facts[0].fit < LISTED * ranked[0].fit:
        item = _find_item(ranked[0], facts) if kind != "who" else None  # the lead may name them
        if item and kind == "yesno" and not _says_itself(item, ranked[0]):
            return ranked
        return [item, *(each for each in facts if each is not item)] if item else ranked
    whole = _find_whole(facts[0], ranked)
    return [*(each for each in whole if kind == "yesno" or asks_same(question, each.under)), *facts]


def _find_item(listed: Statement, facts: Sequence[Statement]) -> Statement | None:
    """Return the item of a long list that fits the question best; None for a short list.

    >>> listed = Statement("c1", 0, f"It has: a lid;{' and more' * 30}", items=9)
    >>> item = Statement("c1", 1, "a lid")
    >>> _find_item(listed, [item]) == item, _find_item(replace(listed, text="a lid"), [item])
    (True, None)
    """
    if listed.items <= 1 or count_words([listed]) <= MAX_WORDS:
        return None
    return next(
        (each for each in facts if each.key == listed.key and each.text in listed.text), None
    )


def _says_itself(item: Statement, listed: Statement) -> bool:
    """Return whether an item is a sentence, and the lead of its list denies nothing.

    >>> item = Statement("c1", 1, "Dogs on a lead.")
    >>> leads = ("We welcome", "You may not bring")
    >>> [_says_itself(item, Statement("c1", 0, f"{lead}: {item.text}", items=2)) for lead in leads]
    [True, False]
    """
    lead = listed.text.partition(":")[0]
    return item.text.endswith(".") and not NEGATION.search(lead)


def _find_whole(item: Statement, ranked: Sequence[Statement]) -> list[Statement]:
    """Return the list that an item is of, unless the item is a sentence or the list is long.

    "Does it burn oil?" is not answered with the item "oil" of "It does not burn: coal; oil".
    """
    lists = [each for each in ranked if each.items > 1 and each.key == item.key]
    whole = [each for each in lists if item.text in each.text and count_words([each]) <= MAX_WORDS]
    return [] if item.text.endswith(".") else whole[:1]


def _choose_near(
    question: str, ranked: Sequence[Statement], found: Sequence[Statement]
) -> list[Statement]:
    """Return the best statement, and others that come near it and add something, if all are short.

    A definition is followed by the sentence after it that goes on about the same: "A KEM has three
    algorithms. These …".
    """
    entry = find_entry(question, ranked)
    if not entry and (listed := _find_list(question, ranked)):
        return [_count_on(listed, found)]
    defined = entry or _find_definition(question, ranked)
    best = defined or ranked[0]
    kind = read_question(question).kind
    if kind == "list" and (counted := _count_on(best, found)) != best:
        return [counted]
    chosen = [best]
    is_same = asks_same(question, best.under)
    near = [] if defined and not is_same else _find_near(kind, best, ranked)
    if is_same:
        near = [each for each in near if each.under == best.under]
    named = compounds(question) & set(terms(best.text))
    near = [each for each in near if named.issubset(terms(each.text)) or _explains(each, best)]
    near = [each for each in near if stands_alone(each) or goes_on(each, best)]
    if kind in _FIGURED and _has_figure(best):
        near = [each for each in near[:BESIDE] if _has_figure(each) or goes_on(each, best)]

    for statement in [*_find_explanation(question, best, found), *near]:
        is_new = not any(_says_same(statement, other) for other in chosen)
        if is_new and count_words([*chosen, statement]) <= MAX_WORDS:
            chosen.append(statement)

    return chosen


def _explains(statement: Statement, best: Statement) -> bool:
    """Return whether a statement follows the best one, and names no part or model itself."""
    return follows(statement, best) and not compounds(statement.text)


def _has_figure(statement: Statement) -> bool:
    """Return whether a statement has a number, in digits or in words."""
    return bool(_DIGIT.search(to_figures(statement.text)))


def _find_near(kind: str, best: Statement, ranked: Sequence[Statement]) -> list[Statement]:
    """Return what may be meant instead of the best statement; hardly anything if that is a row.

    If there is a reader, it takes each for an answer, or the statement is right before or after the
    best, or has the figure that the question wants and the best lacks.
    """
    least = (NEAR if best.is_row else ADDED) * best.fit
    near = [each for each in ranked if each is not best and each.fit >= least]
    if best.reading is None:
        return near

    lacks_figure = kind in _FIGURED and not _has_figure(best)
    return [
        each
        for each in near
        if _is_read_as_answer(each, best)
        or follows(each, best)
        or follows(best, each)
        or (lacks_figure and _has_figure(each))
    ]


def _is_read_as_answer(statement: Statement, best: Statement) -> bool:
    """Return whether the reader got a statement, and takes it for an answer.

    If it is sure of the best one, the statement is not much less of one.
    """
    if statement.reading is None or best.reading is None:
        return False
    return statement.reading > (best.reading - LESS if best.reading >= SURE else ADDED_ABOVE)


def _find_definition(question: str, ranked: Sequence[Statement]) -> Statement | None:
    """Return the best statement that defines what the question wants to have defined.

    An entry, as in a glossary, is better than a sentence that happens to say what it is, and this
    is better than one that says how it is.
    """
    if read_question(question).kind != "definition":
        return None
    least = DEFINED * ranked[0].fit
    defining = [each for each in ranked if each.defines and each.fit >= least]
    classed = [each for each in defining if _IS_ONE.search(each.text)]
    article = _ARTICLE.search(question)
    same = [each for each in classed if article and each.text.startswith(f"{article[1].title()} ")]
    said = [each for each in defining if not _is_read_as_worse(each, ranked[0])]
    subject = read_question(question).subject
    entries = [each for each in defining if _is_entry(each, subject)]
    return next(iter([*entries, *same, *classed, *said]), None)


def _is_entry(statement: Statement, subject: str) -> bool:
    """Return whether a statement defines the term before it or right above it.

    >>> said = "S-box Non-linear table for bytes.", "S-box is a table."
    >>> [_is_entry(Statement("c1", 0, each), "S-box") for each in said]
    [True, False]
    """
    named = rf"(?i:{re.escape(subject)})(?: \([^()]{{1,60}}\))? [A-Z][a-z-]+ [a-z]"
    if re.match(named, statement.text):
        return True
    found = _ENTRY.match(statement.text)
    return bool(found and (found["term"] or statement.under))


def _find_list(question: str, ranked: Sequence[Statement]) -> Statement | None:
    """Return the best list if a question asks for one, or the best statement if it is a list."""
    kind = read_question(question).kind
    if kind == "reason" and (reasons := _find_reasons(ranked)):
        return reasons
    is_asked = kind == "list"
    if is_asked and (told := _find_promised(ranked)):
        return told
    asks_things = _THINGS.search(question)
    share = LISTED if asks_things else LISTED_HOW
    least = share * ranked[0].fit if is_asked else ranked[0].fit
    near = [each for each in ranked if each.fit >= least and not _is_read_as_worse(each, ranked[0])]
    is_for_things = is_asked and asks_things and not _STEPS.search(question)
    series = [each for each in near if is_for_things and _SERIES.search(each.text)]
    listed = [each for each in near if each.items > 1]
    of_kind = [each for each in listed if _KIND.search(question) and _announces(question, each)]
    if listed or series or not is_asked:
        return next(iter([*of_kind, *listed, *series]), None)

    others = (each for each in ranked if each.fit >= ADDED * ranked[0].fit)
    return next((each for each in others if _announces(question, each)), None)


def _find_reasons(ranked: Sequence[Statement]) -> Statement | None:
    """Return the list that is announced as reasons, if it fits nearly as well as the best."""
    near = [each for each in ranked if each.fit >= LISTED * ranked[0].fit and each.items > 1]
    return next((each for each in near if _REASONS.search(each.text.partition(":")[0])), None)


def _is_read_as_worse(statement: Statement, best: Statement) -> bool:
    """Return whether the reader takes a statement for much less of an answer than the best one.

    If the best one lists things itself, any less is enough.
    """
    if statement.reading is None or best.reading is None:
        return False
    return statement.reading < best.reading - (0 if _SERIES.search(best.text) else LESS)


def _find_promised(ranked: Sequence[Statement]) -> Statement | None:
    """Return the list that the best statement says will follow, if one does.

    >>> first = Statement("c1", 0, "It has one of three modes.", fit=0.9)
    >>> told = Statement("c1", 2, "The three modes are high, low and off.", fit=0.5)
    >>> _find_promised([first, told]) == told, _find_promised([first])
    (True, None)
    """
    best = ranked[0]
    found = _PROMISED.search(best.text)
    if not found or best.items > 1 or best.text[-1:] not in ".:":
        return None

    behind = [
        each
        for each in ranked
        if each.key == best.key and 0 < each.order - best.order <= MAX_BEHIND
    ]
    behind.sort(key=lambda each: each.order)
    noun = terms(found[1])[-1:]
    named = [each for each in behind if _NAMES_ALL.match(each.text)]
    named = [each for each in named if noun and noun[0] in terms(each.text.partition(" are ")[0])]
    listed = [each for each in behind if each.items > 1]
    return next(iter([*named, *listed]), None)


def _announces(question: str, statement: Statement) -> bool:
    """Return whether a list is announced as what the question asks for.

    >>> listed = Statement("c1", 0, "It has three burning modes: high; low; off", items=3)
    >>> _announces("Which burning modes are there?", listed), _announces("Which lids?", listed)
    (True, False)
    """
    found, (lead, colon, _) = _PLURAL.search(question), statement.text.partition(":")
    noun = terms(found[1] or found[2])[-1:] if found and colon and statement.items > 1 else []
    return bool(noun) and noun[0] in terms(lead)[-MAX_LEAD:]


def _find_explanation(
    question: str, best: Statement, found: Sequence[Statement]
) -> list[Statement]:
    """Return what the best statement refers back to and goes on with.

    It goes on with a default, with more of a definition, or with what a list has. What may be is
    not told without the "So …" or "However, …" after it.
    """
    is_open = needs_former(best) or is_bare_default(best) or _is_unnamed(question, best)
    former = [each for each in found if is_open and follows(best, each)]
    if default := find_default(question, best, found):
        return [*former, default]
    kind = read_question(question).kind
    if kind == "who":
        return _find_person(best, found) or former
    if kind == "yesno":
        return [*former, *(each for each in found if goes_on(each, best))]
    after = [each for each in found if follows(each, best)]
    back = [each for each in after if refers_back(each)]
    if kind == "list":
        return [*former, *(each for each in back if _SERIES.search(each.text))]
    if kind != "definition":
        return former
    subject = read_question(question).subject if count_words([best]) <= MAX_BRIEF else ""
    return [*former, *(each for each in after if each in back or _names_again(each, subject))]


def _is_unnamed(question: str, best: Statement) -> bool:
    """Return whether a question asks which of several it is, and the best says just "this".

    >>> said = Statement("c1", 1, "This module is about lids.")
    >>> _is_unnamed("Which module is about lids?", said), _is_unnamed("What is a lid?", said)
    (True, False)
    """
    asked, said = _WHICH.search(question), _THIS.match(best.text)
    return bool(asked and said and asked[1].lower() == said[1].lower())


def _names_again(statement: Statement, subject: str) -> bool:
    """Return whether a statement begins with the subject of a definition, as the one before may.

    >>> said = Statement("c1", 1, "In nested JWTs, one is the payload of another.")
    >>> _names_again(said, "nested JWT"), _names_again(said, "payload")
    (True, False)
    """
    named, said = terms(subject), terms(statement.text)
    pairs = zip(said, named, strict=False)
    return 0 < len(named) <= len(said) and all(word in {term, f"{term}s"} for word, term in pairs)


def _find_person(best: Statement, found: Sequence[Statement]) -> list[Statement]:
    """Return the beginning of the entry that a sentence belongs to, if that is about a person.

    >>> ada = Statement("c1", 1, "Dr Ada Lind: Partner.", section="Staff")
    >>> best = Statement("c1", 2, "Joint injections.", section="Staff")
    >>> _find_person(best, [ada, best]) == [ada], _find_person(ada, [ada, best])
    (True, [])
    """
    if _PERSON.match(best.text):
        return []
    above = [
        each
        for each in found
        if (each.key, each.section) == (best.key, best.section)
        and 0 < best.order - each.order <= MAX_APART
    ]
    named = [each for each in above if ": " in each.text]
    return [each for each in named[-1:] if _PERSON.match(each.text)]


def _count_on(best: Statement, found: Sequence[Statement]) -> Statement:
    """Return a sentence such as "The second module …" with what is counted before and after it.

    What follows "It has three modules." is counted too.
    """
    if not (_ORDINAL.match(best.text) or _ANNOUNCED.search(best.text)):
        return best
    near = [each for each in found if (each.key, each.items) == (best.key, 0)]
    counted = [each for each in near if _ORDINAL.match(each.text)]
    before = [each for each in reversed(counted) if each.order < best.order]
    after = [each for each in counted if each.order > best.order]

    first = [*_iter_near(best, before)] if best in counted else []
    whole = [*reversed(first), best, *_iter_near(best, after)]
    if count_words(whole) > MAX_COUNTED:
        return best
    parts = tuple((each.key, each.text) for each in whole[1:])
    return replace(whole[0], more=parts) if parts else best


def _iter_near(best: Statement, counted: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements as long as each is near the one before it."""
    last = best.order
    for each in counted:
        if abs(each.order - last) > MAX_APART:
            return
        yield each
        last = each.order


def _says_same(left: Statement, right: Statement) -> bool:
    """Return whether two statements say the same.

    Nobody writes a sentence twice below a heading: what differs in a word there says another thing.

    >>> told = [Statement("c1", 0, f"Use a font with serifs on {each}.") for each in ("a", "b")]
    >>> _says_same(*told), _says_same(told[0], replace(told[1], key="c2"))
    (False, True)
    """
    is_of_text = not (left.is_row or right.is_row or left.items or right.items)
    if is_of_text and (left.key, left.section) == (right.key, right.section):
        return left.text in right.text or right.text in left.text
    return _overlap(left, right) >= ALIKE


def _overlap(left: Statement, right: Statement) -> float:
    """Return the share of the shorter statement's words that the other one has too."""
    a, b = set(terms(left.text)), set(terms(right.text))
    return len(a & b) / max(min(len(a), len(b)), 1)


def _cite(statement: Statement, question: str) -> str:
    """Return the text with its marker after each sentence that a reader would see in it."""
    parts = [(statement.key, statement.text), *statement.more]
    return " ".join(
        f"{sentence} [{key}]"
        for key, text in parts
        for sentence in _shorten(text, statement, question)
    )


def _shorten(text: str, statement: Statement, question: str) -> list[str]:
    """Return the sentences of a text; of a long table row the first, and those that are asked for.

    A parameter's description may explain all of its values.
    """
    said = [*split_sentences(drop_lead(text) if statement.is_row else text)]
    if (
        not statement.is_row
        or len(text.split()) <= MAX_WORDS
        or read_question(question).kind == "list"
    ):
        return said

    asked, named = set(terms(question)), set(terms(said[0]))
    shared = [asked.intersection(terms(sentence)) for sentence in said]
    ranked = sorted(
        range(1, len(said)), key=lambda n: (-len(shared[n] - named), -len(shared[n]), n)
    )
    room, kept = MAX_WORDS - len(said[0].split()), {0}
    for n in ranked:
        room -= len(said[n].split())
        if room < 0 or not shared[n]:
            break
        kept.add(n)
    return [said[n] for n in sorted(kept)]
