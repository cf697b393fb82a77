"""Cohere Chat v2, `POST {base_url}/chat`. https://docs.cohere.com/v2/reference/chat

A plan for the tools (`tool_plan`) stands beside the content, and so do citations, which point into its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, assert_never

from ..content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ..tool_results import result_text, split
from ..turns import AssistantPartialTurn, AssistantTurn, SystemTurn, Tokens, Turn
from . import Json, Request, Supports, Wire, _shared
from ._cohere_stream import CohereMerger
from ._errors import error_of, in_band_error

if TYPE_CHECKING:
    from ..errors import ProviderError
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["CohereChat"]

FINISH = {
    "COMPLETE": "success",
    "STOP_SEQUENCE": "stop_sequence",
    "MAX_TOKENS": "max_tokens",
    "TOOL_CALL": "tool_use",
}


@dataclass(frozen=True)
class CohereChat(Wire):
    """The format itself."""

    name: ClassVar[str] = "cohere"
    vendor: ClassVar[str] = "Cohere"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "p",
        "top_k": "k",
        "frequency_penalty": "frequency_penalty",
        "presence_penalty": "presence_penalty",
        "seed": "seed",
        "max_tokens": "max_tokens",
        "stop_sequences": "stop_sequences",
        "log_probs": "logprobs",
        "reasoning_tokens": "thinking.token_budget",
        "tool_choice": "tool_choice",
    }

    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False)

    base_url: str = "https://api.cohere.com/v2"

    # ours → theirs ----------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "messages": self.messages(turns), "stream": stream}
        if tools:
            body["tools"] = [self.tool(tool) for tool in tools]
        if type is not None:
            body["response_format"] = {"type": "json_object", "json_schema": self.schema(type)}
        if self.params.get("reasoning_tokens"):
            body["thinking"] = {"type": "enabled"}
        return self.post(f"{self.base_url.rstrip('/')}/chat", body, stream=stream)

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        return [message for turn in turns for message in self.message(turn)]

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                text = "\n\n".join(c.text for c in turn.contents if isinstance(c, ContentText) and c.text)
                return [{"role": "system", "content": text}] if text else []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                parts = [self.content(c) for c in rest if _shared.sendable(c, self.name)]
                # The order: one tool message per result, all of them before one user message with the rest.
                user = [{"role": "user", "content": parts}] if parts else []
                return [*map(self.result, results), *user]

    def result(self, result: ContentToolResult) -> Json:
        """A tool message; its content is text, or documents made of text."""
        id = self.call_id(_shared.answered(result).id)
        return {"role": "tool", "tool_call_id": id, "content": result_text(result)}

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """What the model planned, said and called; nothing, where it did neither."""
        thinks = not isinstance(turn, AssistantPartialTurn)
        contents = [c for c in turn.contents if thinks or not isinstance(c, ContentThinking)]
        message: Json = {"role": "assistant"}
        if parts := [part for c in contents if (part := self.said(c))]:
            message["content"] = parts
        if calls := [self.call(c) for c in contents if isinstance(c, ContentToolRequest)]:
            message["tool_calls"] = calls
        spoke = len(message) > 1
        for content in contents:
            message |= self.fields(content)
        return [message] if spoke else []

    def said(self, content: Content) -> Json | None:
        """A part of an assistant message's content; `None` for what goes elsewhere, or to another provider only."""
        part: Json | None = None
        match _shared.known(content, self.name):
            case ContentText(text=text) if text:
                part = {"type": "text", "text": text}
            case ContentThinking(extra=extra):
                part = (self.issued(extra) or {}).get("part")
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = dict(data)
            case ContentJson():
                part = self.content(content)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                part = {"type": "text", "text": _shared.placeholder(content)}  # the role takes text only
            case ContentToolResult():
                raise _shared.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown() | ContentToolRequest():
                pass
            case never:
                assert_never(never)
        return part

    def fields(self, content: Content) -> Json:
        """What a content adds to its assistant message beside the words: the plan, citations."""
        if isinstance(content, (ContentText, ContentThinking)):
            return dict((self.issued(content.extra) or {}).get("fields", {}))
        return {}

    def call(self, request: ContentToolRequest) -> Json:
        """A tool call, its arguments exactly as the model wrote them."""
        function = {"name": request.name, "arguments": _shared.raw(request)}
        return {"id": self.call_id(request.id), "type": "function", "function": function}

    def content(self, content: Content) -> Json:
        match _shared.known(content, self.name):
            case ContentText(text=text):
                part: Json = {"type": "text", "text": text}
            case ContentJson(value=value):
                part = {"type": "text", "text": _shared.json_text(value)}
            case ContentImageInline() as image:
                part = {"type": "image_url", "image_url": {"url": _shared.data_url(image)}}
            case ContentImageRemote(url=url, detail=detail):
                part = {"type": "image_url", "image_url": {"url": url, "detail": detail or "auto"}}
            case ContentUnknown(wire=self.name, data=data):
                part = dict(data)
            case (
                ContentPDF()
                | ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise _shared.refused(content, self.name)
            case never:
                assert_never(never)
        return part

    def tool(self, tool: ToolDef) -> Json:
        schema = self.schema(tool.arguments)
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        return {"type": "function", "function": function}

    def schema(self, type: Type) -> Json:
        return _shared.json_schema(type)

    # theirs → ours ----------------------------------------------------------------------------------------

    @_shared.sensible
    def turn(self, response: Json) -> AssistantTurn:
        message = response.get("message")
        if not isinstance(message, dict):
            raise in_band_error(response)
        reason = response.get("finish_reason")
        contents = list(self.contents(message, cut=FINISH.get(reason or "") in _shared.CUT))
        return AssistantTurn(
            _shared.distinct(contents, response),
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=FINISH.get(reason, reason) if reason else None,
            json=response,
        )

    def contents(self, message: Json, *, cut: bool) -> Iterator[Content]:
        """What the message holds. Citations point into the text as a whole: its first part keeps them."""
        if message.get("tool_plan"):
            plan = {"tool_plan": message["tool_plan"]}
            yield ContentThinking(message["tool_plan"], extra=self.own(fields=plan))
        cited = {"citations": message["citations"]} if message.get("citations") else {}
        for part in message.get("content") or ():
            match part:
                case {"type": "text", "text": str(text)}:
                    yield ContentText(text, extra=self.own(fields=cited) if cited else {})
                    cited = {}
                case {"type": "thinking", "thinking": str(thinking)}:
                    yield ContentThinking(thinking, extra=self.own(part=part))
                case _:
                    yield ContentUnknown(self.name, part)
        calls = message.get("tool_calls") or []
        for call in calls:
            function, last = call.get("function") or {}, call is calls[-1]
            yield _shared.call_of(
                call.get("id") or "", function.get("name") or "", function.get("arguments"), cut=cut and last
            )

    def tokens(self, usage: Json) -> Tokens:
        """Usage: the tokens the model read and wrote; what is billed may be less."""
        counts = usage.get("tokens") or usage.get("billed_units") or {}
        return Tokens(
            counts.get("input_tokens"), counts.get("output_tokens"), cached=usage.get("cached_tokens")
        )

    def merger(self) -> CohereMerger:
        return CohereMerger()

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        return error_of(status, headers, body)
