"""Filters against what an index holds: slips are errors that name what is known, on every engine
alike.
"""

import pytest
from made import WORDLESS, prepared

from esrag.errors import IndexMissing, UsageError
from esrag.filters import And, Not, Or, Prefix, Range, Terms, parse
from esrag.retrieving import filter_check
from esrag.retrieving.filter_check import check_filter

LIVE = [pytest.param(name, marks=pytest.mark.live) for name in ("opensearch", "elasticsearch")]
pytestmark = pytest.mark.parametrize("name", ["embedded", *LIVE], scope="module")


def document(number):
    """One of many documents, of three kinds, with metadata of every type."""
    metadata = {
        "folder": ("ferry", "letters")[number % 2],
        "year": 2000 + number,
        "draft": True,
        "author": f"Author {number}",
        "date": f"2024-01-{number + 1:02}",
        "mixed": number if number % 2 else f"no {number}",
    }
    kind = ("csv", "markdown", "pdf")[number % 3]
    return prepared(f"d{number:02}", ["kem lattice"], vectors=False, metadata=metadata, kind=kind)


@pytest.fixture(scope="module")
def full(make_engine, name):
    """An index of so many documents that each of their authors and dates is one of many."""
    engine = make_engine(name)
    with engine.writer(WORDLESS) as writer:
        writer.replace([document(number) for number in range(filter_check.MAX_LISTED + 5)])
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        (
            "Kind=pdf",
            "no passage has a field 'Kind'",
            "did you mean kind? there are author, chunk_id, date, doc_id",
        ),
        ("yaer>=2001", "no passage has a field 'yaer'", "did you mean year? "),
        ("zzz=1", "no passage has a field 'zzz'", "there are author, "),
        (
            "kind=PDF",
            "no passage has kind=PDF",
            "did you mean pdf? kind is one of csv, markdown, pdf",
        ),
        (
            "kind!=PDF",
            "no passage has kind=PDF",
            "did you mean pdf? kind is one of csv, markdown, pdf",
        ),
        ("kind=pdf,markdwon", "no passage has kind=markdwon", "did you mean markdown? "),
        ("kind=PD*", "no passage has kind=PD*", "did you mean pdf? "),
        ("kind=xlsx", "no passage has kind=xlsx", "kind is one of csv, markdown, pdf"),
        (
            "folder=fery",
            "no passage has folder=fery",
            "did you mean ferry? folder is one of ferry, letters",
        ),
        ("year>=abc", "the field year holds a number, and 'abc' is text", "write it as year>=2000"),
        ("year=abc", "the field year holds a number, and 'abc' is text", "write it as year=2000"),
        (
            "year<true",
            "the field year holds a number, and 'true' is true or false",
            "write it as year>=2000",
        ),
        (
            "date>=2024",
            "the field date holds text, and '2024' is a number",
            "write it as date>=2024-01-01",
        ),
        (
            "author<7",
            "the field author holds text, and '7' is a number",
            "write it as author>=Author 0",
        ),
        ("kind>7", "the field kind holds text, and '7' is a number", "write it as kind>=csv"),
        (
            "draft=yes",
            "the field draft holds true or false, and 'yes' is text",
            "write it as draft=true",
        ),
        (
            "mixed>=false",
            "the field mixed holds a number or text, and 'false' is true or false",
            "write it as mixed>=",
        ),
        ("page=two", "the field page holds a number, and 'two' is text", "write it as page=48"),
        ("page>=two", "the field page holds a number, and 'two' is text", "write it as page=48"),
        ("page=1*", "the field page holds a number, and '1*' is text", "write it as page=48"),
    ],
)
def test_what_cannot_have_been_meant_is_wrong_use(full, condition, message, hint):
    """Unknown fields, values of another kind, and unknown values where there are few.

    Also beside what is right.
    """
    right, wrong = parse("kind=pdf"), parse(condition)
    for filter_ in (wrong, And((right, wrong)), Or((right, And((Not(right), wrong))))):
        with pytest.raises(UsageError) as raised:
            check_filter(filter_, full)
        assert str(raised.value) == message
        assert raised.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("author=author 3", "no passage has author=author 3; did you mean Author 3 or "),
        ("author!=Nobody", "no passage has author=Nobody"),
        ("doc_id=D07", "no passage has doc_id=D07; did you mean d07 or "),
        ("source=x*", "no passage has source=x*"),
        ("section=Part > 77", "no passage has section=Part > 77"),
        ("year=1999", "no passage has year=1999"),
        ("year>=2050", "no passage has year>=2050"),
        ("date<2000-01-01", "no passage has date<2000-01-01"),
        ("draft=false", "no passage has draft=false"),
        ("page>9", "no passage has page>9"),
        ("kind!=tsv", "no passage has kind=tsv; did you mean csv?"),
        ("folder!=drafts", "no passage has folder=drafts"),
    ],
)
def test_what_nothing_meets_is_a_note(full, condition, note):
    """Where the values are many or numbers, and where what is left out is not there."""
    (found,) = check_filter(parse(condition), full)

    assert found.startswith(note)
    assert found == note or note.endswith(" or ")


@pytest.mark.parametrize(
    "condition",
    [
        *(
            "kind=pdf",
            "kind!=pdf",
            "kind=pdf,csv",
            "kind=p*",
            "folder=ferry",
            "year>=2001",
            "year=2003",
            "year=200*",
        ),
        *(
            "draft=true",
            "author=Author 3",
            "mixed>=2",
            "mixed=no 2",
            "mixed>=a",
            "page=1",
            "section=Part*",
            "title=T*",
        ),
        *(
            "keywords=ML-KEM",
            "chunk_id=d03::c000",
            "source=/library/d03.md",
            "date>=2024-01-05",
            "doc_id=d0*",
        ),
    ],
)
def test_what_something_meets_is_no_matter(full, condition):
    """No error and no note."""
    assert check_filter(parse(condition), full) == ()


def test_no_filter_an_empty_index_and_none(full, make_engine, name, make):
    """Without a filter nothing is looked up; where nothing is stored nothing can be told.

    No index is said.
    """
    assert (
        check_filter(None, full)
        == check_filter(And(()), full)
        == check_filter(Terms("zzz", ()), full)
        == ()
    )
    engine = make(name)
    with pytest.raises(IndexMissing):
        check_filter(parse("kind=pdf"), engine)
    with engine.writer(WORDLESS):
        pass
    assert check_filter(parse("zzz=1"), engine) == ()


def test_any_match_is_whether_there_are_chunks(full):
    """For filters of every form, in their order; for none nothing."""
    parts = [
        Terms("kind", ("pdf",)),
        Terms("kind", ("x",)),
        Prefix("author", "Author"),
        Range("year"),
        Range("zzz"),
    ]
    filters = [
        *parts,
        *map(Not, parts),
        And(tuple(parts)),
        Or(tuple(parts)),
        And(()),
        Or(()),
        Terms("kind", ()),
    ]

    expected = [any(True for _ in full.chunks(filter_)) for filter_ in filters]
    assert list(full.any_match(filters)) == expected
    assert {True, False} == set(expected)
    assert list(full.any_match([])) == []


def test_suggestions_come_from_a_bounded_number_of_documents(full, monkeypatch):
    """What lies beyond is known all the same, and no list of values is taken for a whole one."""
    monkeypatch.setattr(filter_check, "MAX_DOCUMENTS", 1)

    assert check_filter(parse("kind=pdf"), full) == ()
    assert check_filter(parse("kind=xlsx"), full) == ("no passage has kind=xlsx",)
    with pytest.raises(UsageError, match="no passage has a field 'zzz'"):
        check_filter(parse("zzz=1"), full)
