"""The pages on the systems name tests that exist and settings that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from esrag.settings import fields

TESTS = Path(__file__).parents[1]
PAGES = sorted((TESTS.parent / "docs" / "reference" / "systems").glob("*.md"))
ROWS = {
    f"{page.stem}: {rule}": cells
    for page in PAGES
    for rule, cells in re.findall(r"^\| ([^|]+) \|(.*)\|$", page.read_text(), re.MULTILINE)
    if "`" in cells
}


@cache
def listed_in(file):
    """The names of a file's tests."""
    tree = ast.parse((TESTS / file).read_text())
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_every_row_says_what_and_names_a_test():
    """None is empty, and none is missing."""
    lines = [
        line for page in PAGES for line in page.read_text().split("\n") if line.startswith("| ")
    ]
    assert len(ROWS) == len(lines) - 4 * len(PAGES)  # two tables, each with a header and a rule
    assert all(
        len(cells.split("|")) == 2 and cells.split("|")[0].strip() for cells in ROWS.values()
    )


@pytest.mark.parametrize("rule", ROWS)
def test_the_named_tests_exist(rule):
    """Each is in the file that is named, and the row has nothing but tests in its last cell."""
    named = ROWS[rule].split("|")[1].split()
    assert named
    for file, name in (test.strip("`").split("::") for test in named):
        assert name in listed_in(file)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_named_settings_exist(page):
    """By their dotted keys."""
    known = {key for key, _ in fields()}
    known |= {key.rpartition(".")[0] for key in known}
    named = set(re.findall(r"`([a-z]+(?:\.[a-z_]+)+)`", page.read_text()))
    assert named - {"esrag.yaml"} <= known
