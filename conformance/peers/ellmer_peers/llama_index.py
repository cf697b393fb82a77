"""Adapter for LlamaIndex: `FunctionAgent` and its memory, with its models for OpenAI, Anthropic and Google."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.genai import types
from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    DocumentBlock,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.google_genai import GoogleGenAI
from llama_index.llms.openai import OpenAI, OpenAIResponses
from pydantic import BaseModel

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter, ids_as_given
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolResult, Turn

from .sdk_conversation import call_of, media_type, parameters, text_of

__all__ = ["LlamaIndex", "adapter"]

#: What Google's documentation has for a call of another model, which has no signature.
_NO_SIGNATURE = "skip_thought_signature_validator"
_STOPS = {
    "tool_calls": "tool",
    "tool_use": "tool",
    "end_turn": "stop",
    "completed": "stop",
    "STOP": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "MAX_TOKENS": "length",
    "content_filter": "filter",
    "refusal": "filter",
    "SAFETY": "filter",
}


def _openai(kind: Callable[..., Any]) -> Callable[[Endpoint], Any]:
    def model(to: Endpoint) -> Any:
        address = {"api_key": to.api_key, "api_base": to.base_url}
        return kind(model=to.model, max_retries=to.max_retries, **address, **to.timeout_option)

    return model


def _anthropic(to: Endpoint) -> Any:
    address = {"api_key": to.api_key, "base_url": to.base_url.removesuffix("/v1")}
    limits = {"max_tokens": 4096, "max_retries": to.max_retries}
    return Anthropic(model=to.model, **address, **limits, **to.timeout_option)


def _google(to: Endpoint) -> Any:
    options = types.HttpOptions(
        base_url=to.base_url.removesuffix("/v1beta"),
        timeout=int(to.timeout * 1000) if to.timeout else None,
    )
    return GoogleGenAI(
        model=to.model,
        api_key=to.api_key,
        max_retries=to.max_retries,
        http_options=options,
        context_window=1_000_000,  # otherwise it asks the API for it
        file_mode="inline",
    )


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai(OpenAI),
    "openai-responses": _openai(OpenAIResponses),
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """An agent, and the memory in which it keeps the conversation."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        offered = [_tool(tool) for tool in tools]
        self.agent = FunctionAgent(
            llm=_MODELS[endpoint.wire](endpoint), system_prompt=system, tools=offered, timeout=None
        )
        self.memory = ChatMemoryBuffer.from_defaults(token_limit=1_000_000)
        self.memory.put_messages([message for turn in history for message in _messages(turn)])
        self.loop: asyncio.Runner | None = None

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        self.loop = self.loop or asyncio.Runner()
        return self.loop.run(self.asend(parts, stream=stream))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        facts: tuple[str | None, Mapping[str, Any]] = (None, {})
        try:
            self.agent.streaming = stream
            *results, asked = _messages(Turn("user", tuple(parts)))
            await self.memory.aput_messages(results)
            running = self.agent.run(user_msg=asked, memory=self.memory)
            async for event in running.stream_events():
                if isinstance(event, AgentStream):
                    pieces.append(event.delta)
                    facts = _added(facts, event.raw)
            output = await running
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        pieces = [piece for piece in pieces if piece] if stream else []
        stop, usage = _added(facts, output.raw)
        return Reply(_text(output.response), stop, usage=usage, pieces=pieces)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        if self.loop:
            self.loop.close()


def _text(message: ChatMessage) -> str:
    """Returns the texts of an answer. `content` would have a line break between two of them."""
    return "".join(block.text for block in message.blocks if isinstance(block, TextBlock))


def _added(known: tuple[str | None, Mapping[str, Any]], raw: Any) -> tuple[str | None, Mapping[str, Any]]:
    """Returns the stop reason and the counts with those of a chunk, because no chunk has all of them."""
    stop, usage = _facts(raw or {})
    return stop or known[0], {**known[1], **usage}


def _facts(raw: Any) -> tuple[str | None, Mapping[str, Any]]:
    """Returns the stop reason and the counts. LlamaIndex passes on the provider's object, or its fields as a dict."""
    if not isinstance(raw, dict):
        raw = raw.model_dump() if isinstance(raw, BaseModel) else vars(raw)
    raw = {**raw, **_fields(raw.get("response")), **_stopped(raw)}
    usage = _fields(raw.get("usage") or raw.get("usage_metadata"))
    counts = {"input": ("prompt_tokens", "input_tokens"), "output": ("completion_tokens", "output_tokens")}
    google = {"input": "prompt_token_count", "output": "candidates_token_count"}
    found = {
        ours: next((usage[name] for name in (*theirs, google[ours]) if name in usage), None)
        for ours, theirs in counts.items()
    }
    return _stop(raw), {ours: count for ours, count in found.items() if count is not None}


def _stopped(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the stop reason of an event of Anthropic that has one, as the field of a whole message."""
    reason = _fields(event.get("delta")).get("stop_reason")
    return {"stop_reason": reason} if reason else {}


def _stop(raw: Mapping[str, Any]) -> str | None:
    choices = raw.get("choices") or raw.get("candidates") or [{}]
    cut = _fields(raw.get("incomplete_details")).get("reason")
    stop = raw.get("stop_reason") or raw.get("finish_reason") or _fields(choices[0]).get("finish_reason")
    word = cut or stop or raw.get("status")
    word = getattr(word, "name", word)
    return _STOPS.get(word, word) if word else None


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, BaseModel):
        return value.model_dump()
    return value if isinstance(value, dict) else {}


def _messages(turn: Turn) -> list[ChatMessage]:
    """Returns the messages of a turn. Each result is one of its own."""
    results = [
        ChatMessage(role="tool", blocks=_outputs(part.value), additional_kwargs={"tool_call_id": part.id})
        for part in turn.parts
        if isinstance(part, ToolResult)
    ]
    rest = [_block(part) for part in turn.parts if not isinstance(part, ToolResult)]
    signed = {"additional_kwargs": _signatures(rest)} if turn.role == "assistant" else {}
    return [*results, *([ChatMessage(role=turn.role, blocks=rest, **signed)] if rest else [])]


def _signatures(blocks: Sequence[Any]) -> Mapping[str, Any]:
    """Returns what the model for Gemini keeps with a message: a signature for each block, or none."""
    return {
        "thought_signatures": [
            _NO_SIGNATURE if isinstance(block, ToolCallBlock) else None for block in blocks
        ]
    }


def _block(part: Part) -> Any:
    match part:
        case Text(text):
            return TextBlock(text=text)
        case Image(url=url) if url:
            return ImageBlock(url=url)
        case Image():
            return ImageBlock(image=part.data, image_mimetype=media_type(part))
        case PDF(filename=filename):
            return DocumentBlock(data=part.data, title=filename, document_mimetype=media_type(part))
    call = call_of(part)
    return ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=dict(call.arguments))


def _outputs(value: Any) -> list[Any]:
    """Returns a tool's value as blocks: one text, or texts and media."""
    items = value if isinstance(value, list) else [value]
    if not any(isinstance(item, Image | PDF) for item in items):
        return [TextBlock(text=text_of(value))]
    return [_block(item if isinstance(item, Image | PDF) else Text(text_of(item))) for item in items]


def _tool(tool: Tool) -> FunctionTool:
    class Arguments(BaseModel):
        """Stands for the model class that LlamaIndex takes the schema of."""

        @classmethod
        def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:  # noqa: ARG003
            return parameters(tool)

    return FunctionTool(
        lambda **arguments: _outputs(tool.run(**arguments)),
        ToolMetadata(tool.description, tool.name, Arguments),
    )


class LlamaIndex(BridgeAdapter):
    """The adapter."""

    name = "llama-index"
    sessions = Session
    wires = FOUR_WIRES

    differences = ids_as_given("2026-11-28")

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. A tool's output may contain media."""
        return Capabilities(
            image_in_tool_result="native", pdf_in_tool_result="native", dangling_call="refused"
        )


adapter = LlamaIndex
