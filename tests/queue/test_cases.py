"""The table of faults names tests that exist, are run with the others of their kind, and say which
case they are.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "reference" / "faults.md").read_text()
MARK = "pytest.mark.faults"
ROWS = {
    int(number): cells for number, cells in re.findall(r"^\| (\d+) \|(.*)\|$", PAGE, re.MULTILINE)
}


@cache
def listed_in(file):
    """The tests of a file by name: what they say, and whether they carry the mark, alone or with
    the whole file.
    """
    tree = ast.parse((TESTS / file).read_text())
    of_all = [
        ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and is_mark(node)
    ]
    marks = {
        node.name: [*of_all, *map(ast.unparse, node.decorator_list)]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    said = {
        node.name: ast.get_docstring(node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    return {
        name: (said[name], any(MARK in mark for mark in marks[name]))
        for name in marks
        if name[:5] == "test_"
    }


def is_mark(node):
    """Whether an assignment is that of the file's marks."""
    return [ast.unparse(target) for target in node.targets] == ["pytestmark"]


def cases_of(said):
    """The numbers that a docstring names."""
    return {int(number) for number in re.findall(r"\b[Cc]ase\s+(\d+)", said)}


def named(cells):
    """The tests of a row, as (file, name)."""
    return re.findall(r"`([\w/]+\.py)::(\w+)`", cells.rpartition("|")[2])


def test_every_case_has_a_row_with_tests():
    """All 36, in order, each with what happens, what must come of it, and at least one test."""
    assert list(ROWS) == list(range(1, 37))
    assert [
        number for number, cells in ROWS.items() if not (named(cells) and all(cells.split("|")))
    ] == []


@pytest.mark.parametrize("case", ROWS)
def test_the_listed_in_a_case_are_there(case):
    """Each exists, carries the mark and names the case."""
    for file, name in named(ROWS[case]):
        said, marked = listed_in(file)[name]
        assert marked, name
        assert case in cases_of(said), name


def test_no_test_is_missing_in_the_table():
    """Who names a case is in its row."""
    files = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    found, listed = defaultdict(set), {case: set(named(cells)) for case, cells in ROWS.items()}
    for file in files:
        for name, (said, _) in listed_in(file).items():
            for case in cases_of(said):
                found[case].add((file, name))
    assert found == listed
