"""Adapter for chatlas: its own chat, history and tool loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import chatlas
from chatlas import types

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter
from ellmer_conformance.contract.observed.exchange import Json
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

from .sdk_conversation import base64_of, calls_in, parameters

__all__ = ["Chatlas", "adapter"]

_STOPS = {"success": "stop", "tool_use": "tool", "max_tokens": "length", "content_filter": "filter"}


def _openai_chat(to: Endpoint, system: str | None) -> Any:
    return chatlas.ChatOpenAICompletions(
        system_prompt=system, model=to.model, api_key=to.api_key, base_url=to.base_url, kwargs=_retries(to)
    )


def _openai(to: Endpoint, system: str | None) -> Any:
    return chatlas.ChatOpenAI(
        system_prompt=system, model=to.model, api_key=to.api_key, base_url=to.base_url, kwargs=_retries(to)
    )


def _anthropic(to: Endpoint, system: str | None) -> Any:
    kwargs = _retries(to) | {"base_url": to.base_url.removesuffix("/v1")}
    return chatlas.ChatAnthropic(system_prompt=system, model=to.model, api_key=to.api_key, kwargs=kwargs)


def _google(to: Endpoint, system: str | None) -> Any:
    url = to.base_url.removesuffix("/v1beta")
    options = {"base_url": url, "retry_options": {"attempts": to.max_retries + 1}}
    return chatlas.ChatGoogle(
        system_prompt=system, model=to.model, api_key=to.api_key, kwargs={"http_options": options}
    )


_CONSTRUCT: Mapping[str, Callable[[Endpoint, str | None], Any]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai,
    "anthropic": _anthropic,
    "gemini": _google,
}


def _retries(to: Endpoint) -> Json:
    return {"max_retries": to.max_retries, **to.timeout_option}


class Session:
    """A chat, for blocking and async calls."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        with warnings.catch_warnings(action="ignore"):  # of a base URL that is not the provider's own
            self.chat = _CONSTRUCT[endpoint.wire](endpoint, system)
        # register_tool() takes a schema from hints alone.
        self.chat.set_tools([_tool(tool) for tool in tools])
        self.calls = calls_in(history)
        if history:
            self.chat.set_turns([_turn(turn, self.calls) for turn in history])

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        contents, pieces = _contents(parts, self.calls), list[str]()
        try:
            with warnings.catch_warnings(action="ignore"):
                if stream:
                    pieces.extend(self.chat.stream(*contents))
                else:
                    self.chat.chat(*contents, echo="none", stream=False)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(pieces)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        contents, pieces = _contents(parts, self.calls), list[str]()
        try:
            with warnings.catch_warnings(action="ignore"):
                if stream:
                    pieces.extend([piece async for piece in await _stream(self.chat, contents)])
                else:
                    response = await self.chat.chat_async(*contents, echo="none", stream=False)
                    await response.get_content()
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(pieces)

    def transcript(self) -> str:
        return ""  # str(chat) is Markdown for a notebook, with the images in it

    def close(self) -> None:
        self.chat.provider.close()

    def _reply(self, pieces: Sequence[str]) -> Reply:
        turn = self.chat.get_last_turn()
        stop, tokens = turn.finish_reason, turn.tokens
        return Reply(
            turn.text,
            stop=_STOPS.get(stop, stop),
            complete=not turn.is_partial,
            usage={"input": tokens[0] + tokens[2], "output": tokens[1]} if tokens else {},
            pieces=pieces,
        )


async def _stream(chat: Any, contents: Sequence[Any]) -> Any:
    stream = chat.stream_async(*contents)
    return await stream if hasattr(stream, "__await__") else stream


def _contents(parts: Sequence[Part], calls: Mapping[str, ToolCall]) -> list[Any]:
    return [
        types.ContentToolResult(value=_value(part.value), request=_content(calls[part.id]))
        if isinstance(part, ToolResult)
        else _content(part)
        for part in parts
    ]


def _content(part: Part) -> Any:
    match part:
        case Text(text):
            return types.ContentText(text=text)
        case Image(url=url) if url:
            return chatlas.content_image_url(url)
        case Image(type=media_type):
            return types.ContentImageInline(image_content_type=media_type, data=base64_of(part))
        case PDF(data, filename):
            return types.ContentPDF(data=data, filename=filename)
        case ToolCall(id, name, arguments):
            return types.ContentToolRequest(id=id, name=name, arguments=dict(arguments))
    raise TypeError(f"{type(part).__name__} is not supported in a turn that the caller writes")


def _turn(turn: Turn, calls: Mapping[str, ToolCall]) -> Any:
    kind = chatlas.UserTurn if turn.role == "user" else chatlas.AssistantTurn
    return kind(_contents(turn.parts, calls))


def _tool(tool: Tool) -> Any:
    return chatlas.Tool(
        func=lambda **arguments: _value(tool.run(**arguments)),
        name=tool.name,
        description=tool.description,
        parameters=parameters(tool) | {"additionalProperties": False},  # as its own schemas have it
    )


def _value(value: Any) -> Any:
    """Returns a tool's value, with chatlas' own contents for media."""
    if isinstance(value, Image | PDF):
        return _content(value)
    return [_value(item) for item in value] if isinstance(value, list) else value


class Chatlas(BridgeAdapter):
    """The adapter."""

    name = "chatlas"
    sessions = Session
    wires = FOUR_WIRES

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. chatlas moves media out of results."""
        return Capabilities()


adapter = Chatlas
