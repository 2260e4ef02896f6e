"""Find what a passage defines, so that a question for a definition finds it.

A term that many passages use says little about which of them defines it. Each definition therefore
has a token of its own in the keyword leg, which a question such as "What is a proxy?" searches too.
"""

import re
from collections.abc import Iterator
from itertools import islice

from esrag.text import drop_number, get_heading
from esrag.text.terms import join_token, whole_words

DEFINES = "≝"  # the sign of a token
MAX_DEFINED = 32  # tokens of a passage

_WORD = r"\w(?:[\w'’-]|[./](?=\w)){0,40}+"
_NAME = rf"(?P<name>{_WORD}(?: {_WORD}){{0,4}}?)"
_SHORT = r"(?: \((?P<short>[^()\n]{1,20})\))?"
_ARTICLE = r"(?:An?|The|Any|One|Each)"
_MARK = r"[*_`\"”]{0,3}"
_SAYS = (
    r"(?:is|are) (?:an?|the|any|one|defined as|used to)\b|(?:shall )?means?\b|refers? to\b"
    r"|stands? for\b"
    r"|denotes?\b|defines?\b|describes?\b|consists? of\b"
    r"|(?:also|sometimes|often) (?:called|known as|referred to as)\b"
)
# A sentence that begins with a name, and says what it is.
_SENTENCE = rf"(?:^\W{{0,6}}|(?<=[.!?:] )){_ARTICLE}? ?{_NAME}{_SHORT}{_MARK},? (?:{_SAYS})"
# A name, perhaps in bold or with a colon, and a definition that begins with an article.
_ENTRY = (
    rf"^[ \t>*_`\"“-]{{0,8}}{_NAME}{_SHORT}{_MARK}(?:[:.—–-]+[*_`]{{0,3}})? {{1,20}}"
    rf"{_ARTICLE} (?=[a-z])"
)
_BOLD = rf"^\W{{0,6}}[*_]{{2}}{_NAME}{_SHORT}:?[*_]{{2}}"
_ABOVE = rf"^[ \t]{{0,8}}{_NAME}{_SHORT}\n(?:[ \t]{{2,20}}|:[ \t]{{1,8}})(?=[A-Z])"
_HEADING = rf"^#{{1,6}} {_NAME}{_SHORT}$"
_CALLED = (
    r"\b(?:called|known as|referred to as|termed) (?:an?|the)? ?[*_`\"“]{0,3}"
    rf"{_NAME}{_SHORT}{_MARK}(?=[.,;)]|$)"
)
_ABBREVIATION = r"\b[A-Za-z][\w-]{1,40} \((?P<name>[A-Z][\w&-]{0,10}[A-Z]s?)\)(?P<short>)"
_GLOSSARY = re.compile(
    r"\b(?:abbreviations|acronyms|definitions|glossary|nomenclature|terms|terminology)\b",
    re.IGNORECASE,
)
_OF_GLOSSARY = re.compile(
    rf"^\W{{0,8}}{_NAME}{_SHORT}{_MARK}(?:[:—–-]{{1,2}}{_MARK} | (?=[A-Z][\w-]{{0,40}} [a-z]))",
    re.MULTILINE,
)
_ENTRIES, _PATTERNS = (
    tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
    for patterns in ((_ABOVE,), (_SENTENCE, _ENTRY, _BOLD, _HEADING, _CALLED, _ABBREVIATION))
)


def definition_token(name: str) -> str:
    """Return the token of a name's definition; "" for a name without a word.

    >>> definition_token("relying parties") == definition_token("the Relying Party")
    True
    >>> definition_token("key-encapsulation"), definition_token("the")
    ('≝keyencapsul', '')
    """
    return join_token(DEFINES, whole_words(name))


def definition_tokens(subject: str) -> tuple[str, ...]:
    """Return the tokens of what a question wants defined, also without a name before it.

    >>> definition_tokens("HTTP proxy"), definition_tokens("")
    (('≝httpproxi', '≝proxi'), ())
    """
    first, _, rest = subject.partition(" ")
    names = (subject, rest) if first.isupper() else (subject,)
    return tuple(filter(None, map(definition_token, names)))


def find_definitions(text: str, section: str = "") -> tuple[str, ...]:
    r"""Return the tokens of what a passage seems to define; its section is a path of headings.

    What it defines as an entry, as a glossary does, is said twice and thus found first.

    >>> find_definitions("A relying party (RP) is an entity that relies.")
    ('≝reliparti', '≝rp')
    >>> find_definitions("   proxy\n      An intermediary program.\n\nIt is a rule.")
    ('≝proxi', '≝proxi')
    >>> find_definitions("- Round key: values of a key", "2 Glossary")
    ('≝roundkey', '≝roundkey')
    """
    entries = [*_iter_entries(text, section)]
    names = [*_iter_headings(text, section), *entries, *_iter_names(text)]
    tokens = dict.fromkeys(filter(None, map(definition_token, names)))
    twice = {*map(definition_token, entries)}
    said = (each for token in tokens for each in (token,) * (1 + (token in twice)))
    return tuple(islice(said, MAX_DEFINED))


def _iter_headings(text: str, section: str) -> Iterator[str]:
    """Yield the last heading of a section if the passage begins with it."""
    heading = drop_number(get_heading(section)).strip()
    if heading and drop_number(text.lstrip("#* \n")).startswith(f"{heading}\n"):
        yield heading


def _iter_names(text: str) -> Iterator[str]:
    for pattern in _PATTERNS:
        yield from _iter_matches(pattern, text)


def _iter_entries(text: str, section: str) -> Iterator[str]:
    """Yield the names of what is defined for its own sake, as in a glossary."""
    is_glossary = _GLOSSARY.search(section)
    for pattern in (_OF_GLOSSARY, *_ENTRIES) if is_glossary else _ENTRIES:
        yield from _iter_matches(pattern, text)


def _iter_matches(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield from filter(None, (found["name"], found["short"]))
