"""Cohere Chat v2, `POST {base_url}/chat`. https://docs.cohere.com/v2/reference/chat

Its messages are those of Chat Completions, except that a plan for the tools (`tool_plan`) stands beside the
content, and so do citations, which point into its text. Answers and streams are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..content import (
    Content,
    ContentImage,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUnknown,
    ContentUploaded,
)
from ..turns import AssistantTurn, Tokens, Turn, UserTurn
from . import Json, Request, Supports, _bodies, _calls, _contents, _schemas
from ._cohere_stream import CohereMerger
from ._errors import in_band_error
from .openai_chat import OpenAIChat

if TYPE_CHECKING:
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["CohereChat"]

FINISH = {
    "COMPLETE": "success",
    "STOP_SEQUENCE": "stop_sequence",
    "MAX_TOKENS": "max_tokens",
    "TOOL_CALL": "tool_use",
}
#: Models that see nothing: `image content is not supported for this model`.
BLIND = re.compile(r"command-(r|light|a-0|a-reasoning|a-translate)")


@dataclass(frozen=True)
class CohereChat(OpenAIChat):
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

    def models_url(self) -> str:
        """The list is in the first version of the API."""
        return f"{self.base_url.rstrip('/').removesuffix('/v2')}/v1/models?endpoint=chat&page_size=1000"

    # ours → theirs ----------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        if type is not None and tools:  # a schema is "not supported when used in combinations with" tools
            turns, type = [*turns, UserTurn(_schemas.in_words(type))], None
        body: Json = {"model": self.model, "messages": self.messages(turns), "stream": stream}
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["response_format"] = {"type": "json_object", "json_schema": self.schema(type)}
        if self.params.get("reasoning_tokens"):
            body["thinking"] = {"type": "enabled"}
        return self.post(f"{self.base_url.rstrip('/')}/chat", body, stream=stream)

    def refuses(self, value: object) -> bool:
        return super().refuses(value) or (isinstance(value, ContentImage) and bool(BLIND.match(self.model)))

    def call_id(self, id: str) -> str:
        """Any; citations refer to results by it."""
        return id

    def content(self, content: Content) -> Json:
        match content:
            case ContentImageRemote(url=url, detail=detail):
                return {"type": "image_url", "image_url": {"url": url, "detail": detail or "auto"}}
            case ContentPDF() | ContentUploaded():
                raise _contents.refused(content, self.name)
            case _:
                return super().content(content)

    def tool(self, tool: ToolDef) -> Json:
        schema = self.schema(tool.arguments)
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        return {"type": "function", "function": function}

    def schema(self, type: Type) -> Json:
        return _schemas.json_schema(type)

    # theirs → ours ----------------------------------------------------------------------------------------

    @_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        message = response.get("message")
        if not isinstance(message, dict):
            raise in_band_error(response)
        reason = response.get("finish_reason")
        contents = list(self.contents(message, cut=FINISH.get(reason or "") in _calls.CUT))
        return AssistantTurn(
            _calls.distinct(contents, response),
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
            yield _calls.call_of(
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
