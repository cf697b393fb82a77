"""Adapter for smolagents: its model class for OpenAI's API, with its own messages. The bridge has the loop.

The library's agents put each question into their own prompts and end by calling a tool, so they cannot play a case.
The bridge therefore judges the model class that they use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import smolagents
from smolagents.memory import ToolCall as Called
from smolagents.models import agglomerate_stream_deltas

from ellmer_conformance.adapters import Capabilities, Difference
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.scenarios.messages import Part, Text, Tool, ToolCall

from .sdk_conversation import CallResult, ModelAnswer, SDKSession, chat_part, texts_and_calls

__all__ = ["SmolAgents", "adapter"]

_STOPS = {"tool_calls": "tool", "content_filter": "filter"}


class Session(SDKSession):
    """A history of calls and results as the agents write it: as text, with their own roles."""

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        messages = [_message("tool-response", [Text(f"Observation:\n{r.text}")]) for r in results]
        content = [*(part for r in results for part in r.media), *parts]
        return [*messages, *([_message("user", content)] if content else [])]

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        return _assistant(*texts_and_calls(parts))

    def ask(self, *, stream: bool) -> ModelAnswer:
        to = self.endpoint
        model = smolagents.OpenAIModel(
            to.model,
            api_base=to.base_url,
            api_key=to.api_key,
            client_kwargs={"max_retries": to.max_retries, **to.timeout_option},
            retry=False,  # the SDK's own suffice
        )
        offered = {"tools_to_call_from": [_tool(t) for t in self.tools.values()], "tool_choice": "auto"}
        system = [_message("system", [Text(self.system)])] if self.system else []
        asked: tuple[Any, ...] = ([*system, *self.messages],)
        if not stream:
            return _answer(model.generate(*asked, **(offered if self.tools else {})))
        deltas = []
        for delta in model.generate_stream(*asked, **(offered if self.tools else {})):
            deltas.append(delta)
            self.pieces += [delta.content] if delta.content else []
        return _answer(agglomerate_stream_deltas(deltas))

    async def aask(self, *, stream: bool) -> ModelAnswer:
        raise NotImplementedError("smolagents' models have only blocking calls")


def _answer(message: Any) -> ModelAnswer:
    """Returns the answer. Its stop reason is in the raw answer, which streams do not have."""
    calls = [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()]
    usage, text = message.token_usage, message.content or ""
    stop: Any = message.raw.choices[0].finish_reason if message.raw else "tool" if calls else None
    return ModelAnswer(
        text,
        _assistant(text, [ToolCall(*call) for call in calls]),
        _STOPS.get(stop, stop),
        calls,
        {"input": usage.input_tokens, "output": usage.output_tokens} if usage else {},
    )


def _assistant(text: str, calls: Sequence[ToolCall]) -> list[Any]:
    """Returns the text and then the calls, as `ActionStep.to_messages` does."""
    asked = [Called(name=c.name, arguments=c.arguments, id=c.id).dict() for c in calls]
    text_messages = [_message("assistant", [Text(text)])] if text else []
    return [*text_messages, *([_message("tool-call", [Text(f"Calling tools:\n{asked}")])] if asked else [])]


def _message(role: str, parts: Sequence[Part]) -> Any:
    return {"role": role, "content": [chat_part(part) for part in parts]}


def _tool(tool: Tool) -> Any:
    """Returns a tool from its schema, as `Tool.from_mcp` does, which resolves references. What may be left out is `nullable` there."""
    required, definitions = tool.parameters.get("required", ()), tool.parameters.get("$defs", {})
    inputs = {
        name: {"type": "any", "description": "", **_resolved(of, definitions)}
        | ({} if name in required else {"nullable": True})
        for name, of in tool.parameters["properties"].items()
    }
    body = {"name": tool.name, "description": tool.description, "inputs": inputs, "output_type": "object"}
    return type("Offered", (smolagents.Tool,), {**body, "skip_forward_signature_validation": True})()


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the definition that a parameter refers to, or the schema. References within definitions stay."""
    target = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2])
    return schema if target is None else target


class SmolAgents(BridgeAdapter):
    """The adapter."""

    name = "smolagents"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {"openai-chat": ["openai"]}

    differences = (
        Difference(
            "HIS-006",
            "Calling tools:",
            "it writes calls and results as texts of the conversation",
            "2026-11-26",
        ),
        Difference(
            "HIS-011",
            "Calling tools:",
            "it writes calls and results as texts of the conversation",
            "2026-11-26",
        ),
        Difference(
            "HIS-014",
            "Observation:",
            "it writes calls and results as texts of the conversation",
            "2026-11-26",
        ),
        *(
            Difference(
                "HIS-002",
                f"it lost or changed the text '{question}'",
                "it joins messages of one role that follow one another",
                "2026-11-29",
            )
            for question in ("Say nothing.", "Tell me a secret.")
        ),
        Difference(
            "PAR-001",
            "and 0 results were sent",
            "it writes calls and results as texts of the conversation",
            "2026-11-26",
        ),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Only blocking calls are supported."""
        return Capabilities(modes=("sync", "stream"), audio_in_user="native")


adapter = SmolAgents
