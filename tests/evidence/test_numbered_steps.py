"""Layout: what a PDF does to the steps of an algorithm, and what is left as it is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.evidence.numbered_steps import block, split_steps, steps

STIR = """Stirring is described by Algorithm 7 Pot.
Algorithm 7 Stir(pot, n)
Stirs a pot, calling
Algorithm 3 (see there) where it boils.
Input: a pot p of 5 litres.
1: turns ← 0
2: for (i ← 1; i ≤ n; i++)
3: turns ← turns + Turn(p,
i) ▷ one turn
4: end for
5: return turns
The pot may be hot afterwards.
Algorithm 8 Rest(pot)
1: wait 2: return pot"""

LAID_OUT = {
    "several steps on one line": (
        "1: a ← b 2: c ← d 3: return c",
        "1: a ← b\n2: c ← d\n3: return c",
    ),
    "one step over several lines": (
        "1: a ← f(b,\nc,\nd)\n2: return a",
        "1: a ← f(b, c, d)\n2: return a",
    ),
    "steps after a heading on the same line": (
        "Algorithm 4 Twice(x) Input: x 1: y ← x 2: return y",
        "Algorithm 4 Twice(x) Input: x\n1: y ← x\n2: return y",
    ),
    "steps after a heading after a sentence": (
        "Boil it. Algorithm 4 Twice(x) 1: y ← x 2: return y",
        "Boil it. Algorithm 4 Twice(x)\n1: y ← x\n2: return y",
    ),
    "a stray accent before a label": ("1: a\n̂ 2: b", "1: a\n̂ 2: b"),
    "a label behind the first words of its step": (
        "4: start\nzeta ← r 5: (i) mod q",
        "4: start\nzeta ← r 5: (i) mod q",
    ),
    "the rest of a call before the next label": ("4: f(a\n) 5: return", "4: f(a )\n5: return"),
    "labels in a column before their steps": (
        "1:\n2:\na ← b\nif a then\n3: stop\n4:\n5:\nb ← a\nreturn b\nProse.",
        "1: 2: a ← b if a then\n3: stop\n4: 5: b ← a return b\nProse.",
    ),
    "the middle of an algorithm": ("3: c 4: d\n\n5: e\nProse.", "3: c\n4: d\n5: e\nProse."),
    "brackets and comments after the last step": (
        "1: a\n2: f\n(b)\n▷ why\nProse.",
        "1: a\n2: f (b) ▷ why\nProse.",
    ),
    "indented steps": ("1: for all x\n2:     call f(x)", "1: for all x\n2:     call f(x)"),
    "a list under a heading": (
        "Algorithm 4 Twice(x)\n\nInput: x\n\n1. y ← x +\n   x\n2. return\n  y\n\nProse.",
        "Algorithm 4 Twice(x)\n\nInput: x\n\n1. y ← x + x\n2. return y\n\nProse.",
    ),
    "loops without numbers": (
        "i ← 0 for (j ← 0; j < 9; j++) call f(j)",
        "i ← 0\nfor (j ← 0; j < 9; j++) call f(j)",
    ),
}

LEFT_ALONE = {
    "prose": (
        "A ratio of 1: 2, at 10: 30, it stays for (as it was; once; again) one thing: "
        "another.\nIt goes on."
    ),
    "a numbered list of paragraphs": "1: Fill the pot.\n\nFill it to the mark.\n2: Boil it.",
    "rows of a table": "Table 3. Pots\npot litres\nA 1.7\nB 2: 3\n\nThe pots.",
    "rows with cells": (
        "1: pot | 2: litres\nA | 1.7\n| 1: a | 2: b |\nx | do for (i = 0; i < 3; i++) | y"
    ),
    "a paragraph or a row after the last step": "1: a\n2: b\n\n(Prose.)\n\n3: c\n4: d\n(e | f)",
    "a row between two labels": "1: pot\nA | 1.7\n2: lid",
    "one label alone": "12: noon\nand so on",
    "a ratio inside of a step": "1: mix 2: 3 parts\n2: stir",
    "a list": "Do this:\n1. Fill it\n  with water.\n2. Boil it.",
    "a list further down": "Algorithm 2 is known.\n1. Fill it\n  with water.\n2. Boil it.",
    "chapters": "See Chapter 1: Pots 2: Lids.",
}


@pytest.mark.parametrize("name", LAID_OUT)
def test_steps_stand_on_lines_of_their_own(name):
    """Each step is one line, from its label to its end, and what follows the last one
    stays below.
    """
    text, expected = LAID_OUT[name]
    assert split_steps(text) == split_steps(expected) == expected


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_is_no_algorithm_stays_as_it_is(name):
    """Numbers with a colon are everywhere; rows of tables stay rows."""
    assert split_steps(LEFT_ALONE[name]) == LEFT_ALONE[name]


def test_a_step_that_a_page_breaks_off_goes_on_but_a_page_of_prose_does_not():
    """A label after a blank line is the next step; a label a page further down is
    something else.
    """
    assert split_steps("1: a ←\n\n2: b 3: c") == "1: a ←\n2: b\n3: c"
    apart = "1: a\n" + "Much is said in between.\n" * 30 + "2: b"
    assert split_steps(apart) == apart


@given(
    st.text(alphabet="ab1234: |\n\t(;=)←▷.̂#", max_size=80)
    | st.lists(
        st.sampled_from(
            [
                "1:",
                "2:",
                "3:",
                "\n1. ",
                "\n2. ",
                "\n3) ",
                " ",
                "\n",
                "\n\n",
                "x",
                "f(",
                ")",
                "x ← y",
                "Algorithm 2 F",
                "for (i=0;i<n;i++)",
                "▷",
                " | ",
                ".",
            ]
        )
    ).map("".join)
)
def test_only_white_space_changes(text):
    """Every word and figure survives in its order, whatever the text is."""
    assert "".join(split_steps(text).split()) == "".join(text.split())


def said(text, number):
    """The steps on a line each."""
    return [" ".join(text[start:end].split()) for start, end in steps(text, number)]


def test_the_steps_are_those_under_the_heading():
    """From the first label to the last one's end, and no other algorithm's.

    A mention is no heading.
    """
    assert said(STIR, 7) == [
        "1: turns ← 0",
        "2: for (i ← 1; i ≤ n; i++)",
        "3: turns ← turns + Turn(p, i) ▷ one turn",
        "4: end for",
        "5: return turns",
    ]
    assert said(STIR, 8) == ["1: wait", "2: return pot"]
    assert said(STIR, 3) == said(STIR, 1) == []


def test_steps_end_at_the_next_heading():
    """Also where its numbers go on from them."""
    assert said("Algorithm 7 Stir\n1: a\nAlgorithm 8 Rest\n2: b", 7) == ["1: a"]


def test_a_block_reaches_from_the_heading_to_the_last_step():
    """With what stands between them, and nothing after it."""
    assert STIR[slice(*block(STIR, 7))].startswith("Algorithm 7 Stir(pot, n)\nStirs")
    assert STIR[slice(*block(STIR, 7))].endswith("\n5: return turns")
    assert block(STIR, 3) is None


def test_the_steps_are_the_same_after_the_layout():
    """It makes no difference which of the two comes first."""
    assert said(split_steps(STIR), 7) == said(STIR, 7)


def test_a_text_may_break_off_within_an_algorithm():
    """What is there is found; what goes on without its heading is nobody's."""
    broken = STIR.index("4: end")
    assert len(said(STIR[:broken], 7)) == 3
    assert said(STIR[broken:], 7) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Algorithm 7 Stir . . . . . . 12\nAlgorithm 8 Rest . . . . . . 14",
        "As Algorithm 7 says, stirring helps.\n1. Fill\n2. Stir",
        "Algorithm 7 is what one calls\n1: a thing 2: another",
        "The lid is put on by (Algorithm 7)\n1: lid 2: pot",
        "The lid is put on\n(Algorithm 7 Stir shows how)\n1: lid 2: pot",
        "Algorithm 7 Stir\n" + "Nothing but prose.\n" * 60 + "1: a\n2: b",
    ],
)
def test_a_mention_or_a_list_of_algorithms_has_no_steps(text):
    """Only a heading with its steps near below."""
    assert steps(text, 7) == ()


@pytest.mark.parametrize(
    "hostile",
    [
        "1: a" + " " * 200_000 + "2: b",
        "1:" + "\n" * 200_000 + "2: b",
        "1: 2:\n" * 3000,
        "1. a\n" * 20_000,
        "1: a\n2: b\n" * 30_000,
    ],
)
def test_hostile_texts_take_no_time(hostile):
    """White space without an end, and labels without an end."""
    started = time.perf_counter()
    split_steps(hostile)
    steps(f"Algorithm 1 F\n{hostile}", 1)
    assert time.perf_counter() - started < 15
