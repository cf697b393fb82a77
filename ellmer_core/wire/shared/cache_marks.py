"""Marks for the part of a prompt that a provider should cache, for the formats that need them.

The marks come after the system prompt and after the last message, so that each request uses the cache of the previous
one. https://docs.claude.com/en/docs/build-with-claude/prompt-caching
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ...errors import UsageError

__all__ = ["Cache", "check_cache", "pointed", "with_marks"]

Json = dict[str, Any]

#: The lifetime of a cache entry after its last use: 5 minutes or an hour.
Cache = Literal["none", "5m", "1h"]


def check_cache(cache: object) -> None:
    """Raises `UsageError` for an unsupported cache time."""
    if cache not in ("none", "5m", "1h"):
        raise UsageError(f'cache= must be "none", "5m" or "1h", not {cache!r}.')


def with_marks(body: Json, cache: Cache) -> Json:
    """Returns an Anthropic request with `cache_control` on its system prompt and on its last block."""
    if cache == "none":
        return body
    mark = {"cache_control": {"type": "ephemeral", "ttl": cache}}
    system = body.get("system")
    return {
        **body,
        **({"system": [{"type": "text", "text": system, **mark}]} if system else {}),
        "messages": _changed(body["messages"], lambda content: _marked(content, mark)),
    }


def pointed(body: Json, cache: Cache) -> Json:
    """Returns a Bedrock request with a `cachePoint` after its system prompt and after its last message."""
    if cache == "none":
        return body
    point: Json = {"cachePoint": {"type": "default", **({"ttl": cache} if cache != "5m" else {})}}
    system = body.get("system")
    return {
        **body,
        **({"system": [*system, point]} if system else {}),
        "messages": _changed(body["messages"], lambda content: [*content, point]),
    }


def _marked(content: Sequence[Json], mark: Json) -> list[Json]:
    *before, last = content
    return [*before, {**last, **mark}]  # never a thought, which takes no mark


def _changed(messages: Sequence[Json], change: Callable[[Sequence[Json]], list[Json]]) -> list[Json]:
    """Returns the messages with changed content in the last one. The originals do not change."""
    return [*messages[:-1], *({**last, "content": change(last["content"])} for last in messages[-1:])]
