"""Vendors of whom one refusal or two are known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ....exchange import Request
from ....rule import Finding, Refusal, broken, met
from ....rulebook import RuleBook
from ....wires.openai_chat import messages
from ....wires.values import object_of
from ..._openai import envelope, refused
from .._book import ASK, MUST, REJECT, TOOL, body, call, result
from .._pairing import calls_of
from . import elsewhere


def _json(value: object) -> tuple[Mapping[str, str], bytes]:
    return {"content-type": "application/json"}, json.dumps(value, separators=(",", ":")).encode()


def _coded(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Perplexity's: the status is in the body, too."""
    code = refusal.code or refusal.status
    return _json({"error": {"message": refusal.message, "type": refusal.type, "code": code}})


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """OpenRouter's: a sentence and the status; whose request it was, once that is known."""
    known = {} if refusal.status == 401 else {"user_id": "user_conformance"}
    return _json({"error": {"message": refusal.message, "code": refusal.status}} | known)


def _flat(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """xAI's: the error is a string."""
    code = refusal.code or "Client specified an invalid argument"
    return _json({"code": code, "error": refusal.message})


openrouter = elsewhere("openrouter", envelope=_numbered)
xai = elsewhere("xai", envelope=_flat)


@xai.rule(
    "EMP-001",
    MUST,
    REJECT,
    source=["https://github.com/langchain-ai/langchain/issues/34140", "many reports of the same text"],
    refusal=Refusal("Invalid request content: Each message must have at least one content element."),
    examples=[body({"role": "user", "content": ""}, call("a"), result("a"))],
    counterexamples=[body({"role": "user", "content": None}), body({"role": "user", "content": []})],
)
def every_message_has_content(request: Request) -> Iterator[Finding]:
    """A message that calls nothing has content, if only an empty text."""
    for pointer, message in messages(request.body):
        if message.get("role") in {"user", "system", "assistant"} and not calls_of(message):
            none = message.get("content") in (None, [])
            yield broken(pointer, "the message has no content") if none else met(pointer)


perplexity = elsewhere("perplexity", envelope=_coded)


def _misordered(what: str) -> Refusal:
    return Refusal(f"After the (optional) system message(s), {what}", type="invalid_message", code=400)


@perplexity.rule(
    "ORD-009",
    MUST,
    REJECT,
    source="recorded refusal (sonar)",
    refusal=_misordered("user or tool message(s) should alternate with assistant message(s)."),
    formerly=[_misordered("user and assistant roles should be alternating.")],
    examples=[
        body({"role": "system", "content": "Be brief."}, ASK, {"role": "assistant", "content": "5"}, ASK)
    ],
    counterexamples=[body(ASK, ASK), body({"role": "assistant", "content": "5"}, ASK)],
)
def sides_alternate(request: Request) -> Iterator[Finding]:
    """After the system messages, user and assistant alternate, the user first.

    Fix: merge consecutive messages of the user.
    """
    found = [(pointer, message.get("role")) for pointer, message in messages(request.body)]
    while found and found[0][1] == "system":
        found.pop(0)
    before = "assistant"
    for pointer, role in found:
        side = "assistant" if role == "assistant" else "user"
        wrong = side == before and role != "tool"
        yield broken(pointer, f"{role} after {before}") if wrong else met(pointer)
        before = side


_OPEN: dict[str, object] = {
    "refusal": refused(
        "an assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
    ),
    "source": ("https://github.com/MoonshotAI/kimi-cli/issues/2405",),
}
moonshot = elsewhere(
    "moonshot",
    only=["PAIR-001", "ORD-002", "ORD-003"],
    PAIR_001=_OPEN,
    ORD_002=_OPEN,
    ORD_003=_OPEN,
)


@moonshot.rule(
    "THK-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/mastra-ai/mastra/issues/12592",
        "https://github.com/continuedev/continue/issues/11600",
    ],
    refusal=refused(
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
    ),
    models=["kimi-k2-thinking*"],
    examples=[body(ASK, call("a", reasoning_content="…"), result("a"), model="kimi-k2-thinking")],
    counterexamples=[body(ASK, call("a"), result("a"), model="kimi-k2-thinking")],
)
def thoughts_come_back(request: Request) -> Iterator[Finding]:
    """An assistant message of a thinking model that calls tools has its `reasoning_content`."""
    for index, (pointer, message) in enumerate(messages(request.body)):
        if calls_of(message):
            there = "reasoning_content" in message
            yield met(pointer) if there else broken(pointer, "`reasoning_content` is missing", index=index)


@moonshot.rule(
    "EMP-002",
    MUST,
    REJECT,
    source="many reports of the same text, 2025 and 2026",
    refusal=refused(
        "Invalid request: the message at position {index} with role 'assistant' must not be empty"
    ),
    examples=[body(ASK, call("a", content="", reasoning_content="…"), result("a"))],
    counterexamples=[body(ASK, {"role": "assistant", "content": ""}, ASK)],
)
def the_assistant_said_something(request: Request) -> Iterator[Finding]:
    """An assistant's message has content or calls.

    Fix: leave out the message of a model that said nothing.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "assistant":
            something = message.get("content") or calls_of(message) or message.get("partial")
            yield met(pointer) if something else broken(pointer, "neither content nor calls", index=index)


def _dashscope(message: str) -> Refusal:
    return refused(f"<400> InternalError.Algo.InvalidParameter: {message}", code="invalid_parameter_error")


_ORPHAN = {
    "refusal": _dashscope(
        'messages with role "tool" must be a response to a preceeding message with "tool_calls".'
    ),
    "source": ("https://github.com/QwenLM/qwen-code/issues/2360",),
}
_DANGLING = {
    "refusal": _dashscope(
        'An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". '
        "The following tool_call_ids did not have response messages: {ids}"
    ),
    "source": ("https://github.com/QwenLM/qwen-code/issues/315",),
}
qwen = elsewhere(
    "qwen",
    only=["PAIR-001", "PAIR-002", "ORD-002", "ORD-003", "SCH-008"],
    SCH_008={
        "preview": False,
        "refusal": refused("[] is too short - 'tools'"),
        "source": ("https://github.com/QwenLM/qwen-code/issues/643", "many reports of the same text"),
    },
    PAIR_002=_ORPHAN,
    PAIR_001=_DANGLING,
    ORD_002=_DANGLING,
    ORD_003=_DANGLING,
)


@qwen.rule(
    "THK-011",
    MUST,
    REJECT,
    source="recorded refusals (qwen3.7-max, qwen3.8-max)",
    refusal=_dashscope(
        "The tool_choice parameter does not support being set to required or object in thinking mode"
    ),
    examples=[body(ASK, tools=[TOOL], enable_thinking=True, model="qwen3-max")],
    counterexamples=[
        body(ASK, tools=[TOOL], tool_choice="required", enable_thinking=True, model="qwen3-max")
    ],
)
def thinking_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """While thinking is on, no tool is forced."""
    if request.body.get("enable_thinking") is True:
        choice = request.body.get("tool_choice")
        forced = choice == "required" or isinstance(choice, dict)
        yield broken("/tool_choice", "a call is forced") if forced else met("/enable_thinking")


def _plain(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    if refusal.status == 422:
        return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode()
    return envelope(None)(refusal)


huggingface = elsewhere("huggingface", without=["REQ-003"], envelope=_plain)


@huggingface.rule(
    "REQ-003",
    MUST,
    REJECT,
    source="recorded refusal (Meta-Llama-3-70B-Instruct)",
    refusal=Refusal(
        "Failed to deserialize the JSON body into the target type: messages: invalid type: string {value}, expected a "
        "sequence at line 1 column 91",
        status=422,
    ),
    examples=[body(ASK)],
    counterexamples=[{"model": "meta-llama/Meta-Llama-3-70B-Instruct", "messages": "Hi"}],
)
def messages_are_a_list(request: Request) -> Iterator[Finding]:
    """`messages` is a list."""
    value = request.body.get("messages")
    text = isinstance(value, str)
    yield broken("/messages", "it is a string", value=json.dumps(value)) if text else met("/messages")


together = elsewhere("together")


@together.rule(
    "EMP-001",
    MUST,
    REJECT,
    source="recorded refusal (gpt-oss-120b)",
    refusal=refused("Prompt cannot be empty"),
    examples=[body(ASK)],
    counterexamples=[body({"role": "user", "content": ""})],
)
def somebody_says_something(request: Request) -> Iterator[Finding]:
    """Not all messages are empty."""
    said = any(message.get("content") != "" for _, message in messages(request.body))
    yield met("/messages") if said else broken("/messages", "all messages are empty")


github = elsewhere("github")


@github.rule(
    "STO-011",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4.1-mini)",
    refusal=refused(
        "Missing required parameter: 'response_format.json_schema.schema'. "
        "You provided '$schema', did you mean to provide 'schema'?",
        code="missing_required_parameter",
        param="response_format.json_schema.schema",
    ),
    examples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {"name": "sum", "schema": {}}})
    ],
    counterexamples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {"name": "sum", "$schema": "…"}})
    ],
)
def the_schema_is_inside(request: Request) -> Iterator[Finding]:
    """The schema of an answer stands under `json_schema.schema`, not in its place."""
    schema = object_of(object_of(request.body.get("response_format")).get("json_schema"))
    if schema:
        wrong = "$schema" in schema and "schema" not in schema
        yield broken("/response_format/json_schema", "a bare schema") if wrong else met("/response_format")


def _bare(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Cerebras has OpenAI's fields, and no object around them (recorded)."""
    fields = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return {"content-type": "application/json"}, json.dumps(fields, separators=(",", ":")).encode()


cerebras = elsewhere("cerebras", envelope=_bare)

BOOKS: dict[str, RuleBook] = {
    each.vendor: each
    for each in (
        openrouter,
        xai,
        cerebras,
        perplexity,
        moonshot,
        qwen,
        huggingface,
        together,
        github,
    )
}
