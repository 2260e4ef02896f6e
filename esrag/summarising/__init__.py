"""Summaries of documents and sections, in an index next to that of the documents.

They find documents, not answers: a summary is never cited. The stored summaries are derived from
the index of the documents, and can be made again from it at any time.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """What a document says in short, or its section with this path; with the pages of either."""

    text: str
    section: str
    start_page: int
    end_page: int
