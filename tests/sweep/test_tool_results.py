"""Whatever a tool returns, the next request is legal: every public content, whole, damaged and nested, from every kind of tool,
at every provider.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

import ellmer_core as ec
from ellmer_conformance.contract.readers import request as read_request
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules import book
from ellmer_core import AssistantTurn, ContentToolRequest, ContentToolResult, UserTurn
from ellmer_core.contents.content import AnyContent
from ellmer_core.tool_execution import ainvoke, invoke

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.grid import Cell, Provider, places
from sweep.judge import _chat
from sweep.values import CONTENTS, PNG

WHOLE: dict[str, Any] = {
    "text": ec.ContentText("a"),
    "empty text": ec.ContentText(""),
    "citation": ec.ContentCitation("https://example.com", "A page"),
    "thinking": ec.ContentThinking("hm"),
    "call": ContentToolRequest("call_x", "other", {"a": 1}),
    "result": ContentToolResult("5"),
    "provider call": ec.ContentProviderCall("gemini", {"x": 1}, name="web_search", value="found"),
    "provider result": ec.ContentProviderResult("gemini", {"x": 1}, name="web_search", value="found"),
    "unknown": ec.ContentUnknown("anthropic", {"type": "new_block", "x": 1}),
    "json": ec.ContentJson({"a": [1, None]}),
    "markdown": ec.ContentFile("text/markdown", "SGk=", "notes.md", "Hi"),
    "sound": ec.ContentFile(
        "audio/wav", "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=", "a.wav"
    ),
    "video": ec.ContentFile("video/mp4", "AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDE=", "a.mp4"),
    "sheet": ec.ContentFile("application/vnd.ms-excel", "SGk=", "a.xls"),
    **{name: CONTENTS[name] for name in ("image", "gif", "svg", "bmp", "remote image", "pdf", "uploaded")},
    "nothing": None,
    "no words": "",
    "lone surrogate": "a\ud800b",
    "control characters": "a\x00\x1b[31mb",
    "not a number": float("nan"),
}
DAMAGED: dict[str, Any] = {
    "no base64": ec.ContentImageInline("image/png", "no base64!"),
    "no bytes": ec.ContentImageInline("image/png", ""),
    "another type": ec.ContentImageInline("image/jpeg", PNG),
    "no image": ec.ContentImageInline("text/html", "SGk="),
    "a pdf that is an image": ec.ContentPDF("application/pdf", PNG),
    "an empty pdf": ec.ContentPDF("application/pdf", ""),
    "an empty sound": ec.ContentFile("audio/wav", "", "a.wav"),
    "no address": ec.ContentImageRemote("file:///etc/passwd"),
    "an empty address": ec.ContentImageRemote(""),
    "an object": object(),
    "a set of objects": {object()},
    "bytes": b"\x00\xff",
}
VALUES = WHOLE | DAMAGED
NESTED = {
    "alone": lambda value: value,
    "in a list": lambda value: [value, "b"],
    "in dictionaries of lists": lambda value: [{"title": "a", "docs": [{"doc": value}]}],
    "in its own result": lambda value: ContentToolResult(value, extra={"a": 1}),
}


def kinds(value: Any) -> dict[str, Any]:
    """Returns a tool of every kind that returns the value."""

    def plain() -> Any:
        return value

    def generator() -> Any:
        yield "working"
        return value

    async def later() -> Any:
        return value

    async def stream() -> Any:
        yield "working"
        yield value

    class Callable:
        def __call__(self) -> Any:
            return value

    return {"plain": plain, "generator": generator, "later": later, "stream": stream, "callable": Callable()}


def run(function: Any, place: int = 0) -> ContentToolResult:
    made = ec.tool(function, name="tool", description="Returns it.")
    request = ContentToolRequest(f"call_{place}", "tool", {}, tool=made)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return asyncio.run(ainvoke(request))
    return invoke(request)


def test_every_class_of_content_is_among_the_values():
    assert {type(value) for value in VALUES.values()} >= set(get_args(AnyContent))


@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_every_kind_of_tool_has_the_same_result():
    for name, value in VALUES.items():
        results = {kind: run(function) for kind, function in kinds(value).items()}
        first = results["plain"]
        assert {
            kind for kind, r in results.items() if (r.value, str(r.error)) != (first.value, str(first.error))
        } <= (
            {"generator"} if value is None else set()  # its last value is then the result
        ), name
        assert str(first)  # it can be printed


def rounds() -> list[ec.Turn]:
    """Returns a conversation in which a tool has returned every value in every place."""
    turns: list[ec.Turn] = []
    for place, (value, nested) in enumerate((v, n) for v in VALUES.values() for n in NESTED.values()):
        result = run(kinds(nested(value))["plain"], place)
        assert result.request
        turns += [
            UserTurn(["Go on."]),
            AssistantTurn([result.request]),
            UserTurn([result]),
            AssistantTurn(["Yes."]),
        ]
    return turns


#: One provider of each wire format, and those whose media or messages differ from it.
OWN = {"openai_completions", "openai_compatible", "openrouter", "deepseek", "perplexity", "google_vertex"}
PROVIDERS = [*{p.key[0]: p for p in reversed(places())}.values(), *(p for p in places() if p.name in OWN)]


@pytest.fixture(scope="module")
def history() -> list[ec.Turn]:
    return rounds()


def judged(provider: Provider, chat: ec.Chat) -> str | None:
    """Returns why the next request would be refused, or `None`."""
    settings = chat._plan(stream=False, tool_mode="sequential")
    loop = chat._converse(chat._contents(["And now?"]), settings)
    effect = next(loop)
    while type(effect).__name__ != "Send":
        effect = loop.send(0.0 if type(effect).__name__ == "Clock" else None)
    loop.close()
    wire, name = provider.key
    request = read_request("POST", effect.request.url, effect.request.headers, effect.body, name)
    broken = objection(book(wire, name).judge(request))
    return broken and f"{broken.rule.id} {broken.pointer}: {broken.message}"


@pytest.mark.parametrize(
    "provider", {p.name: p for p in PROVIDERS}.values(), ids=lambda provider: provider.name
)
@pytest.mark.parametrize("tool_media", ["pointer", "native"])
def test_the_next_request_is_legal(history, provider, tool_media):
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    if tool_media == "native":
        if not provider.wire.supports.native_tool_media:
            pytest.skip("this API takes no media inside of a result")
        chat.wire = replace(chat.wire, tool_media="native")
    with warnings.catch_warnings(action="ignore"):
        chat.set_turns(history)
        assert judged(provider, chat) is None
        assert str(chat)
