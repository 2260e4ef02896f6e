"""Floors for answers and refusals on CLAPNQ's development set (597 passages of Wikipedia) with the
default settings.

The answers are deterministic, so a floor is fair; benchmarks/answers.py has the figures for three
collections. None is part of the repository: BEIR_DATA names the folder that holds `clapnq-dev/` and
`squad-v2-dev/`.
"""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from esrag.context import open_context
from esrag.pipeline import ask
from esrag.settings.layers import resolve
from esrag.verifying.verify import verify

QUESTIONS = 80  # of each kind
MIN_AUROC, MIN_GOLD_PASSAGES = 0.95, 0.85

pytestmark = [pytest.mark.quality, pytest.mark.timeout(900)]


def rows(collection, name):
    """A collection's rows; its absence skips, and fails where everything has to run."""
    path = Path(os.environ.get("BEIR_DATA", "")) / collection / name
    if not path.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            f"BEIR_DATA names no folder with {collection}/ in it"
        )
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Answers to questions that the passages answer, with the one that does, and to others about
    something else.
    """
    folder, gold = (
        tmp_path_factory.mktemp("clapnq"),
        {row["_id"]: row for row in rows("clapnq-dev", "answers.jsonl")},
    )
    corpus = Path(os.environ["BEIR_DATA"]) / "clapnq-dev" / "corpus.jsonl"
    subprocess.run(
        [Path(sys.executable).with_name("esrag"), "ingest", corpus, "--engine", folder], check=True
    )
    own = [row for row in rows("clapnq-dev", "queries.jsonl") if gold[row["_id"]]["answerable"]]
    others = rows("squad-v2-dev", "queries.jsonl")
    settings = resolve({"engine.url": str(folder), "answer.refusal": 0}, environ={}).settings
    context = open_context(settings)
    return {
        kind: [
            (ask(row["text"], context), gold.get(row["_id"]))
            for row in found[:: len(found) // QUESTIONS]
        ]
        for kind, found in (("own", own), ("others", others))
    }


def test_questions_about_other_documents_are_told_apart(asked, record_property):
    """By the confidence: how often that of a question which is answered is above that of one which
    is not.
    """
    pairs = product(
        (each.confidence for each, _ in asked["own"]),
        (each.confidence for each, _ in asked["others"]),
    )
    ranked = [(sure > unsure) + (sure == unsure) / 2 for sure, unsure in pairs]
    record_property("auroc", round(sum(ranked) / len(ranked), 4))
    assert sum(ranked) / len(ranked) >= MIN_AUROC


def test_the_gold_passage_is_cited(asked, record_property):
    """Of most answers, which have three sentences of several passages, one is of the passage that
    answers.
    """
    cited = [
        any(citation.doc_id.endswith(f"#{gold['doc']}") for citation in each.answer.citations)
        for each, gold in asked["own"]
    ]
    record_property("gold passages", sum(cited) / len(cited))
    assert sum(cited) / len(cited) >= MIN_GOLD_PASSAGES


def test_every_answer_passes_its_check_again(asked):
    """Each of them, right or wrong, is supported by what it cites, and cites what it was given.

    The parts of an answer to several questions stand on lines of their own.
    """
    answers = [each for found in asked.values() for each, _ in found if not each.answer.refused]
    assert len(answers) > QUESTIONS
    assert all(
        verify(each.text, each.evidence).text.split() == each.text.split() for each in answers
    )
