"""Question answering over your own documents: every sentence cited and checked, or refused."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from esrag.verifying.drafts import DraftVerdict, Passage

__all__ = ["verify"]


def verify(
    draft: str, passages: "Sequence[Passage]", *, settings: Mapping[str, object] | None = None
) -> "DraftVerdict":
    """Check each sentence of a draft against the passages that it cites, as `esrag verify` does.

    The first passage is `c1`: its text, or a mapping of `text`, `title` and `section`. `settings` maps dotted names to
    values, on top of the settings file and the environment.

    Raises: UsageError for passages that are none, SettingsError, ModelError.

    >>> found = verify("It has 7 watts. [c1]", ["It has 7 watts."], settings={"embedding.model": "none"})
    >>> found.supported
    True
    """
    from esrag.context import open_context
    from esrag.settings import resolve
    from esrag.verifying.drafts import verify_draft

    resolved = resolve(dict(settings or {})).settings
    return verify_draft(draft, passages, open_context(resolved).encode, quotes=resolved.answer.quotes)
