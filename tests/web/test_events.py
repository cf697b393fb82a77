"""The events of both web protocols, without a network: each content, in each order, and each end."""

import itertools
import json

import pytest
from ag_ui.core import Event
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ellmer_core import (
    AssistantTurn,
    ContentCitation,
    ContentImageInline,
    ContentPDF,
    ContentProviderCall,
    ContentText,
    ContentThinking,
    ContentToolQuestion,
    ContentToolRequest,
    ContentToolResult,
    Tokens,
    ToolCallDelta,
    tool,
)
from ellmer_core.web import ag_ui, vercel
from ellmer_core.web.exchange import sse

PNG = "iVBORw0KGgo="
VALID = TypeAdapter(Event)


@tool
def look(x: int) -> str:
    """Looks."""
    return "x"


CALL = ContentToolRequest("c1", "look", {"x": 1}, tool=look)
DELTAS = [ToolCallDelta("c1", "look", '{"x"'), ToolCallDelta("c1", "look", ":1}")]


def numbered():
    count = itertools.count(1)
    return lambda: f"n{next(count)}"


def of_vercel(*contents):
    events = vercel.Events(numbered())
    return [event for content in contents for event in events.take(content)]


def of_ag_ui(*contents):
    events = ag_ui.Events("t", "r", None, numbered())
    return [event for content in contents for event in events.take(content)]


def kinds(events):
    return [event["type"] for event in events]


def test_text_and_thoughts_are_parts_with_a_beginning_and_an_end():
    contents = ContentThinking("Hm"), ContentThinking("."), ContentText("Yes"), ContentText("")

    assert of_vercel(*contents) == [
        {"type": "start-step"},
        {"type": "reasoning-start", "id": "n1"},
        {"type": "reasoning-delta", "id": "n1", "delta": "Hm"},
        {"type": "reasoning-delta", "id": "n1", "delta": "."},
        {"type": "reasoning-end", "id": "n1"},
        {"type": "text-start", "id": "n2"},
        {"type": "text-delta", "id": "n2", "delta": "Yes"},
    ]
    assert kinds(of_ag_ui(*contents)) == [
        *(
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_CONTENT",
        ),
        *("REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"),
    ]


def test_a_call_in_pieces_its_result_and_the_next_answer():
    contents = *DELTAS, CALL, ContentToolResult({"y": [1]}, request=CALL), ContentText("So.")

    assert of_vercel(*contents)[1:-2] == [
        {"type": "tool-input-start", "toolCallId": "c1", "toolName": "look"},
        {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"x"'},
        {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": ":1}"},
        {
            "type": "tool-input-available",
            "toolCallId": "c1",
            "toolName": "look",
            "input": {"x": 1},
            "title": "Look",
        },
        {"type": "tool-output-available", "toolCallId": "c1", "output": {"y": [1]}},
        {"type": "finish-step"},
        {"type": "start-step"},
    ]
    assert of_ag_ui(*contents)[:-2] == [
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look", "parentMessageId": "n1"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"x"'},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": ":1}"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": "n2",
            "toolCallId": "c1",
            "content": '{"y":[1]}',
            "role": "tool",
        },
    ]


def test_a_call_that_came_whole_has_its_arguments_at_once():
    assert kinds(of_vercel(CALL)) == ["start-step", "tool-input-start", "tool-input-available"]
    assert of_ag_ui(CALL)[1]["delta"] == '{"x":1}'


def test_results_that_failed_were_denied_or_have_media():
    media = [
        "Here:",
        ContentImageInline("image/png", PNG),
        {"pdf": ContentPDF("application/pdf", "JVBERi0=", "a.pdf")},
    ]
    failed = ContentToolResult(error=ValueError("no"), request=CALL)
    denied = ContentToolResult("Tool call denied.", extra={"decision": "denied"}, request=CALL)
    results = failed, denied, ContentToolResult(media, request=CALL)

    error, no, shown = of_vercel(*results)
    assert error["errorText"] == "Tool calling failed with error no"
    assert no == {"type": "tool-output-denied", "toolCallId": "c1"}
    image = {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PNG}"}
    assert shown["output"][:2] == ["Here:", image]
    assert shown["output"][2]["pdf"]["filename"] == "a.pdf"

    content = of_ag_ui(*results)[2]["content"]
    assert content[0] == {
        "type": "text",
        "text": '["Here:","[see below: item 2]",{"pdf":"[see below: item 3.pdf]"}]',
    }
    assert [part["type"] for part in content[1:]] == ["image", "document"]


def test_sources_files_and_calls_of_the_provider():
    cited = (
        ContentCitation("https://example.com", "Example"),
        ContentCitation(title="Book", quote="It rains."),
    )
    search = ContentProviderCall("w", {}, id="s1", name="search", arguments={"q": "x"}, value=["y"])
    contents = (
        search,
        *cited,
        cited[0],
        ContentCitation("javascript:alert(1)", "No"),
        ContentImageInline("image/png", PNG),
    )

    events = of_vercel(*contents)
    assert kinds(events) == [
        *("start-step", "tool-input-available", "tool-output-available", "source-url"),
        *("source-document", "source-document", "file"),
    ]
    assert [event.get("providerExecuted") for event in events[1:3]] == [True, True]
    assert events[3]["url"] == "https://example.com"
    assert [event["name"] for event in of_ag_ui(*contents) if event["type"] == "CUSTOM"] == [
        *("citation",) * 4,
        "file",
    ]


def test_calls_that_wait_are_questions():
    events = vercel.Events(numbered())
    before = list(events.take(CALL))
    assert kinds(before)[-1] == "tool-input-available"
    turn = AssistantTurn([CALL], tokens=Tokens(input=3, output=2))
    assert list(events.ask([CALL], [turn])) == [
        {"type": "tool-approval-request", "approvalId": "c1", "toolCallId": "c1"},
        {"type": "finish-step"},
        {
            "type": "finish",
            "finishReason": "tool-calls",
            "messageMetadata": {"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}},
        },
    ]
    [last] = ag_ui.Events("t", "r").ask([CALL], [turn])
    [question] = last["outcome"]["interrupts"]
    assert (question["id"], question["reason"], question["message"]) == ("c1", "tool_call", "Look?")
    assert question["responseSchema"]["properties"]["editedArgs"]["properties"]["x"] == {"type": "integer"}


def test_a_call_that_the_client_has_is_not_sent_again():
    result = ContentToolResult("done", request=CALL)
    for events in (vercel.Events(numbered()), ag_ui.Events("t", "r", None, numbered())):
        events.continued(["c1"])
        assert list(events.take(CALL)) == []
        assert len(list(events.take(result))) == 1


def test_what_never_got_a_result_is_closed():
    events = vercel.Events(numbered())
    [*events.take(CALL), *events.take(ToolCallDelta("c2", "look", "{"))]
    failed = list(events.fail("Sorry.", []))
    assert kinds(failed) == ["tool-output-error", "tool-input-error", "error"]
    assert failed[-1]["errorText"] == "Sorry."

    events = ag_ui.Events("t", "r", None, numbered())
    [*events.take(CALL), *events.take(ToolCallDelta("c2", "look", "{"))]
    ended = list(events.end([], cancelled=True))
    assert kinds(ended) == ["TOOL_CALL_RESULT", "TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_FINISHED"]
    assert ended[-1]["outcome"] == {"type": "cancelled"}


CONTENTS = st.one_of(
    st.builds(ContentText, st.text()),
    st.builds(ContentThinking, st.text()),
    st.sampled_from([*DELTAS, ToolCallDelta("c2", "look", "{"), CALL, ContentCitation("https://x", "y")]),
    st.just(ContentToolResult([1], request=CALL)),
    st.just(ContentProviderCall("w", {}, name="search", value={"x": float("nan")})),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CONTENTS, max_size=8), st.booleans())
def test_each_event_has_the_official_type_whatever_the_order(contents, cancelled):
    events = ag_ui.Events("t", "r", None, numbered())
    sent = [
        *events.begin(),
        *(e for c in contents for e in events.take(c)),
        *events.end([], cancelled=cancelled),
    ]
    started: dict[str, int] = {}
    for event in sent:
        VALID.validate_json(sse(event).removeprefix(b"data: "))
        kind = event["type"]
        if kind.endswith("_START") and "MESSAGE" in kind:
            started[event["messageId"]] = 1
        elif kind.endswith("_MESSAGE_END"):
            started.pop(event["messageId"])
    assert not started


@settings(max_examples=60, deadline=None)
@given(st.lists(CONTENTS, max_size=8))
def test_parts_are_opened_once_and_closed(contents):
    events = vercel.Events(numbered())
    sent = [*events.begin(), *(e for c in contents for e in events.take(c)), *events.end([], cancelled=False)]
    opened: list[str] = []
    steps = 0
    for event in sent:
        json.loads(sse(event).removeprefix(b"data: "), parse_constant=pytest.fail)
        match event["type"]:
            case "text-start" | "reasoning-start":
                opened.append(event["id"])
            case "text-delta" | "reasoning-delta":
                assert event["id"] == opened[-1]
            case "text-end" | "reasoning-end":
                assert event["id"] == opened.pop()
            case "start-step" | "finish-step" as kind:
                steps += 1 if kind == "start-step" else -1
                assert 0 <= steps <= 1
    assert (opened, steps) == ([], 0)


def test_a_question_of_a_tool_is_an_interrupt_that_needs_input():
    question = ContentToolQuestion("call_1", "book", message="Which seat?")
    told = ag_ui._question(question)
    assert (told["reason"], told["message"], told["toolCallId"]) == (
        "input_required",
        "Which seat?",
        "call_1",
    )
    assert ag_ui._question(ContentToolRequest("call_2", "book", {}))["reason"] == "tool_call"
