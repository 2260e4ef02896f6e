"""Habits of the code that no linter knows."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(path for folder in ("esrag", "workers") for path in (ROOT / folder).rglob("*.py"))
TREES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in FILES
}
MAX_FUNCTION = 40
IRREGULAR = re.compile(
    "begun|bound|bought|brought|built|caught|chosen|done|drawn|fed|found|given|"
    "gone|held|hidden|kept|known|laid|led|left|lost|made|meant|met|paid|said|"
    "seen|sent|shown|sought|spoken|spent|taken|taught|thrown|told|understood|won|"
    "worn|written"
)
ADJECTIVES = re.compile(
    "all|already|best|closest|current|dead|existing|few|first|free|last|live|native|near|nearest|"
    "new|next|not|one|other|plain|readable|sensible|sound|technical|top|unknown|unreadable|usable|"
    "waiting"
)


def nodes(*kinds):
    """Every node of these kinds, as (where, node)."""
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield f"{name}:{getattr(node, 'lineno', 0)}", node


def imported(tree):
    """The modules a file imports, dotted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def public(tree):
    """Public functions and classes of a file, and the public methods of public classes that are no
    one's override.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (
                    inner
                    for inner in node.body
                    if isinstance(inner, ast.FunctionDef) and inner.name[0] != "_"
                )


def test_functions_fit_a_screen():
    """No function is longer than 40 lines."""
    functions = nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    assert [
        where for where, node in functions if node.end_lineno - node.lineno >= MAX_FUNCTION
    ] == []


def test_public_names_have_docstrings():
    """Every public function, class and method says what it is."""
    bare = [
        f"{name}: {node.name}"
        for name, tree in TREES.items()
        for node in public(tree)
        if not ast.get_docstring(node)
    ]
    assert bare == []


def is_participle(word):
    """Return whether a word is a past participle; the verbs embed, feed and need are not."""
    return bool(IRREGULAR.fullmatch(word) or re.fullmatch(r"[a-z]+(?<!e)(?<!emb)ed", word))


def is_no_verb(word):
    """Return whether a word is a past participle or one of the adjectives that names began with."""
    return is_participle(word) or bool(ADJECTIVES.fullmatch(word))


def test_functions_are_named_by_verbs():
    """No public function or method begins with a past participle or an adjective.

    Properties are values.
    """
    functions = [
        (where, node)
        for where, node in nodes(ast.FunctionDef)
        if not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    nested = {
        inner
        for _, node in functions
        for inner in ast.walk(node)
        if isinstance(inner, ast.FunctionDef) and inner is not node
    }
    assert [
        f"{where}: {node.name}"
        for where, node in functions
        if node not in nested and is_no_verb(node.name.split("_")[0])
    ] == []


def test_participles_are_recognised():
    """By their ending or as irregular ones; names that begin with "_" have an empty first word."""
    assert all(map(is_participle, ["stored", "added", "found", "kept", "described"]))
    assert not any(map(is_participle, ["embed", "need", "store", "seed", "feed", "find", ""]))


def test_conditional_expressions_are_not_nested():
    """A chain of them is read from the inside; statements or a table are read in order."""
    assert [
        where
        for where, node in nodes(ast.IfExp)
        if sum(isinstance(inner, ast.IfExp) for inner in ast.walk(node)) > 1
    ] == []


def is_record(node):
    """Return whether a class is a dataclass or a named tuple."""
    return any(
        re.search(r"\b(dataclass|NamedTuple)\b", ast.unparse(part))
        for part in (*node.decorator_list, *node.bases)
    )


def test_records_of_many_fields_are_built_by_keyword():
    """Up to three values can be told apart by their order."""
    classes = [node for _, node in nodes(ast.ClassDef)]
    others = {node.name for node in classes if not is_record(node)}
    records = {node.name for node in classes} - others
    assert [
        f"{where}: {node.func.id}"
        for where, node in nodes(ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id in records and len(node.args) > 3
    ] == []


def test_nothing_is_called_utils():
    """A file is named for what it does."""
    assert [name for name in TREES if re.search(r"(utils?|helpers?|misc|common)\.py$", name)] == []


@pytest.mark.parametrize("name", [name for name in TREES if name.startswith("esrag/")])
def test_files_import(name):
    """Every file can be imported by itself, without its optional library and without a warning."""
    importlib.import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def test_only_the_command_line_prints():
    """Below `cli` and the workers' protocol nothing is written to the terminal."""
    calls = (
        (where, node.func) for where, node in nodes(ast.Call) if not where.startswith("esrag/cli/")
    )
    assert [
        where for where, func in calls if isinstance(func, ast.Name) and func.id == "print"
    ] == []


def test_nothing_runs_data():
    """No pickle, no eval and no exec: what is read is never run."""
    forbidden = {"pickle", "marshal", "shelve", "dill", "joblib"}
    assert [
        name
        for name, tree in TREES.items()
        for module in imported(tree)
        if module.split(".")[0] in forbidden
    ] == []
    calls = ((where, node.func) for where, node in nodes(ast.Call))
    assert [
        where for where, func in calls if isinstance(func, ast.Name) and func.id in {"eval", "exec"}
    ] == []


def test_esrag_never_imports_its_workers():
    """Workers are started as processes by name.

    Importing one would bring its limits or its libraries along.
    """
    files = {name: tree for name, tree in TREES.items() if name.startswith("esrag/")}
    assert [
        name
        for name, tree in files.items()
        for module in imported(tree)
        if module.startswith("esrag.workers")
    ] == []


def test_the_checks_see_the_code():
    """The lists above are over real files, not over an empty folder."""
    assert {"esrag/text/__init__.py", "esrag/chunking/cut.py"} <= TREES.keys()
