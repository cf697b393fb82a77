"""Cerebras: reasoning under its own name, all calls in one chunk, and times beside the counts.

https://inference-docs.cerebras.ai/api-reference/chat-completions; order and names as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Say, Think
from ..base import HEX, WRONG_KEY, FailureKind, Frame, sse, words
from .base import Compatible


class Cerebras(Compatible):
    """The host api.cerebras.ai."""

    provider: ClassVar[str] = "cerebras"
    carries: ClassVar[frozenset[str]] = frozenset()
    thoughts: ClassVar[str] = "reasoning"
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "rate-limit": Refusal(
            "Requests per second limit exceeded - too many requests sent.",
            429,
            "too_many_requests_error",
            "request_quota_exceeded",
            "quota",
        ),
    }

    # answers ----------------------------------------------------------------------------------------------

    def completion(self, answer: Answer) -> Json:
        choice = {"finish_reason": self.stops[answer.reason], "index": 0, "message": self.message(answer)}
        choice |= self.probabilities(answer.text)
        head = self.chunk_head | {"object": "chat.completion"}
        return {"choices": [choice], **head, **self.counts(answer)}

    def message(self, answer: Answer) -> Json:
        """Returns the message. Without text, it has no content."""
        message = super().message(answer)
        return message if answer.text else {key: each for key, each in message.items() if key != "content"}

    def frames(self, answer: Answer) -> Iterator[Frame]:
        yield Frame("open", self.chunk({"role": "assistant"}))
        for part in answer.parts:
            for piece in words(part) if isinstance(part, Say | Think) else ():
                yield self.piece(part, piece)
        if answer.calls:
            calls = [self.whole(call, index) | {"index": index} for index, call in enumerate(answer.calls)]
            yield Frame("call", self.chunk({"tool_calls": calls}))
        last = {"choices": [{"delta": {}, "finish_reason": self.stops[answer.reason], "index": 0}]}
        yield Frame("end", self.event(last | self.counts(answer)))
        yield Frame("end", sse("[DONE]"))

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        ended = {"finish_reason": finish} if finish else {}
        measured = self.probabilities(delta.get("content"))
        return self.event({"choices": [{"delta": delta, **ended, "index": 0, **measured}]})

    def counts(self, answer: Answer) -> Json:
        """Returns the usage in tokens and seconds. A stream has it, too, even if the request does not ask for it."""
        times = {"queue_time": 0.000173, "prompt_time": 0.003156, "completion_time": 0.031477}
        return {
            "usage": self.usage(answer.usage),
            "time_info": {**times, "total_time": 0.038217, "created": self.ticket.created},
        }

    @cached_property
    def chunk_head(self) -> Json:
        return super().chunk_head | {"system_fingerprint": f"fp_{self.ticket.token('build', 20, HEX)}"}

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.ticket.uuid('completion')}"

    def call_id(self, call: Call, index: int) -> str:
        return call.id or self.ticket.token(f"call {index}", 9, HEX)

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:  # noqa: ARG002 - all keys are in one header
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and key and key != WRONG_KEY:
            return None
        return Refusal("Wrong API Key", 401, "invalid_request_error", "wrong_api_key", "api_key")
