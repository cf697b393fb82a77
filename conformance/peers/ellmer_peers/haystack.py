"""Adapter for haystack: its agent, messages and tool loop, with its chat generators for three providers' SDKs."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from anthropic import Anthropic, AsyncAnthropic
from google.genai import Client
from google.genai.types import HttpOptions, HttpRetryOptions
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, TextContent
from haystack.dataclasses import ToolCall as Called
from haystack.tools import Tool as Offered
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator

from ellmer_conformance.adapters import Capabilities, Difference, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter, ids_as_given
from ellmer_conformance.scenarios.messages import (
    PDF,
    Image,
    Part,
    Reply,
    Text,
    Tool,
    ToolResult,
    Turn,
)

from .sdk_conversation import base64_of, call_of, calls_in, media_type, parameters, text_of, texts_and_calls

__all__ = ["Haystack", "adapter"]

#: What Google's documentation has for a call of another model, which has no signature.
_NO_SIGNATURE = b64encode(b"skip_thought_signature_validator").decode()
_STOPS = {"tool_calls": "tool", "content_filter": "filter"}


def _openai(kind: Callable[..., Any]) -> Callable[[Endpoint], Any]:
    def generator(to: Endpoint) -> Any:
        limit = {"timeout": to.timeout} if to.timeout else {}
        key = Secret.from_token(to.api_key)
        return kind(
            api_key=key, model=to.model, api_base_url=to.base_url, max_retries=to.max_retries, **limit
        )

    return generator


def _anthropic(to: Endpoint) -> Any:
    """Returns the generator. It has no option for the address, so the SDK's clients are made here."""
    made = AnthropicChatGenerator(Secret.from_token(to.api_key), to.model)
    client = {"api_key": to.api_key, "auth_token": None, "base_url": to.base_url.removesuffix("/v1")}
    options: dict[str, Any] = {**client, "max_retries": to.max_retries, **to.timeout_option}
    made.client, made.async_client = Anthropic(**options), AsyncAnthropic(**options)
    return made


def _google(to: Endpoint) -> Any:
    """Returns the generator, with a client for the address, as at Anthropic."""
    made = GoogleGenAIChatGenerator(api_key=Secret.from_token(to.api_key), model=to.model)
    retries = HttpRetryOptions(attempts=to.max_retries + 1)
    options = HttpOptions(base_url=to.base_url.removesuffix("/v1beta"), retry_options=retries)
    made._client = Client(api_key=to.api_key, http_options=options)  # noqa: SLF001 - there is no public way
    return made


_GENERATORS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai(OpenAIChatGenerator),
    "openai-responses": _openai(OpenAIResponsesChatGenerator),
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """An agent without a memory of its own: the messages of each run go into the next one."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.calls = calls_in(history)
        self.signed = endpoint.wire == "gemini"
        self.messages = [message for turn in history for message in self._messages(turn.role, turn.parts)]
        self.system = [ChatMessage.from_system(system)] if system else []
        offered = [_tool(tool) for tool in tools]
        self.agent: Any = Agent(chat_generator=_GENERATORS[endpoint.wire](endpoint), tools=offered)

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        asked = [*self.messages, *self._messages("user", parts)]
        try:
            run = self.agent.run(
                [*self.system, *asked],
                streaming_callback=(lambda chunk: pieces.append(chunk.content)) if stream else None,
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(run, pieces)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []

        async def note(chunk: Any) -> None:
            await asyncio.sleep(0)
            pieces.append(chunk.content)

        asked = [*self.messages, *self._messages("user", parts)]
        try:
            run = await self.agent.run_async(
                [*self.system, *asked], streaming_callback=note if stream else None
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(run, pieces)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        """The clients belong to the agent."""

    def _reply(self, run: Mapping[str, Any], pieces: Sequence[str]) -> Reply:
        found = run["messages"]
        self.messages = found[len(self.system) :] if self.system and found[0].is_from("system") else found
        last = found[-1]
        stop, usage = last.meta.get("finish_reason"), last.meta.get("usage") or {}
        counts = {
            ours: usage.get(theirs)
            for ours, theirs in (("input", "prompt_tokens"), ("output", "completion_tokens"))
        }
        return Reply(
            last.text or "",
            stop=_STOPS.get(stop, stop),
            usage={name: count for name, count in counts.items() if isinstance(count, int)},
            pieces=[piece for piece in pieces if piece],
        )

    def _messages(self, role: str, parts: Sequence[Part]) -> list[Any]:
        """Returns the messages of a turn. Each result is one of its own, with the call that it answers."""
        if role == "assistant":
            text, calls = texts_and_calls(parts)
            called = [Called(tool_name=c.name, arguments=dict(c.arguments), id=c.id) for c in calls]
            meta = _signed(text, len(calls)) if self.signed and calls else {}
            return [ChatMessage.from_assistant(text or None, tool_calls=called, meta=meta)]
        results = [
            ChatMessage.from_tool(_content(part.value), _called(self.calls[part.id]), error=False)
            for part in parts
            if isinstance(part, ToolResult)
        ]
        rest = [_part(part) for part in parts if not isinstance(part, ToolResult)]
        return [*results, *([ChatMessage.from_user(content_parts=rest)] if rest else [])]


def _signed(text: str, calls: int) -> dict[str, Any]:
    """Returns what the generator for Gemini keeps with a message: a signature for its text and for each call."""
    kinds = [*([True] if text else []), *([False] * calls)]
    return {
        "thought_signatures": [
            {
                "part_index": index,
                "signature": _NO_SIGNATURE,
                "has_text": is_text,
                "has_function_call": not is_text,
                "is_thought": False,
            }
            for index, is_text in enumerate(kinds)
        ]
    }


def _called(part: Part) -> Any:
    call = call_of(part)
    return Called(tool_name=call.name, arguments=dict(call.arguments), id=call.id)


def _part(part: Part) -> Any:
    match part:
        case Text(text):
            return TextContent(text)
        case Image(url=url) if url:
            raise TypeError("haystack does not support images by URL without a download")
        case Image():
            return ImageContent(base64_of(part), media_type(part))
        case PDF(filename=filename):
            return FileContent(base64_of(part), media_type(part), filename)
    raise TypeError(f"haystack does not support {type(part).__name__}")


def _content(value: Any) -> Any:
    """Returns a tool's value as text, or as a list of parts if it has media."""
    items = value if isinstance(value, list) else [value]
    if not any(isinstance(item, Image | PDF) for item in items):
        return text_of(value)
    return [_part(i) if isinstance(i, Image | PDF) else TextContent(text_of(i)) for i in items]


def _tool(tool: Tool) -> Any:
    return Offered(
        name=tool.name,
        description=tool.description,
        parameters=parameters(tool),
        function=tool.run,
        outputs_to_string={"handler": _content, "raw_result": True},
    )


class Haystack(BridgeAdapter):
    """The adapter."""

    name = "haystack"
    sessions = Session
    wires = FOUR_WIRES

    differences = (
        Difference(
            "HIS-006",
            "its text is lost",
            "`ignore_tools_thinking_messages`, which is on by default, drops the text of an answer that has calls",
            "2026-11-27",
            "anthropic",
        ),
        Difference(
            "STP-003",
            "under stop:pause_turn (the stop reason is pause_turn), the caller got the stop reason 'stop'",
            "its stop reasons are a closed list, and it maps `pause_turn` to one of them by name",
            "2026-11-27",
            "anthropic",
        ),
        *ids_as_given("2026-11-27"),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media are inside results, except in Chat Completions."""
        media: Literal["native", "refused"] = "refused" if wire == "openai-chat" else "native"
        return Capabilities(image_in_tool_result=media, pdf_in_tool_result=media)


adapter = Haystack
