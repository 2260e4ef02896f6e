"""The tree of errors."""

import inspect
import re

from esrag import errors

_LINE = re.compile(r"^(?P<indent>[│ ]*)[├└]── (?P<name>\w+) .* exit (?P<code>\d)$", re.MULTILINE)


def drawn():
    """The drawing as {name: (parent, exit code)}; four columns are one level."""
    tree, parents = {}, ["EsragError"]
    for match in _LINE.finditer(errors.__doc__):
        level = len(match["indent"]) // 4
        tree[match["name"]] = (parents[level], int(match["code"]))
        parents[level + 1 :] = [match["name"]]
    return tree


def test_the_drawing_is_the_tree():
    """Every class is drawn under its base with its exit code, and nothing else is."""
    classes = [member for _, member in inspect.getmembers(errors, inspect.isclass)]
    actual = {
        cls.__name__: (cls.__base__.__name__, cls.exit_code)
        for cls in classes
        if cls is not errors.EsragError
    }
    assert drawn() == actual


def test_an_error_is_one_line_and_a_hint():
    """The message is the text, the hint is kept beside it, and the root exits with 1."""
    error = errors.EsragError("came this, allowed that", hint="do so")
    assert (str(error), error.hint, error.exit_code) == ("came this, allowed that", "do so", 1)
    assert errors.EsragError("came").hint == ""
