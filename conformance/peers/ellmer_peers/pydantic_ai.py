"""Adapter for pydantic-ai: its agent, message history and tool loop."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pydantic_ai
from google.genai.types import HttpRetryOptions
from pydantic_ai import messages
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from ellmer_conformance.adapters import Capabilities, Difference, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolResult, Turn

from .sdk_conversation import call_of, calls_in, media_type, parameters

__all__ = ["PydanticAI", "adapter"]

_STOPS = {"tool_call": "tool", "content_filter": "filter"}


def _openai_chat(to: Endpoint) -> Any:
    return OpenAIChatModel(to.model, provider=OpenAIProvider(openai_client=_openai_client(to)))


def _openai_responses(to: Endpoint) -> Any:
    return OpenAIResponsesModel(to.model, provider=OpenAIProvider(openai_client=_openai_client(to)))


def _openai_client(to: Endpoint) -> Any:
    import openai  # noqa: PLC0415 - the only way to set the number of retries

    return openai.AsyncOpenAI(
        base_url=to.base_url, api_key=to.api_key, max_retries=to.max_retries, **to.timeout_option
    )


def _anthropic(to: Endpoint) -> Any:
    import anthropic  # noqa: PLC0415 - the only way to set the number of retries

    client = anthropic.AsyncAnthropic(
        base_url=to.base_url.removesuffix("/v1"),
        api_key=to.api_key,
        auth_token=None,
        max_retries=to.max_retries,
        **to.timeout_option,
    )
    return AnthropicModel(to.model, provider=AnthropicProvider(anthropic_client=client))


def _google(to: Endpoint) -> Any:
    url, retries = to.base_url.removesuffix("/v1beta"), HttpRetryOptions(attempts=to.max_retries + 1)
    provider = GoogleProvider(api_key=to.api_key, base_url=url, retry_options=retries)
    return GoogleModel(to.model, provider=provider)


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """An agent and its messages. Each mode has its own event loop and client."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.endpoint = endpoint
        self.calls = calls_in(history)
        self.history: list[Any] = [self._message(turn) for turn in history]
        self.agent: Any = pydantic_ai.Agent(
            instructions=system, tools=[_tool(tool) for tool in tools], retries=2
        )
        self.loop = asyncio.new_event_loop()
        self.model: Any = None

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        return self.loop.run_until_complete(self.asend(parts, stream=stream))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        self.model = self.model or _MODELS[self.endpoint.wire](self.endpoint)
        prompt, history = self._user_messages(parts)
        pieces: list[str] = []

        async def heard(_: Any, events: Any) -> None:
            pieces.extend([text async for event in events if (text := _text(event))])

        how = {"event_stream_handler": heard} if stream else {}
        try:
            with warnings.catch_warnings(action="ignore"):
                result = await self.agent.run(prompt, message_history=history, model=self.model, **how)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        self.history = result.all_messages()
        return self._reply(result.output, pieces)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        self.loop.close()

    def _user_messages(self, parts: Sequence[Part]) -> tuple[list[Any] | None, list[Any]]:
        """Returns the prompt and the history before it, with results for open calls."""
        if not any(isinstance(part, ToolResult) for part in parts):
            return [_content(part) for part in parts], self.history
        return None, [*self.history, self._request(parts)]

    def _request(self, parts: Sequence[Part]) -> Any:
        """Returns results and the user's message as a request of the history."""
        results = [
            messages.ToolReturnPart(self.calls[p.id].name, _value(p.value), p.id)
            for p in parts
            if isinstance(p, ToolResult)
        ]
        content = [_content(part) for part in parts if not isinstance(part, ToolResult)]
        return messages.ModelRequest(
            parts=[*results, *([messages.UserPromptPart(content)] if content else [])]
        )

    def _message(self, turn: Turn) -> Any:
        if turn.role == "user":
            return self._request(turn.parts)
        return messages.ModelResponse(
            parts=[
                messages.TextPart(part.text)
                if isinstance(part, Text)
                else messages.ToolCallPart(
                    call_of(part).name, dict(call_of(part).arguments), call_of(part).id
                )
                for part in turn.parts
            ]
        )

    def _reply(self, text: str, pieces: Sequence[str]) -> Reply:
        last = self.history[-1]
        stop = last.finish_reason
        return Reply(
            text,
            stop=_STOPS.get(stop, stop),
            complete=last.state == "complete",
            usage={"input": last.usage.input_tokens, "output": last.usage.output_tokens},
            pieces=pieces,
        )


def _text(event: Any) -> str:
    """Returns the text of a stream's event."""
    part = getattr(event, "part", None) or getattr(event, "delta", None)
    if isinstance(event, messages.PartStartEvent) and isinstance(part, messages.TextPart):
        return str(part.content)
    if isinstance(event, messages.PartDeltaEvent) and isinstance(part, messages.TextPartDelta):
        return str(part.content_delta)
    return ""


def _content(part: Part) -> Any:
    match part:
        case Text(text):
            return text
        case Image(url=url) if url:
            return messages.ImageUrl(url)
        case Image(data) | PDF(data):
            return messages.BinaryContent(data, media_type=media_type(part))
    raise TypeError(f"{type(part).__name__} is not supported in a prompt")


def _tool(tool: Tool) -> Any:
    def call(**arguments: Any) -> Any:
        try:
            return _value(tool.run(**arguments))
        except Exception as error:
            raise pydantic_ai.ModelRetry(f"{type(error).__name__}: {error}") from error

    return pydantic_ai.Tool.from_schema(call, tool.name, tool.description, parameters(tool))


def _value(value: Any) -> Any:
    """Returns a tool's value, with the library's own contents for media."""
    if isinstance(value, Image | PDF):
        return _content(value)
    return [_value(item) for item in value] if isinstance(value, list) else value


class PydanticAI(BridgeAdapter):
    """The adapter."""

    name = "pydantic-ai"
    sessions = Session
    wires = FOUR_WIRES

    differences = (
        *(
            Difference(rule, "Please return text.", "it asks the model for text after an empty answer", since)
            for rule, since in (
                ("HIS-014", "2026-11-26"),
                ("HIS-009", "2026-11-29"),
                ("SYS-010", "2026-11-29"),
            )
        ),
        Difference(
            "SYS-010",
            "When a user message, a file or a tool result contains text",
            "it tells the model what the tags around the files of tools mean",
            "2026-11-29",
        ),
        Difference(
            "TXT-005", "the model said ''", "it asks the model for text after an empty answer", "2026-11-29"
        ),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media are inside results, except in Chat Completions. A history with open calls
        is refused.
        """
        media: Literal["native", "pointer"] = "pointer" if wire == "openai-chat" else "native"
        return Capabilities(image_in_tool_result=media, pdf_in_tool_result=media, dangling_call="refused")


adapter = PydanticAI
