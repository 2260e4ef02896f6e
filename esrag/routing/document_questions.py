"""Recognise questions about the documents themselves: which there are, and what one is about."""

import re
from dataclasses import dataclass
from typing import Literal

Wanted = Literal["", "list", "count", "pages"]

MAX_CHARACTERS = 300

_DOCUMENTS = (
    r"(?:(?:pdf|word|html|markdown|email|text|source|different|distinct|other) )?"
    r"(?:documents?|docs?|files?|sources?|papers?|pdfs?|publications?|titles?)"
)
_HERE = (
    r"(?:(?:the|this|your|our|my) (?:document |whole |entire )?"
    r"(?:collection|corpus|knowledge base)|(?:this|your) (?:index|library|archive|database))"
)
_YOU_HAVE = (
    r"(?:do you (?:have|hold|know|cover|use|contain)|have you (?:got|read|indexed|ingested)"
    r"|did you (?:read|index|ingest)|can you (?:search|access|read|see|use))"
)
_ARE_HERE = (
    rf"(?:(?:are|is) (?:there )?(?:in|part of) (?:{_HERE}|here)"
    r"|(?:are|is) (?:there )?(?:available|indexed|ingested)(?: here)?"
    rf"|does {_HERE} (?:have|hold|contain|include|cover))"
)
_ON = r"(?:about|on|regarding|concerning|related to|dealing with)"
_DEAL_WITH = (
    r"(?:(?:are|is|talks?|speaks?) (?:all )?about"
    r"|deals? with|discuss(?:es)?|mentions?|covers?|describes?|explains?|teach(?:es)?"
    r"|walks?(?: (?:me|you|one))? through)"
)
# Not "on which the court relied": a clause belongs to a question about contents.
_NO_CLAUSE = r"(?!(?:which|what|whom|whose|that|how|where|when|it|them)\b)"
_TOPIC = rf"(?P<about>{_NO_CLAUSE}\S.*)"
_POLITE = r"(?:(?:please|kindly|can you|could you|would you) )*"
_NUMBER = r"(?:a|one|two|three|four|five|ten|a few|few|some|\d{1,2})"
_FEW = rf"{_NUMBER}(?: or {_NUMBER}| to {_NUMBER})?(?: short| simple| brief)?"
_LENGTH = (
    rf"(?: (?:briefly|shortly|for me|please"
    rf"|in (?:{_FEW} (?:sentences?|words?|lines?|paragraphs?|points?)|short|brief)))*"
)
_SUMMARY = r"(?:(?:short|brief|quick|concise|general) )*(?:summary|overview|synopsis|outline|gist)"

_FORMATS = "pdf|word|html|markdown|email"

_RULES: tuple[tuple[Wanted | None, str], ...] = (
    ("count", rf"how many {_DOCUMENTS} (?:{_YOU_HAVE}|{_ARE_HERE}|are there)(?: in total)?"),
    ("count", rf"how (?:big|large) is {_HERE}"),
    ("count", rf"how many {_DOCUMENTS} {_YOU_HAVE} {_ON} {_TOPIC}"),
    ("list", rf"(?:which|what) {_DOCUMENTS} (?:{_YOU_HAVE}|{_ARE_HERE})(?: {_ON} {_TOPIC})?"),
    ("list", rf"(?:which|what) (?:of (?:the|your) )?{_DOCUMENTS} are there(?: about {_TOPIC})?"),
    (
        "list",
        (
            rf"(?:which|what) (?:of (?:the|these|your|my) )?{_DOCUMENTS}(?: in {_HERE}| here)?"
            rf" {_DEAL_WITH} {_TOPIC}"
        ),
    ),
    (
        "list",
        (
            rf"(?:which|what) (?:of (?:the|these|your|my) )?{_DOCUMENTS} are (?:an? )?"
            rf"(?:{_FORMATS})s?(?: {_DOCUMENTS})?"
        ),
    ),
    ("list", rf"(?:what|which) (?P<about>\S.{{0,80}}?) {_DOCUMENTS} (?:{_YOU_HAVE}|{_ARE_HERE})"),
    (
        "list",
        (
            rf"(?:what|which) {_DOCUMENTS} (?:by|from|of) (?P<about>\S.{{0,80}}?)"
            rf" (?:{_YOU_HAVE}|{_ARE_HERE})"
        ),
    ),
    ("list", rf"(?:what|which) (?P<about>\S.{{0,80}}?) {_ARE_HERE}"),
    ("list", rf"what(?:'s| is) (?:in|part of) {_HERE}|what does {_HERE} (?:have|contain|cover)"),
    ("list", rf"what(?:'s| is) {_HERE} about|what are your {_DOCUMENTS}"),
    (
        "list",
        (
            rf"{_POLITE}(?:list|show|name|give)(?: me)?(?: a list of)?(?: all)?(?: of)?"
            rf" (?:the|your) (?:available |indexed )?{_DOCUMENTS}"
            rf"(?: (?:that )?(?:you have|(?:are )?in {_HERE}|available))?(?: about {_TOPIC})?"
        ),
    ),
    ("list", rf"{_POLITE}(?:list|show)(?: me)? all {_DOCUMENTS}(?: about {_TOPIC})?"),
    (
        "list",
        (
            rf"(?:do you have|have you got) (?:any |some |an? )?(?:{_DOCUMENTS}|anything|something)"
            rf" {_ON} {_TOPIC}"
        ),
    ),
    (
        "list",
        (
            rf"(?:is|are) there (?:any |an? )?{_DOCUMENTS}(?: in {_HERE}| here)? {_ON}"
            rf" (?P<about>{_NO_CLAUSE}\S.*?)(?:\? which (?:ones?|are they))?"
        ),
    ),
    ("pages", r"how many pages (?:does|do) (?P<about>\S.*) have(?: in total| altogether)?"),
    ("pages", r"how many pages (?:are there |are )?in (?P<about>\S.*)"),
    ("pages", r"how many pages (?:(?:long )?is|has) (?P<about>\S.*)"),
    ("pages", r"how long is (?P<about>\S.*) in pages"),
    ("pages", r"(?:what is the )?(?:page count|number of pages) (?:of|in) (?P<about>\S.*)"),
    (None, rf"{_POLITE}(?:summari[sz]e|sum up) (?P<about>\S.*?){_LENGTH}"),
    (
        None,
        (
            rf"{_POLITE}(?:give|show|write|provide)(?: me| us)? (?:an? |the )?{_SUMMARY}"
            rf" (?:of|on) (?P<about>\S.*?){_LENGTH}"
        ),
    ),
    (None, rf"(?:what is |what's )?(?:an? |the )?{_SUMMARY} of (?P<about>\S.*?){_LENGTH}"),
    (
        None,
        (
            rf"(?:what are |what're |{_POLITE}(?:list|give me|tell me|name) )?(?:the )?"
            rf"(?:main|key|most important) (?:points|ideas|messages|takeaways) (?:of|in|from)"
            rf" (?P<about>\S.*?){_LENGTH}"
        ),
    ),
    (None, r"what(?:'s| is| are) (?P<about>\S.*?) (?:all )?about"),
    (None, r"what does (?P<about>\S.*?) (?:talk about|cover|deal with)"),
    (None, r"tl;?dr:?(?: of| for)? (?P<about>\S.*)"),
)
_FORMAT = re.compile(rf"\b({_FORMATS})s?\b", re.IGNORECASE)
_COMPILED = tuple(
    (wanted, re.compile(rf"\A(?:{rule})\Z", re.IGNORECASE)) for wanted, rule in _RULES
)


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A question about the documents: what the index records of them, or what one says in short.

    `wanted` is what it asks the records for; "" asks for a summary. `about` is the topic of the
    documents, or the name of the one document, as the question words it; "" means all documents.
    `format` restricts them to those of one format, such as "pdf".
    """

    wanted: Wanted
    about: str = ""
    format: str = ""


def read_document_question(question: str) -> DocumentQuestion | None:
    """Return what a question asks about the documents themselves; None if it asks them.

    Whether a document has the name in question is for the index to say.

    >>> read_document_question("Summarise FIPS 203 in two sentences.").about
    'FIPS 203'
    >>> read_document_question("Which of these documents are about salt?").about
    'salt'
    >>> read_document_question("How many pages may a brief have?")
    """
    if len(question) > MAX_CHARACTERS:
        return None
    line = " ".join(question.replace("’", "'").split()).rstrip("?!. ").replace(",", "")

    for wanted, rule in _COMPILED:
        if match := rule.match(line):
            topic = match.groupdict().get("about") or ""
            about = topic.strip(" \"'“”`")
            if wanted is None:
                return DocumentQuestion("", about=about)
            form = _FORMAT.search(line.removesuffix(topic)) if wanted != "pages" else None
            return DocumentQuestion(wanted, about, form[1].lower() if form else "")
    return None
