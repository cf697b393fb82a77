"""llama.cpp's server: it makes a request of Chat Completions from one of Responses, and refuses the items that it cannot convert."""

from __future__ import annotations

from datetime import date

from ...observed.exchange import Request
from ...readers.openai_responses import items, parts, tools, type_of
from ...rulebook import UnsupportedFeature, add_feature_rules
from .._openai.refusals import numbered_error_body, refused
from ._refusals_and_examples import ASK, OWN, TOOL, body, book, call, output

LLAMACPP = book.extend("llamacpp", only=[], without=OWN, error_body=numbered_error_body)

_SAID = {"role": "assistant", "content": [{"type": "output_text", "text": "5", "annotations": []}]}
_TEXT = {"type": "input_text", "text": "5"}


def _untyped(request: Request) -> str | None:
    """Finds a message of the assistant that does not say that it is a message."""
    for pointer, item in items(request.body):
        if item.get("role") == "assistant" and "type" not in item:
            return pointer
    return None


def _no_function(request: Request) -> str | None:
    """Finds a tool that is no function."""
    return next(
        (f"{place}/type" for place, tool in tools(request.body) if tool.get("type") != "function"), None
    )


def _other_part(request: Request) -> str | None:
    """Finds a part of a call's output that is no `input_text`."""
    for pointer, item in items(request.body):
        for place, part in parts(item, pointer) if type_of(item) == "function_call_output" else ():
            if part.get("type") != "input_text":
                return place
    return None


def _without_content(request: Request) -> str | None:
    """Finds a reasoning item whose content is no list."""
    for pointer, item in items(request.body):
        if type_of(item) == "reasoning" and not isinstance(item.get("content"), list):
            return pointer
    return None


add_feature_rules(
    LLAMACPP,
    [
        UnsupportedFeature(
            "REQ-171",
            'A message of the assistant says `"type": "message"`.',
            (),
            refused("Cannot determine type of 'item'"),
            (
                "https://github.com/ggml-org/llama.cpp/issues/26394",
                "https://github.com/ggml-org/llama.cpp/pull/28737 (messages of other roles need no type)",
                "https://github.com/tidyverse/ellmer/issues/1153",
            ),
            _untyped,
            body(ASK, {"type": "message", **_SAID}, ASK),
            body(ASK, _SAID, ASK),
            fix='write `"type": "message"` in each message.',
        ),
        UnsupportedFeature(
            "REQ-172",
            "A reasoning item has its `content`, a list.",
            (),
            refused("item['content'] is not an array"),
            "https://github.com/ggml-org/llama.cpp/pull/28737 (an item with a summary alone)",
            _without_content,
            body(
                ASK,
                {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "…"}]},
                ASK,
            ),
            body(ASK, {"type": "reasoning", "summary": [{"type": "summary_text", "text": "…"}]}, ASK),
            fix="send `content: []` beside the summary.",
        ),
        UnsupportedFeature(
            "REQ-173",
            "A tool is a function. Since May 2026, the server leaves out other tools instead.",
            (),
            refused("'type' of tool must be 'function'"),
            (
                "https://github.com/ggml-org/llama.cpp/issues/20156",
                "https://github.com/openai/codex/issues/10635",
                "https://github.com/ggml-org/llama.cpp/pull/23041 (the end of the rule)",
            ),
            _no_function,
            body(ASK, tools=[TOOL]),
            body(ASK, tools=[TOOL, {"type": "web_search"}]),
            until=date(2026, 5, 14),
            fix="leave the provider's own tools out.",
        ),
        UnsupportedFeature(
            "REQ-174",
            "The output of a call is a string, or a list of `input_text`.",
            (),
            refused("Output of tool call should be 'Input text'"),
            (
                "https://github.com/ggml-org/llama.cpp/issues/23553 (`output_text`)",
                "https://github.com/ggml-org/llama.cpp/issues/23557 (with the server's code)",
            ),
            _other_part,
            body(ASK, call("a"), output("a", [_TEXT])),
            body(ASK, call("a"), output("a", [{"type": "output_text", "text": "5"}])),
            fix="write the texts of the output as one string.",
        ),
    ],
)
