"""`esrag calibrate`: a threshold from labelled questions, fitted on one half and reported on the
other.
"""

import json
import random
import re
from xml.etree import ElementTree as ET

import pytest
import yaml
from terminal import on_a_terminal

from esrag.cli.calibrate import with_refusal
from esrag.cli.rendering import render
from esrag.errors import SettingsError, UsageError
from esrag.evaluation.calibrating import (
    DEFAULT,
    Judged,
    Point,
    _explain_choice,
    _find_equally_good,
    _fit,
    curve,
    holds,
    read_labelled,
)

QUESTIONS = [
    {"question": "How many litres does the kettle hold?", "answers": ["1.7 litres"]},
    {"question": "What bulb does the lamp take?", "answers": ["E27", "e-27"]},
    {"question": "Who won the 2018 World Cup?", "answerable": False},
    {"question": "When was the treaty of Westphalia signed?", "answerable": False},
    {"question": "How heavy is the kettle?", "answers": ["900 GRAMS"]},
    {"question": "How long is the toaster's cable?", "answers": ["80  centimetres"]},
]


NOTHING_TO_FIT = "there are not right and wrong answers in both halves of the questions"


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus, and a file of labelled questions."""
    assert esrag("ingest", "docs").code == 0
    (esrag.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    (esrag.folder / "many.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS * 4)))
    return esrag


def test_the_threshold_is_fitted_shown_drawn_and_written(kitchen):
    """As a table, as JSON, as a drawing, and as a setting that the next question follows."""
    ran = kitchen("calibrate", "many.jsonl", "--svg", "curve.svg", "--write")

    assert ran.code == 0
    assert ran.out.count("<- answer.refusal") == 1
    found = kitchen("calibrate", "many.jsonl", "--json").json
    assert (found["schema"], found["fitted_questions"], found["reported_questions"]) == (
        "esrag.calibration/1",
        12,
        12,
    )
    written = yaml.safe_load((kitchen.folder / "esrag.yaml").read_text())
    assert written == {"answer": {"refusal": found["threshold"]}}
    assert f"answer.refusal = {found['threshold']}: the " in ran.err
    assert f"thresholds from {found['low']:.2f} to {found['high']:.2f} (95% bootstrap" in ran.err
    drawing = ET.parse(kitchen.folder / "curve.svg").getroot()
    assert len(drawing.find("{*}polyline").get("points").split()) > 10
    assert found["curve"][0]["coverage"] == 1.0


@pytest.mark.parametrize("place", ["docs", "docs/none/curve.svg"])
def test_a_curve_that_cannot_be_drawn_is_refused_at_once(kitchen, place):
    """No question is asked before, which may cost minutes."""
    (kitchen.folder / "docs").mkdir(exist_ok=True)
    ran = kitchen("calibrate", "many.jsonl", "--svg", place)

    assert (ran.code, ran.out) == (2, "")
    assert "questions" not in ran.err
    assert ran.err.startswith("error: ")


def test_the_settings_file_that_is_read_is_written(kitchen):
    """Not another, in which the threshold would go unheard."""
    named = kitchen.folder / "mine.yaml"
    named.write_text("answer:\n  neighbours: 0\n")
    ran = kitchen("calibrate", "many.jsonl", "--write", ESRAG_CONFIG="mine.yaml")

    assert (ran.code, not (kitchen.folder / "esrag.yaml").exists()) == (0, True)
    assert "wrote it to mine.yaml" in ran.err
    assert {"neighbours", "refusal"} == yaml.safe_load(named.read_text())["answer"].keys()


def test_a_setting_that_goes_before_the_file_is_named(kitchen):
    """What was written would go unheard otherwise.

    Another place with the same value takes nothing away.
    """
    told = "not in effect: "
    ran = kitchen("calibrate", "many.jsonl", "--write")
    assert f"{told}ESRAG_ANSWER__REFUSAL is 0.0 and overrides esrag.yaml" in ran.err
    written = str(yaml.safe_load((kitchen.folder / "esrag.yaml").read_text())["answer"]["refusal"])
    assert (
        told not in kitchen("calibrate", "many.jsonl", "--write", ESRAG_ANSWER__REFUSAL=written).err
    )
    assert told not in kitchen("calibrate", "many.jsonl").err
    ran = kitchen("calibrate", "many.jsonl", "--write", "--set", "answer.refusal=0.99")
    assert f"{told}--set answer.refusal is 0.99 and overrides esrag.yaml" in ran.err
    del kitchen.variables["ESRAG_ANSWER__REFUSAL"]
    assert told not in kitchen("calibrate", "many.jsonl", "--write").err
    (kitchen.folder / "esrag.loud.yaml").write_text("answer:\n  refusal: 0.99\n")
    ran = kitchen("calibrate", "many.jsonl", "--write", ESRAG_ENVIRONMENT="loud")
    assert f"{told}esrag.loud.yaml is 0.99 and overrides esrag.yaml" in ran.err


def test_how_far_it_is_is_told(kitchen):
    """A bar on a terminal, at most ten lines elsewhere, and what follows is under it."""
    rows = [json.dumps(row) for row in QUESTIONS * 5]
    (kitchen.folder / "questions.jsonl").write_text("\n".join(rows))
    told = kitchen("calibrate", "questions.jsonl").err.splitlines()
    assert told[:10] == [f"[{3 * n}/30] questions" for n in range(1, 11)]
    code, shown = on_a_terminal(kitchen, "calibrate", "questions.jsonl")
    bar, _, after = shown.rpartition("\x1b[?25h")  # the cursor is back
    assert (code, "30/30" in bar, "answer.refusal = " in after) == (0, True, True)


def test_the_folder_of_a_collection_is_joined(kitchen):
    """Questions and answers have a file each.

    A sentence that is marked as gold is an answer as well.
    """
    folder, gold = kitchen.folder / "collection", "the kettle  holds 1.7 litres ."
    folder.mkdir()
    queries = [
        {"_id": str(number), "text": row["question"]} for number, row in enumerate(QUESTIONS)
    ]
    answers = [
        {
            "_id": str(number),
            "answerable": row.get("answerable", True),
            "answers": row.get("answers", []),
        }
        for number, row in enumerate(QUESTIONS)
    ]
    answers[0] |= {"answers": ["two litres"], "gold_sentences": [["It is a kettle."], [gold], []]}
    answers[4] |= {"gold_sentence": ""}
    for name, rows in (("queries", queries), ("answers", answers)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = kitchen("calibrate", "collection", "--json")
    assert (found.code, found.out) == (0, kitchen("calibrate", "questions.jsonl", "--json").out)
    assert read_labelled(folder)[0].answers == ("two litres", "It is a kettle.", gold)
    (folder / "answers.jsonl").unlink()
    assert "answers.jsonl cannot be read" in kitchen("calibrate", "collection").err


ANSWERED = '{"_id": "1", "answers": ["a"], "answerable": true}'
ASKED = '{"_id": "1", "text": "What?"}'


@pytest.mark.parametrize(
    ("queries", "answers", "message", "hint"),
    [
        (
            [ASKED, '{"_id": 2, "text": "b"}'],
            [ANSWERED],
            "answers.jsonl has no row for _id '2'",
            "answerable",
        ),
        (
            [ASKED],
            [ANSWERED, "{"],
            "answers.jsonl, line 2 is not an answer of a collection",
            "answerable",
        ),
        ([ASKED], ['"1"'], "answers.jsonl, line 1 is not an answer of a collection", "answerable"),
        (
            [ASKED],
            [ANSWERED.replace('"_id": "1", ', "")],
            "answers.jsonl, line 1 is not an answer",
            "_id",
        ),
        (
            [ASKED],
            [ANSWERED.replace('["a"]', '"a"')],
            "answers.jsonl, line 1 is not an answer",
            "answers",
        ),
        (
            [ASKED],
            [ANSWERED.replace("true", "1")],
            "answers.jsonl, line 1 is not an answer",
            "answerable",
        ),
        (
            [ASKED],
            [ANSWERED[:-1] + ', "gold_sentence": 3}'],
            "answers.jsonl, line 1 is not an answer",
            "gold_sentences",
        ),
        (
            [ASKED],
            [ANSWERED[:-1] + ', "gold_sentences": "ab"}'],
            "answers.jsonl, line 1 is no",
            "gold_sentences",
        ),
        (
            [ASKED],
            [ANSWERED[:-1] + ', "gold_sentences": ["ab"]}'],
            "answers.jsonl, line 1 is no",
            "gold_sentences",
        ),
        (
            [ASKED],
            [ANSWERED[:-1] + ', "gold_sentences": [[1]]}'],
            "answers.jsonl, line 1 is no",
            "gold_sentences",
        ),
        (
            [ASKED, '{"_id": "1"}'],
            [ANSWERED],
            "queries.jsonl, line 2 is not a question of a collection",
            "text",
        ),
        (
            ['{"text": "What?"}'],
            [ANSWERED],
            "queries.jsonl, line 1 is not a question of a collection",
            "_id",
        ),
        (["["], [ANSWERED], "queries.jsonl, line 1 is not a question of a collection", "_id"),
    ],
)
def test_a_fault_of_a_collection_is_found_where_it_is(tmp_path, queries, answers, message, hint):
    """In which file and which row, and how to write that."""
    (tmp_path / "queries.jsonl").write_text("\n".join(queries))
    (tmp_path / "answers.jsonl").write_text("\n".join(answers))
    with pytest.raises(UsageError, match=re.escape(message)) as found:
        read_labelled(tmp_path)
    assert f'"{hint}"' in found.value.hint
    assert '"question"' not in found.value.hint


@pytest.mark.parametrize(
    ("answer", "text", "is_held"),
    [
        ("1184字节", "公钥长度为1184字节。[c1]", True),
        ("1184", "公钥长度为1184字节。[c1]", True),
        ("東京", "日本の東京都", True),
        ("184", "公钥长度为1184字节。[c1]", False),
        ("litres", "It holds 2 litres.", True),
        ("litre", "It holds 2 litres.", False),
        ("kettle", "A teakettle [c1].", False),
        ("E27", "An e27 bulb", True),
        ("E27", "An E272 bulb", False),
        ("café", "Two cafés [c1].", False),
        ("кот", "Тот, который спит.", False),
        ("кот", "Спит кот.", True),
        ("5", "It holds 1.5 litres.", False),
        ("1", "It holds 1.5 litres.", False),
        ("1", "1,184 bytes", False),
        ("184", "1,184 bytes", False),
        ("1.5", "It holds 1.5.", True),
        ("5", "4, 5, 6", True),
        ("25%", "It is 25%.", True),
        ("1.7 litres. It weighs", "It holds 1.7 litres. [c1] It weighs 900 grams [c2].", True),
        ("1.7 litres it weighs", "It holds 1.7 litres[c1, c2]It weighs 900 grams.", True),
        ("5", "It is 5[c1]7 [c2]", True),
        ("cafe\N{COMBINING ACUTE ACCENT}", "The café [c1].", True),
    ],
)
def test_an_answer_is_held_between_borders(answer, text, is_held):
    """Whole words and numbers where the script has such.

    What is cited after them is no part of a text.
    """
    assert holds(text, answer) is is_held


def test_an_accuracy_may_be_asked_for(kitchen):
    """The lowest threshold that reaches it; one that none reaches is an error."""
    threshold = kitchen("calibrate", "questions.jsonl", "--json", "--accuracy", "0.5").json[
        "threshold"
    ]
    sure = kitchen("calibrate", "questions.jsonl", "--json", "--accuracy", "0.9")

    assert threshold <= (sure.json["threshold"] if sure.code == 0 else 1)
    assert kitchen("calibrate", "questions.jsonl", "--accuracy", "0").code == 0
    assert kitchen("calibrate", "questions.jsonl", "--accuracy", "nan").code == 2


def test_further_searches_are_not_fitted_to(kitchen):
    """What they find depends on the threshold; --help says so."""
    once = kitchen("calibrate", "questions.jsonl", "--json")

    assert (
        kitchen("calibrate", "questions.jsonl", "--json", ESRAG_ANSWER__STEPS="5").out == once.out
    )
    assert "answer.steps" in kitchen("calibrate", "--help").out


def test_the_confidence_that_decides_is_fitted_to(kitchen):
    """Whatever confidence is stated."""
    decides = kitchen("calibrate", "questions.jsonl", "--json")
    stated = kitchen("calibrate", "questions.jsonl", "--json", ESRAG_ANSWER__CONFIDENCE="sources")

    assert stated.out == decides.out


def test_no_run_is_kept(kitchen):
    kept = {"ESRAG_RUNS__KEEP": "whole"}
    assert kitchen("calibrate", "questions.jsonl", **kept).code == 0

    assert kitchen("runs", "list", **kept).out == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "questions.jsonl, line 1 is not a labelled question"),
        ('{"question": 1}', "questions.jsonl, line 1 is not a labelled question"),
        ('{"question": "a", "answers": [1]}', "questions.jsonl, line 1 is not a labelled question"),
        (
            '{"question": "a", "answers": "180 W"}',
            "questions.jsonl, line 1 is not a labelled question",
        ),
        (
            '{"question": "a", "answers": [" "]}',
            "questions.jsonl, line 1 is not a labelled question",
        ),
        (
            '{"question": "a", "answerable": "false"}',
            "questions.jsonl, line 1 is not a labelled question",
        ),
        ("[" * 100_000, "questions.jsonl, line 1 is not a labelled question"),
        ('{"question": "How many litres?"}', "questions.jsonl, line 1 is not a labelled question"),
        (
            '{"question": "a", "answers": [NaN]}',
            "questions.jsonl, line 1 is not a labelled question",
        ),
        (
            '{"question": "a", "answerable": NaN}',
            "questions.jsonl, line 1 is not a labelled question",
        ),
        (
            '{"question": "\\u0000\\ud800", "answerable": false}',
            "questions.jsonl, line 1 is not a labelled question",
        ),
        (" \n", "questions.jsonl is empty"),
        ('{"question": "How many litres?", "answers": []}', NOTHING_TO_FIT),
        ('{"question": "How many litres?", "answers": ["1.7 litres"]}\n' * 4, NOTHING_TO_FIT),
    ],
)
def test_a_file_that_cannot_be_fitted_to_is_said(kitchen, line, message):
    """Which line, and how to write it."""
    (kitchen.folder / "questions.jsonl").write_text(line)
    ran = kitchen("calibrate", "questions.jsonl")

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_file_that_is_not_there_is_said(tmp_path):
    """By its name."""
    with pytest.raises(UsageError, match=r"gone\.jsonl cannot be read"):
        read_labelled(tmp_path / "gone.jsonl")


def test_the_curve_counts_what_is_answered_and_what_of_it_is_right():
    """Two right answers, two wrong ones, and a question that is refused whatever is set."""
    judged = [Judged(c, answered=True, right=c in {0.9, 0.4}) for c in (0.9, 0.6, 0.4, 0.2)]
    points = curve([*judged, Judged(0.99, answered=False, right=False)])

    found = {
        each.threshold: (each.coverage, each.accuracy, each.kept, each.spared) for each in points
    }
    assert found[0.0] == (0.8, 0.5, 1.0, 0.0)
    assert found[0.3] == (0.6, 0.6667, 1.0, 0.5)
    assert found[0.7] == (0.2, 1.0, 0.5, 1.0)
    assert found[1.0] == (0.0, 1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("wrong", "right", "middle", "lowest"),
    [
        ({0.0}, {0.9, 0.95}, 0.45, 0.01),
        ({0.2}, {0.8, 0.85}, 0.5, 0.21),
        ({0.2, 0.6}, {0.4, 0.99}, 0.8, 0.61),  # 0.21 to 0.40 do as well, and are fewer
        ({0.2, 0.6}, {0.5, 0.7}, 0.35, 0.61),  # 0.61 to 0.70 do as well, and are fewer
    ],
)
def test_of_equal_thresholds_the_middle_is_taken(wrong, right, middle, lowest):
    """Of the longest run, as far from the wrong answers as from the right ones.

    The lowest for an accuracy.
    """
    points = curve([Judged(each, answered=True, right=each in right) for each in wrong | right])

    assert _fit(points, None) == middle
    assert _fit(points, 1.0) == lowest


def drawn(seed, count, middle=0.6):
    """Answers of which the right ones are surer.

    A threshold in the middle tells most of them apart.
    """
    rng = random.Random(seed)
    for _ in range(count):
        right = rng.random() < 0.5
        yield Judged(
            min(1, max(0, rng.gauss(middle + (0.15 if right else -0.15), 0.15))),
            answered=True,
            right=right,
        )


def test_the_range_holds_the_best_threshold_and_narrows_with_more_questions():
    """For 19 of 20 sets of questions or more; the same for the same questions."""
    widths = {}
    for count in (10, 40, 160):
        sets = [[*drawn(seed, count)] for seed in range(40)]
        ranges = [_find_equally_good(judged, _fit(curve(judged), None)) for judged in sets]
        assert sum(low <= 0.6 <= high for low, high in ranges) >= 38
        widths[count] = sum(high - low for low, high in ranges) / len(ranges)
    assert widths[10] > 1.5 * widths[40] > 2 * widths[160]

    judged = [*drawn(1, 30)]
    assert _find_equally_good(judged, 0.6) == _find_equally_good(judged[::-1], 0.6)


def test_refused_questions_and_one_of_a_kind_have_a_range():
    """What no threshold would give does not count.

    A single wrong answer tells hardly anything apart.
    """
    judged = [Judged(0.9, answered=True, right=True)] * 3 + [
        Judged(0.2, answered=True, right=False)
    ]
    refused = [Judged(0.99, answered=False, right=False)] * 3

    low, high = _find_equally_good([*judged, *refused], 0.55)
    assert low <= 0.21
    assert high >= 0.9


@pytest.mark.parametrize(
    ("questions", "low", "high", "accuracy", "chosen_by"),
    [
        (10, 0.2, 0.9, None, "too few"),
        (20, 0.35, 0.9, None, "default"),
        (20, 0.1, 0.5, None, "default"),
        (20, 0.51, 0.9, None, "plateau"),
        (600, 0.1, 0.34, None, "plateau"),
        (10, 0.2, 0.9, 0.8, "accuracy"),
    ],
)
def test_the_default_is_kept_unless_the_questions_speak_against_it(
    questions, low, high, accuracy, chosen_by
):
    """It lies outside what they cannot tell from the best, and there are enough of them."""
    assert _explain_choice(questions, low, high, accuracy) == chosen_by


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("arguments", [[], ["--accuracy", "0.5"]])
def test_few_questions_are_not_taken_for_many(kitchen, count, arguments):
    """Too few are not written, and recommend nothing.

    The range is said, and why it is this threshold.
    """
    (kitchen.folder / "some.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS * count)))
    found = kitchen("calibrate", "some.jsonl", "--json", *arguments)
    low, high, threshold = (found.json[name] for name in ("low", "high", "threshold"))

    assert 0 <= low <= high <= 1
    assert found.json["chosen_by"] == _explain_choice(
        6 * count, low, high, 0.5 if arguments else None
    )
    assert (
        threshold == DEFAULT
        if found.json["chosen_by"] in {"too few", "default"}
        else low <= threshold <= high
    )
    assert ("warning: 6 questions are too few" in found.err) == (count == 1)
    assert found.err.count("% bootstrap over the questions") == 1

    ran = kitchen("calibrate", "some.jsonl", "--write", *arguments)
    assert (ran.code, (kitchen.folder / "esrag.yaml").exists()) == (
        (2, False) if count == 1 else (0, True)
    )
    assert ("--write needs at least 20 questions, but some.jsonl has 6" in ran.err) == (count == 1)


@pytest.mark.parametrize("chosen", [0, 2])
def test_thresholds_at_which_hardly_anything_is_answered_are_not_drawn(chosen):
    """One wrong answer of a hundred would make the line drop to the ground."""
    points = [
        Point(
            threshold=n / 2,
            coverage=coverage,
            accuracy=0.0 if n == 2 else 1.0,
            kept=1.0,
            spared=0.0,
        )
        for n, coverage in enumerate((1, 0.02, 0.01))
    ]
    drawing = ET.fromstring(render("calibration.svg.j2", points=points, chosen=points[chosen]))

    assert drawing.find("{*}polyline").get("points").split() == ["360.0,40.0", "66.0,40.0"]
    assert drawing.find("{*}circle") is not None


def test_a_hundred_thousand_questions_are_read_and_counted(tmp_path):
    """In seconds, and the curve is no longer for them."""
    rows = [{"question": f"Question {n}?", "answerable": n % 3 > 0} for n in range(100_000)]
    (tmp_path / "many.jsonl").write_text("\n".join(map(json.dumps, rows)))
    questions = read_labelled(tmp_path / "many.jsonl")
    points = curve(
        [
            Judged(n % 101 / 100, answered=True, right=each.answerable)
            for n, each in enumerate(questions)
        ]
    )

    assert (len(questions), len(points)) == (100_000, 101)
    assert [each.coverage for each in points] == sorted(
        (each.coverage for each in points), reverse=True
    )


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", "answer:\n  refusal: 0.4\n"),
        ("# mine\nengine:\n  url: x\n", "# mine\nengine:\n  url: x\nanswer:\n  refusal: 0.4\n"),
        (
            "answer:  # how\n  k: 2\nengine:\n  url: x\n",
            "answer:  # how\n  refusal: 0.4\n  k: 2\nengine:\n  url: x\n",
        ),
        (
            "answer:\n  neighbours: 2\n# so\n  refusal: 0.1 # low\n",
            "answer:\n  neighbours: 2\n# so\n  refusal: 0.4 # low\n",
        ),
        ("answer:\r\n  k: 2\r\n", "answer:\r\n  refusal: 0.4\r\n  k: 2\r\n"),
    ],
)
def test_a_settings_file_keeps_all_else(text, changed):
    """Comments and order too."""
    assert with_refusal(text, 0.4) == changed


@pytest.mark.parametrize(
    "text",
    [
        "answer: {refusal: 0.1}\n",
        "answer.refusal: 0.2\nanswer: 3\n",
        "- a\n",
        "answer:\n    k: 2\n",
        "{",
    ],
)
def test_a_settings_file_that_is_written_otherwise_is_left_alone(text):
    """The user is told what to write."""
    with pytest.raises(SettingsError, match=r"cannot be changed safely"):
        with_refusal(text, 0.4)
