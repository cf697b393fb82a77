"""Anthropic Messages: named events, blocks by index, spaces for padding, pings, signed thinking.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from ...contract.changes.api_versions import versions
from ...contract.observed.exchange import Json
from ...contract.readers.anthropic import BINDING_BETA, drops_stale_thoughts
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Call, Run, Said, Say, Search, Stop, Think, Usage
from ..http.messages import Headers
from ..issued.signatures import (
    Conversation,
    anthropic_blocks,
    as_blocks,
    binds,
    objection,
    sealed,
    thought_shown,
)
from ._citations import page_citations, page_found
from .base import (
    WRONG_KEY,
    ChatApi,
    FailureKind,
    Frame,
    Kind,
    arguments,
    arguments_text,
    compact,
    slices,
    sse,
    utf8,
    words,
)

# ruff: noqa: ARG002 - a api does not use every argument


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SNAPSHOTS = {
    "claude-haiku-4-5": "20251001",
    "claude-opus-4-1": "20250805",
    "claude-opus-4-5": "20251101",
    "claude-sonnet-4-5": "20250929",
}
_THINKS_UNASKED = re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d)")


class Anthropic(ChatApi):
    """The host api.anthropic.com."""

    wire: ClassVar[str] = "anthropic"
    carries: ClassVar[frozenset[str]] = frozenset({"citations", "search", "code", "refusal"})
    provider: ClassVar[str] = "anthropic"
    arguments_key: ClassVar[bytes] = b'"input":'
    stops: ClassVar[Mapping[Stop, str]] = {
        "stop": "end_turn",
        "tool": "tool_use",
        "length": "max_tokens",
        "filter": "refusal",
        "pause": "pause_turn",
        "sequence": "stop_sequence",
    }
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        "overloaded": Refusal("Overloaded", 529, "overloaded_error"),
        "server-error": Refusal("Internal server error", 500, "api_error"),
        "rate-limit": Refusal(
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: "
            "00000000-0000-0000-0000-000000000000, model: claude-sonnet-5). For details, refer to: "
            "https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. "
            "Please reduce the prompt length or the maximum tokens requested, or try again later. You may also "
            "contact sales at https://www.anthropic.com/contact-sales to discuss your options for a rate limit "
            "increase.",
            429,
            "rate_limit_error",
        ),
        "context-length": Refusal(
            "prompt is too long: 200027 tokens > 200000 maximum", 400, "invalid_request_error"
        ),
    }
    retry: ClassVar[Mapping[FailureKind, Headers]] = {
        "overloaded": (("x-should-retry", "true"),),
        "server-error": (("x-should-retry", "true"),),
        "rate-limit": (("retry-after", "1"), ("x-should-retry", "true")),
    }
    unknown_model: ClassVar[Refusal] = Refusal("model: {model}", 404, "not_found_error")

    # answers ----------------------------------------------------------------------------------------------

    def body(self, answer: Answer) -> bytes:
        message = self.message(answer.usage, output_usage(answer.usage) | searches(answer))
        message["content"] = [whole for _, _, whole in self.blocks(answer)]
        return utf8(compact(message | self.stop(answer)))

    def stop(self, answer: Answer) -> Json:
        """Returns the stop reason with its details. A refusal has no content, but an explanation:
        https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
        """
        refused = {"type": "refusal", "category": None, "explanation": answer.refusal}
        return {
            "stop_reason": self.stops["filter" if answer.refusal else answer.reason],
            "stop_sequence": answer.stop_sequence or None,
            "stop_details": refused if answer.refusal else None,
        }

    @cached_property
    def conversation(self) -> Conversation:
        """The request in the form for the check of its thoughts."""
        system, tools = as_blocks(self.asked.get("system")), self.asked.get("tools")
        return Conversation(
            self.ticket.request.model,
            system,
            tools if isinstance(tools, list) else [],
            list(anthropic_blocks(self.asked)),
        )

    @property
    def betas(self) -> str:
        """The betas that the client enables."""
        return self.ticket.request.headers.get("anthropic-beta", "")

    @cached_property
    def reports_bindings(self) -> bool:
        """Whether the client asks which of its thoughts are used."""
        return BINDING_BETA in self.betas

    def message(self, usage: Usage, written: Json) -> Json:
        """Returns the message before its first content; `written` is the number of output tokens so far."""
        return {
            "model": self.model,
            "id": f"msg_01{self.ticket.token('message', 22, _BASE58)}",
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            **(
                {"input_transformations": self.conversation.transformations()}
                if self.reports_bindings
                else {}
            ),
            "usage": {
                **input_usage(usage),
                "cache_creation": {
                    "ephemeral_5m_input_tokens": usage.cache_write,
                    "ephemeral_1h_input_tokens": 0,
                },
                **written,
                "service_tier": "standard",
                "inference_geo": "not_available",
            },
        }

    def blocks(self, answer: Answer) -> Iterator[tuple[Said, Json, Json]]:
        """Yields each part with its first and its final block."""
        binding = binds(self.ticket.request.model) and any(isinstance(part, Think) for part in answer.parts)
        prefix = self.conversation.prefix if binding else None
        for number, part in enumerate(answer.parts):
            match part:
                case Say(text) if text:
                    empty: Json = {"citations": []} if part.sources else {}
                    cited = {"citations": page_citations(part)} if part.sources else {}
                    yield part, {**empty, "type": "text", "text": ""}, {**cited, "type": "text", "text": text}
                case Search():
                    yield from self.search(part, number)
                case Run():
                    yield from self.ran(part, number)
                case Think() if (shown := self.shown(part)) is not None:
                    signature = sealed(shown, prefix)
                    prefix = prefix and prefix.after(signature)
                    start: Json = {"type": "thinking", "thinking": "", "signature": ""}
                    signed = {"thinking": shown, "signature": signature}
                    yield Think(shown), start, {"type": "thinking", **signed}
                case Call():
                    id = part.id or f"toolu_01{self.ticket.token(f'call {number}', 22, _BASE58)}"
                    start = {"type": "tool_use", "id": id, "name": part.name, "input": {}}
                    start["caller"] = {"type": "direct"}
                    yield part, start, start | {"input": arguments(part)}

    def search(self, part: Search, number: int) -> Iterator[tuple[Said, Json, Json]]:
        """Yields a search that the server runs: its call and its results. After a pause, it is the results for the
        pending call.
        """
        id = f"srvtoolu_01{self.ticket.token(f'search {number}', 22, _BASE58)}"
        by = {"caller": {"type": "direct"}}
        if part.ran != "rest":
            start = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}, **by}
            yield part, start, start | {"input": {"query": part.query}}
        if part.ran != "pending":
            answered = self.pending() if part.ran == "rest" else id
            found = {"type": "web_search_tool_result", "tool_use_id": answered}
            whole = {**found, "content": [page_found(source) for source in part.found], **by}
            yield part, whole, whole

    def ran(self, part: Run, number: int) -> Iterator[tuple[Said, Json, Json]]:
        """Yields a program that the server runs, and its result:
        https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool
        """
        id = f"srvtoolu_01{self.ticket.token(f'code {number}', 22, _BASE58)}"
        start = {"type": "server_tool_use", "id": id, "name": "code_execution", "input": {}}
        start["caller"] = {"type": "direct"}
        yield part, start, start | {"input": {"code": part.code}}
        told = {"stdout": part.output, "stderr": "", "return_code": 0, "content": []}
        content = {"type": "code_execution_result", **told}
        found = {"type": "code_execution_tool_result", "tool_use_id": id, "content": content}
        yield part, found, found

    def pending(self) -> str:
        """Returns the id of the search at the end of the conversation."""
        last = self.asked["messages"][-1]["content"]
        return str(last[-1].get("id")) if isinstance(last, list) and last else ""

    def shown(self, part: Think) -> str | None:
        """Returns the visible reasoning. Newer models think by default, and send only the signature unless more is
        requested.
        """
        asked = self.asked.get("thinking")
        if asked is None:
            return "" if _THINKS_UNASKED.match(self.model) else None
        return thought_shown(part.text, asked, self.model)

    def frames(self, answer: Answer) -> Iterator[Frame]:
        start = self.message(answer.usage, {"output_tokens": min(answer.usage.output, 1)})
        yield Frame("open", event({"type": "message_start", "message": start}))
        empty = {"type": "text", "text": ""}
        blocks = list(self.blocks(answer)) or ([] if answer.refusal else [(Say(""), empty, empty)])
        for index, (part, block, whole) in enumerate(blocks):
            kind: Kind = "call" if isinstance(part, Call) else "open"
            head = {"type": "content_block_start", "index": index, "content_block": block}
            yield Frame(kind, event(head))
            if not index:
                yield Frame("open", sse('{"type": "ping"}', "ping"))
            for delta in deltas(part, whole):
                value = {"type": "content_block_delta", "index": index, "delta": delta}
                yield Frame(KINDS[delta["type"]], event(value))
            yield Frame("close", event({"type": "content_block_stop", "index": index}))
        yield from self.ending(answer)

    def ending(self, answer: Answer) -> Iterator[Frame]:
        """Yields the stop reason, the token counts of the whole answer, and the end marker."""
        stop = self.stop(answer)
        usage = input_usage(answer.usage) | output_usage(answer.usage) | searches(answer)
        yield Frame("end", event({"type": "message_delta", "delta": stop, "usage": usage}))
        yield Frame("end", event({"type": "message_stop"}))

    @property
    def model(self) -> str:
        name = self.ticket.request.model
        return f"{name}-{_SNAPSHOTS[name]}" if name in _SNAPSHOTS else name

    def headers(self, *, stream: bool) -> Headers:
        reset = self.ticket.moment("%Y-%m-%dT%H:%M:%SZ")
        limits = {"input-tokens": 4_000_000, "output-tokens": 800_000, "requests": 4000, "tokens": 4_800_000}
        states = {"limit": 0, "remaining": 1}
        return (
            ("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),
            *(("cache-control", "no-cache") for _ in range(stream)),
            *(
                (f"anthropic-ratelimit-{what}-{state}", str(count - spent))
                for what, count in limits.items()
                for state, spent in states.items()
            ),
            *((f"anthropic-ratelimit-{what}-reset", reset) for what in limits),
            ("request-id", f"req_011C{self.ticket.token('request', 20, _BASE58)}"),
            ("anthropic-organization-id", "00000000-0000-0000-0000-000000000000"),
        )

    # failures ---------------------------------------------------------------------------------------------

    def broken(self, kind: FailureKind, before: Sequence[Frame]) -> Iterator[bytes]:
        """Yields an error event, which ends the stream."""
        failure = self.failures[kind]
        error = {"details": None, "type": failure.type, "message": failure.message}
        yield event({"type": "error", "error": error}) + b"\n"

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        key = headers.get("x-api-key") or headers.get("authorization", "").partition(" ")[2]
        if not key:
            return Refusal("x-api-key header is required", 401, "authentication_error")
        if key == WRONG_KEY:
            return Refusal("invalid x-api-key", 401, "authentication_error")
        version = headers.get("anthropic-version")
        if version is None:
            return Refusal("anthropic-version: header is required", 400, "invalid_request_error")
        if version not in versions("anthropic", self.ticket.request.when):
            return Refusal(
                f'anthropic-version: "{version}" is not a valid version', 400, "invalid_request_error"
            )
        return None

    def no_json(self, detail: str) -> Refusal:
        return Refusal(f"The request body is not valid JSON: {detail}", 400, "invalid_request_error")

    def no_such(self, method: str, path: str) -> Refusal:
        return Refusal("Not Found", 404, "not_found_error")

    def forged(self, *, strict: bool) -> Refusal | None:
        dropped = drops_stale_thoughts(self.asked.get("thinking"), self.betas)
        sentence = objection(self.conversation, strict=strict, dropped=dropped, beta=self.reports_bindings)
        return Refusal(sentence, 400, "invalid_request_error") if sentence else None


# --- events and counts -----------------------------------------------------------------------------------


def searches(answer: Answer) -> Json:
    """Returns the number of searches if there were any."""
    count = sum(isinstance(part, Search) and part.ran != "pending" for part in answer.parts)
    return {"server_tool_use": {"web_search_requests": count, "web_fetch_requests": 0}} if count else {}


KINDS: Mapping[str, Kind] = {
    "citations_delta": "open",
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "arguments",
}


def deltas(part: Said, whole: Json) -> Iterator[Json]:
    """Yields the deltas of a block. Arguments begin with an empty piece, which may be the only one."""
    match part:
        case Say():
            for citation in whole.get("citations", ()):
                yield {"type": "citations_delta", "citation": citation}
            yield from ({"type": "text_delta", "text": piece} for piece in words(part))
        case Think():
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in words(part))
            yield {"type": "signature_delta", "signature": whole["signature"]}
        case Call():
            yield {"type": "input_json_delta", "partial_json": ""}
            text = arguments_text(part) if part.arguments or part.text else ""
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in slices(text))
        case Search() | Run() if whole["type"] == "server_tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in slices(compact(whole["input"])):
                yield {"type": "input_json_delta", "partial_json": piece}


def input_usage(usage: Usage) -> Json:
    """Returns the input tokens. Those that were read from a cache or written to it are counted separately."""
    return {
        "input_tokens": usage.input - usage.cached - usage.cache_write,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cached,
    }


def output_usage(usage: Usage) -> Json:
    """Returns the output tokens, including reasoning."""
    details = {"thinking_tokens": usage.reasoning}
    return {"output_tokens": usage.output, "output_tokens_details": details}


def event(value: Json) -> bytes:
    """Returns a named event, with spaces before its last brace that hide its length."""
    text = compact(value)
    return sse(f"{text[:-1]}{' ' * (len(text) * 7 % 16)}}}", value["type"])
