"""The page on the preset cited-specs names tests that exist and settings that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from esrag.settings import fields

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "reference" / "cited-specs.md").read_text()
ROWS = {
    rule: cells
    for rule, cells in re.findall(r"^\| ([^|]+) \|(.*)\|$", PAGE, re.MULTILINE)
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
    lines = [line for line in PAGE.split("\n") if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 4  # two tables, each with a header and a rule
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


def test_the_named_settings_exist():
    """By their dotted keys."""
    assert set(re.findall(r"`([a-z]+\.[a-z_]+)`", PAGE)) <= {key for key, _ in fields()}
