"""Questions about the documents themselves, and those that only look like one."""

import pytest

from esrag.routing.document_questions import read_document_question


def found(question):
    """The route in short."""
    route = read_document_question(question)
    return route and (route.wanted or "summary", route.about)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which documents do you have?", ("list", "")),
        ("What files have you read?", ("list", "")),
        ("What is in this collection?", ("list", "")),
        ("What's in your index?", ("list", "")),
        ("What does the collection contain?", ("list", "")),
        ("What is this collection about?", ("list", "")),
        ("Please list all documents", ("list", "")),
        ("Show me the documents you have about tax", ("list", "tax")),
        ("Which documents from NIST do you hold?", ("list", "NIST")),
        ("Which document here walks me through a release?", ("list", "a release")),
        ("Could you list the available files?", ("list", "")),
        ("What are your sources?", ("list", "")),
        ("Which documents are in the corpus?", ("list", "")),
        ("Which documents are there?", ("list", "")),
        ("Which documents do you have about digital identity?", ("list", "digital identity")),
        ("Which Supreme Court cases are in the collection?", ("list", "Supreme Court cases")),
        ("Do you have anything on indentation?", ("list", "indentation")),
        ("Is there a document about kettles?", ("list", "kettles")),
        ("Are there any documents here about salt? Which ones?", ("list", "salt")),
        ("Which of these documents are about salt?", ("list", "salt")),
        ("Which files mention the swap space?", ("list", "the swap space")),
        ("How many documents do you have?", ("count", "")),
        ("How many PDF files are in your collection?", ("count", "")),
        ("How many documents are there in the collection?", ("count", "")),
        ("How big is the collection?", ("count", "")),
        ("How many pages does FIPS 203 have?", ("pages", "FIPS 203")),
        ("How many pages are there in handbook.pdf?", ("pages", "handbook.pdf")),
        ("How long is FIPS 203, in pages?", ("pages", "FIPS 203")),
        ("Page count of “FIPS 203”?", ("pages", "FIPS 203")),
        ("Summarise Cruz v. Arizona in a few sentences.", ("summary", "Cruz v. Arizona")),
        ("Can you please summarize PEP 8 briefly?", ("summary", "PEP 8")),
        ("Give me a short overview of FIPS 203", ("summary", "FIPS 203")),
        ("What is handbook.pdf about?", ("summary", "handbook.pdf")),
        ("What does PEP 8 cover?", ("summary", "PEP 8")),
        ("What are the main points of PEP 8?", ("summary", "PEP 8")),
        ("Give me the key takeaways from PEP 8 in one sentence", ("summary", "PEP 8")),
        ("Which of the documents are PDFs?", ("list", "")),
        ("Which documents are PDF files?", ("list", "")),
        ("Summary of the kettle manual in two sentences", ("summary", "the kettle manual")),
        ("Summarise PEP 334 in two or three sentences.", ("summary", "PEP 334")),
        ("Which documents in this collection are about salt?", ("list", "salt")),
        ("Which NIST documents are in this collection?", ("list", "NIST")),
        ("Which PEPs are in here?", ("list", "PEPs")),
    ],
)
def test_a_question_about_the_documents_is_recognised(question, expected):
    """With the topic or the name as it is written."""
    assert found(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Which documents count as identity evidence?",
        "Which documents do you have to submit with the form?",
        "What documents do you have on which the court relied?",
        "Are there documents on which the court relied?",
        "Which documents are required for enrolment?",
        "Which documents does the applicant have?",
        "What documents must be kept for five years?",
        "Which files does the build need?",
        "Which documents from the employer do you have to keep?",
        "Which files are in the boot partition?",
        "What is in the collection box?",
        "What is in the ciphertext?",
        "What does the header contain?",
        "What does a collection cost in Solr?",
        "How many documents may a batch have?",
        "How many documents are there in a patent family?",
        "How many documents does the applicant have to sign?",
        "How many files can be open at once?",
        "How many pages may a filing have?",
        "How many pages can be printed a minute?",
        "How many pages should a brief have at most?",
        "How many copies does FIPS 203 have?",
        "How long is a page?",
        "How large is the collection fee?",
        "List the documents required for IAL2",
        "List the files that the installer writes",
        "Show all warnings",
        "Which documents are required for IAL2?",
        "Name the authors of the document",
        "Do you have to indent with spaces?",
        "Do you have any questions?",
        "Is there a document fee?",
        "Are there documents that expire?",
        "What sources of entropy are there for a key?",
        "What is a summary judgment?",
        "What is the overview page for?",
        "Who wrote the summary?",
        "What was the case decided on?",
        "How do I write a summary?",
        "What database do you use for logs and why?",
        "Which Supreme Court cases are in the collection of the museum?",
        "Which library can you use to parse PDF files?",
        "Can you use tabs?",
    ],
)
def test_a_question_about_a_topic_goes_to_the_passages(question):
    """Though it has the same words."""
    assert read_document_question(question) is None


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which PDF documents do you have about salt?", "pdf"),
        ("Which documents are about the PDF standard?", ""),
        ("Which documents are about “the PDF standard”?", ""),
        ('Do you have anything on "word processing"?', ""),
    ],
)
def test_a_format_in_a_topic_is_no_format(question, form):
    """In quotes or without."""
    assert read_document_question(question).format == form


def test_a_pasted_text_is_no_question_about_documents():
    """A limit in characters."""
    assert read_document_question(f"Summarise {'this ' * 100}") is None
    assert read_document_question("Which PDFs do you have?").format == "pdf"
