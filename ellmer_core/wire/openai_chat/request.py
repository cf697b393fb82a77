"""OpenAI Chat Completions, `POST {base_url}/chat/completions`, with the extensions of other servers.

https://developers.openai.com/api/reference/resources/chat. OpenAI's own format has no reasoning. The fields that
providers add (`reasoning_content`, `reasoning`, `reasoning_details`, thinking chunks in the content) are read here,
and sent back unchanged to their provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...contents.content import Content, ContentText, ContentThinking
from ...contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...tools.result_serialization import result_text, split
from ..request_and_stream_merger import Json, Request
from ..shared import content_parts
from ..shared.tool_arguments_and_ids import STRUCTURED
from .content import OpenAIChatContent
from .response import OpenAIChatResponse

if TYPE_CHECKING:
    from ...contents.tool_requests_and_results import ToolDef
    from ...schemas.type_functions import Type

__all__ = ["OpenAIChat"]


@dataclass(frozen=True, eq=False, repr=False)
class OpenAIChat(OpenAIChatContent, OpenAIChatResponse):
    """The format itself, for any server that has it."""

    name: ClassVar[str] = "openai-chat"
    provider: ClassVar[str] = "OpenAI-compatible"
    default_model: ClassVar[str] = ""
    #: What separates several texts of a user turn in one string. `None` sends them as a list of parts.
    text_separator: ClassVar[str | None] = None
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "frequency_penalty": "frequency_penalty",
        "presence_penalty": "presence_penalty",
        "seed": "seed",
        "max_tokens": "max_completion_tokens",
        "stop_sequences": "stop",
        "log_probs": "logprobs",
        "top_logprobs": "top_logprobs",
        "reasoning_effort": "reasoning_effort",
        "tool_choice": "tool_choice",
        "parallel_tool_calls": "parallel_tool_calls",
    }

    base_url: str = "https://api.openai.com/v1"

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "messages": self.messages(turns)}
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["response_format"] = self.response_format(type)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return self.post(f"{self.base_url.rstrip('/')}/chat/completions", body, stream=stream)

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        return self.kept(turns)

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return self.system(turn)
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one tool message per result, all of them before one user message with the rest.
                return [*map(self.result, results), *self.user(rest)]

    def system(self, turn: SystemTurn) -> list[Json]:
        """Returns the system prompt, or nothing if it is empty."""
        text = "\n\n".join(c.text for c in turn.contents if isinstance(c, ContentText) and c.text)
        return [{"role": "system", "content": text}] if text else []

    def user(self, contents: Sequence[Content]) -> list[Json]:
        """Returns a user message, or nothing if it has no content."""
        parts = [self.content(c) for c in contents if content_parts.sendable(c, self.name)]
        separator = "" if len(parts) == 1 else self.text_separator
        content = parts if separator is None else _plain(parts, separator)
        return [{"role": "user", "content": content}] if parts else []

    def result(self, result: ContentToolResult) -> Json:
        """Returns a tool message. The format has no error flag, so the text describes the error."""
        parts = content_parts.result_parts(result) if self.tool_media == "native" else None
        content = list(map(self.content, parts)) if parts else result_text(result)
        return {
            "role": "tool",
            "tool_call_id": self.call_id(content_parts.answered(result).id),
            "content": content,
        }

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's text and calls, or nothing if there are none."""
        thinks = not turn.lost
        contents = [c for c in turn.contents if thinks or not isinstance(c, ContentThinking)]
        fields = {name: value for c in contents for name, value in self.fields(c).items()}
        parts = [part for c in contents if (part := self.assistant_part(c))]
        calls = [self.call(c) for c in contents if isinstance(c, ContentToolRequest)]
        if not parts and not calls and "refusal" not in fields:
            return []
        message = {"role": "assistant", "content": _plain(parts), **fields}
        return [message | {"tool_calls": calls} if calls else message]

    def tool(self, tool: ToolDef) -> Json:
        from ..shared.types_as_json_schema import function_schema  # noqa: PLC0415 - most answers need no schema

        parameters, strict = function_schema(tool.arguments)
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
            "strict": strict,
        }
        return {"type": "function", "function": function}

    def forced(self, *, alone: bool) -> Json:
        one: Json = {"type": "function", "function": {"name": STRUCTURED}}
        return {"tool_choice": one if alone else "required"}

    def response_format(self, type: Type) -> Json:
        """Returns the parameter that asks for structured output."""
        from ..shared.types_as_json_schema import strict_schema  # noqa: PLC0415 - most answers need no schema

        schema, strict = strict_schema(type)
        return {
            "type": "json_schema",
            "json_schema": {"name": "structured_data", "schema": schema, "strict": strict},
        }

    def schema(self, type: Type) -> Json:
        from ..shared.types_as_json_schema import strict_schema  # noqa: PLC0415 - most answers need no schema

        return strict_schema(type)[0]


def _plain(parts: list[Json], separator: str = "") -> str | list[Json] | None:
    """Returns text parts as one string, which every server accepts, or `None` if there are none."""
    if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
        return separator.join(part["text"] for part in parts) or None
    return parts
