"""Anthropic Messages, `POST {base_url}/messages`. https://docs.claude.com/en/api/messages

The model's own blocks (thinking, server tools and their results) are sent back unchanged and in their places, because
a signature covers the blocks before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...contents.content import Content, ContentText, ContentThinking, ContentUnknown, ContentUploaded
from ...contents.tool_requests_and_results import ContentToolResult
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...contents.turns_by_kind import kinds_not_plain, not_plain, system_turns
from ...schemas.refs_and_defs import subschemas
from ...tools.result_serialization import result_text, split
from ..request_and_stream_merger import Json, Request
from ..shared import content_parts, json_bodies, types_as_json_schema
from ..shared.cache_marks import Cache, check_cache, with_marks
from ..shared.neighbours_of_one_role import joined
from ..shared.schema_dialects import ANTHROPIC
from ..shared.schema_limits import ANTHROPIC as CLAUDE_LIMITS
from ..shared.schema_limits import SchemaLimits
from ..shared.tool_arguments_and_ids import STRUCTURED
from .blocks_sent_back import paired
from .content import AnthropicContent
from .response import AnthropicResponse

if TYPE_CHECKING:
    from ...contents.tool_requests_and_results import ToolDef
    from ...schemas.type_functions import Type

__all__ = ["AnthropicMessages"]


#: https://docs.claude.com/en/docs/build-with-claude/files
FILES_BETA = "files-api-2025-04-14"

#: `Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`
PLAIN_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")

#: The fields that the counter of tokens takes (MessageCountTokensParams).
COUNTED = (
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "cache_control",
)


@dataclass(frozen=True, eq=False, repr=False)
class AnthropicMessages(AnthropicContent, AnthropicResponse):
    """The format itself. It requires `max_tokens`: see `limit()`."""

    name: ClassVar[str] = "anthropic"
    provider: ClassVar[str] = "Anthropic"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "max_tokens": "max_tokens",
        "stop_sequences": "stop_sequences",
        "reasoning_tokens": "thinking.budget_tokens",
        "reasoning_effort": "output_config.effort",
    }

    models_path: ClassVar[str] = "/models?limit=1000"
    schema_limits: ClassVar[SchemaLimits] = CLAUDE_LIMITS

    base_url: str = "https://api.anthropic.com/v1"
    cache: Cache = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cache(self.cache)

    @property
    def issuer(self) -> str:
        """The issuer of signatures. Claude's signatures are valid at every host of the model."""
        return self.name

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "max_tokens": self.limit()}
        if system := "\n\n".join(filter(None, (self.system(turn) for turn in system_turns(turns)))):
            body["system"] = system
        body["messages"] = self.messages(turns)
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["output_config"] = {
                "format": {"type": "json_schema", "schema": ANTHROPIC.say(self.schema(type))}
            }
        if thinking := self.thinking():
            body["thinking"] = thinking
        if stream:
            body["stream"] = True
        body = with_marks(body, self.cache)
        request = self.post(f"{self.base_url.rstrip('/')}/messages", body, stream=stream)
        return request if not _names_files(turns) else replace(request, headers=_with_files(request.headers))

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.asking(turns, tools, type=type)
        return replace(
            request, url=f"{request.url}/count_tokens", json=json_bodies.only(request.json, *COUNTED)
        )

    def counted(self, response: Json) -> int:
        return int(response["input_tokens"])

    def call_problem(self, type: Type, tools: Sequence[ToolDef]) -> str | None:
        named = subschemas(types_as_json_schema.json_schema(type))
        odd = [
            name for each in named for name in each.get("properties", ()) if not PLAIN_NAME.fullmatch(name)
        ]
        return f"a parameter cannot be named {odd[0]!r}" if odd else super().call_problem(type, tools)

    def forced(self, *, alone: bool) -> Json:
        """Forces a tool call if possible: `Thinking may not be enabled when tool_choice forces tool use`."""
        if self.thinking():
            return {}
        return {"tool_choice": {"type": "tool", "name": STRUCTURED} if alone else {"type": "any"}}

    def headers(self) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        return {"x-api-key": self.credentials(), **version} if self.credentials else version

    def thinking(self) -> Json | None:
        """Returns the thinking settings of the parameters: a number of tokens, or an effort."""
        if self.params.get("reasoning_tokens"):
            return {"type": "enabled"}
        effort = self.params.get("reasoning_effort") and self.profile.adaptive
        return {"type": "adaptive"} if effort else None

    def limit(self) -> int:
        """Returns the default of `max_tokens`: the value of the model's profile, plus the tokens for thinking."""
        most = self.profile.ranges.get("max_tokens", (1, float("inf")))[1]
        wanted = (self.profile.max_tokens or 4096) + (self.params.get("reasoning_tokens") or 0)
        return int(min(wanted, most))

    def system(self, turn: Turn) -> str:
        """Returns the text of a system turn, which is outside the messages."""
        if not isinstance(turn, SystemTurn):
            return ""
        return "\n\n".join(c.text for c in turn.contents if isinstance(c, ContentText) and c.text.strip())

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages. Neighbours of one role are joined, as the API itself would do."""
        said = self.kept(turns)
        if any(issubclass(kind, ContentUnknown) for kind in kinds_not_plain(turns)):
            said = paired(said)
        return _without_trailing_space(joined(said, "content", ("user", "assistant")))

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: all results first, then the rest, in one user message.
                blocks = [*map(self.result, results), *(self.content(c) for c in rest if self.sendable(c))]
                return [{"role": "user", "content": blocks}] if blocks else []

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's message. Thinking of a partial answer is left out, because its signature may be
        missing. Thinking at the end is left out, too: `The final block in an assistant message cannot be thinking`
        (tailcallhq/forgecode#2107).
        """
        thinks = not turn.lost
        contents = [
            c for c in turn.contents if self.sendable(c) and (thinks or not isinstance(c, ContentThinking))
        ]
        blocks = [block for c in contents if (block := self.assistant_part(c))]
        while blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            blocks.pop()
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def sendable(self, content: Content) -> bool:
        """Tells whether a content can be sent. Blank text is refused, even if the model wrote it: `text content
        blocks must contain non-whitespace text` (anthropics/claude-code#23440).
        """
        if isinstance(content, ContentText):
            return bool(content.text.strip())
        return content_parts.sendable(content, self.name)

    def result(self, result: ContentToolResult) -> Json:
        """Returns a tool_result block, with its media inside if `tool_media` is native."""
        parts = content_parts.result_parts(result) if self.tool_media == "native" else None
        block: Json = {
            "type": "tool_result",
            "tool_use_id": self.call_id(content_parts.answered(result).id),
            "content": list(map(self.content, parts)) if parts else result_text(result),
        }
        return block | {"is_error": True} if result.error is not None else block

    def tool(self, tool: ToolDef) -> Json:
        return {
            "name": tool.name,
            "description": tool.description,
            "input_schema": self.schema(tool.arguments),
        }

    def schema(self, type: Type) -> Json:
        return types_as_json_schema.json_schema(type)


def _names_files(turns: Sequence[Turn]) -> bool:
    return any(
        isinstance(content, ContentUploaded) and content.wire == "anthropic"
        for place in not_plain(turns)
        for content in turns[place].contents
    )


def _with_files(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers with the beta of files, which requests with files need."""
    names = {name.lower(): name for name in headers}
    name = names.get("anthropic-beta", "anthropic-beta")
    betas = [beta.strip() for beta in headers.get(name, "").split(",") if beta.strip()]
    return {**headers, name: ",".join(dict.fromkeys([*betas, FILES_BETA]))}


def _without_trailing_space(messages: list[Json]) -> list[Json]:
    """Returns the messages without trailing space: `final assistant content cannot end with trailing whitespace`
    (tailcallhq/forgecode#1872).
    """
    if messages and messages[-1]["role"] == "assistant" and messages[-1]["content"][-1].get("type") == "text":
        *before, last = messages[-1]["content"]
        messages[-1] = {"role": "assistant", "content": [*before, {**last, "text": last["text"].rstrip()}]}
    return messages
