"""The settings: one frozen tree. Every leaf is a setting; a list or a table is one value.

`esrag.settings.layers` builds the tree from files, variables and flags. Nothing below `cli` and
`api` reads a file or a variable for it.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from esrag.citations import MARKERS, REFUSAL
from esrag.settings.project import INDEX_FOLDER

ENVIRONMENT_PREFIX = "ESRAG_"
DEFAULT_MODEL = "all-MiniLM-L6-v2"


class DuplicateEntryError(ValueError):
    """An entry of a list is there twice; `place` is where it comes again, from 0."""

    def __init__(self, entry: object, place: int) -> None:
        super().__init__(f"{entry!r} is there twice")
        self.place = place


def _require_refusal(text: str) -> str:
    if not text.strip() or not text.isprintable() or MARKERS.search(text):
        raise ValueError("a refusal is one line, without a marker such as [c1]")
    return text


def _require_unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values. Raises: DuplicateEntryError."""
    for place, value in enumerate(values):
        if value in values[:place]:
            raise DuplicateEntryError(to_plain(value), place)
    return values


def _to_list(value: Any) -> Any:
    """Return a single value as a list of it; numbers and truth values as text.

    >>> _to_list([2024, 1.5, "a"]), _to_list(True)
    (['2024', '1.5', 'a'], ['true'])
    """
    values = value if isinstance(value, list | tuple) else [value]
    texts = (str(each).lower() if isinstance(each, bool) else each for each in values)
    return [str(each) if isinstance(each, int | float) else each for each in texts]


def _to_day(value: Any) -> Any:
    """Return a day as text, as YAML reads one as a date; "" stays. Raises: ValueError."""
    return value and str(date.fromisoformat(str(value)))


Names = Annotated[tuple[str, ...], AfterValidator(_require_unique)]
SomeNames = Annotated[Names, Field(min_length=1)]
OperationName = Annotated[str, Field(pattern=r"^[A-Za-z]\w{0,39}$")]
Bonus = Annotated[float, Field(ge=0, le=1000)]


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
    index: str = Field(
        default="esrag", pattern=r"^[a-z0-9][a-z0-9_.-]{0,99}$", description="Name of the index."
    )
    lock_wait_s: float = Field(
        default=30.0,
        ge=0,
        le=86_400,
        description="Maximum time that a writer waits for another one, in seconds.",
    )
    username: str = Field(default="", description="User of the server.")
    password: SecretStr = Field(default=SecretStr(""), description="Password of the user.")
    api_key: SecretStr = Field(
        default=SecretStr(""), description="API key of the server, instead of a user."
    )
    ca_file: str = Field(
        default="", description="File with the authority that signed the server's certificate."
    )
    certificate_fingerprint: str = Field(
        default="", description="SHA-256 of the server's certificate, in hexadecimal."
    )
    verify_certificates: bool = Field(
        default=True, description="Refuse a server whose certificate is not valid."
    )
    shards: int = Field(default=1, ge=1, le=1024, description="Number of shards of a new index.")
    replicas: int = Field(default=0, ge=0, le=100, description="Number of copies of each shard.")
    similarity: Literal["cosine", "dot_product", "l2_norm"] = Field(
        default="cosine",
        description="How a server compares vectors; of unit vectors, all three rank alike.",
    )
    quantisation: Literal["none", "int8", "int4", "bbq"] = Field(
        default="none",
        description="How a server shrinks the vectors that it searches; OpenSearch: none or int8.",
    )
    hnsw_m: int = Field(
        default=16, ge=2, le=512, description="Neighbours of a vector in a server's graph."
    )
    hnsw_ef_construction: int = Field(
        default=100,
        ge=1,
        le=3200,
        description="Candidates for those neighbours while a server builds its graph.",
    )


ColumnName = Annotated[str, Field(max_length=200)]


class ColumnSettings(Section):
    """The columns of CSV, TSV and JSONL rows. One without a name is guessed."""

    text: ColumnName = Field(
        default="", description="Column with the text of a row; empty: by its name or long cells."
    )
    title: ColumnName = Field(
        default="", description="Column with the title of a row; empty: by its name."
    )
    id: ColumnName = Field(
        default="", description="Column with the id of a row; empty: by its name, or the number."
    )


class LoadingSettings(Section):
    """Which files are read, and the limits on a source."""

    follow_links: bool = Field(
        default=False, description="Follow links that lead outside the folder that was named."
    )
    ignore_files: bool = Field(
        default=True, description="Leave out what .gitignore and .esragignore files name."
    )

    hidden: Literal["drop", "keep"] = Field(
        default="drop",
        description="Text that a reader of the file would not see: leave it out, or keep it.",
    )
    max_bytes: int = Field(
        default=128 * 2**20, gt=0, description="Maximum size of a source, in bytes."
    )
    max_characters: int = Field(
        default=20_000_000, gt=0, description="Maximum length of a document's text, in characters."
    )
    timeout_s: float = Field(
        default=120.0, gt=0, le=86_400, description="Maximum time for parsing a source, in seconds."
    )
    budget_s: float = Field(
        default=14_400.0,
        ge=0,
        description="Maximum time for parsing a folder or a batch, in seconds; 0: any.",
    )
    memory_bytes: int = Field(
        default=4 * 2**30,
        gt=0,
        lt=2**63,
        description="Address space of the parsing process, in bytes.",
    )
    columns: ColumnSettings = ColumnSettings()


class ChunkingSettings(Section):
    """How documents are cut into chunks."""

    strategy: str = Field(default="sections", description="Name of the chunker.")
    unit: Literal["tokens", "characters"] = Field(
        default="tokens",
        description="Unit of size and overlap: the encoder's tokens, or characters.",
    )
    size: int = Field(default=200, gt=0, description="Maximum size of a chunk, in that unit.")
    overlap: int = Field(
        default=0, ge=0, description="Maximum that two neighbouring chunks share, in that unit."
    )
    context: Names = Field(
        default=(),
        description="Fields of a document, such as those of rules, to search with its text.",
    )


class EmbeddingSettings(Section):
    """The sentence encoder."""

    provider: str = Field(default="onnx", description="Name of the embedder.")
    model: str = Field(
        default=DEFAULT_MODEL, description='Model name or BERT folder; "none": keyword search only.'
    )
    precision: Literal["int8", "fp32"] = Field(
        default="int8", description="Arithmetic of the ONNX encoder."
    )
    workers: int = Field(default=0, ge=0, description="Encoder threads; 0: one a core.")
    offline: bool = Field(default=False, description="Never download weights.")
    url: str = Field(
        default="", description="Address of an embedding service, for providers that are one."
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the embedding service.")
    requests_per_minute: int = Field(
        default=0,
        ge=0,
        description="Requests all workers together may send the service in a minute; 0: any.",
    )
    tokens_per_minute: int = Field(
        default=0,
        ge=0,
        description="Tokens all workers together may send the service in a minute; 0: any.",
    )


class RetrievalSettings(Section):
    """The two legs and their fusion."""

    method: Literal["vector", "keyword", "hybrid"] = Field(
        default="hybrid", description="Legs that are searched."
    )
    fusion: Literal["rrf", "weighted"] = Field(
        default="rrf", description="How the legs become one list."
    )
    k: int = Field(default=10, gt=0, le=1000, description="Number of hits returned.")
    candidates: int = Field(
        default=100, gt=0, le=10_000, description="Number of hits read from each leg."
    )
    rank_constant: int = Field(
        default=60, gt=0, le=10_000, description="k of reciprocal rank fusion."
    )
    vector_weight: float = Field(
        default=0.5, ge=0, le=1, description="Vector leg's share in either fusion."
    )
    variants: bool = Field(
        default=False, description="Search other wordings of the question too, and fuse them all."
    )
    min_score: float = Field(
        default=0.0,
        ge=0,
        description="Leave out hits whose fused score is below this, before reranking; 0: none. "
        "Scores: 0 to 1 if weighted, at most 2 / (rank_constant + 1) by rrf, one leg's own alone.",
    )
    spelling: bool = Field(
        default=True,
        description="Repair words that no document has with words that the documents have.",
    )
    operations: Mapping[OperationName, SomeNames] = Field(
        default={},
        description="Phrases by the name of their operation, such as {Sign: [sign, signing]}.",
    )


class Indicator(Section):
    """A bonus for passages that hold one of these words; the word `digit` matches any digit."""

    words: SomeNames
    bonus: Bonus


class RerankSettings(Section):
    """The rerankers and what they need."""

    chain: Names = Field(
        default=(), description="Rerankers in order; none: the order of the fusion stays."
    )
    depth: int = Field(default=50, gt=0, le=1000, description="Maximum number of hits to rerank.")
    budget_ms: int = Field(
        default=0,
        ge=0,
        le=86_400_000,
        description="Maximum time for all rerankers, in milliseconds; 0: no limit.",
    )
    model: str = Field(
        default="", description="Folder of a cross-encoder, or the name of a service's model."
    )
    url: str = Field(
        default="",
        repr=False,
        description="Address of a reranking service; nothing: the provider's own.",
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the reranking service.")
    group_by: str = Field(
        default="doc_id", description="Key of the metadata that round-robin takes turns by."
    )
    relevance: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="What mmr gives to nearness to the question; the rest is for variety.",
    )
    weight: float = Field(
        default=0.6,
        ge=0,
        le=100,
        description="Weight of late-interaction; the fused score counts 1.",
    )
    authority: Mapping[str, Bonus] = Field(
        default={},
        description="Bonus of quality by the domain of a hit's url, such as {gov: 0.05}.",
    )
    completeness: Mapping[Annotated[int, Field(ge=0)], Bonus] = Field(
        default={600: 0.1, 400: 0.05},
        description="Bonus of quality for more than this number of characters.",
    )
    indicators: Annotated[tuple[Indicator, ...], AfterValidator(_require_unique)] = Field(
        default=(
            Indicator(words=("digit",), bonus=0.03),
            Indicator(words=("is", "are", "must", "requires", "allows"), bonus=0.02),
        ),
        description="Bonus of quality for one of these words; digit matches any digit.",
    )


class ModelSettings(Section):
    """A language model. The profile is configured if it has a name."""

    provider: str = Field(
        default="openai", description="Interface of the service: openai, cohere, or a plugin's."
    )
    model: str = Field(
        default="", description="Name of the language model; empty: this profile is not used."
    )
    url: str = Field(
        default="", repr=False, description="Address of its service; empty: the provider's own."
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the service.")
    timeout_s: float = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="Maximum time for an answer, in seconds, with all retries.",
    )
    max_output_tokens: int = Field(
        default=1000, gt=0, le=100_000, description="Maximum number of tokens the model may write."
    )
    temperature: float = Field(
        default=0.0, ge=0, le=2, description="Randomness of the words; 0: the most probable ones."
    )
    top_p: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share of the probability that words are chosen from; 1: all of it.",
    )
    input_price: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        description="Price of a million tokens read, in any currency, to count costs.",
    )
    output_price: float = Field(
        default=0.0, ge=0, le=1e6, description="Price of a million tokens written."
    )

    @property
    def is_configured(self) -> bool:
        """Whether the profile can be used."""
        return bool(self.model)


class ModelsSettings(Section):
    """The language models by profile.

    `default` writes, `fast` does small tasks, and `strong` writes again if a check fails.
    """

    default: ModelSettings = ModelSettings()
    fast: ModelSettings = ModelSettings()
    strong: ModelSettings = ModelSettings()


PROFILES = tuple(ModelsSettings.model_fields)


class GeneratorSettings(Section):
    """The generator, which writes the answer."""

    name: str = Field(
        default="extractive",
        description="Name of the generator; model: the language model of models.default.",
    )
    templates: str = Field(
        default="", description="Folder with prompts of your own; empty: the package's."
    )


class RoutingSettings(Section):
    """The routers, which choose how a question is answered."""

    chain: Names = Field(
        default=("facts",),
        description="Routers in order; the first that is sure decides. None: from the documents.",
    )
    parts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="Most questions that are answered one by one if a question asks several; 1 "
        "answers it as a whole.",
    )


Weight = Annotated[float, Field(ge=-1, le=1)]
Phrase = Annotated[str, Field(min_length=1, max_length=100)]


class FactsSettings(Section):
    """When a fact answers a question: its words decide, and cues of the question."""

    similarity: float = Field(
        default=0.85,
        ge=0,
        le=1,
        description="Likeness to a fact's question from which its fact answers, whatever the cues.",
    )
    overlap: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of common words above which a fact may answer, if the cues suffice.",
    )
    threshold: float = Field(
        default=0.0, ge=0, le=1, description="Sum of the cues from which a fact may answer."
    )
    openings: Mapping[Phrase, Weight] = Field(
        default={"what is": 0.3, "what are": 0.3},
        description="Cues that count if a question begins with them.",
    )
    cues: Mapping[Phrase, Weight] = Field(
        default={
            "how much": 0.3,
            "how many": 0.3,
            "$": 0.3,
            **dict.fromkeys(
                ("cap", "fee", "cost", "price", "number", "amount", "date", "when"), 0.2
            ),
            **dict.fromkeys(("am I", "can I", "should I", "how do I"), -0.3),
        },
        description="Cues that count anywhere in a question; $ stands for a sum of dollars.",
    )
    synonyms: Annotated[
        tuple[Annotated[Names, Field(min_length=2)], ...], AfterValidator(_require_unique)
    ] = Field(
        default=(("fee", "cost", "price", "charge"),),
        description="Lists of words or phrases that mean the same in questions and facts.",
    )
    topic: Names = Field(
        default=(),
        description="Words that all facts are about, such as [H-1B]; they distinguish none.",
    )
    as_of: Annotated[str, BeforeValidator(_to_day)] = Field(
        default="",
        description="Day on which facts have to hold, such as 2025-01-31; empty: today.",
    )

    @property
    def today(self) -> date:
        """The day on which facts have to hold."""
        return date.fromisoformat(self.as_of) if self.as_of else datetime.now(UTC).date()


def _require_pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    return text


class RuleSettings(Section):
    """How a field of a document is read.

    `pattern` is searched in `over`: path, name, title, text, or another field. `template` has `{0}`
    for what it fits, and `{1}` or `{name}` for its groups.
    """

    over: str = Field(default="path", min_length=1, max_length=100)
    pattern: Annotated[str, AfterValidator(_require_pattern)] = Field(
        min_length=1, max_length=1_000
    )
    template: str = Field(default="{0}", min_length=1, max_length=200)
    type: Literal["text", "number", "date"] = "text"

    @model_validator(mode="after")
    def _require_groups(self) -> "RuleSettings":
        pattern = re.compile(self.pattern)
        known = {*map(str, range(pattern.groups + 1)), *pattern.groupindex}
        if unknown := [
            name for name in re.findall(r"\{(\w+)\}", self.template) if name not in known
        ]:
            raise ValueError(f"the pattern has no group {unknown[0]!r}")
        return self


class EnrichingSettings(Section):
    """Fields that documents get when they are ingested."""

    chain: Names = Field(
        default=("rules",),
        description="Enrichers in order: rules, dates (date and year), or those of plugins.",
    )
    rules: Mapping[OperationName, RuleSettings] = Field(
        default={},
        description="Rules by field, such as {job: {pattern: 'Jobs/(2\\d{5})', template: '{1}'}}.",
    )


Texts = Annotated[tuple[str, ...], BeforeValidator(_to_list)]


class ScopeSettings(Section):
    """A part of the index where the answers of an intent are.

    `{name}` stands for an entity of the question; without it the scope does not count. All fields
    of `where` have one of their values, and one of the fields in `has` has the words.
    """

    label: str = Field(min_length=1, max_length=200)
    where: Mapping[str, Texts] = {}
    has: Mapping[str, Texts] = {}
    list_by: str = ""

    @model_validator(mode="after")
    def _require_condition(self) -> "ScopeSettings":
        if not (self.where or self.has):
            raise ValueError("a scope needs a condition: where or has")
        return self


class IntentSettings(Section):
    """An intent: what it is, by which cues it is known, and where its answers are."""

    description: str = Field(default="", max_length=500)
    examples: Names = ()
    cues: Mapping[Phrase, Weight] = {}
    scopes: Annotated[tuple[ScopeSettings, ...], AfterValidator(_require_unique)] = ()


class IntentsSettings(Section):
    """What questions are about, and where each kind is looked for."""

    classifier: Literal["rules", "model"] = Field(
        default="rules",
        description="Choose by cues, or ask models.fast, and go by cues if it names no intent.",
    )
    threshold: float = Field(
        default=0.3, ge=0, le=1, description="Least sum of cues for an intent."
    )
    nearest: Mapping[OperationName, Annotated[float, Field(gt=0, le=1)]] = Field(
        default={},
        description="Intents that a question without enough cues may have because of a passage, "
        "with the least share of its words, the rare ones above all, that the passage has.",
    )
    fallback: str = Field(
        default="", description="Intent of questions with less; empty: another router decides."
    )
    entities: Mapping[OperationName, SomeNames] = Field(
        default={},
        description="Patterns of numbers and names by entity, such as {job: ['2#####']}.",
    )
    known: Mapping[OperationName, str] = Field(
        default={},
        description="Fields by entity, such as {client: client_name}: a value of the field that is "
        "in the question is the entity, if no pattern fits.",
    )
    kinds: Mapping[OperationName, IntentSettings] = Field(
        default={},
        description="The intents by name, with description, examples, cues and scopes.",
    )


class SummariesSettings(Section):
    """Summaries, by which a question finds documents before their passages.

    Scores are on the scale 0..1 of both search servers: half of 1 + the cosine.
    """

    of: Literal["nothing", "documents", "sections"] = Field(
        default="nothing",
        description="What an ingest sums up; sections: each document and its main sections.",
    )
    writer: Literal["extractive", "model"] = Field(
        default="extractive",
        description="Sum up in the documents' own sentences, or let models.fast write.",
    )
    sentences: int = Field(default=6, ge=1, le=20, description="Most sentences of a summary.")
    search: bool = Field(
        default=True,
        description="Search the summaries first, and then the passages of their documents.",
    )
    top_k: int = Field(default=3, ge=1, le=100, description="Most documents to look into.")
    min_score: float = Field(
        default=0.6, ge=0, le=1, description="Least score of a summary, 0..1 (cosine 0.2 is 0.6)."
    )
    min_chunk_score: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Least score of a passage in these documents; below it all are searched.",
    )
    chunks_per_document: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Most hits of each of these documents; 0: the best ones overall.",
    )


Feature = Literal["name", "question", "reference"]
Share = Annotated[float, Field(ge=0, le=1)]
Elsewhere = Literal["direct", "web"]


class ComplexitySettings(Section):
    """How hard a question is, 0..1, and which ones the documents cannot answer."""

    weights: Mapping[Feature, Share] = Field(
        default={"name": 0.15, "question": 0.3, "reference": 0.3},
        description="Share of each name, of each further question in one, and of each reference to "
        "an article or section.",
    )
    threshold: float = Field(
        default=0.7, ge=0, le=1, description="Complexity above which `overrides` count."
    )
    overrides: Mapping[str, Any] = Field(
        default={"retrieval.k": 15},
        description="Settings of retrieval, summaries and answer for complex questions.",
    )
    routes: Annotated[tuple[Elsewhere, ...], AfterValidator(_require_unique)] = Field(
        default=(),
        description="Where questions may go besides the documents: direct, to models.default "
        "alone; web, to web.provider.",
    )
    web_cues: Mapping[Phrase, Weight] = Field(
        default={
            **dict.fromkeys(("latest", "most recent", "up to date", "right now", "news"), 0.6),
            **dict.fromkeys(("today", "this week", "this month", "this year"), 0.5),
            **dict.fromkeys(("current", "currently", "recent", "recently"), 0.4),
            "{country}": 0.2,
        },
        description="Cues of questions about what changes; {country} stands for one that is named.",
    )
    web_threshold: float = Field(
        default=0.5, ge=0, le=1, description="Sum of these cues from which the web is asked."
    )
    direct_openings: Mapping[Phrase, Weight] = Field(
        default=dict.fromkeys(
            ("translate", "rephrase", "reword", "proofread", "write a", "write an", "draft a"), 1.0
        ),
        description="Openings of requests that no document answers.",
    )


class WebSettings(Section):
    """The search of the web, for questions that a router sends there."""

    provider: Literal["none", "brave", "tavily", "searxng"] = Field(
        default="none", description="Service that searches the web; none: the answer says so."
    )
    url: str = Field(
        default="", repr=False, description="Address of the service; empty: the provider's own."
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of the service.")
    results: int = Field(default=5, ge=1, le=20, description="Most results of a search.")
    timeout_s: float = Field(
        default=10.0, gt=0, le=600, description="Maximum time of a search, in seconds."
    )


class AnswerSettings(Section):
    """Evidence, length and refusal of an answer."""

    refusal: float = Field(
        default=0.45,
        ge=0,
        le=1,
        description="Refuse below this confidence; 0 never refuses for it.",
    )
    refusal_text: Annotated[str, AfterValidator(_require_refusal)] = Field(
        default=REFUSAL, max_length=300, description="The answer of a refusal."
    )
    evidence_chunks: int = Field(
        default=10, gt=0, description="Maximum number of passages given as evidence."
    )
    evidence_characters: int = Field(
        default=12_000, gt=0, description="Maximum number of characters of evidence."
    )
    evidence_tokens: int = Field(
        default=6_000,
        gt=0,
        description="Maximum number of tokens of evidence, as the encoder counts.",
    )
    compress: bool = Field(
        default=False,
        description="Send a model only the fitting sentences of passages that exceed the limits.",
    )
    neighbours: int = Field(
        default=1, ge=0, le=100, description="Chunks added before and after each of the best hits."
    )
    steps: int = Field(
        default=1,
        ge=1,
        le=10,
        description="Searches for a question at most: where one finds too little, in other words.",
    )
    reader: bool = Field(
        default=True,
        description="Have the best statements read together with the question: better answers, "
        "later. Only with the default encoder.",
    )
    algorithms: bool = Field(
        default=True,
        description='Answer a question about an "Algorithm N" with its steps, whole and in order.',
    )
    confidence: Literal["fitted", "sources"] = Field(
        default="fitted",
        description="Formula of the stated confidence: the fitted probability of a good answer, or "
        "0.6 of the hits' mean score and 0.4 of their official share (rerank.authority). Refusals "
        "go by the fitted one.",
    )
    min_hits: int = Field(
        default=1, ge=1, description="Minimum number of hits; fewer are a refusal."
    )
    max_sentences: int = Field(
        default=3, gt=0, description="Maximum number of sentences in an answer."
    )
    unsupported: Literal["refuse", "drop"] = Field(
        default="refuse",
        description="What an unsupported sentence does: refuse the whole answer, or drop out.",
    )
    metadata: bool = Field(
        default=True,
        description="Send a language model document, page and section of each passage.",
    )
    quotes: bool = Field(
        default=False,
        description="Require every sentence of a model to quote its passage verbatim.",
    )


class KibanaSettings(Section):
    """The dashboards of a search server."""

    url: str = Field(
        default="",
        description="Address of Kibana or OpenSearch Dashboards; user, key and TLS: engine's.",
    )


class QueueSettings(Section):
    """The queue between ingests and workers."""

    url: str = Field(
        default="",
        repr=False,
        description="Address of the queue's Redis; nothing: the command does the work itself.",
    )
    window_batches: int = Field(
        default=200, ge=1, le=100_000, description="Maximum number of batches in the queue."
    )
    batch_files: int = Field(
        default=64, ge=1, le=1000, description="Maximum number of files per batch."
    )
    batch_bytes: int = Field(
        default=4 * 2**20,
        ge=1,
        description="Maximum size of a batch, in bytes; a larger file forms its own batch.",
    )
    attempts: int = Field(
        default=3, ge=1, le=100, description="Maximum number of attempts per batch."
    )
    lease_s: float = Field(
        default=300.0,
        ge=1,
        le=86_400,
        description="Seconds without a heartbeat after which a worker counts as dead.",
    )
    time_limit_s: float = Field(
        default=3600.0,
        ge=1,
        le=86_400,
        description="Maximum time for a batch, in seconds; then its worker is killed.",
    )
    sweep_s: float = Field(
        default=10.0,
        ge=0.1,
        le=3600,
        description="Seconds between two sweeps for lost or overdue batches.",
    )


class LedgerSettings(Section):
    """The record of what was ingested, and what failed."""

    url: str = Field(
        default="",
        description="File of the ledger; nothing: with the index, in its folder or on its server.",
    )


class CacheSettings(Section):
    """The cache of vectors and answers."""

    url: str = Field(
        default="",
        repr=False,
        description="Address of the cache's Redis, or a file; nothing: no cache.",
    )
    ttl_days: float = Field(
        default=30.0,
        gt=0,
        le=3650,
        description="Maximum age of a cached vector or answer, in days.",
    )


class RunsSettings(Section):
    """Records of answered questions."""

    keep: Literal["off", "without-texts", "whole"] = Field(
        default="off",
        description="Record of each question: none, one without any text, or a whole one.",
    )
    url: str = Field(
        default="",
        description="File of the records; nothing: with the index, in its folder or on its server.",
    )
    max_days: float = Field(
        default=90.0, gt=0, le=36_500, description="Maximum age of a record, in days."
    )
    max_bytes: int = Field(
        default=256 * 2**20,
        gt=0,
        lt=2**63,
        description="Maximum size of all records; the oldest go first.",
    )


class CompareSettings(Section):
    """What `esrag compare` asks a question with."""

    variations: Mapping[
        Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,29}$")], Mapping[str, Any]
    ] = Field(
        default={
            "keyword": {"retrieval.method": "keyword"},
            "vector": {"retrieval.method": "vector"},
            "hybrid": {"retrieval.method": "hybrid"},
        },
        min_length=1,
        description="Settings of questions, as those of retrieval and answer, by the name of a "
        "variation; compare asks with each of them, and tests the others against the first.",
    )


class Settings(Section):
    """The whole tree."""

    preset: str = Field(
        default="", description="Preset that the other values start from: a name, or a folder."
    )
    allow_unencrypted: bool = Field(
        default=False,
        description="Send keys and passwords to other machines over http:// and redis:// too.",
    )
    engine: EngineSettings = EngineSettings()
    queue: QueueSettings = QueueSettings()
    ledger: LedgerSettings = LedgerSettings()
    cache: CacheSettings = CacheSettings()
    loading: LoadingSettings = LoadingSettings()
    enriching: EnrichingSettings = EnrichingSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    summaries: SummariesSettings = SummariesSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    models: ModelsSettings = ModelsSettings()
    generator: GeneratorSettings = GeneratorSettings()
    routing: RoutingSettings = RoutingSettings()
    facts: FactsSettings = FactsSettings()
    intents: IntentsSettings = IntentsSettings()
    complexity: ComplexitySettings = ComplexitySettings()
    web: WebSettings = WebSettings()
    answer: AnswerSettings = AnswerSettings()
    kibana: KibanaSettings = KibanaSettings()
    runs: RunsSettings = RunsSettings()
    compare: CompareSettings = CompareSettings()


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


def to_plain(value: Any) -> Any:
    """Return a value as YAML and JSON have it: lists, tables, texts, numbers and truth values.

    >>> to_plain((Indicator(words=("digit",), bonus=0.03),))
    [{'words': ['digit'], 'bonus': 0.03}]
    """
    if isinstance(value, BaseModel):
        return {name: to_plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {key: to_plain(each) for key, each in value.items()}
    return [to_plain(each) for each in value] if isinstance(value, tuple | list) else value


def mask_value(value: Any) -> Any:
    """Return a value as the user may see it: secrets are masked, the password in an address too.

    >>> mask_value({"a": {"answer.api_key": "sk-1", "engine.url": "https://me:pw@host:9200"}})
    {'a': {'answer.api_key': '********', 'engine.url': 'https://********@host:9200'}}
    """
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    plain = to_plain(value)
    if isinstance(plain, Mapping):
        return {
            key: mask_value(SecretStr(str(each)) if _is_secret(key) else each)
            for key, each in plain.items()
        }
    if isinstance(plain, list):
        return [mask_value(each) for each in plain]
    # A password may hold a slash.
    return re.sub(r"(?<=://).*@", "********@", plain) if isinstance(plain, str) else plain


def _is_secret(key: Any) -> bool:
    """Return whether a key within a table, such as compare.variations, is named like a secret."""
    names = (name for name, info in fields() if info.annotation is SecretStr)
    return str(key).rpartition(".")[2] in {name.rpartition(".")[2] for name in names}


def is_address(url: str) -> bool:
    """Whether an engine's URL is a server's address, and no folder.

    >>> is_address("https://search.example:9200"), is_address(".esrag"), is_address("redis://host")
    (True, False, False)
    """
    return url.startswith(("http://", "https://"))


def is_redis(url: str) -> bool:
    """Whether a URL is a Redis server's address.

    >>> is_redis("rediss://user:password@cache.example:6380/0"), is_redis("unix:///run/redis.sock")
    (True, True)
    >>> is_redis("x.db")
    False
    """
    return url.startswith(("redis://", "rediss://", "unix://"))


def variable(key: str) -> str:
    """The environment variable of a dotted key.

    >>> variable("engine.url")
    'ESRAG_ENGINE__URL'
    """
    return ENVIRONMENT_PREFIX + key.upper().replace(".", "__")
