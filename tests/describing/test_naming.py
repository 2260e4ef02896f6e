"""Documents are found by their names, and by nothing less."""

import pytest

from esrag.describing.naming import find_named, find_title_line
from esrag.records import StoredDocument

FILES = [
    ("NIST.FIPS.203", "NIST.FIPS.203.pdf", "Module-Lattice-Based Key-Encapsulation Mechanism"),
    ("pep-0008", "pep-0008.rst", "Style Guide for Python Code"),
    ("pep-0020", "pep-0020.rst", "The Zen of Python"),
    ("kettle", "kettle.md", "Kettle"),
    ("rfc2616", "rfc2616.txt", ""),
    ("sp800-63b__sec4", "sp800-63b__sec4.md", ""),
    ("sp800-63b__sec5", "sp800-63b__sec5.md", ""),
]
DOCUMENTS = [
    StoredDocument(doc_id, f"/docs/{file}", "", "", "", title, 1, 0, 1)
    for doc_id, file, title in FILES
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FIPS 203", ["NIST.FIPS.203"]),
        ("NIST FIPS 203.pdf", ["NIST.FIPS.203"]),
        ("PEP 8", ["pep-0008"]),
        ("pep8", ["pep-0008"]),
        ("the PEP 8 style guide", ["pep-0008"]),
        ("the Zen of Python", ["pep-0020"]),
        ("the Python style giude", []),
        ("the stlye guide", []),
        ("Encapsulaton Mechanism", ["NIST.FIPS.203"]),
        ("RFC 2616", ["rfc2616"]),
        ("the document rfc2616.txt", ["rfc2616"]),
        ("the kettle", ["kettle"]),
        ("a kettle", ["kettle"]),
        ("a style guide", []),
        ("the guide", []),
        ("Python", []),
        ("FIPS 204", []),
        ("the main arguments against PEP 8", []),
        ("section 4 of FIPS 203", []),
        ("SP 800-63B", ["sp800-63b__sec4", "sp800-63b__sec5"]),
        ("", []),
        ("?", []),
        ("9" * 5000, []),
    ],
)
def test_a_name_fits_titles_ids_and_files(name, expected):
    """Numbers count without zeros; a slip in a long word is allowed, another word is not."""
    assert [document.doc_id for document in find_named(name, DOCUMENTS)] == expected


def test_a_line_that_names_a_document_without_a_title():
    """Its words recur, and those of the topic do not count."""
    head = ["REPORTS OF THE COURT\n23 May\nDOE v. ROE\nDoe sued Roe.", "Doe and Roe met in court."]

    assert find_title_line(head, {"court", "report"}) == "DOE v. ROE"
    assert find_title_line(["nothing here looks like one"]) == ""
