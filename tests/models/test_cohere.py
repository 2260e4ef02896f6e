"""Cohere's chat through its own client: what is sent, its citations as our markers, and no half
answer is one.
"""

import json
import logging
import time
import traceback
from importlib.util import find_spec

import pytest
from made_up_models import Stream, stream

from esrag.citations import REFUSAL
from esrag.errors import EsragError, GeneratorError, KeyRefused, SettingsError
from esrag.evidence.selection import documents
from esrag.generating import Draft, GenerationTask, GeneratorOptions
from esrag.generating.model import ModelGenerator, insert_markers
from esrag.models import Cited, ModelOptions, Prompt, Tokens
from esrag.models.cohere import CohereModel
from esrag.plugins import load
from esrag.records import Chunk, Evidence
from esrag.verifying.drafts import to_evidence
from esrag.verifying.verify import verify

pytestmark = pytest.mark.skipif(find_spec("cohere") is None, reason="needs the extra cohere")

QUESTION, SYSTEM = "How much does it hold?", "Answer from the passages."
TEXTS = ("The kettle holds 1.7 litres.", "It weighs 900 grams.", "The lamp has a dimmer.")
# Written by the published reference of the endpoint: the names and the order of its events.
RECORDED = """\
event: message-start
data: {"id":"29f14a5a-11de-4cae-9800-25e4747408ea","type":"message-start","delta":{"message":{"role":"assistant",\
"content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}

event: content-start
data: {"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}

event: content-delta
data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"The"}}}}

event: content-delta
data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":" kettle holds 1.7"}}}}

event: content-delta
data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":" litres. It weighs 900 grams."}}}}

event: citation-start
data: {"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":17,"end":27,"text":"1.7 litres",\
"sources":[{"type":"document","id":"c1","document":{"id":"c1","text":"The kettle holds 1.7 litres.",\
"title":"Kettle"}}],"type":"TEXT_CONTENT"}}}}

event: citation-end
data: {"type":"citation-end","index":0}

event: citation-start
data: {"type":"citation-start","index":1,"delta":{"message":{"citations":{"start":39,"end":48,"text":"900 grams",\
"sources":[{"type":"document","id":"c2","document":{"id":"c2","text":"It weighs 900 grams.","title":"Kettle"}}],\
"type":"TEXT_CONTENT"}}}}

event: citation-end
data: {"type":"citation-end","index":1}

event: content-end
data: {"type":"content-end","index":0}

event: message-end
data: {"type":"message-end","id":"29f14a5a-11de-4cae-9800-25e4747408ea","delta":{"finish_reason":"COMPLETE",\
"usage":{"billed_units":{"input_tokens":31,"output_tokens":14},"tokens":{"input_tokens":586,"output_tokens":63},\
"cached_tokens":512}}}

data: [DONE]

"""  # noqa: E501 -- as recorded


EVIDENCE = tuple(
    Evidence(
        f"c{n}",
        Chunk(
            chunk_id=f"d::p{n:04d}::c001",
            doc_id="d",
            ordinal=n,
            start=0,
            end=len(text),
            start_page=n,
            end_page=n,
            text=text,
            title="Kettle" if n < 3 else "",
        ),
        1 / n,
    )
    for n, text in enumerate(TEXTS, 1)
)
PROMPT = Prompt(SYSTEM, QUESTION, documents(EVIDENCE))


def write(model, said=lambda _: None):
    """The draft that the generator makes of the model's completion, about three passages."""
    task = GenerationTask(
        question=QUESTION,
        evidence=EVIDENCE,
        statements=(),
        max_sentences=3,
        prompt=PROMPT,
        model=model,
        on_piece=said,
    )
    return ModelGenerator(GeneratorOptions()).generate(task)


@pytest.fixture
def opened(service, clock):
    """Opens the generator of the service: `opened(option=…)`; time passes by sleeping, but where
    `waits` is set.
    """

    def open_one(*, waits=False, **options):
        given = service.model_options("cohere", **options)
        trial = {} if waits else {"sleep": clock.sleep, "clock": clock}
        generator = CohereModel(given, **trial)
        assert generator._client.chat_stream  # imported, which takes longer than some tests wait
        return generator

    return open_one


def shown(error):
    """All that an error can show: its line, its hint, its representation and its trace with
    causes.
    """
    return "".join([str(error), repr(error), error.hint, *traceback.format_exception(error)])


def told(*parts, wait_s=0.0, ends=True):
    """A script's entry: these parts of a stream."""
    return lambda handler, _: stream(handler, parts, wait_s, ends=ends)


def changed(old, new):
    """A script's entry: the recorded answer with something else in it."""
    assert old in RECORDED
    return told(RECORDED.replace(old, new))


def test_a_recorded_answer_is_read_by_the_client(opened, service):
    """Each sentence gets the marker of the passage that Cohere cites for it; the draft is shown
    once it is whole.
    """
    service.script, came = [told(RECORDED)], []
    text = "The kettle holds 1.7 litres. [c1] It weighs 900 grams. [c2]"
    assert write(opened(), came.append) == Draft(text, "made-up")
    assert came == [text]


def test_the_request_holds_the_question_and_the_passages(opened, service):
    """The system's message and the question, passages as documents under their keys, temperature
    0, and the key.
    """
    write(opened())
    ((path, headers, body),) = service.asked
    assert (path, headers["Authorization"]) == ("/v2/chat", f"Bearer {service.key}")
    assert body == {
        "model": "made-up",
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "How much does it hold?"},
        ],
        "documents": [
            {"id": "c1", "data": {"title": "Kettle", "text": TEXTS[0]}},
            {"id": "c2", "data": {"title": "Kettle", "text": TEXTS[1]}},
            {"id": "c3", "data": {"text": TEXTS[2]}},
        ],
        "max_tokens": 1000,
        "temperature": 0,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("cited", "text"),
    [
        (
            [(17, 48, ["c2", "c1"])],
            "The kettle holds 1.7 litres. [c1][c2] It weighs 900 grams. [c1][c2]",
        ),
        (
            [(17, 27, ["c1"]), (39, 48, ["c1"])],
            "The kettle holds 1.7 litres. [c1] It weighs 900 grams. [c1]",
        ),
        (
            [(17, 27, ["c3"]), (4, 10, ["c1"])],
            "The kettle holds 1.7 litres. [c1][c3] It weighs 900 grams.",
        ),
        ([(17, 27, ["c9", "doc:0"])], "The kettle holds 1.7 litres. It weighs 900 grams."),
        ([(28, 29, ["c1"]), (90, 99, ["c2"])], "The kettle holds 1.7 litres. It weighs 900 grams."),
        ([], "The kettle holds 1.7 litres. It weighs 900 grams."),
    ],
    ids=[
        "over two sentences",
        "twice",
        "two of one sentence",
        "unknown",
        "between and beyond",
        "none",
    ],
)
def test_citations_become_markers(opened, service, cited, text):
    """Of the passages that were given, in their order; a sentence without one stays bare, which
    the check refuses.
    """
    service.said, service.cited = ["The kettle holds ", "1.7 litres. It weighs 900 grams."], cited
    assert write(opened()).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It boils. [c2] It is red.", "It boils. [c2] It is red. [c1]"),
        ("It boils [c2]. It is red.", "It boils [c2]. It is red. [c1]"),
        ("It boils. It is red. [c2][c3]", "It boils. [c1] It is red. [c2][c3]"),
        ("- It boils\n- It is red\n", "- It boils [c1]\n- It is red [c1]\n"),
        ("", ""),
        ("It cannot find its lid.", "It cannot find its lid. [c1]"),
    ],
)
def test_what_is_marked_already_stays(text, expected):
    """Markers that the model wrote are left alone."""
    assert insert_markers(text, [Cited(0, len(text), ("c1",))], ["c1"]) == expected


@pytest.mark.parametrize("text", [REFUSAL, "The documents do not mention it."])
@pytest.mark.parametrize("keys", [(), ("c1",)])
def test_a_refusal_is_one_whether_or_not_it_is_cited(text, keys):
    """The check knows it with markers, too."""
    draft = insert_markers(text, [Cited(0, len(text), keys)], ["c1"])
    assert verify(draft, to_evidence(["It boils."])).reason == "model-refused"


@pytest.mark.parametrize("end", ['").', '.")', '. It is. It boils."'])
def test_a_marker_stands_behind_the_quote_of_its_sentence(end):
    """Cohere is asked for quotes as others are, in the system's message; it cites its sentences,
    which hold them.
    """
    text = f'The kettle holds 1.7 litres ("kettle holds 1.7 litres{end}'
    assert (
        insert_markers(f"{text} It is red.", [Cited(4, 20, ("c1",))], ["c1"])
        == f"{text} [c1] It is red."
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"start":17,"end":27', '"start":18,"end":28'),
        ('"start":17,"end":27', '"start":-60,"end":-20'),
        ('"start":17,"end":27,', ""),
        ('"text":"1.7 litres",', ""),
    ],
)
def test_a_citation_that_is_not_where_it_says_is_none(opened, service, old, new):
    """The client leaves out what it cannot read without a word; a marker must not come to stand
    elsewhere.
    """
    service.script = [changed(old, new)]
    assert write(opened()).text == "The kettle holds 1.7 litres. It weighs 900 grams. [c2]"


def test_what_a_model_thinks_is_no_part_of_its_answer(opened, service):
    """Only text is."""
    start = RECORDED.index("event: content-delta")
    thinks = {
        "type": "content-delta",
        "index": 0,
        "delta": {"message": {"content": {"thinking": "99 litres?"}}},
    }
    service.script = [told(RECORDED[:start], f"data: {json.dumps(thinks)}\n\n", RECORDED[start:])]
    assert write(opened()).text == "The kettle holds 1.7 litres. [c1] It weighs 900 grams. [c2]"


def test_what_cannot_be_shown_is_left_out(opened, service):
    """Control characters neither reach the terminal nor the draft."""
    service.said, came = ["\x1b[31mIt boils.", "\x00"], []
    assert write(opened(), came.append).text == "[31mIt boils."
    assert came == ["[31mIt boils."]


def test_an_empty_answer_is_an_empty_draft(opened, service):
    """The check of the draft makes a refusal of it."""
    service.said = []
    assert write(opened()).text == ""


def test_a_cost_that_is_not_said_is_none(opened, service):
    """And no reason to lose the answer."""
    service.script = [changed('"tokens":{"input_tokens":586,"output_tokens":63},', "")]
    assert opened().complete(PROMPT).tokens is None


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "ERROR", "TIMEOUT", "TOOL_CALL", "NEW"])
def test_a_cut_answer_is_none(opened, service, reason):
    """Whatever came of it, and it is not asked for again."""
    service.script = [changed('"COMPLETE"', f'"{reason}"')]
    with pytest.raises(
        GeneratorError, match=r"max_output_tokens" if reason == "MAX_TOKENS" else f"off: {reason}"
    ):
        write(opened())
    assert len(service.asked) == 1


@pytest.mark.parametrize("cut", ["no end", "cut"])
def test_a_stream_that_breaks_off_is_asked_for_again(opened, service, cut):
    """Nobody saw anything of it, so half an answer costs a second try and is never taken for a
    whole one.
    """
    half = RECORDED[: RECORDED.index("event: content-end")]
    service.script = [told(half, ends=cut == "no end")] * 2 + [told(RECORDED)]
    assert opened().complete(PROMPT).tokens == Tokens(586, 63)
    service.script = [told(half, ends=cut == "no end")] * 3
    with pytest.raises(GeneratorError, match=r"\(3 tries\)"):
        write(opened())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"text":" kettle holds 1.7"}}}}', '{"text":" kettle'),
        ('"delta":{"message":{"content":{"text":"The"}}}', '"delta":null'),
        ('"delta":{"finish_reason":"COMPLETE"', '"delt":{"finish_reason":"COMPLETE"'),
        ('"delta":{"message":{"citations":', '"delta":{"mess":{"citations":'),
    ],
    ids=["bad JSON", "no text", "no reason", "no citation"],
)
def test_an_answer_of_another_form_is_an_error(opened, service, old, new):
    """One clear line, whatever came before it."""
    service.script = [changed(old, new)] * 3
    with pytest.raises(GeneratorError, match=r"does not answer as a chat|stopped before its end"):
        write(opened())


@pytest.mark.parametrize("said", [["A" * 10_000] * 150, [""]])
def test_a_megabyte_is_not_kept(opened, service, said):
    """Neither of text nor of citations."""
    service.said, service.cited = said, [] if said[0] else [(0, 0, ["c1"])] * 1100
    with pytest.raises(GeneratorError, match="more than 1048576 bytes"):
        write(opened())


def test_who_is_told_when_to_come_back_does(opened, service, answering, clock):
    """429 with Retry-After: waited as told, and asked once, for the client does not try by
    itself.
    """
    service.script = [answering(429, {"message": "slow down"}, {"Retry-After": "7"})]
    assert write(opened()).text
    assert (clock.slept, len(service.asked)) == ([7], 2)


def test_tries_are_bounded(opened, service, answering):
    """Three of them, then what the service said last."""
    service.script = [answering(503, {"message": "under repair"})] * 3
    with pytest.raises(GeneratorError, match=r"answered 503: under repair \(3 tries\)"):
        write(opened())
    assert len(service.asked) == 3


@pytest.mark.parametrize(
    "slow",
    [
        lambda handler, _: handler.server.ended.wait(30),
        told(RECORDED[:900], RECORDED[900:], wait_s=30),
        told(*Stream(RECORDED), wait_s=0.05),
    ],
    ids=["silent", "stops", "drips"],
)
def test_the_time_limit_is_for_the_whole_answer(opened, service, slow):
    """Also where nothing comes at all, where it stops in its middle, and where a byte comes now
    and then.
    """
    model = opened(waits=True, timeout_s=0.3)
    service.script, began = [slow], time.monotonic()
    with pytest.raises(GeneratorError, match=r"no whole answer within 0\.3 s"):
        write(model)
    assert 0.25 < time.monotonic() - began < 15  # it would be half a minute


@pytest.mark.parametrize(
    ("status", "kind", "hint"),
    [
        (401, KeyRefused, "ESRAG_MODELS__DEFAULT__API_KEY"),
        (404, SettingsError, "models.default.model"),
        (307, SettingsError, "models.default.url"),
        (400, GeneratorError, ""),
    ],
)
def test_what_will_not_pass_is_an_error_at_once(opened, service, answering, status, kind, hint):
    """One request, the service's words, and where to look; a redirect is not followed."""
    service.script = [
        answering(status, {"message": f"bad {service.key}"}, {"Location": f"{service.url}/v2/chat"})
    ]
    with pytest.raises(kind, match=rf"answered {status}: bad \*{{8}}") as caught:
        write(opened())
    assert hint in caught.value.hint
    assert len(service.asked) == 1


@pytest.mark.parametrize("fault", [401, 500, "reason"])
def test_no_log_and_no_trace_holds_the_key(opened, service, answering, caplog, capfd, fault):
    """A service that gives the key back in its words."""
    caplog.set_level(logging.DEBUG)
    echo = json.dumps(f"bad {service.key}")
    script = (
        changed('"COMPLETE"', echo)
        if fault == "reason"
        else answering(fault, {"message": f"bad {service.key}"})
    )
    service.script, model = [script] * 3, opened()
    with pytest.raises(EsragError) as caught:
        write(model)
    printed = "".join(capfd.readouterr()) + caplog.text + shown(caught.value) + repr(model)
    assert "bad ********" in printed
    assert service.key not in printed


def test_a_key_is_needed(service):
    """The error names the variable; a key in the client's own variable is not taken."""
    with pytest.raises(SettingsError, match=r"models\.default needs a key") as caught:
        load("models", "cohere")(ModelOptions(model="m", url=service.url))
    assert caught.value.hint == "set ESRAG_MODELS__DEFAULT__API_KEY"


def test_citations_stand_where_the_text_is_shown(opened, service):
    """Also after characters that are not shown, which the service counts."""
    service.said = ["\x1b\u200bIt boils at 90 degrees. It is red."]
    service.cited = [(5, 25, ["c1"])]
    assert write(opened()).text == "It boils at 90 degrees. [c1] It is red."
