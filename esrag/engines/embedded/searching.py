"""The two legs and their fusion over one snapshot."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from esrag.engines import SearchRequest, SearchResult, Vectors
from esrag.engines.clock import Clock
from esrag.engines.embedded.conversion import CHUNK_SELECT, chunk
from esrag.engines.embedded.filter_sql import Condition, select_rows
from esrag.engines.embedded.snapshots import Snapshot
from esrag.engines.embedded.vector_file import Rows, select_best
from esrag.engines.fusion import ranking
from esrag.engines.hits import Leg, fuse_legs, hits
from esrag.engines.preconditions import question_vector
from esrag.records import Chunk

EVERYWHERE = (
    "∎"  # a token of every row of `words` that no text can contain: terms() yields words only
)

# bm25() costs about 1.7 µs per matching row, and a frequent word matches most rows: over 100,000
# chunks of 150 Zipf-distributed words, questions of 5 to 12 terms took 112 ms at the median. So
# only the rarest terms select rows, namely as many terms as have this many occurrences together.
# Frequent terms only add to the score of those rows. This takes 20 ms and keeps 99.8 % of the ten
# best hits and 98.2 % of the hundred best. Below 10,000 chunks nothing changes.
MAX_ROWS_SCORED = 10_000

_SCORE_DECIMALS = 9
_TIES = 50  # rows read beyond the cut, so that ties at the cut are seen without another query


def search(snapshot: Snapshot, request: SearchRequest, clock: Clock) -> SearchResult:
    """Return hits by falling score (ties by chunk id), the path and the times.

    Raises: EngineError, UsageError.
    """
    legs = _search_legs(snapshot, request, clock)
    scores, path = fuse_legs(request, legs)
    clock.lap("fuse")

    found = hits(scores, _chunks(snapshot, list(scores)), legs)
    clock.lap("read")
    return SearchResult(found, path, took_ms=clock.took_ms)


def _search_legs(
    snapshot: Snapshot, request: SearchRequest, clock: Clock
) -> dict[Leg, dict[str, float]]:
    vector = question_vector(request, snapshot.cache.state.fingerprint)
    depth = max(request.candidates, request.size)
    where = select_rows(request.filter) if request.filter is not None else None
    legs: dict[Leg, dict[str, float]] = {}

    if request.method != "vector":
        legs["keyword"] = _keyword_leg(snapshot, request, depth, where)
        clock.lap("keyword")
    if vector is not None:
        legs["vector"] = _vector_leg(snapshot, vector, depth, where)
        clock.lap("vector")
    return legs


def _keyword_leg(
    snapshot: Snapshot, request: SearchRequest, depth: int, where: Condition | None
) -> dict[str, float]:
    """Return BM25 scores by chunk id, best first (Robertson & Zaragoza 2009).

    The parameters are k1 = 1.2 and b = 0.75.
    """
    known = sorted(
        (count, term) for term in request.find_terms() if (count := snapshot.count(term))
    )
    if not known:
        return {}

    chosen = _count_rare([count for count, _ in known], depth)
    ordered = [term for _, term in known]
    rare, frequent = ordered[:chosen], ordered[chosen:]
    found = _match(snapshot, _expression(rare, frequent), depth, where)
    if frequent and len(found) < depth:  # the filter left too few rows of the rare terms
        found = _match(snapshot, _expression(ordered, []), depth, where)
    return _cut(_by_id(snapshot, found), depth)


def _count_rare(counts: Sequence[int], depth: int) -> int:
    """Return how many of the rising counts select rows.

    These are as many as fit MAX_ROWS_SCORED, and more if they might select fewer than `depth`
    rows.

    >>> counts = [50, 9_000, 40_000], [50, 40_000], [500, 40_000]
    >>> [_count_rare(rising, depth=100) for rising in counts]
    [2, 2, 1]
    """
    total = 0
    for index, count in enumerate(counts):
        if total + count > MAX_ROWS_SCORED and total > depth:
            return index
        total += count
    return len(counts)


def _expression(rare: Sequence[str], frequent: Sequence[str]) -> str:
    """Return an FTS5 query of quoted strings: rows with a rare term, scored by all terms.

    >>> _expression(["kem"], [])
    '"kem"'
    """
    either = _either(rare)
    return f"({either}) AND ({_either([EVERYWHERE, *frequent])})" if frequent else either


def _either(words: Sequence[str]) -> str:
    return " OR ".join('"{}"'.format(word.replace('"', '""')) for word in words)


def _match(
    snapshot: Snapshot, expression: str, depth: int, where: Condition | None
) -> list[tuple[int, float]]:
    """Return at least the `depth` best rows with their scores, and all ties with the last one."""
    # The plus keeps FTS5 from looking up each allowed row separately.
    allowed, values = where or ("", ())
    condition = f"AND +words.rowid IN ({allowed})" if where else ""
    matching = f"SELECT rowid, -bm25(words) AS score FROM words WHERE words MATCH ? {condition}"  # noqa: S608 -- constants
    sql = f"{matching} ORDER BY score DESC LIMIT ?"
    limit = depth + _TIES

    while True:
        rows: list[Any] = snapshot.connection.execute(sql, (expression, *values, limit)).fetchall()
        found = [(row, round(score, _SCORE_DECIMALS)) for row, score in rows]
        if len(found) < limit or found[-1][1] < found[depth - 1][1]:
            return found
        limit *= 4


def _vector_leg(
    snapshot: Snapshot, vector: Vectors, depth: int, where: Condition | None
) -> dict[str, float]:
    """Return exact cosine similarities by chunk id, best first."""
    rows, vector_rows = snapshot.read_live_rows()
    if where:
        kept = np.isin(rows, _find_allowed(snapshot, where), assume_unique=True)
        rows, vector_rows = rows[kept], vector_rows[kept]
    chosen, scores = select_best(snapshot.cache.vectors, vector_rows, vector, depth)
    return _cut(_by_id(snapshot, zip(rows[chosen].tolist(), scores.tolist(), strict=True)), depth)


def _find_allowed(snapshot: Snapshot, where: Condition) -> Rows:
    return np.array(snapshot.connection.execute(*where).fetchall(), dtype=np.int64).reshape(-1)


def _by_id(snapshot: Snapshot, scores: Iterable[tuple[int, float]]) -> dict[str, float]:
    by_row = dict(scores)
    sql = 'SELECT chunk_id, "row" FROM chunks WHERE "row" IN (SELECT value FROM json_each(?))'
    return {
        key: by_row[row]
        for key, row in snapshot.connection.execute(sql, (json.dumps(list(by_row)),))
    }


def _cut(scores: Mapping[str, float], depth: int) -> dict[str, float]:
    return {key: scores[key] for key in ranking(scores)[:depth]}


def _chunks(snapshot: Snapshot, wanted: Sequence[str]) -> dict[str, Chunk]:
    """Return the chunks with these ids; only these are read completely."""
    sql = f"{CHUNK_SELECT} WHERE c.chunk_id IN (SELECT value FROM json_each(?))"  # noqa: S608 -- constants
    return {row[0]: chunk(row) for row in snapshot.connection.execute(sql, (json.dumps(wanted),))}
