"""Cohere v2: settings beside the content, stored citations, streams by event name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ToolDef,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import ContentError, ProviderError, UsageError
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import TypeBasic
from ellmer_core.wire.cohere.to_wire import CohereChat

WIRE = CohereChat(model="command-a")
PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
PDF = ContentPDF("application/pdf", "JVBERi0=")
ONE, TWO = ContentToolRequest("c1", "draw", {"n": 1}), ContentToolRequest("c2", "look", {})
SHAPE = TypeObject(properties={"n": TypeBasic(type="integer")})


def result(value=None, request=ONE, error=None):
    return ContentToolResult(value, error=error, request=request)


def test_a_request():
    tool = ToolDef(lambda n: n, "draw", "Draws.", SHAPE)
    params = {"top_p": 0.5, "top_k": 3, "reasoning_tokens": 99}
    wire = CohereChat(model="m", params=params)
    body = wire.request([SystemTurn("Be brief."), UserTurn("Hi")], [tool]).json

    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["tools"][0]["function"]["name"] == "draw"
    assert (body["p"], body["k"]) == (0.5, 3)
    assert body["thinking"] == {"type": "enabled", "token_budget": 99}


def test_a_schema_and_tools_do_not_go_together():
    tool = ToolDef(lambda n: n, "draw", "Draws.", SHAPE)
    alone, beside = (WIRE.asking([UserTurn("Hi")], tools, type=SHAPE).json for tools in ([], [tool]))

    assert alone["response_format"]["json_schema"]["required"] == ["n"]
    assert "response_format" not in beside
    assert [tool["function"]["name"] for tool in beside["tools"]] == ["draw", "give_structured_data"]
    assert beside["tool_choice"] == "REQUIRED"


def test_all_tool_messages_come_before_the_user_message():
    turn = UserTurn([ContentText("before"), result(PNG), result("sunny", TWO), ContentText("go on")])
    first, second, user = WIRE.message(turn)

    assert first == {"role": "tool", "tool_call_id": "c1", "content": "[see below]"}
    assert second == {"role": "tool", "tool_call_id": "c2", "content": "sunny"}
    assert [part["type"] for part in user["content"]] == ["text", "text", "image_url", "text", "text"]


def test_media():
    remote = ContentImageRemote("https://x/y.png", "high")

    assert WIRE.content(PNG)["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="
    assert WIRE.content(remote)["image_url"] == {"url": "https://x/y.png", "detail": "high"}
    with pytest.raises(ContentError, match="does not accept PDFs"):
        WIRE.message(UserTurn([PDF]))
    assert "a PDF document" in WIRE.message(UserTurn([result(PDF)]))[0]["content"]
    with pytest.raises(UsageError, match="inside tool results"):
        CohereChat(tool_media="native")


CITATIONS = [{"start": 0, "end": 2, "text": "It", "sources": [{"type": "tool", "id": "c1:0"}]}]
MESSAGE = {
    "role": "assistant",
    "tool_plan": "I will draw.",
    "content": [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "It"},
        {"type": "text", "text": " is."},
    ],
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "draw", "arguments": '{"n": 1.0}'}}],
    "citations": CITATIONS,
}


def answer(message, finish="COMPLETE", **rest):
    return {"id": "x", "message": message, "finish_reason": finish, **rest}


def test_an_answer_goes_back_as_it_came():
    turn = WIRE.turn(answer(MESSAGE, "TOOL_CALL"))

    assert [type(c) for c in turn.contents] == [
        ContentThinking,
        ContentThinking,
        ContentText,
        ContentText,
        ContentToolRequest,
    ]
    assert turn.finish_reason == "tool_use"
    assert WIRE.message(turn) == [MESSAGE]


class Elsewhere(CohereChat):
    provider = "Elsewhere"


def test_another_provider_gets_the_words_and_the_calls():
    turn = WIRE.turn(answer(MESSAGE, "TOOL_CALL"))

    assert Elsewhere(model="m").message(turn) == [
        {
            "role": "assistant",
            "content": "It is.",
            "tool_calls": MESSAGE["tool_calls"],
        }
    ]


def test_what_nobody_said_is_not_sent():
    settings = WIRE.turn(answer({"tool_plan": "Hm.", "content": []}))

    assert WIRE.message(settings) == []
    assert WIRE.message(AssistantPartialTurn([*settings.contents, ContentText("a")])) == [
        {"role": "assistant", "content": "a"}
    ]
    assert WIRE.message(AssistantTurn([PNG])) == [{"role": "assistant", "content": "[inline image]"}]


def test_unknown_parts_are_kept():
    part = {"type": "hologram", "x": 1}
    turn = WIRE.turn(answer({"content": [part]}))

    assert turn.contents == (ContentUnknown("cohere", part),)
    assert WIRE.message(turn)[0]["content"] == [part]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("COMPLETE", "success"),
        ("STOP_SEQUENCE", "stop_sequence"),
        ("MAX_TOKENS", "max_tokens"),
        ("TIMEOUT", "TIMEOUT"),
    ],
)
def test_why_it_ended(word, reason):
    assert WIRE.turn(answer({"content": [{"type": "text", "text": "a"}]}, word)).finish_reason == reason


def test_a_call_at_the_length_limit_is_never_run():
    [request] = WIRE.turn(answer(MESSAGE, "MAX_TOKENS")).tool_requests

    assert request.problem
    assert request.arguments == {}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"tokens": {"input_tokens": 9, "output_tokens": 2}, "cached_tokens": 8}, (9, 2, 8)),
        ({"billed_units": {"input_tokens": 3, "output_tokens": 1}}, (3, 1, None)),
        ({}, (None, None, None)),
    ],
)
def test_tokens(usage, tokens):
    found = WIRE.turn(answer({"content": []}, usage=usage)).tokens

    assert (found.input, found.output, found.cached) == tokens


def test_a_200_that_is_no_answer_is_an_error():
    with pytest.raises(ProviderError, match="no such thing"):
        WIRE.turn({"id": "x", "message": "no such thing"})


def folded(*events):
    merger, shown = WIRE.merger(), []
    for event in events:
        shown += merger.add(event)
    return merger, shown


def event(type, index=None, /, **message):
    place = {} if index is None else {"index": index}
    return {"type": type, **place, "delta": {"message": message}}


def streamed(message, cut):
    def pieces(text):
        return [text[at : at + cut] for at in range(0, len(text), cut)]

    yield {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "tool_plan": ""}}}
    for piece in pieces(message.get("tool_plan", "")):
        yield event("tool-plan-delta", tool_plan=piece)
    for index, part in enumerate(message.get("content", [])):
        kind = part["type"]
        yield event("content-start", index, content={"type": kind, kind: ""})
        for piece in pieces(part[kind]):
            yield event("content-delta", index, content={kind: piece})
        yield {"type": "content-end", "index": index}
    for index, citation in enumerate(message.get("citations", [])):
        yield event("citation-start", index, citations=citation)
        yield {"type": "citation-end", "index": index}
    for index, call in enumerate(message.get("tool_calls", [])):
        function = {**call["function"], "arguments": ""}
        yield event("tool-call-start", index, tool_calls={**call, "function": function})
        for piece in pieces(call["function"]["arguments"]):
            yield event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
        yield {"type": "tool-call-end", "index": index}
    yield {"type": "something-new", "delta": {"message": {"x": 1}}}
    yield {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"cached_tokens": 1}}}


@st.composite
def messages(draw):
    parts = st.one_of(
        st.text(min_size=1).map(lambda text: {"type": "text", "text": text}),
        st.text(min_size=1).map(lambda text: {"type": "thinking", "thinking": text}),
    )
    arguments = st.sampled_from(["{}", '{"n": 1}', '{"s": "é\\n"}'])
    calls = st.builds(
        lambda id, given: {"id": id, "type": "function", "function": {"name": "f", "arguments": given}},
        st.text(min_size=1),
        arguments,
    )
    whole = {
        "tool_plan": draw(st.text()),
        "content": draw(st.lists(parts, max_size=3)),
        "tool_calls": draw(st.lists(calls, max_size=3)),
        "citations": draw(st.sampled_from([[], CITATIONS])),
    }
    return {"role": "assistant", **{name: value for name, value in whole.items() if value}}


@given(message=messages(), cut=st.integers(1, 9))
def test_a_stream_adds_up_to_the_unstreamed_answer(message, cut):
    events = list(streamed(message, cut))
    merger, shown = folded(*events)

    assert merger.complete
    assert merger.response() == answer(message, usage={"cached_tokens": 1})
    turn = WIRE.turn(merger.response())
    assert "".join(c.text for c in shown if isinstance(c, ContentText)) == turn.text
    thoughts = [c.thinking for c in turn.contents if isinstance(c, ContentThinking)]
    assert sorted("".join(c.thinking for c in shown if isinstance(c, ContentThinking))) == sorted(
        "".join(thoughts)
    )
    assert not folded(*events[:-1])[0].complete
    assert folded(*events, "[DONE]")[0].complete


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "out of memory"}},
        {"message": "out of memory"},
        {"error": {"message": "out of memory"}},
    ],
)
def test_an_error_in_a_stream(event):
    with pytest.raises(ProviderError, match="out of memory"):
        folded(event)
