"""Rules: fields of documents from paths, names, texts and other fields."""

import pytest

from esrag.enriching import enrich
from esrag.enriching.rules import Rule, RulesEnricher
from esrag.records import Document

PATH = "/firm/Projects/225/225221/brief.md"


def fields(*rules, text="Due 2025-03-03.", **metadata):
    document = Document("brief", "markdown", text, title="Brief", metadata=metadata)
    return dict(enrich(document, PATH, [("rules", RulesEnricher(rules))]).metadata)


def rule(field, pattern, template="{0}", over="path", kind="text"):
    return Rule(field, over, pattern, template, kind)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (rule("job", r"/(2\d{5})/", "{1}", kind="number"), 225221),
        (rule("job", r"/2(?P<yy>\d\d)(\d{3})/", "Job {2} (20{yy})"), "Job 221 (2025)"),
        (rule("kind_of", r"^\w+", over="name"), "brief"),
        (rule("kind_of", r"^\w+", over="title"), "Brief"),
        (rule("due", r"\d{4}-\d\d-\d\d", over="text", kind="date"), "2025-03-03"),
        (rule("client", r"\w+$", over="owner"), "Smith"),
        (rule("braces", r"(?P<x>.+)", "{x}", over="odd"), "{x} {0} $1 \\1"),
    ],
)
def test_a_field_is_read(given, value):
    """Each source of a rule; what a document says is never a template."""
    assert fields(given, owner="J. Smith", odd="{x} {0} $1 \\1")[given.field] == value


@pytest.mark.parametrize(
    "given",
    [
        rule("year", r"19\d\d"),
        rule("due", r"Due", over="text", kind="date"),
        rule("due", r"Due", over="text", kind="number"),
        rule("of", r".+", over="missing"),
    ],
)
def test_what_does_not_fit_gives_no_field(given):
    """No match, another kind, or a field that is not there: nothing, and no error."""
    assert fields(given) == {}


def test_rules_read_what_earlier_rules_wrote():
    """In the order of the settings, and in place of what the file itself says."""
    job = rule("job", r"/(2\d{5})/", "{1}", kind="number")
    name = rule("name", r"^2(\d\d)\d{3}$", "Job {0} (20{1})", over="job")
    assert fields(job, name, job=1) == {"job": 225221, "name": "Job 225221 (2025)"}
