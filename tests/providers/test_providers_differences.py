"""The differences of each provider, one by one."""

from dataclasses import replace

import pytest
from wires.every_provider import DRAW, ONE, PDF, PNG, SHAPE, body, made

from ellmer_core.contents.content import (
    ContentImageRemote,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.errors import ContentError, UsageError
from ellmer_core.providers._construction import chat
from ellmer_core.tools.provider_tools import tool_web_search

pytestmark = pytest.mark.usefixtures("variables")

THOUGHT = AssistantTurn([ContentThinking("Hm."), ONE])


def answer(**message):
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


CALLS = [{"id": "c1", "type": "function", "function": {"name": "draw", "arguments": "{}"}}]


def test_groq_gets_no_field_that_it_does_not_know():
    wire = made("groq", api_key="k")
    turn = wire.turn(answer(reasoning="Hm.", tool_calls=CALLS, executed_tools=[]))

    assert turn.contents[0].thinking == "Hm."
    assert wire.message(turn) == [{"role": "assistant", "content": None, "tool_calls": CALLS}]


@pytest.mark.parametrize(("name", "filler"), [("deepseek", ""), ("moonshot", ".")])
def test_reasoning_goes_back_with_every_call(name, filler):
    wire = made(name, api_key="k")
    turn = wire.turn(answer(reasoning_content="Hm.", tool_calls=CALLS))

    assert wire.message(turn)[0]["reasoning_content"] == "Hm."
    assert wire.message(THOUGHT)[0]["reasoning_content"] == filler
    assert "reasoning_content" not in wire.message(AssistantTurn("a"))[0]


def test_openrouter_lets_reasoning_and_media_through():
    wire = made("openrouter", api_key="k", params={"reasoning_effort": "low", "max_tokens": 9})
    details = [{"type": "reasoning.encrypted", "data": "AA", "index": 0}]
    turn = wire.turn(answer(reasoning_details=details, tool_calls=CALLS))

    assert wire.message(turn)[0]["reasoning_details"] == details
    sent = body(wire)
    assert (sent["reasoning"], sent["max_tokens"]) == ({"effort": "low"}, 9)


def test_cloudflare_gets_several_texts_as_one_string():
    wire = made("cloudflare", api_key="k", model="@cf/meta/llama-4-scout-17b-16e-instruct")

    assert wire.message(UserTurn(["One.", "Two."])) == [{"role": "user", "content": "One.\n\nTwo."}]
    assert isinstance(wire.message(UserTurn(["One.", PNG]))[0]["content"], list)


def test_cloudflare_has_no_schema_in_a_stream():
    wire = made("cloudflare", api_key="k")
    asked = [UserTurn("Who?")]
    whole, streamed = (wire.asking(asked, stream=stream, type=SHAPE).json for stream in (False, True))

    assert whole["response_format"]["type"] == "json_schema"
    assert "response_format" not in streamed
    assert '"why"' in streamed["messages"][-1]["content"]


def test_tools_of_other_providers_have_plain_schemas():
    function = body(made("xai", api_key="k"), tools=[DRAW])["tools"][0]["function"]

    assert "strict" not in function
    assert function["parameters"]["required"] == ["n"]
    assert body(made("openai_completions", api_key="k"), tools=[DRAW])["tools"][0]["function"]["strict"]


@pytest.mark.parametrize("name", ["vllm", "lmstudio"])
def test_roles_take_turns(name):
    wire = made(f"{name}/m", api_key="k")
    turns = [UserTurn("a"), UserTurn([ContentText("b"), PNG]), AssistantTurn("c"), UserTurn("d")]
    messages = wire.messages(turns)

    assert [m["role"] for m in messages] == ["user", "assistant", "user"]
    assert [part["type"] for part in messages[0]["content"]] == ["text", "text", "image_url"]
    assert messages[2]["content"] == "d"


@pytest.mark.parametrize(("model", "ok"), [("google/gemma-3-27b-it", ["OK"]), ("llama-4", [])])
def test_after_a_result_the_strictest_templates_want_the_model(model, ok):
    wire = made(f"vllm/{model}", api_key="k")
    request = ContentToolRequest("c1", "draw", {"n": 1})
    turns = [
        UserTurn("a"),
        AssistantTurn([request]),
        UserTurn([ContentToolResult("1", request=request), ContentText("b")]),
    ]
    messages = wire.messages(turns)

    assert [m["content"] for m in messages[3:]] == [*ok, "b"]


@pytest.mark.parametrize(("model", "sent"), [("qwen3-8b", False), ("qwen3.8-max", None)])
def test_open_models_of_qwen_think_only_in_a_stream(model, sent):
    wire = made(f"qwen/{model}", api_key="k")

    assert body(wire).get("enable_thinking") is sent
    assert "enable_thinking" not in body(wire, stream=True)


PAGES = {"type": "search_results", "queries": ["Rye?"], "results": [{"id": 1, "url": "https://w.test/a"}]}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
    {"type": "output_text", "text": "It grows.[1]", "annotations": []}]}  # fmt: skip
CALLED = {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c1", "name": "draw", "arguments": "{}",
          "thought_signature": "S"}  # fmt: skip
SEARCH = {"type": "web_search"}


def test_perplexity_gets_no_field_of_its_answers_back():
    wire = made("perplexity", api_key="k")
    turn = wire.turn({"status": "completed", "output": [PAGES, SAID, CALLED]})
    result = UserTurn([ContentToolResult("done", request=turn.tool_requests[0])])
    sent = wire.messages([UserTurn("Rye?"), turn, result])[1:]

    assert [type(content) for content in turn.contents] == [ContentText, ContentToolRequest]
    assert [page.url for page in turn.contents[0].citations] == ["https://w.test/a"]
    call = {"call_id": "c1", "name": "draw", "thought_signature": "S"}
    assert sent == [
        {"role": "assistant", "content": "It grows.[1]"},
        {"type": "function_call", "arguments": "{}", **call},
        {"type": "function_call_output", "output": "done", **call},
    ]
    other = made("openai", api_key="k").turn(
        {"status": "completed", "output": [{"type": "new", "id": "n"}, SAID]}
    )
    assert wire.messages([UserTurn("Rye?"), other])[1:] == [sent[0]]


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ({"currency": "USD", "input_cost": 0.001, "tool_calls_cost": 0.005, "total_cost": 0.0062}, 0.0062),
        ({"currency": "EUR", "total_cost": 0.0062}, None),
        ({"currency": "USD", "total_cost": "free"}, None),
        (None, None),
    ],
)
def test_perplexity_names_its_cost_with_the_searches(cost, expected):
    """The fields are those of https://docs.perplexity.ai/api-reference/agent-post."""
    usage = {"input_tokens": 9, "output_tokens": 5, "cost": cost}
    wire = made("perplexity", api_key="k")
    assert wire.turn({"status": "completed", "output": [SAID], "usage": usage}).cost == expected


def test_perplexity_streams_its_searches_as_calls_that_nobody_runs():
    wire = made("perplexity", api_key="k")
    merger = wire.merger()
    call = {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "search_web", "arguments": "{}"}
    merger.add({"type": "response.output_item.added", "output_index": 0, "item": call})

    assert not wire.turn(merger.response()).contents
    for event in (
        {"type": "response.output_item.done", "output_index": 0, "item": PAGES},
        {"type": "response.output_item.added", "output_index": 1, "item": SAID | {"content": None}},
        {"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_1", "delta": "It"},
    ):
        merger.add(event)
    [text] = wire.turn(merger.response()).contents
    assert (text.text, text.citations[0].url) == ("It", "https://w.test/a")


@pytest.mark.parametrize(
    ("options", "tools", "expected"),
    [
        ({}, [], {"tools": [SEARCH], "tool_choice": SEARCH}),
        ({}, [DRAW], {"tools": [SEARCH, "draw"]}),
        ({"web_search": False}, [DRAW], {"tools": ["draw"]}),
        ({"web_search": False}, [], {}),
        (
            {},
            [tool_web_search(allowed_domains=["w.test"], user_location={"country": "FR"})],
            {"tools": [SEARCH | {"filters": {"search_domain_filter": ["w.test"]}, "user_location": {"country": "FR"}}]},
        ),
    ],
)  # fmt: skip
def test_perplexity_searches_unless_it_is_told_not_to(options, tools, expected):
    sent = body(made("perplexity", api_key="k", **options), tools=tools)
    found = {key: sent[key] for key in ("tools", "tool_choice") if key in sent}
    if tools == [DRAW]:
        found["tools"][-1] = found["tools"][-1]["name"]

    assert found == expected


def test_perplexity_has_structured_output_beside_the_text_and_names_of_its_own():
    wire = made("perplexity", api_key="k")
    sent = body(wire, type=SHAPE)

    assert sent["response_format"]["json_schema"]["name"] == "structured_data"
    assert sent.keys().isdisjoint({"text", "include"})
    assert wire.asking([UserTurn("?")], type=SHAPE, mode="tool").json["tool_choice"] == {
        "name": "give_structured_data"
    }
    with pytest.raises(UsageError, match="has a tool of its own with the name 'fetch_url'"):
        body(wire, tools=[replace(DRAW, name="fetch_url")])
    with pytest.raises(UsageError, match="cannot count tokens"):
        wire.count_request([UserTurn("?")])


@pytest.mark.parametrize(("name", "asked"), [("databricks", False), ("mistral", False), ("groq", True)])
def test_usage_of_a_stream_is_asked_for_where_it_has_to_be(name, asked):
    assert ("stream_options" in body(made(name, api_key="k"), stream=True)) is asked


def test_posit_has_claude_over_one_format_and_all_others_over_another():
    claude, other = (made(f"posit/{model}", api_key="k") for model in ("claude-opus-5", "qwen3-coder"))

    assert (claude.name, other.name) == ("anthropic", "openai-chat")
    assert claude.headers() == {"anthropic-version": "2023-06-01", "authorization": "Bearer k"}
    assert other.request([UserTurn("Hi")]).url == "https://gateway.posit.ai/openai/v1/chat/completions"
    older = made("anthropic/claude-opus-5", api_key="k", api_version="2023-06-01")
    assert claude.profile == older.profile


def test_portkey_has_a_header_of_its_own():
    assert made("portkey/@openai/gpt", api_key="k").headers() == {"x-portkey-api-key": "k"}


def test_azure_has_keys_and_tokens_and_two_kinds_of_url():
    assert made("azure_openai/dep", api_key="k").headers() == {"api-key": "k"}
    entra = chat("azure_openai/dep", credentials=lambda: "token", api_version="2024-10-21").wire
    request = entra.request([UserTurn("Hi")])

    assert request.headers == {"authorization": "Bearer token"}
    assert request.url == (
        "https://res.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21"
    )


def test_groq_is_asked_by_a_tool_for_data_where_there_are_tools():
    """`json mode cannot be combined with tool/function calling`"""
    groq = made("groq", api_key="k")
    with_tools, without = (groq.asking([UserTurn("Hi")], tools, type=SHAPE).json for tools in ([DRAW], []))

    assert "response_format" not in with_tools
    assert with_tools["tools"][-1]["function"]["name"] == "give_structured_data"
    assert with_tools["tool_choice"] == "required"
    assert without["response_format"]["type"] == "json_schema"
    assert without["messages"] == [{"role": "user", "content": "Hi"}]


# Mistral ----------------------------------------------------------------------------------------------------

MISTRAL = made("mistral", api_key="k")


@pytest.mark.parametrize(("id", "kept"), [("Ah0BFgzqX", True), ("call_1", False), ("x" * 40, False)])
def test_mistral_ids_have_nine_characters_on_both_sides(id, kept):
    call = ContentToolRequest(id, "draw")
    asked, told = MISTRAL.messages([AssistantTurn([call]), UserTurn([ContentToolResult("x", request=call)])])

    assert asked["tool_calls"][0]["id"] == told["tool_call_id"]
    assert (told["tool_call_id"] == id) is kept
    assert len(told["tool_call_id"]) == 9
    assert told["tool_call_id"].isalnum()
    assert asked["content"] == ""


def test_mistral_media():
    assert MISTRAL.content(PDF) == {
        "type": "document_url",
        "document_url": "data:application/pdf;base64,JVBERi0=",
        "document_name": "a.pdf",
    }
    assert MISTRAL.content(ContentImageRemote("https://x/y.png", "high"))["image_url"] == {
        "url": "https://x/y.png"
    }
    assert MISTRAL.content(ContentUploaded("f1", "application/pdf", "mistral")) == {
        "type": "file",
        "file_id": "f1",
    }
    with pytest.raises(ContentError):
        MISTRAL.content(ContentUploaded("f1", "application/pdf", "openai-chat"))


def test_mistral_thinking_goes_back_as_it_came():
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True}
    turn = MISTRAL.turn(answer(content=[part, {"type": "text", "text": "a"}]))

    assert turn.contents[0].thinking == "Hm."
    assert MISTRAL.message(turn)[0]["content"] == [part, {"type": "text", "text": "a"}]


def test_mistral_strict_order_puts_an_ok_between_tool_and_user():
    turns = [AssistantTurn([ONE]), UserTurn([ContentToolResult(PNG, request=ONE)]), UserTurn("Hi")]
    strict = chat("mistral", api_key="k", strict_order=True).wire

    assert [m["role"] for m in MISTRAL.messages(turns)] == ["assistant", "tool", "user", "user"]
    assert [m["role"] for m in strict.messages(turns)] == ["assistant", "tool", "assistant", "user", "user"]


def test_mistral_parameters():
    wire = made("mistral", api_key="k", params={"seed": 1, "max_tokens": 9})

    assert {k: v for k, v in body(wire).items() if k in {"random_seed", "max_tokens"}} == {
        "random_seed": 1,
        "max_tokens": 9,
    }
