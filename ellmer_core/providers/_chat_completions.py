"""Chat Completions at providers other than OpenAI: their shared parts. Differences are in each provider's own file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ..contents.content import ToolDef
from ..contents.turns import Turn
from ..wire.base import with_instruction
from ..wire.interfaces import Json, Request, Supports
from ..wire.openai_chat.to_wire import OpenAIChat, with_ok_after_results

if TYPE_CHECKING:
    from ..schemas.type_classes import Type


class ChatCompletions(OpenAIChat):
    """Chat Completions with `max_tokens` under its first name, and tools with plain JSON Schema (`strict` exists only
    at OpenAI).
    """

    param_names: ClassVar[Mapping[str, str]] = {
        **OpenAIChat.param_names,
        "max_tokens": "max_tokens",
        "top_k": "top_k",
    }
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False)

    def tool(self, tool: ToolDef) -> Json:
        from ..wire.shared.schemas import json_schema  # noqa: PLC0415 - most answers need no schema

        parameters = json_schema(tool.arguments)
        function = {"name": tool.name, "description": tool.description, "parameters": parameters}
        return {"type": "function", "function": function}


#: Models whose templates do not count results as messages of the user: https://github.com/mistralai/mistral-vibe/issues/1006.
_STRICT = re.compile(r"gemma-?3|devstral|ministral", re.IGNORECASE)


class Alternating(ChatCompletions):
    """Joins neighbouring messages of one role, because templates of open models raise an error for two in a row. The strictest raise it
    for a message of the user after a result, too, such as one with the result's image: the model's "OK" stands between the two.
    """

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        messages: list[Json] = []
        given = super().messages(turns)
        for message in with_ok_after_results(given) if _STRICT.search(self.model) else given:
            last = messages[-1] if messages else None
            if last and last["role"] == message["role"] == "user":
                messages[-1] = {**last, "content": [*_parts(last), *_parts(message)]}
            elif last and last["role"] == message["role"] == "assistant" and _is_text(last, message):
                messages[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
            else:
                messages.append(message)
        return messages


class JsonMode(ChatCompletions):
    """Structured output at a provider that enforces JSON but no schema. The prompt describes the schema."""

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        from ..wire.shared.schemas import in_words  # noqa: PLC0415 - most answers need no schema

        if type is not None:
            turns = with_instruction(turns, in_words(type))
        return super().request(turns, tools, stream=stream, type=type)

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - none of these can be made to call while it thinks
        return {}

    def response_format(self, type: Type) -> Json:  # noqa: ARG002 - see request()
        return {"type": "json_object"}

    def schema(self, type: Type) -> Json:
        from ..wire.shared.schemas import json_schema  # noqa: PLC0415 - most answers need no schema

        return json_schema(type)


class SchemaOrTools(ChatCompletions):
    """Structured output at a provider that accepts a schema or tools, but not both. With tools, a call is the answer."""

    def native_problem(self, type: Type, tools: Sequence[ToolDef]) -> str | None:
        return "it takes a schema or tools, not both" if tools else super().native_problem(type, tools)


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_text(*messages: Json) -> bool:
    return all(isinstance(m.get("content"), str) and "tool_calls" not in m for m in messages)
