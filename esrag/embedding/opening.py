"""Open the embedder that the settings name."""

from esrag import plugins
from esrag.embedding import Embedder, EmbedderOptions

KEYWORD_ONLY = "none"


def open_embedder(provider: str, options: EmbedderOptions) -> Embedder | None:
    """Return the provider's embedder, or None if the model is "none": keyword search only.

    Raises: SettingsError for a provider that is not registered.
    """
    if options.model == KEYWORD_ONLY:
        return None
    embedder: Embedder = plugins.load("embedders", provider)(options)
    return embedder
