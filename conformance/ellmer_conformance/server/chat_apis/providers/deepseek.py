"""DeepSeek: Chat Completions with visible reasoning, usage in the last chunk, and its own error texts."""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Say, Think, Usage
from ...http.messages import Headers
from .._openai import fields
from ..base import HEX, WRONG_KEY, FailureKind, Frame, compact, log_probabilities, sse, utf8, words
from ..openai_chat import OpenAIChat


class DeepSeek(OpenAIChat):
    """The host api.deepseek.com."""

    provider: ClassVar[str] = "deepseek"
    carries: ClassVar[frozenset[str]] = frozenset()
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal(
            "Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.",
            503,
            "service_unavailable_error",
        ),
        "server-error": Refusal("Internal Server Error", 500, "server_error"),
        "rate-limit": Refusal("Rate limit reached", 429, "rate_limit_error"),
        "context-length": Refusal(
            "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 "
            "in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
            400,
            "invalid_request_error",
            "invalid_request_error",
        ),
    }
    retry: ClassVar[Mapping[FailureKind, Headers]] = {}
    unknown_model: ClassVar[Refusal] = Refusal(
        "The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed {model}.",
        400,
        "invalid_request_error",
        "invalid_request_error",
    )

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        completion = self.completion(answer)
        completion["choices"][0] |= self.probabilities(answer.text, answer.thinking)
        return utf8(compact(without(completion, "service_tier")))

    def message(self, answer: Answer) -> Json:
        message = without(super().message(answer), "refusal", "annotations")
        calls = message.pop("tool_calls", [])
        message["content"] = message["content"] or ""
        message |= {"reasoning_content": answer.thinking} if answer.thinking else {}
        indexed = [{"index": index, **call} for index, call in enumerate(calls)]
        return message | ({"tool_calls": indexed} if indexed else {})

    def frames(self, answer: Answer) -> Iterator[Frame]:
        yield Frame("open", self.chunk(self.opening(answer)))
        for part in answer.parts:
            if isinstance(part, Say | Think):
                yield from (self.piece(part, piece) for piece in words(part))
        for index, call in enumerate(answer.calls):
            yield from self.call(call, index)
        last = {"index": 0, "delta": {"content": ""}, "logprobs": None}
        last["finish_reason"] = self.stops[answer.reason]
        usage = self.usage(answer.usage)  # always here, whatever `include_usage` says
        yield Frame("end", self.event({"choices": [last], "usage": usage}))
        yield Frame("end", sse("[DONE]"))

    def piece(self, part: Say | Think, piece: str) -> Frame:
        """Returns a piece of text or reasoning. Reasoning has empty text."""
        if isinstance(part, Think):
            return Frame("thinking", self.chunk({"content": None, "reasoning_content": piece}))
        return Frame("text", self.chunk({"content": piece}))

    def opening(self, answer: Answer) -> Json:
        if answer.thinking:
            return {"role": "assistant", "content": None, "reasoning_content": ""}
        return {"role": "assistant", "content": ""}

    def event(self, rest: Json) -> bytes:
        return sse(compact(without(self.chunk_head, "service_tier") | rest))

    def usage(self, usage: Usage) -> Json:
        reasoning = {"completion_tokens_details": {"reasoning_tokens": usage.reasoning}}
        return {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            **(reasoning if usage.reasoning else {}),
            "prompt_cache_hit_tokens": usage.cached,
            "prompt_cache_miss_tokens": usage.input - usage.cached,
        }

    @property
    def id(self) -> str:
        return self.ticket.uuid("completion")

    def call_id(self, call: Call, index: int) -> str:
        return call.id or f"call_{index:02}_{self.ticket.token(f'call {index}', 24)}"

    @property
    def model(self) -> str:
        return self.ticket.request.model

    @property
    def fingerprint(self) -> str | None:
        return f"fp_{self.ticket.token('build', 10, HEX)}_prod0820_fp8_kvcache_20260402"

    @property
    def count(self) -> int:
        """One, whatever `n` says."""
        return 1

    def probabilities(self, text: str | None, thinking: str | None = None) -> Json:
        """Returns the log probabilities of the reasoning beside those of the text."""
        texts = {"content": text, "reasoning_content": thinking}
        if not self.asked.get("logprobs") or not any(texts.values()):
            return {"logprobs": None}
        most = self.asked.get("top_logprobs") or 0
        return {"logprobs": {name: log_probabilities(each, most) for name, each in texts.items() if each}}

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        measured = self.probabilities(delta.get("content"), delta.get("reasoning_content"))
        usage = {"usage": None} if self.options.get("include_usage") else {}
        return self.event(
            {"choices": [{"index": 0, "delta": delta, **measured, "finish_reason": finish}], **usage}
        )

    def headers(self, *, stream: bool) -> Headers:
        kind = "text/event-stream; charset=utf-8" if stream else "application/json"
        return (("content-type", kind), ("x-ds-trace-id", self.ticket.token("trace", 32, HEX)))

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        yield sse(compact({"error": fields(self.failures[kind])}))

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and key and key != WRONG_KEY:
            return None
        sentence = f"Authentication Fails, Your api key: ****{key[-4:]} is invalid"
        return Refusal(sentence, 401, "authentication_error", "invalid_request_error")


def without(value: Json, *keys: str) -> Json:
    """Returns the object without some of its keys."""
    return {key: each for key, each in value.items() if key not in keys}
