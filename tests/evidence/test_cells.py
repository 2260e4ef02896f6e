"""A question for a cell gets that cell of that row, and nothing where it is not clear which."""

from dataclasses import replace

import pytest

from esrag.evidence import NO_DIRECT_ANSWER, SURE
from esrag.evidence.cells import answer_cells, is_cell_of
from esrag.evidence.statements import statements
from esrag.evidence.tables import Row
from esrag.records import Chunk, Evidence
from esrag.text import split_sentences
from esrag.verifying.support import support

SIZES = (
    "Table 3. Sizes (in bytes) of keys\n\n | encapsulation key | ciphertext\n"
    "ML-KEM-512 | 800 | 768\nML-KEM-768 | 1184 | 1088"
)
SHEETS = (
    "BALANCE SHEETS\n\nASSETS | 2021 | 2020\nCurrent assets:\nCash | $5 | $4\n"
    "Total current assets | 61 | 52\nTotal assets | $91 | $82"
)
BALANCE = (
    "Statements\n\nIn thousands | 2021 | 2020\nCash and cash equivalents | $16,058 | $5,993\n"
    "Accounts payable | $374 | $467\nTotal liabilities | 57,739 | 55,371\n"
    "Total liabilities and equity | $40,452 | $30,574\nChanges in liabilities:\n"
    "Accounts payable | 92 | (1,081)"
)
PERIODS = "\n\n".join(
    f"Segments\n\nCHF | January–June {year} Costs | January–June {year} Lamp costs"
    f" | January–June {year} Sales\n"
    f"Works of Health and Lamps | 7 | {lamps} | 30\nWater | 12 | {lamps + 3} | 40"
    for year, lamps in ((2023, 91), (2022, 81))
)
REGEX = (
    "Queries\n\nFeature | regex query | string query\n"
    "Matching | the whole field | any part of the field\nSpeed | slow | fast"
)
REPEATED = "\n\n".join(
    f"Table {n}\n\n{header} | 2021 | 2020\n{row}"
    for n, (header, row) in enumerate(
        (
            ("Operations", "Net income (loss) | 2,111 | (2,208)"),
            ("Equity", "Net income (loss) | $2,111 | $(2,208)"),
            ("Cash flows", "Net income (loss) | 2,111 | (2,208)"),
        )
    )
)
OPTIONS = (
    "Options\n\n | Number | Exercise Price\nOutstanding – December 31, 2020 | 2,982 | $1.08\n"
    "Exercised | (1,094) | $0.82\nOutstanding – December 31, 2021 | 1,935 | $1.33\n"
    "Exercisable – December 31, 2021 | 1,458 | $1.12"
)
DEBT = "As of 2021, our debt is due as follows:\n\nDecember 31, | Total\n2025 | $600\n2026 | $576"
PRICES = (
    "Prices\n\nQuarter Ended | 2021 High ($) | 2021 Low ($)\nSeptember 30, | 3.02 | 1.72\n"
    "December 31, | 3.70 | 2.70\nMarch 31, | 4.64 | 3.68"
)
IN_MILLIONS = "Segments\n\nIn millions of CHF | 2023 Sales | 2022 Sales\nZone NA | 12553 | 12138"
BERTHS = (
    "Berths of the harbour\n\n| Berth | Week fee | Depth |\n| --- | --- | --- |\n"
    "| Berth 1 at the north quay | 17 | 2.5 m |\n| Berth 17 at the north quay | 257 | 9.5 m |\n"
    "| Berth 17 at the south quay | 301 | 4.5 m |"
)
CODES = (
    "Codes\n\n| Code | Meaning | Cure |\n| --- | --- | --- |\n"
    "| E01 | no power | plug it in |\n| E02 | door open | close it |"
)
CLIENTS = (
    "Clients\n\n | 2021 Revenue | 2020 Revenue\nClient A | 26.1% | 21.5%\nRevenue | 7.5% | 6.5%"
)

BACK_IN_TIME = (
    "Prices\n\nQuarter Ended | 2021 High ($) | 2021 Low ($)\nDecember 31, | 4.64 | 3.68\n"
    "September 30, | 3.70 | 2.70\nJune 30, | 3.02 | 1.72\nMarch 31, | 2.11 | 1.02"
)
WEATHER = (
    "date: 2012/03/18; rain: 3.6; wind: 2.7\ndate: 2012/01/18; rain: 19.8; wind: 5.0\n"
    "date: 2013/01/18; rain: 0.4; wind: 1.9"
)


def evidence(text):
    """One passage with this text."""
    return (Evidence("c1", Chunk("d::p0001::c001", "d", 0, 0, len(text), 1, 1, text), 1.0),)


def answer(question, text):
    """The cells of one passage, after the check that every answer passes."""
    given = evidence(text)
    found = answer_cells(question, given, statements(question, given)).found
    chunks = [item.chunk for item in given]
    assert all(support(part, chunks) for _, said in found for part in split_sentences(said))
    return [said for _, said in found]


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        (WEATHER, "How much rain fell on 18 January 2012?", ["date: 2012/01/18, rain: 19.8"]),
        (WEATHER, "wind on Jan 18, 2013", ["date: 2013/01/18, wind: 1.9"]),
        (WEATHER, "How much rain fell on 18 January 2014?", []),
        # The date of a question may be a period's end, and that in a label another's.
        (OPTIONS, "What was the share-based compensation in the year ended December 31, 2021?", []),
        (
            SIZES,
            "How long is the ciphertext of ML-KEM-768?",
            ["ML-KEM-768, ciphertext: 1088 bytes"],
        ),
        (
            SIZES,
            "Which encapsulation key is longer, that of ML-KEM-512 or of ML-KEM-768?",
            [
                "ML-KEM-512, encapsulation key: 800 bytes",
                "ML-KEM-768, encapsulation key: 1184 bytes",
            ],
        ),
        (SHEETS, "What were the total assets in 2020?", ["Total assets, 2020: $82"]),
        (
            SHEETS,
            "What were the total current assets at the end of 2021?",
            ["Current assets: Total current assets, 2021: 61"],
        ),
        (
            OPTIONS,
            "What was the exercise price of the options outstanding at the end of 2021?",
            ["Outstanding – December 31, 2021, Exercise Price: $1.33"],
        ),
        (
            BALANCE,
            "How much cash was there at the end of 2020?",
            ["Cash and cash equivalents, 2020: $5,993 (in thousands)"],
        ),
        (
            BALANCE,
            "What were the total liabilities in 2021?",
            ["Total liabilities, 2021: 57,739 (in thousands)"],
        ),
        (
            BALANCE,
            "What were the accounts payable in 2020?",
            ["Accounts payable, 2020: $467 (in thousands)"],
        ),
        (
            BALANCE,
            "What was the change in accounts payable in 2020?",
            ["Changes in liabilities: Accounts payable, 2020: (1,081) (in thousands)"],
        ),
        (
            PERIODS,
            "How high were the lamp costs of Water in the first half of 2023?",
            ["Water, January–June 2023 Lamp costs: 94"],
        ),
        (
            PERIODS,
            "What were the costs (not the lamp costs) of Water in 2022?",
            ["Water, January–June 2022 Costs: 12"],
        ),
        (
            REGEX,
            "How do a regex query and a pattern in a string query differ in what they match?",
            ["Matching, regex query: the whole field; string query: any part of the field"],
        ),
        (REPEATED, "What was the net income in 2020?", ["Net income (loss), 2020: (2,208)"]),
        (DEBT, "How much of the debt is due in 2026?", ["December 31: 2026, Total: $576"]),
        (
            PRICES,
            "What was the highest price in the third quarter of 2021?",
            ["March 31, 2021 High ($): 4.64"],
        ),
        (
            BACK_IN_TIME,
            "What was the highest price in the third quarter of 2021?",
            ["September 30, 2021 High ($): 3.70"],
        ),
        (
            PRICES,
            "What was the low price of December 31 in 2021?",
            ["December 31, 2021 Low ($): 2.70"],
        ),
        (
            OPTIONS,
            "What number of options was exercised in 2021?",
            ["Exercised, Number: (1,094)"],
        ),
        (
            IN_MILLIONS,
            "What were the 2022 sales of Zone NA?",
            ["Zone NA, 2022 Sales: 12138 (in millions of CHF)"],
        ),
        (CLIENTS, "What share of revenue was Client A in 2020?", ["Client A, 2020 Revenue: 21.5%"]),
        (SHEETS, "Why did the total assets rise in 2020?", []),
        (
            CODES,
            "What should I do if I see E02?",
            ["Codes: Code: E02, Meaning: door open, Cure: close it"],
        ),
        (SHEETS, "May the total assets of 2020 be sold?", []),
        (
            BERTHS,
            "How deep is berth 17?",
            [
                "Berth 17 at the north quay, Depth: 9.5 m",
                "Berth 17 at the south quay, Depth: 4.5 m",
            ],
        ),
        (
            BERTHS,
            "How deep is berth 17 at the south quay?",
            ["Berth 17 at the south quay, Depth: 4.5 m"],
        ),
    ],
)
def test_the_cell_in_question(text, question, expected):
    """With the names of its row and column, its unit and its group of rows."""
    assert answer(question, text) == expected


KETTLES = "Kettle | litres | watts | cups\nAlpha | 1.7 | 2200 | 7\nBeta | 2.5 | 3000 | 9"


@pytest.mark.parametrize(
    "question",
    [
        "What is known of kettle Alpha?",
        "How many litres has kettle Gamma?",
        "Which kettle has 1.7 litres?",
    ],
)
def test_the_row_stays_whole(question):
    """If the question names no column, another row, or the cell itself."""
    assert answer(question, KETTLES) == []


def test_cells_are_told_from_other_texts():
    """The same cells give the same text, of one row only."""
    row = Row(cells=(("Kettle", "Alpha"), ("litres", "1.7"), ("watts", "2200"), ("cups", "7")))
    said = "Alpha, litres: 1.7; watts: 2200"
    assert answer("How many litres and watts has kettle Alpha?", KETTLES) == [said]
    assert is_cell_of(said, row)
    for other in (f"{said}0", "Beta, litres: 1.7", "Alpha, watts: 1.7", "Alpha", ""):
        assert not is_cell_of(other, row)


@pytest.mark.parametrize(
    ("question", "table", "said"),
    [
        (
            "How many calls were counted for 4-byte strings?",
            "bytes | calls | share\n1 | 18 | 2%\n4 | 151 | 9%",
            "bytes: 4, calls: 151",
        ),
        (
            "What kind of note does FAL2 call for?",
            "|FAL|Requirement|\n|---|---|\n|1|A note, signed|\n|2|A note, signed and sealed|",
            "FAL: 2, Requirement: A note, signed and sealed",
        ),
        (
            "Which updated a checkout quicker, bzr or hg?",
            "Tool | checkout | clone\nbzr | 39 s | 7 s\nhg | 17 s | 3 s\ngit | 5 s | 4 s",
            "bzr, checkout: 39 s / hg, checkout: 17 s",
        ),
        (
            "rewrite default",
            "Parameter | Use\nboost | Weight. Default is 1.\nrewrite | Score. Default is constant.",
            "Page: Parameter: rewrite, Use: Score. Default is constant.",
        ),
    ],
)
def test_rows_are_named_by_numbers_sides_and_defaults(question, table, said):
    """A label that is a number is named with its header, and a default with its parameter."""
    assert " / ".join(answer(question, f"Page\n\n{table}")) == said


def test_a_named_cell_has_the_number_that_the_best_statement_lacks():
    """However little of the question the table has."""
    table = "Tool | Time | Space\nhg | 2:30 | 171 M\ngit | 2:54 | 134 M"
    text = f"Git needed the least space.\n\n{table}"
    question = "How much disk space did a git clone of Python need?"
    assert answer(question, text) == ["git, Space: 134 M"]


def test_a_cell_without_the_number_in_question_is_left_to_its_row():
    """The default stands in the description."""
    table = (
        "Field | Lamp kind | Description\n--- | --- | ---\n"
        "lamp.hours | storm_lamp | The number of hours it burns. Default is 20."
    )
    assert answer("How many lamp hours does a storm lamp burn at most?", table) == []
    assert answer("Which lamp kind has lamp hours?", table) == ["lamp.hours, Lamp kind: storm_lamp"]


def test_a_sentence_that_surely_says_yes_goes_before_a_row():
    """The row names the lamp, but not what may be done with it."""
    text = (
        "A wick may be cut with the A-128 lamp.\n\nLamp | Wick | Oil\nA-128 | 12 | 6\nA-64 | 9 | 5"
    )
    question = "Is it okay to cut the wick of the A-128 lamp down?"
    given = evidence(text)
    told = [replace(each, reading=SURE) for each in statements(question, given)]
    assert answer_cells(question, given, statements(question, given)).found
    assert answer_cells(question, given, told) == NO_DIRECT_ANSWER


def test_a_cell_of_no_or_another_year_is_not_named():
    """The question names its row and its column, but not the year that it is of."""
    text = "Lamp | Price per year\nstorm | 12\nspirit | 6"
    question = "What is the price per year of a storm lamp{}?"
    ways = [
        answer_cells(asked, given, statements(asked, given)).way
        for asked, given in (
            (question.format(""), evidence(text)),
            (question.format(" in 2026"), evidence(text)),
            (question.format(" in 2026"), evidence(text.replace("year", "year 2026"))),
        )
    ]
    assert ways == ["named", "row", "named"]


def test_a_header_does_not_tell_of_the_row_that_is_compared():
    """The plan "Max" is another row, whatever has a maximum."""
    table = "Plan | Data | Max. speed\nRed Lite | 30 | 10\nRed Max | 120 | 40"
    question = "Red Lite or Red Max - how do they differ in speed?"
    assert answer(question, table) in ([], ["Red Lite, Max. speed: 10", "Red Max, Max. speed: 40"])


def test_a_figure_stays_beside_a_dash():
    """The dash has no number, but its row has others, which nobody asked for."""
    header = "Part | Costs | Sales\nOther lamps |"
    tables = f"{header} 0 | 131\n\n{header} — | 140"
    said = ["Other lamps, Costs: 0", "Other lamps, Costs: —"]
    assert answer("What is the costs of other lamps?", tables) == said


def test_a_label_alone_does_not_make_a_row_the_answer():
    """A table of abbreviations does not say what else one of them has to do."""
    table = "Abbreviation | Term\nIdP | Identity Provider\nRP | Relying Party\nOTP | One-Time Code"
    text = f"Every token that an IdP sends holds metadata such as its issuer.\n\n{table}"
    assert answer("Which metadata have to be in every token that an IdP sends?", text) == []
    assert answer("What does IdP stand for?", text) == ["IdP, Term: Identity Provider"]


def test_a_shorter_label_does_not_outdo_the_row_in_question():
    """The label "whistle" is in the question as well, but its row is about steam."""
    table = (
        "| Part | Use | Earliest available version |\n| --- | --- | --- |\n"
        "| whistle | Tells of steam. | 2.12 |\n"
        "| siren_whistle_horn | Tells of fog with the siren of Bell Rock. | 2.9 |"
    )
    question = "earliest release with a fog whistle that uses the siren of Bell Rock"
    assert answer(question, table) == ["siren_whistle_horn, Earliest available version: 2.9"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("With what permissions is lampd installed?", None),
        ("Which mode is lampd installed with?", "lampd, Installed to: /usr/sbin; Mode: 700"),
        ("Where is the file lampd, which is installed to what folder?", None),
    ],
)
def test_what_no_column_is_named_after_is_left_to_the_row(question, said):
    """The column with another word of the question may not be the one that is asked for."""
    table = "File | Installed to | Mode\nlampd | /usr/sbin | 700\nlamprc | /etc | 600"
    assert answer(question, table) == ([said] if said else [])
