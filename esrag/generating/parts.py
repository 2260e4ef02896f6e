"""Split a question into the questions that it asks, by rules.

A question is only split where each part is one by itself: "Who decides when and how a chunk is
cited?" stays whole.
"""

import re
from collections.abc import Iterator

from esrag.text.questions import read_sides

_BE = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would)"
DOES = r"(?:do|does|did|can|may|must|should|will|would)"  # before a subject and its verb
_WH = r"(?:what|which|who|whom|whose|when|where|why|how)"
_SUBJECT = r"(?:an?|the|this|that|these|those|its?|their|his|her|my|our|your|I|we|you|they|he|she)"
# The patterns are for a line with single spaces.
# "what is", "how long does", "which size do", "who signs"; not "how a chunk is", "what to avoid".
_ASKS = rf"(?:{_WH}(?:['’]s| (?!(?:to|{_SUBJECT})\b)\w)|{_BE}(?:n['’]t)? {_SUBJECT}\b)"
# "When the kiln is cold" opens a condition, "When is" a question.
_OPENS = re.compile(
    r"(?:(?:in|on|at|for|under|by|to|from|with) )?"
    rf"(?:(?:when|where)(?:['’]s| {_BE}\b)|(?!when\b|where\b){_WH}\b|{_BE}\b)",
    re.IGNORECASE,
)
_JOINT = re.compile(
    rf"\? (?:(?:and|also|but),? )?(?={_ASKS})"
    rf"|[,;]? and (?:also )?(?={_ASKS})"
    rf"|; (?={_ASKS})"
    # Not ", who are members," and ", which is optional,".
    rf"|, (?=(?:what|when|where|why|how)(?:['’]s| (?:\w+ )?{_BE})\b)",
    re.IGNORECASE,
)
_VERB = re.compile(rf"\b{_BE}\b|['’]s\b|\b\w{{3,}}s\b|\bwho \w+ \w", re.IGNORECASE)
_BARE = re.compile(rf"{_WH}(?: (?:{_BE}|not|and))*", re.IGNORECASE)
# "How do I know what is safe": what follows may continue it.
_INDIRECT = re.compile(rf"\w (?<!\bin )(?<!\bof ){_WH}\b", re.IGNORECASE)
# "When is each due?" asks about what the questions before it name.
_TOGETHER = re.compile(r"\b(?:each|both|either|respectively|all of|any of)\b", re.IGNORECASE)
# "What are the fee and the term of a loan?", "What is the fee for adults and for children?"
_BOTH = re.compile(
    rf"(?P<ask>{_WH} (?:is|are|was|were) )"
    r"(?P<one>the (?:[\w-]+ ){0,3}[\w-]+) and (?P<two>the (?:[\w-]+ ){0,3}?[\w-]+)"
    r"(?P<of> (?:of|for) .+)",
    re.IGNORECASE,
)
_EACH = re.compile(
    rf"(?P<ask>(?:\w+ )?(?P<wh>{_WH})\b.+? )"
    r"(?P<one>(?P<by>for|of|in|at|on|under) (?:[\w.-]+ ){0,3}[\w.-]+),? and "
    rf"(?:{_WH} (?:many |much )?|(?P=wh) \w+ )?"
    r"(?P<two>(?P=by) (?:[\w.-]+ ){0,3}[\w.-]+)",
    re.IGNORECASE,
)
# "How many cars does Davy carry, and how many does Lucy?"
_ASKED = (
    rf"(?P<ask>(?i:{_WH})(?: many| much)?)(?P<thing>(?: [\w-]{{1,40}}){{0,3}}?) "
    rf"(?P<does>{DOES}) "
)
_CAPITALS = r"(?:[Tt]he )?[A-Z\d][\w.-]{0,40}(?: [A-Z\d][\w.-]{0,40}){0,4}"
_IN_FULL = re.compile(
    rf"{_ASKED}(?:{_CAPITALS}|(?:an?|the)(?: [\w-]{{1,40}}){{1,4}}?) (?P<act>[a-z][\w-]{{0,40}}"
    r"(?: (?:after|an?|and|as|at|before|by|during|each|every|for|from|if|in|it|my|of|on|or|per|that"
    r"|the|to|when|with)\b.{0,200})?)\?"
)
_ELLIPTIC = re.compile(rf"{_ASKED}(?P<name>{_CAPITALS}|(?:an?|the) [\w-]{{1,40}})\?")
_ONE = re.compile(r"\bone\Z")  # "for a tall lamp and for a small one"
_PREPOSITION = re.compile(r"\b(?:of|for|in|at|on|under|between|from|with|by|to)\b", re.IGNORECASE)
_ARE = re.compile(r" (?:are|were) ", re.IGNORECASE)
_IS = {" are ": " is ", " were ": " was "}


def split_question(question: str, most: int) -> tuple[str, ...]:
    """Return the questions that a question asks, in order; itself if that is one, or too many.

    >>> split_question("What does a kettle hold, and how hot does it get?", 3)
    ('What does a kettle hold?', 'How hot does it get?')
    >>> split_question("What are the fee and the term of a loan?", 3)
    ('What is the fee of a loan?', 'What is the term of a loan?')
    >>> split_question("What is the fare for adults and for children?", 3)
    ('What is the fare for adults?', 'What is the fare for children?')
    >>> split_question("How long is the wick for a tall lamp, and how long for a small one?", 3)
    ('How long is the wick for a tall lamp?', 'How long is the wick for a small lamp?')
    >>> split_question("How many cars does Davy carry, and how many does Lucy?", 3)
    ('How many cars does Davy carry?', 'How many cars does Lucy carry?')
    >>> split_question("Who decides when and how a chunk is cited?", 3)
    ('Who decides when and how a chunk is cited?',)
    """
    line = " ".join(question.split())
    parts: list[str] = []
    for clause in _iter_clauses(line):
        parts += _share(fill_in(clause, parts[-1]) if parts else clause)
    is_split = 1 < len(parts) <= most and not any(_TOGETHER.search(part) for part in parts[1:])
    return tuple(parts) if is_split else (question,)


def _iter_clauses(question: str) -> Iterator[str]:
    """Yield the clauses that ask something by themselves."""
    start = 0
    for joint in _JOINT.finditer(question):
        clause = question[start : joint.start()]
        is_apart = "?" in joint[0] or not _INDIRECT.search(clause)
        if is_apart and _is_question(clause) and _is_question(question[joint.end() :]):
            yield _close(clause)
            start = joint.end()
    yield _close(question[start:]) if start else question


def fill_in(clause: str, before: str) -> str:
    """Return a question with what it leaves out because the one before it says so.

    >>> fill_in("What does a senior?", "What does a child pay on Sundays?")
    'What does a senior pay on Sundays?'
    >>> fill_in("When will it open?", "What does a child pay?")
    'When will it open?'
    """
    left, whole = _ELLIPTIC.fullmatch(clause), _IN_FULL.fullmatch(before)
    if not (left and whole and left["ask"].lower() == whole["ask"].lower()):
        return clause
    thing = left["thing"] or whole["thing"]
    return f"{left['ask']}{thing} {left['does']} {left['name']} {whole['act']}?"


def _is_question(clause: str) -> bool:
    """Return whether a clause opens as a question, has a verb, and says more than "what is not"."""
    is_said = _OPENS.match(clause) and _VERB.search(clause)
    return bool(is_said and not _BARE.fullmatch(clause.rstrip("?,; ")))


def _share(clause: str) -> tuple[str, ...]:
    """Return the two questions of a clause that asks for two things, or about two."""
    both = _BOTH.fullmatch(clause)
    if both and not _PREPOSITION.search(both["one"]):
        return tuple(
            _close(f"{_agree(both['ask'], thing)}{thing}{both['of']}")
            for thing in (both["one"], both["two"])
        )

    each = _EACH.fullmatch(clause.rstrip("?,; "))
    if each and _OPENS.match(clause) and not read_sides(clause):
        thing = each["one"].rpartition(" ")[2]
        other = _ONE.sub(thing, each["two"])
        return _close(f"{each['ask']}{each['one']}"), _close(f"{each['ask']}{other}")
    return (clause,)


def _agree(ask: str, thing: str) -> str:
    """Return how a question opens, with its verb for one thing."""
    is_one = not re.search(r"[^s]s\Z", thing)
    return _ARE.sub(lambda verb: _IS[verb[0].lower()], ask) if is_one else ask


def _close(part: str) -> str:
    part = part.rstrip("?,; ")
    return f"{part[:1].upper()}{part[1:]}?"
