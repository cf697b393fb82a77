"""Ollama /api/chat: a JSON object on each line. Calls are whole, and the last line has the counts.

The stop reason is `stop`, also with tool calls. Reasoning is a field beside the text, and is shown unless the request
has `"think": false`. https://github.com/ollama/ollama/blob/main/docs/api.md
"""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, Say, Stop, Think, Usage
from ..http.messages import Headers
from .base import WRONG_KEY, ChatApi, FailureKind, Frame, arguments, compact, log_probabilities, utf8, words

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Ollama(ChatApi):
    """Ollama's API, on port 11434 of any machine and on ollama.com."""

    wire: ClassVar[str] = "ollama"
    provider: ClassVar[str] = "ollama"
    arguments_key: ClassVar[bytes] = b'"arguments":'
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "stop",
        "tool": "stop",
        "length": "length",
        "filter": "stop",
        "sequence": "stop",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal("server busy, please try again.  maximum pending requests exceeded", 503),
        "server-error": Refusal("llama runner process has terminated: exit status 2", 500),
        "rate-limit": Refusal("you have reached your hourly usage limit", 429),  # of ollama.com; from memory
        "context-length": Refusal("prompt too long; exceeded max context length by 1119046 tokens", 400),
    }
    unknown_model: ClassVar[Refusal] = Refusal("model '{model}' not found", 404)

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        message: Json = {"role": "assistant", "content": answer.text}
        if self.shows_thoughts and answer.thinking:
            message["thinking"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = [self.call(call, index) for index, call in enumerate(answer.calls)]
        return self.line(0, message, **self.ending(answer), **self.probabilities(answer.text)).rstrip()

    def frames(self, answer: Answer) -> Iterator[Frame]:
        count = 0
        for part in answer.parts:
            if not isinstance(part, Say | Think) or (isinstance(part, Think) and not self.shows_thoughts):
                continue
            for piece in words(part):
                thinks = isinstance(part, Think)
                fields = {"content": "", "thinking": piece} if thinks else {"content": piece}
                message: Json = {"role": "assistant", **fields}
                line = self.line(count, message, done=False, **self.probabilities(piece))
                yield Frame("thinking" if thinks else "text", line)
                count += 1
        for index, call in enumerate(answer.calls):
            message = {"role": "assistant", "content": "", "tool_calls": [self.call(call, index)]}
            yield Frame("call", self.line(count + index, message, done=False))
        last = {"role": "assistant", "content": ""}
        yield Frame("end", self.line(count + len(answer.calls), last, **self.ending(answer)))

    def call(self, call: Call, index: int) -> Json:
        """Returns a whole call."""
        id = call.id or f"call_{self.ticket.token(f'call {index}', 8, _LETTERS)}"
        return {"id": id, "function": {"index": index, "name": call.name, "arguments": arguments(call)}}

    def line(self, number: int, message: Json, **rest: Any) -> bytes:
        """Returns one object of a stream, whose time is 12 ms after the previous one."""
        moment = f"{self.ticket.moment('%Y-%m-%dT%H:%M:%S')}.{12_000 * number % 1_000_000 + 52_170:06}Z"
        head = {"model": self.model, "created_at": moment, "message": message}
        return utf8(f"{compact(head | rest)}\n")

    def ending(self, answer: Answer) -> Json:
        """Returns the fields of the last line: stop reason, times in nanoseconds, counts."""
        usage: Usage = answer.usage
        read, written = 2_500_000 * usage.input, 13_000_000 * usage.output
        return {
            "done": True,
            "done_reason": self.stops[answer.reason],
            "total_duration": 60_482_042 + read + written,
            "load_duration": 58_847_000,
            "prompt_eval_count": usage.input,
            "prompt_eval_duration": read,
            "eval_count": usage.output,
            "eval_duration": written,
        }

    def probabilities(self, text: str) -> Json:
        """Returns log probabilities of a text, if they are asked for."""
        if self.asked.get("logprobs") is not True or not text:
            return {}
        return {"logprobs": log_probabilities(text, self.asked.get("top_logprobs") or 0)}

    @property
    def shows_thoughts(self) -> bool:
        """Whether reasoning is visible, which is the default."""
        return self.asked.get("think") is not False

    def headers(self, *, stream: bool) -> Headers:
        kind = "application/x-ndjson" if stream else "application/json; charset=utf-8"
        return (("content-type", kind),)

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields a line with an error, which ends the stream."""
        yield utf8(f"{compact({'error': self.failures[kind].message})}\n")

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        """Returns `None` without a key. ollama.com checks a key if there is one."""
        key = headers.get("authorization", "").partition(" ")[2]
        return Refusal("unauthorized", 401) if key == WRONG_KEY else None

    def no_json(self, detail: str) -> Refusal:
        return Refusal(detail, 400)

    def no_such(self, method: str, path: str) -> Refusal:
        return Refusal("404 page not found", 404)
