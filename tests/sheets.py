"""Scores of the examples' labelled questions."""

import json

from esrag.evaluation.calibrating import holds


def count_right(index, file):
    """How many questions of a file get an answer with a labelled text, or are rightly refused."""
    right = 0
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        asked = index.ask(row["question"])
        is_good = any(holds(asked.text, answer) for answer in row.get("answers", ()))
        right += is_good if row.get("answerable", True) else asked.refused
    return right
