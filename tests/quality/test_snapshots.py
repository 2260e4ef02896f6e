"""Fixed questions over publications of NIST, asked with the preset cited-specs: the answers are
those of last time.

`python tests/quality/test_snapshots.py` writes snapshots/standards.json and standards.md anew; read
what changed before you keep it. The documents are no part of the repository: BEIR_DATA names the
folder that holds `docs/`. What the snapshots quote of them are works of the United States
government, in the public domain.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from esrag.citations import REFUSAL
from esrag.cli.output import pages
from esrag.text import sentence_spans

SNAPSHOTS = Path(__file__).with_name("snapshots")
FILES = ("pdf/NIST.FIPS.203.pdf", "pdf/NIST.FIPS.197.pdf", "md/nist-sp800-63b__sec4_aal.md")
# With int8, processors would differ in more than the last digits.
EXACT = {"ESRAG_EMBEDDING__PRECISION": "fp32"}
HITS = 5

QUESTIONS = (
    "What are the steps in Algorithm 2 SHAKE128?",
    "What is the size of the encapsulation key of ML-KEM-768?",
    "How does ML-KEM.KeyGen work?",
    "KeyGen",
    "Who won the 2018 World Cup?",
    "What is the size of the ciphertext of ML-KEM-1024?",
    "What is the decapsulation failure rate of ML-KEM-512?",
    "Which security category does ML-KEM-768 have?",
    "What is the value of k for ML-KEM-1024?",
    "What is the value of q in ML-KEM?",
    "What is the length of the shared secret key?",
    "What are the steps of Algorithm 17?",
    "What are the steps in Algorithm 7 SampleNTT?",
    "What does Algorithm 8 do?",
    "ML-KEM encapsulation",
    "How is an encapsulation key checked?",
    "May K-PKE be used as a stand-alone scheme?",
    "What must be done with intermediate values before an algorithm terminates?",
    "How many rounds does AES-256 have?",
    "Which key lengths does AES support?",
    "What are the four transformations of the round function of AES?",
    "How often must a subscriber reauthenticate at AAL2?",
    "After how many minutes of inactivity must a subscriber reauthenticate at AAL3?",
    "What is the size of the public key of ML-DSA-65?",
    "What are the steps in Algorithm 99?",
    "How is tea brewed?",
)

# Words that an answer has to hold, and where they stand.
ANSWERS = {
    "What are the steps in Algorithm 2 SHAKE128?": ("8: output ← out1‖", "NIST.FIPS.203", 28),
    "What is the size of the encapsulation key of ML-KEM-768?": (
        "ML-KEM-768, encapsulation key: 1184 bytes",
        "NIST.FIPS.203",
        48,
    ),
    "What is the size of the ciphertext of ML-KEM-1024?": (
        "ML-KEM-1024, ciphertext: 1568 bytes",
        "NIST.FIPS.203",
        48,
    ),
    "What is the decapsulation failure rate of ML-KEM-512?": (
        "ML-KEM-512, Decapsulation failure rate: 2^−138.8",
        "NIST.FIPS.203",
        24,
    ),
    "Which security category does ML-KEM-768 have?": ("security category 3", "NIST.FIPS.203", 23),
    "What is the length of the shared secret key?": ("256 bits", "NIST.FIPS.203", 56),
    "What are the steps of Algorithm 17?": ("3: return (𝐾, 𝑐)", "NIST.FIPS.203", 42),
    "What are the steps in Algorithm 7 SampleNTT?": ("17: return", "NIST.FIPS.203", 32),
    "May K-PKE be used as a stand-alone scheme?": (
        "shall not be used as a stand-alone",
        "NIST.FIPS.203",
        24,
    ),
    "How many rounds does AES-256 have?": (
        "AES-256, Number of Rounds (Nr): 14",
        "NIST.FIPS.197",
        18,
    ),
    "Which key lengths does AES support?": ("128, 192, or 256 bits", "NIST.FIPS.197", 29),
    "What are the four transformations of the round function of AES?": (
        "S-box",
        "NIST.FIPS.197",
        18,
    ),
    "How often must a subscriber reauthenticate at AAL2?": (
        "12 hours",
        "nist-sp800-63b__sec4_aal",
        1,
    ),
    "After how many minutes of inactivity must a subscriber reauthenticate at AAL3?": (
        "15 minutes",
        "nist-sp800-63b__sec4_aal",
        1,
    ),
}
OWN_PAGES = {"How does ML-KEM.KeyGen work?": 44, "KeyGen": 44}
ABSENT = (
    "Who won the 2018 World Cup?",
    "What is the size of the public key of ML-DSA-65?",
    "How is tea brewed?",
)

_PLACE = re.compile(r"(.+), pages? (\d+)(?:–(\d+))?")


def kept():
    """The snapshot, by question."""
    return {
        each["question"]: each
        for each in json.loads((SNAPSHOTS / "standards.json").read_text(encoding="utf-8"))
    }


def documents():
    """The files that are asked about; their absence skips, and fails where everything
    has to run.
    """
    files = [Path(os.environ.get("BEIR_DATA", "")).resolve() / "docs" / name for name in FILES]
    if missing := [file.name for file in files if not file.exists()]:
        reason = f"BEIR_DATA names no folder with docs/ and in it {missing[0]}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return files


def answered(files, folder):
    """What the command line says to each question, in a conversation that forgets after each."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")
    } | EXACT

    def esrag(*arguments, **others):
        command = [Path(sys.executable).with_name("esrag"), *arguments]
        return subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, check=True, **others
        )

    esrag("init", "cited-specs")
    esrag("ingest", *files)
    typed = "".join(f"{question}\n/explain\n/new\n" for question in QUESTIONS)
    return list(read(esrag("chat", "--json", input=typed).stdout))


def read(printed):
    """What is kept of each explained answer.

    Scores differ in their last digits between processors and are left out.
    """
    for said in map(json.loads, printed.splitlines()):
        if "hits" in said:
            kept = {key: said[key] for key in ("question", "answer", "reason")}
            cited = {each["key"]: place(each) for each in said["citations"]}
            yield kept | {"citations": cited, "hits": [place(hit) for hit in said["hits"][:HITS]]}


def place(found):
    """The document and the pages of a citation or a hit."""
    return f"{found['doc_id']}, {pages(found['start_page'], found['end_page'])}"


def readable(found):
    """The same for a reader."""
    yield "# Fixed questions over standards\n\n"
    yield (
        "Written by `python tests/quality/test_snapshots.py`; "
        "the quotations are from publications of NIST.\n"
    )
    for each in found:
        yield f"\n## {each['question']}\n\n> {each['answer']}\n"
        yield f"\nrefused: {each['reason']}\n" if each["reason"] else "\n"
        yield "".join(f"- [{key}] {where}\n" for key, where in each["citations"].items())
        yield f"\nhits: {'; '.join(each['hits'])}\n"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The answers of now, by question."""
    return {
        each["question"]: each
        for each in answered(documents(), tmp_path_factory.mktemp("standards"))
    }


@pytest.mark.quality
@pytest.mark.timeout(900)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answers_are_those_of_last_time(found, question):
    """Text, citations, the reason of a refusal, and where the best hits are."""
    assert found[question] == kept()[question]


def test_what_is_read_is_what_is_compared():
    """The page for a reader holds the same, and every question."""
    assert list(kept()) == list(QUESTIONS)
    assert (SNAPSHOTS / "standards.md").read_text(encoding="utf-8") == "".join(
        readable(kept().values())
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_keeps_the_contract(question):
    """A refusal and nothing else is without citations.

    Each sentence has its markers, and each marker a citation.
    """
    said = kept()[question]
    assert (said["answer"] == REFUSAL) == bool(said["reason"]) == (not said["citations"])
    markers = re.findall(r"\[(c\d+)\]", said["answer"])
    assert sorted(set(markers), key=lambda key: int(key[1:])) == list(said["citations"])
    *sentences, rest = re.split(r"(?:\[c\d+\])+ ?", said["answer"])
    assert [len(sentence_spans(sentence.strip())) for sentence in sentences] == [1] * len(sentences)
    assert rest == (REFUSAL if said["reason"] else "")


@pytest.mark.parametrize("question", ANSWERS)
def test_the_answer_stands_on_its_page(question):
    """The words that answer it are in the answer, and a citation has the page that holds them."""
    words, document, page = ANSWERS[question]
    assert words in kept()[question]["answer"]
    cited = [_PLACE.fullmatch(where) for where in kept()[question]["citations"].values()]
    assert any(
        each[1] == document and int(each[2]) <= page <= int(each[3] or each[2]) for each in cited
    )


@pytest.mark.parametrize("question", OWN_PAGES)
def test_the_own_page_comes_first(question):
    """An algorithm's page before those that speak of it."""
    assert kept()[question]["hits"][0] == f"NIST.FIPS.203, page {OWN_PAGES[question]}"


@pytest.mark.parametrize("question", ABSENT)
def test_what_is_not_there_is_refused(question):
    """Though many of its words are."""
    assert kept()[question]["answer"] == REFUSAL


def write():
    """Writes the snapshots anew."""
    with tempfile.TemporaryDirectory() as folder:
        found = answered(documents(), folder)
    SNAPSHOTS.mkdir(exist_ok=True)
    (SNAPSHOTS / "standards.json").write_text(
        json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (SNAPSHOTS / "standards.md").write_text("".join(readable(found)), encoding="utf-8")


if __name__ == "__main__":
    write()
