"""Ask a language model which intent a question has."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from esrag.models import LanguageModel
from esrag.settings import IntentSettings

if TYPE_CHECKING:
    from esrag.generating.prompts import Prompts


def classify(
    question: str, kinds: Mapping[str, IntentSettings], model: LanguageModel, prompts: "Prompts"
) -> str:
    """Return what a model says, which may be no name of an intent. Raises: GeneratorError."""
    described = {
        name: " ".join((kind.description, *(f"For example: {each}" for each in kind.examples)))
        for name, kind in kinds.items()
    }
    return model.complete(prompts.render_intents(question, described)).text.strip()
