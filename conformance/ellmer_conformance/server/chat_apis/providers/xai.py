"""xAI: reasoning tokens in addition to the completion's, and another order of fields.

https://docs.x.ai/docs/api-reference; order and names as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Usage
from ..base import FailureKind, Frame
from .base import Compatible


class XAI(Compatible):
    """The host api.x.ai."""

    provider: ClassVar[str] = "xai"
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "overloaded": Refusal(
            "Service temporarily unavailable. The model is at capacity and currently cannot serve this request. "
            "Please try again later.",
            503,
            "server_error",
            code="The service is currently unavailable",
        ),
        "context-length": Refusal(
            "This model's maximum prompt length is 131072 but the request contains 625077 tokens."
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal("Model not found: {model}", code="invalid-argument")

    def completion(self, answer: Answer) -> Json:
        return super().completion(answer) | {"system_fingerprint": self.fingerprint}

    def message(self, answer: Answer) -> Json:
        return super().message(answer) | {"refusal": None}

    def whole(self, call: Call, index: int) -> Json:
        whole = super().whole(call, index)
        return {key: whole[key] for key in ("id", "function", "type")}

    def opening(self, answer: Answer) -> Json:  # noqa: ARG002 - always the same
        return {"content": "", "role": "assistant"}

    def call(self, call: Call, index: int) -> Iterator[Frame]:
        whole = self.whole(call, index)
        ordered = {"id": whole["id"], "function": whole["function"], "index": index, "type": whole["type"]}
        yield Frame("call", self.chunk({"tool_calls": [ordered]}))

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        ended = {"finish_reason": finish} if finish else {}
        measured = self.probabilities(delta.get("content"))
        return self.event({"choices": [{"index": self.index, "delta": delta, **measured, **ended}]})

    def event(self, rest: Json) -> bytes:
        return super().event(rest | {"system_fingerprint": self.fingerprint})

    def usage(self, usage: Usage) -> Json:
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output - usage.reasoning,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {
                "text_tokens": usage.input,
                "audio_tokens": 0,
                "image_tokens": 0,
                "cached_tokens": usage.cached,
            },
            "completion_tokens_details": {
                "reasoning_tokens": usage.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
            "num_sources_used": 0,
        }

    @property
    def id(self) -> str:
        return self.ticket.uuid("completion")

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        """Returns the error for a wrong key, which is a bad request."""
        if super().locked(headers, query) is None:
            return None
        return Refusal(
            "Incorrect API key provided. You can obtain an API key from https://console.x.ai.",
            code="invalid-argument",
        )
