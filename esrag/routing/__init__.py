"""Routing: which way a question goes.

Rules over the words of the question choose the route. They are conservative: whatever they do not
recognise as a whole is a question to the documents, which is the last resort. A rule reads neither
the index nor a model, so that it costs nothing.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["documents", "collection", "summary", "direct"]
Wanted = Literal["", "list", "count", "pages"]


@dataclass(frozen=True, slots=True)
class Route:
    """A way to answer: from passages, the records of the index, one document, or not at all.

    `wanted` says what a question about the collection asks for. `about` is the topic of the
    documents, or the name of the one document, as the question words it; "" means all documents.
    `format` restricts them to those of one format, such as "pdf".
    """

    kind: Kind
    wanted: Wanted = ""
    about: str = ""
    format: str = ""
