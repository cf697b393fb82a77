"""Ollama's own chat: one string of content, images beside it, arguments as objects, lines for a stream."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ToolDef,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import ContentError, ProviderError, UsageError
from ellmer_core.providers.ollama import chat_ollama
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import TypeBasic
from ellmer_core.wire.ollama.from_wire import OllamaMerger
from ellmer_core.wire.ollama.to_wire import OllamaChat

WIRE = OllamaChat(model="qwen3")
NATIVE = OllamaChat(model="qwen3", tool_media="native")
PNG, JPG = ContentImageInline("image/png", "iVBORw0KGgo="), ContentImageInline("image/jpeg", "/9j/")
PDF = ContentPDF("application/pdf", "JVBERi0=")
ONE, TWO = ContentToolRequest("call_1", "draw", {"n": 1}), ContentToolRequest("call_2", "look", {})
OPEN, CLOSE = '<content tool-call-id="call_1">', "</content>"
SHAPE = TypeObject(properties={"n": TypeBasic(type="integer")})


def result(value=None, request=ONE, error=None):
    return ContentToolResult(value, error=error, request=request)


def test_a_request():
    tool = ToolDef(lambda n: n, "draw", "Draws.", SHAPE)
    body = WIRE.request([SystemTurn("Be brief."), UserTurn("Hi")], [tool]).json

    assert body["stream"] is False  # left out, it would be true
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    assert body["tools"][0]["function"]["parameters"]["required"] == ["n"]
    request = WIRE.request([UserTurn("Hi")], stream=True, type=SHAPE)
    assert request.url == "http://localhost:11434/api/chat"
    assert (request.framing, request.json["stream"]) == ("ndjson", True)
    assert request.json["format"]["properties"] == {"n": {"type": "integer"}}


def test_parameters_are_options():
    params = {
        "temperature": 0,
        "max_tokens": 9,
        "seed": 1,
        "stop_sequences": ["x"],
        "reasoning_effort": "low",
    }
    body = OllamaChat(model="m", params=params).request([UserTurn("Hi")]).json

    assert body["options"] == {"temperature": 0, "num_predict": 9, "seed": 1, "stop": ["x"]}
    assert body["think"] == "low"
    none = OllamaChat(model="m", params={"reasoning_effort": "none"})
    assert none.request([UserTurn("Hi")]).json["think"] is False


def test_results_come_before_what_the_user_says():
    turn = UserTurn([ContentText("before"), result(PNG), result({"t": 3}, TWO), ContentText("go on")])

    assert WIRE.message(turn) == [
        {"role": "tool", "content": "[see below]", "tool_name": "draw", "tool_call_id": "call_1"},
        {"role": "tool", "content": '{"t":3}', "tool_name": "look", "tool_call_id": "call_2"},
        {"role": "user", "content": f"before\n\n{OPEN}"},
        {"role": "user", "content": f"{CLOSE}\n\ngo on", "images": ["iVBORw0KGgo="]},
    ]


def test_an_image_starts_a_message_since_the_server_shows_it_before_the_text():
    turn = UserTurn([ContentText("First:"), PNG, JPG, ContentText("Second:"), PNG])

    assert WIRE.message(turn) == [
        {"role": "user", "content": "First:"},
        {"role": "user", "content": "Second:", "images": ["iVBORw0KGgo=", "/9j/"]},
        {"role": "user", "content": "", "images": ["iVBORw0KGgo="]},
    ]
    assert WIRE.message(UserTurn([PNG])) == [{"role": "user", "content": "", "images": ["iVBORw0KGgo="]}]
    assert WIRE.message(UserTurn([])) == []


def test_native_media_stand_beside_the_result():
    [message] = NATIVE.message(UserTurn([result(["A cat:", PNG])]))

    assert message == {
        "role": "tool",
        "content": "A cat:",
        "tool_name": "draw",
        "tool_call_id": "call_1",
        "images": ["iVBORw0KGgo="],
    }
    assert NATIVE.message(UserTurn([result("x")]))[0]["content"] == "x"


@pytest.mark.parametrize("content", [PDF, ContentImageRemote("https://x/y.png")])
def test_what_the_user_cannot_send(content):
    with pytest.raises(ContentError):
        WIRE.message(UserTurn([content]))


def test_a_pdf_of_a_tool_is_named():
    told, _, shown = WIRE.message(UserTurn([result([PDF, PNG])]))

    assert "a PDF document" in told["content"]
    assert shown["images"] == ["iVBORw0KGgo="]


def test_an_answer_goes_back():
    message = {
        "role": "assistant",
        "content": "So:",
        "thinking": "Hm.",
        "tool_calls": [{"id": "c1", "function": {"name": "draw", "arguments": {"n": 1}}}],
    }
    turn = WIRE.turn({"message": message, "done": True, "done_reason": "stop"})

    assert [type(c) for c in turn.contents] == [ContentThinking, ContentText, ContentToolRequest]
    assert turn.finish_reason == "tool_use"
    assert WIRE.message(turn) == [message]
    partial = AssistantPartialTurn([ContentThinking("Hm."), ContentText("So:")])
    assert WIRE.message(partial) == [{"role": "assistant", "content": "So:"}]
    assert WIRE.message(AssistantTurn([ContentThinking("Hm.")])) == []


def test_other_contents_of_the_model():
    turn = AssistantTurn([ContentText("a"), ContentJson([1]), PNG, ContentThinking("x", {"anthropic": {}})])

    assert WIRE.message(turn) == [{"role": "assistant", "content": "a[1][inline image]"}]


def test_calls_of_old_servers_get_ids_of_their_own():
    calls = [{"function": {"name": "f", "arguments": {}}}, {"function": {"name": "f", "arguments": {}}}]
    response = {"message": {"content": "", "tool_calls": calls}, "done": True, "done_reason": "stop"}
    one, two = WIRE.turn(response).tool_requests

    assert one.id
    assert one.id != two.id
    assert [r.id for r in WIRE.turn(response).tool_requests] == [one.id, two.id]


@pytest.mark.parametrize(
    ("counts", "tokens"),
    [
        ({"prompt_eval_count": 3, "eval_count": 4}, (3, 4)),
        ({"total_duration": 9, "eval_count": 4}, (0, 4)),
        ({}, (None, None)),
    ],
)
def test_a_count_that_is_missing_is_none_or_zero(counts, tokens):
    turn = WIRE.turn({"message": {"content": "a"}, "done": True, "done_reason": "stop", **counts})

    assert (turn.tokens.input, turn.tokens.output) == tokens


@pytest.mark.parametrize(
    ("word", "reason"), [("stop", "success"), ("length", "max_tokens"), ("load", "load")]
)
def test_why_it_ended(word, reason):
    assert WIRE.turn({"message": {"content": "a"}, "done": True, "done_reason": word}).finish_reason == reason


def test_a_call_at_the_length_limit_is_never_run():
    calls = [{"id": id, "function": {"name": "f", "arguments": {}}} for id in "ab"]
    turn = WIRE.turn({"message": {"tool_calls": calls}, "done": True, "done_reason": "length"})

    assert [bool(r.problem) for r in turn.tool_requests] == [True, True]


def folded(*events):
    merger, shown = WIRE.merger(), []
    for event in events:
        shown += merger.add(event)
    return merger, shown


def line(done=False, /, **message):
    end = {"done_reason": "stop", "eval_count": 2} if done else {}
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done, **end}


calls = st.lists(
    st.builds(
        lambda name, given: {"function": {"name": name, "arguments": given}},
        st.text(min_size=1),
        st.dictionaries(st.text(), st.integers() | st.text()),
    ),
    max_size=3,
)


@given(thoughts=st.lists(st.text()), texts=st.lists(st.text()), calls=calls)
def test_a_stream_adds_up_to_the_unstreamed_answer(thoughts, texts, calls):
    lines = [
        *(line(content="", thinking=thought) for thought in thoughts),
        *(line(content=text) for text in texts),
        *(line(content="", tool_calls=[call]) for call in calls),
        line(True, content=""),
    ]
    merger, shown = folded(*lines)
    turn = WIRE.turn(merger.response())
    whole = {"content": "".join(texts), "thinking": "".join(thoughts), "tool_calls": calls}
    message = {name: value for name, value in whole.items() if value}
    plain = WIRE.turn({**lines[-1], "message": message})

    assert merger.complete
    assert merger.done
    assert [(type(c), getattr(c, "text", ""), getattr(c, "arguments", "")) for c in turn.contents] == [
        (type(c), getattr(c, "text", ""), getattr(c, "arguments", "")) for c in plain.contents
    ]
    assert turn.tokens.output == 2
    assert "".join(c.text for c in shown if isinstance(c, ContentText)) == whole["content"]
    assert "".join(c.thinking for c in shown if isinstance(c, ContentThinking)) == whole["thinking"]
    assert not folded(*lines[:-1])[0].complete


def test_an_error_ends_a_stream():
    with pytest.raises(ProviderError, match="out of memory"):
        folded(line(content="a"), {"error": "out of memory"})


def test_over_the_network(server, reply, monkeypatch):
    monkeypatch.delenv("OLLAMA_API_KEY", raising=False)
    lines = b"\n".join(json.dumps(event).encode() for event in (line(content="hé"), line(True, content="")))
    server.answers(reply([lines[:60], lines[60:]], headers={"content-type": "application/x-ndjson"}))
    chat = chat_ollama(model="qwen3", base_url=server.url)

    assert "".join(chat.stream("Hi")) == "hé"
    assert server.asked[0].path == "/api/chat"
    assert "authorization" not in server.asked[0].headers


def test_the_cloud_wants_a_key(monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", "k")

    assert chat_ollama(model="m").wire.headers() == {"authorization": "Bearer k"}


def test_a_model_must_be_named():
    with pytest.raises(UsageError, match="give model="):
        chat_ollama()


def test_the_arguments_of_a_call_are_there_while_the_answer_arrives():
    merger = OllamaMerger()
    for title in ("It", "Other"):
        call = {"function": {"name": "give_structured_data", "arguments": {"title": title}}}
        merger.add({"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False})

    assert list(merger.call_arguments("give_structured_data")) == ['{"title":"It"}']
    assert list(merger.call_arguments("other")) == []
