"""Cohere Chat v2, `POST {base_url}/chat`. https://docs.cohere.com/v2/reference/chat

Its messages are those of Chat Completions, with two more fields: the plan for the tools (`tool_plan`), and the
citations, which point into the text. Its answers and streams are different.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...contents.content import ContentImage
from ...contents.turns import Turn
from ..openai_chat.request import OpenAIChat
from ..request_and_stream_merger import Json, Request, Supports
from ..shared import types_as_json_schema
from ..shared.schema_limits import COHERE, SchemaLimits
from .content import CohereContent
from .response import CohereResponse

if TYPE_CHECKING:
    from ...contents.tool_requests_and_results import ToolDef
    from ...schemas.type_functions import Type

__all__ = ["CohereChat"]

#: Models that see nothing: `image content is not supported for this model`.
BLIND = re.compile(r"command-(r|light|a-0|a-reasoning|a-translate)")


@dataclass(frozen=True, eq=False, repr=False)
class CohereChat(CohereContent, CohereResponse, OpenAIChat):
    """The format itself."""

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

    schema_limits: ClassVar[SchemaLimits] = COHERE

    base_url: str = "https://api.cohere.com/v2"

    def models_url(self) -> str:
        """Returns the URL of the list of models, which is in version 1 of the API."""
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
        body: Json = {"model": self.model, "messages": self.messages(turns), "stream": stream}
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["response_format"] = {"type": "json_object", "json_schema": self.schema(type)}
        if self.params.get("reasoning_tokens"):
            body["thinking"] = {"type": "enabled"}
        return self.post(f"{self.base_url.rstrip('/')}/chat", body, stream=stream)

    def native_problem(self, type: Type, tools: Sequence[ToolDef]) -> str | None:
        """Returns the problem of a schema with tools: it is "not supported when used in combinations with" tools."""
        return "it takes a schema or tools, not both" if tools else super().native_problem(type, tools)

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - any call is the one call
        return {"tool_choice": "REQUIRED"}

    def refuses(self, value: object) -> bool:
        return super().refuses(value) or (isinstance(value, ContentImage) and bool(BLIND.match(self.model)))

    def tool(self, tool: ToolDef) -> Json:
        schema = self.schema(tool.arguments)
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        return {"type": "function", "function": function}

    def schema(self, type: Type) -> Json:
        return types_as_json_schema.json_schema(type)
