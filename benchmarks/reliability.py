"""How often answers are good at each confidence: a reliability diagram.

`python benchmarks/reliability.py RESULTS... [--svg FILE]`

RESULTS have a JSON object on each line: `confidence`, which esrag stated for an answer, and
`verdict`, "good" or another word. Refusals are left out. The script prints a row for each tenth,
and the expected calibration error: the mean distance between stated and true shares, weighted by
answers. `--svg` draws them; a dot on the diagonal is a confidence that means what it says.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from answers import lines

LEFT, BOTTOM, WIDTH, HEIGHT = 60, 290, 300, 250  # of the diagram's square, in pixels
MAX_RADIUS = 12
REFUSED = ("rightly refused", "wrongly refused")


@dataclass(frozen=True)
class Bin:
    """Answers with a like confidence: how many, how many are good, and the mean confidence."""

    answers: int
    good: int
    stated: float

    @property
    def share(self) -> float:
        """The share of good answers."""
        return self.good / self.answers


def main() -> None:
    """Print the table, and draw it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()

    rows = [row for path in arguments.results for row in lines(path)]
    bins = to_bins([row for row in rows if row["verdict"] not in REFUSED])
    print("| stated | answers | good |\n| --- | --- | --- |")
    for each in bins:
        print(f"| {each.stated:.2f} | {each.answers} | {each.share:.0%} |")

    total = sum(each.answers for each in bins)
    error = sum(each.answers * abs(each.stated - each.share) for each in bins) / total
    print(f"\nexpected calibration error {error:.3f} over {total} answers")
    if arguments.svg:
        arguments.svg.write_text(draw(bins), encoding="utf-8")


def draw(bins: Sequence[Bin]) -> str:
    """Return the diagram as SVG: the area of a dot is the number of answers."""
    most = max(each.answers for each in bins)
    grid = "".join(
        f'<path d="M{LEFT} {_y(n / 5):.0f}H{LEFT + WIDTH}" stroke="#ddd"/>'
        f'<text x="{LEFT - 8}" y="{_y(n / 5) + 4:.0f}" text-anchor="end">{20 * n}%</text>'
        f'<text x="{_x(n / 5):.0f}" y="{BOTTOM + 18}" text-anchor="middle">{20 * n}%</text>\n'
        for n in range(6)
    )
    dots = "".join(
        f'<circle cx="{_x(each.stated):.1f}" cy="{_y(each.share):.1f}" '
        f'r="{MAX_RADIUS * (each.answers / most) ** 0.5:.1f}" fill="#06c" fill-opacity="0.7"/>\n'
        for each in bins
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 420 340" font-family="sans-serif" '
        'font-size="12">\n<title>How many answers are good at each stated confidence</title>\n'
        f'<rect width="420" height="340" fill="white"/>\n{grid}'
        f'<path d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke="#c30" stroke-dasharray="4"/>\n{dots}'
        '<text x="210" y="328" text-anchor="middle">stated confidence</text>\n'
        '<text x="60" y="26">answers that were good</text>\n</svg>\n'
    )


def _x(share: float) -> float:
    return LEFT + WIDTH * share


def _y(share: float) -> float:
    return BOTTOM - HEIGHT * share


def to_bins(rows: Sequence[dict]) -> list[Bin]:
    """Return the tenths that have answers, the least confident first."""
    tenths: dict[int, list[dict]] = {}
    for row in rows:
        tenths.setdefault(min(int(10 * row["confidence"]), 9), []).append(row)
    return [
        Bin(
            answers=len(each),
            good=sum(row["verdict"] == "good" for row in each),
            stated=sum(row["confidence"] for row in each) / len(each),
        )
        for _, each in sorted(tenths.items())
    ]


if __name__ == "__main__":
    main()
