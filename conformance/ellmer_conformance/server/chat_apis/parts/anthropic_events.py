"""The events of Anthropic's stream: the deltas of a block, and the token counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....contract.exchange import Json
from ....scenarios.script import Answer, Call, Said, Say, Search, Think, Usage
from ..base import Kind, arguments_text, compact, slices, sse, words

__all__ = ["KINDS", "deltas", "event", "input_usage", "output_usage", "searches"]


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
        case Search() if whole["type"] == "server_tool_use":
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in slices(compact(whole["input"])):
                yield {"type": "input_json_delta", "partial_json": piece}


def input_usage(usage: Usage) -> Json:
    """Returns the input tokens. Cached tokens are counted separately."""
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
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
