"""What a question asks for, and the statement that is chosen for it."""

import pytest

from esrag.evidence.statements import statements
from esrag.text.questions import find_core, read_question, read_sides
from esrag.verifying.drafts import to_evidence


@pytest.mark.parametrize(
    ("kind", "questions"),
    [
        ("definition", ["What is a relying party?", "In HTTP, what does idempotent mean?"]),
        ("definition", ["How does the scheduler work?", "What is meant by intent?"]),
        ("count", ["How many spaces are used?", "How long must a key be?", "What size is it?"]),
        ("count", ["What is the maximum line length?", "What share of the heap may it use?"]),
        ("time", ["When was it decided?", "In what year did it open?"]),
        ("who", ["Who wrote it?", "Which justice wrote the dissent?"]),
        ("place", ["Where is the harbour?"]),
        ("reason", ["Why is the lamp green?"]),
        ("yesno", ["Is email allowed?", "Can a response have a body?", "Doesn't it rain?"]),
        ("list", ["What are the four transformations?", "How do I install the plugin?"]),
        ("list", ["Which kinds of lamp are there?", "How is a key checked?"]),
        ("list", ["What severity levels does it have?", "Which metadata must it carry?"]),
        ("list", ["What are the steps for leaving?", "What were the logging levels?"]),
        ("list", ["Which operations make up a round?", "In which ways can it be signed?"]),
        ("list", ["What are guests not supposed to do here?", "Which date formats must it read?"]),
        ("definition", ["What exactly is a key?", "How does the law define income?"]),
        ("definition", ["When is a version called a final release?", "Explain replica selection."]),
        ("count", ["What should the limit be set to?", "What does the ticket cost?"]),
        ("other", ["What does the CSP do with it?", "Tell me of it."]),
        ("list", ["When a trustee reports it, what should the letter contain?"]),
        ("list", ["I forgot my key, what do I have to do?", "What should I try?", "E4 what to do"]),
        ("list", ["What does the person who signs it do, step by step?"]),
        ("list", ["Who decides in the project? List the people."]),
        ("count", ["I broke the licence. How many days do I have?"]),
        ("yesno", ["If I lose my key, can I get a new one?"]),
        ("definition", ["In U.S. tax law, what is residence?", "What does Dr. Fox call a lid?"]),
        ("time", ["When was it built, and what does it hold?"]),
        ("comparison", ["XBoard or WinBoard - on what systems does each one run?"]),
        ("comparison", ["T4 and T5, what oil does each burn?"]),
        ("comparison", ["How much more is it on a Sunday instead of a weekday?"]),
        ("comparison", ["What is the difference between PUT and POST?", "Is A better vs. B?"]),
        ("comparison", ["What sets A apart from B?", "Does A work differently for B than for C?"]),
        ("count", ["session secret minimum entropy bits", "dashboard port", "key size in bytes"]),
        ("list", ["What is POST used for?", "What was the loan spent on?"]),
        (
            "definition",
            ["What is entropy?", "In fencing, what is a parry?", "What counts as a lamp?"],
        ),
        ("count", ["At what usage does it stop?"]),
        ("count", ["What is the charge for a berth?", "What's the child fare on Route 2?"]),
        ("definition", ["What is the deposit?", "What is a penalty?"]),
        ("list", ["To compare two names, which rules are applied?"]),
        ("definition", ["What do sailors call the knot?", "What does Ada mean by knot?"]),
        ("definition", ["What does it mean when a lamp is lit?", "How does it define 'knot'?"]),
        ("count", ["What's the furthest it can go?", "What is a trustee paid?"]),
        ("count", ["Which version of the lamp is it?", "How much did it need in the comparison?"]),
        ("list", ["If there are two, in which order do they count?"]),
        ("list", ["Which methods are there to make a set from pages?"]),
        ("list", ["What is on the list for the market?", "What's in this box?"]),
        ("list", ["Which lamps can I compare it against?", "What has to be set up for it?"]),
        ("other", ["What happens when two programs write?", "What makes a lamp burn?"]),
        ("yesno", ["Is it harmless to change to a different oil?"]),
        ("list", ["What are the different modes of the lamp?"]),
        ("comparison", ["How is a lamp different from a lantern?", "What makes a lid different?"]),
        ("list", ["What are maintainers of the project allowed to do?"]),
        ("definition", ["We were told to get a lamp. What is that supposed to be?"]),
        ("list", ["They need a lamp. What is it used for?"]),
        ("other", ["What is the code for a reverse slant?", "sudoers restore old dump size"]),
        ("list", ["Which costs stay with us?", "Wich stuff may I bring along?"]),
        ("time", ["From what date is it closed?", "By when is it due?", "Until when can I go?"]),
        ("definition", ["What is the lid number good for?", "What on earth is a lid in a sale?"]),
        (
            "count",
            ["Whats the fee for a boat?", "Which limit is there for it?", "boat minimum charge"],
        ),
        ("other", ["session secret renewal", "x", "Wie hoch ist der Turm?", "?"]),
    ],
)
def test_the_kind_of_a_question(kind, questions):
    """By its words; what no rule knows is `other`."""
    assert {question: read_question(question).kind for question in questions} == dict.fromkeys(
        questions, kind
    )


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between PUT and POST?", [{"put"}, {"post"}]),
        ("How does a gateway differ from a proxy?", [{"gateway"}, {"proxi"}]),
        ("Is A1 compared with B2 slow?", [{"a1", "a", "1"}, {"b2", "b", "2", "slow"}]),
        ("What sets the old pot apart from the new one?", [{"old"}, {"new"}]),
        ("Does it work differently for tea than for ordinary ones?", [{"tea"}, {"ordinari"}]),
        ("How does a sweet key differ from a sour one?", [{"sweet"}, {"sour"}]),
        ("Compare tea with milk.", [{"tea"}, {"milk"}]),
        ("How does tea compare to milk?", [{"tea"}, {"milk"}]),
        ("Sweet versus salty tea: what keeps longer?", [{"sweet"}, {"salti"}]),
        ("What distinguishes tea from milk on Mars?", [{"tea"}, {"milk"}]),
        ("Tea or milk for my cake: which keeps longer?", [{"tea"}, {"milk"}]),
        ("Should I use tea or milk: how do they differ?", [{"tea"}, {"milk"}]),
        ("What does tea need that milk does not?", [{"tea"}, {"milk"}]),
        ("At sea: do tea and milk behave differently when warm?", [{"tea"}, {"milk"}]),
        ("How old may the root key be, compared to the web key?", [{"root"}, {"web"}]),
        ("Is tea kept longer in a jar or in a box?", [{"jar"}, {"box"}]),
        ("How did the price change from 2021 to 2022?", [{"2021"}, {"2022"}]),
        ("Where is tea cheaper, the port or the mill?", [{"port"}, {"mill"}]),
        ("Jar or box, which is tighter?", [{"jar"}, {"box"}]),
        ("Jar and box, what does each cost?", [{"jar"}, {"box"}]),
        ("How much more is tea instead of milk?", [{"tea"}, {"milk"}]),
        ("How do boil() and safe_boil() of the kettle differ?", [{"boil"}, {"safe_boil"}]),
        ("What is a gateway?", []),
        ("How do they compare?", []),
        ("How do I change the lamp from blue to red?", []),
        ("How many lamps are lit in winter and in spring?", []),  # two questions
    ],
)
def test_the_sides_of_a_comparison(question, sides):
    """Without the words that both sides share."""
    found = read_sides(question)
    assert len(found) == len(sides)
    assert all(want.intersection(have) for want, have in zip(sides, found, strict=True))


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        (
            "What is a relying party?",
            (
                "A relying party is needed by many. Users of a relying party log in there.\n\n"
                "Relying Party (RP): An entity that relies upon a verifier."
            ),
            "Relying Party (RP)",
        ),
        (
            "How long should the salt be?",
            "The salt should be stored apart from the hashes. The salt is at least 32 bits long.",
            "The salt is at least 32 bits",
        ),
        (
            "When was the harbour of Vennor opened?",
            "The harbour of Vennor opened with noise. The harbour of Vennor opened in 1907.",
            "The harbour of Vennor opened in 1907.",
        ),
        (
            "What is a tunnel?",
            (
                "   proxy\n      A program that asks for others.\n\n"
                "   tunnel\n      A program that passes on what it gets."
            ),
            "tunnel: A program that passes on",
        ),
        (
            "How many scroll contexts can be open?",
            (
                "- `max_open`: The number of scroll contexts that can be open. Default is 500.\n"
                "- `depth`: How deep scroll contexts can be. Default is 20."
            ),
            "`max_open`: The number of scroll contexts that can be open. Default is 500.",
        ),
    ],
)
def test_the_statement_that_fits_best(question, text, expected):
    """It has what the question asks for."""
    found = statements(question, to_evidence([text]))
    assert max(found, key=lambda one: one.fit).text.startswith(expected)


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("In curling, what is a crampit?", "What is a crampit?"),
        ("What is a late model, like ColBERT or ColPali?", "What is a late model?"),
        ("How much did it cost in 2020, according to the guide?", None),
        ("What did a lamp cost in 2020, according to the guide?", "What did a lamp cost in 2020?"),
        (
            "I want a lamp. Which lamp should I buy for a ship?",
            "Which lamp should I buy for a ship?",
        ),
        ("Which port does it use, 80 or 443?", None),
        ("What is a lamp?", None),
        ("By Monday, who won?", None),
        ("It stops with E-204. What does that mean?", "What is E-204?"),
        ('They sold me "wick oil" today. What\'s that?', "What is wick oil?"),
        ("The harbour wants leading lights. What are those?", "What is leading lights?"),
        ("There's a knob called flux for it. What does it influence?", "What is flux?"),
        ("It broke at sea. What is that?", None),
        ("They need a lamp. What does it cost?", None),
    ],
)
def test_the_core_of_a_question(question, core):
    """Without circumstances and examples, where the rest stands by itself."""
    assert find_core(question) == (core or question)
