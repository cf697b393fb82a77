"""Adapter for openai-agents: its agent, runner and list of input items."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import agents
import openai

from ellmer_conformance.adapters import Capabilities, Difference, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolResult, Turn

from .openai import response_input
from .sdk_conversation import data_url, json_of, model_of, parameters, text_of

__all__ = ["OpenAIAgents", "adapter"]

agents.set_tracing_disabled(disabled=True)


class Session:
    """An agent and its items, with its own event loop."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.endpoint = endpoint
        self.items: list[Any] = [item for turn in history for item in _items(turn.parts, turn.role)]
        self.agent: Any = agents.Agent(
            name="assistant",
            instructions=system,
            tools=[_tool(tool) for tool in tools],
            model_settings=agents.ModelSettings(include_usage=True),  # by itself only at OpenAI's own address
        )
        self.model: Any = None
        self.loop = asyncio.new_event_loop()

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        return self.loop.run_until_complete(self.asend(parts, stream=stream))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        try:
            result = await self._run(self._agent(), parts, pieces, stream=stream)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        self.items = result.to_input_list()
        usage = result.context_wrapper.usage
        counts = {"input": usage.input_tokens, "output": usage.output_tokens}
        return Reply(str(result.final_output or ""), usage=counts, pieces=pieces)

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        return self.loop.run_until_complete(self.aextract(parts, schema))

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        try:
            agent = self._agent().clone(output_type=model_of(schema))
            result = await self._run(agent, parts, [], stream=False)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply(complete=False, error=error)
        return Reply(value=result.final_output.model_dump())

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        self.loop.close()

    async def _run(self, agent: Any, parts: Sequence[Part], pieces: list[str], *, stream: bool) -> Any:
        items = [*self.items, *_items(parts, "user")]
        if not stream:
            return await agents.Runner.run(agent, items)
        result = agents.Runner.run_streamed(agent, items)
        async for event in result.stream_events():
            pieces += [event.data.delta] if _is_text(event) else []  # kept, whatever comes after it
        return result

    def _agent(self) -> Any:
        self.model = self.model or _model(self.endpoint)
        return self.agent.clone(model=self.model)


def _is_text(event: Any) -> bool:
    return bool(event.type == "raw_response_event" and event.data.type == "response.output_text.delta")


def _model(to: Endpoint) -> Any:
    client = openai.AsyncOpenAI(
        base_url=to.base_url, api_key=to.api_key, max_retries=to.max_retries, **to.timeout_option
    )
    chat = to.wire == "openai-chat"
    kind = agents.OpenAIChatCompletionsModel if chat else agents.OpenAIResponsesModel
    return kind(to.model, client)


def _items(parts: Sequence[Part], role: str) -> list[Any]:
    """Returns a turn as items of the Responses format, which the library uses."""
    if role == "assistant":
        return [_answer(part) for part in parts]
    results = [
        {"type": "function_call_output", "call_id": p.id, "output": text_of(p.value)}
        for p in parts
        if isinstance(p, ToolResult)
    ]
    content = [response_input(part) for part in parts if not isinstance(part, ToolResult)]
    return [*results, *([{"role": "user", "content": content}] if content else [])]


def _answer(part: Any) -> Any:
    if isinstance(part, Text):
        return {"role": "assistant", "content": part.text}
    call = {"call_id": part.id, "name": part.name, "arguments": json_of(part.arguments)}
    return {"type": "function_call", **call}


def _tool(tool: Tool) -> Any:
    async def invoke(context: Any, arguments: str) -> Any:
        try:
            return _value(tool.run(**json.loads(arguments or "{}")))
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            del context
            return f"Error: {type(error).__name__}: {error}"

    schema = parameters(tool)
    return agents.FunctionTool(tool.name, tool.description, schema, invoke, strict_json_schema=False)


def _value(value: Any) -> Any:
    """Converts a tool's value, with the library's classes for media."""
    if isinstance(value, list) and any(isinstance(item, Image | PDF) for item in value):
        return [_content(item) for item in value]
    return _content(value) if isinstance(value, Image | PDF) else text_of(value)


def _content(item: Any) -> Any:
    if isinstance(item, Image):
        return agents.ToolOutputImage(image_url=data_url(item), detail="auto")
    if isinstance(item, PDF):
        return agents.ToolOutputFileContent(file_data=data_url(item), filename=item.filename)
    return agents.ToolOutputText(text=text_of(item))


class OpenAIAgents(BridgeAdapter):
    """The adapter."""

    name = "openai-agents"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {"openai-chat": ["openai"], "openai-responses": ["openai"]}

    differences = (
        Difference(
            "RUN-003",
            "not found in agent assistant",
            "it ends a run with an error if the model calls a tool that there is not",
            "2026-11-29",
        ),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media are inside results. Chat Completions has no place for them there, and the
        library does not move them.
        """
        media: Literal["native", "refused"] = "native" if wire == "openai-responses" else "refused"
        return Capabilities(structured="native", image_in_tool_result=media, pdf_in_tool_result=media)


adapter = OpenAIAgents
