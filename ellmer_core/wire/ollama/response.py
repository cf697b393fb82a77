"""Ollama, answers: converts the message to a turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...contents.content import Content, ContentText, ContentThinking
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.provider_errors import in_band_error
from .stream import OllamaMerger

__all__ = ["OllamaResponse"]


class OllamaResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[finish_reasons.Endings] = finish_reasons.OLLAMA

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        message, reason = response.get("message") or {}, response.get("done_reason")
        whole = response.get("done") is True and self.endings.is_whole(reason)
        contents = list(self.contents(message, cut=not whole))
        return finish_reasons.answer(
            tool_arguments_and_ids.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response),
            finish_reason=self.finish_reason(reason, message) if response.get("done") else None,
            json=response,
        )

    def contents(self, message: Json, *, cut: bool) -> Iterator[Content]:
        """Yields the contents of the message. Old servers give calls no id."""
        if message.get("thinking"):
            yield ContentThinking(message["thinking"], extra=self.own())
        if message.get("content"):
            yield ContentText(message["content"])
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            yield tool_arguments_and_ids.call_of(
                call.get("id") or "", function.get("name") or "", function.get("arguments"), cut=cut
            )

    def tokens(self, response: Json) -> Tokens:
        """Returns the usage. The server leaves out a count of 0 (for example, of a cached prompt)."""
        counted = response.keys() & {"prompt_eval_count", "eval_count", "total_duration"}
        none = 0 if counted else None
        return Tokens(response.get("prompt_eval_count", none), response.get("eval_count", none))

    def finish_reason(self, reason: str | None, message: Json) -> str | None:
        """Returns the neutral reason. A stop with calls is a stop for tool calls."""
        neutral = self.endings.neutral(reason)
        return "tool_use" if message.get("tool_calls") and neutral == "success" else neutral

    def merger(self) -> OllamaMerger:
        return OllamaMerger()
