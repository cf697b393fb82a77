"""Cohere Chat v2, answers: converts the message to a turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...contents.content import Content, ContentText, ContentThinking, ContentUnknown
from ...contents.turns import AssistantTurn, Tokens
from ..openai_chat.response import OpenAIChatResponse
from ..request_and_stream_merger import Json
from ..shared import finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.citations import cohere_citations
from ..shared.provider_errors import in_band_error
from .stream import CohereMerger

__all__ = ["CohereResponse"]


class CohereResponse(OpenAIChatResponse):
    """Reads answers."""

    endings: ClassVar[finish_reasons.Endings] = finish_reasons.COHERE

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        message = response.get("message")
        if not isinstance(message, dict):
            raise in_band_error(response)
        reason = response.get("finish_reason")
        whole = self.endings.is_whole(reason)
        contents = list(self.contents(message, cut=not whole))
        return finish_reasons.answer(
            tool_arguments_and_ids.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.endings.neutral(reason),
            json=response,
        )

    def contents(self, message: Json, *, cut: bool) -> Iterator[Content]:
        """Yields the contents of the message. Citations point into the whole text, so its first part keeps them."""
        if message.get("tool_plan"):
            plan = {"tool_plan": message["tool_plan"]}
            yield ContentThinking(message["tool_plan"], extra=self.own(fields=plan))
        cited = {"citations": message["citations"]} if message.get("citations") else {}
        citations = cohere_citations(message.get("citations"))
        for part in message.get("content") or ():
            match part:
                case {"type": "text", "text": str(text)}:
                    yield ContentText(text, self.own(fields=cited) if cited else {}, citations)
                    cited, citations = {}, ()
                case {"type": "thinking", "thinking": str(thinking)}:
                    yield ContentThinking(thinking, extra=self.own(part=part))
                case _:
                    yield ContentUnknown(self.name, part)
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            yield tool_arguments_and_ids.call_of(
                call.get("id") or "", function.get("name") or "", function.get("arguments"), cut=cut
            )

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage: the tokens that the model read and wrote. The billed tokens may be fewer."""
        counts = usage.get("tokens") or usage.get("billed_units") or {}
        return Tokens(
            counts.get("input_tokens"), counts.get("output_tokens"), cached=usage.get("cached_tokens")
        )

    def merger(self) -> CohereMerger:
        return CohereMerger()
