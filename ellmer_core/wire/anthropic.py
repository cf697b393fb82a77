"""Anthropic Messages, `POST {base_url}/messages`. https://docs.claude.com/en/api/messages

Blocks that the model's side owns (thinking, server tools and their results) go back exactly as they came and
where they came: a signature covers what stands before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from . import Json, Request, Wire, _shared
from ._anthropic_stream import AnthropicMerger
from ._errors import in_band_error

if TYPE_CHECKING:
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["AnthropicMessages"]

FINISH = {
    "end_turn": "success",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "content_filter",
    "model_context_window_exceeded": "context_window",
}

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


@dataclass(frozen=True)
class AnthropicMessages(Wire):
    """The format itself. `max_tokens`, which it requires, is 4096 beyond what thinking may take."""

    name: ClassVar[str] = "anthropic"
    vendor: ClassVar[str] = "Anthropic"
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

    base_url: str = "https://api.anthropic.com/v1"

    @property
    def issuer(self) -> str:
        """Claude's signatures hold at every host of the model."""
        return self.name

    # ours → theirs ----------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "max_tokens": 4096 + (self.params.get("reasoning_tokens") or 0)}
        if system := "\n\n".join(filter(None, (self.system(turn) for turn in turns))):
            body["system"] = system
        body["messages"] = self.messages(turns)
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": self.schema(type)}}
        if thinking := self.thinking():
            body["thinking"] = thinking
        if stream:
            body["stream"] = True
        return self.post(f"{self.base_url.rstrip('/')}/messages", body, stream=stream)

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.request(turns, tools, type=type)
        return replace(request, url=f"{request.url}/count_tokens", json=_shared.only(request.json, *COUNTED))

    def counted(self, response: Json) -> int:
        return int(response["input_tokens"])

    def headers(self) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        return {"x-api-key": self.credentials(), **version} if self.credentials else version

    def thinking(self) -> Json | None:
        """How the parameters ask for thinking: so many tokens of it, or as much as the effort is worth."""
        if self.params.get("reasoning_tokens"):
            return {"type": "enabled"}
        return {"type": "adaptive"} if self.params.get("reasoning_effort") else None

    def system(self, turn: Turn) -> str:
        """The text of a system turn; it stands beside the messages."""
        if not isinstance(turn, SystemTurn):
            return ""
        return "\n\n".join(c.text for c in turn.contents if isinstance(c, ContentText) and c.text.strip())

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Neighbours of one role are one message, as the API itself would merge them."""
        messages: list[Json] = []
        for message in (message for turn in turns for message in self.keep(turn, self.message)):
            if messages and messages[-1]["role"] == message["role"]:
                messages[-1] = {**message, "content": [*messages[-1]["content"], *message["content"]]}
            else:
                messages.append(message)
        return _without_trailing_space(messages)

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
        """What the model said. The thinking of a partial answer may lack its signature: it stays here."""
        thinks = not isinstance(turn, AssistantPartialTurn)
        contents = [
            c for c in turn.contents if self.sendable(c) and (thinks or not isinstance(c, ContentThinking))
        ]
        blocks = [block for c in contents if (block := self.said(c))]
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def sendable(self, content: Content) -> bool:
        """Blank text is refused, even where the model wrote it: `text content blocks must contain
        non-whitespace text` (anthropics/claude-code#23440)."""
        if isinstance(content, ContentText):
            return bool(content.text.strip())
        return _shared.sendable(content, self.name)

    def result(self, result: ContentToolResult) -> Json:
        """A tool_result block, with its media inside where `tool_media` is native."""
        parts = _shared.result_parts(result) if self.tool_media == "native" else None
        block: Json = {
            "type": "tool_result",
            "tool_use_id": self.call_id(_shared.answered(result).id),
            "content": list(map(self.content, parts)) if parts else result_text(result),
        }
        return block | {"is_error": True} if result.error is not None else block

    def said(self, content: Content) -> Json | None:
        """One block of an assistant message; `None` for what only another provider understands."""
        block: Json | None = None
        match _shared.known(content, self.name):
            case ContentText(text=text, extra=extra):
                block = {"type": "text", "text": text, **(self.issued(extra) or {}).get("fields", {})}
            case ContentThinking() as thinking:
                block = self.sealed(thinking)
            case ContentToolRequest() as call:
                block = self.call(call)
            case ContentUnknown(data=data):
                block = dict(data)
            case ContentJson():
                block = self.content(content)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                block = {"type": "text", "text": _shared.placeholder(content)}  # the role takes no media
            case ContentToolResult():
                raise _shared.refused(content, self.name, "only a user turn holds results")
            case never:
                assert_never(never)
        return block

    def sealed(self, thinking: ContentThinking) -> Json | None:
        """A thinking block as it came. Without its signature (it was cut off, or is another's) it is refused."""
        block = (self.issued(thinking.extra) or {}).get("block", {})
        return dict(block) if block.get("signature") or block.get("data") else None

    def call(self, request: ContentToolRequest) -> Json:
        """A tool_use block; its input is an object always."""
        fields = (self.issued(request.extra) or {}).get("fields", {})
        call = {"type": "tool_use", "id": self.call_id(request.id), "name": request.name}
        return {**call, "input": dict(request.arguments), **fields}

    def call_id(self, id: str) -> str:
        """`tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'` (farion1231/cc-switch#1181)."""
        return _shared.legal_id(id, r"[a-zA-Z0-9_-]+")

    def content(self, content: Content) -> Json:
        match _shared.known(content, self.name):
            case ContentText(text=text):
                block: Json = {"type": "text", "text": text}
            case ContentJson(value=value):
                block = {"type": "text", "text": _shared.json_text(value)}
            case ContentImageInline(type=type, data=data):
                block = {"type": "image", "source": {"type": "base64", "media_type": type, "data": data}}
            case ContentImageRemote(url=url):
                block = {"type": "image", "source": {"type": "url", "url": url}}
            case ContentPDF(type=type, data=data, filename=title):
                source = {"type": "base64", "media_type": type, "data": data}
                block = {"type": "document", "source": source, "title": title}
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                kind = "image" if type.startswith("image/") else "document"
                block = {"type": kind, "source": {"type": "file", "file_id": uri}}
            case ContentUnknown(wire=self.name, data=data):
                block = dict(data)
            case (
                ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise _shared.refused(content, self.name)
            case never:
                assert_never(never)
        return block

    def tool(self, tool: ToolDef) -> Json:
        return {
            "name": tool.name,
            "description": tool.description,
            "input_schema": self.schema(tool.arguments),
        }

    def schema(self, type: Type) -> Json:
        return _shared.json_schema(type)

    # theirs → ours ----------------------------------------------------------------------------------------

    @_shared.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        reason = response.get("stop_reason")
        blocks = response.get("content") or []
        cut = FINISH.get(reason or "") in _shared.CUT
        said = [block for block in blocks if block.get("type") != "text" or block.get("text")]
        contents = [self.block(block, cut=cut and block is blocks[-1]) for block in said]
        return AssistantTurn(
            _shared.distinct(contents, response),
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(reason, blocks),
            json=response,
        )

    def block(self, block: Json, *, cut: bool) -> Content:
        """One block of the answer. An `input` that is text is what a cut stream left of it."""
        match block:
            case {"type": "text", "text": str(text)}:
                citations = [
                    _shared.without(citation, "file_id") for citation in block.get("citations") or ()
                ]
                return ContentText(text, extra=self.own(fields={"citations": citations}) if citations else {})
            case {"type": "thinking"} | {"type": "redacted_thinking"}:
                return ContentThinking(block.get("thinking") or "", extra=self.own(block=block))
            case {"type": "tool_use", "id": id, "name": name}:
                rest = _shared.without(block, "type", "id", "name", "input")
                extra = self.own(fields=rest) if rest else {}
                return _shared.call_of(id, name, block.get("input"), cut=cut, extra=extra)
            case {"input": str()}:
                return ContentUnknown(self.name, {**block, "input": {}})  # a server tool's, cut off
            case _:
                return _shared.unknown(self.name, block)

    def tokens(self, usage: Json) -> Tokens:
        """Usage. `input_tokens` counts neither what was read from the cache nor what was written to it."""
        parts = [
            usage.get(k) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        ]
        return Tokens(
            input=None if parts[0] is None else sum(part or 0 for part in parts),
            output=usage.get("output_tokens"),
            cached=parts[1],
            cache_write=parts[2],
            reasoning=(usage.get("output_tokens_details") or {}).get("thinking_tokens"),
        )

    def finish_reason(self, reason: str | None, blocks: list[Json]) -> str | None:
        """The neutral word. `pause_turn` is kept: the answer goes on when it is sent back as it is."""
        neutral = FINISH.get(reason, reason) if reason else None
        calls = any(block.get("type") == "tool_use" for block in blocks)
        return "tool_use" if calls and neutral == "success" else neutral

    def merger(self) -> AnthropicMerger:
        return AnthropicMerger()


def _without_trailing_space(messages: list[Json]) -> list[Json]:
    """`final assistant content cannot end with trailing whitespace` (tailcallhq/forgecode#1872)."""
    if messages and messages[-1]["role"] == "assistant" and messages[-1]["content"][-1]["type"] == "text":
        *before, last = messages[-1]["content"]
        messages[-1] = {"role": "assistant", "content": [*before, {**last, "text": last["text"].rstrip()}]}
    return messages
