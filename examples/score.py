"""Asks an example's labelled questions and counts the good answers, by half.

    python examples/score.py examples/csv-kb

Run it in the folder with the index. `tune` are the questions that the preset's values were chosen
with; `held` are on other topics, and were looked at only to report them.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import esrag


def judge(answer: esrag.Answer, question: dict) -> str:
    """Return what became of a question, as a word for the table."""
    if not question.get("answerable", True):
        return "refused" if answer.refused else "answered in vain"
    if answer.refused:
        return "refused in vain"
    right = any(text.casefold() in answer.text.casefold() for text in question["answers"])
    return "right" if right else "off"


def main(folder: Path) -> None:
    """Print a line for each half."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    counts: dict[str, Counter[str]] = {"tune": Counter(), "held": Counter()}

    with esrag.open() as index:
        for question in map(json.loads, lines):
            counts[question["half"]][judge(index.ask(question["question"]), question)] += 1

    for half, verdicts in counts.items():
        shown = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        sys.stdout.write(f"{half}: {verdicts.total()} questions: {shown}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
