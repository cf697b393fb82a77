"""Adapter for strands: its agent, messages and event loop, with its classes for three providers' SDKs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from google.genai.types import HttpOptions, HttpRetryOptions
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
from strands.models.anthropic import AnthropicModel
from strands.models.gemini import GeminiModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel
from strands.tools.tools import PythonAgentTool

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter
from ellmer_conformance.scenarios.messages import (
    PDF,
    Image,
    Part,
    Reply,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)

from .sdk_conversation import call_of, model_of, parameters, text_of

__all__ = ["Strands", "adapter"]

_STOPS = {"end_turn": "stop", "tool_use": "tool", "max_tokens": "length", "content_filtered": "filter"}
_STOPS |= {"guardrail_intervened": "filter"}  # what its class for Gemini says of `SAFETY`


def _openai(kind: Callable[..., Any]) -> Callable[[Endpoint], Any]:
    def model(to: Endpoint) -> Any:
        client = {
            "base_url": to.base_url,
            "api_key": to.api_key,
            "max_retries": to.max_retries,
            **to.timeout_option,
        }
        return kind(client_args=client, model_id=to.model)

    return model


def _anthropic(to: Endpoint) -> Any:
    url = to.base_url.removesuffix("/v1")
    client = {
        "base_url": url,
        "api_key": to.api_key,
        "auth_token": None,
        "max_retries": to.max_retries,
        **to.timeout_option,
    }
    return AnthropicModel(client_args=client, model_id=to.model, max_tokens=4096)


def _google(to: Endpoint) -> Any:
    retries = HttpRetryOptions(attempts=to.max_retries + 1)
    options = HttpOptions(base_url=to.base_url.removesuffix("/v1beta"), retry_options=retries)
    return GeminiModel(client_args={"api_key": to.api_key, "http_options": options}, model_id=to.model)


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai(OpenAIModel),
    "openai-responses": _openai(OpenAIResponsesModel),
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """An agent. The SDKs retry, and the window of 40 messages is off, because the caller can set both."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.agent: Any = Agent(
            model=_MODELS[endpoint.wire](endpoint),
            messages=[
                {"role": turn.role, "content": [_block(part) for part in turn.parts]} for turn in history
            ],
            tools=[_tool(tool) for tool in tools],
            system_prompt=system,
            callback_handler=None,
            conversation_manager=NullConversationManager(),
            retry_strategy=None,
        )
        self.loop = asyncio.new_event_loop()

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        return self.loop.run_until_complete(self.asend(parts, stream=stream))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        try:
            result = None
            async for event in self.agent.stream_async(self._prompt(parts)):
                pieces += [event["data"]] if stream and "data" in event else []
                result = event.get("result", result)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return _reply(result, pieces)

    def _prompt(self, parts: Sequence[Part]) -> list[Any] | None:
        """Returns the prompt. Results for open calls go into the history, because the agent would add its own results
        for a prompt.
        """
        ordered = sorted(parts, key=lambda part: not isinstance(part, ToolResult))
        blocks = [_block(part) for part in ordered]
        if not any(isinstance(part, ToolResult) for part in parts):
            return blocks
        self.agent.messages.append({"role": "user", "content": blocks})
        return None

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        return self.loop.run_until_complete(self.aextract(parts, schema))

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        blocks = [_block(part) for part in parts]
        try:
            result = await self.agent.invoke_async(blocks, structured_output_model=model_of(schema))
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply(complete=False, error=error)
        return Reply(value=result.structured_output.model_dump())

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        self.loop.close()


def _reply(result: Any, pieces: Sequence[str]) -> Reply:
    usage = result.metrics.latest_agent_invocation.usage
    return Reply(
        "".join(block["text"] for block in result.message["content"] if "text" in block),
        stop=_STOPS.get(result.stop_reason, result.stop_reason),
        usage={"input": usage["inputTokens"], "output": usage["outputTokens"]},
        pieces=pieces,
    )


def _block(part: Part) -> Any:
    """Returns a content block in the form of Bedrock's Converse, which the library uses for all providers."""
    match part:
        case Text(text):
            return {"text": text}
        case Image(data=data, url="", type=type):
            return {"image": {"format": type.removeprefix("image/"), "source": {"bytes": data}}}
        case PDF(data, filename):
            return {"document": {"format": "pdf", "name": filename, "source": {"bytes": data}}}
        case ToolResult(id, value):
            return {"toolResult": _result(id, value, "success")}
        case ToolCall():
            call = call_of(part)
            return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": dict(call.arguments)}}
    raise TypeError("strands does not support images by URL")


def _tool(tool: Tool) -> Any:
    def run(use: Any, **_: Any) -> Any:
        try:
            value, status = tool.run(**use["input"]), "success"
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            value, status = f"Error: {type(error).__name__}: {error}", "error"
        return _result(use["toolUseId"], value, status)

    schema = {"json": parameters(tool)}
    spec = {"name": tool.name, "description": tool.description, "inputSchema": schema}
    return PythonAgentTool(tool.name, spec, run)


def _result(id: str, value: Any, status: str) -> Any:
    items = value if isinstance(value, list) and any(isinstance(i, Image | PDF) for i in value) else [value]
    content = [_block(item if isinstance(item, Image | PDF) else Text(text_of(item))) for item in items]
    return {"toolUseId": id, "status": status, "content": content}


class Strands(BridgeAdapter):
    """The adapter."""

    name = "strands"
    sessions = Session
    wires = FOUR_WIRES

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media are inside results, except in Chat Completions."""
        media: Literal["native", "pointer"] = "pointer" if wire == "openai-chat" else "native"
        return Capabilities(structured="native", image_in_tool_result=media, pdf_in_tool_result=media)


adapter = Strands
