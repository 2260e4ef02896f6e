"""The link to the evidence opens exactly these chunks, whatever their ids are made of."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.dashboards.links import evidence_link, rison

HOSTILE = [
    "plain::p0001::c001",
    'say "hi"',
    "it's !mine!",
    "back\\slash\\",
    "\\n is no line end",
    '\\"',
    "a) or (b:*",
    "),(x:'y',z:!(",
    "50 % & more=+#/?%27",
    "über 漢字 🦓 \u2028",
    "line\nend\ttab",
    "",
]


def parsed(text):
    """What rison says: mappings, lists and quoted texts, as its grammar has them."""
    value, rest = _value(text)
    assert rest == ""
    return value


def _value(text):
    if text.startswith("!("):
        return _items(text[2:], _value, list)
    if text.startswith("("):
        return _items(text[1:], _pair, dict)
    quoted = re.match(r"'((?:[^'!]|!['!])*)'", text)
    return re.sub(r"!(.)", r"\1", quoted[1]), text[quoted.end() :]


def _pair(text):
    name = re.match(r"(\w+):", text)
    value, rest = _value(text[name.end() :])
    return (name[1], value), rest


def _items(text, one, kind):
    found = []
    while not text.startswith(")"):
        item, text = one(text)
        found.append(item)
        assert text[0] in ",)"
        text = text.removeprefix(",")
    return kind(found), text[1:]


def ids_in(query):
    """What a query asks for: quoted texts, in which a backslash keeps the next sign from being
    read.
    """
    whole = re.fullmatch(
        r'chunk_id: \(("(?:[^"\\]|\\["\\])*"(?: or "(?:[^"\\]|\\["\\])*")*)\)', query, re.DOTALL
    )
    return [
        re.sub(r"\\(.)", r"\1", one) for one in re.findall(r'"((?:[^"\\]|\\["\\])*)"', whole[1])
    ]


def opened(url):
    """The path and the decoded parameters behind the #, as a browser and both products take them
    apart.
    """
    parts = urlsplit(url)
    start, _, parameters = parts.fragment.partition("?")
    values = parse_qs(parameters, strict_parsing=True)
    return parts.path, start, {name: parsed(value) for name, (value,) in values.items()}


@pytest.mark.parametrize("url", ["http://localhost:5601", "https://host/base/"])
def test_kibana_opens_the_evidence(url):
    """In Discover, with the data view and the columns of the saved search, and these ids."""
    link = evidence_link(url, "elasticsearch", "library", HOSTILE)
    path, start, state = opened(link)
    assert link.startswith(url.rstrip("/") + "/app/discover#/?_a=")
    assert (path, start, set(state)) == (
        urlsplit(url).path.rstrip("/") + "/app/discover",
        "/",
        {"_a"},
    )
    assert state["_a"]["dataSource"] == {"type": "dataView", "dataViewId": "esrag-view-library"}
    assert state["_a"]["query"]["language"] == "kuery"
    assert ids_in(state["_a"]["query"]["query"]) == HOSTILE


def test_dashboards_open_the_evidence():
    """In its Discover, which keeps the query apart and names the data twice, for its older and its
    newer versions.
    """
    path, start, state = opened(
        evidence_link("http://localhost:5601", "opensearch", "library", HOSTILE)
    )
    assert (path, start) == ("/app/data-explorer/discover", "")
    assert state["_a"]["metadata"] == {"indexPattern": "esrag-view-library", "view": "discover"}
    dataset = {"id": "esrag-view-library", "title": "library", "type": "INDEX_PATTERN"}
    assert state["_q"]["query"]["dataset"] == dataset
    assert ids_in(state["_q"]["query"]["query"]) == HOSTILE


@given(st.lists(st.text(), min_size=1), st.sampled_from(["elasticsearch", "opensearch"]))
def test_any_ids_come_back(ids, engine):
    """The link is made of signs that an address may hold, and decodes to the very ids."""
    link = evidence_link("http://localhost:5601", engine, "library", ids)
    assert re.fullmatch(r"[\w.~:/#?&=%-]+", link, re.ASCII)
    _, _, state = opened(link)
    assert ids_in(state["_a" if engine == "elasticsearch" else "_q"]["query"]["query"]) == ids


@given(
    st.recursive(
        st.text(), lambda part: st.lists(part) | st.dictionaries(st.sampled_from("abc"), part)
    )
)
def test_rison_decodes_to_what_was_encoded(value):
    """Mappings, lists and texts of any kind."""
    assert parsed(rison(value)) == value
