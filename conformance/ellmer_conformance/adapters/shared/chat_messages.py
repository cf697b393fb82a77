"""A history in the messages of Chat Completions, which other libraries use as their own."""

from __future__ import annotations

import json
from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any

from ...contract.exchange import Json
from ...scenarios.messages import PDF, Audio, Image, Part, Text, Tool
from .sdk_session import Answered, Said, SDKSession, texts_and_calls
from .tool_values import base64_of, data_url, parameters

__all__ = ["HEARING", "ChatMessages", "MediaInResults", "chat_part", "chat_tool", "json_of"]

#: The wire formats in which a message may have audio, as the messages have it.
HEARING = ("openai-chat", "gemini")
_CHAT_STOPS = {"tool_calls": "tool", "content_filter": "filter"}


class ChatMessages(SDKSession, ABC):
    """A history in the messages of Chat Completions.

    Each result is one tool message, and a user message follows with the content that tool messages cannot hold.
    """

    def user(self, results: Sequence[Answered], parts: Sequence[Part]) -> list[Any]:
        messages = [{"role": "tool", "tool_call_id": r.id, "content": r.text} for r in results]
        content = [chat_part(part) for r in results for part in r.media] + [chat_part(part) for part in parts]
        return [*messages, *([{"role": "user", "content": content}] if content else [])]

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        text, calls = texts_and_calls(parts)
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json_of(c.arguments)}}
            for c in calls
        ]
        return [{"role": "assistant", "content": text or None, **({"tool_calls": asked} if asked else {})}]

    def body(self) -> Json:
        """Returns the model, messages and tools of a request."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        tools = [chat_tool(tool) for tool in self.tools.values()]
        body = {"model": self.endpoint.model, "messages": [*system, *self.messages]}
        return body | ({"tools": tools} if tools else {})

    def said(self, completion: Any) -> Said:
        """Returns the content of a chat completion."""
        choice = completion.choices[0]
        message, usage = choice.message, completion.usage
        calls = message.tool_calls or []
        return Said(
            message.content or "",
            [self.kept(message)],
            _CHAT_STOPS.get(choice.finish_reason, choice.finish_reason),
            [(call.id, call.function.name, call.function.arguments) for call in calls],
            {"input": usage.prompt_tokens, "output": usage.completion_tokens} if usage else {},
        )

    def kept(self, message: Any) -> Any:
        """Returns the message for the next request."""
        calls = {"tool_calls": [_call(call) for call in message.tool_calls]} if message.tool_calls else {}
        return {"role": "assistant", "content": message.content, **calls}


class MediaInResults(ChatMessages, ABC):
    """A history whose tool messages may contain media, for libraries that move the media themselves."""

    def user(self, results: Sequence[Answered], parts: Sequence[Part]) -> list[Any]:
        messages = [{"role": "tool", "tool_call_id": r.id, "content": _inside(r)} for r in results]
        content = [chat_part(part) for part in parts]
        return [*messages, *([{"role": "user", "content": content}] if content else [])]


def _inside(result: Answered) -> Any:
    items = result.value if isinstance(result.value, list) else [result.value]
    if not result.media:
        return result.text
    return [chat_part(item if isinstance(item, Image | PDF) else Text(str(item))) for item in items]


def _call(call: Any) -> Json:
    function = {"name": call.function.name, "arguments": call.function.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def chat_part(part: Part) -> Json:
    """Returns a part of a user message in Chat Completions."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image():
            return {"type": "image_url", "image_url": {"url": data_url(part)}}
        case Audio():
            return {"type": "input_audio", "input_audio": {"data": base64_of(part), "format": "wav"}}
        case PDF(filename=filename):
            return {"type": "file", "file": {"filename": filename, "file_data": data_url(part)}}
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


def chat_tool(tool: Tool) -> Json:
    """Returns a tool in Chat Completions."""
    function = {"name": tool.name, "description": tool.description, "parameters": parameters(tool)}
    return {"type": "function", "function": function}


def json_of(arguments: Mapping[str, Any]) -> str:
    """Returns arguments as the JSON text of OpenAI's formats."""
    return json.dumps(dict(arguments), ensure_ascii=False)
