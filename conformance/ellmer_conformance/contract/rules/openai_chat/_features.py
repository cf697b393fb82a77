"""Functions that find a feature in a Chat Completions request. They return its JSON pointer, or `None`."""

from __future__ import annotations

from collections.abc import Callable

from ...exchange import Request
from ...readers.json_access import object_of
from ...readers.openai_chat import messages, parts, tools

__all__ = [
    "a_part",
    "forced",
    "functions",
    "logprobs",
    "option",
    "streamed_format",
]

Found = Callable[[Request], str | None]


def a_part(*kinds: str) -> Found:
    """Finds a part of one of the types."""

    def found(request: Request) -> str | None:
        places = (
            place
            for pointer, message in messages(request.body)
            for place, part in parts(message, pointer)
            if part.get("type") in kinds
        )
        return next(places, None)

    return found


def functions(*choices: object) -> Found:
    """Finds functions. With choices, the `tool_choice` must be one of these (`None` means that it is missing)."""

    def found(request: Request) -> str | None:
        declared = any(tool.get("type") == "function" for _, tool in tools(request.body))
        chosen = not choices or request.body.get("tool_choice") in choices
        return "/tools" if declared and chosen else None

    return found


def forced(request: Request) -> str | None:
    """Finds a `tool_choice` that forces a call."""
    choice = request.body.get("tool_choice")
    return "/tool_choice" if choice == "required" or isinstance(choice, dict) else None


def logprobs(request: Request) -> str | None:
    """Finds log probabilities."""
    return "/logprobs" if request.body.get("logprobs") else None


def option(name: str, *values: object) -> Found:
    """Finds an option. With values, its value must be one of these."""

    def found(request: Request) -> str | None:
        given = request.body.get(name)
        there = given in values if values else given is not None
        return f"/{name}" if there else None

    return found


def streamed_format(request: Request) -> str | None:
    """Finds structured output in a stream."""
    return (
        "/response_format" if request.stream and _format(request).get("type") not in {None, "text"} else None
    )


def _format(request: Request) -> dict[str, object]:
    return object_of(request.body.get("response_format"))
