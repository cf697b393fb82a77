"""OpenAI Responses, `POST {base_url}/responses`, stateless.

https://developers.openai.com/api/reference/resources/responses

The model's output is sent back item by item, with ids, because a reasoning item and the item after it belong
together: `Item 'rs_…' of type 'reasoning' was provided without its required following item`. If a turn is no longer
the model's output (edited, truncated, from elsewhere), its items are sent without ids and without reasoning, so that
neither can miss the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from ...contents.content import Content, ContentThinking
from ...contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...tools.result_serialization import result_text, split
from ..request_and_stream_merger import Json, Request
from ..shared import content_parts, json_bodies
from ..shared.tool_arguments_and_ids import STRUCTURED
from .content import ResponsesContent
from .items_sent_back import sent_back
from .response import ResponsesResponse

if TYPE_CHECKING:
    from ...contents.tool_requests_and_results import ToolDef
    from ...schemas.type_functions import Type

__all__ = ["OpenAIResponses"]


#: Models that reason, and so have something to encrypt; others refuse to be asked for it.
REASONING_MODELS = r"(?:.*/)?(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat)|gpt-oss|codex)"

#: The fields that the counter of tokens takes (InputTokenCountParams).
COUNTED = (
    "conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning",
    "text", "tool_choice", "tools", "truncation",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class OpenAIResponses(ResponsesContent, ResponsesResponse):
    """The format itself, for any server that has it. Nothing is stored there (`store: false`)."""

    name: ClassVar[str] = "openai-responses"
    provider: ClassVar[str] = "OpenAI"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "max_tokens": "max_output_tokens",
        "log_probs": "include",
        "top_logprobs": "top_logprobs",
        "reasoning_effort": "reasoning.effort",
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
        body: Json = {"model": self.model, "input": self.messages(turns), "store": False}
        if included := list(self.included()):
            body["include"] = included
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["text"] = {"format": self.text_format(type)}
        if stream:
            body["stream"] = True
        return self.post(f"{self.base_url.rstrip('/')}/responses", body, stream=stream)

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.asking(turns, tools, type=type)
        return replace(
            request, url=f"{request.url}/input_tokens", json=json_bodies.only(request.json, *COUNTED)
        )

    def counted(self, response: Json) -> int:
        return int(response["input_tokens"])

    def included(self) -> Iterator[str]:
        """Yields the parts of an answer that must be requested."""
        if self.reasons():
            yield "reasoning.encrypted_content"
        if self.params.get("log_probs"):
            yield "message.output_text.logprobs"

    def parameters(self) -> Json:
        """Returns the parameters. `log_probs` is not a field, but one of the parts to include."""
        return json_bodies.parameters(
            json_bodies.without(self.params, "log_probs"), self.param_names, self.name
        )

    def reasons(self) -> bool:
        """Tells whether encrypted reasoning can be requested from the model. The server stores none of it."""
        return re.match(REASONING_MODELS, self.model) is not None

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        return self.kept(turns)

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return self.ours("system", turn.contents)
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one output item per result first, then one user message with the rest.
                return [*map(self.result, results), *self.ours("user", rest)]

    def ours(self, role: str, contents: Sequence[Content]) -> list[Json]:
        """Returns a message item of ours, or nothing if it has no content."""
        parts = [self.content(c) for c in contents if content_parts.sendable(c, self.name)]
        return [{"role": role, "content": parts}] if parts else []

    def result(self, result: ContentToolResult) -> Json:
        """Returns a function_call_output item, with its media inside if `tool_media` is native. It has no error flag."""
        parts = content_parts.result_parts(result) if self.tool_media == "native" else None
        output = list(map(self.content, parts)) if parts else result_text(result)
        call_id = self.call_id(content_parts.answered(result).id)
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the items of an answer. Text of another provider comes before the calls, because some servers
        refuse a message between two calls (`No tool output found for tool call`, DeepSeek).
        """
        contents = sent_back(turn.contents, self.name)
        if not any(self.item_of(c) for c in contents):
            contents.sort(key=lambda content: isinstance(content, ContentToolRequest))
        whole = not turn.lost and self.is_whole(contents)
        items: list[Json] = []
        for content in contents:
            if item := self.item(content, whole=whole):
                _append(items, item)
        return items

    def is_whole(self, contents: Sequence[Content]) -> bool:
        """Tells whether every reasoning item is followed by its item. A reasoning item that was cut off at a limit
        has none.
        """
        for content, after in pairwise([*contents, None]):
            if not isinstance(content, ContentThinking) or not (own := self.issued(content.extra)):
                continue
            if after is None or not self.item_of(content):
                return False
            if own.get("before") != self.item_of(after).get("id"):
                return False
        return True

    def tool(self, tool: ToolDef) -> Json:
        """Returns a function. `strict` is always set, because the default is to try it."""
        from ..shared.types_as_json_schema import function_schema  # noqa: PLC0415 - most answers need no schema

        parameters, strict = function_schema(tool.arguments)
        head = {"type": "function", "name": tool.name, "description": tool.description}
        return {**head, "parameters": parameters, "strict": strict}

    def forced(self, *, alone: bool) -> Json:
        return {"tool_choice": {"type": "function", "name": STRUCTURED} if alone else "required"}

    def text_format(self, type: Type) -> Json:
        """Returns the parameter that asks for structured output."""
        from ..shared.types_as_json_schema import strict_schema  # noqa: PLC0415 - most answers need no schema

        schema, strict = strict_schema(type)
        return {"type": "json_schema", "name": "structured_data", "schema": schema, "strict": strict}

    def schema(self, type: Type) -> Json:
        from ..shared.types_as_json_schema import strict_schema  # noqa: PLC0415 - most answers need no schema

        return strict_schema(type)[0]


def _append(items: list[Json], item: Json) -> None:
    """Adds an item. A part of an existing message is added to it."""
    last = items[-1] if items else {}
    same = item.get("role") == last.get("role") == "assistant" and item.get("id") == last.get("id")
    if same and type(item["content"]) is type(last["content"]):
        items[-1] = {**last, "content": last["content"] + item["content"]}
    else:
        items.append(item)
