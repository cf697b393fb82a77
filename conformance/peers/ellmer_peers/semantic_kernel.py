"""Adapter for Semantic Kernel: its chat history and its loop of kernel functions, with its services for three providers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

from anthropic import AsyncAnthropic
from google.genai import Client
from google.genai.types import HttpOptions, HttpRetryOptions
from openai import AsyncOpenAI
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.google.google_ai import GoogleAIChatCompletion
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.contents import (
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    ImageContent,
    TextContent,
)
from semantic_kernel.functions import (
    KernelFunctionFromMethod,
    KernelParameterMetadata,
    kernel_function,
)

from ellmer_conformance.adapters import Capabilities, Difference, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter, ids_as_given
from ellmer_conformance.scenarios.messages import Image, Part, Reply, Text, Tool, ToolResult, Turn

from .sdk_conversation import base64_of, call_of, calls_in, media_type, parameters, text_of

__all__ = ["SemanticKernel", "adapter"]

#: What Google's documentation has for a call of another model, which has no signature.
_NO_SIGNATURE = b"skip_thought_signature_validator"
_STOPS = {"tool_calls": "tool", "content_filter": "filter"}


def _openai(to: Endpoint) -> Any:
    client = AsyncOpenAI(
        api_key=to.api_key, base_url=to.base_url, max_retries=to.max_retries, **to.timeout_option
    )
    return OpenAIChatCompletion(ai_model_id=to.model, async_client=client)


def _anthropic(to: Endpoint) -> Any:
    client = AsyncAnthropic(
        api_key=to.api_key,
        base_url=to.base_url.removesuffix("/v1"),
        max_retries=to.max_retries,
        **to.timeout_option,
    )
    return AnthropicChatCompletion(ai_model_id=to.model, api_key=to.api_key, async_client=client)


def _google(to: Endpoint) -> Any:
    options = HttpOptions(
        base_url=to.base_url.removesuffix("/v1beta"),
        retry_options=HttpRetryOptions(attempts=to.max_retries + 1),
        timeout=int(to.timeout * 1000) if to.timeout else None,
    )
    client = Client(api_key=to.api_key, http_options=options)
    return GoogleAIChatCompletion(gemini_model_id=to.model, api_key=to.api_key, client=client)


_SERVICES: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai,
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """A kernel with the tools, a service and a chat history."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.service = _SERVICES[endpoint.wire](endpoint)
        self.kernel = Kernel()
        for tool in tools:
            _register(self.kernel, tool)
        behaviour = {"function_choice_behavior": FunctionChoiceBehavior.Auto()} if tools else {}
        self.settings = self.service.get_prompt_execution_settings_class()(**behaviour)
        self.calls = calls_in(history)
        self.history = ChatHistory(system_message=system)
        for turn in history:
            self._add(turn.role, turn.parts)
        self.loop: asyncio.Runner | None = None

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        self.loop = self.loop or asyncio.Runner()
        return self.loop.run(self.asend(parts, stream=stream))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        try:
            self._add("user", parts)
            last = await (self._streamed(pieces) if stream else self._asked())
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        if last is None:  # the stream had no chunk, and raised nothing
            return Reply("")
        self.history.add_message(last)
        return _reply(last, pieces)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        if self.loop:
            self.loop.close()

    async def _asked(self) -> Any:
        [last] = await self.service.get_chat_message_contents(self.history, self.settings, kernel=self.kernel)
        return last

    async def _streamed(self, pieces: list[str]) -> Any:
        """Returns the last message of a streamed turn: the sum of the chunks after the last results."""
        last: Any = None
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                if chunk.role == "tool":
                    last = None
                    continue
                pieces.extend([chunk.content] if chunk.content else [])
                last = last + chunk if last is not None else chunk
        return last

    async def _chunks(self) -> AsyncGenerator[Any, None]:
        stream = self.service.get_streaming_chat_message_contents(
            self.history, self.settings, kernel=self.kernel
        )
        async for chunks in stream:
            for chunk in chunks:
                if chunk is not None:
                    yield chunk

    def _add(self, role: str, parts: Sequence[Part]) -> None:
        """Adds a turn to the history. Each result is in a message of its own, as in the loop of the library."""
        results = [self._result(part) for part in parts if isinstance(part, ToolResult)]
        rest = [_item(part) for part in parts if not isinstance(part, ToolResult)]
        for result in results:
            self.history.add_message(result.to_chat_message_content())
        if rest:
            self.history.add_message(ChatMessageContent(role=role, items=rest))

    def _result(self, result: ToolResult) -> Any:
        name = self.calls[result.id].name
        return FunctionResultContent(
            id=result.id, name=name, function_name=name, result=text_of(result.value)
        )


def _reply(last: Any, pieces: Sequence[str]) -> Reply:
    """Returns the reply. `content` is the first text only, and the others are in `items`."""
    usage = last.metadata.get("usage")
    counts = {
        "input": _count(usage, "prompt_tokens", "input_tokens"),
        "output": _count(usage, "completion_tokens", "output_tokens"),
    }
    stop = getattr(last.finish_reason, "value", last.finish_reason)
    return Reply(
        "".join(item.text for item in last.items if isinstance(item, TextContent)),
        _STOPS.get(stop, stop),
        usage={name: count for name, count in counts.items() if isinstance(count, int)},
        pieces=list(pieces),
    )


def _count(usage: Any, *names: str) -> Any:
    """Returns a count. The service for Anthropic gives the SDK's object, and in a stream a dict."""
    found = (usage.get(name) if isinstance(usage, dict) else getattr(usage, name, None) for name in names)
    return next((count for count in found if count is not None), None)


def _item(part: Part) -> Any:
    match part:
        case Text(text):
            return TextContent(text=text)
        case Image(url=url) if url:
            return ImageContent(uri=url)
        case Image():
            return ImageContent(data_uri=f"data:{media_type(part)};base64,{base64_of(part)}")
    call = call_of(part)
    return FunctionCallContent(
        id=call.id,
        name=call.name,
        function_name=call.name,
        arguments=dict(call.arguments),
        metadata={"thought_signature": _NO_SIGNATURE},  # only the service for Gemini reads it
    )


def _register(kernel: Kernel, tool: Tool) -> None:
    """Adds a tool. The library takes what stands before the first `-` of a name for its plugin; another name goes out without one."""
    plugin, dash, rest = tool.name.partition("-")
    function = kernel.add_function(plugin, _function(tool, plugin, rest or plugin))
    if not dash:
        function.metadata.plugin_name = None


def _function(tool: Tool, plugin: str, name: str) -> Any:
    @kernel_function(name=name, description=tool.description)  # type: ignore[untyped-decorator, unused-ignore]
    def run(**arguments: Any) -> str:
        return text_of(tool.run(**arguments))

    schema = parameters(tool)
    fields = [
        KernelParameterMetadata(
            name=name,
            description=field.get("description"),
            is_required=name in schema.get("required", ()),
            schema_data=field,
        )
        for name, field in schema.get("properties", {}).items()
    ]
    return KernelFunctionFromMethod(run, plugin_name=plugin, parameters=fields)


class SemanticKernel(BridgeAdapter):
    """The adapter."""

    name = "semantic-kernel"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {
        "openai-chat": ["openai"],
        "anthropic": ["anthropic"],
        "gemini": ["google"],
    }
    differences = (
        *ids_as_given("2026-11-28"),
        *(
            Difference(rule, "look__Up_2", "a plugin's name ends with `__` at Gemini", "2026-11-30", "gemini")
            for rule in ("OPT-003", "OPT-007", "PAIR-008")
        ),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. A function's result is a text."""
        image: Literal["native", "refused"] = "refused" if wire == "anthropic" else "native"
        return Capabilities(
            image_in_user=image,
            pdf_in_user="refused",
            image_in_tool_result="refused",
            pdf_in_tool_result="refused",
        )


adapter = SemanticKernel
