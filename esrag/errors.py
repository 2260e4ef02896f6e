"""Every error a user can meet, as one tree.

EsragError
├── UsageError            wrong use: an option, a filter, a question             exit 2
├── SettingsError         a setting is missing, unknown or contradictory         exit 2
│   └── KeyRefused            a service refuses the key it was given             exit 2
├── LoadingError          one source could not be turned into documents          exit 1
│   ├── UnsupportedFormat     no loader takes it                                 exit 1
│   └── ParsingError          a loader took it and failed                        exit 1
├── ModelError            weights are missing, not the pinned ones, or refused   exit 2
├── EmbeddingError        an encoder broke its contract                          exit 1
│   └── ServiceBusy           an embedding service does not answer for now       exit 4
├── GeneratorError        the language model did not answer                       exit 4
├── WebError              the web could not be searched                           exit 4
├── ContextTooLarge       the best passage is larger than the evidence may be     exit 2
├── RerankError           a reranker failed; never leaves its chain              exit 1
├── QueueUnreachable      no Redis answers at queue.url                          exit 4
├── CacheUnreachable      no Redis answers at cache.url                          exit 4
├── JobEnded              a job was cancelled, or a rebuild is not whole         exit 1
├── LedgerError           the ledger cannot be read or written                   exit 1
│   └── JobMissing            the ledger holds no such job or batch              exit 2
└── EngineError           the index refused or could not be used                 exit 1
    ├── IndexMissing          nothing was ingested here yet                      exit 2
    ├── IndexMismatch         made with another model or a newer version         exit 2
    ├── IndexBusy             another writer holds it                            exit 4
    ├── EngineUnreachable     no server answers at engine.url                    exit 4
    └── IndexUnwritable       a read-only or full disk, a busy or blocked server exit 1

`cli.main` turns each into one line, a hint and the exit code.
"""

from typing import ClassVar


class EsragError(Exception):
    """Root of the tree; `str(error)` is one line that says what came and what was allowed.

    `hint` says what to do next; `exit_code` is the command line's.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def line(self) -> str:
        """Return what happened and what to do, for a report or a ledger."""
        return "; ".join(filter(None, (str(self), self.hint)))


class UsageError(EsragError):
    """Wrong use: an option, a filter or a question that cannot be understood."""

    exit_code = 2


class SettingsError(EsragError):
    """A setting is missing, unknown or contradictory."""

    exit_code = 2


class KeyRefused(SettingsError):  # noqa: N818
    """A service refuses its key. Every request with this key would be refused."""


class LoadingError(EsragError):
    """One source could not be parsed; the ingest continues with the others."""


class UnsupportedFormat(LoadingError):  # noqa: N818 -- named for what it is; the root carries "Error"
    """No loader takes this source."""


class ParsingError(LoadingError):
    """A loader took the source and failed."""


class ModelError(EsragError):
    """Model weights are missing, not the pinned ones, or of a family that is refused."""

    exit_code = 2


class EmbeddingError(EsragError):
    """An encoder returned vectors that break the contract.

    Their count or width is wrong, they hold NaN, or they are not unit vectors.
    """


class ServiceBusy(EmbeddingError):  # noqa: N818
    """An embedding service did not answer in time, or rejects requests for now.

    `wait_s` is for how long, 0 if it did not say.
    """

    exit_code = 4

    def __init__(self, message: str, *, wait_s: float = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.wait_s = wait_s


class RerankError(EsragError):
    """A reranker did not do its work; what it was given stays in its order."""


class GeneratorError(EsragError):
    """The language model did not answer, or its answer has another form."""

    exit_code = 4


class WebError(EsragError):
    """The web could not be searched, or its answer has another form."""

    exit_code = 4


class ContextTooLarge(EsragError):  # noqa: N818
    """The best passage alone is larger than the evidence may be."""

    exit_code = 2


class QueueUnreachable(EsragError):  # noqa: N818
    """No Redis answers at `queue.url`, or it stopped answering."""

    exit_code = 4


class CacheUnreachable(EsragError):  # noqa: N818
    """No Redis answers at `cache.url`.

    Only `esrag cache` raises it, everything else continues without a cache.
    """

    exit_code = 4


class JobEnded(EsragError):  # noqa: N818
    """A job was cancelled while it was worked on, or a rebuild is not whole and was thrown away."""


class LedgerError(EsragError):
    """The ledger cannot be read or written."""


class JobMissing(LedgerError):  # noqa: N818
    """The ledger holds no job or batch of that name."""

    exit_code = 2


class EngineError(EsragError):
    """The index refused a request or could not be used."""


class IndexMissing(EngineError):  # noqa: N818
    """Nothing was ingested here yet."""

    exit_code = 2


class IndexMismatch(EngineError):  # noqa: N818
    """The index was made with another model, another schema or a newer version."""

    exit_code = 2


class IndexBusy(EngineError):  # noqa: N818
    """Another writer holds the index."""

    exit_code = 4


class EngineUnreachable(EngineError):  # noqa: N818
    """No server answers at `engine.url`, or it stopped answering."""

    exit_code = 4


class IndexUnwritable(EngineError):  # noqa: N818
    """The index cannot be written.

    The disk is read-only or full, the folder belongs to something else, or a server accepts nothing
    for now.
    """
