"""Query fusion: a question is searched in several wordings, and the hits are fused.

The wordings are made without a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from esrag.engines.fusion import rrf
from esrag.errors import SettingsError
from esrag.records import Hit
from esrag.text.terms import find_technical_words

MAX_VARIANTS = 6  # each is a search of its own

_HINT = "write {NAME: [PHRASE, …]}, such as {KeyGen: [key generation]}"
_ALGORITHM = re.compile(r"\balgorithm\s+(\d{1,3})\b", re.IGNORECASE)
_PARAMETERS = re.compile(r"(?:-\d{1,8}){1,8}$")  # ML-KEM-768 is ML-KEM with its parameters


def variants(question: str, operations: Mapping[str, str]) -> tuple[str, ...]:
    """Return the question and other wordings of it, at most `MAX_VARIANTS`, each once.

    `operations` maps phrases to names. Other wordings are the technical words alone; a scheme with
    the name of the operation that the question describes; and each "Algorithm N", by itself and
    before every dotted name.

    >>> variants("ML-KEM key generation", {"key generation": "KeyGen"})
    ('ML-KEM key generation', 'ML-KEM', 'ML-KEM.KeyGen key generation')
    >>> variants("What does algorithm 19 (ML-KEM.KeyGen) return?", {})[1:]
    ('ML-KEM.KeyGen', 'Algorithm 19', 'Algorithm 19 ML-KEM.KeyGen')
    """
    return tuple(dict.fromkeys(_made(question, operations)))[:MAX_VARIANTS]


def phrases(operations: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the name of the operation by phrase.

    Raises: SettingsError for a phrase of two operations.

    >>> phrases({"KeyGen": ["key generation"], "Encaps": ["encapsulation", "encapsulate"]})
    {'key generation': 'KeyGen', 'encapsulation': 'Encaps', 'encapsulate': 'Encaps'}
    """
    found: dict[str, str] = {}
    for name, its_phrases in operations.items():
        for phrase in (" ".join(phrase.lower().split()) for phrase in its_phrases):
            if not phrase:
                raise SettingsError(
                    f"retrieval.operations.{name} holds an empty phrase", hint=_HINT
                )
            if found.setdefault(phrase, name) != name:
                raise SettingsError(
                    f"retrieval.operations: {phrase!r} belongs to {found[phrase]} and to {name}"
                )
    return found


def fuse_searches(results: Sequence[Sequence[Hit]], rank_constant: int = 60) -> tuple[Hit, ...]:
    """Return the hits of several searches as one list, by reciprocal rank fusion, ties by chunk id.

    A hit keeps the ranks and scores of the legs of the first search that found it. One search stays
    as it is.
    """
    if len(results) == 1:
        return tuple(results[0])

    first = {hit.chunk.chunk_id: hit for hits in reversed(results) for hit in hits}
    scores = rrf(
        [{hit.chunk.chunk_id: hit.score for hit in hits} for hits in results], rank_constant
    )
    return tuple(
        replace(first[chunk_id], score=score, fused_score=score)
        for chunk_id, score in scores.items()
    )


def _made(question: str, operations: Mapping[str, str]) -> Iterator[str]:
    yield question
    words = find_technical_words(question)
    if words:
        yield " ".join(words)
    named = dict(_named(question, words, operations))
    yield from named.values()

    for number in _ALGORITHM.findall(question):
        yield f"Algorithm {number}"
        yield from (f"Algorithm {number} {word}" for word in (*words, *named) if "." in word)


def _named(
    question: str, words: Sequence[str], operations: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the dotted names of the operations that a question describes, with a wording for each.

    The wording is the question with the dotted name in place of its scheme.
    """
    schemes = [word for word in words if "." not in word]
    for phrase, name in operations.items():
        pattern = r"\s+".join(map(re.escape, phrase.split()))
        # A signing key signs nothing.
        described = re.search(rf"\b{pattern}\b(?!\s+keys?\b)", question, re.IGNORECASE)
        if described and (scheme := _nearest(question, schemes, described)):
            dotted = f"{_PARAMETERS.sub('', scheme[0])}.{name}"
            yield dotted, f"{question[: scheme.start()]}{dotted}{question[scheme.end() :]}"


def _nearest(question: str, words: Sequence[str], described: re.Match[str]) -> re.Match[str] | None:
    """Return the last of the words before the operation, or the first one after it."""
    if not words:
        return None
    found = list(
        re.finditer(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, words))})(?![\w-])", question)
    )
    before = [word for word in found if word.end() <= described.start()]
    after = [word for word in found if word.start() >= described.end()]
    return next(iter([*reversed(before), *after]), None)
