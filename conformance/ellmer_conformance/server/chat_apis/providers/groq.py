"""Groq: times beside the counts, which are sent twice, and `x_groq` in the first and the last chunk.

https://console.groq.com/docs/api-reference; order and names as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Usage
from ...http.messages import Headers
from ..base import HEX, FailureKind, Frame, compact, sse
from .base import Compatible


class Groq(Compatible):
    """The host api.groq.com."""

    provider: ClassVar[str] = "groq"
    carries: ClassVar[frozenset[str]] = frozenset()
    thoughts: ClassVar[str] = "reasoning"
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "overloaded": Refusal("Service unavailable", 503, "service_unavailable"),  # documented, not recorded
        "server-error": Refusal("Internal Server Error", 500, "internal_server_error"),
        "rate-limit": Refusal(
            "Rate limit reached for model `openai/gpt-oss-120b` in organization `org_conformance` service tier "
            "`on_demand` on tokens per minute (TPM): Limit 8000, Used 6644, Requested 2931. Please try again in "
            "11.8125s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
            429,
            "tokens",
            "rate_limit_exceeded",
        ),
    }

    # answers ----------------------------------------------------------------------------------------------

    def completion(self, answer: Answer) -> Json:
        choice: Json = {"index": 0, "message": self.message(answer), "logprobs": None}
        choice["finish_reason"] = self.stops[answer.reason]
        head = self.chunk_head
        return {
            **{key: head[key] for key in ("id", "object", "created", "model")},
            "object": "chat.completion",
            "choices": [choice],
            "usage": self.usage(answer.usage),
            "usage_breakdown": None,
            "system_fingerprint": head["system_fingerprint"],
            "x_groq": {"id": self.request_id, "seed": self.ticket.created},
            "service_tier": self.tier,
        }

    @property
    def tier(self) -> str:
        asked = self.asked.get("service_tier") or "auto"
        return "on_demand" if asked == "auto" else str(asked)

    def message(self, answer: Answer) -> Json:
        """Returns the message. Without text, it has no content, and reasoning comes before calls."""
        message = super().message(answer)
        if not answer.text:
            del message["content"]
        return {key: message[key] for key in sorted(message, key=lambda key: key == "tool_calls")}

    def call(self, call: Call, index: int) -> Iterator[Frame]:
        yield Frame("call", self.chunk({"tool_calls": [self.whole(call, index) | {"index": index}]}))

    def frames(self, answer: Answer) -> Iterator[Frame]:
        opening = self.chunk_choice({"role": "assistant", "content": None if answer.thinking else ""})
        yield Frame("open", self.event(opening | {"x_groq": {"id": self.request_id, "seed": 7}}))
        yield from list(super().frames(answer))[1:]

    def closing(self, answer: Answer) -> Iterator[Frame]:
        usage = self.usage(answer.usage)
        last = self.chunk_choice({}, self.stops[answer.reason]) | {
            "x_groq": {"id": self.request_id, "usage": usage}
        }
        asked = self.options.get("include_usage")
        yield Frame("end", self.event(last | ({"usage": usage} if asked else {})))
        if asked:
            yield Frame("end", self.event({"choices": [], "usage": usage, "service_tier": self.tier}))
        yield Frame("end", sse("[DONE]"))

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        return self.event(self.chunk_choice(delta, finish))

    def chunk_choice(self, delta: Json, finish: str | None = None) -> Json:
        """Returns the one choice of a chunk."""
        if self.thoughts in delta:
            delta = delta | {"channel": "analysis"}
        return {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    @cached_property
    def chunk_head(self) -> Json:
        return super().chunk_head | {"system_fingerprint": f"fp_{self.ticket.token('build', 10, HEX)}"}

    def usage(self, usage: Usage) -> Json:
        counts: dict[str, Any] = {
            "queue_time": 0.005,
            "prompt_tokens": usage.input,
            "prompt_time": 0.01,
            "completion_tokens": usage.output,
            "completion_time": 0.25,
            "total_tokens": usage.input + usage.output,
            "total_time": 0.26,
        }
        return counts | (
            {"completion_tokens_details": {"reasoning_tokens": usage.reasoning}} if usage.reasoning else {}
        )

    @property
    def request_id(self) -> str:
        """An id: `req_` and 26 characters."""
        return f"req_{self.ticket.token('request', 26).lower()}"

    def headers(self, *, stream: bool) -> Headers:
        return (("content-type", "text/event-stream" if stream else "application/json"),)

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:  # noqa: ARG002 - its class declares it
        """Yields an error event with a name, which ends the stream."""
        failure = self.failures[kind]
        error = {"message": failure.message, "type": failure.type, "status_code": failure.status}
        yield sse(compact({"error": error}), "error")
