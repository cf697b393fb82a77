"""GPT-6.2 and later models drop reasoning after a changed prefix, and the answer says which."""

import json

import httpx
import pytest

from ellmer_conformance.server.strict_server import StrictServer

TOOL = {
    "type": "function",
    "name": "add",
    "parameters": {
        "type": "object",
        "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
        "required": ["x", "y"],
        "additionalProperties": False,
    },
    "strict": True,
}
HI = {"role": "user", "content": "What is 2 + 3? Use the tool."}
NEXT = {"role": "user", "content": "And 4 + 5?"}


@pytest.fixture(scope="module")
def server():
    with StrictServer() as started:
        yield started


def asked(server, input, model="gpt-6.2-sol", **more):
    body = {
        "model": model,
        "input": input,
        "tools": [TOOL],
        "store": False,
        "reasoning": {"effort": "low"},
    } | more
    answer = httpx.post(
        f"{server.origin}/v1/responses", json=body, headers={"authorization": "Bearer any-key"}
    )
    assert answer.status_code == 200, answer.text
    if not more.get("stream"):
        return answer.json()
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    return events[-1]["response"]


def conversation(server, **more):
    """The items of a conversation with a call and its result, and the ids of its reasoning."""
    output = asked(server, [HI], **more)["output"]
    [call] = [item for item in output if item["type"] == "function_call"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "5"}
    ids = [item["id"] for item in output if item["type"] == "reasoning"]
    assert ids
    return [HI, *output, result], ids


def removed(ids):
    return [{"id": id, "action": "removed", "reason": "prefix_mismatch", "type": "reasoning"} for id in ids]


def test_reasoning_after_the_same_prefix_is_kept(server):
    items, _ = conversation(server)
    assert "input_transformations" not in asked(server, items)
    assert "input_transformations" not in asked(server, [*items, NEXT], instructions="Be short.")


def test_an_item_that_goes_back_with_fewer_fields_is_the_same(server):
    items, _ = conversation(server)
    sent = [{"role": "user", "content": [{"type": "input_text", "text": HI["content"]}]}, *items[1:]]
    bare = [{key: value for key, value in item.items() if key != "status"} for item in sent]
    assert "input_transformations" not in asked(server, bare)


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_after_a_changed_message_is_dropped(server, stream):
    items, ids = conversation(server)
    changed = [{**HI, "content": "What is 2 + 3?"}, *items[1:]]
    assert asked(server, changed, stream=stream)["input_transformations"] == removed(ids)


def test_reasoning_after_other_tools_or_another_format_is_dropped(server):
    items, ids = conversation(server)
    other = {**TOOL, "description": "Adds."}
    assert asked(server, items, tools=[other])["input_transformations"] == removed(ids)
    text = {"format": {"type": "json_schema", "name": "sum", "schema": TOOL["parameters"], "strict": True}}
    assert asked(server, items, text=text)["input_transformations"] == removed(ids)


def test_earlier_models_drop_nothing(server):
    items, _ = conversation(server, model="gpt-6.1-sol")
    changed = [{**HI, "content": "What is 2 + 3?"}, *items[1:]]
    assert "input_transformations" not in asked(server, changed, model="gpt-6.1-sol")
