"""Mistral: chunks without event names, with padding; all calls are whole in the last chunk, with the counts;
`[DONE]`.

Reasoning is part of the content, which is then a list. https://docs.mistral.ai/api/endpoint/chat
"""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Say, Stop, Think, Usage
from ..http.messages import Headers
from .base import (
    HEX,
    WRONG_KEY,
    ChatApi,
    FailureKind,
    Frame,
    arguments_text,
    compact,
    padding,
    sse,
    utf8,
    words,
)

_PAD = "abcdefghijklmnopqrstuvwxyz0123456789"
_TYPES_CALLS = re.compile(r"mistral-small")  # the others were recorded to leave the type of a call out


class Mistral(ChatApi):
    """The host api.mistral.ai."""

    wire: ClassVar[str] = "mistral"
    carries: ClassVar[frozenset[str]] = frozenset({"choices"})
    only: int | None = None  # the choice that a chunk is for, if it is not for all
    provider: ClassVar[str] = "mistral"
    arguments_key: ClassVar[bytes] = b'"arguments":'
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "stop",
        "tool": "tool_calls",
        "length": "length",
        "filter": "error",
        "sequence": "stop",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal("Service unavailable.", 503, "internal_server_error", "1000"),
        "server-error": Refusal("Service unavailable.", 500, "internal_server_error", "1000"),
        "rate-limit": Refusal("Requests rate limit exceeded", 429),
        "context-length": Refusal(
            "Prompt contains 150004 tokens and 0 draft tokens, too large for model with 131072 maximum context "
            "length",
            400,
            "invalid_request_invalid_args",
            "3051",
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal("Invalid model: {model}", 400, "invalid_model", "1500")

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        reply = {
            "id": self.id,
            "created": self.ticket.created,
            "model": self.model,
            "usage": self.usage(answer.usage),
            "object": "chat.completion",
            "choices": [self.choice(each, index) for index, each in enumerate(self.choices(answer))],
        }
        return utf8(compact(reply))

    def choices(self, answer: Answer) -> list[Answer]:
        """Returns the choices of a script, or the requested number of the same one."""
        return [answer, *answer.others] if answer.others else [answer] * self.count

    def choice(self, answer: Answer, index: int) -> Json:
        """Returns one choice of a whole reply."""
        calls, content = self.calls(answer), self.content(answer)
        message: Json = {"role": "assistant", "tool_calls": calls or None, "content": content}
        return {"index": index, "finish_reason": self.stops[answer.reason], "message": message}

    def content(self, answer: Answer) -> str | list[Json]:
        """Returns the text. If the model thinks, it is a list of a thought and the text."""
        if not (self.thinks and answer.thinking):
            return answer.text
        parts: list[Json] = [{**_thinking(answer.thinking), "closed": True}]
        return parts + ([{"type": "text", "text": answer.text}] if answer.text else [])

    def calls(self, answer: Answer) -> list[Json]:
        """Returns the whole calls, with ids of nine letters and digits."""
        return [
            {
                "id": call.id or self.ticket.token(f"call {index}", 9),
                **({"type": "function"} if _TYPES_CALLS.match(self.model) else {}),
                "function": {"name": call.name, "arguments": arguments_text(call)},
                "index": index,
            }
            for index, call in enumerate(answer.calls)
        ]

    def frames(self, answer: Answer) -> Iterator[Frame]:
        for index, choice in enumerate((answer, *answer.others)):
            renderer = copy(self)
            renderer.only = index if answer.others else None
            yield from renderer.of_one(choice)
        yield Frame("end", sse("[DONE]"))

    def of_one(self, answer: Answer) -> Iterator[Frame]:
        """Yields the chunks of one choice."""
        yield from self.pieces(answer)
        calls, stop, usage = self.calls(answer), self.stops[answer.reason], self.usage(answer.usage)
        delta = {"tool_calls": calls} if calls else {"content": ""}
        yield Frame("call" if calls else "end", self.chunk(delta, stop, usage=usage))

    def unended(self, answer: Answer) -> list[Frame]:
        """Returns the stream without its stop reason and the calls, which arrive together."""
        calls = self.calls(answer)
        last = [Frame("call", self.chunk({"tool_calls": calls}))] if calls else []
        return [*self.pieces(answer), *last]

    def pieces(self, answer: Answer) -> Iterator[Frame]:
        """Yields the reply before its calls. The first chunk is empty, and before thoughts the second one, too."""
        yield Frame("open", self.chunk({"role": "assistant", "content": ""}, padded=False))
        if self.thinks:
            yield Frame("open", self.chunk({"content": ""}))
        for part in answer.parts:
            if not isinstance(part, Say | Think) or (isinstance(part, Think) and not self.thinks):
                continue
            for piece in words(part):
                thinks = isinstance(part, Think)
                content: Any = [_thinking(piece)] if thinks else piece
                yield Frame("thinking" if thinks else "text", self.chunk({"content": content}))

    def chunk(self, delta: Json, finish: str | None = None, *, padded: bool = True, **rest: Any) -> bytes:
        """Returns a chunk with one choice; `p` has a random-looking length."""
        places = range(self.count) if self.only is None else (self.only,)
        value = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.ticket.created,
            "model": self.model,
            "choices": [{"index": index, "delta": delta, "finish_reason": finish} for index in places],
            **rest,
        }
        pad = {"p": padding(compact(value), _PAD)} if padded else {}
        return sse(compact(value | pad))

    def usage(self, usage: Usage) -> Json:
        """Returns the token counts, which include cached tokens."""
        return {
            "prompt_tokens": usage.input,
            "total_tokens": usage.input + usage.output,
            "completion_tokens": usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "service_tier": "standard",
        }

    @property
    def id(self) -> str:
        """An id of 32 hexadecimal digits."""
        return self.ticket.token("completion", 32, HEX)

    @property
    def count(self) -> int:
        """How many choices are asked for."""
        asked = self.asked.get("n")
        return asked if isinstance(asked, int) and 1 <= asked <= 16 else 1

    @property
    def thinks(self) -> bool:
        """Whether the model reasons visibly: Magistral always, others if an effort is set."""
        return self.model.startswith("magistral") or self.asked.get("reasoning_effort") not in (None, "none")

    def headers(self, *, stream: bool) -> Headers:
        return (
            ("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),
            ("mistral-correlation-id", self.ticket.uuid("correlation")),
            ("x-ratelimit-limit-req-minute", "300"),
            ("x-ratelimit-remaining-req-minute", "299"),
            ("x-ratelimit-limit-tokens-minute", "2000000"),
            ("x-ratelimit-remaining-tokens-minute", "1999960"),
        )

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields a last chunk with the finish reason `error`. (It is documented; no recording shows it.)"""
        yield self.chunk({"content": ""}, "error")
        yield sse("[DONE]")

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            return Refusal("Unauthorized", 401)
        return Refusal("Invalid API Key", 401) if key == WRONG_KEY else None

    def no_json(self, detail: str) -> Refusal:
        error = {"type": "json_invalid", "loc": ["body", 0], "msg": "JSON decode error", "input": {}}
        return Refusal(compact([error | {"ctx": {"error": detail}}]), 422)

    def no_such(self, method: str, path: str) -> Refusal:
        return Refusal("no Route matched with those values", 404)


def _thinking(text: str) -> Json:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
