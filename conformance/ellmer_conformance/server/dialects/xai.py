"""xAI: reasoning tokens that come on top of the completion's, and errors whose `error` is a sentence.

https://docs.x.ai/docs/api-reference; order and names as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ...exchange import Json
from ...script import Answer, Usage
from . import HEX, FailureKind, Frame, compact, sse
from .compatible import Compatible

__all__ = ["XAI"]


class XAI(Compatible):
    """api.x.ai."""

    vendor: ClassVar[str] = "xai"

    def message(self, answer: Answer) -> Json:
        return super().message(answer) | {"refusal": None}

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        ended = {"finish_reason": finish} if finish else {}
        return self.event({"choices": [{"index": 0, "delta": delta, **ended}]})

    def event(self, rest: Json) -> bytes:
        return super().event(rest | {"system_fingerprint": f"fp_{self.ticket.token('build', 10, HEX)}"})

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

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:  # noqa: ARG002
        """UNVERIFIED: nobody recorded one. The form is that of its error bodies."""
        failure = self.failures[kind]
        yield sse(compact({"code": failure.type, "error": failure.message}))
