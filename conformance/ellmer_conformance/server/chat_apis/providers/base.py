"""Chat Completions of servers other than OpenAI: the same chunks without OpenAI's own fields, with visible reasoning."""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Self

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Said, Say, Think, Usage
from ...http.messages import Headers
from ..base import WRONG_KEY, FailureKind, Frame, arguments_text, compact, sse, utf8, words
from ..openai_chat import OpenAIChat


class Compatible(OpenAIChat):
    """A server with the format and without extensions. It sends whole calls, as most of them do."""

    provider: ClassVar[str] = "openai_compatible"
    carries: ClassVar[frozenset[str]] = frozenset({"choices"})
    thoughts: ClassVar[str] = "reasoning_content"  # the field in which it shows reasoning
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal("The server is overloaded. Please try again later.", 503, "server_error"),
        "server-error": Refusal("Internal server error", 500, "server_error"),
        "rate-limit": Refusal("Rate limit reached. Please slow down.", 429, "rate_limit_error"),
        "context-length": OpenAIChat.failures["context-length"],
    }
    retry: ClassVar[Mapping[FailureKind, Headers]] = {}

    @property
    def model(self) -> str:
        return self.ticket.request.model

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        return utf8(compact(self.completion(answer)))

    def completion(self, answer: Answer) -> Json:
        head = self.chunk_head | {"object": "chat.completion"}
        choices = [self.choice(each, index) for index, each in enumerate(self.choices(answer))]
        return head | {"choices": choices, "usage": self.usage(answer.usage)}

    def message(self, answer: Answer) -> Json:
        message: Json = {"role": "assistant", "content": answer.text}
        if answer.thinking:
            message[self.thoughts] = answer.thinking
        calls = [self.whole(call, index) for index, call in enumerate(answer.calls)]
        return message | ({"tool_calls": calls} if calls else {})

    def whole(self, call: Call, index: int) -> Json:
        """Returns a call with all its arguments."""
        function = {"name": call.name, "arguments": arguments_text(call)}
        return {"id": self.call_id(call, index), "type": "function", "function": function}

    def frames(self, answer: Answer) -> Iterator[Frame]:
        choices = [(self.at(index), each) for index, each in enumerate(self.choices(answer))]
        for renderer, choice in choices:
            yield from renderer.of_one(choice)
        for renderer, choice in choices[1:]:
            yield Frame("end", renderer.chunk({}, finish=self.stops[choice.reason]))
        yield from self.closing(answer)

    def at(self, index: int) -> Self:
        """Returns the writer of the choice at a place."""
        other = copy(self)
        other.index = index
        return other

    def of_one(self, answer: Answer) -> Iterator[Frame]:
        yield Frame("open", self.chunk(self.opening(answer)))
        for part in answer.parts:
            for piece in words(part) if isinstance(part, Say | Think) else ():
                yield self.piece(part, piece)
        for index, call in enumerate(answer.calls):
            yield from self.call(call, index)

    def opening(self, answer: Answer) -> Json:
        return {"role": "assistant", "content": ""}

    def piece(self, part: Said, piece: str) -> Frame:
        """Returns a piece of text or reasoning."""
        if isinstance(part, Think):
            return Frame("thinking", self.chunk({self.thoughts: piece}))
        return Frame("text", self.chunk({"content": piece}))

    def call(self, call: Call, index: int) -> Iterator[Frame]:
        yield Frame("call", self.chunk({"tool_calls": [{"index": index, **self.whole(call, index)}]}))

    def closing(self, answer: Answer) -> Iterator[Frame]:
        """Yields the stop reason, the usage and the end marker."""
        yield Frame("end", self.chunk({}, finish=self.stops[answer.reason]))
        if self.options.get("include_usage"):
            yield Frame("end", self.usage_chunk(answer.usage))
        yield Frame("end", sse("[DONE]"))

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": self.index, "delta": delta, **self.probabilities(delta.get("content"))}
        return self.event({"choices": [choice | {"finish_reason": finish}]})

    def unless_reasoning(self, **fields: Any) -> Json:
        """Returns only what is asked for: a field without a value is left out."""
        return {name: each for name, each in fields.items() if each is not None}

    def event(self, rest: Json) -> bytes:
        return sse(compact(self.chunk_head | rest))

    @cached_property
    def chunk_head(self) -> Json:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.ticket.created,
            "model": self.model,
        }

    def usage(self, usage: Usage) -> Json:
        counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
        counts |= {"total_tokens": usage.input + usage.output}
        details: Json = {"prompt_tokens_details": {"cached_tokens": usage.cached}} if usage.cached else {}
        if usage.reasoning:
            details["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
        return counts | details

    def headers(self, *, stream: bool) -> Headers:
        return (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),)

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        """Returns the error for a missing key. Keys may be in headers of many names (`x-portkey-api-key`), and the
        user's own servers need none.
        """
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if key != WRONG_KEY and (scheme.lower() == "bearer" or "authorization" not in headers):
            return None
        return Refusal("Invalid API key", 401, "authentication_error", "invalid_api_key")
