"""The web: a question → the results of a search service, as chunks that live for one question.

Only the service is called, at the address that the user chose. No page of a result is fetched. What
a result says is data: its mark-up is dropped, and its sentences are cited and checked like any
passage's.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebResult:
    """A result of a search: the address of a page, its title, and some of its text."""

    url: str
    title: str
    text: str
