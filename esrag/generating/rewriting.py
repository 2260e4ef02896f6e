"""Other wordings: a question that depends on earlier ones made standalone, and other queries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from esrag.citations import MARKERS
from esrag.errors import GeneratorError
from esrag.generating.followups import LEANING, WORD, Turn, make_standalone
from esrag.models import LanguageModel, Prompt
from esrag.text.terms import find_technical_words, terms
from esrag.verifying.verify import is_refusal

if TYPE_CHECKING:
    from esrag.generating.prompts import Prompts


LONGEST = 500  # characters of a question that a model rewrote; a longer one is an answer
REMEMBERED = 5  # earlier questions that a model is shown


def rewrite(
    question: str, earlier: Sequence[Turn], model: LanguageModel, prompts: "Prompts"
) -> str:
    """Return a question that stands alone by a model, if it gives one line that is still this one.

    Otherwise by rules.
    """
    if not earlier:
        return question
    asked = [turn.question for turn in earlier]
    try:
        line = _line(model, prompts.render_rewriting(question, asked[-REMEMBERED:]))
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
    is_other = "\n" in draft or len(draft) > LONGEST or MARKERS.search(draft)
    is_none = is_refusal(draft) and not draft.endswith("?")
    return "" if is_other or is_none else draft


def _own_words(question: str) -> set[str]:
    """Return a question with names in place of its pronouns.

    >>> sorted(_own_words("And what about their weight?")), sorted(_own_words("Why is it?"))
    (['weight'], ['is', 'why'])
    """
    own = LEANING.sub(" ", question)
    return set(terms(own)) or _words(own)


def _words(text: str) -> set[str]:
    """Return the terms, and all words as they are: a question such as "Why?" has no term."""
    return {*terms(text), *WORD.findall(text.lower())}


def subject(before: str) -> str:
    """Return what a question is about: its technical words, else all its search terms."""
    named = list(dict.fromkeys(find_technical_words(before)))
    return ", ".join(named) or " ".join(word for word in WORD.findall(before) if terms(word))
