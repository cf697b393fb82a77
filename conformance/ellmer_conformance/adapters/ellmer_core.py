"""ellmer_core under test, through its public API, as any outside library would be."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ellmer_core as ec

from ..neutral import PDF, Image, Part, Reply, Text, Tool, ToolCall, ToolResult, Turn
from . import Capabilities, Endpoint

__all__ = ["EllmerCore", "Session", "adapter"]

_CONSTRUCTORS: Mapping[tuple[str, str], str] = {
    ("openai-chat", "openai"): "chat_openai_completions",
    ("openai-chat", "deepseek"): "chat_deepseek",
    ("openai-responses", "openai"): "chat_openai",
    ("anthropic", "anthropic"): "chat_anthropic",
    ("gemini", "google"): "chat_google_gemini",
    ("bedrock", "bedrock"): "chat_aws_bedrock",
    ("ollama", "ollama"): "chat_ollama",
    ("mistral", "mistral"): "chat_mistral",
    ("cohere", "cohere"): "chat_cohere",
}
_STOPS = {"success": "stop", "tool_use": "tool", "max_tokens": "length", "content_filter": "filter"}
_NO_PDF = Capabilities(pdf_in_user="refused", pdf_in_tool_result="refused")
_TEXT_ONLY = replace(_NO_PDF, image_in_user="refused", image_in_tool_result="refused")
_CAPABILITIES: Mapping[tuple[str, str], Capabilities] = {
    ("openai-chat", "deepseek"): _TEXT_ONLY,
    ("ollama", "ollama"): _NO_PDF,
    ("cohere", "cohere"): _TEXT_ONLY,  # the models that see use no tools
}


class EllmerCore:
    """The adapter."""

    name = "ellmer-core"
    wires: Mapping[str, Sequence[str]] = {
        wire: [v for w, v in _CONSTRUCTORS if w == wire] for wire, _ in _CONSTRUCTORS
    }

    def capabilities(self, wire: str, vendor: str) -> Capabilities:
        """Everything, but for those who take no PDF, or text only."""
        return _CAPABILITIES.get((wire, vendor), Capabilities())

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """A chat with the vendor's own constructor."""
        construct = getattr(ec, _CONSTRUCTORS[endpoint.wire, endpoint.vendor])
        chat = construct(
            system,
            model=endpoint.model,
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            echo="none",
            max_tries=endpoint.max_retries + 1,
            **self.options(),
        )
        chat.register_tools([_tool(tool) for tool in tools])
        if history:
            chat.set_turns([_turn(turn) for turn in history])
        return Session(chat)

    def options(self) -> Mapping[str, Any]:
        """Further options of the constructor."""
        return {}


class Session:
    """A chat, sync and async."""

    def __init__(self, chat: ec.Chat) -> None:
        self.chat = chat

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        contents, pieces = self._contents(parts), list[str]()
        try:
            with warnings.catch_warnings(action="ignore"):
                if stream:
                    pieces.extend(self.chat.stream(*contents))
                else:
                    self.chat.chat(*contents)
        except ec.EllmerError as error:
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(pieces)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        contents, pieces = self._contents(parts), list[str]()
        try:
            with warnings.catch_warnings(action="ignore"):
                if stream:
                    pieces.extend([piece async for piece in self.chat.stream_async(*contents)])
                else:
                    await self.chat.chat_async(*contents)
        except ec.EllmerError as error:
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(pieces)

    def transcript(self) -> str:
        return str(self.chat)

    def close(self) -> None:
        self.chat.close()

    def _contents(self, parts: Sequence[Part]) -> list[ec.Content]:
        dangling = {request.id: request for turn in self.chat.get_turns() for request in _requests(turn)}
        return [
            ec.ContentToolResult(part.value, request=dangling[part.id])
            if isinstance(part, ToolResult)
            else _content(part)
            for part in parts
        ]

    def _reply(self, pieces: Sequence[str]) -> Reply:
        turn = self.chat.last_turn("assistant")
        assert turn is not None, "an answered chat has an answer"
        stop = turn.finish_reason
        return Reply(
            turn.text,
            stop=_STOPS.get(stop, stop) if stop else None,
            complete=not isinstance(turn, ec.AssistantPartialTurn),
            usage={"input": turn.tokens.input, "output": turn.tokens.output},
            pieces=pieces,
        )


def _requests(turn: ec.Turn) -> Sequence[ec.ContentToolRequest]:
    return turn.tool_requests if isinstance(turn, ec.AssistantTurn) else ()


def _content(part: Part) -> ec.Content:
    match part:
        case Text(text):
            return ec.ContentText(text)
        case Image(url=url) if url:
            return ec.content_image_url(url)
        case Image(data, media_type):
            return ec.ContentImageInline(media_type, base64.b64encode(data).decode())
        case PDF(data, filename):
            return ec.ContentPDF("application/pdf", base64.b64encode(data).decode(), filename)
        case ToolCall(id, name, arguments):
            return ec.ContentToolRequest(id, name, arguments)
    raise TypeError(f"{type(part).__name__} has no place in a turn that the caller writes")


def _turn(turn: Turn) -> ec.Turn:
    kind = ec.UserTurn if turn.role == "user" else ec.AssistantTurn
    return kind([_content(part) for part in turn.parts])


def _tool(tool: Tool) -> ec.ToolDef:
    def call(**arguments: Any) -> Any:
        return _value(tool.run(**arguments))

    return ec.tool(
        call,
        tool.description,
        name=tool.name,
        arguments={
            name: ec.type_from_schema(json.dumps(schema))
            for name, schema in tool.parameters["properties"].items()
        },
    )


def _value(value: Any) -> Any:
    if isinstance(value, Image | PDF):
        return _content(value)
    return [_value(item) for item in value] if isinstance(value, list) else value


adapter: Callable[[], EllmerCore] = EllmerCore
