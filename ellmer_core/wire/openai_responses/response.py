"""Responses, answers: converts the items to a turn, with the data for sending them back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from ...contents.content import Content, ContentImageInline, ContentText, ContentThinking, ContentUnknown
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import content_parts, finish_reasons, json_bodies, tool_arguments_and_ids
from ..shared.citations import openai_citations
from ..shared.provider_errors import in_band_error
from .stream import ResponsesMerger

__all__ = ["ResponsesResponse"]


#: The `status` of a complete output item. With any other status, it is incomplete.
FINISHED = (None, "completed")


class ResponsesResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[finish_reasons.Endings] = finish_reasons.RESPONSES

    @json_bodies.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        output = response.get("output") or []
        whole = self.endings.is_whole(response.get("status"))
        contents = [
            content
            for item, after in pairwise([*output, {}])
            for content in self.output(item, after, cut=not whole or item.get("status") not in FINISHED)
        ]
        return finish_reasons.answer(
            tool_arguments_and_ids.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(response),
            json=response,
        )

    def output(self, item: Json, after: Json, *, cut: bool) -> Iterator[Content]:
        """Yields the contents of one output item; `after` is the next item."""
        match item:
            case {"type": "message"}:
                yield from self.parts(item)
            case {"type": "reasoning"}:
                yield ContentThinking(_thought(item), extra=self.own(item=item, before=after.get("id")))
            case {"type": "function_call", "call_id": id, "name": name}:
                own = json_bodies.without(item, "call_id", "name", "arguments")
                yield tool_arguments_and_ids.call_of(
                    id, name, item.get("arguments"), cut=cut, extra=self.own(item=own)
                )
            case {"type": "image_generation_call", "result": str(data)} if data:
                type = f"image/{item.get('output_format', 'png')}"
                yield ContentImageInline(type, data, extra=self.own(item=json_bodies.without(item, "result")))
            case _:
                yield content_parts.unknown(self.name, item)

    def parts(self, message: Json) -> Iterator[Content]:
        """Yields the parts of a message, with the data for sending it back: the item's id, phase, status."""
        own = json_bodies.without(message, "content", "role", "type")
        for part in message.get("content") or ():
            match part:
                case {"type": "output_text", "text": str(text)}:
                    rest = json_bodies.without(part, "text", "type", "logprobs")
                    cited = openai_citations(part.get("annotations"))
                    yield ContentText(text, extra=self.own(item=own, part=rest), citations=cited)
                case {"type": "refusal", "refusal": str(text)}:
                    yield ContentText(text, extra=self.own(item=own, part={"refusal": text}))
                case _:
                    yield ContentUnknown(
                        self.name, {"type": "message", "role": "assistant", "content": [part]}
                    )

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. Cached tokens are part of the input, and reasoning is part of the output."""
        ins, outs = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
        return Tokens(
            input=usage.get("input_tokens"),
            output=usage.get("output_tokens"),
            cached=ins.get("cached_tokens"),
            cache_write=ins.get("cache_write_tokens"),
            reasoning=outs.get("reasoning_tokens"),
        )

    def finish_reason(self, response: Json) -> str | None:
        """Returns the reason. The format has only a status, so the completed items decide."""
        status = response.get("status")
        if self.endings.is_whole(status):
            return self._completed(response.get("output") or [])
        details = response.get("incomplete_details") or {}
        return self.endings.neutral(details.get("reason") or status)

    def _completed(self, output: list[Json]) -> str:
        kinds = {item.get("type") for item in output}
        kinds |= {part.get("type") for item in output for part in item.get("content") or ()}
        if "function_call" in kinds:
            return "tool_use"
        return "content_filter" if "refusal" in kinds else "success"

    def merger(self) -> ResponsesMerger:
        return ResponsesMerger()


def _thought(item: Json) -> str:
    """Returns the summary's paragraphs, or else the reasoning itself, which open models give."""
    parts = item.get("summary") or item.get("content") or []
    return "\n\n".join(part.get("text") or "" for part in parts)
