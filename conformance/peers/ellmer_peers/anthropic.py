"""Adapter for the official `anthropic` SDK alone. It is the control for libraries that are built on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import anthropic
from pydantic import BaseModel

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Text

from .sdk_conversation import (
    CallResult,
    ModelAnswer,
    Parsing,
    base64_of,
    media_type,
    parameters,
    texts_and_calls,
)

__all__ = ["Anthropic", "adapter"]

_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool",
    "max_tokens": "length",
    "refusal": "filter",
}
_MAX_TOKENS = 4096


class Session(Parsing):
    """A history in which results come first, in one user message with the user's text."""

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        content = [_result(result) for result in results] + [block(part) for part in parts]
        return [{"role": "user", "content": content}] if content else []

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        text, calls = texts_and_calls(parts)
        blocks: list[Any] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": _id(c.id), "name": c.name, "input": dict(c.arguments)} for c in calls
        ]
        return [{"role": "assistant", "content": blocks}]

    def ask(self, *, stream: bool) -> ModelAnswer:
        with self.client() as client:
            if not stream:
                return _answer(client.messages.create(**self.body()))
            with client.messages.stream(**self.body()) as events:
                for text in events.text_stream:
                    self.pieces.append(text)
                return _answer(events.get_final_message())

    async def aask(self, *, stream: bool) -> ModelAnswer:
        async with self.aclient() as client:
            if not stream:
                return _answer(await client.messages.create(**self.body()))
            async with client.messages.stream(**self.body()) as events:
                async for text in events.text_stream:
                    self.pieces.append(text)
                return _answer(await events.get_final_message())

    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        with self.client() as client:
            message = client.messages.parse(**self.body(), output_format=model)
        return _answer(message), message.parsed_output

    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        async with self.aclient() as client:
            message = await client.messages.parse(**self.body(), output_format=model)
        return _answer(message), message.parsed_output

    def client(self) -> Any:
        """Returns a client of the SDK."""
        return anthropic.Anthropic(**self._options())

    def aclient(self) -> Any:
        """Returns the same client for async calls."""
        return anthropic.AsyncAnthropic(**self._options())

    def _options(self) -> Json:
        to = self.endpoint
        url = to.base_url.removesuffix("/v1")  # the SDK adds it
        return {
            "base_url": url,
            "api_key": to.api_key,
            "auth_token": None,
            "max_retries": to.max_retries,
            **to.timeout_option,
        }

    def body(self) -> Json:
        """Returns the model, messages and tools of a request."""
        tools = [
            {"name": t.name, "description": t.description, "input_schema": parameters(t)}
            for t in self.tools.values()
        ]
        body: Json = {"model": self.endpoint.model, "max_tokens": _MAX_TOKENS, "messages": self.messages}
        body |= {"system": self.system} if self.system else {}
        return body | ({"tools": tools} if tools else {})


def _answer(message: Any) -> ModelAnswer:
    calls = [block for block in message.content if block.type == "tool_use"]
    return ModelAnswer(
        "".join(block.text for block in message.content if block.type == "text"),
        [{"role": "assistant", "content": [_history_block(block) for block in message.content]}],
        _STOPS.get(message.stop_reason, message.stop_reason),
        [(block.id, block.name, block.input) for block in calls],
        _counts(message.usage),
    )


def _counts(usage: Any) -> Mapping[str, int | None]:
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return {"input": usage.input_tokens + cached, "output": usage.output_tokens}


def _history_block(block: Any) -> Json:
    """Returns a block in the form in which it is sent back."""
    fields: Json = block.to_dict()
    return {name: value for name, value in fields.items() if value is not None and name != "parsed_output"}


def _result(result: CallResult) -> Json:
    """Returns a tool_result with its media inside."""
    items = result.value if isinstance(result.value, list) else [result.value]
    inside = [block(item if isinstance(item, Image | PDF) else Text(str(item))) for item in items]
    content = inside if result.media else result.text
    fields: Json = {"type": "tool_result", "tool_use_id": _id(result.id), "content": content}
    return fields | ({"is_error": True} if result.failed else {})


def _id(id: str) -> str:
    """Returns the id of another provider's call with the characters that the API takes."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", id)


def block(part: Part) -> Json:
    """Returns a content block."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(url=url) if url:
            return {"type": "image", "source": {"type": "url", "url": url}}
        case Image():
            source = {"type": "base64", "media_type": media_type(part), "data": base64_of(part)}
            return {"type": "image", "source": source}
        case PDF(filename=filename):
            source = {"type": "base64", "media_type": "application/pdf", "data": base64_of(part)}
            return {"type": "document", "source": source, "title": filename}
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


class Anthropic(BridgeAdapter):
    """The adapter."""

    name = "anthropic"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {"anthropic": ["anthropic"]}

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media are inside results."""
        return Capabilities(structured="native", image_in_tool_result="native", pdf_in_tool_result="native")


adapter = Anthropic
