"""Text of a PDF that a program painted out of order, as a reader sees it."""

import random

from fpdf import FPDF

from esrag.loading.painted import MAX_TEXTS, find_order

PROSE = (
    "The ferry leaves the",
    "harbour at noon, and",
    "it is back by six in",
    "the evening, as the",
)


def draw(*texts):
    """Paint texts in order: (left, top, text)."""
    page = FPDF()
    page.add_page()
    page.set_font("helvetica", size=11)
    for left, top, text in texts:
        page.text(left, top, text)
    return bytes(page.output())


def below(top, *lines, left=20):
    return [(left, top + 5 * number, line) for number, line in enumerate(lines)]


def test_words_that_were_painted_last_are_in_their_sentence(load_one):
    """So are links and emphasised words of pages that a browser prints."""
    page = draw((20, 20, "Crews"), (48, 20, "wear vests."), *below(30, *PROSE), (33, 20, "MUST"))
    text = "\n".join(("Crews MUST wear vests.", *PROSE))
    assert " ".join(load_one("a.pdf", page).text.split()) == " ".join(text.split())


def test_terms_that_were_painted_first_are_before_their_definitions(load_one):
    """Beside a float there is a wide gap, as beside the number of an item."""
    terms = [(20, 20, "Lid:"), (20, 50, "Oil:")]
    page = draw(*terms, *below(20, *PROSE, left=34), *below(50, *PROSE, left=34))
    lines = load_one("a.pdf", page).text.split("\n")
    assert [line for line in lines if ":" in line] == [f"Lid: {PROSE[0]}", f"Oil: {PROSE[0]}"]


def test_paragraphs_that_were_painted_last_are_in_their_place(load_one):
    page = draw(*below(20, *PROSE), *below(70, "The end."), *below(50, "$ ferry --leave"))
    text = load_one("a.pdf", page).text
    assert text.index("evening") < text.index("$ ferry") < text.index("The end.")


def test_columns_stay(load_one):
    """Also below a heading that was painted last."""
    columns = [*below(30, *(["left side"] * 9)), *below(30, *(["right side"] * 9), left=100)]
    text = load_one("a.pdf", draw(*columns, (20, 15, "On ferries"))).text
    assert text.index("right side") > text.rindex("left side")


def test_a_running_head_that_was_painted_last_is_no_table(load_one):
    """On a page that ends beside its left part, too."""
    heads = [(20, 10, "RFC 1"), (90, 10, "Ferries"), (160, 10, "May")]
    text = load_one("a.pdf", draw(*below(20, *PROSE * 3), (50, 90, "The end."), *heads)).text
    assert text.split("\n")[0].split() == ["RFC", "1", "Ferries", "May"]


def test_many_texts_take_little_time():
    """In rows, in columns, and on top of each other."""
    boxes = [
        (x * 20.0, y * 12.0, x * 20 + 18.0, y * 12 + 9.0) for x in range(50) for y in range(60)
    ]
    random.Random(1).shuffle(boxes)
    column = [(0.0, 12.0 * number, 9.0, 12.0 * number + 9) for number in range(MAX_TEXTS)]
    for each in (boxes, boxes[:1] * MAX_TEXTS, column):
        assert sorted(find_order(each)) == [*range(len(each))]
