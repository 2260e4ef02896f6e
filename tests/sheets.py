"""What must come out of the five systems, and scores of the examples' labelled questions."""

import json
from pathlib import Path

from esrag.evaluation.calibrating import holds

EXAMPLES = Path(__file__).parents[1] / "examples"
INTENTS = [
    ("what's the wellness policy?", "Policy"),
    ("how do I use the wind spreadsheet?", "Procedure"),
    ("what does NZS 3604 say about wind loads?", "Standards"),
    ("what is project 225?", "Project"),
    ("tell me about job 225221", "Project"),
    ("who is the client for job 225221?", "Client"),
    ("what is the maximum wind load on a commercial building?", "General"),
    ("what is the maximum span of a 225mm beam?", "General"),
]
TIER_ONE = [
    ("What is the H1B cap?", "65,000"),
    ("How much does H1B cost?", "$2,010"),
    ("What is the filing fee?", "$780"),
    ("What is premium processing fee?", "$2,805"),
    ("How many H1Bs are issued?", "85,000"),
]
TIER_TWO = [
    ("Am I eligible for H1B with CS degree?", "bachelor's degree"),
    ("Am I eligible with CS degree?", "bachelor's degree"),
    ("Can I change employers on H1B?", "change employers"),
    ("How do I apply for H1B?", "employer files"),
    ("I'm on F1 OPT, can I get H1B?", "can get an H-1B"),
]


def count_right(index, file):
    """How many questions of a file get an answer with a labelled text, or are rightly refused."""
    right = 0
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        asked = index.ask(row["question"])
        is_good = any(holds(asked.text, answer) for answer in row.get("answers", ()))
        right += is_good if row.get("answerable", True) else asked.refused
    return right
