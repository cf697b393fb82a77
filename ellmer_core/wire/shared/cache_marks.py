"""Marks that say up to where a provider should remember a prompt, for the formats that want to be told.

The marks stand behind the system prompt and behind the last message, so that each request finds what the one before it
left. https://docs.claude.com/en/docs/build-with-claude/prompt-caching
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ...errors import UsageError

__all__ = ["Cache", "check_cache", "pointed", "with_marks"]

Json = dict[str, Any]

#: How long the provider keeps it after the last use: 5 minutes or an hour.
Cache = Literal["none", "5m", "1h"]


def check_cache(cache: object) -> None:
    """Raises `UsageError` for a time that there is not."""
    if cache not in ("none", "5m", "1h"):
        raise UsageError(f'cache= must be "none", "5m" or "1h", not {cache!r}.')


def with_marks(body: Json, cache: Cache) -> Json:
    """Returns a request of Anthropic's with `cache_control` on its system prompt and on its last block."""
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
    """Returns a request of Bedrock's with a `cachePoint` behind its system prompt and behind its last
    message.
    """
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
    """Returns the messages with the content of the last one changed; what was there before stays as it is."""
    return [*messages[:-1], *({**last, "content": change(last["content"])} for last in messages[-1:])]
