"""A model behind OpenAI's interface: what is sent, what is taken for an answer, and no half
answer is one.
"""

import json
import logging
import time
import traceback
from threading import Event

import pytest
from made_up_models import Stream, stream

from esrag.errors import EsragError, GeneratorError, KeyRefused, SettingsError
from esrag.models import ModelOptions, Prompt, Tokens
from esrag.models.openai import OpenAIModel
from esrag.plugins import load

PROMPT = Prompt(
    "Answer from the passages.", "| The kettle holds 1.7 litres.\nQuestion: How much does it hold?"
)
TEXT = "The kettle holds 1.7 litres. [c1]"


def asked(said=lambda _: None):
    """A prompt, and who is told the pieces of the answer."""
    return PROMPT, said


def text_and_tokens(completion):
    """What was written, and what it took."""
    return completion.text, completion.tokens


@pytest.fixture
def opened(service, clock):
    """Opens the generator of the service: `opened(option=…)`; time passes by sleeping, but where
    `waits` is set.
    """

    def open_one(*, waits=False, **options):
        given = service.model_options("openai", **options)
        trial = {} if waits else {"sleep": clock.sleep, "clock": clock}
        return OpenAIModel(given, **trial)

    return open_one


def chunk(text=None, reason=None, **others):
    """One part of an answer."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]} | others


def events(*data):
    """A script's entry: a stream of these, which are objects or text, and no more than these."""
    told = Stream(
        f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in data
    )
    return lambda handler, _: stream(handler, told)


def raw(*parts, wait_s=0.0, ends=True):
    """A script's entry: these bytes of a stream, each a part of its own."""
    return lambda handler, _: stream(handler, parts, wait_s, ends=ends)


def shown(error):
    """All that an error can show: its line, its hint, its representation and its trace with
    causes.
    """
    return "".join([str(error), repr(error), error.hint, *traceback.format_exception(error)])


def test_the_pieces_come_in_order_and_make_the_draft(opened):
    """What was said piece by piece is the draft; its cost is the service's, and so is the model's
    name.
    """
    came, model = [], opened()
    assert model.model == "made-up"
    assert text_and_tokens(model.complete(*asked(came.append))) == (TEXT, Tokens(70, 2))
    assert came == ["The kettle holds ", "1.7 litres. [c1]"]
    assert (model.model, model.takes_documents) == ("made-up-2026-11-22", False)


def test_a_piece_is_handed_on_before_the_next_one_is_there(opened, service):
    """Whoever waits sees the first words while the model writes the others."""
    heard, told = Event(), []

    def act(handler, _):
        stream(handler, [f"data: {json.dumps(chunk('One'))}\n\n"], ends=False)
        told.append(heard.wait(10))

    service.script = [act]
    with pytest.raises(GeneratorError):
        opened().complete(*asked(lambda _: heard.set()))
    assert told == [True]


def test_the_request_is_the_prompt_and_nothing_varies(opened, service):
    """Both messages, temperature 0, a stream with its cost, and the key in a header."""
    opened().complete(*asked())
    ((path, headers, body),) = service.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {service.key}"
    assert body == {
        "model": "made-up",
        "messages": [
            {"role": "system", "content": PROMPT.system},
            {"role": "user", "content": PROMPT.user},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 1000,
        "temperature": 0,
    }


def test_a_server_that_does_not_stream_is_understood(opened, service, answering):
    """One object instead of a stream: the whole answer at once."""
    honest = {
        "choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}],
        "usage": None,
        "model": "m",
    }
    service.script = [answering(200, honest)]
    came = []
    assert text_and_tokens(opened().complete(*asked(came.append))) == (TEXT, None)
    assert came == [TEXT]


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    ("refused", "instead"),
    [("stream_options", {}), ("temperature", {}), ("max_tokens", {"max_completion_tokens": 1000})],
)
def test_an_option_that_a_server_does_not_know_is_left_out(
    opened, service, answering, status, refused, instead
):
    """Asked again without it, and not with it the next time."""
    service.script = [answering(status, {"error": {"message": f"Unknown parameter: '{refused}'"}})]
    model = opened()
    assert [model.complete(*asked()).text for _ in range(2)] == [TEXT, TEXT]
    first, *others = [body for _, _, body in service.asked]
    assert len(others) == 2
    assert all(
        body == {k: v for k, v in first.items() if k != refused} | instead for body in others
    )


def test_a_request_that_stays_wrong_is_not_sent_for_ever(opened, service, answering):
    """A server that names every option each time: once without each of them, then its words."""
    words = {"detail": "stream_options, max_tokens and temperature are bad"}
    service.script = [answering(400, words)] * 9
    with pytest.raises(GeneratorError, match="answered 400: stream_options"):
        opened().complete(*asked())
    assert len(service.asked) == 4


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_stream_is_read_by_its_specification(opened, service, newline):
    """Comments, other fields, several lines of data, any line end and a byte order mark, in parts
    of any size.
    """
    first, second = (
        json.dumps(chunk("Grüße. "), indent=1, ensure_ascii=False),
        json.dumps(chunk("Ende. [c1]")),
    )
    lines = [
        f"\ufeffdata: {first[:1]}", *(f"data: {line}" for line in first[1:].splitlines()),
        "event: message", "", "retry: 10", ": ping", "", "id: 7", f"data:{second}", "data", "",
        f"data: {json.dumps(chunk(reason='stop'))}", "", "data: [DONE]", "",
        "data: {never read", "",
    ]  # fmt: skip
    text = newline.join([*lines, ""])
    service.script = [raw(*(text[at : at + 3] for at in range(0, len(text), 3)))]
    assert opened().complete(*asked()).text == "Grüße. Ende. [c1]"


def test_what_a_model_thinks_is_no_part_of_its_answer(opened, service):
    """Only the content is read."""
    thinks = {"choices": [{"delta": {"reasoning_content": "Hm, 99 litres?", "content": None}}]}
    service.script = [events(thinks, chunk(TEXT), chunk(reason="stop"), "[DONE]")]
    assert opened().complete(*asked()).text == TEXT


def delta(reason=None, **fields):
    """One part of an answer with other fields than a text."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


FILTERED = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
COST = {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 2}}
ROLE = delta(role="assistant", content=None)
DIALECTS = {
    "OpenAI": [
        delta(role="assistant", content="", refusal=None),
        chunk(TEXT),
        chunk(reason="stop"),
        COST,
        "[DONE]",
    ],
    "Azure": [FILTERED, ROLE, chunk(TEXT), delta("stop"), COST, "[DONE]"],
    "vLLM": [
        delta(role="assistant", content=""),
        delta(reasoning="9?"),
        chunk(TEXT),
        chunk("", "stop"),
        COST,
        "[DONE]",
    ],
    "vLLM without a reason": [ROLE, chunk(TEXT) | {"usage": None}, COST, "[DONE]"],
    "llama.cpp": [
        ROLE,
        chunk(TEXT),
        delta("stop") | {"timings": {"predicted_ms": 1.5}} | {"usage": COST["usage"]},
    ],
    "Ollama": [
        delta("", role="assistant", content=TEXT),
        delta("stop", role="assistant", content=""),
        COST,
        "[DONE]",
    ],
    "Ollama thinks": [
        delta("", content="", reasoning="9?"),
        chunk(TEXT),
        chunk("", "stop"),
        COST,
        "[DONE]",
    ],
    "Gemini": [delta("stop", role="assistant", content=TEXT) | {"usage": COST["usage"]}, "[DONE]"],
    "Gemini by a proxy": [chunk(TEXT[:9], "STOP"), chunk(TEXT[9:], "STOP"), COST, "[DONE]"],
    "OpenRouter": ["", ROLE | {"error": None}, chunk(TEXT), chunk(reason="stop"), COST, "[DONE]"],
    "no delta": [
        chunk(TEXT),
        {"choices": [{"index": 0, "finish_reason": "eos_token"}]},
        {"choices": None},
        COST,
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_dialects_of_the_interface_are_understood(opened, service, dialect):
    """A role alone, no choices, thoughts, a cost on its own or beside, an end said early, late,
    often or not.
    """
    service.script, came = [events(*DIALECTS[dialect])], []
    assert text_and_tokens(opened().complete(*asked(came.append))) == (TEXT, Tokens(70, 2))
    assert "".join(came) == TEXT


@pytest.mark.parametrize("text", ["", "The kettle holds"])
def test_an_error_in_the_field_of_llama_cpp_is_an_error(opened, service, text):
    """Not one of the standard; the end of the stream that follows it ends no answer."""
    told = (
        f"data: {json.dumps(chunk(text))}\n\n",
        'error: {"code":400,"message":"too long"}\n\n',
        "data: [DONE]\n\n",
    )
    service.script = [raw(*told)] * 3
    with pytest.raises(GeneratorError, match="too long"):
        opened().complete(*asked())


def test_an_error_within_a_stream_that_will_not_pass_is_said_at_once(opened, service):
    """It has HTTP's status with it, as those of llama.cpp and vLLM."""
    service.script = [
        events({"error": {"code": 400, "message": "exceeds the context size", "type": "x"}})
    ]
    with pytest.raises(GeneratorError, match=r"answered 400: exceeds the context size$"):
        opened().complete(*asked())
    assert len(service.asked) == 1


def test_an_error_in_a_list_is_read(opened, service, answering):
    """As Gemini gives it."""
    service.script = [
        answering(429, [{"error": {"code": 429, "message": "Resource has been exhausted"}}])
    ] * 3
    with pytest.raises(
        GeneratorError, match=r"answered 429: Resource has been exhausted \(3 tries\)"
    ):
        opened().complete(*asked())


@pytest.mark.parametrize("pieces", [1, 2, 3, 5, 8, 1000])
@pytest.mark.parametrize(
    ("said", "draft"),
    [
        (f"<think>Hm, 99 litres? [c1] <think> <b></thin</think>\n\n{TEXT}", TEXT),
        (f" \n<think></think>{TEXT}", TEXT),
        (f"<think>{'So. ' * 200}</think>{TEXT}", TEXT),
        (f"<thin>{TEXT}", f"<thin>{TEXT}"),
        (f"{TEXT} <think>No!</think>", f"{TEXT} <think>No!</think>"),
        (f"<think>Hm.</think>{TEXT}<think>No!</think>", f"{TEXT}<think>No!</think>"),
        (f"</think>{TEXT}", f"</think>{TEXT}"),
        ("<thi", "<thi"),
        ("<think>All of it.</think>", ""),
    ],
    ids=["thinks", "nothing", "long", "other tag", "later", "twice", "only ends", "begins", "only"],
)
def test_what_a_model_thinks_aloud_at_the_start_is_left_out(opened, service, said, draft, pieces):
    """However it is cut into pieces, and nowhere else: what comes later is said, and checked."""
    told = [chunk(said[at : at + pieces]) for at in range(0, len(said), pieces)]
    service.script, came = [events(*told, chunk(reason="stop"))], []
    assert opened().complete(*asked(came.append)).text.strip() == draft
    assert "".join(came).strip() == draft


def test_a_thought_without_an_end_is_no_answer(opened, service):
    """Nothing of it was said, so it is no refusal either."""
    service.script, came = [events(chunk("<think>Hm, "), chunk(TEXT), chunk(reason="stop"))], []
    with pytest.raises(GeneratorError, match="made-up thought to the end of its answer") as caught:
        opened().complete(*asked(came.append))
    assert (came, len(service.asked)) == ([], 1)
    assert "models.default.max_output_tokens" in caught.value.hint


def test_what_cannot_be_shown_is_not_handed_on(opened, service):
    """Control characters and lone surrogates neither reach the terminal nor the draft."""
    told = [
        chunk("\x1b[31mRed\x00"),
        chunk("\ud800"),
        chunk(" cafe"),
        chunk("\u0301.\r\n[c1]"),
        chunk("", "stop"),
        "[DONE]",
    ]
    service.script, came = [events(*told)], []
    assert opened().complete(*asked(came.append)).text == "[31mRed café.\n[c1]"
    assert came == ["[31mRed", " cafe", "\u0301.\n[c1]"]


def test_an_empty_answer_is_an_empty_draft(opened, service):
    """The check of the draft makes a refusal of it."""
    service.script = [events(chunk(""), chunk(reason="stop"), "[DONE]")]
    assert text_and_tokens(opened().complete(*asked())) == ("", None)


@pytest.mark.parametrize(
    "ending",
    [
        [chunk(reason="stop"), "[DONE]"],
        [chunk(reason="stop")],
        ["[DONE]"],
        [chunk(reason="eos"), "[DONE]"],
    ],
)
def test_an_answer_is_whole_where_its_end_is_said(opened, service, ending):
    """By a reason or by the end of the stream; servers do one or both."""
    service.script = [events(chunk(TEXT), *ending)]
    assert opened().complete(*asked()).text == TEXT


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("length", "cut off after models.default.max_output_tokens"),
        ("content_filter", "content_filter"),
        ("abort", "abort"),
    ],
)
def test_a_cut_answer_is_none(opened, service, reason, words):
    """Whatever came of it, and it is not asked for again."""
    service.script = [events(chunk(TEXT), chunk(reason=reason), "[DONE]")]
    with pytest.raises(GeneratorError, match=words):
        opened().complete(*asked())
    assert len(service.asked) == 1


ODD = {
    "bad JSON": [chunk("One"), '{"choices": [{"delta": {"con'],
    "deep": ["[" * 100_000],
    "list": [chunk("One"), []],
    "null": ["null"],
    "text": ['"text"'],
    "number": [chunk(7)],
    "parts": [chunk([{"type": "text", "text": "One"}])],
    "choices": [{"choices": 7}],
    "no object": [{"choices": ["One"]}],
}


@pytest.mark.parametrize("odd", ODD)
def test_an_answer_of_another_form_is_an_error(opened, service, odd):
    """One clear line and no second try, whatever came before it."""
    service.script = [events(*ODD[odd], chunk("Two", "stop"), "[DONE]")]
    with pytest.raises(GeneratorError, match="does not answer as a chat service does") as caught:
        opened().complete(*asked())
    assert (len(service.asked), caught.value.exit_code) == (1, 4)
    assert "models.default.url" in caught.value.hint


@pytest.mark.parametrize(
    "body", ["{", "[]", "null", '"text"', "[" * 100_000, '{"choices": [{"message": 7}]}']
)
def test_one_object_of_another_form_is_an_error(opened, service, answering, body):
    """As in a stream."""
    service.script = [answering(200, body)]
    with pytest.raises(GeneratorError, match="does not answer as a chat service does"):
        opened().complete(*asked())


@pytest.mark.parametrize("said", [[chunk(None, "stop")], [{"choices": []}], [{}], ["[DONE]"]])
def test_no_text_at_all_is_an_error(opened, service, said):
    """No choices, or content that is null."""
    service.script = [events(*said, "[DONE]")]
    with pytest.raises(GeneratorError, match="answers without a text"):
        opened().complete(*asked())


@pytest.mark.parametrize("body", ["", "<html>hello</html>", "data: never ended"])
def test_a_page_is_no_answer(opened, service, answering, body):
    """What is no stream has no end that is said."""
    service.script = [answering(200, body, {"Content-Type": "text/html"})] * 3
    with pytest.raises(GeneratorError, match="stopped before its end"):
        opened().complete(*asked())


def test_a_megabyte_is_not_read(opened, service):
    """Nor kept: an endless answer stops at the limit, which grows with the tokens that are
    allowed.
    """
    service.script = [events(*[chunk("A" * 10_000)] * 150, chunk(reason="stop"))] * 2
    with pytest.raises(GeneratorError, match="more than 1048576 bytes"):
        opened().complete(*asked())
    assert len(opened(max_output_tokens=2000).complete(*asked()).text) == 1_500_000


def test_who_is_told_when_to_come_back_does(opened, service, answering, clock):
    """429 with Retry-After: waited as told, then the answer."""
    service.script = [answering(429, {"error": {"message": "slow down"}}, {"Retry-After": "7"})]
    assert opened().complete(*asked()).text == TEXT
    assert clock.slept == [7]


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_a_service_that_stumbles_is_asked_again(opened, service, answering, clock, status):
    """Twice; the second wait is the longer one."""
    service.script = [answering(status, {"error": {"message": "try again"}})] * 2
    assert opened().complete(*asked()).text == TEXT
    assert 0.5 <= clock.slept[0] <= 1 <= clock.slept[1] <= 2


def test_tries_are_bounded(opened, service, answering):
    """Three of them, then what the service said last."""
    service.script = [answering(503, {"detail": "under repair"})] * 3
    with pytest.raises(GeneratorError, match=r"answered 503: under repair \(3 tries\)") as caught:
        opened().complete(*asked())
    assert (len(service.asked), caught.value.hint) == (3, "ask again later")


def test_a_wait_longer_than_the_time_there_is_is_handed_back(opened, service, answering, clock):
    """Nothing is slept through that cannot end well."""
    service.script = [answering(429, {"message": "quota used up"}, {"Retry-After": "61"})]
    with pytest.raises(GeneratorError, match=r"quota used up \(1 try\)") as caught:
        opened().complete(*asked())
    assert (clock.slept, caught.value.hint) == ([], "ask again in 61 s")


@pytest.mark.parametrize("fault", ["cut", "no end", "error"])
def test_a_stream_that_breaks_off_before_any_text_is_asked_for_again(opened, service, fault):
    """Nobody saw anything of it."""
    first = f"data: {json.dumps(chunk(''))}\n\n"
    script = {
        "cut": raw(first, ends=False),
        "no end": raw(first),
        "error": events({"error": {"message": "overloaded", "code": 503}}),
    }
    service.script = [script[fault]] * 2
    assert opened().complete(*asked()).text == TEXT
    assert len(service.asked) == 3


@pytest.mark.parametrize(
    ("fault", "words"),
    [("cut", "IncompleteRead"), ("no end", "the answer stopped"), ("error", "overloaded")],
)
def test_a_stream_that_breaks_off_after_text_is_an_error(opened, service, fault, words):
    """Half an answer is never taken for a whole one, and its words are not said twice."""
    first = f"data: {json.dumps(chunk('The kettle holds'))}\n\n"
    script = {
        "cut": raw(first, ends=False),
        "no end": raw(first),
        "error": events(chunk("The kettle holds"), {"error": {"message": "overloaded"}}),
    }
    service.script, came = [script[fault]], []
    with pytest.raises(GeneratorError, match=f"broke its answer off: {words}"):
        opened().complete(*asked(came.append))
    assert (len(service.asked), came) == (1, ["The kettle holds"])


def test_half_an_object_is_no_answer(opened, service, answering):
    """A connection that ends in the middle of it: asked again."""
    service.script = [
        lambda handler, _: answering.part()(handler, {"choices": [{"message": {"content": TEXT}}]})
    ]
    assert opened().complete(*asked()).text == TEXT
    assert len(service.asked) == 2


def hang(handler, _):
    """Takes the request and never answers."""
    handler.server.ended.wait(30)


SLOW = {
    "silent": hang,
    "stops": raw(f"data: {json.dumps(chunk('One '))}\n\n", ": ", wait_s=30),
    "drips": raw(*[f"data: {json.dumps(chunk('One '))}\n\n"] * 600, wait_s=0.05),
    "pings": raw(*[": ping\n\n"] * 600, wait_s=0.05),
    "bytes": raw(*"data: {" + " " * 600, wait_s=0.05),
}


@pytest.mark.parametrize("slow", SLOW)
def test_the_time_limit_is_for_the_whole_answer(opened, service, slow):
    """Also where nothing comes at all, where it stops in its middle, and where a byte comes now
    and then.
    """
    service.script, began = [SLOW[slow]], time.monotonic()
    with pytest.raises(GeneratorError, match=r"no whole answer within 0\.3 s") as caught:
        opened(waits=True, timeout_s=0.3).complete(*asked())
    assert 0.25 < time.monotonic() - began < 15  # it would be half a minute
    assert "models.default.timeout_s" in caught.value.hint


def test_nobody_there_is_said_so(opened, service):
    """A refused connection: after the tries, the address and where to look."""
    model = opened()
    service.stop()
    with pytest.raises(GeneratorError, match=r"did not answer: .*refused.* \(3 tries\)") as caught:
        model.complete(*asked())
    assert "models.default.url" in caught.value.hint


@pytest.mark.parametrize(
    ("status", "kind", "hint"),
    [
        (401, KeyRefused, "ESRAG_MODELS__DEFAULT__API_KEY"),
        (403, KeyRefused, "ESRAG_MODELS__DEFAULT__API_KEY"),
        (404, SettingsError, "models.default.model"),
        (307, SettingsError, "models.default.url"),
        (400, GeneratorError, ""),
        (413, GeneratorError, ""),
    ],
)
def test_what_will_not_pass_is_an_error_at_once(opened, service, answering, status, kind, hint):
    """One request, the service's words, and where to look; a redirect is not followed."""
    body = {"error": {"message": f"no \x1b[31m\nuse: {service.key}"}}
    service.script = [answering(status, body, {"Location": f"{service.url}/v1/chat/completions"})]
    with pytest.raises(kind, match=rf"answered {status}: no \[31m use: \*{{8}}") as caught:
        opened().complete(*asked())
    assert hint in caught.value.hint
    assert len(service.asked) == 1
    assert service.key not in shown(caught.value)


@pytest.mark.parametrize("fault", [401, 500, "error", "reason", "model"])
def test_no_log_and_no_trace_holds_the_key(opened, service, answering, caplog, capfd, fault):
    """A service that gives the key back in its words, or as the model's name."""
    caplog.set_level(logging.DEBUG)
    script = {
        "error": events({"error": {"message": f"bad {service.key}"}}),
        "reason": events(chunk("", f"bad {service.key}")),
        "model": events(chunk("One", "length", model=f"bad {service.key}")),
    }
    service.script = [script.get(fault) or answering(fault, {"message": f"bad {service.key}"})] * 3
    model = opened()
    with pytest.raises(EsragError) as caught:
        model.complete(*asked())
    printed = (
        "".join(capfd.readouterr()) + caplog.text + shown(caught.value) + repr(model) + model.model
    )
    assert service.key not in printed + repr(service.model_options("openai"))


def test_what_the_listener_raises_is_its_own(opened, service):
    """It is no fault of the service, and the service is not asked again."""

    def said(_):
        raise ValueError("the pipe is closed")

    with pytest.raises(ValueError, match="the pipe is closed"):
        opened().complete(*asked(said))
    assert len(service.asked) == 1


def test_a_key_is_needed_where_one_is_sure_to_be(opened, service):
    """At OpenAI's own address; a server of one's own often has none, and then no header is sent."""
    with pytest.raises(SettingsError, match=r"models\.default needs a key") as caught:
        load("models", "openai")(ModelOptions(model="gpt"))
    assert caught.value.hint == "set ESRAG_MODELS__DEFAULT__API_KEY"
    assert opened(api_key="").complete(*asked()).text == TEXT
    assert "Authorization" not in service.asked[0][1]


def test_a_model_is_needed():
    """A service does not choose one."""
    with pytest.raises(SettingsError, match="needs a model") as caught:
        OpenAIModel(ModelOptions(api_key="key"))
    assert caught.value.hint == "set ESRAG_MODELS__DEFAULT__MODEL"


@pytest.mark.parametrize(
    "options",
    [
        {"url": "nonsense"},
        {"url": "http://a\nb"},
        {"url": "http://me:hunter2@host"},
        {"api_key": "hunter2 ю"},
    ],
)
def test_an_address_or_a_key_that_is_none_is_not_quoted(options):
    """Said when it is opened, without what may be secret."""
    with pytest.raises(SettingsError) as caught:
        OpenAIModel(ModelOptions(model="m", **options))
    assert "hunter2" not in shown(caught.value) + repr(ModelOptions(model="m", api_key="hunter2"))
