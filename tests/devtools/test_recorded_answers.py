"""The reading of recorded answers, on answers that are written here."""

import json
from pathlib import Path

import httpx

from devtools.recordings.recorded_answers import Answer, Outcome, continued, lost
from ellmer_core import AssistantTurn, ContentText, ContentToolRequest

CALL = {
    "type": "function_call",
    "id": "fc_0123456789abcdef0123456789abcdef0123456789abcdef01",
    "call_id": "call_0123456789abcdef01234567",
    "name": "stock",
    "arguments": '{"sku": "a"}',
    "status": "in_progress",
    "caller": {"type": "program", "caller_id": "call_0123456789abcdef01234568"},
}
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def response(*output):
    return {
        "id": "resp_1",
        "model": "gpt-5.6-sol",
        "status": "completed",
        "output": [*output],
        "usage": USAGE,
    }


def answer(name, *data):
    return Answer(Path(name), "chat_openai_responses", "openai", list(data))


def test_a_call_of_a_program_is_answered():
    outcome = continued(answer("call.json", response(CALL)))

    assert outcome == Outcome()


def test_a_stream_is_read_event_by_event():
    events = [{"type": "response.completed", "response": response(CALL)}]

    assert answer("call.chunks.txt", *events).content.startswith(b"event: response.completed\ndata: {")
    assert not continued(answer("call.chunks.txt", *events)).error


def test_an_invalid_next_request_is_found():
    made_up = {
        "type": "custom_tool_call",
        "id": "ct_abc123def456",
        "call_id": "call_1",
        "name": "sql",
        "input": "select 1",
    }
    outcome = continued(answer("call.json", response(made_up)))

    assert [line.split()[0] for line in outcome.broken] == ["PAIR-006"]


def test_an_error_is_told():
    outcome = continued(
        answer("error.json", {"error": {"message": "No quota.", "code": "insufficient_quota"}})
    )

    assert "No quota." in outcome.error


def test_what_the_next_request_does_not_have_is_lost():
    request = httpx.Request(
        "POST", "https://a.invalid", content=json.dumps({"input": [{"text": "Paris"}, {"name": "stock"}]})
    )
    turn = AssistantTurn([ContentText("Paris"), ContentText("Rome"), ContentToolRequest("1", "stock", {})])

    assert lost(turn, request) == ["Rome"]
