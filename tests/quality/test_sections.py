"""Section and page of 60 passages of long public documents, looked up in their pages by hand.

Twelve each of the FedRAMP guides, FIPS 203, FIPS 197, a handbook for trustees (whose format has no
pages) and four opinions of the Supreme Court; `sections.jsonl` has the beginning of each passage's
sentence. The documents are not part of the repository: BEIR_DATA names the folder with `docs/`.
"""

import json
import os
import re
from pathlib import Path

import pytest

import esrag

PASSAGES = [
    json.loads(line)
    for line in Path(__file__).with_name("sections.jsonl").read_text(encoding="utf-8").splitlines()
]
# The one page of this dissent has a running head of its own, which a single page cannot show.
MISSED = ["Respectfully, I would dismiss this case as improv"]

pytestmark = [pytest.mark.quality, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def chunks(tmp_path_factory):
    """The chunks of the documents by file, with the preset for long documents."""
    docs = Path(os.environ.get("BEIR_DATA", "")).resolve() / "docs"
    files = [docs / name for name in sorted({passage["source"] for passage in PASSAGES})]
    if not all(file.exists() for file in files):
        reason = "BEIR_DATA names no folder with docs/ in it"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)

    settings = {"embedding.model": "none", "summaries.of": "nothing"}
    folder = tmp_path_factory.mktemp("sections")
    with esrag.open(folder, preset="hierarchical", settings=settings) as index:
        index.ingest(*files)
        by_id = {
            each.doc_id: str(Path(each.source).relative_to(docs)) for each in index.documents()
        }
        found = {source: [] for source in by_id.values()}
        for chunk in index.chunks():
            found[by_id[chunk.doc_id]].append(chunk)
    return found


def words(text):
    """The letters and figures, as marks and line ends differ."""
    return re.sub(r"\W+", "", text)


def holds(chunk, passage):
    """Whether a chunk has the passage's beginning, and its page."""
    page = passage["page"]
    is_there = page is None or chunk.start_page <= page <= chunk.end_page
    return is_there and words(passage["begin"]) in words(chunk.text)


def test_sections_and_pages_are_those_of_the_documents(chunks):
    """Page and section path of all but one."""
    missed = [
        passage["begin"]
        for passage in PASSAGES
        if words(passage["section"])
        not in [
            words(chunk.section) for chunk in chunks[passage["source"]] if holds(chunk, passage)
        ]
    ]
    assert (len(PASSAGES), missed) == (60, MISSED)
