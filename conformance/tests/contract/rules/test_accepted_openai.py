"""Legal requests from OpenAI's documentation, option by option and item by item: no rule may refuse them."""

from base64 import b64decode, b64encode

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules._media import PNG
from ellmer_conformance.contract.rules.openai_chat import _refusals_and_examples as oc
from ellmer_conformance.contract.rules.openai_responses import _refusals_and_examples as rs
from ellmer_conformance.contract.rules.openai_responses.order import with_reasoning

NODE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "description": "a name"},
        "kind": {"type": "string", "enum": ["leaf", "branch"]},
        "fixed": {"type": "string", "const": "x"},
        "mail": {"type": ["string", "null"], "format": "email"},
        "size": {"type": "number", "minimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.5},
        "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        "leaves": {"type": "array", "items": {"$ref": "#/$defs/leaf"}, "minItems": 1, "maxItems": 9},
    },
    "required": ["name", "kind", "fixed", "mail", "size", "next", "leaves"],
    "additionalProperties": False,
    "$defs": {
        "leaf": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        }
    },
}
LOOSE = {
    "type": "object",
    "properties": {
        "any": {},
        "one": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "all": {"allOf": [{"type": "object", "properties": {}}]},
        "list": {"type": "array", "items": True},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "patternProperties": {"^x-": {}},
}
LARK = {"syntax": "lark", "definition": "start: INT\n%import common.INT"}
GRAMMAR = {"type": "grammar", **LARK}


def function(schema, **more):
    return {"type": "function", "function": {"name": "plant", "parameters": schema, **more}}


CUSTOM = {"type": "custom", "custom": {"name": "sum", "format": {"type": "grammar", "grammar": LARK}}}
CHAT = {
    "an empty list as content": oc.body({"role": "user", "content": []}),
    "tools where no effort is set": oc.body(oc.ASK, model="gpt-5.5", tools=[oc.TOOL]),
    "penalties where the model does not reason": oc.body(
        oc.ASK,
        model="gpt-5.6-terra",
        reasoning_effort="none",
        frequency_penalty=0.5,
        logit_bias=None,
        n=8,
        max_completion_tokens=1,
    ),
    "sound in and out": oc.body(
        {
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}}],
        },
        {"role": "assistant", "audio": {"id": "audio_1"}},
        oc.ASK,
        model="gpt-4o-audio-preview",
        modalities=["text", "audio"],
        audio={"voice": "alloy", "format": "wav"},
    ),
    "a text that is no part": oc.body({"role": "user", "content": ["What is this?", oc.IMAGE]}),
    "an image in a result for GPT-4.1": oc.body(
        oc.ASK, oc.call("a"), oc.result("a", [{"type": "text", "text": "5"}, oc.IMAGE]), model="gpt-4.1-nano"
    ),
    "a prediction": oc.body(oc.ASK, prediction={"type": "content", "content": "5"}),
    "a search": oc.body(
        oc.ASK,
        model="gpt-4o-search-preview",
        web_search_options={"search_context_size": "low", "user_location": None},
    ),
    "a custom tool, its call and its result": oc.body(
        oc.ASK,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sum", "input": "5"}}],
        },
        oc.result("a"),
        model="gpt-5",
        tools=[CUSTOM],
        tool_choice={"type": "custom", "custom": {"name": "sum"}},
    ),
    "a choice of some tools": oc.body(
        oc.ASK,
        tools=[oc.TOOL],
        tool_choice={
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "add"}}]},
        },
    ),
    "all options at once": oc.body(
        oc.ASK,
        logit_bias={"50256": -100},
        logprobs=True,
        top_logprobs=5,
        n=2,
        seed=1,
        stop=["a", "b", "c", "d"],
        temperature=0,
        top_p=0.5,
        presence_penalty=-2,
        metadata={"a": "b"},
        store=True,
        stream=True,
        stream_options={"include_usage": True, "include_obfuscation": False},
        service_tier="priority",
        user="someone",
        safety_identifier="u" * 64,
        prompt_cache_key="k",
        tools=[oc.TOOL],
        parallel_tool_calls=False,
    ),
    "options that are not set": oc.body(
        oc.ASK, tools=None, tool_choice=None, stop=None, stream=False, stream_options=None, user=None
    ),
    "a strict tool with all that it takes": oc.body(oc.ASK, tools=[function(NODE, strict=True)]),
    "a loose tool with what strict ones refuse": oc.body(oc.ASK, tools=[function(LOOSE, strict=False)]),
    "a strict answer": oc.body(
        oc.ASK,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "tree", "schema": NODE, "strict": True},
        },
    ),
    "JSON, asked for by the system": oc.body(
        {"role": "system", "content": "Answer in JSON."}, oc.ASK, response_format={"type": "json_object"}
    ),
    "an image of every form": oc.body(
        {
            "role": "user",
            "content": [
                oc.IMAGE,
                {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}},
            ],
        }
    ),
    "a name of the speaker": oc.body({**oc.ASK, "name": "alice"}),
}


def items(*more):
    return rs.body(rs.ASK, *more, rs.ASK)


TOOLS = [
    {"type": "function", "name": "now", "parameters": None, "strict": None},
    {"type": "custom", "name": "sum", "format": GRAMMAR},
    {"type": "web_search", "filters": {"allowed_domains": ["x.test"]}},
    {"type": "file_search", "vector_store_ids": ["vs_1"]},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    {"type": "computer_use_preview", "display_width": 9, "display_height": 9, "environment": "browser"},
    {"type": "mcp", "server_label": "x", "server_url": "https://x.test", "require_approval": "never"},
    {"type": "image_generation", "partial_images": 2},
    {"type": "local_shell"},
    {"type": "shell"},
    {"type": "apply_patch"},
    {"type": "tool_search"},
]
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
RESPONSES = {
    "tools of every kind": rs.body(rs.ASK, model="gpt-5", tools=TOOLS, max_tool_calls=3),
    "a hosted tool that is chosen": rs.body(
        rs.ASK, tools=[{"type": "web_search"}], tool_choice={"type": "web_search_preview"}
    ),
    "an MCP server that is chosen": rs.body(
        rs.ASK, tools=[TOOLS[6]], tool_choice={"type": "mcp", "server_label": "x"}
    ),
    "some tools that are allowed": rs.body(
        rs.ASK,
        tools=[rs.TOOL],
        tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "add"}]},
    ),
    "a choice without tools": rs.body(rs.ASK, tool_choice="auto", parallel_tool_calls=True, tools=[]),
    "thoughts, encrypted": rs.body(
        rs.ASK,
        model="gpt-5",
        store=False,
        include=["reasoning.encrypted_content", "code_interpreter_call.outputs"],
        reasoning={"effort": "minimal", "summary": "auto"},
    ),
    "a thought and what it led to, by reference": items(REASONING, {"type": "item_reference", "id": "msg_1"}),
    "thoughts in a row": items(
        REASONING, {**REASONING, "id": "rs_2"}, rs.call("a", id="fc_1"), rs.output("a")
    ),
    "a patch": items(
        {
            "type": "apply_patch_call",
            "call_id": "p",
            "id": "apc_1",
            "status": "completed",
            "operation": {"type": "create_file", "path": "a", "diff": "+a"},
        },
        {"type": "apply_patch_call_output", "call_id": "p", "status": "completed", "output": "done"},
    ),
    "a shell": items(
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}, "status": "completed"},
        {
            "type": "shell_call_output",
            "call_id": "s",
            "output": [{"stdout": ".", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
    "files in every form": rs.body(
        {
            "role": "user",
            "content": [
                {"type": "input_file", "file_id": "file-1"},
                {"type": "input_file", "file_url": "https://x.test/a.pdf"},
                {"type": "input_image", "file_id": "file-2", "image_url": None, "detail": "auto"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
                {"type": "input_image", "image_url": "https://x.test/a.png"},
            ],
        }
    ),
    "all options at once": rs.body(
        rs.ASK,
        model="gpt-5",
        background=True,
        conversation={"id": "conv_1"},
        instructions="Be brief.",
        max_output_tokens=16,
        metadata={"a": "b"},
        prompt_cache_key="k",
        prompt_cache_retention="24h",
        safety_identifier="u" * 64,
        service_tier="priority",
        store=True,
        stream=True,
        stream_options={"include_obfuscation": False},
        text={"format": {"type": "text"}, "verbosity": "low"},
        truncation="auto",
    ),
    "options of a model that does not reason": rs.body(
        rs.ASK, temperature=0, top_p=0.5, top_logprobs=5, include=["message.output_text.logprobs"]
    ),
    "a strict tool with all that it takes": rs.body(
        rs.ASK, tools=[{"type": "function", "name": "plant", "parameters": NODE, "strict": True}]
    ),
    "a loose tool with what strict ones refuse": rs.body(
        rs.ASK, tools=[{"type": "function", "name": "plant", "parameters": LOOSE, "strict": False}]
    ),
    "a strict answer": rs.body(
        rs.ASK,
        text={"format": {"type": "json_schema", "name": "tree", "schema": NODE, "strict": True}},
    ),
    "a prompt with variables": {"prompt": {"id": "pmpt_1", "variables": {"city": "Paris"}}, "input": "Hi"},
}


@pytest.mark.parametrize("provider", ["", "azure"])
@pytest.mark.parametrize(
    ("wire", "body"),
    [("openai-chat", body) for body in CHAT.values()]
    + [("openai-responses", body) for body in RESPONSES.values()],
    ids=[f"chat: {name}" for name in CHAT] + [f"responses: {name}" for name in RESPONSES],
)
def test_no_rule_objects_to_what_is_legal(wire, provider, body):
    book = rules.book(wire, provider)
    assert objection(book.judge(book.request(body))) is None


@pytest.mark.parametrize("provider", ["", "azure"])
def test_azure_has_fields_of_its_own(provider):
    """https://learn.microsoft.com/azure/ai-services/openai/reference-preview"""
    book = rules.book("openai-chat", provider)
    asked = book.request(oc.body(oc.ASK, data_sources=[], user_security_context={"application_name": "shop"}))
    found = [each.pointer for verdict in book.judge(asked) for each in verdict.violations]
    assert set(found) == (set() if provider else {"/data_sources", "/user_security_context"})


@pytest.mark.parametrize(("model", "outcome"), [("nvidia/nemotron-parse", "pass"), ("gpt-5", "fail")])
def test_an_image_in_a_tag_is_no_media_but_for_nvidia(model, outcome):
    """https://github.com/Future-House/paper-qa: the model locates each line of text in such an image."""
    data = b64encode(b64decode(PNG) + bytes(400)).decode()
    book = rules.book("openai-chat", "compatible")
    asked = oc.body({"role": "user", "content": f'<img src="data:image/png;base64,{data}" />'}, model=model)
    assert [each.outcome for each in book.judge(book.request(asked)) if each.rule.id == "TRM-002"] == [
        outcome
    ]


BELOW = '{"docs": ["[see below: item 1]"]}'


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (f'{BELOW}\n<content item="1">\n[a PDF document]\n</content>', "pass"),
        (BELOW, "fail"),
        (f'<content item="1">\n</content>\n{BELOW}', "fail"),
        (f'{BELOW}\n<content item="1">', "fail"),
    ],
)
def test_a_server_of_tools_may_send_what_it_points_at_in_the_same_result(result, outcome):
    """As `serve_mcp()` does; the client then describes a PDF that its model cannot read."""
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    said = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
    book = rules.book("openai-chat", "openai")
    asked = oc.body({"role": "user", "content": "Find it."}, *said)
    assert [each.outcome for each in book.judge(book.request(asked)) if each.rule.id == "TRM-016"] == [
        outcome
    ]


@pytest.mark.parametrize(
    ("type", "linked"),
    [("message", True), ("function_call", True), ("custom_tool_call", True), ("web_search_call", False)],
)
def test_the_ids_of_an_answer_show_which_item_needs_its_reasoning(type, linked):
    thought, item = {"type": "reasoning", "id": f"rs_{7:050x}"}, {"type": type, "id": f"msg_{8:050x}"}
    with_reasoning([thought, item])

    assert (thought["id"], item["id"]) == (
        (f"rs_{0:036x}5ea1ed{0:08x}", f"msg_{0:036x}5ea1ed{1:08x}")
        if linked
        else (f"rs_{7:050x}", f"msg_{8:050x}")
    )
