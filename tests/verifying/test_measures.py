"""Units, powers of ten and years: what a header says holds for its column, a caption for its table,
and no further.
"""

import pytest

from esrag.text.figures import uses
from esrag.verifying.drafts import to_evidence
from esrag.verifying.verify import verify

# As FIPS 203 has them on one page.
PARAMETERS = (
    "The sizes of the ML-KEM keys and ciphertexts for each parameter set are "
    "summarized in Table 3.\n\n"
    "Table 2. Approved parameter sets for ML-KEM\n𝑛 𝑞 𝑘 𝜂1 𝜂2 𝑑𝑢 𝑑𝑣 required RBG strength (bits)\n"
    "ML-KEM-512 256 3329 2 3 2 10 4 128\nML-KEM-768 256 3329 3 2 2 10 4 192\nML-KEM-1024 256 "
    "3329 4 2 2 11 5 256\n\n"
    "Table 3. Sizes (in bytes) of keys and ciphertexts of ML-KEM\n"
    "encapsulation key decapsulation key ciphertext shared secret key\n"
    "ML-KEM-512 800 1632 768 32\nML-KEM-768 1184 2400 1088 32\nML-KEM-1024 1568 3168 1568 32"
)
YEARS = (
    "City | 2023 Revenue | 2023 Cost | 2022 Revenue | 2022 Cost\nKiel | 57 | 31 | 44 | "
    "22\nJena | 61 | 33 | 43 | 21"
)
NAMED = (
    "City: Kiel; 2023 Revenue: 57; 2022 Revenue: 44\nCity: Jena; 2023 Revenue: 61; 2022 Revenue: 43"
)
BLOCKS = "2023\nCity | Revenue\nKiel | 57\nJena | 61\n2022\nCity | Revenue\nKiel | 44\nJena | 43"
GROUPS = "City | Revenue\nNorth\nKiel | 57\nSouth\nUlm | 44"
THOUSANDS = (
    "Table 1. Results (in thousands of dollars)\n\nItem | Amount | Staff\nSales | 1,250 "
    "| 12\nCosts | 900 | 5"
)
OVER_THOUSANDS = "Item | Amount ($ thousand) | Staff\nSales | 1,250 | 12\nCosts | 900 | 5"
SHARES = "Item | Share (%) | Count\nRed | 45 | 120\nBlue | 55 | 130"
LABELS = "Name | Value\nWeight (kg) | 12\nLength (m) | 3"
CACHES = "Cache | Size\nL1 | 64 KiB\nL2 | 512 KiB\n\nPart | Size (bytes)\nHeader | 7"
TITLED = "Sizes in bytes\nkind | key | text\nA | 1184 | 1088"
LED_TO = (
    "All sizes below are in bytes.\n\nkind | key | text\nA | 1184 | 1088\n\nkind | "
    "strength (bits)\nB | 192"
)
QUARTERS = (
    "Quarter ended | 2021 High | 2021 Low | 2020 High\nMarch 31, 2020 | 3.02 | 1.72 | 1.95\n"
    "June 30, 2020 | 3.70 | 2.70 | 1.36"
)
PROSE = (
    "In 2022 revenue was 4 million euros. In 2023 revenue was 5 million euros. "
    "A test takes 5 ms and costs 3 thousand dollars."
)


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        (PARAMETERS, "The encapsulation key of ML-KEM-768 has 1184 bits."),
        (PARAMETERS, "The ciphertext of ML-KEM-1024 has 1568 bits."),
        (PARAMETERS, "ML-KEM-768 requires an RBG strength of 192 bytes."),
        (PARAMETERS, "For ML-KEM-768, q is 3329 bits."),
        (YEARS, "In 2023 Kiel had revenue of 44."),
        (YEARS, "In 2022 the revenue of Kiel was 57."),
        (QUARTERS, "The 2021 high of March 31, 2020 was 3.70."),
        (QUARTERS, "The 2021 low of June 30, 2020 was 1.72."),
        (YEARS, "In 2023 the cost of Kiel was 57."),
        (YEARS, "In 2023 Jena had revenue of 57."),
        (NAMED, "In 2023 Kiel had revenue of 44."),
        (NAMED, "In 2023 Jena had revenue of 57."),
        (BLOCKS, "In 2023 Kiel had revenue of 44."),
        (BLOCKS, "The revenue of Kiel in 2022 was 57."),
        (THOUSANDS, "Sales were $1,250."),
        (THOUSANDS, "Sales were 1,250 dollars."),
        (OVER_THOUSANDS, "Sales were $1,250."),
        (OVER_THOUSANDS, "Sales were $1,250 million."),
        (OVER_THOUSANDS, "Sales had a staff of 12 dollars."),
        (SHARES, "The share of red is 45."),
        (SHARES, "45 people are red."),
        (SHARES, "Red has a count of 120 percent."),
        (LABELS, "The weight is 12 g."),
        (LABELS, "The length is 3 kg."),
        (CACHES, "The L1 cache has a size of 64 bytes."),
        (CACHES, "The header has a size of 7 KiB."),
        (TITLED, "The key of A has 1184 bits."),
        (LED_TO, "The key of A has 1184 bits."),
        (LED_TO, "The strength of B is 192 bytes."),
        (PROSE, "In 2023 revenue was 4 million euros."),
        (PROSE, "A test takes 5 seconds."),
        (PROSE, "A test costs 3 dollars."),
    ],
)
def test_a_number_in_another_measure_is_not_supported(text, draft):
    """Nor one of another year, column or row."""
    assert judged(text, draft).reason == "unsupported"


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        (PARAMETERS, "The encapsulation key of ML-KEM-768 has 1184 bytes."),
        (PARAMETERS, "The encapsulation key of ML-KEM-768 has 1,184 bytes."),
        (PARAMETERS, "ML-KEM-768 requires an RBG strength of 192 bits."),
        (PARAMETERS, "ML-KEM-1024 requires an RBG strength of 256 bits."),
        (PARAMETERS, "The shared secret key of ML-KEM-1024 has 32 bytes."),
        (YEARS, "In 2023 Kiel had revenue of 57."),
        (YEARS, "Kiel had revenue of 44 in 2022."),
        (YEARS, "In 2023 the cost of Kiel was 31."),
        (YEARS, "Kiel's revenue rose from 44 in 2022 to 57 in 2023."),
        (QUARTERS, "The 2021 high of June 30, 2020 was 3.70."),
        (QUARTERS, "The 2021 low of March 31, 2020 was 1.72."),
        (NAMED, "In 2023 Kiel had revenue of 57."),
        (BLOCKS, "In 2023 Kiel had revenue of 57."),
        (BLOCKS, "The revenue of Kiel in 2022 was 44."),
        (GROUPS, "City: Ulm, Revenue: 44"),
        (GROUPS, "The revenue of Kiel was 57."),
        (THOUSANDS, "Sales were $1,250 thousand."),
        (THOUSANDS, "Sales had a staff of 12."),
        (OVER_THOUSANDS, "Sales were $1,250 thousand."),
        (OVER_THOUSANDS, "Sales were 1,250 thousand dollars."),
        (SHARES, "The share of red is 45%."),
        (SHARES, "The share of red in percent is 45."),
        (SHARES, "Red has a count of 120."),
        (LABELS, "The weight is 12 kilograms."),
        (CACHES, "The L1 cache has a size of 64 KiB."),
        (CACHES, "The header has a size of 7 bytes."),
        (TITLED, "The key of A has 1184 bytes."),
        (LED_TO, "The key of A has 1184 bytes."),
        (LED_TO, "The strength of B is 192 bits."),
        (PROSE, "Revenue was 4 million euros in 2022."),
        (PROSE, "A test takes 5 milliseconds."),
        (PROSE, "A test costs 3 thousand dollars."),
    ],
)
def test_a_number_in_its_own_measure_is(text, draft):
    """From beside it, over it, its row, the caption or, where none of them has one, the sentences
    around.
    """
    answer = judged(text, draft)
    assert not answer.refused, answer.notes


@pytest.mark.parametrize(
    ("written", "same", "other"),
    [
        ("300 ft", "300 feet", "300 m"),
        ("300 yd", "300 yards", "300 m"),
        ("300 mi", "300 miles", "300 km"),
        ("27 in wide", "27 inches wide", "27 cm wide"),
        ("5 lbs", "5 pounds", "5 kg"),
        ("5 oz", "5 ounces", "5 g"),
        ("5 gal", "5 gallons", "5 l"),
        ("2 tbsp", "2 tablespoons", "2 tsp"),
        ("60 mph", "60 miles per hour", "60 km/h"),
        ("30 psi", "30 pounds per square inch", "30 bar"),
        ("90 hp", "90 horsepower", "90 kW"),
        ("60 kWh", "60 kilowatt-hours", "60 MWh"),
        ("5 s", "5 seconds", "5 min"),
        ("$3.2 million", "$(3.2) million", "€(3.2) million"),
        ("$3.2 million", "$(3.2 million)", "$(3.2) billion"),
    ],
)
def test_the_sign_of_a_unit_is_its_name_and_no_other_unit(written, same, other):
    """As people write them, and a loss in brackets."""
    text = "The bridge of the old town over the river has {}."
    assert not judged(text.format(same), text.format(written)).refused
    assert judged(text.format(other), text.format(written)).refused


@pytest.mark.parametrize("text", ["in the 1990s", "5 in 2024", "3 in 5 people", "(5) million"])
def test_a_word_after_a_number_is_no_sign_of_a_unit(text):
    """Those that are words of their own elsewhere."""
    assert {(use.scale, use.unit) for use in uses(text)} == {("", "")}


def judged(text, draft):
    """The draft over one passage."""
    return verify(f"{draft} [c1]", to_evidence([text]))
