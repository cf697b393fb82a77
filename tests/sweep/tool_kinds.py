"""Every kind of tool, each of which returns the same value."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import ellmer_core as ec
from ellmer_core.schemas.type_functions import arguments_of

from .every_content import BROKEN, NESTED, NO_CONTENTS, PYTHON, WHOLE

__all__ = ["ASYNC", "VALUES", "answered", "kinds", "renamed", "swept"]

VALUES: Mapping[str, Any] = {**WHOLE, **BROKEN, **NO_CONTENTS, **PYTHON}

ASYNC = {"later", "stream", "async callable", "asking later"}  # a blocking call cannot run them


class Tools:
    """What holds the value, and gives it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def method(self) -> Any:
        return self.value

    def __call__(self) -> Any:
        return self.value


class Later(Tools):
    async def __call__(self) -> Any:
        return self.value


def kinds(value: Any) -> Mapping[str, ec.ToolDef]:
    """Returns a tool of every kind that returns the value. Their names are all `tool`."""

    def plain() -> Any:
        return value

    def generator() -> Generator[Any, None, Any]:
        yield "working"
        return value

    async def later() -> Any:
        return value

    async def stream() -> AsyncGenerator[Any, None]:
        yield "working"
        yield value

    def context(context: ec.ToolContext[Any]) -> Any:
        context.progress("working")
        return value

    def asking(context: ec.ToolContext[Any]) -> Any:
        context.ask("Sure?", {"type": "object", "properties": {"why": {"type": "string"}}})
        return value

    async def asking_later(context: ec.ToolContext[Any]) -> Any:
        await context.ask_async("Sure?")
        return value

    functions = {
        "plain": plain, "generator": generator, "later": later, "stream": stream, "context": context, "asking": asking,
        "asking later": asking_later, "callable": Tools(value), "async callable": Later(value),
        "method": Tools(value).method, "partial": partial(Tools.method, Tools(value)),
    }  # fmt: skip
    made = {
        kind: ec.tool(function, name="tool", description="Returns it.")
        for kind, function in functions.items()
    }
    dynamic = ec.ToolDef(lambda **_named: value, "tool", "Returns it.", arguments_of({"type": "object"}))
    timed = replace(made["plain"], timeout=600)
    return {**made, "dynamic": dynamic, "timed": timed, "final": replace(made["plain"], final=True)}


def answered(request: ec.ContentToolRequest) -> dict[str, Any]:
    """Answers every question of a tool, and permits every call."""
    question = isinstance(request, ec.ContentToolQuestion)
    return {"approved": True, **({"arguments": {}} if question else {})}


def swept(shift: int) -> list[Mapping[str, ec.ToolDef]]:
    """Returns the tools of every kind for each value, each value in one of the places."""
    places = list(NESTED.values())
    return [kinds(places[(n + shift) % len(places)](value)) for n, value in enumerate(VALUES.values())]


def renamed(tools: Sequence[ec.ToolDef], name: str) -> list[ec.ToolDef]:
    return [replace(tool, name=f"{name}_{n}") for n, tool in enumerate(tools)]
