"""Cohere v2: named events, of different kinds for each part's start, pieces and end; `[DONE]`.

Reasoning models put their thoughts into the content. Other models put them into a plan beside the content, before
they call. https://docs.cohere.com/docs/streaming
"""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, Say, Stop, Think, Usage
from ..http.messages import Headers
from ._citations import document_citations
from .base import (
    HEX,
    WRONG_KEY,
    ChatApi,
    FailureKind,
    Frame,
    arguments_text,
    compact,
    of_tokens,
    slices,
    sse,
    utf8,
    words,
)

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Cohere(ChatApi):
    """The host api.cohere.com."""

    wire: ClassVar[str] = "cohere"
    carries: ClassVar[frozenset[str]] = frozenset({"citations"})
    provider: ClassVar[str] = "cohere"
    arguments_key: ClassVar[bytes] = b'"arguments":'
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "COMPLETE",
        "tool": "TOOL_CALL",
        "length": "MAX_TOKENS",
        "filter": "ERROR",
        "sequence": "STOP_SEQUENCE",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {  # the first three from memory
        "overloaded": Refusal("the service is unavailable, please try again later", 503),
        "server-error": Refusal("internal server error, this has been reported to our developers", 500),
        "rate-limit": Refusal(
            "You are past the per minute request limit, please wait and try again later.", 429
        ),
        "context-length": Refusal(
            "too many tokens: size limit exceeded by 25836 tokens. Try using shorter or fewer inputs. The limit for "
            "this model is 288000 tokens.",
            400,
            "TOO_MANY_TOKENS",
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "model '{model}' not found, make sure the correct model ID was used and that you have access to the model.",
        404,
    )

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        reply = {
            "id": self.ticket.uuid("reply"),
            "message": self.message(answer),
            "finish_reason": self.stops[answer.reason],
            "usage": self.usage(answer.usage),
        }
        texts = [part.text for part in answer.parts if isinstance(part, Say)]
        measured = {"logprobs": [each for text in texts for each in of_tokens(text)]} if self.measured else {}
        return utf8(compact(reply | measured))

    def message(self, answer: Answer) -> Json:
        """Returns the message with its content, plan and calls. Without calls, it always has content."""
        calls = [self.call(call, index) for index, call in enumerate(answer.calls)]
        content: list[Json] = []
        if self.thinks and answer.thinking:
            content.append({"type": "thinking", "thinking": answer.thinking})
        if answer.text:
            content.append({"type": "text", "text": answer.text})
        message: Json = {"role": "assistant"}
        if content or not calls:
            message["content"] = content
        if calls and answer.thinking and not self.thinks:
            message["tool_plan"] = answer.thinking
        cited = document_citations(answer, self.last_called)
        return message | ({"tool_calls": calls} if calls else {}) | ({"citations": cited} if cited else {})

    @property
    def last_called(self) -> str:
        """The id of the last call with a result in the request."""
        results = [object_of(message).get("tool_call_id") for message in items_of(self.asked.get("messages"))]
        return next((id for id in reversed(results) if isinstance(id, str)), "")

    def call(self, call: Call, index: int, arguments: str | None = None) -> Json:
        """Returns a call with its own arguments, or with the given ones."""
        id = call.id or f"{call.name}_{self.ticket.token(f'call {index}', 12, _LETTERS)}"
        text = arguments_text(call) if arguments is None else arguments
        return {"id": id, "type": "function", "function": {"name": call.name, "arguments": text}}

    def frames(self, answer: Answer) -> Iterator[Frame]:
        empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        start = {"id": self.ticket.uuid("reply"), "type": "message-start", "delta": {"message": empty}}
        yield Frame("open", sse(compact(start), "message-start"))
        index = 0
        for part in answer.parts:
            if isinstance(part, Think) and not self.thinks:
                yield from plan(part) if answer.calls else ()
            elif isinstance(part, Say | Think) and part.text:
                yield from self.content(part, index)
                index += 1
        for number, call in enumerate(answer.calls):
            yield from self.called(call, number)
        ending = {"finish_reason": self.stops[answer.reason], "usage": self.usage(answer.usage)}
        yield Frame("end", event("message-end", delta=ending))
        yield Frame("end", sse("[DONE]"))

    def called(self, call: Call, index: int) -> Iterator[Frame]:
        """Yields the events of a call: its name, its arguments in pieces, its end."""
        start = {"message": {"tool_calls": self.call(call, index, "")}}
        yield Frame("call", event("tool-call-start", index=index, delta=start))
        for piece in slices(arguments_text(call)):
            more = {"message": {"tool_calls": {"function": {"arguments": piece}}}}
            yield Frame("arguments", event("tool-call-delta", index=index, delta=more))
        yield Frame("close", event("tool-call-end", index=index))

    def content(self, part: Say | Think, index: int) -> Iterator[Frame]:
        """Yields a part of the content: its start, its pieces, its end."""
        kind: Literal["thinking", "text"] = "thinking" if isinstance(part, Think) else "text"
        start = {"message": {"content": {"type": kind, kind: ""}}}
        yield Frame("open", event("content-start", index=index, delta=start))
        for piece in words(part):
            delta = {"delta": {"message": {"content": {kind: piece}}}}
            measured = {"logprobs": of_tokens(piece)[0]} if self.measured else {}
            yield Frame(kind, event("content-delta", index=index, **delta, **measured))
        for number, cited in enumerate(document_citations(Answer((part,)), self.last_called)):
            began = {"message": {"citations": cited}}
            yield Frame("text", event("citation-start", index=number, delta=began))
            yield Frame("text", event("citation-end", index=number))
        yield Frame("close", event("content-end", index=index))

    @property
    def measured(self) -> bool:
        """Whether the request asks for log probabilities."""
        return self.asked.get("logprobs") is True

    def usage(self, usage: Usage) -> Json:
        """Returns the token counts. Billed tokens exclude the prompt's template, which has no size here."""
        counts = {"input_tokens": usage.input, "output_tokens": usage.output}
        return {"billed_units": counts, "tokens": counts, "cached_tokens": usage.cached}

    @property
    def thinks(self) -> bool:
        """Whether the model reasons visibly."""
        match self.asked.get("thinking"):
            case {"type": "disabled"}:
                return False
            case {"type": "enabled"}:
                return True
        return "reasoning" in self.model

    def headers(self, *, stream: bool) -> Headers:
        return (
            ("content-type", "text/event-stream" if stream else "application/json"),
            ("x-debug-trace-id", self.ticket.token("trace", 32, HEX)),
            ("x-endpoint-monthly-call-limit", "1000"),
            ("x-trial-endpoint-call-limit", "20"),
            ("x-trial-endpoint-call-remaining", "19"),
        )

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields the end of the message, with an error as its reason. (No recording shows one.)"""
        ending = {"finish_reason": "ERROR", "error": self.failures[kind].message}
        yield event("message-end", delta=ending)
        yield sse("[DONE]")

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            return Refusal("no api key supplied", 401)
        if key == WRONG_KEY:
            page = "https://dashboard.cohere.com/api-keys"
            stars = "*" * len(key)
            return Refusal(f"Incorrect API key provided: {stars}. You can find your API key at {page}.", 401)
        return None

    def no_json(self, detail: str) -> Refusal:
        return Refusal(f"invalid request: the body is not JSON: {detail}", 400)

    def no_such(self, method: str, path: str) -> Refusal:
        return Refusal(f"invalid path: {path}", 404)


def plan(part: Think) -> Iterator[Frame]:
    """Yields the model's plan before its calls."""
    for piece in words(part):
        yield Frame("thinking", event("tool-plan-delta", delta={"message": {"tool_plan": piece}}))


def event(kind: str, **rest: Any) -> bytes:
    """Returns a named event, whose data has the name, too."""
    return sse(compact({"type": kind, **rest}), kind)
