"""Search both legs on a server in one round trip, fused by the server where possible.

Otherwise esrag fuses them, and reads the hits in a second round trip.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from esrag.engines import SearchRequest, SearchResult
from esrag.engines.fusion import ranking
from esrag.engines.hits import Leg, Legs, fuse_legs, hits
from esrag.engines.preconditions import REBUILD_HINT, question_vector
from esrag.engines.server import filter_dsl
from esrag.engines.server.connection import Connection, Server
from esrag.engines.server.entries import CHUNK_SOURCE, chunk_of
from esrag.engines.server.mapping import VectorField
from esrag.errors import EngineError, IndexMismatch, UsageError
from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint
from esrag.text.edits import MAX_EDITS

Query = dict[str, Any]

_CHUNKS = {"term": {"entry": "chunk"}}
_SCORE_DECIMALS = 6  # of cosines: servers compute in 32-bit floats
_MOST = 10_000  # hits of a leg: index.max_result_window, and the largest k of either server
# A list fused by the server is read this many times as deep as requested. The server breaks ties in
# a leg by its own order, and OpenSearch reads every shard `candidates` deep and weighs words per
# shard. For 100 questions to 3,000 abstracts of SciFact in three shards, its first ten held our ten
# best for 2 questions, its first twenty for 89 and its first thirty for all (by ranks; 97 by scores
# with 0.3 for the vector leg). In one shard, its first twelve held them for all.
_DEEPER = 3
_SUGGESTIONS = 50  # for a misspelt word
_SUGGESTER = {
    "field": "terms",
    "suggest_mode": "always",
    "max_edits": MAX_EDITS,
    "prefix_length": 1,
    "size": _SUGGESTIONS,
    "shard_size": _SUGGESTIONS,
}
_WEIGHTS_SINCE = {"elasticsearch": (9, 2), "opensearch": (3, 1)}  # in fusion by ranks
_EVEN = 0.5  # share of the vector leg
# Candidates that a shard visits for its k neighbours. Of the 100 nearest of 20,464 chunks, 20
# questions about them found 0.996 on either server with 400 (with 200: 0.989 on OpenSearch, 0.962
# on Elasticsearch, which gives up early), and all of the ten nearest. 106 questions about other
# things found 0.93 with 400, and 0.97 with 1,000, which took 10 ms more.
_MIN_CANDIDATES, _MAX_CANDIDATES = 400, 10_000
RANKS_THE_WHOLE_INDEX = (3, 5)  # an older OpenSearch ranks each shard separately
# An older OpenSearch supports filters in the legs only, not in a hybrid query.
_FILTERS_HYBRID_SINCE = (3, 0)
_MIN_SCORE = -1e9  # OpenSearch marks the legs of a list it did not fuse by scores far below this


class Search:
    """One query to a server: requests for its legs, and hits from the responses."""

    def __init__(
        self, server: Server, made: Fingerprint, request: SearchRequest, field: VectorField | None
    ) -> None:
        """Check the request against the index. Raises: EngineError, IndexMismatch, UsageError."""
        self.request = request
        self.vector = question_vector(request, made)
        self.depth = max(request.candidates, request.size)
        _require_readable(self.depth)
        if self.vector is not None:
            _require_field(field, made)

        self._server = server
        self._field = field or VectorField()
        wanted = [filter_dsl.query(request.filter)] if request.filter is not None else []
        self._filters = [_CHUNKS, *wanted]

    @property
    def legs(self) -> tuple[Leg, ...]:
        """Return the legs to search."""
        keyword: tuple[Leg, ...] = () if self.request.method == "vector" else ("keyword",)
        return (*keyword, "vector") if self.vector is not None else keyword

    @property
    def may_be_native(self) -> bool:
        """Return whether the server may support this fusion of two legs.

        Elasticsearch's weighted fusion scales differently, so it is not used.
        """
        server, request = self._server, self.request
        if len(self.legs) == 1 or (
            request.fusion == "weighted" and server.product == "elasticsearch"
        ):
            return False
        plain = request.fusion == "weighted" or request.vector_weight == _EVEN
        return plain or server.version >= _WEIGHTS_SINCE[server.product]

    def client(self, connection: Connection, index: str) -> SearchResult:
        """Search both legs and fuse them here."""
        legs = self._leg_scores(_multi_search(connection, index, legs=self._bodies()))
        scores, path = fuse_legs(self.request, legs)
        return self._read_hits(connection, index, scores, legs, path)

    def search_natively(self, connection: Connection, index: str) -> SearchResult:
        """Search both legs and their fusion by the server in one request.

        The fused list provides the texts, and the legs provide the ranks. The server's order is not
        used, because the server breaks ties in a leg by its own order, which changes ranks and
        fused scores. In the rare case that a hit due by the legs is not in the server's list, it is
        read separately, and the path is esrag's.
        """
        body = (
            self._build_opensearch()
            if self._server.product == "opensearch"
            else self._build_elasticsearch()
        )
        given, *answers = _multi_search(connection, index, body, legs=self._bodies())
        _require_fused(given["hits"]["hits"])

        legs = self._leg_scores(answers)
        scores, path = fuse_legs(self.request, legs)
        sources = {hit["_source"]["chunk_id"]: hit["_source"] for hit in given["hits"]["hits"]}
        if scores.keys() - sources.keys():
            return self._read_hits(connection, index, scores, legs, path)

        chunks = {key: chunk_of(sources[key]) for key in scores}
        return SearchResult(hits(scores, chunks, legs), f"{self.request.fusion}-native")

    def _read_hits(
        self, connection: Connection, index: str, scores: Mapping[str, float], legs: Legs, path: str
    ) -> SearchResult:
        """Read the hits by their ids; chunks removed meanwhile are left out."""
        if not scores:
            return SearchResult((), path)

        chunks = self._read_chunks(connection, index, list(scores))
        found = {key: score for key, score in scores.items() if key in chunks}
        return SearchResult(hits(found, chunks, legs), path)

    def _read_chunks(
        self, connection: Connection, index: str, chunk_ids: Sequence[str]
    ) -> dict[str, Chunk]:
        """Return the chunks by id, those that still pass the filter."""
        query = {"bool": {"filter": [{"terms": {"chunk_id": chunk_ids}}, *self._filters]}}
        body = {
            "query": query,
            "size": len(chunk_ids),
            "track_total_hits": False,
            "_source": CHUNK_SOURCE,
        }
        (answer,) = _multi_search(connection, index, body)
        found = (chunk_of(hit["_source"]) for hit in answer["hits"]["hits"])
        return {chunk.chunk_id: chunk for chunk in found}

    def _leg_scores(self, answers: Sequence[Mapping[str, Any]]) -> Legs:
        """Return each leg's scores by chunk id, best first, with ties ordered by id."""
        found: dict[Leg, dict[str, float]] = {}
        for leg, answer in zip(self.legs, answers, strict=True):
            scores = {
                hit["fields"]["chunk_id"][0]: self._score(hit["_score"], leg)
                for hit in answer["hits"]["hits"]
            }
            found[leg] = {key: scores[key] for key in ranking(scores)[: self.depth]}
        return found

    def _score(self, score: float, leg: Leg) -> float:
        """Convert a server's score to a cosine, or keep a BM25 score as it is."""
        if leg == "keyword":
            return score
        return round(self._field.cosine(self._server.product, score), _SCORE_DECIMALS)

    def _bodies(self) -> list[Query]:
        """Return the request bodies of the legs."""
        return [self._leg(leg) for leg in self.legs]

    def _leg(self, leg: Leg) -> Query:
        """Return the body of one leg, which requests ids and scores only.

        Unpacking a hundred entries with their vectors takes longer than the search.
        """
        shown = {"stored_fields": "_none_", "docvalue_fields": ["chunk_id"]}
        common = {"size": self.depth, "track_total_hits": False, **shown}

        if leg == "keyword":
            query = {"bool": {"must": [self._match()], "filter": self._filters}}
            return {**common, "query": query, "sort": [{"_score": "desc"}, {"chunk_id": "asc"}]}
        if self._server.product == "elasticsearch":
            return {**common, "knn": {**self._knn(), "filter": self._filters}}

        filtered = {**self._build_nearest(), "filter": {"bool": {"filter": self._filters}}}
        return {**common, "query": {"knn": {"embedding": filtered}}}

    def _build_opensearch(self) -> Query:
        if self._server.version < _FILTERS_HYBRID_SINCE:
            keyword = {"bool": {"must": [self._match()], "filter": self._filters}}
            vector = {**self._build_nearest(), "filter": {"bool": {"filter": self._filters}}}
            filtered: Query = {"queries": [keyword, {"knn": {"embedding": vector}}]}
        else:
            queries = [self._match(), {"knn": {"embedding": self._build_nearest()}}]
            filtered = {"filter": {"bool": {"filter": self._filters}}, "queries": queries}

        hybrid = {"pagination_depth": self.depth, **filtered}
        pipeline = {"phase_results_processors": [self._processor()]}
        return {**self._select_shown(), "query": {"hybrid": hybrid}, "search_pipeline": pipeline}

    def _processor(self) -> Query:
        """Return OpenSearch's fusion processor.

        Weights must be JSON floats; for ranks they must add up to 1.
        """
        share = float(self.request.vector_weight)
        weights = {"parameters": {"weights": [1 - share, share]}}
        if self.request.fusion == "weighted":
            means = {"technique": "arithmetic_mean", **weights}
            parts = {"normalization": {"technique": "min_max"}, "combination": means}
            return {"normalization-processor": parts}

        ranked = {"technique": "rrf", "rank_constant": self.request.rank_constant}
        combination = ranked if share == _EVEN else {**ranked, **weights}
        return {"score-ranker-processor": {"combination": combination}}

    def _build_elasticsearch(self) -> Query:
        retrievers: list[Query] = [{"standard": {"query": self._match()}}, {"knn": self._knn()}]
        share = self.request.vector_weight
        if share != _EVEN:
            weights = (2 * (1 - share), 2 * share)
            retrievers = [
                {"retriever": r, "weight": weight}
                for r, weight in zip(retrievers, weights, strict=True)
            ]
        ranked = {"rank_constant": self.request.rank_constant, "rank_window_size": self.depth}
        rrf = {"filter": self._filters, "retrievers": retrievers, **ranked}
        return {**self._select_shown(), "retriever": {"rrf": rrf}}

    def _select_shown(self) -> Query:
        """Return how many fused hits to read, and which fields."""
        return {"size": min(_DEEPER * self.request.size, self.depth), "_source": CHUNK_SOURCE}

    def _match(self) -> Query:
        words = self.request.find_terms()
        return {"match": {"terms": {"query": " ".join(words)}}} if words else {"match_none": {}}

    @property
    def _looked_at(self) -> int:
        """Return how many candidates to visit per shard.

        OpenSearch visits only as many as it returns.
        """
        return min(max(2 * self.depth, _MIN_CANDIDATES), _MAX_CANDIDATES)

    def _knn(self) -> Query:
        wanted = {
            "query_vector": self._numbers(),
            "k": self.depth,
            "num_candidates": self._looked_at,
        }
        return {"field": "embedding", **wanted, **self._field.build_rescoring("elasticsearch")}

    def _build_nearest(self) -> Query:
        """Return OpenSearch's query for the nearest neighbours."""
        wanted = {
            "vector": self._numbers(),
            "k": self.depth,
            "method_parameters": {"ef_search": self._looked_at},
        }
        return {**wanted, **self._field.build_rescoring("opensearch")}

    def _numbers(self) -> list[float]:
        if self.vector is None:
            raise AssertionError("asked for with a vector leg only")
        numbers: list[float] = self.vector.tolist()
        return numbers


def _require_fused(hits: Sequence[Mapping[str, Any]]) -> None:
    if any(hit["_score"] < _MIN_SCORE for hit in hits):
        message = "the server gave a list that it did not fuse"
        raise EngineError(message, hint="is the neural-search plugin whole?")


def _require_readable(depth: int) -> None:
    if depth > _MOST:
        message = f"a server reads at most {_MOST} hits, got {depth}"
        raise UsageError(message, hint="lower size or candidates")


def _require_field(field: VectorField | None, made: Fingerprint) -> None:
    """Raise IndexMismatch for a lost field: a server would find nothing in it, and not say so."""
    if field is None:
        message = (
            "the index lost the field of the vectors that it was made with "
            f"({made.dimensions} dimensions)"
        )
        raise IndexMismatch(message, hint=REBUILD_HINT)


def any_match(connection: Connection, index: str, filters: Sequence[Filter]) -> list[bool]:
    """Return, for each filter, whether any chunk passes it, in one round trip.

    Raises: EngineError, UsageError.
    """
    queries = [{"bool": {"filter": [_CHUNKS, filter_dsl.query(filter_)]}} for filter_ in filters]
    bodies = [
        {"query": query, "size": 1, "_source": False, "track_total_hits": False}
        for query in queries
    ]
    return (
        [bool(answer["hits"]["hits"]) for answer in _multi_search(connection, index, *bodies)]
        if bodies
        else []
    )


def count_terms(
    connection: Connection, index: str, terms: Sequence[str], like: Sequence[str]
) -> dict[str, int]:
    """Return the number of chunks of each term that occurs, in one round trip.

    The terms are those given, and those that the server suggests for `like`. Raises: EngineError.
    """
    named = {f"t{n}": term for n, term in enumerate(dict.fromkeys(terms))}
    if not named and not like:
        return {}

    [answer] = _multi_search(connection, index, _count_body(named, like))
    return _read_counts(answer, named)


def _count_body(named: Mapping[str, str], like: Sequence[str]) -> Query:
    counted = {"filters": {name: {"term": {"terms": term}} for name, term in named.items()}}
    wanted = {f"s{n}": {"text": word, "term": _SUGGESTER} for n, word in enumerate(like)}
    return {
        "size": 0,
        "track_total_hits": False,
        **({"aggs": {"terms": {"filters": counted}}} if named else {}),
        **({"suggest": wanted} if wanted else {}),
    }


def _read_counts(answer: Mapping[str, Any], named: Mapping[str, str]) -> dict[str, int]:
    """Return the counts of the named terms and of those suggested, except zeros."""
    buckets = answer.get("aggregations", {}).get("terms", {}).get("buckets", {})
    found = {named[name]: bucket["doc_count"] for name, bucket in buckets.items()}
    for entries in answer.get("suggest", {}).values():
        found |= {each["text"]: each["freq"] for entry in entries for each in entry["options"]}
    return {term: count for term, count in found.items() if count}


def _multi_search(
    connection: Connection, index: str, *others: Query, legs: Sequence[Query] = ()
) -> list[dict[str, Any]]:
    """Return the responses of one round trip.

    Raises: EngineError, also if a shard failed or the search timed out.
    """
    header = {"index": index, "allow_partial_search_results": False}
    # The words of a leg are weighed over all shards, as if there were one; the fused query has no
    # such option.
    whole = {**header, "search_type": "dfs_query_then_fetch"}
    lines = [line for body in others for line in (header, body)] + [
        line for leg in legs for line in (whole, leg)
    ]
    answers = connection.search(lines)

    for answer in answers:
        _require_whole(answer, connection.shown_url)
    return answers


def _require_whole(answer: Mapping[str, Any], url: str) -> None:
    failed = answer.get("_shards", {}).get("failed", 0)
    if failed or answer.get("timed_out"):
        what = f"{failed} shards failed" if failed else "the search ran out of time"
        message = f"{url}: {what}, so hits would be missing"
        raise EngineError(message, hint="look at the server's log")
