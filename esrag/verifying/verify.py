"""Verify a draft against its evidence: the result is an answer with citations, or a refusal.

Each sentence is checked as soon as it is complete, so that an answer can be shown while it is
written.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from esrag.citations import (
    MARKERS,
    REASONS,
    REFUSAL,
    CheckedSentence,
    OnSentence,
    Reason,
    ignore,
    name_of,
)
from esrag.records import Answer, Chunk, Citation, Evidence
from esrag.text import format_count, normalise, sentence_spans
from esrag.text.terms import terms
from esrag.verifying.quotes import Span, back_with_quote, find_quote, strip_quote
from esrag.verifying.support import Entail, Unsupported, overlap, support

Policy = Literal["refuse", "drop"]

MAX_DRAFT = 100_000  # characters; an answer has a few hundred
_MAX_REFUSAL = 1000
MAX_BLANKS = 1000  # that may precede markers
MAX_PARTS = 20  # parts of a sentence in addition to the maximum number of sentences

_MARKER = MARKERS.pattern
# Starts at the first blank, for speed; some models put markers in brackets or in bold.
MARKED = re.compile(
    rf"(?<!\s)(?:\s*(?:{_MARKER}|\(\s*{_MARKER}\s*\)|\*\*{_MARKER}\*\*))+", MARKERS.flags
)
# More markers or a full stop may follow, or the end of the brackets or stars around them.
_MAY_GO_ON = re.compile(
    r"\s*([\[【(*]{1,3}(?:\s*[\[【])?[^\[\]【】]{0,40}(?:[\]】]\s*\*?)?|[.!?…]\s*|\)|\*\*?)?"
)
# A line break ends a sentence unless a lower-case letter follows.
_BLANK = re.compile(r"(?<!\s)\s+(?=[^\sa-z])")
# "…degrees.The valve" lacks a blank after its sentence; names in code (pump.Valve) also occur in
# the evidence.
_NO_BLANK = re.compile(r"[a-z]{3}[.!?][A-Z][a-z]+(?=\s)")
# Directly after the markers, or at the very end.
_FULL_STOP = re.compile(r"[.!?…](?=\s|\[|\Z)|\s+[.!?…]\s*\Z")
_ENDED = re.compile(r"[.!?…:;][\"”’')\]]*\Z")
_TEXTS = r"(?:documents?|docs|context|evidence|passages?)"
_LACKS = (
    rf"\b{_TEXTS}(?:\s+(?:provided|given))?\s+(?:do(?:es)?\s+not|do(?:es)?n.t)\s+"
    r"(?:contain|mention|provide|say|answer|specify|state|include|give|cover|tell)\b"
    rf"|\bnone\s+of\s+the\s+(?:\w+\s+)?{_TEXTS}\s+(?:answers?|contains?|mentions?|says?)\b"
    rf"|\b{_TEXTS}\s+contains?\s+no\s+(?:information|answer|mention)\b"
)
_CANNOT = (
    r"(?:could\s*n.t|could\s+not|can\s*not|can.t|did\s+not"
    r"|(?:was|am|.m)\s+(?:unable|not\s+able)\s+to)\s+"
    r"(?:find|locate|answer|determine|say|tell)\b|do(?:n.t|\s+not)\s+know\b"
)
_WEAK_REFUSAL = re.compile(
    rf"(?:i\s+)?(?:{_CANNOT})"
    r"|\bnot\s+found\s+in\s+(?:the\s+)?provided\s+doc"
    r"|\bno\s+(?:relevant\s+)?information\b.*\b(?:found|provided|available)\b"
    r"|\bthere\s+is\s+no\s+mention\s+of\b"
    # Only if nothing is cited: a document may say that a key is not stored in the document.
    rf"|\b(?:not|nothing)\b[^.!?]{{0,60}}\bin\s+(?:the|these|any)\s+(?:\w+\s+)?{_TEXTS}\b"
    rf"|{_LACKS}",
    re.IGNORECASE,
)
_CITED_REFUSAL = (
    re.compile(  # said of the model itself or of the documents, unlike a parser's "document"
        rf"\bi\s*(?:{_CANNOT})|{_LACKS}",
        re.IGNORECASE,
    )
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a draft, the keys cited after it, and how well their passages support it."""

    text: str
    keys: tuple[str, ...]
    support: float = 0.0

    @property
    def cited(self) -> str:
        """Return the sentence with its markers."""
        return f"{self.text} {''.join(f'[{key}]' for key in self.keys)}"


class Violation(Exception):  # noqa: N818 -- never leaves this module; it carries a reason, not an error
    """A breach of the contract by the draft; `note` says where."""

    def __init__(self, reason: Reason, note: str) -> None:
        super().__init__(note)
        self.reason = reason
        self.note = note


def verify(
    draft: str,
    evidence: Sequence[Evidence],
    entail: Entail | None = None,
    policy: Policy = "refuse",
    *,
    quotes: bool = False,
) -> Answer:
    """Return the draft as an answer if every sentence is cited and supported, else the refusal.

    An unsupported sentence makes the answer a refusal or is dropped, depending on `policy`. With
    `quotes`, each sentence has to quote its passage verbatim.
    """
    return Check("", evidence, Rules(policy, quotes), entail).answer(draft)


@dataclass(frozen=True, slots=True)
class Rules:
    """How to treat unsupported sentences, whether to require quotes, and how many to keep."""

    unsupported: Policy = "refuse"
    quotes: bool = False
    max_sentences: int | None = None


class Check:
    """Reads a draft by pieces, and passes each accepted sentence with markers to `on_sentence`.

    It stops after `max_sentences` sentences. A sentence with markers inside it comes in parts and
    is kept whole.
    """

    def __init__(
        self,
        question: str,
        evidence: Sequence[Evidence],
        rules: Rules,
        entail: Entail | None = None,
        on_sentence: OnSentence = ignore,
    ) -> None:
        self._given = {item.key: item for item in evidence}
        self._rules, self._entail, self._on_sentence = rules, entail, on_sentence
        self._around = [question, *(item.chunk.text for item in evidence)]
        self._text, self._read, self._searched = "", 0, 0
        self._claims: list[Claim] = []
        self._dropped: list[str] = []
        self._left_out: list[str] = []
        self._is_full = False
        self._violation: Violation | None = None

    def read(self, piece: str) -> None:
        """Check every complete sentence: one whose markers are followed by something else."""
        self._read += len(piece)
        if self._read > MAX_DRAFT:
            self._violation = Violation(
                "contract", f"the draft is longer than {MAX_DRAFT:,} characters"
            )
        else:
            self._text += piece
            self._look(ended=False)

    def answer(self, draft: str = "") -> Answer:
        """Return the answer or refusal for the whole draft.

        The draft may be given here if no piece was read.
        """
        if not self._read:
            self.read(draft)
        if not (self._claims or self._violation) and is_refusal(self._text):
            return refusal("model-refused")

        self._look(ended=True)
        if self._violation:
            return refusal(self._violation.reason, self._violation.note)
        if not self._claims:
            return (
                refusal("unsupported", *self._dropped)
                if self._dropped
                else refusal("model-refused")
            )

        text = " ".join(claim.cited for claim in self._claims)
        notes = (*self._dropped, *self._left_out)
        return Answer(
            text, refused=False, citations=_citations(self._claims, self._given), notes=notes
        )

    def _look(self, *, ended: bool) -> None:
        while not (self._violation or self._is_full) and (match := self._next_markers()):
            if not ended and _MAY_GO_ON.fullmatch(self._text, match.end()):
                return
            sentence, end = take_sentence(self._text, match)
            self._text = self._text[end:]
            self._searched = 0
            try:
                self._take(_claim(sentence, match[0]))
            except Violation as violation:
                self._violation = violation
        if ended and not (self._violation or self._is_full) and (rest := self._text.strip()):
            self._violation = Violation("contract", f"a sentence has no citation: {rest[:80]!r}")

    def _next_markers(self) -> re.Match[str] | None:
        """Return the next markers, without searching the same text again for every piece."""
        match = MARKED.search(self._text, self._searched)
        if match is None:
            opened = max(self._text.rfind(bracket, self._searched) for bracket in "[【")
            end = len(self._text) if opened < 0 else opened
            # Markers may begin with blanks and one bracket or two stars.
            before = self._text[:end].rstrip()
            begins = len(before.removesuffix("(").removesuffix("*").removesuffix("*").rstrip())
            self._searched = max(begins, end - MAX_BLANKS)
        return match

    def _take(self, claim: Claim) -> None:
        """Keep a claim with its support, drop it, or stop before it. Raises: Violation."""
        if self._stops_before(claim):
            return

        for key in claim.keys:
            _require_citable(key, self._given)
        passages = [self._given[key].chunk for key in claim.keys]
        if _is_cited_refusal(claim.text, passages):  # models often cite passages that do not answer
            self._left_out.append(
                f"left out {claim.text[:80]!r}: it says that an answer is missing"
            )
            return
        if (glued := _NO_BLANK.search(claim.text)) and not any(
            glued[0] in text for text in self._around
        ):
            raise Violation(
                "contract", f"a sentence has no citation: {claim.text[: glued.end()][:80]!r}"
            )

        try:
            claim = self._supported(claim, passages)
        except Unsupported as unsupported:
            note = f"{unsupported} {', '.join(claim.keys)}"
            if self._rules.unsupported == "refuse" or _is_part(claim.text, self._claims[-1:]):
                raise Violation("unsupported", note) from None
            self._dropped.append(f"dropped {claim.text[:80]!r}: {note}")
            return
        self._claims.append(claim)
        self._on_sentence(
            CheckedSentence(claim.cited, name_of(passages[0].title, passages[0].section))
        )

    def _stops_before(self, claim: Claim) -> bool:
        """Return whether this is a new sentence after the last allowed one.

        Raises: Violation for too many parts.
        """
        most = self._rules.max_sentences
        if most is None or len(self._claims) < most:
            return False
        if not _goes_on(claim.text, self._claims[-1:]):
            self._is_full = True
            self._left_out.append(
                f"left out what follows {format_count(most, 'sentence')} (answer.max_sentences)"
            )
        elif len(self._claims) >= most + MAX_PARTS:
            raise Violation("contract", f"a sentence has more than {MAX_PARTS} parts with markers")

        return self._is_full

    def _supported(self, claim: Claim, passages: Sequence[Chunk]) -> Claim:
        """Return the claim with its support and its quote, if required.

        Raises: Unsupported, Violation.
        """
        said = shown = claim.text
        if self._rules.quotes:
            said, shown = back_with_quote(claim.text, passages)
            _require_one(said)
        return Claim(shown, claim.keys, support(said, passages, self._entail, self._around))


def take_sentence(text: str, markers: re.Match[str], start: int = 0) -> tuple[str, int]:
    """Return the sentence before markers, and the start of the next one.

    A full stop after the markers belongs to the sentence.
    """
    # An accent may come in a separate piece.
    sentence = normalise(text[start : markers.start()]).strip()
    full_stop = _FULL_STOP.match(text, markers.end())
    if full_stop and not _ENDED.search(sentence):
        sentence += full_stop[0].strip()

    return sentence, full_stop.end() if full_stop else markers.end()


def refusal(reason: Reason, *notes: str) -> Answer:
    """Return the refusal with its fixed text, its reason and no citations."""
    return Answer(REFUSAL, refused=True, reason=reason, notes=notes or (REASONS[reason],))


def is_refusal(text: str) -> bool:
    """Return whether a draft cites nothing and says in some words that it has no answer.

    >>> is_refusal("I could not find this in the documents.")
    True
    >>> is_refusal("It could not find a route. [c1]")
    False
    """
    return not MARKED.search(text) and bool(_WEAK_REFUSAL.search(text[:_MAX_REFUSAL]))


def _is_cited_refusal(text: str, passages: Sequence[Chunk]) -> bool:
    """Return whether a sentence says that an answer is missing and is not from the passages."""
    if text.strip(" .!").lower() == REFUSAL:
        return True
    return bool(_CITED_REFUSAL.search(strip_quote(text[:_MAX_REFUSAL]))) and not _is_quoted(
        text, passages
    )


def _is_quoted(text: str, passages: Sequence[Chunk]) -> bool:
    return any(" ".join(text.split()) in " ".join(chunk.text.split()) for chunk in passages)


def _is_part(text: str, before: Sequence[Claim]) -> bool:
    """Return whether the text may belong to a sentence with markers inside.

    Dropping such a part could reverse the meaning of the sentence.
    """
    return _goes_on(text, before) or not _ENDED.search(text)


def _goes_on(text: str, before: Sequence[Claim]) -> bool:
    """Return whether the text continues a sentence with markers inside."""
    return text[:1].islower() and any(not _ENDED.search(claim.text) for claim in before)


def _claim(text: str, markers: str) -> Claim:
    """Return a sentence with its keys. Raises: Violation for an empty text or several sentences."""
    if not text:
        raise Violation("contract", f"a citation has no sentence: {markers.strip()}")
    _require_one(text)
    keys = dict.fromkeys(f"c{int(number)}" for number in re.findall(r"\d+", markers))
    return Claim(text, tuple(sorted(keys, key=_number)))


def _require_one(text: str) -> None:
    """Raise Violation if the text, without its quotes, has more than one sentence."""
    alone = strip_quote(text)
    ends = [blank.start() for blank in _BLANK.finditer(alone) if "\n" in blank[0]]
    ends += [end for _, end in sentence_spans(alone)[:-1]]
    if ends:
        raise Violation("contract", f"a sentence has no citation: {alone[: min(ends)][:80]!r}")


def _require_citable(key: str, given: Mapping[str, Evidence]) -> None:
    """Raise Violation if the key was not given or its passage has no page.

    A document without pages is all page 1.
    """
    if key not in given:
        raise Violation("contract", f"cites {key}, which was not given")
    chunk = given[key].chunk
    if not 0 < chunk.start_page <= chunk.end_page:
        raise Violation(
            "contract", f"cites {key}, which is on pages {chunk.start_page} to {chunk.end_page}"
        )


def _citations(claims: Sequence[Claim], given: Mapping[str, Evidence]) -> tuple[Citation, ...]:
    """Return one citation per key in numerical order, with the quoted span.

    Its support is the least of its sentences.
    """
    keys = sorted({key for claim in claims for key in claim.keys}, key=_number)
    return tuple(
        _citation(given[key], [claim for claim in claims if key in claim.keys]) for key in keys
    )


def _citation(item: Evidence, using: Sequence[Claim]) -> Citation:
    chunk = item.chunk
    quotes = (find_quote(claim.text, chunk.text) for claim in using)
    span = next(filter(None, quotes), None) or _nearest(using[0].text, chunk.text)
    return cite(item, span, support=min(claim.support for claim in using))


def cite(item: Evidence, span: Span, *, support: float, source: str = "") -> Citation:
    """Return the citation of a passage with the quote `text[start:end]` of it."""
    chunk = item.chunk
    start, end = (chunk.start + offset for offset in span)
    start_page, end_page, section = chunk.find_place(start, end)
    return Citation(
        key=item.key,
        doc_id=chunk.doc_id,
        start_page=start_page,
        end_page=end_page,
        chunk_id=chunk.chunk_id,
        start=start,
        end=end,
        quote=chunk.text[slice(*span)],
        support=support,
        title=chunk.title,
        section=section,
        source=source,
    )


def _nearest(claim: str, text: str) -> Span:
    """Return the span of the passage's sentence that shares most words with the claim.

    The first one wins a tie.
    """
    said = set(terms(claim))
    spans = sentence_spans(text) or [(0, len(text))]
    return max(spans, key=lambda span: overlap(said, set(terms(text[slice(*span)]))))


def _number(key: str) -> int:
    return int(key[1:])
