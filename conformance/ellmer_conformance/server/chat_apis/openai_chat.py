"""OpenAI Chat Completions: chunks without event names, `[DONE]`, usage in a chunk without choices.

Reasoning is not shown here, only counted. https://developers.openai.com/api/reference/resources/chat
"""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, ClassVar

from ellmer_core.base.budget import remembered

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, Refuse, Say, Show, Stop, Usage
from ._citations import url_citations
from ._openai import OpenAI, fields, input_text, object_at
from .base import (
    HEX,
    NOISE,
    FailureKind,
    Frame,
    arguments_text,
    compact,
    compact_bytes,
    log_probabilities,
    pretty,
    slices,
    sse,
    words,
)

_NOISE = NOISE.encode()
_AUDIO_PIECE = 4096  # characters of base64 in a chunk
_REASONS = re.compile(r"^(o\d|gpt-[5-9])")


@remembered(1024)
def reasons(model: str) -> bool:
    """Tells whether a model has neither `logprobs` nor a fingerprint."""
    return _REASONS.match(model) is not None


class OpenAIChat(OpenAI):
    """The host api.openai.com, and servers that copy it."""

    wire: ClassVar[str] = "openai-chat"
    index: int = 0  # of the choice
    carries: ClassVar[frozenset[str]] = frozenset({"citations", "audio", "refusal", "choices"})
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "stop",
        "tool": "tool_calls",
        "length": "length",
        "filter": "content_filter",
        "sequence": "stop",
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "The model `{model}` does not exist or you do not have access to it.",
        404,
        "invalid_request_error",
        "model_not_found",
    )

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        return pretty(self.completion(answer))

    def completion(self, answer: Answer) -> Json:
        """Returns the whole reply as JSON."""
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.ticket.created,
            "model": self.model,
            "choices": [self.choice(each, index) for index, each in enumerate(self.choices(answer))],
            "usage": self.usage(answer.usage),
            "service_tier": self.tier,
            "system_fingerprint": self.fingerprint,
        }

    def choices(self, answer: Answer) -> list[Answer]:
        """Returns the choices of a script, or the requested number of the same one."""
        return [answer, *answer.others] if answer.others else [answer] * self.count

    def choice(self, answer: Answer, index: int) -> Json:
        """Returns one choice of a whole reply."""
        finish = {"finish_reason": self.stops[answer.reason]}
        return {"index": index, "message": self.message(answer), **self.probabilities(answer.text), **finish}

    def message(self, answer: Answer) -> Json:
        """Returns the assistant message."""
        if len(answer.parts) == 1 and isinstance(text := answer.parts[0], Say) and not text.sources:
            return {"role": "assistant", "content": text.text, "refusal": None, "annotations": []}
        calls = [self.whole_call(call, index) for index, call in enumerate(answer.calls)]
        said, sounds = answer.text, [self.audio(each) for each in answer.shown]
        content = None if not said and (calls or sounds or answer.refusal) else said
        return {
            "role": "assistant",
            "content": content,
            **({"tool_calls": calls} if calls else {}),
            "refusal": answer.refusal or None,
            "annotations": nested(answer),
            **({"audio": sounds[0]} if sounds else {}),
        }

    def whole_call(self, call: Call, index: int) -> Json:
        """Returns a call of a function or of a custom tool."""
        id = {"id": self.call_id(call, index)}
        if call.name in self.custom_tools:
            return id | {"type": "custom", "custom": {"name": call.name, "input": input_text(call)}}
        return id | {"type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}

    def audio(self, sound: Show) -> Json:
        """Returns a sound: https://developers.openai.com/api/docs/guides/audio"""
        fields = {"id": self.audio_id, "expires_at": self.ticket.created + 3600}
        return {**fields, "data": b64encode(sound.data).decode(), "transcript": sound.words}

    @property
    def audio_id(self) -> str:
        """The id of the sound of an answer."""
        return f"audio_{self.ticket.token('audio', 32, HEX)}"

    def frames(self, answer: Answer) -> Iterator[Frame]:
        choices = self.choices(answer)
        for index, choice in enumerate(choices):
            renderer = copy(self) if len(choices) > 1 else self
            renderer.index = index
            yield from renderer.of_one(choice)
        if self.options.get("include_usage"):
            yield Frame("end", self.usage_chunk(answer.usage))
        yield Frame("end", sse("[DONE]"))

    def of_one(self, answer: Answer) -> Iterator[Frame]:
        """Yields the chunks of one requested choice."""
        yield Frame("open", self.chunk(self.opening(answer)))
        for part in answer.parts:
            for piece in words(part) if isinstance(part, Say | Refuse) else ():
                field = "refusal" if isinstance(part, Refuse) else "content"
                yield Frame("text", self.chunk({field: piece}))
            if isinstance(part, Show):
                yield from self.audio_chunks(part)
        for index, call in enumerate(answer.calls):
            yield from self.call(call, index)
        if cited := nested(answer):
            yield Frame("open", self.chunk({"annotations": cited}))
        yield Frame("end", self.chunk({}, finish=self.stops[answer.reason]))

    def audio_chunks(self, sound: Show) -> Iterator[Frame]:
        """Yields a sound: its id, its words and its data in pieces, and when it expires."""
        for number, piece in enumerate(words(Say(sound.words))):
            first: Json = {} if number else {"id": self.audio_id}
            yield Frame("text", self.chunk({"audio": {**first, "transcript": piece}}))
        data = b64encode(sound.data).decode()
        for start in range(0, len(data), _AUDIO_PIECE):
            yield Frame("text", self.chunk({"audio": {"data": data[start : start + _AUDIO_PIECE]}}))
        yield Frame("text", self.chunk({"audio": {"expires_at": self.ticket.created + 3600}}))

    def opening(self, answer: Answer) -> Json:
        """Returns the first delta. Before calls without text, it has no content."""
        if answer.shown:
            return {"role": "assistant", "refusal": None}
        if answer.calls and not answer.text:
            return {"role": "assistant", "content": None}
        return {"role": "assistant", "content": "", "refusal": None}

    def call(self, call: Call, index: int) -> Iterator[Frame]:
        """Yields a chunk that names the call, then its arguments in pieces."""
        whole = {"index": index, **self.whole_call(call, index)}
        kind = whole["type"]
        field = "input" if kind == "custom" else "arguments"
        yield Frame("call", self.chunk({"tool_calls": [whole | {kind: {"name": call.name, field: ""}}]}))
        for piece in slices(whole[kind][field]):
            delta = {"index": index, kind: {field: piece}}
            yield Frame("arguments", self.chunk({"tool_calls": [delta]}))

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        """Returns a chunk with one choice."""
        choice = {"index": self.index, "delta": delta, **self.probabilities(delta.get("content"))}
        choice["finish_reason"] = finish
        usage = {"usage": None} if self.options.get("include_usage") else {}
        return self.event({"choices": [choice], **usage})

    def usage_chunk(self, usage: Usage) -> bytes:
        """Returns the chunk without choices."""
        return self.event({"choices": [], "usage": self.usage(usage)})

    def event(self, rest: Json) -> bytes:
        """Returns a chunk as an event, with padding that hides the length of its text."""
        chunk = self._head_text + compact_bytes(rest)[1:]
        if self.options.get("include_obfuscation", True):
            chunk = b'%b,"obfuscation":"%b"}' % (chunk[:-1], _NOISE[: 16 - len(chunk) % 16])
        return b"data: %b\n\n" % chunk

    @cached_property
    def _head_text(self) -> bytes:
        """The beginning of every chunk."""
        return compact_bytes(self.chunk_head)[:-1] + b","

    @cached_property
    def chunk_head(self) -> Json:
        """The common fields of every chunk."""
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.ticket.created,
            "model": self.model,
            "service_tier": self.tier,
            "system_fingerprint": self.fingerprint,
        }

    @property
    def count(self) -> int:
        """The requested number of choices."""
        asked = self.asked.get("n")
        return asked if isinstance(asked, int) and 1 <= asked <= 128 else 1

    @property
    def tier(self) -> str:
        """The tier of the request; `auto` becomes the default one."""
        asked = self.asked.get("service_tier") or "auto"
        return "default" if asked == "auto" else str(asked)

    def probabilities(self, text: str | None) -> Json:
        """Returns the log probabilities of a text, if they are requested. Reasoning models have no such field."""
        if not text or not self.asked.get("logprobs"):
            return self._no_probabilities
        found = log_probabilities(text, self.asked.get("top_logprobs") or 0)
        return self.unless_reasoning(logprobs={"content": found, "refusal": None})

    @cached_property
    def _no_probabilities(self) -> Json:
        return self.unless_reasoning(logprobs=None)

    @cached_property
    def options(self) -> Json:
        """The request's `stream_options`."""
        return object_at(self.asked, "stream_options")

    def usage(self, usage: Usage) -> Json:
        """Returns the token counts, which include their parts."""
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": usage.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }

    @property
    def id(self) -> str:
        """An id: `chatcmpl-` and 29 characters."""
        return f"chatcmpl-{self.ticket.token('completion', 29)}"

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the build."""
        return None if reasons(self.model) else f"fp_{self.ticket.token('build', 10, HEX)}"

    def unless_reasoning(self, **fields: Any) -> Json:
        """Returns the fields that reasoning models leave out."""
        return {} if reasons(self.model) else fields

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields a plain error object, after which the stream continues to its normal end."""
        yield sse(compact({"error": fields(self.failures[kind])}))
        if self.options.get("include_usage"):
            yield self.usage_chunk(Usage(0, 0))
        yield sse("[DONE]")


def nested(answer: Answer) -> list[Json]:
    """Returns annotations of the text, nested under their type."""
    found = [each for part in answer.parts if isinstance(part, Say) for each in url_citations(part)]
    return [{"type": kind, kind: inner} for inner in found if (kind := inner.pop("type"))]
