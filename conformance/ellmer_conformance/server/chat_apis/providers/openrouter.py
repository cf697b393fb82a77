"""OpenRouter: comments as keep-alives, `provider`, a role in every delta, and the last chunk twice.

https://openrouter.ai/docs/api/reference/streaming; order and names as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Said, Stop, Think, Usage
from ..base import FailureKind, Frame, sse
from .base import Compatible

_WAITING = b": OPENROUTER PROCESSING\n\n"
_NATIVE: Mapping[Stop, str] = {"stop": "completed", "tool": "completed", "length": "max_output_tokens"}


class OpenRouter(Compatible):
    """The host openrouter.ai."""

    provider: ClassVar[str] = "openrouter"
    carries: ClassVar[frozenset[str]] = frozenset()
    thoughts: ClassVar[str] = "reasoning"
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "overloaded": Refusal("Provider returned error", 503),
        "server-error": Refusal("Internal Server Error", 500),
        "rate-limit": Refusal(
            "Rate limit exceeded: limit_rpm/conformance limited to 1 requests per minute. Please retry shortly.",
            429,
        ),
        "context-length": Refusal(
            "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens "
            "(2500021 of text input). Please reduce the length of either one, or use the context-compression plugin to "
            "compress your prompt automatically.",
            400,
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal("{model} is not a valid model ID")

    # answers ----------------------------------------------------------------------------------------------

    def completion(self, answer: Answer) -> Json:
        choice: Json = {"index": 0, "logprobs": None, **self.finish(answer), "message": self.message(answer)}
        choice |= self.probabilities(answer.text)
        return {
            **self.chunk_head,
            "object": "chat.completion",
            "system_fingerprint": None,
            "service_tier": self.tier,
            "choices": [choice],
            "usage": self.usage(answer.usage),
        }

    def message(self, answer: Answer) -> Json:
        plain = super().message(answer)
        message = {"role": "assistant", "content": plain["content"] or None, "refusal": None}
        message |= {"reasoning": answer.thinking or None}
        if answer.calls:
            message["tool_calls"] = [
                {"type": "function", "index": index, **_but_type(call)}
                for index, call in enumerate(plain["tool_calls"])
            ]
        return message | ({"reasoning_details": [_detail(answer.thinking)]} if answer.thinking else {})

    def frames(self, answer: Answer) -> Iterator[Frame]:
        yield Frame("open", _WAITING)
        yield from super().frames(answer)

    def piece(self, part: Said, piece: str) -> Frame:
        if isinstance(part, Think):
            shown = {"content": "", "reasoning": piece, "reasoning_details": [_detail(piece)]}
            return Frame("thinking", self.chunk(shown))
        return Frame("text", self.chunk({"content": piece}))

    def call(self, call: Call, index: int) -> Iterator[Frame]:
        """Yields the name and then the arguments of a call."""
        whole = self.whole(call, index)
        arguments = whole["function"]["arguments"]
        named = {"index": index, **whole, "function": {"name": call.name, "arguments": ""}}
        yield Frame("call", self.chunk({"content": None, "tool_calls": [named]}))
        rest = {"index": index, "function": {"arguments": arguments}}
        yield Frame("arguments", self.chunk({"content": None, "tool_calls": [rest]}))

    def closing(self, answer: Answer) -> Iterator[Frame]:
        delta = {"content": "", "role": "assistant"}
        last = {"choices": [{"index": 0, "delta": delta, **self.finish(answer)}]}
        yield Frame("end", self.event(last))
        yield Frame("end", self.event(last | {"usage": self.usage(answer.usage)}))
        yield Frame("end", sse("[DONE]"))

    def finish(self, answer: Answer) -> Json:
        """Returns the finish reason, under its own name and under that of the model's maker."""
        stop = answer.reason
        return {
            "finish_reason": self.stops[stop],
            "native_finish_reason": _NATIVE.get(stop, self.stops[stop]),
        }

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        first = {"content": delta["content"]} if "content" in delta else {}
        choice = {"index": 0, "delta": first | {"role": "assistant"} | delta, "finish_reason": finish}
        measured = self.probabilities(delta.get("content"))
        return self.event({"choices": [choice | measured | {"native_finish_reason": finish}]})

    @property
    def count(self) -> int:
        """The number of answers: one, because OpenRouter ignores `n`."""
        return 1

    @cached_property
    def chunk_head(self) -> Json:
        return super().chunk_head | {"provider": "OpenAI"}

    @property
    def id(self) -> str:
        return f"gen-{self.ticket.created}-{self.ticket.token('completion', 20)}"

    def usage(self, usage: Usage) -> Json:
        cost = {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 0.0}
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "cost": 0.0,
            "is_byok": False,
            "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
            "cost_details": cost | {"upstream_inference_completions_cost": 0.0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "image_tokens": 0},
        }

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        """Returns the error for a client without a key, which is treated as a browser."""
        if "authorization" not in headers:
            return Refusal("Missing Authentication header", 401)
        return Refusal("No cookie auth credentials found", 401) if super().locked(headers, query) else None

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:  # noqa: ARG002 - its class declares it
        """Yields a chunk without choices, and the end marker."""
        failure = self.failures[kind]
        metadata = {"error_type": "provider_unavailable"}
        error = {"code": failure.status, "message": "Provider returned error", "metadata": metadata}
        yield self.event({"choices": [], "error": error})


def _detail(text: str) -> Json:
    return {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}


def _but_type(call: Json) -> dict[str, Any]:
    return {key: value for key, value in call.items() if key != "type"}
