"""The generator that lets a language model write the draft."""

import re
from collections.abc import Sequence

from esrag.citations import MARKERS
from esrag.errors import GeneratorError
from esrag.generating import Draft, GenerationTask, GeneratorOptions
from esrag.models import Cited
from esrag.text import sentence_spans
from esrag.verifying.quotes import mask_quote
from esrag.verifying.verify import MAX_DRAFT

_MARKERS = re.compile(rf"(?<!\s)\s*(?:{MARKERS.pattern}\s*)+", MARKERS.flags)


class ModelGenerator:
    """Lets the language model of the task write the draft."""

    model = ""
    prompted = True

    def __init__(self, _: GeneratorOptions) -> None:
        """Need none of the options."""

    def generate(self, task: GenerationTask) -> Draft:
        """Return the model's draft.

        The citations of a model that takes documents become markers, and its draft is one piece.

        Raises: GeneratorError, SettingsError.
        """
        if task.model is None:
            raise GeneratorError("the generator 'model' was given no language model")
        if not task.model.takes_documents:
            written = task.model.complete(task.prompt, task.on_piece)
            return Draft(written.text, written.model)

        written = task.model.complete(task.prompt)
        text = insert_markers(written.text, written.cited, [item.key for item in task.evidence])
        task.on_piece(text)
        return Draft(text, written.model)


def insert_markers(text: str, cited: Sequence[Cited], keys: Sequence[str]) -> str:
    """Return the text with markers after each sentence: the keys of the citations that overlap it.

    Only `keys` are used, in their order. A sentence that has markers keeps them.

    >>> cited = [Cited(3, 8, ("c1", "c9")), Cited(16, 19, ("c1",))]
    >>> insert_markers("It boils. It is red. [c2]", cited, ["c1"])
    'It boils. [c1] It is red. [c2]'
    """
    if len(text) > MAX_DRAFT:
        return text

    parts, done = [], 0
    for start, end in sentence_spans(mask_quote(text)):
        markers = "" if _is_marked(text, start, end) else _markers(cited, keys, start, end)
        parts.append(f"{text[done:end]} {markers}" if markers else text[done:end])
        done = end

    return "".join((*parts, text[done:]))


def _markers(cited: Sequence[Cited], keys: Sequence[str], start: int, end: int) -> str:
    """Return the markers of the citations that overlap a sentence."""
    found = {
        key for place in cited if place.start < end and place.end > start for key in place.keys
    }
    return "".join(f"[{key}]" for key in keys if key in found)


def _is_marked(text: str, start: int, end: int) -> bool:
    """Return whether a sentence has markers in it or after it; leading ones belong to another."""
    other = _MARKERS.match(text, start, end)
    start = other.end() if other else start
    return start == end or bool(_MARKERS.search(text, start, end) or _MARKERS.match(text, end))
