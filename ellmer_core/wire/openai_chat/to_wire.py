"""Chat Completions, requests: converts one content at a time to parts and fields of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, assert_never

from ...contents import content as ours
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...tools.results import result_parts, result_text, split
from ..interfaces import Json, Request
from ..shared import content_parts, json_objects, tool_calls
from ..shared.json_objects import Shape, Tagged, fits, legal
from ..shared.tool_calls import STRUCTURED
from .from_wire import OpenAIChatResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


@dataclass(frozen=True, eq=False, repr=False)
class OpenAIChat(OpenAIChatResponse):
    """The wire format of Chat Completions, for any server that has it."""

    name: ClassVar[str] = "openai-chat"
    provider: ClassVar[str] = "OpenAI-compatible"
    default_model: ClassVar[str] = ""
    #: What separates several texts of a user turn in one string. `None` sends them as a list of parts.
    text_separator: ClassVar[str | None] = None
    #: How long the id of a call may be: `Invalid 'messages[2].tool_calls[0].id': string too long` (vercel/ai#5171).
    longest_id: ClassVar[int] = 40
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

    # requests -------------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
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
        text = "\n\n".join(c.text for c in turn.contents if isinstance(c, ours.ContentText) and c.text)
        return [{"role": "system", "content": text}] if text else []

    def user(self, contents: Sequence[ours.Content]) -> list[Json]:
        """Returns a user message, or nothing if it has no content."""
        parts = [self.content(c) for c in contents if content_parts.sendable(c, self.name)]
        separator = "" if len(parts) == 1 else self.text_separator
        content = parts if separator is None else _plain(parts, separator)
        return [{"role": "user", "content": content}] if parts else []

    def result(self, result: ours.ContentToolResult) -> Json:
        """Returns a tool message. The format has no error flag, so the text describes the error."""
        parts = result_parts(result) if self.tool_media == "native" else None
        content = list(map(self.content, parts)) if parts else result_text(result)
        return {
            "role": "tool",
            "tool_call_id": self.call_id(content_parts.request_of(result).id),
            "content": content,
        }

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's text and calls, or nothing if there are none."""
        contents = [c for c in turn.contents if not isinstance(c, ours.ContentThinking) or not turn.lost]
        fields = {name: value for c in contents for name, value in self.fields(c).items()}
        parts = [part for c in contents if (part := self.assistant_part(c))]
        calls = [self.call(c) for c in contents if isinstance(c, ours.ContentToolRequest)]
        if not parts and not calls and "refusal" not in fields:
            return []
        message = {"role": "assistant", "content": _plain(parts), **fields}
        return [message | {"tool_calls": calls} if calls else message]

    def tool(self, tool: ours.ToolDef) -> Json:
        from ..shared.schemas import function_schema  # noqa: PLC0415 - most answers need no schema

        parameters, strict = function_schema(tool.arguments)
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
            "strict": strict,
        }
        return {"type": "function", "function": function}

    def forced(self, *, alone: bool) -> Json:
        choice: Json = {"type": "function", "function": {"name": STRUCTURED}}
        return {"tool_choice": choice if alone else "required"}

    def response_format(self, type: Type) -> Json:
        """Returns the parameter that asks for structured output."""
        from ..shared.schemas import strict_schema  # noqa: PLC0415 - most answers need no schema

        schema, strict = strict_schema(type)
        return {
            "type": "json_schema",
            "json_schema": {"name": "structured_data", "schema": schema, "strict": strict},
        }

    def schema(self, type: Type) -> Json:
        from ..shared.schemas import strict_schema  # noqa: PLC0415 - most answers need no schema

        return strict_schema(type)[0]

    # contents -------------------------------------------------------------------------------------------

    #: The parts of an answer, with what they need to go back.
    returned: ClassVar[Shape] = Tagged({"text": {"text": str}, "refusal": {"refusal": str}})

    def assistant_part(self, content: ours.Content) -> Json | None:
        """Returns a part of an assistant message's content, or `None` for content that is a field or another
        provider's.
        """
        part: Json | None = None
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text) if text and "refusal" not in self.fields(content):
                part = {"type": "text", "text": text}
            case ours.ContentThinking(extra=extra):
                own = self.attached(extra, "part")
                part = dict(own) if own and fits(own, self.returned) else None
            case ours.ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = legal(data, self.returned, self.name) if data else None
            case ours.ContentJson():
                part = self.content(content)
            case (
                ours.ContentImageInline()
                | ours.ContentImageRemote()
                | ours.ContentPDF()
                | ours.ContentFile()
                | ours.ContentUploaded()
            ):
                part = {
                    "type": "text",
                    "text": content_parts.placeholder(content),
                }  # the role takes text only
            case ours.ContentCitation():
                raise content_parts.refused(content, self.name)
            case ours.ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ours.ContentText() | ours.ContentUnknown() | ours.ContentToolRequest():
                pass
            case never:
                assert_never(never)
        return part

    def fields(self, content: ours.Content) -> Json:
        """Returns the fields that a content adds to its assistant message: reasoning, a refusal, annotations."""
        if isinstance(content, (ours.ContentThinking, ours.ContentText)):
            return dict(self.attached(content.extra, "fields"))
        return {}

    def file(self, file: ours.ContentFile) -> Json | None:
        """Returns audio in the two formats that the API accepts, for a model that hears."""
        format = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}.get(
            file.type
        )
        return (
            {"type": "input_audio", "input_audio": {"data": file.data, "format": format}}
            if format and self.profile.audio is not False
            else None
        )

    def call(self, request: ours.ContentToolRequest) -> Json:
        """Returns a tool call with the model's exact arguments."""
        own = self.issued(request.extra) or {}
        kind, key = ("custom", "input") if own.get("type") == "custom" else ("function", "arguments")
        written = request.raw or "" if kind == "custom" else tool_calls.raw(request)
        call = {"id": self.call_id(request.id), "type": kind, kind: {"name": request.name, key: written}}
        return {**call, **self.attached(request.extra, "fields")}

    def call_id(self, id: str) -> str:
        """Returns an id of at most `longest_id` characters."""
        return tool_calls.legal_id(id, rf".{{1,{self.longest_id}}}")

    def content(self, content: ours.Content) -> Json:
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                block: Json = {"type": "text", "text": text}
            case ours.ContentFile() as file:
                block = {"type": "text", "text": content_parts.placeholder(file)}
            case ours.ContentJson(value=value):
                block = {"type": "text", "text": json_objects.json_text(value)}
            case ours.ContentImageInline() as image:
                block = {"type": "image_url", "image_url": {"url": content_parts.data_url(image)}}
            case ours.ContentImageRemote(url=url, detail=detail):
                block = {
                    "type": "image_url",
                    "image_url": {"url": url} | ({"detail": detail} if detail else {}),
                }
            case ours.ContentPDF() as pdf:
                block = {
                    "type": "file",
                    "file": {"filename": pdf.filename, "file_data": content_parts.data_url(pdf)},
                }
            case ours.ContentUploaded(uri=uri, wire=self.name):
                block = {"type": "file", "file": {"file_id": uri}}
            case ours.ContentUnknown(wire=self.name, data=data):
                block = dict(data)
            case (
                ours.ContentUploaded()
                | ours.ContentUnknown()
                | ours.ContentThinking()
                | ours.ContentToolRequest()
                | ours.ContentToolResult()
                | ours.ContentCitation()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
        return block


def _plain(parts: list[Json], separator: str = "") -> str | list[Json] | None:
    """Returns text parts as one string, which every server accepts, or `None` if there are none."""
    if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
        return separator.join(part["text"] for part in parts) or None
    return parts


def with_ok_after_results(messages: Sequence[Json]) -> list[Json]:
    """Returns the messages with the model's "OK" between a result and a message of the user, which some servers refuse there."""
    separated = [*messages[:1]]
    for before, message in pairwise(messages):
        if (before["role"], message["role"]) == ("tool", "user"):
            separated.append({"role": "assistant", "content": "OK"})
        separated.append(message)
    return separated
