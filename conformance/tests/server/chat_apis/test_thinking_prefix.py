"""The strict server binds the thoughts of newer Claude models to the conversation before them, as the API does."""

import json

import pytest

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.scenarios.script import Answer, Call, Say, Think
from ellmer_conformance.server.chat_apis.anthropic import Anthropic
from ellmer_conformance.server.chat_apis.base import Ticket
from ellmer_conformance.server.chat_apis.bedrock import Bedrock

BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
TOOL = {"name": "get_weather", "input_schema": {"type": "object", "properties": {}}}
ASK = {"role": "user", "content": "Weather?"}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}]}
THANKS = {"role": "user", "content": "Thanks!"}
REFUSAL = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


def api(body, beta=False, model="claude-fable-5-1"):
    headers = BETA if beta else {}
    request = Request("anthropic", "anthropic", {"model": model, **body}, headers=headers, model=model)
    return Anthropic(Ticket(request, "a case", 0))


def answered(body, *parts, model="claude-fable-5-1"):
    """The message with which a request is answered."""
    blocks = [whole for _, _, whole in api(body, model=model).blocks(Answer(parts))]
    return {"role": "assistant", "content": blocks}


def held(model="claude-fable-5-1"):
    """Returns a request with two thoughts, and the question for a third."""
    body = {"system": "Be brief.", "tools": [TOOL], "messages": [ASK]}
    first = answered(body, Think("Look."), Call("get_weather", id="toolu_1"), model=model)
    body = body | {"messages": [ASK, first, RESULT]}
    second = answered(body, Think("Sunny."), Say("Sunny."), model=model)
    return body | {"messages": [*body["messages"], second, THANKS]}


def with_message(body, index, message):
    messages = list(body["messages"])
    messages[index] = message
    return body | {"messages": messages}


def without_thought(body, index):
    message = body["messages"][index]
    return with_message(body, index, message | {"content": message["content"][1:]})


LATER = {"role": "user", "content": "Weather now?"}
EDITS = {
    "system": (
        lambda body: body | {"system": "Be long."},
        "messages.1.content.0",
        "The `system` prompt differs",
    ),
    "a tool": (
        lambda body: body | {"tools": [{**TOOL, "description": "Weather"}]},
        "messages.1.content.0",
        "The `tools` list differs",
    ),
    "the first message": (
        lambda body: with_message(body, 0, LATER),
        "messages.1.content.0",
        "Content before this block differs from when it was created, first at `messages.0.content.0`.",
    ),
    "a result": (
        lambda body: with_message(
            body, 2, {"role": "user", "content": [{**RESULT["content"][0], "content": "[cleared]"}]}
        ),
        "messages.3.content.0",
        "Content before this block differs from when it was created, first at `messages.2.content.0`.",
    ),
    "turns dropped": (
        lambda body: body | {"messages": [LATER, *body["messages"][3:]]},
        "messages.1.content.0",
        "Content before this block differs",
    ),
}
FINE = {
    "unchanged": lambda body: body,
    "cache marks": lambda body: (
        body | {"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]}
    ),
    "content as blocks": lambda body: with_message(
        body, 0, {"role": "user", "content": [{"type": "text", "text": "Weather?"}]}
    ),
    "a tool for later": lambda body: body | {"tools": [TOOL, {**TOOL, "name": "b", "defer_loading": True}]},
    "the first thought left out": lambda body: without_thought(body, 1),
    "the last thought left out": lambda body: without_thought(body, 3),
    "another effort": lambda body: body | {"output_config": {"effort": "low"}},
}


@pytest.mark.parametrize(("change", "place", "differs"), EDITS.values(), ids=EDITS)
def test_thoughts_behind_another_prefix_are_refused(change, place, differs):
    refusal = api(change(held()), beta=True).forged(strict=True)
    assert (refusal.status, refusal.type) == (400, "invalid_request_error")
    assert refusal.message.startswith(f"{place}: {REFUSAL} {differs}")


def test_the_refusal_names_the_header_that_was_not_sent():
    refusal = api(held() | {"system": "Be long."}).forged(strict=True)
    assert refusal.message == (
        f"messages.1.content.0: {REFUSAL} That setting requires the `thinking-binding-controls-2026-08-01` value in the "
        "`anthropic-beta` header. The `system` prompt differs from the one this block was created with."
    )


@pytest.mark.parametrize("change", FINE.values(), ids=FINE)
def test_what_is_no_edit_is_taken(change):
    one = api(change(held()), beta=True)
    assert one.forged(strict=True) is None
    assert one.conversation.transformations() == []


def test_a_gap_between_thoughts_is_refused():
    body = held()
    third = answered(body, Think("Bye."), Say("Bye."))
    gap = without_thought(body | {"messages": [*body["messages"], third, ASK]}, 3)
    said = "The `thinking` block that preceded this one when it was created is missing from this request."
    assert api(gap, beta=True).forged(strict=True).message == f"messages.5.content.0: {REFUSAL} {said}"


def test_who_has_them_dropped_is_answered_and_told():
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    changed = with_message(held(), 2, THANKS) | {"thinking": {"type": "adaptive", **binding}}
    one = api(changed, beta=True)
    assert one.forged(strict=True) is None
    assert one.conversation.transformations() == [
        {"type": "thinking_dropped", "path": "messages.3.content.0", "reason": "prefix_binding_mismatch"}
    ]


def test_older_models_do_not_check():
    changed = held("claude-sonnet-5") | {"system": "Be long."}
    one = api(changed, beta=True, model="claude-sonnet-5")
    assert (one.forged(strict=True), one.conversation.transformations()) == (None, [])


@pytest.mark.parametrize(
    ("author", "reader", "read"),
    [
        ("claude-opus-5-5", "claude-fable-5-1", True),
        ("claude-fable-5-1", "claude-opus-5-5", False),
        ("claude-fable-5-1", "claude-sonnet-5", False),
        ("claude-haiku-5-5", "claude-sonnet-5", True),
        ("claude-sonnet-5-5", "claude-sonnet-5-5", True),
        ("claude-sonnet-5", "claude-fable-5-1", True),
    ],
)
def test_a_thought_that_the_model_cannot_read_is_left_out(author, reader, read):
    one = api(held(author), beta=True, model=reader)
    assert one.forged(strict=True) is None
    reasons = [entry["reason"] for entry in one.conversation.transformations()]
    assert reasons == ([] if read else ["model_binding_mismatch"] * 2)


def converse(body, *, dropped=False):
    more = {"thinking": {"type": "adaptive"}}
    if dropped:
        more = {
            "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
            "anthropic_beta": [BETA["anthropic-beta"]],
        }
    path = {"additionalModelResponseFieldPaths": ["/input_transformations"]}
    model = "us.anthropic.claude-fable-5-1"
    whole = {**body, **path, "additionalModelRequestFields": more}
    return Bedrock(Ticket(Request("bedrock", "bedrock", whole, model=model), "a case", 0))


@pytest.fixture
def conversed():
    """Returns a request to Converse with an unchanged prefix."""
    body = {"system": [{"text": "Be brief."}], "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    content = list(converse(body).blocks(Answer((Think("They greet."), Say("Hello.")))))
    more = [{"role": "assistant", "content": content}, {"role": "user", "content": [{"text": "Bye"}]}]
    return body | {"messages": [*body["messages"], *more]}


def test_bedrock_hands_the_same_refusal_over(conversed):
    assert converse(conversed).forged(strict=True) is None
    refusal = converse(conversed | {"system": [{"text": "Be long."}]}).forged(strict=True)
    assert refusal.type == "ValidationException"
    assert refusal.message.startswith(
        f"The model returned the following errors: messages.1.content.0: {REFUSAL}"
    )


def test_bedrock_says_what_was_dropped_where_it_is_asked(conversed):
    changed = converse(conversed | {"system": [{"text": "Be long."}]}, dropped=True)
    assert changed.forged(strict=True) is None
    fields = json.loads(changed.body(Answer((Say("Hello."),))))["additionalModelResponseFields"]
    assert fields["input_transformations"] == [
        {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}
    ]
    stop = next(f.data for f in changed.frames(Answer((Say("Hello."),))) if b"messageStop" in f.data)
    assert b"thinking_dropped" in stop
