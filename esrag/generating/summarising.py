"""Have a language model sum up a text."""

from typing import TYPE_CHECKING

from esrag.models import LanguageModel
from esrag.text import drop_unshowable

if TYPE_CHECKING:
    from esrag.generating.prompts import Prompts

MAX_SENT = 12_000  # characters of a text
MAX_SUMMARY = 1_200  # characters; a longer one is not a summary


def summarise(text: str, max_sentences: int, model: LanguageModel, prompts: "Prompts") -> str:
    """Return a summary that is never longer than the text; "" if the model wrote none.

    Raises: GeneratorError.
    """
    prompt = prompts.render_summary(text[:MAX_SENT], max_sentences)
    written = " ".join(drop_unshowable(model.complete(prompt).text).split())
    return written[: min(len(text), MAX_SUMMARY)].strip()
