"""The settings: one frozen tree, and where each value came from.

Order, later wins: defaults < preset < esrag.yaml < esrag.<environment>.yaml < ESRAG_… variables < flags.
Settings are built at the edge and passed; nothing below `cli` reads a file or a variable for them.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from esrag.errors import SettingsError
from esrag.project import INDEX_FOLDER, SETTINGS_FILE, project_folder
from esrag.trust import Standing, is_foreign, redirects, standing

ENVIRONMENT_PREFIX = "ESRAG_"
DEFAULT_MODEL = "all-MiniLM-L6-v2"
FOUND = "found in a folder above"

# Settings that are paths, or may be; in a file they are relative to its folder. A model may also be a name.
_PATHS = ("engine.url", "engine.ca_file", "ledger.url", "cache.url", "generator.templates")
_MODELS = ("embedding.model", "rerank.model")
# The secrets that go to each address besides a password of its own.
_SENT_TO: Mapping[str, Sequence[str]] = {
    "engine.url": ("engine.password", "engine.api_key"),
    "queue.url": (),
    "cache.url": (),
    "embedding.url": ("embedding.api_key",),
    "rerank.url": ("rerank.api_key",),
    "generator.url": ("generator.api_key",),
    "kibana.url": ("engine.password", "engine.api_key"),
}
_USED_BY_ALL = tuple(key for key in _SENT_TO if key != "kibana.url")  # that one is mostly for links


class Section(BaseModel):
    """A branch of the tree: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EngineSettings(Section):
    """Where the index lives."""

    url: str = Field(
        default=INDEX_FOLDER,
        pattern=r"^[^\x00]+$",
        description="Folder of the embedded engine, or the address of Elasticsearch or OpenSearch.",
    )
    index: str = Field(default="esrag", pattern=r"^[a-z0-9][a-z0-9_.-]{0,99}$", description="Name of the index.")
    lock_wait_s: float = Field(
        default=30.0, ge=0, le=86_400, description="Seconds a second writer waits for the first."
    )
    username: str = Field(default="", description="User of the server.")
    password: SecretStr = Field(default=SecretStr(""), description="Password of the user.")
    api_key: SecretStr = Field(default=SecretStr(""), description="API key of the server, instead of a user.")
    ca_file: str = Field(default="", description="File with the authority that signed the server's certificate.")
    certificate_fingerprint: str = Field(default="", description="SHA-256 of the server's certificate, in hexadecimal.")
    verify_certificates: bool = Field(default=True, description="Refuse a server whose certificate is not valid.")
    shards: int = Field(default=1, ge=1, le=1024, description="Parts a server cuts a new index into.")
    replicas: int = Field(default=0, ge=0, le=100, description="Copies of each shard that a server keeps beside it.")
    similarity: Literal["cosine", "dot_product", "l2_norm"] = Field(
        default="cosine", description="How a server compares vectors; they are unit vectors, so all three rank alike."
    )
    quantisation: Literal["none", "int8", "int4", "bbq"] = Field(
        default="none",
        description="How a server shrinks the vectors that it walks through; OpenSearch: none or int8.",
    )
    hnsw_m: int = Field(default=16, ge=2, le=512, description="Neighbours of a vector in a server's graph.")
    hnsw_ef_construction: int = Field(
        default=100, ge=1, le=3200, description="Candidates for those neighbours while a server builds its graph."
    )


class LoadingSettings(Section):
    """Which files are read, what of them, and what a source may cost."""

    follow_links: bool = Field(default=False, description="Follow links that lead outside the folder that was named.")
    ignore_files: bool = Field(default=True, description="Leave out what .gitignore and .esragignore files name.")

    hidden: Literal["drop", "keep"] = Field(
        default="drop", description="Text that a reader of the file would not see: leave it out, or keep it."
    )
    max_bytes: int = Field(default=128 * 2**20, gt=0, description="Largest source, in bytes.")
    max_characters: int = Field(default=20_000_000, gt=0, description="Longest text of one document, in characters.")
    timeout_s: float = Field(default=120.0, gt=0, le=86_400, description="Seconds one source may take to be parsed.")
    budget_s: float = Field(
        default=14_400.0,
        ge=0,
        description="Seconds a folder's files may take to be parsed, in one ingest or a worker's batch; 0: any.",
    )
    memory_bytes: int = Field(
        default=4 * 2**30, gt=0, lt=2**63, description="Address space of the parsing process, in bytes."
    )


class ChunkingSettings(Section):
    """How documents are cut."""

    strategy: str = Field(default="sections", description="Name of the chunker.")
    size: int = Field(default=200, gt=0, description="Largest chunk, in tokens of the encoder.")
    overlap: int = Field(default=0, ge=0, description="Tokens two neighbouring chunks share, at most.")


class EmbeddingSettings(Section):
    """The sentence encoder."""

    provider: str = Field(default="onnx", description="Name of the embedder.")
    model: str = Field(default=DEFAULT_MODEL, description='Model name or BERT folder; "none": keyword search only.')
    precision: Literal["int8", "fp32"] = Field(default="int8", description="Arithmetic of the ONNX encoder.")
    workers: int = Field(default=0, ge=0, description="Encoder threads; 0: one a core.")
    offline: bool = Field(default=False, description="Never download weights.")
    url: str = Field(default="", description="Address of an embedding service, for providers that are one.")
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the embedding service.")
    requests_per_minute: int = Field(
        default=0, ge=0, description="Requests all workers together may send the service in a minute; 0: any."
    )
    tokens_per_minute: int = Field(
        default=0, ge=0, description="Tokens all workers together may send the service in a minute; 0: any."
    )


class RetrievalSettings(Section):
    """The two legs and their fusion."""

    method: Literal["vector", "keyword", "hybrid"] = Field(default="hybrid", description="Legs that are searched.")
    fusion: Literal["rrf", "weighted"] = Field(default="rrf", description="How the legs become one list.")
    k: int = Field(default=10, gt=0, le=1000, description="Hits that come back.")
    candidates: int = Field(default=100, gt=0, le=10_000, description="Hits read from each leg.")
    rank_constant: int = Field(default=60, gt=0, le=10_000, description="k of reciprocal rank fusion.")
    vector_weight: float = Field(default=0.5, ge=0, le=1, description="Vector leg's share in either fusion.")
    variants: bool = Field(default=False, description="Search other wordings of the question too, and fuse them all.")
    operations: str = Field(
        default="",
        description="What phrases are called after a scheme's name: KeyGen=key generation, Sign=sign|signing.",
    )


class RerankSettings(Section):
    """What is done with the order of the hits. Bonuses are written NAME=NUMBER, separated by commas."""

    chain: str = Field(
        default="", description="Rerankers in order, separated by commas; nothing: the order of the fusion stays."
    )
    depth: int = Field(default=50, gt=0, le=1000, description="Hits that are reranked, at most.")
    budget_ms: int = Field(
        default=0,
        ge=0,
        le=86_400_000,
        description="Milliseconds for it all, by which fewer hits are read; 0: as long as it takes.",
    )
    model: str = Field(default="", description="Folder of a cross-encoder, or the name of a service's model.")
    url: str = Field(default="", repr=False, description="Address of a reranking service; nothing: the provider's own.")
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the reranking service.")
    group_by: str = Field(default="doc_id", description="Key of the metadata that round-robin takes turns by.")
    relevance: float = Field(
        default=0.7, ge=0, le=1, description="What mmr gives to nearness to the question; the rest is for variety."
    )
    weight: float = Field(default=0.6, ge=0, le=100, description="What late-interaction counts beside the fused score.")
    authority: str = Field(default="", description="Bonus of quality by the domain of a hit's url: gov=0.05.")
    completeness: str = Field(default="600=0.10, 400=0.05", description="Bonus of quality above so many characters.")
    indicators: str = Field(
        default="digit=0.03, is|are|must|requires|allows=0.02", description="Bonus of quality for one of these words."
    )


class GeneratorSettings(Section):
    """What writes the answer."""

    name: str = Field(default="extractive", description="Name of the generator.")
    model: str = Field(default="", description="Name of the language model, for generators that ask one.")
    url: str = Field(default="", repr=False, description="Address of its service; nothing: the provider's own.")
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the service.")
    timeout_s: float = Field(default=60.0, gt=0, le=3600, description="Seconds the whole of an answer may take.")
    max_output_tokens: int = Field(default=1000, gt=0, le=100_000, description="Tokens a model may write, at most.")
    templates: str = Field(default="", description="Folder with prompts of your own; nothing: the package's.")


class AnswerSettings(Section):
    """Evidence, length and refusal of an answer."""

    refusal: float = Field(default=0.5, ge=0, le=1, description="Refuse below this confidence; 0 never refuses for it.")
    evidence_chunks: int = Field(default=10, gt=0, description="Passages given as evidence, at most.")
    evidence_characters: int = Field(default=12_000, gt=0, description="Characters of evidence, at most.")
    evidence_tokens: int = Field(default=6_000, gt=0, description="Tokens of evidence, as the encoder counts, at most.")
    compress: bool = Field(default=False, description="Send a model the fitting sentences of passages without room.")
    neighbours: int = Field(default=1, ge=0, le=100, description="Chunks added before and after each of the best hits.")
    steps: int = Field(
        default=1,
        ge=1,
        le=10,
        description="Searches for a question at most: where one finds too little, in other words.",
    )
    algorithms: bool = Field(
        default=True, description='Answer a question about an "Algorithm N" with its steps, whole and in order.'
    )
    minimum_hits: int = Field(default=1, ge=1, description="Fewer hits than this are a refusal.")
    max_sentences: int = Field(default=3, gt=0, description="Maximum number of sentences in an answer.")
    unsupported: Literal["refuse", "drop"] = Field(
        default="refuse", description="What a sentence does that its passages do not support: end the answer, or go."
    )
    quotes: bool = Field(
        default=False, description="Let every sentence of a model hold words of its passage, to the letter."
    )


class KibanaSettings(Section):
    """What to look inside a server's index with."""

    url: str = Field(
        default="", description="Address of Kibana or OpenSearch Dashboards; user, key and TLS are those of engine."
    )


class QueueSettings(Section):
    """How an ingest is handed to workers."""

    url: str = Field(
        default="", repr=False, description="Address of the queue's Redis; nothing: the command does the work itself."
    )
    window_batches: int = Field(default=200, ge=1, le=100_000, description="Batches in the queue at once, at most.")
    batch_files: int = Field(default=64, ge=1, le=1000, description="Files of a batch, at most.")
    batch_bytes: int = Field(default=4 * 2**20, ge=1, description="Bytes of a batch's files, but for a single one.")
    attempts: int = Field(default=3, ge=1, le=100, description="Times a batch is tried before it is given up.")
    lease_s: float = Field(
        default=300.0,
        ge=1,
        le=86_400,
        description="Seconds without a sign of life after which a worker counts as dead.",
    )
    time_limit_s: float = Field(
        default=3600.0, ge=1, le=86_400, description="Seconds a batch may take before its worker is killed."
    )
    sweep_s: float = Field(
        default=10.0, ge=0.1, le=3600, description="Seconds between two looks for what was lost or is overdue."
    )


class LedgerSettings(Section):
    """Where it is written down what was ingested and what was not."""

    url: str = Field(
        default="", description="File of the ledger; nothing: with the index, in its folder or on its server."
    )


class CacheSettings(Section):
    """Where vectors and answers are kept so that they are not made twice."""

    url: str = Field(default="", repr=False, description="Address of the cache's Redis, or a file; nothing: no cache.")
    ttl_days: float = Field(default=30.0, gt=0, le=3650, description="Days a vector or an answer is kept.")


class Settings(Section):
    """The whole tree."""

    preset: str = Field(default="", description="Preset the other values start from.")
    allow_unencrypted: bool = Field(
        default=False, description="Send keys and passwords to other machines over http:// and redis:// too."
    )
    engine: EngineSettings = EngineSettings()
    queue: QueueSettings = QueueSettings()
    ledger: LedgerSettings = LedgerSettings()
    cache: CacheSettings = CacheSettings()
    loading: LoadingSettings = LoadingSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    generator: GeneratorSettings = GeneratorSettings()
    answer: AnswerSettings = AnswerSettings()
    kibana: KibanaSettings = KibanaSettings()


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place, by dotted key; `origin` is how that place is shown to the user.

    `file` is the settings file that holds `content`; `standing` says whether the user allowed it, or named it.
    """

    origin: str
    values: Mapping[str, Any]
    file: Path | None = None
    content: bytes = b""
    standing: Standing = "allowed"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings and, for each dotted key that was not left at its default, its origin.

    `files` are the settings files that were read, `withheld` those that need to be allowed first, with the keys in
    force for which they do.
    """

    settings: Settings
    origins: Mapping[str, str]
    files: tuple[Path, ...] = ()
    withheld: tuple[tuple[Layer, tuple[str, ...]], ...] = ()


def resolve(
    flags: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    *,
    is_code: bool = False,
) -> Resolved:
    """Return the settings of every layer, fit to be used. `flags` may hold secrets if they come from code.

    Raises: SettingsError as `read_settings` does, for a file that decides where texts and secrets go and was not
    allowed to, and where a secret would leave the machine without TLS.
    """
    resolved = read_settings(flags, environ, folder, is_code=is_code)

    for layer, keys in resolved.withheld:
        raise not_allowed(layer, keys)
    require_tls(resolved.settings)

    return resolved


def read_settings(
    flags: Mapping[str, Any],
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    *,
    is_code: bool = False,
) -> Resolved:
    """Return the settings of every layer, to be looked at: nothing may be sent anywhere because of them.

    Raises: SettingsError for an unknown key, a value of the wrong form, a secret that is not from the environment, or a
    file that cannot be read.
    """
    files, flagged = [*file_layers(environ, folder)], Layer("code" if is_code else "flag", flags)
    for layer in files if is_code else (*files, flagged):
        _require_no_secret(layer)

    later = [*files, _environment_layer(environ), flagged]
    name = next((layer.values["preset"] for layer in reversed(later) if "preset" in layer.values), "")
    preset = [preset_layer(str(name))] if name else []
    layers = [_found_layer(folder), *preset, *later]

    known = dict(fields())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.values.items():
            _require_known(key, known, layer.origin)
            values[key], origins[key] = value, layer.origin

    return Resolved(
        settings=_build(values, origins),
        origins=origins,
        files=tuple(layer.file for layer in files if layer.file),
        withheld=_withheld(layers),
    )


def fields(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of the tree as (dotted key, pydantic field), in order."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from fields(info.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", info


def value_of(settings: BaseModel, key: str) -> Any:
    """The value under a dotted key."""
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def with_values(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Return the settings with some values replaced, by dotted key. Raises: SettingsError as `resolve` does."""
    known = dict(fields())
    for key in values:
        _require_known(key, known, "overlay")
    flat = {key: value_of(settings, key) for key in known}
    return _build(flat | dict(values), dict.fromkeys(values, "overlay"))


def mask_value(value: Any) -> Any:
    """Return a value as the user may see it: secrets are masked, the password in an address too."""
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    return re.sub(r"(?<=://).*@", "********@", value) if isinstance(value, str) else value  # it may hold a slash


def is_address(url: str) -> bool:
    """Whether an engine's URL is a server's address, and no folder.

    >>> is_address("https://search.example:9200"), is_address(".esrag"), is_address("redis://host")
    (True, False, False)
    """
    return url.startswith(("http://", "https://"))


def is_redis(url: str) -> bool:
    """Whether a URL is a Redis server's address.

    >>> is_redis("rediss://user:password@cache.example:6380/0"), is_redis("unix:///run/redis.sock"), is_redis("x.db")
    (True, True, False)
    """
    return url.startswith(("redis://", "rediss://", "unix://"))


def variable(key: str) -> str:
    """The environment variable of a dotted key.

    >>> variable("engine.url")
    'ESRAG_ENGINE__URL'
    """
    return ENVIRONMENT_PREFIX + key.upper().replace(".", "__")


def presets() -> tuple[str, ...]:
    """The names of the presets that ship with the package."""
    return tuple(
        sorted(p.name.removesuffix(".yaml") for p in files("esrag.presets").iterdir() if p.name.endswith(".yaml"))
    )


def preset_text(name: str) -> str:
    """A preset as it is written, comments and all. Raises: SettingsError for an unknown name."""
    if name not in presets():
        raise SettingsError(f"no preset named {name!r}", hint=f"choose one of {', '.join(presets())}")
    return (files("esrag.presets") / f"{name}.yaml").read_text(encoding="utf-8")


def preset_layer(name: str) -> Layer:
    """A preset's values. Raises: SettingsError for an unknown name."""
    return Layer(f"preset {name}", flatten(yaml.safe_load(preset_text(name)) or {}))


def settings_file(environ: Mapping[str, str], folder: Path) -> Path:
    """Return the file that ESRAG_CONFIG names, else esrag.yaml of the project, which need not exist."""
    return Path(environ.get("ESRAG_CONFIG") or project_folder(folder) / SETTINGS_FILE)


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine.

    >>> is_loopback("http://localhost:9200"), is_loopback("redis://[::1]/0"), is_loopback("http://search:9200")
    (True, True, False)
    """
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def require_tls(settings: Settings, keys: Iterable[str] = _USED_BY_ALL) -> None:
    """Raises: SettingsError where a secret would go to another machine as plain text."""
    for key in keys:
        url: str = value_of(settings, key)
        if not url.startswith(("http://", "redis://")) or is_loopback(url) or settings.allow_unencrypted:
            continue
        if has_password(url) or any(value_of(settings, secret).get_secret_value() for secret in _SENT_TO[key]):
            safe = "https://" if url.startswith("http") else "rediss://"
            hint = f"write {safe}, or set {variable('allow_unencrypted')}=true if nobody else reads that network"
            raise SettingsError(f"{key} would send a key or password to another machine without TLS", hint=hint)


def has_password(url: str) -> bool:
    """Whether an address holds a password.

    >>> has_password("redis://:secret@host"), has_password("redis://user@host")
    (True, False)
    """
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False


def not_allowed(layer: Layer, keys: Sequence[str]) -> SettingsError:
    """Return the error for a settings file that needs to be allowed, with the command that does it."""
    why = "has changed since it was allowed" if layer.standing == "changed" else "was not allowed to"
    if layer.file and is_foreign(layer.file):
        why = "belongs to another user"
    message = f"{layer.origin} sets {', '.join(keys)}, and {why}"
    hint = f"read it, and if your texts and keys may go there, run: esrag config allow {shlex.quote(str(layer.file))}"
    return SettingsError(message, hint=hint)


def _withheld(layers: Sequence[Layer]) -> tuple[tuple[Layer, tuple[str, ...]], ...]:
    """Return the files that need to be allowed, each with the keys in force for which it does.

    What a later layer overrides does no harm, nor does a value that would hold without the file.
    """
    in_force = {key: layer for layer in layers for key in layer.values}
    safe = {key: info.default for key, info in fields()}
    for layer in layers:
        safe |= layer.values if layer.standing == "allowed" else {}

    withheld = []
    for layer in layers:
        if layer.file is None or layer.standing == "allowed":
            continue
        keys = [key for key in decides(layer) if in_force[key] is layer and layer.values[key] != safe[key]]
        if keys:
            withheld.append((layer, tuple(keys)))

    return tuple(withheld)


def decides(layer: Layer) -> list[str]:
    """Return the keys of a settings file by which it decides where texts and secrets go.

    They are all its keys if it is another user's.
    """
    if layer.file is None:
        return []

    everything, folder = is_foreign(layer.file), layer.file.parent
    return [key for key, value in layer.values.items() if everything or redirects(key, value, folder)]


def _found_layer(folder: Path) -> Layer:
    """Return where the index is when nothing says so: in the project's folder, if that is above this one."""
    project = project_folder(folder)
    return Layer(FOUND, {} if project == folder else {"engine.url": str(project / INDEX_FOLDER)})


def file_layers(environ: Mapping[str, str], folder: Path) -> Iterator[Layer]:
    """esrag.yaml, then esrag.<environment>.yaml; a named file or environment must exist."""
    base = settings_file(environ, folder)
    is_named = Path(environ.get("ESRAG_CONFIG", "")).is_absolute()  # a relative one is another file in each folder
    if environ.get("ESRAG_CONFIG") or base.exists():
        yield read_file(base, is_named=is_named)
    if environment := environ.get("ESRAG_ENVIRONMENT"):
        if not re.fullmatch(r"[\w.-]+", environment):
            raise SettingsError(f"ESRAG_ENVIRONMENT must be letters, digits, dots and dashes, got {environment!r}")
        yield read_file(base.with_name(f"esrag.{environment}.yaml"), is_named=is_named)


def read_file(path: Path, *, is_named: bool = False) -> Layer:
    """Return the values of a settings file. Raises: SettingsError."""
    try:
        content = path.read_bytes()  # once: what is judged is what is used
        tree = yaml.safe_load(content.decode()) or {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"cannot read the settings file {path}: {getattr(error, 'strerror', None) or error}"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a thirteenth month, a thousand brackets
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise SettingsError(f"{path} is not YAML{where}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} holds a {type(tree).__name__}, expected sections with keys")

    values = {key: _from_folder(key, value, path.parent) for key, value in flatten(tree).items()}
    return Layer(
        origin=str(path),
        values=values,
        file=path,
        content=content,
        standing="allowed" if is_named else standing(path, content),
    )


def _from_folder(key: str, value: Any, folder: Path) -> Any:
    """Return a value of a file in this folder; a relative path starts there, wherever the command runs.

    >>> _from_folder("cache.url", "cache.db", Path("/p")), _from_folder("cache.url", "redis://host", Path("/p"))
    ('/p/cache.db', 'redis://host')
    """
    if not isinstance(value, str) or not value or folder == Path() or value.startswith("~") or "\0" in value:
        return value

    is_path = key in _PATHS and "://" not in value
    is_model = key in _MODELS and value != DEFAULT_MODEL and (folder / value).is_dir()
    return str(folder / value) if is_path or is_model else value


def _sections() -> frozenset[str]:
    """The dotted names of the tree's branches."""
    return frozenset(key.rpartition(".")[0] for key, _ in fields()) - {""}


def flatten(tree: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Return the dotted keys of a nested mapping. Only the tree's own branches are entered: aliases cannot blow it up.

    >>> flatten({"engine": {"url": "x"}, "preset": "keyword", "answer": None})
    {'engine.url': 'x', 'preset': 'keyword'}
    """
    flat: dict[str, Any] = {}
    for name, value in ((f"{prefix}{key}", value) for key, value in tree.items()):
        if name in _sections() and isinstance(value, Mapping | None):  # a branch whose lines are all comments is None
            flat |= flatten(value or {}, f"{name}.")
        else:
            flat[name] = value
    return flat


def _environment_layer(environ: Mapping[str, str]) -> Layer:
    names = {name for name in environ if name.startswith(ENVIRONMENT_PREFIX)} - {
        "ESRAG_CONFIG",
        "ESRAG_ENVIRONMENT",
    }
    values = {name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): environ[name] for name in sorted(names)}
    return Layer("environment", values)


def _require_known(key: str, known: Iterable[str], origin: str) -> None:
    if key in known:
        return
    if key in _sections():
        raise SettingsError(f"{key} (from {origin}) is a section, not a setting", hint=f"set a key of it: {key}.…")
    import difflib

    close = difflib.get_close_matches(key, [*known, *_sections()], n=1)
    hint = f"did you mean {close[0]}?" if close else "esrag config show lists every setting"
    raise SettingsError(f"unknown setting {key!r} (from {origin})", hint=hint)


def _require_no_secret(layer: Layer) -> None:
    """Secrets come from the environment: a file is shared sooner or later, a command's words are seen by all."""
    for key, info in fields():
        if info.annotation is SecretStr and layer.values.get(key):
            hint = f"set {variable(key)}"
            raise SettingsError(f"{key} (from {layer.origin}) is a secret, taken from the environment alone", hint=hint)


def _build(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *path, leaf = key.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[leaf] = value
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        info = dict(fields()).get(key)
        secret = key.endswith("url") or (info and info.annotation is SecretStr)  # an address may hold a password
        came = "" if secret else f", got {first['input']!r}"
        message = f"{key} (from {origins.get(key, 'default')}): {first['msg'].lower()}{came}"
        raise SettingsError(message, hint=f"{key} is: {info.description}" if info else "") from error
    if "://" in settings.engine.url and not is_address(settings.engine.url):  # not shown: it may hold a password
        hint = "write http://host:9200, or https://host:9200"
        raise SettingsError("engine.url must be a folder or the address of a server", hint=hint)
    if settings.queue.url and not is_redis(settings.queue.url):  # not shown: it may hold a password
        raise SettingsError("queue.url must be the address of a Redis", hint="write redis://host:6379/0, or rediss://")
    if "://" in settings.cache.url and not is_redis(settings.cache.url):
        raise SettingsError("cache.url must be the address of a Redis, or a file", hint="write redis://host:6379/0")
    if settings.kibana.url and not is_address(settings.kibana.url):
        raise SettingsError("kibana.url must be the address of a server", hint="write http://host:5601")
    if settings.chunking.overlap >= settings.chunking.size:
        sizes = f"{settings.chunking.overlap} of {settings.chunking.size}"
        raise SettingsError(f"chunking.overlap must be smaller than chunking.size, got {sizes}")

    return settings
