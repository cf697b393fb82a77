"""A request that continues a stored answer is read with what the provider keeps."""

import json

import pytest

from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.provider_answers.continued_requests import sent_items

CALL = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"x": 2}}
EVENTS = (
    {"type": "message_start", "message": {"id": "msg_1", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": CALL | {"input": {}}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": '{"x": 2}'},
    },
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
)
STREAM = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in EVENTS)


def exchange(thread, messages, body, kind, **more):
    asked = {"model": "claude-sonnet-5", "max_tokens": 9, "thread": thread, "messages": messages, **more}
    return Exchange(
        Request("anthropic", "anthropic", asked), Response(200, {"content-type": kind}, body.encode())
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [(json.dumps({"id": "msg_1", "content": [CALL]}), "application/json"), (STREAM, "text/event-stream")],
    ids=["whole", "streamed"],
)
def test_a_message_thread_keeps_prompt_words_and_calls(body, kind):
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "5"}
    first = exchange(
        {"type": "create"}, [{"role": "user", "content": "2 + 3?"}], body, kind, system="Be brief."
    )
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    second = exchange(thread, [{"role": "user", "content": [result]}], "{}", "application/json")

    _, items = sent_items([first, second])
    assert [(item.role, item.kind, item.turn) for item in items] == [
        ("system", "system", -1),
        ("user", "text", 0),
        ("assistant", "call", 1),
        ("user", "result", 2),
    ]
    assert [item.pointer for item in items] == ["/thread"] * 3 + ["/messages/0/content/0"]
