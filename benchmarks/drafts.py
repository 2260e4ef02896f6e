"""How well the check separates false drafts from true ones: `python benchmarks/drafts.py FILE…`.

A FILE has a JSON object on each line: `passages` (c1, c2, … in order), `draft` (a sentence with its
markers), `supported` (whether an attentive reader of the passages would agree), and `kind` of the
fault. Each draft is checked as the answer of a language model is, with the reader; `--words` goes
without it. `--list` prints the mistakes.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from esrag.context import open_context
from esrag.records import Answer
from esrag.settings.layers import resolve
from esrag.verifying.drafts import to_evidence
from esrag.verifying.support import Entail
from esrag.verifying.verify import verify


@dataclass(frozen=True)
class Verdict:
    """A judged draft: what it is, and what the check made of it."""

    draft: str
    kind: str
    supported: bool
    answer: Answer

    @property
    def is_mistaken(self) -> bool:
        """Whether a false draft was accepted, or a true one rejected."""
        return self.supported == self.answer.refused


def main() -> None:
    """Print the rates by kind, and the mistakes if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--words", action="store_true", help="check without the reader")
    parser.add_argument("--list", action="store_true", help="print each mistake")
    arguments = parser.parse_args()

    entail = None if arguments.words else open_context(resolve({}, {}).settings).entail
    rows = [
        json.loads(line)
        for path in arguments.files
        for line in path.read_text("utf-8").splitlines()
    ]
    verdicts = [judge(row, entail) for row in rows]
    print_rates(verdicts)
    for verdict in verdicts if arguments.list else ():
        if verdict.is_mistaken:
            print(f"{verdict.kind}: {verdict.draft}  {'; '.join(verdict.answer.notes)}")


def judge(row: dict[str, object], entail: Entail | None) -> Verdict:
    """Check one draft against its passages."""
    answer = verify(row["draft"], to_evidence(row["passages"]), entail)
    return Verdict(draft=row["draft"], kind=row["kind"], supported=row["supported"], answer=answer)


def print_rates(verdicts: Iterable[Verdict]) -> None:
    """Print how many drafts of each kind the check got wrong."""
    total = Counter((verdict.supported, verdict.kind) for verdict in verdicts)
    wrong = Counter(
        (verdict.supported, verdict.kind) for verdict in verdicts if verdict.is_mistaken
    )

    print("| drafts | kind | number | mistaken |\n| --- | --- | --- | --- |")
    for supported, kind in sorted(total):
        name = "true, rejected" if supported else "false, accepted"
        count, of = wrong[supported, kind], total[supported, kind]
        print(f"| {name} | {kind} | {of} | {count} ({count / of:.0%}) |")


if __name__ == "__main__":
    main()
