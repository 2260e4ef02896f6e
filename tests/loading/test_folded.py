"""Web pages with parts that fold: what stands above a part is kept, and so is the part itself."""

import pytest

INTRODUCTION = "The pool is open from nine to five, and closes at noon before a holiday. " * 4
QUESTIONS = [f"May I swim in pool {number}?" for number in (1, 2, 3)]
FOLDED = {
    "summary": "<details><summary>{question}</summary><p>Only in July.</p></details>",
    "button in a heading": (
        "<h2><button class='b' aria-expanded='false' aria-controls='p{number}'>{question}</button>"
        "</h2><div id='p{number}' class='collapse'><p>Only in July.</p></div>"
    ),
    "hidden part": (
        "<h3><button aria-controls='p{number}'>{question}</button></h3>"
        "<div id='p{number}' hidden><p>Only in July.</p></div>"
    ),
    "button alone": (
        "<button aria-controls='p{number}'>{question}</button>"
        "<div id='p{number}' style='display: none'><p>Only in July.</p></div>"
    ),
    "button by its class": "<button class='accordion'>{question}</button><p>Only in July.</p>",
}


def page(body):
    return (
        f"<html><head><title>Pool</title></head><body><main><p>{INTRODUCTION}</p>{body}</main>"
        "</body></html>"
    )


@pytest.mark.parametrize("form", FOLDED)
def test_a_question_stands_above_its_answer(load_one, form):
    """Each in its order."""
    parts = (
        FOLDED[form].format(question=question, number=number)
        for number, question in enumerate(QUESTIONS)
    )
    document = load_one("a.html", page("".join(parts)))

    told = [line for line in document.text.splitlines() if line and "nine" not in line]
    asked = [line for question in QUESTIONS for line in (question, "Only in July.")]
    assert (told, document.hidden) == (asked, 0)


def test_a_table_in_a_part_is_kept(load_one):
    """With what stands above it, though that is no question."""
    table = "<table><tr><th>Item</th><th>Fee</th></tr><tr><td>Lock</td><td>12</td></tr></table>"
    text = load_one("a.html", page(f"<details><summary>Fees</summary>{table}</details>")).text
    assert text.endswith("Fees\n\nItem | Fee\nLock | 12")


@pytest.mark.parametrize(
    "control",
    [
        "<button aria-controls='p'></button>",
        "<button aria-controls='p' hidden>More</button>",
        "<button aria-controls='p' aria-haspopup='menu'>More</button>",
        "<button aria-controls='q'>More</button>",
    ],
)
def test_what_a_reader_cannot_open_stays_hidden(load_one, control):
    """Without a text to click, or with one that is hidden itself, or a menu's, or another's."""
    document = load_one("a.html", page(f"{control}<div id='p' hidden><p>Swim at night.</p></div>"))
    assert ("night" in document.text, document.hidden > 0) == (False, True)


def test_each_tab_opens_a_panel(load_one):
    """Where the page does not say which; a panel without a tab is not opened."""
    tabs = "<ul><li role='tab'>npm</li><li role='tab'>Yarn</li></ul>"
    panels = "".join(
        f"<div role='tabpanel'{hidden}><p>Use {name} to install it.</p></div>"
        for name, hidden in (("npm", ""), ("yarn", " hidden"), ("rust", " hidden"))
    )
    document = load_one("a.html", page(tabs + panels))
    assert [name in document.text for name in ("npm", "yarn", "rust")] == [True, True, False]


def test_other_buttons_are_no_text(load_one):
    text = load_one("a.html", page("<button>Need help?</button><button>Send</button>")).text
    assert "help" not in text
    assert "Send" not in text


@pytest.mark.parametrize(
    "part",
    [
        "<h3><button aria-expanded='false'>Lost permits</button></h3><div hidden><p>{}</p></div>",
        "<h3><button aria-expanded='false'>Lost</button></h3><!-- a --><div hidden><p>{}</p></div>",
        "<div hidden='until-found'><h3>Lost permits</h3><p>{}</p></div>",
    ],
)
def test_a_part_that_a_click_or_a_search_opens_is_kept(load_one, part):
    """Also where the button does not name what it opens: that follows it."""
    said = "To replace a lost permit, pay the fee of 12 euros at the counter."
    assert said in load_one("a.html", page(part.format(said))).text


def test_each_tab_is_the_heading_of_its_panel(load_one):
    """Two panels may say different things in the same words."""
    tabs = "<div role='tablist'><a role='tab'>One</a><a role='tab'>Duo</a></div>"
    panels = "".join(
        f"<div role='tabpanel' hidden><p>Memory: {days} days</p></div>" for days in (28, 90)
    )
    document = load_one("a.html", page(tabs + panels))
    said = document.text.partition("One")[2]
    assert said.split() == ["Memory:", "28", "days", "Duo", "Memory:", "90", "days"]
