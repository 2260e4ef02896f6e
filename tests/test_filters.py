"""Conditions as written, and their meaning against a plain evaluation in Python."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esrag.engines import EngineOptions, Prepared
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.embedded.filter_sql import select_rows
from esrag.errors import UsageError
from esrag.filters import And, Not, Or, Prefix, Range, Terms, parse, parse_all, scalar
from esrag.records import Chunk, Fingerprint, StoredDocument

VALUES = ["a", "ab", "2024", "007", "true", "", 'x"y', "é", 2024, 7, -3, 0.5, 2024.0, True, False]
KEYS = ["year", 'k"ey', "a.b", "title", "$"]
FIELDS = [*KEYS, "doc_id", "chunk_id", "source", "kind", "section", "keywords", "page", "missing"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("year=2024", Terms("year", (2024,))),
        ("year = 2024 , 2025", Terms("year", (2024, 2025))),
        ("zip=00750", Terms("zip", ("00750",))),
        ("version=1.50", Terms("version", ("1.50",))),
        ("year>2024", Range("year", low=2024, low_open=True)),
        ("year<=0.5", Range("year", high=0.5)),
        ("date>=2024-08-13", Range("date", low="2024-08-13")),
        ("title=Intro*", Prefix("title", "Intro")),
        ("kind!=pdf*", Not(Prefix("kind", "pdf"))),
    ],
)
def test_conditions(condition, expected):
    """Each condition as the command line takes it."""
    assert expected == parse(condition)


@pytest.mark.parametrize(
    "condition", ["", "year", "=x", "year=", "1x=2", "a b=c", "year~1", "q==x", "q=>1", "q=,"]
)
def test_what_is_no_condition(condition):
    """A UsageError that shows how one is written."""
    with pytest.raises(UsageError) as caught:
        parse(condition)
    assert "field=value" in caught.value.hint


@pytest.mark.parametrize(
    "filter_",
    [
        Terms("page", (10**309,)),
        Terms("year", (1, -(10**5_000))),
        Not(Range("year", low=10**309)),
        And((Range("page", high=-(10**309)),)),
    ],
)
def test_a_number_that_no_engine_holds_is_wrong_use(filter_):
    """And nothing that is said of the index."""
    with pytest.raises(UsageError, match="over 308 digits"):
        select_rows(filter_)


def test_conditions_together():
    """None is no filter, one stands alone, several must all hold."""
    assert parse_all([]) is None
    assert parse_all(["a=b"]) == Terms("a", ("b",))
    assert parse_all(["a=b", "c=d"]) == And((Terms("a", ("b",)), Terms("c", ("d",))))


def written(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(stored, wanted):
    read = scalar(written(wanted))
    return written(stored) == written(wanted) or (
        number(stored) and number(read) and stored == read
    )


def within(value, leaf):
    def fits(bound, closed, is_open):
        kinds = [number, lambda v: isinstance(v, bool), lambda v: isinstance(v, str)]
        alike = any(kind(value) and kind(bound) for kind in kinds)
        return alike and (value > bound if is_open else value >= bound) if closed == "low" else (
            alike and (value < bound if is_open else value <= bound)
        )  # fmt: skip

    low = leaf.low is None or fits(leaf.low, "low", leaf.low_open)
    return low and (leaf.high is None or fits(leaf.high, "high", leaf.high_open))


def values_of(field, document, chunk):
    columns = {
        (
            "doc_id"
        ): [document.doc_id], "source": [document.source], "kind": [document.kind],
        "title": [chunk.title],
        "chunk_id": [chunk.chunk_id], "section": [chunk.section], "keywords": chunk.keywords,
        "page": range(chunk.start_page, chunk.end_page + 1),
    }  # fmt: skip
    merged = {**document.metadata, **chunk.metadata}
    return columns[field] if field in columns else [merged[field]] if field in merged else []


def holds(filter_, document, chunk):  # noqa: PLR0911 -- one for each case
    match filter_:
        case And(parts):
            return all(holds(part, document, chunk) for part in parts)
        case Or(parts):
            return any(holds(part, document, chunk) for part in parts)
        case Not(part):
            return not holds(part, document, chunk)
    values = values_of(filter_.field, document, chunk)
    match filter_:
        case Terms(_, wanted):
            return any(equal(value, one) for value in values for one in wanted)
        case Prefix(field, start):
            return field != "page" and any(written(value).startswith(start) for value in values)
        case _:
            if filter_.field == "page" and not all(
                number(b) for b in (filter_.low, filter_.high) if b is not None
            ):
                return False
            return any(within(value, filter_) for value in values)


SCALARS = st.sampled_from(VALUES)
BOUNDS = st.none() | SCALARS
LEAVES = st.one_of(
    st.builds(
        Terms, st.sampled_from(FIELDS), st.lists(SCALARS | st.integers(1, 4), max_size=3).map(tuple)
    ),
    st.builds(
        Prefix, st.sampled_from(FIELDS), SCALARS.map(str) | st.sampled_from(["d", "K", "Part"])
    ),
    st.builds(Range, st.sampled_from(FIELDS), BOUNDS, BOUNDS, st.booleans(), st.booleans()),
    st.builds(
        Range,
        st.just("page"),
        st.integers(0, 5) | st.just(1.5),
        st.integers(0, 5),
        st.booleans(),
        st.booleans(),
    ),
)
FILTERS = st.recursive(
    LEAVES,
    lambda part: (
        st.builds(Not, part)
        | st.builds(And, st.lists(part, max_size=3).map(tuple))
        | st.builds(Or, st.lists(part, max_size=3).map(tuple))
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """An index over chunks with every value under every key, and those chunks with
    their documents.
    """
    engine, pairs, documents = (
        EmbeddedEngine(EngineOptions(str(tmp_path_factory.mktemp("filters")))),
        [],
        [],
    )
    for i, value in enumerate(VALUES):
        own = {KEYS[i % len(KEYS)]: VALUES[-1 - i]} if i % 2 else {}
        document = StoredDocument(
            doc_id=f"d{i}",
            source=f"/{written(value)}",
            source_sha256="",
            revision="",
            kind=f"k{i % 3}",
            title="",
            characters=1,
            page_count=3,
            chunk_count=2,
            metadata={KEYS[j]: value for j in range(i % 6)},
        )
        chunks = tuple(
            Chunk(
                chunk_id=f"d{i}::{n}",
                doc_id=f"d{i}",
                ordinal=n,
                start=0,
                end=1,
                start_page=1 + n * i % 3,
                end_page=2 + n * i % 3,
                text="word",
                title=written(value),
                section=f"Part {n}",
                keywords=("K1", written(value))[: n + 1],
                metadata=own if n else {},
            )
            for n in range(2)
        )
        documents.append(
            Prepared(document=document, chunks=chunks, indexed_texts=("word",) * 2, vectors=None)
        )
        pairs += [(document, chunk) for chunk in chunks]
    with engine.writer(Fingerprint("none", 0, "none")) as writer:
        writer.replace(documents)
    yield engine, pairs
    engine.close()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None
)
@given(FILTERS)
def test_any_filter_means_what_it_says(stored, filter_):
    """The engine's choice is the plain evaluation's, for any filter."""
    engine, pairs = stored
    expected = {chunk.chunk_id for document, chunk in pairs if holds(filter_, document, chunk)}
    assert expected == {chunk.chunk_id for chunk in engine.chunks(filter_)}
