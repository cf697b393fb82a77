"""Cohere Chat v2, requests: converts one content at a time to parts of Chat Completions. Cohere has fewer kinds of parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...contents import content as ours
from ...contents.turns import Turn
from ..interfaces import Json, Request, SchemaLimits, Supports
from ..openai_chat.to_wire import OpenAIChat
from ..shared import content_parts, schemas
from ..shared.json_objects import Shape, Tagged, fitting
from ..shared.schemas import COHERE_LIMITS
from .from_wire import CohereResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


#: A span of the text with its sources (cohere.types.Citation); all of it may be left out.
_CITATION = {
    "start?": int,
    "end?": int,
    "text?": str,
    "type?": str,
    "content_index?": int,
    "sources?": [
        Tagged(
            {
                "tool": {"id?": str, "tool_output?": dict, "document?": None},
                "document": {"id?": str, "document?": dict, "tool_output?": None},
            }
        )
    ],
}


#: Models that see nothing: `image content is not supported for this model`.
BLIND = re.compile(r"command-(r|light|a-0|a-reasoning|a-translate)")


@dataclass(frozen=True, eq=False, repr=False)
class CohereChat(CohereResponse, OpenAIChat):
    """The wire format of Cohere's chat API, version 2."""

    name: ClassVar[str] = "cohere"
    provider: ClassVar[str] = "Cohere"
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

    schema_limits: ClassVar[SchemaLimits] = COHERE_LIMITS

    base_url: str = "https://api.cohere.com/v2"

    def models_url(self) -> str:
        """Returns the URL of the list of models, which is in version 1 of the API."""
        return f"{self.base_url.rstrip('/').removesuffix('/v2')}/v1/models?endpoint=chat&page_size=1000"

    # requests -------------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "messages": self.messages(turns), "stream": stream}
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["response_format"] = {"type": "json_object", "json_schema": self.schema(type)}
        if self.params.get("reasoning_tokens"):
            body["thinking"] = {"type": "enabled"}
        return self.post(f"{self.base_url.rstrip('/')}/chat", body, stream=stream)

    def native_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:
        """Returns the problem of a schema with tools: it is "not supported when used in combinations with" tools."""
        return "it takes a schema or tools, not both" if tools else super().native_problem(type, tools)

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - any call is the one call
        return {"tool_choice": "REQUIRED"}

    def refuses(self, value: object) -> bool:
        return super().refuses(value) or (
            isinstance(value, ours.ContentImage) and bool(BLIND.match(self.model))
        )

    def tool(self, tool: ours.ToolDef) -> Json:
        schema = self.schema(tool.arguments)
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        return {"type": "function", "function": function}

    def schema(self, type: Type) -> Json:
        return schemas.json_schema(type)

    # contents -------------------------------------------------------------------------------------------

    returned: ClassVar[Shape] = Tagged({"text": {"text": str}, "thinking": {"thinking": str}})

    def file(self, file: ours.ContentFile) -> Json | None:  # noqa: ARG002 - whatever it is
        """Returns the text of documents. This format has neither audio nor documents."""
        return None

    def call_id(self, id: str) -> str:
        """Returns the id unchanged. Any id is valid, and citations refer to results by it."""
        return id

    def fields(self, content: ours.Content) -> Json:
        """Returns the fields of Chat Completions, with the citations that the API accepts back."""
        fields = super().fields(content)
        if citations := fitting(fields.pop("citations", None), _CITATION):
            fields["citations"] = citations
        return fields

    def content(self, content: ours.Content) -> Json:
        match content:
            case ours.ContentImageRemote(url=url, detail=detail):
                return {"type": "image_url", "image_url": {"url": url, "detail": detail or "auto"}}
            case ours.ContentPDF() | ours.ContentUploaded():
                raise content_parts.refused(content, self.name)
            case _:
                return super().content(content)
