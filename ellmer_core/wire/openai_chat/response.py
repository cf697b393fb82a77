"""Chat Completions, answers: converts the message, with the extensions of providers, to a turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ...contents.content import Content, ContentFile, ContentText, ContentThinking
from ...contents.media_type_detection import audio_type
from ...contents.tool_requests_and_results import ContentToolRequest
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..request_and_stream_merger import Json, Merger
from ..shared import content_parts, finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.citations import cited_last, openai_citations, sources
from ..shared.provider_errors import in_band_error
from ..shared.provider_run_tools import executed
from .stream import ChatMerger, kind_of

__all__ = ["OpenAIChatResponse"]

#: Fields in which providers put reasoning, the most readable first.
REASONING = ("reasoning_content", "reasoning", "reasoning_details")


class OpenAIChatResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[finish_reasons.Endings] = finish_reasons.CHAT

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        choice = (response.get("choices") or [{}])[0]
        if choice.get("error") or choice.get("finish_reason") == "error":
            raise in_band_error(choice)
        message = choice.get("message") or {}
        reason = choice.get("finish_reason")
        whole = self.endings.is_whole(reason)
        contents = [
            *self.thought(message),
            *executed(self.name, message),
            *self.text(message),
            *self.calls(message, cut=not whole),
        ]
        turn = finish_reasons.answer(
            tool_arguments_and_ids.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response),
            finish_reason=self.finish_reason(reason, message),
            json=response,
        )
        return cited_last(turn, sources(response))

    def thought(self, message: Json) -> Iterator[ContentThinking]:
        """Yields the reasoning beside the content. Some providers send it under two names; both are sent back."""
        fields = {name: message[name] for name in REASONING if message.get(name)}
        if fields:
            texts = (_reasoning_text(value) for value in fields.values())
            yield ContentThinking(next(filter(None, texts), ""), extra=self.own(fields=fields))

    def text(self, message: Json) -> Iterator[Content]:
        """Yields the content, whole or in parts, and what replaces it: a refusal, audio, images."""
        extra = self.own(fields={"annotations": message["annotations"]}) if message.get("annotations") else {}
        cited = openai_citations(message.get("annotations"))
        match message.get("content"):
            case str(text) if text:
                yield ContentText(text, extra=extra, citations=cited)
            case list(parts):
                for part in parts:
                    yield from self.part(part)
            case dict(value):  # Cloudflare parses the JSON it was asked for
                yield ContentText(json_bodies.json_text(value), extra=extra)
        if message.get("refusal"):
            yield ContentText(message["refusal"], extra=self.own(fields={"refusal": message["refusal"]}))
        audio = message.get("audio") or {}
        if transcript := audio.get("transcript"):
            yield ContentText(transcript)
        if isinstance(sound := audio.get("data"), str) and sound:
            yield ContentFile(audio_type(sound), sound, "answer")
        for image in message.get("images") or ():
            yield from self.part(image)

    def part(self, part: Json) -> Iterator[Content]:
        """Converts a part of a content list."""
        match part:
            case {"type": "text", "text": str(text)}:
                yield ContentText(text)
            case {"type": "thinking", "thinking": thinking}:
                yield ContentThinking(_reasoning_text(thinking), extra=self.own(part=part))
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield content_parts.image(url)
            case _:
                yield content_parts.unknown(self.name, part)

    def calls(self, message: Json, *, cut: bool) -> Iterator[ContentToolRequest]:
        """Yields the tool calls. The calls of a truncated answer may be truncated."""
        calls = message.get("tool_calls") or []
        calls = [calls] if isinstance(calls, dict) else calls
        if (message.get("function_call") or {}).get("name"):
            calls = [*calls, {"function": message["function_call"]}]
        for call in calls:
            yield self.tool_request(call, cut=cut)

    def tool_request(self, call: Json, *, cut: bool) -> ContentToolRequest:
        """Converts a tool call. The input of a custom tool is text, which none of our tools accepts."""
        kind = kind_of(call)
        body = call.get(kind) or {}
        rest = json_bodies.without(call, "id", "index", "type", kind)
        own = ({"type": kind} if kind == "custom" else {}) | ({"fields": rest} if rest else {})
        return tool_arguments_and_ids.call_of(
            call.get("id") or "",
            body.get("name") or "",
            body.get("arguments", body.get("input")),
            cut=cut,
            extra=self.own(**own) if own else {},
        )

    def tokens(self, response: Json) -> Tokens:
        """Returns the usage, also in the places of Groq and Moonshot. If the total counts reasoning in addition to
        the completion (xAI), so do we.
        """
        beside = [response, response.get("x_groq") or {}, *(response.get("choices") or ())]
        usage: Json = next((place["usage"] for place in beside if place.get("usage")), {})
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        ins, outs = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
        reasoning = outs.get("reasoning_tokens", usage.get("reasoning_tokens"))
        if (
            reasoning
            and completion is not None
            and usage.get("total_tokens") == (prompt or 0) + completion + reasoning
        ):
            completion += reasoning
        return Tokens(
            input=prompt,
            output=completion,
            cached=ins.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
            cache_write=ins.get("cache_write_tokens"),
            reasoning=reasoning,
        )

    def finish_reason(self, reason: str | None, message: Json) -> str | None:
        """Returns the neutral reason. A stop with calls is a stop for tool calls, and one with a refusal is a
        filter's.
        """
        neutral = self.endings.neutral(reason)
        if neutral != "success":
            return neutral
        if message.get("refusal"):
            return "content_filter"
        called = message.get("tool_calls") or (message.get("function_call") or {}).get("name")
        return "tool_use" if called else neutral

    def merger(self) -> Merger:
        return ChatMerger()


def _reasoning_text(value: Any) -> str:
    """Returns the text of reasoning: a string, or a list of chunks with `text` or `summary`."""
    if isinstance(value, list):
        return "".join(_reasoning_text(chunk) for chunk in value)
    if isinstance(value, Mapping):
        return _reasoning_text(value.get("text") or value.get("summary") or "")
    return value if isinstance(value, str) else ""
