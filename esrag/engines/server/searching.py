"""The two legs on a server in one round trip, fused by the server where it can be, else by esrag."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from esrag.engines import SearchRequest, SearchResult
from esrag.engines.checks import question_vector
from esrag.engines.server import where
from esrag.engines.server.connection import Connection, Product, refusal
from esrag.engines.server.entries import CHUNK_SOURCE, chunk_of
from esrag.errors import EngineError
from esrag.fusion import ranking, rrf, weighted
from esrag.records import Chunk, Fingerprint, Hit
from esrag.terms import question_terms

Query = dict[str, Any]
Leg = Literal["keyword", "vector"]

_SCORE_DECIMALS = 6  # of cosines: servers count in 32-bit floats
_FUSED_DECIMALS = 8  # of fused scores: two of them that differ do so by more than this
_TIES = 2  # fused hits read beyond the cut: rank n of one leg alone ties with rank n of the other
# Candidates a shard looks at for its k neighbours; with 200 Lucene's graph found all of the ten best of 10,000.
_LEAST_CANDIDATES, _MOST_CANDIDATES = 200, 10_000
_LEAST_SCORE = -1e9  # OpenSearch marks the legs of a list it did not fuse by scores far below this


class Search:
    """One question on its way to a server: its legs as requests, and hits from what comes back."""

    def __init__(self, product: Product, made: Fingerprint, request: SearchRequest) -> None:
        """Raises: EngineError, UsageError."""
        self.request = request
        self.vector = question_vector(request, made.dimensions)
        self.depth = max(request.candidates, request.size)
        self._product = product
        wanted = [where.query(request.filter)] if request.filter is not None else []
        self._filters = [{"term": {"entry": "chunk"}}, *wanted]

    @property
    def legs(self) -> tuple[Leg, ...]:
        """The legs that are searched."""
        keyword: tuple[Leg, ...] = () if self.request.method == "vector" else ("keyword",)
        return (*keyword, "vector") if self.vector is not None else keyword

    @property
    def may_be_native(self) -> bool:
        """Whether a server may fuse it: two legs, by reciprocal ranks."""
        return len(self.legs) == 2 and self.request.fusion == "rrf"  # noqa: PLR2004 -- the two legs

    def client(self, connection: Connection, index: str) -> SearchResult:
        """Both legs, fused here."""
        answers = _multi_search(connection, index, [self._leg(leg) for leg in self.legs])
        found = (chunk_of(hit["_source"]) for answer in answers for hit in answer["hits"]["hits"])
        chunks = {chunk.chunk_id: chunk for chunk in found}
        keyword, vector = self._leg_scores(answers)
        fused, path = self._fused(keyword, vector)
        return SearchResult(_hits(list(fused.items())[: self.request.size], chunks, keyword, vector), path)

    def native(self, connection: Connection, index: str) -> SearchResult:
        """Both legs, fused by the server; the legs themselves beside it, for what each says of a hit."""
        fused_body = self._opensearch() if self._product == "opensearch" else self._elasticsearch()
        legs = [self._leg(leg, with_text=False) for leg in self.legs]
        fused, *rest = _multi_search(connection, index, [fused_body, *legs])
        found = [(hit["_score"], chunk_of(hit["_source"])) for hit in fused["hits"]["hits"]]
        if any(score < _LEAST_SCORE for score, _ in found):
            raise EngineError("the server gave a list that it did not fuse", hint="is the neural-search plugin whole?")
        scores = {chunk.chunk_id: round(score, _FUSED_DECIMALS) for score, chunk in found}
        keyword, vector = self._leg_scores(rest)
        ordered = [(key, scores[key]) for key in ranking(scores)[: self.request.size]]
        chunks = {chunk.chunk_id: chunk for _, chunk in found}
        return SearchResult(_hits(ordered, chunks, keyword, vector), "rrf-native")

    def _leg_scores(self, answers: Sequence[Mapping[str, Any]]) -> tuple[dict[str, float], dict[str, float]]:
        """Each leg's scores by chunk id, best first; ties by id whatever order the server gave them in."""
        found: dict[Leg, dict[str, float]] = {"keyword": {}, "vector": {}}
        for leg, answer in zip(self.legs, answers, strict=True):
            scores = {hit["fields"]["chunk_id"][0]: _score(hit["_score"], leg) for hit in answer["hits"]["hits"]}
            found[leg] = {key: scores[key] for key in ranking(scores)[: self.depth]}
        return found["keyword"], found["vector"]

    def _fused(self, keyword: dict[str, float], vector: dict[str, float]) -> tuple[dict[str, float], str]:
        request = self.request
        if len(self.legs) == 1:
            return keyword or vector, self.legs[0]
        if request.fusion == "rrf":
            return rrf([keyword, vector], request.rank_constant), "rrf-client"
        return weighted([keyword, vector], [1 - request.vector_weight, request.vector_weight]), "weighted-client"

    def _leg(self, leg: Leg, *, with_text: bool = True) -> Query:
        shown = {"_source": CHUNK_SOURCE if with_text else False, "docvalue_fields": ["chunk_id"]}
        common = {"size": self.depth, "track_total_hits": False, **shown}
        if leg == "keyword":
            query = {"bool": {"must": [self._match()], "filter": self._filters}}
            return {**common, "query": query, "sort": [{"_score": "desc"}, {"chunk_id": "asc"}]}
        if self._product == "elasticsearch":
            return {**common, "knn": {**self._knn(), "filter": self._filters}}
        filtered = {"vector": self._numbers(), "k": self.depth, "filter": {"bool": {"filter": self._filters}}}
        return {**common, "query": {"knn": {"embedding": filtered}}}

    def _opensearch(self) -> Query:
        knn = {"knn": {"embedding": {"vector": self._numbers(), "k": self.depth}}}
        hybrid = {
            "pagination_depth": self.depth,
            "filter": {"bool": {"filter": self._filters}},
            "queries": [self._match(), knn],
        }
        technique = {"technique": "rrf", "rank_constant": self.request.rank_constant}
        pipeline = {"phase_results_processors": [{"score-ranker-processor": {"combination": technique}}]}
        size = min(self.request.size + _TIES, self.depth)
        return {"size": size, "_source": CHUNK_SOURCE, "query": {"hybrid": hybrid}, "search_pipeline": pipeline}

    def _elasticsearch(self) -> Query:
        retrievers = [{"standard": {"query": self._match()}}, {"knn": self._knn()}]
        ranked = {"rank_constant": self.request.rank_constant, "rank_window_size": self.depth}
        size = min(self.request.size + _TIES, self.depth)
        fused = {"rrf": {"filter": self._filters, "retrievers": retrievers, **ranked}}
        return {"size": size, "_source": CHUNK_SOURCE, "retriever": fused}

    def _match(self) -> Query:
        words = question_terms(self.request.text)
        return {"match": {"terms": {"query": " ".join(words)}}} if words else {"match_none": {}}

    def _knn(self) -> Query:
        candidates = min(max(2 * self.depth, _LEAST_CANDIDATES), _MOST_CANDIDATES)
        return {"field": "embedding", "query_vector": self._numbers(), "k": self.depth, "num_candidates": candidates}

    def _numbers(self) -> list[float]:
        if self.vector is None:
            raise AssertionError("asked for with a vector leg only")
        numbers: list[float] = self.vector.tolist()
        return numbers


def _multi_search(connection: Connection, index: str, bodies: Sequence[Query]) -> list[dict[str, Any]]:
    """The answers of one round trip. Raises: EngineError, also where a shard failed or time ran out."""
    header = {"index": index, "allow_partial_search_results": False}
    lines = [line for body in bodies for line in (header, body)]
    answers: list[dict[str, Any]] = connection.request("POST", "/_msearch", lines)["responses"]
    for answer in answers:
        if "error" in answer:
            raise refusal(connection.shown_url, answer.get("status", 400), answer)
        failed = answer.get("_shards", {}).get("failed", 0)
        if failed or answer.get("timed_out"):
            what = f"{failed} shards failed" if failed else "the search ran out of time"
            raise EngineError(
                f"{connection.shown_url}: {what}, so hits would be missing", hint="look at the server's log"
            )
    return answers


def _score(score: float, leg: Leg) -> float:
    """A cosine again, or BM25 as it is. Both servers give (1 + cosine) / 2."""
    return round(2 * score - 1, _SCORE_DECIMALS) if leg == "vector" else score


def _hits(
    ordered: Sequence[tuple[str, float]],
    chunks: Mapping[str, Chunk],
    keyword: Mapping[str, float],
    vector: Mapping[str, float],
) -> tuple[Hit, ...]:
    keyword_ranks, vector_ranks = ({key: n for n, key in enumerate(leg, start=1)} for leg in (keyword, vector))
    return tuple(
        Hit(chunks[key], score, keyword_ranks.get(key), vector_ranks.get(key), keyword.get(key), vector.get(key))
        for key, score in ordered
    )
