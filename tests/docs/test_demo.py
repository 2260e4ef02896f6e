"""The demo runs, and fails where an expectation does not hold."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = re.findall(
    r'^(?:answered|refused) "([^"]+)"', (ROOT / "examples" / "demo.sh").read_text(), re.MULTILINE
)
KEYWORD_ONLY = {"ESRAG_EMBEDDING__MODEL": "none"}


def demo(folder, environment):
    """The demo's exit code and what it printed."""
    return subprocess.run(
        ["sh", "examples/demo.sh"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def vectors(tmp_path_factory):
    """A cache of vectors that all processes of the tests share: the second demo embeds no more."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return {"ESRAG_CACHE__URL": str(folder / "vectors.sqlite3")}


@pytest.mark.weights
@pytest.mark.usefixtures("real_model")
def test_the_demo_answers_two_questions_and_refuses_one(checkout, user, vectors):
    """Each question stands before its answer; what an earlier run left is gone."""
    (checkout / ".demo").mkdir()
    (checkout / ".demo" / "esrag").write_text("left behind")
    done = demo(checkout, user | vectors)

    assert done.returncode == 0, done.stdout + done.stderr
    places = [done.stdout.index(f"? {question}") for question in QUESTIONS]
    assert len(places) == 3
    assert places == sorted(places)
    assert done.stdout.count("\n[c") >= 2
    assert done.stdout.index("not found in provided docs") > places[-1]


@pytest.mark.live
@pytest.mark.weights
@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize("server", ["opensearch", "elasticsearch"])
def test_the_demo_runs_on_a_server(checkout, user, vectors, request, server):
    """The same two answers and the same refusal, with nothing but the address set, and no index in
    the folder.
    """
    engine = {"ESRAG_ENGINE__URL": request.getfixturevalue(server)}
    done = demo(checkout, user | vectors | engine)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout.count("\n[c") >= 2, (checkout / ".demo").exists()) == (True, False)


def test_the_demo_fails_where_an_answer_is_missing(checkout, user):
    """A refusal of what should be answered ends it at once."""
    done = demo(checkout, user | KEYWORD_ONLY | {"ESRAG_ANSWER__REFUSAL": "1"})

    assert done.returncode == 1
    assert "expected an answer, got exit code 3" in done.stderr


def test_the_demo_fails_where_a_refusal_is_missing(checkout, user):
    """A corpus that answers the foreign question is found out."""
    (checkout / "examples" / "demo" / "cup.txt").write_text(
        "France won the 2018 World Cup in Moscow.\n"
    )
    done = demo(checkout, user | KEYWORD_ONLY | {"ESRAG_ANSWER__REFUSAL": "0"})

    assert done.returncode == 1
    assert "expected a refusal with exit code 3, got 0" in done.stderr


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_docs_do_not_hold_the_questions(question):
    """A page that quotes a question would be the best passage for it."""
    assert [
        page.name for page in (ROOT / "docs").rglob("*.md") if question in page.read_text()
    ] == []
