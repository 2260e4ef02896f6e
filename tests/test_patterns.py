"""Every regular expression of the package takes a time that grows with its text, and no faster,
whatever the text is.

Documents, questions and a model's words are anybody's. The texts are made of each pattern's own
parts: what it repeats, without an end; its beginning, again and again; two of its parts in turn;
blanks; and at the end a character that fits nothing, so that all ways to match are tried. The
slowest of a thousand characters are tried at ten thousand, and the slowest of those at a hundred
thousand.
"""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from re import _constants as kinds
from re import _parser as parser

import pytest
from bounded import LateError, limited

import esrag

ROOT = Path(__file__).resolve().parents[1]
METHODS = "search|match|fullmatch|sub|subn|split|findall|finditer"
USED = re.compile(rf"\b(\w+)(?=(?:\(\))?\.({METHODS})\b)")  # a name, and a method of its pattern
# Characters, and how many of the slowest texts go on.
ROUNDS = ((1_000, 8), (10_000, 2), (100_000, 0))
CPU_S = (
    4.0  # for 100,000 characters: what is linear takes at most a second, what is quadratic a minute
)
# Of a function: half of them in half of the time, so that what is quadratic has a fourth of it.
TEXT_CHARACTERS, FUNCTION_CPU_S = 50_000, CPU_S / 2
UNFIT = "\x01"
MAX_PARTS = 10
OPENING = (
    "esrag.loading.sources",
    "esrag.loading.object_stores",
    "esrag.loading.files",
    "esrag.loading.reading",
)
PIECES = [
    *(
        "a",
        " ",
        "\n",
        ".",
        "([",
        ")",
        "a\u0301\u0316",
        "1,",
        "1.",
        '"',
        "“a ",
        "A. ",
        "| ",
        "- x\n",
        "# a\n",
    ),
    *(
        "[c1] ",
        "a [c",
        "not ",
        "12 kg ",
        "Mr. A ",
        "a:",
        "a, and ",
        "Algorithm 1 ",
        "ML-KEM-768 ",
        "<b>",
        "http://",
    ),
]


def modules():
    """The package's modules, without those that start a program."""
    for found in pkgutil.walk_packages(esrag.__path__, "esrag."):
        if found.name.endswith((".app", ".__main__")):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:
            if (error.name or "").startswith("esrag"):  # else an extra that is not installed
                raise


def uses_of(text):
    """The methods that a source uses a pattern with, by the pattern's name."""
    uses = defaultdict(set)
    for name, method in USED.findall(text):
        uses[name].add(method)
    return uses


def held(value, depth=3):
    """The patterns in a value."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from held(item, depth - 1)
    elif depth and isinstance(value, dict):
        yield from held(list(value.values()), depth)
    elif depth and isinstance(value, type) and value.__module__.startswith("esrag"):
        yield from held(list(vars(value).values()), 1)
    elif hasattr(value, "cache_info") and not inspect.signature(value).parameters:
        yield from held(value(), 1)


def written(tree):
    """The patterns that are written where they are used, and how."""
    for call in ast.walk(tree):
        match call:
            case ast.Call(
                func=ast.Attribute(ast.Name("re"), method),
                args=[ast.Constant(str() | bytes() as text), *rest],
            ):
                named = {word.arg: word.value for word in call.keywords}
                given = named.get("flags", rest[-1] if rest else None)
                flags = 0
                for flag in ast.walk(given) if given is not None else ():
                    if (
                        isinstance(flag, ast.Attribute)
                        and isinstance(flag.value, ast.Name)
                        and flag.value.id == "re"
                    ):
                        flags |= getattr(re, flag.attr)
                yield re.compile(text, flags), method


def collected():
    """Every pattern, by its text and flags: where it is, and the methods that it is used with."""
    sources = {
        path: path.read_text()
        for top in ("esrag", "workers")
        for path in (ROOT / top).rglob("*.py")
    }
    everywhere = uses_of("\n".join(sources.values()))
    found = {}

    def note(pattern, name, methods):
        known = found.setdefault((pattern.pattern, pattern.flags), (name, pattern, set()))
        known[2].update(methods)

    for module in modules():
        own = uses_of(Path(module.__file__).read_text())  # a private name is its module's own
        for name, value in list(vars(module).items()):
            uses = (own if name.startswith("_") else everywhere).get(name, {"search", "fullmatch"})
            for pattern in held(value):
                note(pattern, f"{module.__name__}.{name}", uses)
    for path, text in sources.items():
        for pattern, method in written(ast.parse(text)):
            if method != "compile":
                note(pattern, f"{path.relative_to(ROOT)} {pattern.pattern!r}", {method})
            elif (pattern.pattern, pattern.flags) not in found:
                note(
                    pattern,
                    f"{path.relative_to(ROOT)} {pattern.pattern!r}",
                    {"search", "fullmatch"},
                )
    return sorted(found.values(), key=lambda one: one[0])


FOUND = collected()


def fitting(nodes) -> str:
    """A short text that fits a part of a pattern, as far as that can be told without its
    look-arounds.
    """
    return "".join(itertools.chain.from_iterable(map(_fitting, nodes)))


def _fitting(node) -> Iterable[str]:
    match node:
        case (kinds.LITERAL, code):
            yield chr(code)
        case (kinds.NOT_LITERAL, code):
            yield "x" if code != ord("x") else "y"
        case (kinds.ANY, _):
            yield "x"
        case (kinds.IN, members):
            yield members_of(members)[0]
        case (kinds.BRANCH, (_, choices)):
            yield fitting(choices[0])
        case (kinds.SUBPATTERN, (_, _, _, inner)) | (kinds.ATOMIC_GROUP, inner):
            yield fitting(inner)
        case (kinds.MAX_REPEAT | kinds.MIN_REPEAT | kinds.POSSESSIVE_REPEAT, (least, _, inner)):
            yield fitting(inner) * min(max(least, 1), 50)


def members_of(members) -> list[str]:
    """Some characters of a class."""
    classes = {
        kinds.CATEGORY_DIGIT: "7",
        kinds.CATEGORY_SPACE: " \n",
        kinds.CATEGORY_WORD: "a",
        kinds.CATEGORY_NOT_DIGIT: "a",
        kinds.CATEGORY_NOT_SPACE: "a",
        kinds.CATEGORY_NOT_WORD: ".",
    }
    taken = ""
    for kind, value in members:
        match kind:
            case kinds.LITERAL:
                taken += chr(value)
            case kinds.RANGE:
                taken += chr(value[0])
            case kinds.CATEGORY:
                taken += classes.get(value, "")
    if members and members[0][0] is kinds.NEGATE:
        return [letter for letter in "x |.1-(\n" if letter not in taken] or ["\u2603"]
    return list(dict.fromkeys(taken)) or ["x"]


def parts_of(nodes):
    """Texts that fit the parts of a pattern, small ones and large ones, and what it looks for
    around them.
    """
    for position, node in enumerate(nodes):
        yield "".join(_fitting(node))
        match node:
            case (kinds.IN, members):
                yield from members_of(members)[:6]
            case (kinds.BRANCH, (_, choices)):
                for choice in choices[:12]:
                    yield from parts_of(choice)
            case (
                (kinds.SUBPATTERN, (_, _, _, inner))
                | (kinds.ATOMIC_GROUP, inner)
                | (kinds.ASSERT, (_, inner))
            ):
                yield from parts_of(inner)
            case (kinds.ASSERT_NOT, (_, inner)):
                yield from parts_of(inner)
            case (kinds.MAX_REPEAT | kinds.MIN_REPEAT | kinds.POSSESSIVE_REPEAT, (_, _, inner)):
                yield from parts_of(inner)
                yield fitting(nodes[:position])  # all that comes before what is repeated


def hostile(pattern):
    """Recipes for texts of any length: how one starts, what it repeats, and how it ends."""
    is_text = isinstance(pattern.pattern, str)
    text = pattern.pattern if is_text else pattern.pattern.decode("latin-1")
    tree = parser.parse(text, pattern.flags & ~(re.DEBUG if is_text else re.UNICODE))
    whole = fitting(tree)
    parts = [part for part in dict.fromkeys([*parts_of(tree), whole, " ", "\n", "a", "1"]) if part]
    small = sorted(parts, key=len)[:MAX_PARTS]

    for repeated in dict.fromkeys(
        [*parts, *(one + other for one, other in itertools.permutations(small, 2))]
    ):
        yield "", repeated, UNFIT
    for repeated in small:
        for start in {whole[: len(whole) // 2], whole, parts[0]}:
            yield start, repeated, UNFIT


def use(pattern, method, text):
    """Uses a pattern as the package does."""
    subject = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
    if method in ("sub", "subn"):
        pattern.sub(subject[:0], subject)
    elif method == "finditer":
        for _ in pattern.finditer(subject):
            pass
    else:
        getattr(pattern, method)(subject)


def slowest(pattern, method):
    """The recipe and length of a text that takes a pattern too long, or nothing."""
    recipes = list(hostile(pattern))
    for length, go_on in ROUNDS:
        times = []
        for recipe in recipes:
            start, repeated, end = recipe
            text = start + repeated * (length // len(repeated)) + end
            began_s = time.process_time()
            try:
                with limited(CPU_S):
                    use(pattern, method, text)
            except LateError:
                return recipe, length
            times.append(time.process_time() - began_s)
        slow = sorted(range(len(recipes)), key=lambda number: -times[number])
        recipes = [recipes[number] for number in slow[:go_on]]
    return None


@pytest.mark.parametrize(
    ("name", "pattern", "methods"), FOUND, ids=[name[:80] for name, _, _ in FOUND]
)
def test_a_hostile_text_takes_linear_time(name, pattern, methods):
    """A hundred thousand characters of anything are done in well under four seconds of the
    processor.
    """
    assert not [
        (method, found) for method in sorted(methods) if (found := slowest(pattern, method))
    ]


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"\s+$", "<!--.*?-->x"])
def test_what_takes_longer_is_noticed(pattern, monkeypatch):
    """A nested repeat, a run that is entered anywhere, an end that is missing: known for it."""
    monkeypatch.setitem(globals(), "CPU_S", 0.5)
    assert slowest(re.compile(pattern, re.DOTALL), "search")


def functions():
    """The functions that read one text and no more, by name.

    Not those that open a file or an address of that name.
    """
    for module in modules():
        for name, function in vars(module).items():
            if not inspect.isfunction(function) or function.__module__ != module.__name__:
                continue
            needed = [
                it
                for it in inspect.signature(function).parameters.values()
                if it.default is it.empty
            ]
            if [it.annotation for it in needed] == [str] and not module.__name__.startswith(
                OPENING
            ):
                yield f"{module.__name__}.{name}", function


@pytest.mark.parametrize("piece", PIECES)
def test_a_function_takes_linear_time(piece):
    """Whatever is done with a text, there is nothing in it that takes for ever."""
    text, late = piece * (TEXT_CHARACTERS // len(piece)), []
    for name, function in functions():
        try:
            # What it says of such a text is not asked here.
            with limited(FUNCTION_CPU_S), suppress(Exception):
                found = function(text)
                if isinstance(found, Iterator):
                    deque(found, maxlen=0)
        except LateError:
            late.append(name)
    assert late == []


def test_every_pattern_is_found():
    """As many as the sources compile, or more."""
    compiled = sum(path.read_text().count("re.compile(") for path in (ROOT / "esrag").rglob("*.py"))
    assert len(FOUND) >= 0.95 * compiled > 0  # a few are written twice
