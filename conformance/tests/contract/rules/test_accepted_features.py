"""Requests from the documentation of newer features: no rule may refuse them."""

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules.anthropic import _refusals_and_examples as an
from ellmer_conformance.contract.rules.gemini import _refusals_and_examples as ge

SYSTEM = {"role": "system", "content": "Be brief."}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "2 + 3"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}

ANTHROPIC = {
    "a system message that only sets the effort": an.body(
        {"role": "system", "output_config": {"effort": "low"}},
        an.ASK,
        an.assistant("5"),
        {"role": "system", "content": [], "output_config": {"effort": "high"}},
        an.ASK,
        model="claude-opus-5",
    ),
    "system messages in a row, behind results": an.body(
        an.ASK,
        an.assistant(an.use("a")),
        an.user(an.result("a")),
        {**SYSTEM, "clear_at": "next_user_message"},
        SYSTEM,
        an.assistant("5"),
        an.ASK,
        tools=[an.TOOL],
        model="claude-fable-5-1",
    ),
    "a tool that is defined midway": an.body(
        an.ASK,
        {
            "role": "system",
            "content": [
                {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": an.TOOL}}
            ],
        },
        tools=[{**an.TOOL, "name": "mul"}],
        model="claude-opus-5-5",
    ),
    "a call of the server's that waits for one of the client's": an.body(
        an.ASK,
        an.assistant("I look.", SEARCH, an.use("a")),
        an.user(an.result("a")),
        tools=[an.TOOL, {"type": "web_search_20260318", "name": "web_search"}],
    ),
    "code that calls a tool": an.body(
        an.ASK,
        an.assistant(
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "code_execution",
                "input": {"code": "add()"},
            },
            {**an.use("a"), "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}},
        ),
        an.user(an.result("a")),
        an.assistant(
            {
                "type": "code_execution_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {
                    "type": "code_execution_result",
                    "stdout": "5",
                    "stderr": "",
                    "return_code": 0,
                    "content": [],
                },
            },
            "5",
        ),
        an.ASK,
        tools=[
            {**an.TOOL, "allowed_callers": ["code_execution_20260120"]},
            {"type": "code_execution_20260120", "name": "code_execution"},
        ],
        container="container_1",
    ),
    "a turn that paused and went on": an.body(
        an.ASK, an.assistant("I look. ", SEARCH), an.assistant(FOUND, "5"), an.ASK
    ),
    "a paused turn that ends in a blank": an.body(an.ASK, an.assistant(SEARCH, FOUND, "I go on. ")),
    "tools that are searched": an.body(
        an.ASK,
        an.assistant(
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {}},
            {
                "type": "tool_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {
                    "type": "tool_search_tool_search_result",
                    "tool_references": [{"type": "tool_reference", "tool_name": "add"}],
                },
            },
            an.use("a"),
        ),
        an.user(an.result("a", [{"type": "tool_reference", "tool_name": "add"}])),
        tools=[
            {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
            {**an.TOOL, "defer_loading": True},
        ],
    ),
    "what was compacted": an.body(
        an.ASK, an.assistant({"type": "compaction", "content": "We added."}, FOUND, "5"), an.ASK
    ),
    "a forced tool of a set": an.body(
        an.ASK,
        tools=[{"type": "mcp_toolset", "mcp_server_name": "s"}],
        tool_choice={"type": "tool", "name": "s_add"},
        mcp_servers=[{"type": "url", "url": "https://x.test", "name": "s"}],
    ),
    "an hour's cache before one of five minutes": an.body(
        an.user({**an.text("Hi"), "cache_control": {"type": "ephemeral", "ttl": "5m"}}),
        tools=[{**an.TOOL, "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        system=[{**an.text("Be brief."), "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        cache_control={"type": "ephemeral"},
    ),
    "a cache that is warmed": an.body(an.ASK, max_tokens=0),
    "unions below the top of a schema": an.body(
        an.ASK,
        tools=[
            {
                "name": "add",
                "input_schema": {
                    "$schema": "http://json-schema.org/draft-07/schema#",
                    "type": "object",
                    "properties": {
                        "type": {"type": ["string", "null"]},
                        "items": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]},
                        "required": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
                    },
                    "$defs": {"Item": {"enum": ["a", 1, None]}},
                    "additionalProperties": {"type": "string"},
                },
            }
        ],
    ),
    "thoughts that are omitted": an.body(
        an.ASK,
        an.assistant({"type": "thinking", "thinking": "", "signature": "EqQBCkYIBBgC"}, an.use("a")),
        an.user(an.result("a")),
        tools=[an.TOOL],
        thinking={"type": "adaptive", "display": "omitted"},
        model="claude-opus-4-7",
    ),
    "a thought at the end, of a model that thinks by itself": an.body(
        an.ASK, an.assistant(an.THOUGHT, SEARCH), model="claude-opus-5"
    ),
    "an answer whose credit is redeemed": an.body(
        an.ASK, an.assistant("The sum"), fallback_credit_token="t", model="claude-opus-5"
    ),
}
GEMINI = {
    "functions beside code that is run": ge.body(
        ge.ASK, named="gemini-3-flash-preview", tools=[*ge.TOOLS, {"codeExecution": {}}]
    ),
    "tools that the server called": ge.body(
        ge.ASK,
        ge.model(
            {
                "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s", "args": {"queries": ["5"]}},
                "thoughtSignature": "x",
            },
            {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s", "response": {}}},
            {"text": "5", "thoughtSignature": "x"},
        ),
        ge.ASK,
        named="gemini-3-flash-preview",
        tools=[*ge.TOOLS, {"googleSearch": {}}],
        toolConfig={"includeServerSideToolInvocations": True},
    ),
    "no thinking, in a model that need not": ge.body(
        ge.ASK, generationConfig={"thinkingConfig": {"thinkingBudget": 0}}
    ),
    "as much thinking as it likes": ge.body(
        ge.ASK, named="gemini-2.5-pro", generationConfig={"thinking_config": {"thinking_budget": -1}}
    ),
    "a budget in the place of a level": ge.body(
        ge.ASK, named="gemini-3-pro-preview", generationConfig={"thinkingConfig": {"thinkingBudget": 1024}}
    ),
}
CASES = [
    (wire, name, body)
    for wire, bodies in (("anthropic", ANTHROPIC), ("gemini", GEMINI))
    for name, body in bodies.items()
]


@pytest.mark.parametrize(
    ("wire", "body"), [(wire, body) for wire, _, body in CASES], ids=[name for _, name, _ in CASES]
)
def test_no_rule_objects_to_a_feature(wire, body):
    book = rules.book(wire)
    assert objection(book.judge(book.request(body))) is None
