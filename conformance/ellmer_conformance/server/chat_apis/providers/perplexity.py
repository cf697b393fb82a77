"""Perplexity. Its Agent API has Responses with its searches as items, and whole calls. Its former Chat Completions have CRLF,
no `[DONE]`, and in each chunk everything so far: text, counts and sources.

https://docs.perplexity.ai/api-reference/agent-post and
https://github.com/vercel/ai/tree/main/packages/perplexity/src/__fixtures__ (`agent-web-search`, recorded on 25 September 2026);
https://docs.perplexity.ai/api-reference/chat-completions-post, as recorded (66 streams, none with a `[DONE]`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer, Call, Say, Usage
from ...http.messages import Headers
from .._citations import sources_of
from .._openai import fields
from ..base import FailureKind, Frame, Kind, compact, utf8, words
from ..openai_responses import OpenAIResponses
from .base import Compatible

_KEY = Refusal("Invalid API key provided. Ensure your API key is correct and active.", 401, "invalid_api_key")


class Perplexity(Compatible):
    """Chat Completions of the host api.perplexity.ai, until 27 September 2026."""

    provider: ClassVar[str] = "perplexity"
    carries: ClassVar[frozenset[str]] = frozenset()
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "rate-limit": Refusal("Request rate limit exceeded.", 429, "requests_rate_limit_exceeded"),
        "context-length": Refusal(
            "The total length of all messages is too long.", 400, "too_many_prompt_tokens"
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "Invalid model '{model}'. Permitted models can be found in the documentation at "
        "https://docs.perplexity.ai/guides/model-cards.",
        400,
        "invalid_model",
    )

    def completion(self, answer: Answer) -> Json:
        return super().completion(answer) | sources(answer)

    def frames(self, answer: Answer) -> Iterator[Frame]:
        pieces = [piece for part in answer.parts if isinstance(part, Say) for piece in words(part)]
        rest = {"usage": self.usage(answer.usage), **sources(answer)}
        for place, piece in enumerate(pieces):
            yield Frame("text", self.cumulative(piece, "".join(pieces[: place + 1]), rest))
        yield Frame("end", self.cumulative("", "".join(pieces), rest, self.stops[answer.reason]))

    def cumulative(self, piece: str, text: str, rest: Json, finish: str | None = None) -> bytes:
        """Returns a chunk with the new piece and everything so far."""
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": piece},
            "finish_reason": finish,
            "message": {"role": "assistant", "content": text},
        }
        return self.event({"choices": [choice], **rest})

    def event(self, rest: Json) -> bytes:
        return utf8(f"data: {compact(self.chunk_head | rest)}\r\n\r\n")

    @property
    def id(self) -> str:
        return self.ticket.uuid("completion")

    def headers(self, *, stream: bool) -> Headers:
        return (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),)

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        return _KEY if super().locked(headers, query) else None

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:  # noqa: ARG002 - its class declares it
        """Yields an error in the form of its error bodies. This is UNVERIFIED: no recording shows one."""
        yield utf8(f"data: {compact({'error': fields(self.failures[kind])})}\r\n\r\n")


class PerplexityAgent(OpenAIResponses):
    """The Agent API of the host api.perplexity.ai. A search is announced as a call of a function, and done as its results.
    The events of a search and of reasoning are no items.
    """

    provider: ClassVar[str] = "perplexity"
    carries: ClassVar[frozenset[str]] = frozenset()
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Compatible.failures,
        "rate-limit": Refusal("Request rate limit exceeded.", 429, "request_rate_limit_exceeded"),
        "server-error": Refusal("Internal server error", 500, "internal_error"),
        "context-length": Perplexity.failures["context-length"],
    }
    retry: ClassVar[Mapping[FailureKind, Headers]] = {}
    unknown_model: ClassVar[Refusal] = Perplexity.unknown_model

    @property
    def model(self) -> str:
        return self.ticket.request.model

    def body(self, answer: Answer) -> bytes:
        return utf8(compact(self.response(self.status(answer), self.items(answer), answer)))

    def frames(self, answer: Answer) -> Iterator[Frame]:
        for number, (kind, name, data) in enumerate(self.steps(answer)):
            yield Frame(kind, numbered(name, number, data))

    def steps(self, answer: Answer) -> Iterator[tuple[Kind, str, Json]]:
        begun = {"response": self.response("in_progress", [])}
        yield "open", "response.created", begun
        yield "open", "response.in_progress", begun
        items = self.items(answer)
        for index, item in enumerate(items):
            place = {"output_index": index}
            if item["type"] == "message":
                yield "open", "response.output_item.added", {"item": {**item, "content": None}, **place}
                yield from self.pieces(item, place | {"content_index": 0, "item_id": item["id"]})
            elif item["type"] == "function_call":
                yield "call", "response.output_item.added", {"item": item, **place}
            else:
                yield from self.search(item, place)
            yield "close", "response.output_item.done", {"item": item, **place}
        status = self.status(answer)
        yield "end", f"response.{status}", {"response": self.response(status, items, answer)}

    def search(self, found: Json, place: Json) -> Iterator[tuple[Kind, str, Json]]:
        """Yields the events of a search up to its results."""
        call, queries = self.id("call"), found["queries"]
        asked = {"arguments": compact({"queries": queries}), "call_id": call, "id": self.id("fc")}
        item = {**asked, "name": "search_web", "status": "completed", "type": "function_call"}
        yield "open", "response.output_item.added", {"item": item, **place}
        sought = {"call_id": call, "queries": queries, "thought": "Searching the web..."}
        yield "open", "response.reasoning.search_queries", sought
        pages = {"results": found["results"], "thought": f"Found {len(found['results'])} results"}
        yield "open", "response.reasoning.search_results", {"call_id": call, **pages}

    def pieces(self, item: Json, place: Json) -> Iterator[tuple[Kind, str, Json]]:
        """Yields the events of a text."""
        text = item["content"][0]["text"]
        for piece in words(Say(text)):
            yield "text", "response.output_text.delta", {**place, "delta": piece}
        yield "close", "response.output_text.done", {**place, "text": text}

    def items(self, answer: Answer) -> list[Json]:
        """Returns what the search found, if there was one, then the texts and calls."""
        spoken = replace(answer, parts=tuple(part for part in answer.parts if isinstance(part, Say | Call)))
        offered = [tool for tool in self.asked.get("tools") or () if tool == {"type": "web_search"}]
        found = {"type": "search_results", "queries": [], "results": results(answer)}
        return [*([found] if offered and spoken.parts else []), *super().items(spoken)]

    def message(self, content: Json, number: int, answer: Answer) -> Json:  # noqa: ARG002 - it has no phase
        part = {"annotations": [], "text": content["text"], "type": "output_text"}
        head = {"content": [part], "id": self.id("msg", number), "role": "assistant"}
        return {**head, "status": "completed", "type": "message"}

    def response(self, status: str, output: Sequence[Json], answer: Answer | None = None) -> Json:
        whole = super().response(status, output, answer)
        return {
            **{name: whole[name] for name in sorted(_RESPONSE & whole.keys())},
            "usage": counts(answer.usage) if answer else None,
        }

    def id(self, prefix: str, number: int | None = None) -> str:
        return f"{prefix}_{self.ticket.uuid(f'{prefix} {number}')}"

    def headers(self, *, stream: bool) -> Headers:
        return (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),)

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        return _KEY if super().locked(headers, query) else None

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        failure = self.failures[kind]
        error = {"code": str(failure.status), "message": failure.message, "type": failure.type}
        yield numbered("response.failed", len(before), {"error": error})


_RESPONSE = {
    "background", "completed_at", "created_at", "error", "frequency_penalty", "id", "incomplete_details", "instructions",
    "max_output_tokens", "max_tool_calls", "metadata", "model", "object", "output", "parallel_tool_calls", "presence_penalty",
    "previous_response_id", "reasoning", "service_tier", "status", "store", "temperature", "text", "tool_choice", "tools",
    "top_logprobs", "top_p", "truncation", "user",
}  # fmt: skip


def numbered(name: str, number: int, fields: Json) -> bytes:
    """Returns an event, which has no line `event:`."""
    event = dict(sorted({**fields, "sequence_number": number, "type": name}.items()))
    return utf8(f"data: {compact(event)}\n\n")


def counts(usage: Usage) -> Json:
    """Returns the token counts. The cost is left out."""
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": usage.cached}
    return {
        "input_tokens": usage.input,
        "input_tokens_details": cached | {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def results(answer: Answer) -> list[Json]:
    """Returns the pages that the text cites, as those that the search found."""
    return [
        {"id": number, "snippet": source.quote, "source": "web", "title": source.title, "url": source.url}
        for number, (_, source) in enumerate(sources_of(answer), 1)
    ]


def sources(answer: Answer) -> Json:
    """Returns the pages that the text cites. The fields are in every answer."""
    found = {source.url: source.title for _, source in sources_of(answer)}
    results = [{"title": title, "url": url, "date": None} for url, title in found.items()]
    return {"citations": [*found], "search_results": results}
