"""The preset cited-specs over a made-up standard.

What docs/reference/systems/cited-specs.md says and no other test holds.
"""

import json
import random
import re
from dataclasses import replace

import pytest
import yaml
from fpdf import FPDF
from sheets import EXAMPLES, count_right

import esrag as library
from esrag.citations import REFUSAL
from esrag.engines import SearchResult, engine_options
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.fusion import ranking
from esrag.engines.hits import fuse_legs, hits
from esrag.errors import UsageError
from esrag.evaluation.calibrating import Labelled, calibrate
from esrag.generating import Draft
from esrag.generating.prompts import Prompts
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ask, ingest, search
from esrag.records import Chunk, Evidence
from esrag.settings.layers import flatten, resolve

EXAMPLE = EXAMPLES / "cited-specs"
STEPS = (
    "1: t = Init() 2: t = Absorb(t, p)",
    "3: for (i = 1; i <= 8; i++) 4: t = Turn(t)",
    "5: end for",
    "6: return t",
)
PAGES = (
    (
        "Overview",
        (
            "ML-POT brews a pot of tea for two over a line that others listen to, "
            "and nobody else tastes it."
        ),
        (
            "Its algorithms are ML-POT.KeyGen, ML-POT.Encaps and ML-POT.Decaps. "
            "Each of them has a section."
        ),
        "A pot of ML-POT holds a shared secret brew, and who spills it begins anew.",
    ),
    ("Stirring", "Algorithm 2 STIR128(p)", "Stirs the pot p.", *STEPS),
    (
        "Key generation",
        "The key generation of ML-POT is ML-POT.KeyGen. It needs no input.",
        "Algorithm 19 ML-POT.KeyGen()",
        "1: d = Random(32) 2: z = Random(32)",
        "3: return KeyGen_internal(d, z)",
    ),
    (
        "Sizes",
        "Table 3. Sizes (in bytes) of the parts of ML-POT",
        "encapsulation key decapsulation key ciphertext",
        "ML-POT-512 800 1632 768",
        "ML-POT-768 1184 2400 1088",
        "ML-POT-1024 1568 3168 1568",
    ),
)
CHUNK = 60  # tokens: each page is a passage of its own
SETTINGS = {
    "preset": "cited-specs",
    "embedding.provider": "hashing",
    "embedding.model": "hashing",
    "chunking.size": CHUNK,
    "answer.refusal": 0,
}


def write_standard(path):
    """The made-up standard as a PDF, each page a section."""
    pdf = FPDF()
    pdf.set_font("Helvetica", size=11)
    for title, *lines in PAGES:
        pdf.add_page()
        pdf.start_section(title)
        for line in (title, *lines):
            pdf.cell(0, 8, line, new_x="LMARGIN", new_y="NEXT")
    pdf.output(str(path))


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Settings and context over the standard and six memos that say the same, so that there are
    ties in each leg.
    """
    folder = tmp_path_factory.mktemp("specs")
    write_standard(folder / "pots.pdf")
    for n in range(6):
        (folder / f"memo{n}.txt").write_text(
            "The lid of ML-POT-768 is made by ML-POT.KeyGen, and so is its spout.\n"
        )
    settings = resolve({**SETTINGS, "engine.url": str(folder / "index")}, {}, folder).settings
    work = Work(settings)
    assert (
        ingest(IngestRequest([str(folder)], include=["*.pdf", "*.txt"]), work, Silent()).added == 7
    )
    yield work.context
    work.close()


def with_answer(context, **values):
    """The same context with other settings of the answer."""
    return context.with_settings({f"answer.{name}": value for name, value in values.items()})


class Says:
    """A generator that says one thing, and counts how often it is asked."""

    model, prompted = "says", False

    def __init__(self, text):
        self.text, self.count = text, 0

    def generate(self, task):
        """What it says."""
        self.count += 1
        return Draft(self.text)


def test_the_preset_asks_for_all_of_it(esrag):
    """Every value is in force after `esrag init`, which names the preset and copies
    nothing of it.
    """
    assert esrag("init", "cited-specs").code == 0
    shown = esrag("config", "show", "--json").json
    origin = "preset cited-specs"
    values = {
        key: value for key, value in shown["values"].items() if shown["origins"].get(key) == origin
    }
    assert set(values.pop("retrieval.operations")) == {
        "KeyGen",
        "Encaps",
        "Decaps",
        "Sign",
        "Verify",
    }
    assert values == {
        "retrieval.method": "hybrid",
        "retrieval.fusion": "rrf",
        "retrieval.variants": True,
        "rerank.chain": ["exact-tokens", "lexical"],
        "answer.algorithms": True,
        "answer.neighbours": 1,
        "answer.unsupported": "refuse",
    }


def test_the_commented_lines_of_a_settings_file_are_settings(esrag):
    """Each line that `init` leaves in a comment is valid once it is taken out of it."""
    assert esrag("init", "cited-specs").code == 0
    preset, _, commented = (esrag.folder / "esrag.yaml").read_text().partition("\n\n")
    values = yaml.safe_load(commented.replace("# ", "", 1).replace("\n# ", "\n")) | {
        "preset": "cited-specs"
    }
    assert preset == "preset: cited-specs"
    found = resolve(flatten(values), {}, esrag.folder).settings
    assert (found.generator.name, found.models.default.model) == ("model", "gemini-2.5-flash")


def test_the_questions_of_the_standard_as_they_are_typed(esrag):
    """Steps and table by their pages, KeyGen's own page first, what is not there refused.

    Rerankers can be left out.
    """
    write_standard(esrag.folder / "pots.pdf")
    assert esrag("init", "cited-specs").code == 0
    assert esrag("ingest", "pots.pdf", ESRAG_CHUNKING__SIZE=str(CHUNK)).code == 0

    steps = esrag("ask", "What are the steps in Algorithm 2 STIR128?", "--json").json
    assert re.findall(r"(\d): ", steps["answer"]) == ["1", "2", "3", "4", "5", "6"]
    assert {citation["start_page"] for citation in steps["citations"]} == {2}
    size = esrag("ask", "What is the size of the encapsulation key of ML-POT-768?", "--json").json
    assert "1184" in size["answer"]
    assert {
        (each["doc_id"], each["start_page"], each["end_page"]) for each in size["citations"]
    } == {("pots", 4, 4)}
    for question in ("How does ML-POT.KeyGen work?", "KeyGen"):
        best = esrag("search", question, "--json").json["hits"][0]
        assert (best["start_page"], [*best["added"]]) == (3, ["exact-tokens", "lexical"]), question
    plain = esrag("search", "KeyGen", "--json", "--rerank", "").json["hits"]
    assert {len(hit["added"]) for hit in plain} == {0}
    ran = esrag("ask", "Who won the 2018 World Cup?", "--json", ESRAG_ANSWER__REFUSAL="0.5")
    assert (ran.code, ran.json["answer"], ran.json["citations"]) == (3, REFUSAL, [])


def test_search_shows_what_ask_retrieves(opened):
    """The same hits with the same scores, through variants and rerankers."""
    for question in ("How does ML-POT.KeyGen work?", "ML-POT key generation", "KeyGen"):
        assert search(question, opened).hits == ask(question, opened).retrieved.hits != ()


def test_neighbours_come_along_as_far_as_there_is_room(opened):
    """The chunks before and after the hit, with its score, and never more passages than are
    allowed.
    """
    one = opened.with_settings({"retrieval.k": 1})
    evidence = {
        n: ask("Algorithm 2 STIR128", with_answer(one, neighbours=n)).evidence for n in (0, 1)
    }

    assert [item.chunk.start_page for item in evidence[0]] == [2]
    assert [item.chunk.start_page for item in evidence[1]] == [1, 2, 3]
    assert len({item.score for item in evidence[1]}) == 1
    assert len(ask("Algorithm 2 STIR128", with_answer(one, evidence_chunks=2)).evidence) == 2


def test_with_fewer_hits_than_wanted_no_model_is_asked(opened):
    """The refusal says that there were too few."""
    generator = Says("Anything. [c1]")
    asked = ask("KeyGen", with_answer(replace(opened, generator=lambda: generator), min_hits=99))

    assert (asked.answer.text, asked.answer.reason, generator.count) == (REFUSAL, "too-few-hits", 0)


def test_the_prompt_forbids_particulars_and_shows_steps_by_the_line():
    """No number, length or variable that the passages do not have.

    And what a PDF ran together is apart.
    """
    text = f"Algorithm 2 STIR128(p)\n{' '.join(STEPS)}"
    chunk = Chunk(
        chunk_id="pots::p0002::c001",
        doc_id="pots",
        ordinal=1,
        start=0,
        end=len(text),
        start_page=2,
        end_page=2,
        text=text,
    )
    prompt = Prompts().prompt("How?", [Evidence("c1", chunk, 1.0)], 3)

    assert (
        "Write no number, length, name, variable or other particular that is not in the passage"
        in prompt.system
    )
    assert [line for line in prompt.user.split("\n") if line[:3] == "| 2"] == [
        "| 2: t = Absorb(t, p)"
    ]
    assert [line[2] for line in prompt.user.split("\n") if line[3:4] == ":"] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
    ]


def test_answers_and_their_evaluation_go_through_the_same_check(opened):
    """What is not cited is refused in both: nothing of it counts as an answer."""
    uncited = replace(opened, generator=lambda: Says("ML-POT.KeyGen makes a lid."))
    question = "What makes the lid of ML-POT-768?"
    questions = [
        Labelled(question, (answer,), answerable=True)
        for answer in ("KeyGen", "KeyGen", "gold", "gold")
    ]

    assert ask(question, uncited).answer.reason == "contract"
    with pytest.raises(UsageError, match="not right and wrong answers"):
        calibrate(questions, uncited, None)
    assert calibrate(questions, opened, None).reported_questions == 2


class Shuffled(EmbeddedEngine):
    """An engine whose legs come by themselves, in another order each time, and are fused as every
    engine's are.
    """

    def search(self, request):
        """The hits of both legs; a search for definitions has one leg."""
        if request.vector is None:
            return super().search(request)
        chunks, legs = {}, {}
        for leg in ("keyword", "vector"):
            alone = super().search(replace(request, method=leg, size=request.candidates)).hits
            scores = {hit.chunk.chunk_id: hit.score for hit in random.sample(alone, len(alone))}
            chunks |= {hit.chunk.chunk_id: hit.chunk for hit in alone}
            legs[leg] = scores
        scores, path = fuse_legs(request, legs)
        # For the ranks shown.
        in_order = {leg: {key: each[key] for key in ranking(each)} for leg, each in legs.items()}
        return SearchResult(hits(scores, chunks, in_order), path)


def record(asked):
    """The bytes that are printed, with all that can be shown, but for the times."""
    shown = asked.to_dict(evidence=True, prompt=True, explain=True)
    del shown["took_ms"]
    return json.dumps(shown, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "question", ["How does ML-POT.KeyGen work?", "What is the size of the lid of ML-POT-768?"]
)
def test_a_hundred_times_the_same_bytes(opened, question):
    """As the legs come, and shuffled; six documents say the same, so that much is
    decided by ties.
    """
    shuffled = replace(opened, engine=Shuffled(engine_options(opened.settings.engine)))
    plain, other = (
        {record(ask(question, each)) for _ in range(100)} for each in (opened, shuffled)
    )
    shuffled.engine.close()

    assert len(plain) == 1
    assert plain == other
    assert not json.loads(plain.pop())["refused"]


@pytest.mark.parametrize(("half", "least"), [("tune", 27), ("held", 30)])
def test_the_example_keeps_its_score(standards, half, least):
    """Answers with one of the labelled texts, and refusals of what no document answers."""
    assert count_right(standards, EXAMPLE / f"questions-{half}.jsonl") >= least


def test_another_member_of_a_series_is_no_answer(standards):
    """The size of BKX-60 is none of BKX-80, and FLS 12 is not FLS 20."""
    assert standards.ask("What is the size of the encapsulation key of BKX-80?").refused
    assert standards.ask("Who approved FLS 20?").refused
    asked = standards.ask("What is the size of the encapsulation key of BKX-60?")
    assert asked.text.startswith("BKX-60, encapsulation key: 800 bytes [c")


@pytest.fixture(scope="module")
def standards(tmp_path_factory, real_model):
    """The example's documents, ingested once."""
    assert real_model
    folder = tmp_path_factory.mktemp("standards")
    with library.open(folder, preset="cited-specs", settings={"embedding.offline": True}) as index:
        assert index.ingest(EXAMPLE / "docs").failed == 0
        yield index
