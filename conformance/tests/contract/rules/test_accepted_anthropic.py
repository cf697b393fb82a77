"""Unusual requests that Anthropic's API accepts: no rule may refuse them."""

from dataclasses import replace

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules.anthropic import _refusals_and_examples as an

SYSTEM = {"role": "system", "content": "Be brief."}
ANTHROPIC = {
    "a binding without a type, recorded without its headers": an.body(
        an.ASK,
        model="claude-fable-5-1",
        thinking={"block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    ),
    "content as text": an.body({"role": "user", "content": "Hi"}),
    "the assistant first": an.body(an.assistant("5"), an.ASK),
    "a call first": an.body(an.assistant(an.use("a")), an.user(an.result("a"))),
    "calls and results in many messages": an.body(
        an.ASK,
        an.assistant(an.use("a")),
        an.assistant(an.use("b")),
        an.user(an.result("a")),
        an.user(an.result("b")),
    ),
    "users in a row": an.body(an.ASK, an.ASK),
    "text and media behind results": an.body(
        an.ASK, an.assistant(an.use("a")), an.user(an.result("a"), "And?", an.IMAGE)
    ),
    "media in a result": an.body(
        an.ASK,
        an.assistant(an.use("a")),
        an.user(
            an.result(
                "a",
                [
                    an.IMAGE,
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}},
                ],
            )
        ),
    ),
    "an empty result": an.body(
        an.ASK, an.assistant(an.use("a")), an.user({"type": "tool_result", "tool_use_id": "a"})
    ),
    "a blank before a call": an.body(an.ASK, an.assistant(" ", an.use("a")), an.user(an.result("a"))),
    "an id of another provider": an.body(
        an.ASK, an.assistant(an.use("call_00_x-1")), an.user(an.result("call_00_x-1"))
    ),
    "a prefill": an.body(an.ASK, an.assistant("The sum is")),
    "a turn that paused": an.body(
        an.ASK,
        an.assistant(
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        ),
        model="claude-sonnet-4-6",
    ),
    "adaptive thinking without a thought": an.body(
        an.ASK,
        an.assistant(an.use("a")),
        an.user(an.result("a")),
        model="claude-opus-5",
        thinking={"type": "adaptive"},
    ),
    "hidden thoughts": an.body(
        an.ASK, an.assistant({"type": "redacted_thinking", "data": "x"}, an.use("a")), an.user(an.result("a"))
    ),
    "a system message in the middle": an.body(
        an.ASK, SYSTEM, an.assistant("5"), an.ASK, model="claude-opus-4-8"
    ),
    "a system message at the end for Sonnet 5": an.body(an.ASK, SYSTEM, model="claude-sonnet-5"),
    "a cache": an.body(
        an.user({"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}),
        system=[an.text("Be brief.")],
    ),
    "a document of images only": an.body(
        an.user({"type": "document", "source": {"type": "content", "content": [an.IMAGE]}})
    ),
    "files and uploads": an.body(
        an.user(
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
            {"type": "container_upload", "file_id": "file_2"},
        )
    ),
    "MCP": an.body(
        an.ASK,
        an.assistant(
            {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "server_name": "s", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []},
            "5",
        ),
        an.ASK,
        mcp_servers=[{"type": "url", "url": "https://x.test", "name": "s"}],
    ),
    "Anthropic's own tools": an.body(
        an.ASK,
        tools=[
            {"type": "web_search_20250305", "name": "web_search"},
            {
                "type": "computer_20251124",
                "name": "computer",
                "display_width_px": 800,
                "display_height_px": 600,
            },
        ],
    ),
    "an empty list of tools": an.body(an.ASK, tools=[]),
    "a tool without properties": an.body(an.ASK, tools=[{"name": "now", "input_schema": {"type": "object"}}]),
    "a budget above the limit, interleaved with tools": an.body(
        an.ASK, thinking={"type": "enabled", "budget_tokens": 4096}, tools=[an.TOOL]
    ),
}


@pytest.mark.parametrize(
    "body", [pytest.param(body, id=f"anthropic: {name}") for name, body in ANTHROPIC.items()]
)
def test_no_rule_objects_to_what_is_accepted(body):
    book = rules.book("anthropic", "")
    assert objection(book.judge(book.request(body))) is None


def test_thinking_interleaves_where_a_header_says_so():
    book = rules.book("anthropic")
    search = [{"type": "web_search_20250305", "name": "web_search"}]
    request = book.request(an.body(an.ASK, thinking={"type": "enabled", "budget_tokens": 4096}, tools=search))
    assert "THK-014" in [each.rule.id for each in book.judge(request) if each.outcome == "fail"]
    request = replace(request, headers={"anthropic-beta": "interleaved-thinking-2025-05-14"})
    assert not [each for each in book.judge(request) if each.outcome == "fail"]


def test_a_request_with_client_tools_and_headers_needs_the_one_for_interleaving():
    book = rules.book("anthropic")
    request = book.request(
        an.body(an.ASK, thinking={"type": "enabled", "budget_tokens": 4096}, tools=[an.TOOL])
    )
    told = replace(request, headers=VERSION)
    assert "THK-014" in [each.rule.id for each in book.judge(told) if each.outcome == "fail"]
    interleaved = replace(request, headers={**VERSION, "anthropic-beta": "interleaved-thinking-2025-05-14"})
    assert not [each for each in book.judge(interleaved) if each.outcome == "fail"]


VERSION, BETA = {"anthropic-version": "2023-06-01"}, {"anthropic-beta": "context-management-2025-06-27"}


@pytest.mark.parametrize(
    ("headers", "query", "refused"),
    [
        (VERSION, "", True),
        (VERSION | BETA, "", False),
        ({}, "", False),  # a recorder that kept no headers
        (VERSION, "?beta=true", False),  # one that dropped the betas of an SDK's beta call
    ],
    ids=["without", "with", "no headers", "lost"],
)
def test_a_beta_field_needs_its_header(headers, query, refused):
    """https://github.com/braintrustdata/braintrust-sdk-javascript records 11 beta calls without their betas."""
    book = rules.book("anthropic")
    asked = book.request(an.body(an.ASK, context_management={"edits": []}))
    asked = replace(asked, headers=headers, url=f"https://api.anthropic.com/v1/messages{query}")
    found = objection(book.judge(asked))
    assert (found is not None) is refused
    assert not found or found.refusal.message == "context_management: Extra inputs are not permitted"
