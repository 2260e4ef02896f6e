"""Documents that a question names, by their number or by words of their title.

"How many attempts are allowed under SP 800-63A?" is answered by a passage that says nothing of
SP 800-63A, and its covers and introductions say that name most often.
"""

import re
from collections.abc import Sequence

from esrag.text.questions import read_question
from esrag.text.terms import terms

MIN_TERMS, MANY_TERMS = 2, 5  # of a question without the names
# Capitals and a number: "PEP 407", "NIST SP 800-63C"; perhaps in brackets.
_NUMBER = re.compile(r"\(?(?:the )?(?:\b[A-Z][A-Z&]{1,9} ){0,3}\b([A-Z]{2,9}) (\d[\w-]{0,20})\b\)?")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_WORD = re.compile(r"[^\W_][\w'’.-]*")
_GENERIC = {*terms("case document guide guideline paper report rfc pep standard")}


def find_numbers(question: str) -> tuple[str, ...]:
    """Return the numbers of documents in a question, such as "sp 800-63c" and "pep 407".

    >>> find_numbers("Under NIST SP 800-63C (or PEP 407), is TLS 1.3 allowed?")
    ('sp 800-63c', 'pep 407', 'tls 1')
    """
    return tuple(f"{letters} {number}".lower() for letters, number in _NUMBER.findall(question))


def is_numbered(number: str, *names: str) -> bool:
    """Return whether one of a document's names has a number.

    >>> is_numbered("sp 800-63c", "5 Federation", "nist-sp800-63c__sec5.md")
    True
    >>> is_numbered("pep 407", "pep-0407.rst"), is_numbered("pep 40", "pep-0407.rst")
    (True, False)
    """
    joined = r"[\W_]?".join(re.findall(r"[a-z]+|\d+", number))
    named = re.compile(rf"(?<![a-z]){joined}(?![a-z\d])")
    return any(named.search(_ZEROS.sub("", name.lower())) for name in names)


def leave_out_numbers(question: str, names: Sequence[str]) -> str:
    """Return a question without the numbers of documents that some document's names have.

    A question for a definition stays as it is, since its subject is known, and so does one of few
    words.

    >>> question = "How long is a stable release supported with fixes under PEP 407?"
    >>> leave_out_numbers(question, ["pep-0407.rst"])
    'How long is a stable release supported with fixes under ?'
    >>> leave_out_numbers(question, ["pep-0008.rst"]) == question
    True
    >>> leave_out_numbers("Which key length does PEP 9 ask of a server with TLS 1.3?", ["pep-9.md"])
    'Which key length does ask of a server with TLS 1.3?'
    """

    def leave_out(found: re.Match[str]) -> str:
        is_named = any(is_numbered(number, *names) for number in find_numbers(found[0]))
        return " " if is_named else found[0]

    if read_question(question).kind == "definition":
        return question
    bare = " ".join(_NUMBER.sub(leave_out, question).split())
    return bare if len({*terms(bare)}) >= MANY_TERMS else question


def leave_out_names(question: str, title: str) -> str:
    """Return a question without numbers of documents and the words of a title.

    It is "" if there are none of them, or if too little is left.

    >>> leave_out_names("Who lost the case in Helix v. Hewitt at once?", "Helix Energy v. Hewitt")
    'Who lost the in at once?'
    >>> leave_out_names("Which guideline of Helix asks for lamps at sea?", "Helix Energy")
    'Which of asks for lamps at sea?'
    >>> leave_out_names("Who lost?", "Helix Energy v. Hewitt")
    ''
    """
    bare, named = _NUMBER.sub(" ", question), {*terms(title)} | _GENERIC
    bare = _WORD.sub(lambda word: "" if {*terms(word[0])} & named else word[0], bare)
    is_changed = terms(bare) != terms(question)
    return " ".join(bare.split()) if is_changed and len({*terms(bare)}) >= MIN_TERMS else ""
