"""MiniMax: a result needs its call, arguments are JSON, tools have types and parameters, and a request has one system message."""

from __future__ import annotations

from collections.abc import Mapping

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import messages, tools
from ....rule import Refusal
from ....rulebook import UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, call, result
from ._elsewhere import arguments_are_json, compact, elsewhere


def _error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns MiniMax's error body, which is like Anthropic's and has the status as a string."""
    error = {"type": refusal.type, "message": refusal.message, "http_code": str(refusal.status)}
    return compact({"type": "error", "error": error})


def _refused(said: str) -> Refusal:
    return Refusal(f"invalid params, {said} (2013)", type="bad_request_error")


_UNKNOWN_ID: dict[str, object] = {
    "refusal": _refused("tool result's tool id({id}) not found"),
    "source": (
        "https://github.com/MiniMax-AI/MiniMax-M2/issues/76 (MiniMax-M2.1, M2.5 and M2.7)",
        "https://github.com/anomalyco/opencode/pull/32609 (minimax-m3, tried case by case)",
    ),
}
minimax = elsewhere(
    "minimax",
    error_body=_error_body,
    only=["PAIR-002", "PAIR-014"],
    PAIR_002=_UNKNOWN_ID,
    PAIR_014=_UNKNOWN_ID,
)


def _bare_function(request: Request) -> str | None:
    """Finds a function without parameters."""
    for pointer, tool in tools(request.body):
        if tool.get("type") == "function" and not object_of(tool.get("function")).get("parameters"):
            return f"{pointer}/function"
    return None


def _tool_without_its_type(request: Request) -> str | None:
    """Finds a tool that does not say what it is, as Anthropic's tools do not."""
    return next((pointer for pointer, tool in tools(request.body) if not tool.get("type")), None)


def _second_system_message(request: Request) -> str | None:
    """Finds the second system message."""
    found = [pointer for pointer, message in messages(request.body) if message.get("role") == "system"]
    return found[1] if len(found) > 1 else None


minimax.rule(
    "PAIR-021",
    MUST,
    REJECT,
    source=[
        "https://github.com/earendil-works/pi/issues/5468 (MiniMax-M3)",
        "https://github.com/HKUDS/nanobot/issues/2373",
    ],
    refusal=_refused("invalid function arguments json string, tool_call_id: {id}"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(
            ASK,
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": "{"}}]},
        )
    ],
)(arguments_are_json)
_BRIEF = {"role": "system", "content": "Be brief."}

add_feature_rules(
    minimax,
    [
        UnsupportedFeature(
            "SCH-032",
            "A function has `parameters`, even if it takes none.",
            (),
            _refused("function parameters is empty"),
            (
                "https://github.com/QwenLM/qwen-code/issues/11834 (five models, with and without parameters)",
                "https://github.com/QwenLM/qwen-code/issues/11905",
            ),
            _bare_function,
            body(ASK, tools=[TOOL]),
            body(ASK, tools=[{"type": "function", "function": {"name": "now"}}]),
            fix='send `{"type": "object", "properties": {}}` for a function without arguments.',
        ),
        UnsupportedFeature(
            "REQ-046",
            "A tool has a `type`.",
            (),
            _refused("invalid tool type: "),
            (
                "https://github.com/decolua/9router/pull/2533 (MiniMax-M3, tools without a type)",
                "https://github.com/decolua/9router/issues/2509",
            ),
            _tool_without_its_type,
            body(ASK, tools=[TOOL]),
            body(ASK, tools=[{"name": "now", "input_schema": {"type": "object"}}]),
            fix='write `"type": "function"` in each tool.',
        ),
        UnsupportedFeature(
            "SYS-007",
            "A request has at most one system message.",
            (),
            _refused("invalid chat setting"),
            (
                "https://github.com/MiniMax-AI/MiniMax-M2/issues/51 (MiniMax says so)",
                "https://github.com/openclaw/openclaw/issues/19386 (MiniMax-M2.5, with one and two)",
                "https://github.com/can1357/oh-my-pi/pull/954 (with one and two)",
                "https://github.com/zeroclaw-labs/zeroclaw/pull/863 (in other words)",
            ),
            _second_system_message,
            body(_BRIEF, ASK),
            body(_BRIEF, {"role": "system", "content": "Today is Monday."}, ASK),
            formerly=(_refused("chat content has invalid message role: system"),),
            fix="join the system messages to one.",
        ),
    ],
)
