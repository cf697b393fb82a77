"""Anthropic Messages, answers: converts the blocks to a turn."""

from __future__ import annotations

from typing import ClassVar

from ...contents.content import Content, ContentText, ContentThinking, ContentUnknown
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import content_parts, finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.citations import anthropic_citations
from ..shared.provider_errors import in_band_error
from ..shared.provider_run_tools import paired
from .stream import AnthropicMerger

__all__ = ["PAUSE", "AnthropicResponse"]

#: https://docs.claude.com/en/docs/build-with-claude/handling-stop-reasons#pause-turn
PAUSE = "pause_turn"


class AnthropicResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[finish_reasons.Endings] = finish_reasons.ANTHROPIC

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        reason = response.get("stop_reason")
        blocks = response.get("content") or []
        whole = self.endings.is_whole(reason)
        said = [block for block in blocks if block.get("type") != "text" or block.get("text")]
        contents = [self.block(block, cut=not whole) for block in said]
        return finish_reasons.answer(
            tool_arguments_and_ids.distinct(paired(contents), response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(reason, blocks),
            json=response,
        )

    def block(self, block: Json, *, cut: bool) -> Content:
        """Converts a block of the answer. In a truncated stream, `input` is a text."""
        match block:
            case {"type": "text", "text": str(text)}:
                citations = [
                    json_bodies.without(citation, "file_id") for citation in block.get("citations") or ()
                ]
                extra = self.own(fields={"citations": citations}) if citations else {}
                return ContentText(text, extra=extra, citations=anthropic_citations(citations))
            case {"type": "thinking"} | {"type": "redacted_thinking"}:
                return ContentThinking(block.get("thinking") or "", extra=self.own(block=block))
            case {"type": "tool_use", "id": id, "name": name}:
                rest = json_bodies.without(block, "type", "id", "name", "input")
                extra = self.own(fields=rest) if rest else {}
                return tool_arguments_and_ids.call_of(id, name, block.get("input"), cut=cut, extra=extra)
            case {"input": str()}:
                return content_parts.unknown(self.name, {**block, "input": {}})  # a server tool's, cut off
            case _:
                return content_parts.unknown(self.name, block)

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. `input_tokens` includes neither tokens that were read from the cache nor tokens written
        to it.
        """
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
        """Returns the neutral reason. `pause_turn` stays: sending the answer back continues it."""
        neutral = self.endings.neutral(reason)
        calls = any(block.get("type") == "tool_use" for block in blocks)
        return "tool_use" if calls and neutral == "success" else neutral

    def paused(self, turn: AssistantTurn) -> bool:
        """Tells whether the server paused between calls of its own tools. Sending the answer back continues it."""
        return turn.finish_reason == PAUSE and any(isinstance(c, ContentUnknown) for c in turn.contents)

    def merger(self) -> AnthropicMerger:
        return AnthropicMerger()
