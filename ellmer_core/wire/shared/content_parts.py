"""Contents and messages for all wire formats: what is sent of a content, roles that alternate, marks for a cache."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import eq, itemgetter
from typing import Literal

from ...contents import content as ours
from ...errors import ContentError, UsageError
from ..interfaces import Json
from .tool_calls import provider_content

# --- contents --------------------------------------------------------------------------------------------


def known(content: ours.Content, wire: str) -> ours.AnyContent:
    """Returns the content if its class or a base class is one that wire formats know."""
    if (known_content := ours.any_content(content)) is None:
        raise refused(content, wire)
    return known_content


def refused(content: ours.Content, wire: str, why: str = "") -> ContentError:
    """Returns the error for a content that a wire format does not support."""
    because = f": {why}" if why else ""
    return ContentError(f"{type(content).__name__} cannot be sent over {wire!r} here{because}")


def sendable(content: ours.Content, wire: str) -> bool:
    """Tells whether a content is sent. Empty texts and blocks of another wire format are not."""
    if isinstance(content, ours.ContentUnknown):
        return content.wire == wire
    return not isinstance(content, ours.ContentText) or bool(content.text)


def unknown(wire: str, block: object) -> ours.ContentUnknown:
    """Returns an unknown block unchanged. It may be a call of the provider's own tool."""
    if not isinstance(block, Mapping):
        raise TypeError(f"a block is an object, not {type(block).__name__}")
    return provider_content(wire, block)


def answered(result: ours.ContentToolResult) -> ours.ContentToolRequest:
    """Returns the request that a result answers."""
    if result.request is None:
        raise ContentError("This ContentToolResult has no request. Set `request` to its ContentToolRequest")
    return result.request


def placeholder(content: ours.Content) -> str:
    """Returns the text for media in an assistant's message if the format supports only text. The model made the media
    itself.
    """
    match content:
        case ours.ContentPDF():
            return "[PDF document]"
        case ours.ContentImageInline():
            return "[inline image]"
        case ours.ContentImageRemote():
            return "[remote image]"
        case ours.ContentFile(type=type):
            return f"[{type} file]"
    return "[file]"


def image(url: str) -> ours.ContentImageInline | ours.ContentImageRemote:
    """Returns an image from its URL, `data:` or not."""
    found = re.fullmatch(r"data:([^;,]*)[^,]*;base64,(.*)", url, re.DOTALL)
    return ours.ContentImageInline(found[1], found[2]) if found else ours.ContentImageRemote(url)


def data_url(content: ours.ContentImageInline | ours.ContentPDF) -> str:
    """Returns the bytes as a `data:` URL."""
    return f"data:{content.type};base64,{content.data}"


# --- messages of one role --------------------------------------------------------------------------------


def alternate(messages: Sequence[Json]) -> bool:
    """Tells whether no two neighbours have the same role, as in nearly every conversation. It runs no Python code for
    each message, because a history may be long.
    """
    roles = list(map(itemgetter("role"), messages))
    return not any(map(eq, roles, roles[1:]))


def joined(messages: Sequence[Json], field: str, roles: Collection[str]) -> list[Json]:
    """Returns the messages, where neighbours of one of these roles are one message with the `field` of both."""
    if alternate(messages):
        return list(messages)
    joined_messages: list[Json] = []
    for message in messages:
        before = joined_messages[-1] if joined_messages else None
        if before and before["role"] == message["role"] and message["role"] in roles:
            joined_messages[-1] = {**message, field: [*before[field], *message[field]]}
        else:
            joined_messages.append(message)
    return joined_messages


# --- marks for a cache -----------------------------------------------------------------------------------


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
