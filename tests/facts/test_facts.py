"""Facts: from a file into their index, and back as answers."""

import json
from datetime import date

import pytest

from esrag.errors import UsageError
from esrag.facts import Fact
from esrag.facts.checking import find_problems, split_sound
from esrag.facts.reading import Fault, read_facts
from esrag.facts.storing import compare_with_stored

SOURCE = "https://harbour.example/fees"


def fact(question="What is the mooring fee?", answer="The mooring fee is $40 a night.", **others):
    """A fact of the harbour."""
    return Fact(**{"question": question, "answer": answer, "source_url": SOURCE, **others})


def read(folder, text, name="facts.csv"):
    """What is read from a file, with the line of each row."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [*read_facts(path, 10**6)]


def test_a_table_of_facts(tmp_path):
    """A row has its line, its dates, and what else it holds as metadata."""
    rows = read(
        tmp_path,
        "question,answer,source_url,valid_from,valid_until,harbour,year\n"
        f"What is the fee?,It is $40.,{SOURCE},2024-04-01,,North,2024\n",
    )
    file = str(tmp_path / "facts.csv")
    made = fact("What is the fee?", "It is $40.", valid_from="2024-04-01", file=file)
    assert rows == [
        ("line 2", Fact(**{**_fields(made), "metadata": {"harbour": "North", "year": 2024}}))
    ]


def _fields(made):
    return {name: getattr(made, name) for name in made.__dataclass_fields__}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("What is the fee?,It is $40.,,,", "has no source_url"),
        ("What is the fee?, ,https://a.example,,", "has no answer"),
        (",It is $40.,https://a.example,,", "has no question"),
        ("What is it?,It is $40.,https://a.example,,", "without a word to search for"),
        ("What is the fee?,It is $40.,javascript:alert(1),,", "which is not an http address"),
        ("What is the fee?,It is $40.,https://[bad,,", "which is not an http address"),
        ("What is the fee?,It is $40 [c2].,https://a.example,,", "cites c2, which was not given"),
        ("What is the fee?,...,https://a.example,,", "has an answer that cannot be cited"),
        ("What is the fee?,It is $40.,https://a.example,soon,", "expected a day such as"),
        ("What is the fee?,It is $40.,https://a.example,2025-02-01,2025-01-01", "but only until"),
        ("What is the fee?,It is $40.", "has 2 cells, the header has 5"),
    ],
)
def test_a_row_that_is_no_fact_is_named_by_its_line(tmp_path, row, reason):
    """Also below a cell of several lines, and the rows around it are read."""
    good = '"What is\nthe fee?",It is $40.,the fee table,,'
    read_rows = read(
        tmp_path, f"question,answer,source_url,valid_from,valid_until\n{good}\n{row}\n"
    )
    first, fault = read_rows
    assert first[1].question == "What is the fee?"
    assert (fault.place, reason in fault.reason) == ("line 4", True), fault


def test_lines_of_json(tmp_path):
    """An object a line; what is not one is named."""
    line = json.dumps({"question": "What is the fee?", "answer": "$40", "source_url": SOURCE})
    rows = read(tmp_path, f"{line}\n[1]\n", "facts.jsonl")
    file = str(tmp_path / "facts.jsonl")
    assert rows[0] == ("line 1", fact("What is the fee?", "$40", file=file))
    assert rows[1] == Fault("line 2", "holds a list, expected an object")


def test_the_largest_size_allowed_asks_for_no_memory(tmp_path):
    """A file has no more room than it needs."""
    (tmp_path / "facts.csv").write_text(f"question,answer,source_url\nWhat fee?,$1,{SOURCE}\n")
    assert len([*read_facts(tmp_path / "facts.csv", 2**63)]) == 1


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("facts.csv", "question,source_url\na,b\n", "has no column 'answer'"),
        ("facts.txt", "question", "is not a file of facts"),
    ],
)
def test_another_file_is_an_error(tmp_path, name, text, says):
    """It says what is expected."""
    with pytest.raises(UsageError, match=says):
        read(tmp_path, text, name)


def test_two_answers_to_one_question(tmp_path):
    """Neither is taken; a repetition is left out; answers of different times stand."""
    old = fact(answer="It was $30.", valid_until="2023-12-31")
    new = fact(valid_from="2024-01-01")
    other = fact("what is the  MOORING fee", "It is $50.")
    sound, faults = split_sound([("line 2", old), ("line 3", new), ("line 4", new)], [])
    assert (sound, faults) == ([old, new], [Fault("line 4", "repeats line 3")])

    sound, faults = split_sound([("line 2", new)], [other])
    assert sound == []
    assert faults[0].reason.startswith("contradicts ")


def test_many_rows_for_one_question_take_no_long_time():
    """Repetitions are found by what they say, not in pairs: 20,000 rows would be 200 million."""
    rows = [(f"line {number}", fact()) for number in range(20_000)]
    sound, faults = split_sound(rows, [])
    assert (len(sound), len(faults)) == (1, 19_999)


def test_stored_facts_that_hold_no_more():
    """They are problems unless another fact of their question took over."""
    old = fact(valid_until="2023-12-31")
    assert [each.reason for each in find_problems([old], date(2024, 5, 1))] == [
        "expired on 2023-12-31"
    ]
    assert [*find_problems([old, fact(valid_from="2024-01-01")], date(2024, 5, 1))] == []
    early = find_problems([fact(valid_from="2030-01-01")], date(2024, 5, 1))
    assert [each.reason for each in early] == ["holds only from 2030-01-01"]


def test_a_stored_fact_that_can_never_answer_is_a_problem():
    """Its answer is refused by the check, whenever it is asked for."""
    (problem,) = find_problems([fact(), fact("Who pays?", "See [c2].")], date(2024, 5, 1))
    assert "cannot be cited" in problem.reason


def test_an_import_changes_only_what_differs():
    """Facts that the file has no more are removed, those of other files stay."""
    stored = [
        fact(file="a.csv"),
        fact("Who pays?", "The owner.", file="a.csv"),
        fact("x y", file="b"),
    ]
    change = compare_with_stored([fact(answer="It is $45.", file="a.csv")], stored, "a.csv")
    assert [each.answer for each in change.changed] == ["It is $45."]
    assert (change.added, change.unchanged) == ((), 0)
    assert change.removed == (stored[1].fact_id,)


def test_an_id_is_readable_and_differs_by_question_and_day():
    """It has no character that a shell or a path would read."""
    assert fact("What is “it”/../?").fact_id.startswith("what-is-it.")
    assert fact().fact_id != fact(valid_from="2024-01-01").fact_id
    assert fact().fact_id == fact("what is the mooring fee").fact_id


def test_facts_in_other_scripts_have_ids_of_their_own():
    """The hash alone would be the same for these two."""
    assert fact("什丄刳怄？").fact_id != fact("什丢刣怐？").fact_id
    assert fact("Was kostet ein Café?").fact_id.startswith("was-kostet-ein-café.")
