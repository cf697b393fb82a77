"""Unusual requests that OpenAI's formats and Bedrock accept: no rule may refuse them."""

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules._media import PNG
from ellmer_conformance.contract.rules.anthropic import _refusals_and_examples as an
from ellmer_conformance.contract.rules.bedrock import _refusals_and_examples as be
from ellmer_conformance.contract.rules.gemini import _refusals_and_examples as ge
from ellmer_conformance.contract.rules.ollama import _refusals_and_examples as ol
from ellmer_conformance.contract.rules.openai_chat import _refusals_and_examples as oc
from ellmer_conformance.contract.rules.openai_responses import _refusals_and_examples as rs

SYSTEM = {"role": "system", "content": "Be brief."}
SAID = {"role": "assistant", "content": "5"}

DONE = {"status": "completed"}
CHAT = {
    "a system message in the middle": oc.body(oc.ASK, SAID, SYSTEM, oc.ASK),
    "two system messages": oc.body(SYSTEM, SYSTEM, oc.ASK),
    "a developer message": oc.body({"role": "developer", "content": "Be brief."}, oc.ASK),
    "users in a row": oc.body(oc.ASK, oc.ASK),
    "assistants in a row": oc.body(oc.ASK, SAID, SAID, oc.ASK),
    "the assistant first": oc.body(SAID, oc.ASK),
    "a call first": oc.body(oc.call("a"), oc.result("a")),
    "the assistant last": oc.body(oc.ASK, SAID),
    "an empty user message": oc.body({"role": "user", "content": ""}),
    "text beside calls": oc.body(oc.ASK, oc.call("a", content="Let me see."), oc.result("a")),
    "no content beside calls": oc.body(
        oc.ASK, {k: v for k, v in oc.call("a").items() if k != "content"}, oc.result("a")
    ),
    "empty content beside calls": oc.body(oc.ASK, oc.call("a", content=""), oc.result("a")),
    "a name on a tool message": oc.body(oc.ASK, oc.call("a"), {**oc.result("a"), "name": "add"}),
    "results in another order": oc.body(oc.ASK, oc.call("a", "b"), oc.result("b"), oc.result("a")),
    "an id used again later": oc.body(oc.ASK, oc.call("a"), oc.result("a"), oc.call("a"), oc.result("a")),
    "an image behind the results": oc.body(
        oc.ASK, oc.call("a"), oc.result("a"), {"role": "user", "content": [oc.IMAGE]}
    ),
    "text parts in a result": oc.body(oc.ASK, oc.call("a"), oc.result("a", [{"type": "text", "text": "5"}])),
    "functions of the first kind": oc.body(
        oc.ASK,
        {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": "{}"}},
        {"role": "function", "name": "add", "content": "5"},
        functions=[{"name": "add", "parameters": {"type": "object", "properties": {}}}],
    ),
    "a refusal": oc.body(oc.ASK, {"role": "assistant", "content": None, "refusal": "No."}, oc.ASK),
    "a file by its id": oc.body(
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]}
    ),
    "an image in a result, seen by a newer model's gateway": oc.body(
        oc.ASK, oc.call("a"), oc.result("a", [oc.IMAGE]), model="anthropic/claude-haiku-4.5"
    ),
    "a custom tool": oc.body(
        oc.ASK, model="gpt-5-mini", tools=[{"type": "custom", "custom": {"name": "shell"}}]
    ),
    "a tool without parameters": oc.body(oc.ASK, tools=[{"type": "function", "function": {"name": "now"}}]),
    "broken arguments the model wrote": oc.body(
        oc.ASK,
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"x": '}}
            ],
        },
        oc.result("a", "invalid JSON"),
    ),
    "no tools declared any more": oc.body(oc.ASK, oc.call("a"), oc.result("a")),
    "a new model with many options": oc.body(
        oc.ASK,
        model="gpt-5-mini",
        max_completion_tokens=5,
        temperature=1,
        reasoning_effort="low",
        verbosity="low",
        store=True,
    ),
}
RESPONSES = {
    "input as text": {"model": "gpt-4.1-mini", "input": "Hi"},
    "a message between a call and its output": rs.body(rs.ASK, rs.call("a"), rs.ASK, rs.output("a")),
    "outputs in another order": rs.body(rs.ASK, rs.call("a"), rs.call("b"), rs.output("b"), rs.output("a")),
    "a call_id of another form": rs.body(rs.ASK, rs.call("fc_68c42de0"), rs.output("fc_68c42de0")),
    "an output of a call on the server": rs.body(rs.output("a"), previous_response_id="resp_1"),
    "an output that names its tool": rs.body(
        {"type": "function_call_output", "name": "add", "output": "5"}, rs.ASK
    ),
    "an output in a conversation": rs.body(rs.output("a"), conversation="conv_1"),
    "an output of a referenced call": rs.body({"type": "item_reference", "id": "fc_1"}, rs.output("a")),
    "an output whose call was compacted": rs.body(
        {"type": "compaction", "encrypted_content": "gAAA"}, rs.output("a")
    ),
    "an image and a file in an output": rs.body(
        rs.ASK,
        rs.call("a"),
        rs.output("a", [rs.IMAGE, {"type": "input_file", "file_url": "https://example.com/a.pdf"}]),
    ),
    "reasoning without an id": rs.body(
        rs.ASK, {"type": "reasoning", "summary": [], "encrypted_content": "g"}, SAID, rs.ASK
    ),
    "one made-up id of two messages": rs.body(
        rs.ASK, {**SAID, "id": "msg_missing_id"}, rs.ASK, {**SAID, "id": "msg_missing_id"}, rs.ASK
    ),
    "reasoning of o3-mini behind the text it led to": rs.body(
        *(rs.ASK, SAID, {"type": "reasoning", "id": "rs_1", "summary": []}, rs.ASK), model="o3-mini"
    ),
    "reasoning with its call": rs.body(
        rs.ASK, {"type": "reasoning", "id": "rs_1", "summary": []}, rs.call("a", id="fc_1"), rs.output("a")
    ),
    "an assistant's own parts": rs.body(
        rs.ASK,
        {"role": "assistant", "phase": "final_answer", "content": [{"type": "output_text", "text": "5"}]},
        rs.ASK,
    ),
    "a custom tool": rs.body(
        rs.ASK,
        {"type": "custom_tool_call", "call_id": "a", "name": "sh", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "."},
    ),
    "a computer": rs.body(
        rs.ASK,
        {
            "type": "computer_call",
            "call_id": "a",
            "action": {"type": "screenshot"},
            "id": "cu_1",
            "pending_safety_checks": [],
            "status": "completed",
        },
        {
            "type": "computer_call_output",
            "call_id": "a",
            "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"},
        },
    ),
    "what hosted tools leave behind": rs.body(
        rs.ASK,
        *(
            {"type": kind, "id": f"{kind}_1", **more}
            for kind, more in {
                "web_search_call": {**DONE, "action": {"type": "search", "query": "2 + 3"}},
                "file_search_call": {**DONE, "queries": ["2 + 3"]},
                "image_generation_call": {**DONE, "result": PNG},
                "code_interpreter_call": {**DONE, "code": "2 + 3", "container_id": "cntr_1", "outputs": []},
                "mcp_call": {**DONE, "server_label": "x", "name": "add", "arguments": "{}"},
                "mcp_list_tools": {"server_label": "x", "tools": []},
                "mcp_approval_request": {"server_label": "x", "name": "add", "arguments": "{}"},
                "mcp_approval_response": {"approval_request_id": "mcpr_1", "approve": True},
                "tool_search_call": {**DONE, "arguments": {}},
            }.items()
        ),
        rs.ASK,
    ),
    "hosted tools": rs.body(
        rs.ASK,
        tools=[{"type": "web_search"}, {"type": "mcp", "server_label": "x"}, {"type": "image_generation"}],
    ),
    "a prompt from the server": {"model": "gpt-4.1-mini", "prompt": {"id": "pmpt_1"}},
}
BEDROCK = {
    "a video's media type": be.body(
        be.user({"video": {"format": "video/mp4", "source": {"bytes": "AAAA"}}}, "What is this?"),
        model="us.amazon.nova-pro-v1:0",
    ),
    "a prefill of Claude 3 after a tool's result and more": be.body(
        *(
            be.ASK,
            be.assistant(be.use("a")),
            be.user(be.result("a")),
            be.assistant("5"),
            be.ASK,
            be.assistant("{"),
        ),
        toolConfig=be.TOOLS,
        model="anthropic.claude-3-haiku-20240307-v1:0",
    ),
}
ACCEPTED = [
    pytest.param(wire, provider, body, id=f"{provider or wire}: {name}")
    for wire, provider, bodies in (
        ("openai-chat", "", CHAT),
        ("openai-chat", "openrouter", CHAT),
        ("openai-responses", "", RESPONSES),
        ("bedrock", "", BEDROCK),
    )
    for name, body in bodies.items()
]


@pytest.mark.parametrize(("wire", "provider", "body"), ACCEPTED)
def test_no_rule_objects_to_what_is_accepted(wire, provider, body):
    book = rules.book(wire, provider)
    assert objection(book.judge(book.request(body))) is None


HIDDEN = "REDACTED"
REDACTED = {
    "an image of Anthropic's": (
        "anthropic",
        an.body(an.user({**an.IMAGE, "source": {**an.IMAGE["source"], "data": HIDDEN}})),
    ),
    "an image in Chat": (
        "openai-chat",
        oc.body(
            {
                "role": "user",
                "content": [{**oc.IMAGE, "image_url": {"url": f"data:image/png;base64,{HIDDEN}"}}],
            }
        ),
    ),
    "an image of Gemini's": (
        "gemini",
        ge.body(ge.user({"inlineData": {"mimeType": "image/png", "data": f"[{HIDDEN}]"}})),
    ),
    "an image of Ollama's": ("ollama", ol.body({"role": "user", "content": "Hi", "images": [f"<{HIDDEN}>"]})),
    "an id": ("openai-responses", rs.body(rs.ASK, rs.call("a", id=f"id_{HIDDEN}_1"), rs.output("a"))),
}


@pytest.mark.parametrize(("wire", "body"), REDACTED.values(), ids=REDACTED)
def test_what_a_recorder_replaced_is_not_judged(wire, body):
    book = rules.book(wire)
    assert not [each.rule.id for each in book.judge(book.request(body)) if each.outcome == "fail"]


#: Recorded as accepted in November 2025, and the roles that a refusal of August 2026 names as valid.
TURNS_OF_GEMINI = {
    "a response without a call": ge.body(
        ge.ASK, {**ge.user(ge.answer()), "role": "function"}, named="gemini-2.0-flash-thinking-exp"
    ),
    "the role assistant": ge.body(
        ge.ASK, {**ge.model(ge.text("5")), "role": "assistant"}, ge.ASK, named="gemini-3.7-flash"
    ),
    "the role function": ge.body(ge.ASK, ge.model(ge.call()), {**ge.user(ge.answer()), "role": "function"}),
}


@pytest.mark.parametrize("body", TURNS_OF_GEMINI.values(), ids=TURNS_OF_GEMINI)
def test_gemini_takes_turns_by_model(body):
    book = rules.book("gemini")
    assert objection(book.judge(book.request(body))) is None


IMAGE_IN_TOOL = oc.body(oc.ASK, oc.call("a"), oc.result("a", [oc.IMAGE]))


@pytest.mark.parametrize("provider", ["openrouter", "ollama", "llamacpp.local", "huggingface"])
def test_gateways_and_servers_take_images_in_tool_messages(provider):
    book = rules.book("openai-chat", provider)
    assert not [each for each in book.judge(book.request(IMAGE_IN_TOOL)) if each.outcome == "fail"]
