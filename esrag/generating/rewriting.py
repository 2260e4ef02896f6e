"""Other wordings: a question that depends on earlier ones made standalone, and other queries."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from esrag.citations import MARKERS
from esrag.errors import GeneratorError
from esrag.models import LanguageModel, Prompt
from esrag.text.terms import find_technical_words, terms
from esrag.verifying.verify import is_refusal

if TYPE_CHECKING:
    from esrag.generating.prompts import Prompts


LONGEST = 500  # characters of a question that a model rewrote; a longer one is an answer
REMEMBERED = 5  # earlier questions that a model is shown

_OPENING = r"\A\s*(?:(?:and|but|or|so|also|then|what about|how about)\b[\s,]*)+"
_PRONOUN = r"\b(?:(?-i:[Ii]t)|its|they|them|their|he|his|him|she|her|hers|former|latter)\b"
_THAT = r"\b(?:this|that|these|those)\b"
# The end of the question or a verb, and not a noun.
_ALONE = r"(?=\s*(?:\?|\Z|(?:is|are|was|were|do|does|did|mean|means|work|works)\b))"
_LEANS = re.compile(f"{_OPENING}|{_PRONOUN}|{_THAT}{_ALONE}", re.IGNORECASE)
_LEANING = re.compile(f"{_OPENING}|{_PRONOUN}|{_THAT}", re.IGNORECASE)
_MIN_TERMS = 1  # "Why?" asks about what was spoken of; but not "What is SHAKE128?"
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"(?<![.+#'’-])(?:[.+#'’-]*+\w)++")


def make_standalone(question: str, earlier: Sequence[str]) -> str:
    """Return the question with what it takes from the one before, by rules.

    A question that takes nothing from it stays as it is.

    >>> make_standalone("And of ML-KEM-1024?", ["What is the key size of ML-KEM-768?"])
    'What is the key size of ML-KEM-1024?'
    >>> make_standalone("How long is its ciphertext?", ["What is the key size of ML-KEM-768?"])
    'How long is its ciphertext? (ML-KEM-768)'
    >>> make_standalone("How long is a day on Mars?", ["What is the key size of ML-KEM-768?"])
    'How long is a day on Mars?'
    """
    if not earlier or not _leans(question):
        return question

    about = subject(earlier[-1])
    return _exchanged(question, earlier[-1]) or (f"{question} ({about})" if about else question)


def rewrite(question: str, earlier: Sequence[str], model: LanguageModel, prompts: "Prompts") -> str:
    """The same by a model, where it gives one line that is still this question; else by rules."""
    if not earlier:
        return question
    try:
        line = _line(model, prompts.render_rewriting(question, earlier[-REMEMBERED:]))
    except GeneratorError:
        line = ""
    return (
        line
        if line and _own_words(question) <= _words(line)
        else make_standalone(question, earlier)
    )


def reformulate(
    question: str, searched: Sequence[str], model: LanguageModel, prompts: "Prompts"
) -> str:
    """Return another query by a model, for a question with too little evidence; "" without one.

    Raises: GeneratorError.
    """
    return _line(model, prompts.render_reformulating(question, searched))


def _line(model: LanguageModel, prompt: Prompt) -> str:
    """Return the model's line if it may be a question, else "". Raises: GeneratorError."""
    draft = model.complete(prompt).text.strip()
    is_other = "\n" in draft or len(draft) > LONGEST or MARKERS.search(draft) or is_refusal(draft)
    return "" if is_other else draft


def _own_words(question: str) -> set[str]:
    """Return a question with names in place of its pronouns.

    >>> sorted(_own_words("And what about their weight?")), sorted(_own_words("Why is it?"))
    (['weight'], ['is', 'why'])
    """
    own = _LEANING.sub(" ", question)
    return set(terms(own)) or _words(own)


def _words(text: str) -> set[str]:
    """Return the terms, and all words as they are: a question such as "Why?" has no term."""
    return {*terms(text), *_WORD.findall(text.lower())}


def _leans(question: str) -> bool:
    is_short = len(set(terms(question))) <= _MIN_TERMS and not find_technical_words(question)
    return is_short or bool(_LEANS.search(question))


def _exchanged(question: str, before: str) -> str:
    """Return the question before with its ML-KEM-768 replaced by this one's ML-KEM-1024.

    "" if they name no such pair, or if this question asks for more.
    """
    words = find_technical_words(question)
    if set(terms(question)) - {term for word in words for term in terms(word)}:
        return ""

    for word in words:
        for other in find_technical_words(before):
            if word != other and _DIGITS.sub("#", word) == _DIGITS.sub("#", other):
                return before.replace(other, word)

    return ""


def subject(before: str) -> str:
    """Return what a question is about: its technical words, else all its search terms."""
    named = list(dict.fromkeys(find_technical_words(before)))
    return ", ".join(named) or " ".join(word for word in _WORD.findall(before) if terms(word))
