"""Only sentences that may come near the best are encoded, and those come out as if all were."""

from dataclasses import replace
from itertools import zip_longest

import numpy as np

from esrag.evidence import NEAR
from esrag.evidence.fits import FIRST, READ
from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence

QUESTION = "How long is the cable of the green kettle?"
FITTING = [f"The cable of the green kettle number {n} is {n} cm long." for n in range(FIRST)]
OTHER = [f"Toasters were sold in shop {n} only." for n in range(20)]
NEAREST = "The green one measures eighty."


class Encoder:
    """Gives each text a cosine with the question, and remembers what it was asked for."""

    def __init__(self, meanings):
        self.meanings, self.asked = meanings, []

    def __call__(self, texts):
        self.asked += texts
        cosines = np.array([1.0 if text == QUESTION else self.meanings(text) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


def evidence(texts, closeness=(0.6, 0.3)):
    """A passage for each ten texts, of which the first are as close to the question as told, the
    others unknown.
    """
    passages = [" ".join(texts[n : n + 10]) for n in range(0, len(texts), 10)]
    return [
        Evidence(
            f"c{n}",
            Chunk(
                chunk_id=f"d::p0001::c{n:03}",
                doc_id="d",
                ordinal=n,
                start=0,
                end=len(text),
                start_page=1,
                end_page=1,
                text=text,
            ),
            1 / n,
            closeness=close,
        )
        for n, (text, close) in enumerate(zip_longest(passages, closeness[: len(passages)]), 1)
    ]


def test_what_cannot_come_near_the_best_is_not_encoded():
    """The others have their whole fit."""
    given, encode = (
        evidence([*FITTING, *OTHER]),
        Encoder(lambda text: 0.7 if text in FITTING else 0.1),
    )

    found, whole = (statements(QUESTION, given, encode, whole=whole) for whole in (False, True))

    assert sorted(encode.asked[: FIRST + 1]) == sorted([QUESTION, *FITTING])
    assert encode.asked[FIRST + 1] == QUESTION, "the second time all of them are asked for"
    assert len(encode.asked) == 2 + FIRST + len(whole)
    assert found[:FIRST] == whole[:FIRST]
    assert all(
        few.fit <= all_.fit < NEAR * found[0].fit
        for few, all_ in zip(found[FIRST:], whole[FIRST:], strict=True)
    )


def test_what_may_come_near_the_best_is_encoded_too():
    """A sentence with fewer of the question's words that means what it asks."""
    some = [f"The cable of kettle number {n} was sold in {n} shops." for n in range(FIRST)]
    encode = Encoder(lambda text: 0.5 if text == NEAREST else 0.1 if text in some else 0.05)
    given = evidence([*some, *OTHER, NEAREST])

    found, whole = (statements(QUESTION, given, encode, whole=whole) for whole in (False, True))

    assert found[-1] == whole[-1]
    assert found[-1].text == NEAREST
    assert found[-1].fit >= NEAR * max(statement.fit for statement in found)


def test_where_no_vector_was_searched_any_passage_may_be_near():
    """So nothing is left out for its passage's sake.

    Of passages beside known ones, the farthest says enough.
    """
    texts, meant = [*OTHER, NEAREST], Encoder(lambda _: 0.0)
    statements(QUESTION, evidence(texts, ()), meant)
    assert len(meant.asked) == 1 + len(texts)
    asked = []
    for closeness in ((0.6, 0.2), (0.6, 0.2, 0.2), (0.6, 0.2, 0.6)):
        meant.asked.clear()
        statements(QUESTION, evidence(texts, closeness), meant)
        asked.append([*meant.asked])
    assert asked[0] == asked[1] != asked[2]


class Reader:
    """Scores texts with a word highly, the others badly, and remembers what it was given."""

    def __init__(self, word):
        self.word, self.given = word, []

    def __call__(self, question, texts):
        self.given += texts
        return np.array([8.0 if self.word in text else -8.0 for text in texts])


def test_the_reader_gets_the_best_statements_and_moves_their_fits():
    """What it finds is the best; what it did not read fits no better than the worst that it did."""
    given, read = evidence([*FITTING, *OTHER]), Reader("number 4 ")
    encode = Encoder(lambda text: 0.7 if text in FITTING else 0.1)
    found = statements(QUESTION, given, encode, read)

    assert len(read.given) == READ
    assert max(found, key=lambda one: one.fit).text == FITTING[4]
    assert {one.reading for one in found} == {8.0, -8.0, None}
    worst = min(one.fit for one in found if one.reading is not None)
    assert all(one.fit <= worst for one in found if one.reading is None)


def test_the_reader_is_told_title_and_headings():
    """Each once, before the statement; a heading is cut."""
    (item,) = evidence(["The cable is 80 cm long."], closeness=(0.6,))
    chunk = replace(item.chunk, title="Kettle", section="Manual > " + "Size " * 40)
    read = Reader("cable")
    statements(QUESTION, [replace(item, chunk=chunk)], Encoder(lambda _: 0.5), read)
    assert read.given == [f"Kettle: {('Size ' * 40)[:80]}: The cable is 80 cm long."]


def test_words_alone_are_not_read():
    """Without an encoder nothing is, even if there is a reader."""
    read = Reader("cable")
    found = statements(QUESTION, evidence(FITTING), None, read)
    assert (read.given, {one.reading for one in found}) == ([], {None})
