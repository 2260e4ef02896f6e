"""Rows with everything that their table says about them: caption, header, group."""

import pytest

from esrag.evidence.lines import lines

LABELLED = "Sizes of keys\n\n | 2021 | 2020\nA | 5 | 4\nB | 3"
GROUPED = (
    "BALANCE\n\nItem | 2021\nASSETS\nCurrent assets:\nCash | 5\n"
    "Total current assets | 6\nPlant | 9\n"
    "Preferred stock, 10 shares authorized;\nCommon stock | 2"
)
INTRODUCED = (
    "## Systems\n\nWe test on several. The following table lists them.\n\n"
    "System | Version\n:--- | :---\nWindows Server | 2019"
)
OF_VALUES = "Lives of assets:\n\nPatents | 4 - 20 years\nSoftware | 3 years"
BARRED = "| Part | Sizes |\n| --- | --- |\n| Seat | 3<br>4 |\n| Back | |"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LABELLED, ["Sizes of keys: A, 2021: 5, 2020: 4", "Sizes of keys: B, 2021: 3"]),
        (
            GROUPED,
            [
                "BALANCE: Current assets: Item: Cash, 2021: 5",
                "BALANCE: Current assets: Item: Total current assets, 2021: 6",
                "BALANCE: Item: Plant, 2021: 9",
                "BALANCE: Item: Common stock, 2021: 2",
            ],
        ),
        (
            INTRODUCED,
            ["The following table lists them: System: Windows Server, Version: 2019"],
        ),
        (
            OF_VALUES,
            ["Lives of assets: Patents: 4 - 20 years", "Lives of assets: Software: 3 years"],
        ),
        (BARRED, ["Part: Seat, Sizes: 3<br>4", "Part: Back"]),
        (
            "Rounds\n\nLock A | 4 | 10\nLock B | 6 | 12",
            ["Rounds: Lock A | 4 | 10", "Rounds: Lock B | 6 | 12"],
        ),
        ("It is red.\n\nA | B\nc | d", ["A: c, B: d"]),
        ("It is red.\n\n| | |\n|-|-|\n| Host | kiel |\n| Port | 22 |", ["Host: kiel", "Port: 22"]),
        ("| A | B |\n| - | - |\n| c | d\n| e | f |", ["A: c, B: d", "A: e, B: f"]),
        ("- first item\n\nA | B\nc | d", ["A: c, B: d"]),
        ("|A|B|C\n|-|-|-|\n|c|d|e|\n||f|g|", ["A: c, B: d, C: e", "A: c, B: f, C: g"]),
        ("| A | B |\n|-|-|\n| c | 5 |\n| | 6 |", ["A: c, B: 5", "B: 6"]),
        ("| A | B |\n|-|-|\n| c | d |\n| | |\n| e | f |", ["A: c, B: d", "A: e, B: f"]),
    ],
)
def test_rows_can_be_read_without_their_table(text, expected):
    """An empty cell over the labels counts as one, and a total ends its group.

    A row of words without a first cell is about that of the row above.
    """
    assert [line.text for line in lines(text) if line.row] == expected
