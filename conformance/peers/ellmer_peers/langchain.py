"""Adapter for LangChain: `create_agent` with langchain-openai, -anthropic and -google-genai."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter
from ellmer_conformance.adapters.langchain_model import words_of
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolResult, Turn

from .sdk_conversation import base64_of, call_of, calls_in, media_type, parameters, text_of

__all__ = ["LangChain", "adapter"]

_STOPS = {
    "tool_calls": "tool",
    "tool_use": "tool",
    "end_turn": "stop",
    "STOP": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "MAX_TOKENS": "length",
    "completed": "stop",
    "content_filter": "filter",
    "refusal": "filter",
    "SAFETY": "filter",
}


def _openai(to: Endpoint) -> Any:
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - each provider has its own package

    return ChatOpenAI(
        model=to.model,
        base_url=to.base_url,
        api_key=to.api_key,
        max_retries=to.max_retries,
        **to.timeout_option,
        stream_usage=True,
        use_responses_api=to.wire == "openai-responses",
    )


def _anthropic(to: Endpoint) -> Any:
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - likewise

    url = to.base_url.removesuffix("/v1")
    return ChatAnthropic(
        model=to.model,
        base_url=url,
        api_key=to.api_key,
        max_retries=to.max_retries,
        max_tokens=4096,
        **to.timeout_option,
    )


def _google(to: Endpoint) -> Any:
    from langchain_google_genai import ChatGoogleGenerativeAI  # noqa: PLC0415 - likewise

    url = to.base_url.removesuffix("/v1beta")
    return ChatGoogleGenerativeAI(
        model=to.model, base_url=url, api_key=to.api_key, max_retries=to.max_retries + 1, **to.timeout_option
    )


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai,
    "openai-responses": _openai,
    "anthropic": _anthropic,
    "gemini": _google,
}
_MODES = ["messages", "values"]


class Session:
    """An agent and its messages."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.agent = create_agent(
            _MODELS[endpoint.wire](endpoint), [_tool(tool) for tool in tools], system_prompt=system
        )
        self.calls = calls_in(history)
        self.messages: list[Any] = []
        for turn in history:
            self.messages += self._user_messages(turn.parts) if turn.role == "user" else [_answer(turn)]

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        state, pieces = {"messages": [*self.messages, *self._user_messages(parts)]}, list[str]()
        try:
            with warnings.catch_warnings(action="ignore"):
                if stream:
                    for mode, value in self.agent.stream(state, stream_mode=_MODES):
                        state = self._heard(mode, value, state, pieces)
                else:
                    state = self.agent.invoke(state)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(state, pieces)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        state, pieces = {"messages": [*self.messages, *self._user_messages(parts)]}, list[str]()
        try:
            with warnings.catch_warnings(action="ignore"):
                if stream:
                    async for mode, value in self.agent.astream(state, stream_mode=_MODES):
                        state = self._heard(mode, value, state, pieces)
                else:
                    state = await self.agent.ainvoke(state)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(state, pieces)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        """Does nothing, because the clients close with the process."""

    def _user_messages(self, parts: Sequence[Part]) -> list[Any]:
        results = [
            ToolMessage(text_of(p.value), tool_call_id=p.id, name=self.calls[p.id].name)
            for p in parts
            if isinstance(p, ToolResult)
        ]
        content = [_block(part) for part in parts if not isinstance(part, ToolResult)]
        return [*results, *([HumanMessage(content)] if content else [])]

    def _heard(self, mode: str, value: Any, state: Any, pieces: list[str]) -> Any:
        """Handles an event of a stream: adds its text to the pieces, and returns the latest state."""
        if mode == "values":
            return value
        chunk, _ = value
        if isinstance(chunk, AIMessageChunk) and chunk.text:
            pieces.append(str(chunk.text))
        return state

    def _reply(self, state: Any, pieces: Sequence[str]) -> Reply:
        self.messages = state["messages"]
        last, usage = self.messages[-1], self.messages[-1].usage_metadata
        metadata = last.response_metadata
        cut = (metadata.get("incomplete_details") or {}).get("reason")
        if (metadata.get("prompt_feedback") or {}).get("block_reason"):
            cut = "filter"
        stop = cut or metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("status")
        return Reply(
            words_of(last),
            stop=_STOPS.get(stop, stop),
            usage={"input": usage["input_tokens"], "output": usage["output_tokens"]} if usage else {},
            pieces=pieces,
        )


def _answer(turn: Turn) -> Any:
    calls = [call_of(part) for part in turn.parts if not isinstance(part, Text)]
    return AIMessage(
        "".join(part.text for part in turn.parts if isinstance(part, Text)),
        tool_calls=[{"id": c.id, "name": c.name, "args": dict(c.arguments)} for c in calls],
    )


def _block(part: Part) -> Any:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(url=url) if url:
            return {"type": "image", "url": url}
        case Image():
            return {"type": "image", "base64": base64_of(part), "mime_type": media_type(part)}
        case PDF(filename=filename):
            media = {"base64": base64_of(part), "mime_type": media_type(part)}
            return {"type": "file", "filename": filename, **media}
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


def _tool(tool: Tool) -> Any:
    def call(**arguments: Any) -> Any:
        try:
            return _value(tool.run(**arguments))
        except Exception as error:
            raise ToolException(f"{type(error).__name__}: {error}") from error

    return StructuredTool.from_function(
        call,
        name=tool.name,
        description=tool.description,
        args_schema=parameters(tool),
        handle_tool_error=True,
    )


def _value(value: Any) -> Any:
    """Returns a tool's value: content blocks if it has media."""
    items = value if isinstance(value, list) else [value]
    if not any(isinstance(item, Image | PDF) for item in items):
        return _nested(value)
    return [_block(item if isinstance(item, Image | PDF) else Text(text_of(item))) for item in items]


def _nested(value: Any) -> Any:
    """Converts nested media to blocks."""
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return _block(value) if isinstance(value, Image | PDF) else value


class LangChain(BridgeAdapter):
    """The adapter."""

    name = "langchain"
    sessions = Session
    wires = FOUR_WIRES

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Tool messages may contain media."""
        return Capabilities(image_in_tool_result="native", pdf_in_tool_result="native")


adapter = LangChain
