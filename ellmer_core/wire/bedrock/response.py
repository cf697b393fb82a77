"""Bedrock Converse, answers: converts the blocks to a turn, and errors by the type in their header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ...contents.content import Content, ContentImageInline, ContentText, ContentThinking
from ...contents.tool_requests_and_results import ContentToolRequest
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.citations import bedrock_citations, cited_before
from ..shared.provider_errors import error_of, in_band_error
from ..shared.provider_run_tools import paired, provider_content
from .stream import BedrockMerger

if TYPE_CHECKING:
    from ...errors import ProviderError

__all__ = ["BedrockResponse"]


class BedrockResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[finish_reasons.Endings] = finish_reasons.BEDROCK

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        reason = response.get("stopReason")
        message = (response.get("output") or {}).get("message")
        if message is None and reason is None:
            raise in_band_error(response)
        blocks = (message or {}).get("content") or []
        whole = self.endings.is_whole(reason)
        contents = cited_before([self.block(block, cut=not whole) for block in blocks])
        return finish_reasons.answer(
            tool_arguments_and_ids.distinct(paired(contents), response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(reason, contents),
            json=response,
        )

    def block(self, block: Json, *, cut: bool) -> Content:
        """Converts a block of the answer. In a truncated stream, `input` is a text."""
        content: Content = provider_content(self.name, block)
        match block:
            case {"text": str(text)}:
                content = ContentText(text)
            case {"toolUse": {"type": "server_tool_use", "input": given} as call}:
                whole = given if isinstance(given, dict) else {}
                content = provider_content(self.name, {"toolUse": {**call, "input": whole}})
            case {"toolUse": {"type": kind}} if kind not in {None, "tool_use"}:
                pass  # the call is unknown, so it is not run
            case {"toolUse": {"toolUseId": id, "name": name, "input": given}}:
                content = tool_arguments_and_ids.call_of(id, name, given, cut=cut)
            case {"reasoningContent": dict(thought)}:
                text = (thought.get("reasoningText") or {}).get("text") or ""
                content = ContentThinking(text, extra=self.own(block=block))
            case {"citationsContent": dict(said)}:
                text = "".join(part.get("text") or "" for part in said.get("content") or ())
                cited = bedrock_citations(said.get("citations"))
                content = ContentText(text, extra=self.own(block=block), citations=cited)
            case {"image": {"format": str(kind), "source": {"bytes": str(data)}}}:
                content = ContentImageInline(f"image/{kind}", data)
        return content

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. `inputTokens` includes neither tokens that were read from the cache nor tokens written
        to it.
        """
        parts = [usage.get(k) for k in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")]
        return Tokens(
            input=None if parts[0] is None else sum(part or 0 for part in parts),
            output=usage.get("outputTokens"),
            cached=parts[1],
            cache_write=parts[2],
        )

    def finish_reason(self, reason: str | None, contents: Sequence[Content]) -> str | None:
        """Returns the neutral reason. If the only call was the structured data, the reason is a normal stop."""
        neutral = self.endings.neutral(reason)
        if neutral not in {"success", "tool_use"}:
            return neutral
        calls = any(isinstance(content, ContentToolRequest) for content in contents)
        return "tool_use" if calls else "success"

    def merger(self) -> BedrockMerger:
        return BedrockMerger()

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Returns the error. The body has only a message, and a header has the error's type."""
        error = error_of(status, headers, body)
        lower = {name.lower(): value for name, value in headers.items()}
        error.type = error.code = lower.get("x-amzn-errortype", "").partition(":")[0] or error.type
        error.request_id = lower.get("x-amzn-requestid") or error.request_id
        return error
