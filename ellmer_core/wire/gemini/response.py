"""Gemini, answers: converts the parts of a candidate to a turn, each with its signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...contents.content import Content, ContentFile, ContentImageInline, ContentText, ContentThinking
from ...contents.tool_requests_and_results import ContentToolRequest
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import content_parts, finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.citations import with_grounding
from ..shared.provider_errors import in_band_error
from ..shared.provider_run_tools import grounded, paired
from .stream import GeminiMerger

__all__ = ["VERTEX_NUMBERS", "GeminiResponse"]

#: The numbers of `finishReason` with `$alt=json;enum-encoding=int`. Google's two products number them differently:
#: `google.ai.generativelanguage.v1beta.Candidate` and `google.cloud.aiplatform.v1.Candidate`.
_SHARED = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
_GEMINI = ("LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY")
_VERTEX = (
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
)
GEMINI_NUMBERS = (*_SHARED, *_GEMINI, "UNEXPECTED_TOOL_CALL")
VERTEX_NUMBERS = (
    *(*_SHARED, *_VERTEX),
    *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "UNEXPECTED_TOOL_CALL", "NO_IMAGE"),
)

_MEDIA = ("image/", "audio/", "video/")


class GeminiResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    finish_numbers: ClassVar[Sequence[str]] = GEMINI_NUMBERS
    endings: ClassVar[finish_reasons.Endings] = finish_reasons.GEMINI

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        candidate = (response.get("candidates") or [{}])[0]
        parts = (candidate.get("content") or {}).get("parts") or []
        whole = self.endings.is_whole(self.reason(candidate))
        contents = [self.part(part, cut=not whole) for part in parts]
        told = [] if any("toolCall" in part for part in parts) else grounded(self.name, candidate)
        cited = with_grounding(paired([*told, *(c for c in contents if c)]), candidate)
        return finish_reasons.answer(
            tool_arguments_and_ids.distinct(cited, response),
            whole=whole,
            tokens=self.tokens(response.get("usageMetadata") or {}),
            finish_reason=self.finish_reason(candidate, response, contents),
            json=response,
        )

    def part(self, part: Json, *, cut: bool) -> Content | None:
        """Converts a part of the answer. Returns `None` for an empty one."""
        fields = {"thoughtSignature": part["thoughtSignature"]} if part.get("thoughtSignature") else {}
        extra = self.own(fields=fields) if fields else {}
        match part:
            case {"functionCall": dict(call)}:
                return self.tool_request(call, fields, cut=cut)
            case {"text": str(text), "thought": True}:
                return ContentThinking(text, extra=extra)
            case {"text": ""}:  # a separate signature at the end of a stream
                return ContentThinking("", extra=extra) if fields else None
            case {"text": str(text)}:
                return ContentText(text, extra=extra)
            case {"inlineData": {"mimeType": str(type), "data": str(data)}} if type.startswith(_MEDIA):
                return _media(type, data, extra)
            case _:
                return content_parts.unknown(self.name, part)

    def tool_request(self, call: Json, fields: Json, *, cut: bool) -> ContentToolRequest:
        """Returns a call. A call with streamed arguments (`partialArgs`, `willContinue`) is incomplete."""
        own = ({"fields": fields} if fields else {}) | ({"id": call["id"]} if call.get("id") else {})
        return tool_arguments_and_ids.call_of(
            call.get("id") or "",
            call.get("name") or "",
            call.get("args"),
            cut=cut or "partialArgs" in call or bool(call.get("willContinue")),
            extra=self.own(**own) if own else {},
        )

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. Tool-use prompts are added to the prompt, and thoughts to the candidates."""
        return Tokens(
            input=_sum(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount")),
            output=_sum(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
            cached=usage.get("cachedContentTokenCount"),
            reasoning=usage.get("thoughtsTokenCount"),
        )

    def finish_reason(
        self, candidate: Json, response: Json, contents: Sequence[Content | None]
    ) -> str | None:
        """Returns the neutral reason. A blocked prompt has no candidate."""
        if not candidate and (response.get("promptFeedback") or {}).get("blockReason"):
            return "content_filter"
        neutral = self.endings.neutral(self.reason(candidate))
        calls = any(isinstance(content, ContentToolRequest) for content in contents)
        return "tool_use" if calls and neutral == "success" else neutral

    def reason(self, candidate: Json) -> str | None:
        """Returns the name of the finish reason, which may be a number."""
        reason = candidate.get("finishReason")
        if isinstance(reason, int) and 0 <= reason < len(self.finish_numbers):
            return self.finish_numbers[reason]
        return str(reason) if reason else None

    def merger(self) -> GeminiMerger:
        return GeminiMerger()


def _sum(*counts: Any) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _media(type: str, data: str, extra: Json) -> Content:
    """Returns an image, audio or video in the answer."""
    kind, _, form = type.partition("/")
    if kind == "image":
        return ContentImageInline(type, data, extra=extra)
    return ContentFile(type, data, f"answer.{form.partition(';')[0]}")
