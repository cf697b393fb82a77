"""Anthropic Messages: user and assistant messages, each a list of blocks. Results are blocks of the user.

https://docs.claude.com/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from ..observed.exchange import Item, Json, Media, Request
from .json_access import elements, inline, linked, object_of, read_once, text_of

WIRE = "anthropic"
PROVIDER = "anthropic"
paths = (r"/v1/messages/?$", r"/publishers/anthropic/models/(?!count-tokens)[^/:]+:(streamR|r)awPredict$")

#: Models that bind a thought to what stood before it. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
PRESERVES_THINKING = re.compile(r"claude-(fable|mythos|opus|sonnet|haiku)-([6-9]|\d\d|5-[1-9](?!\d))")
#: The header in which a client may say what becomes of thoughts behind another prefix.
BINDING_BETA = "thinking-binding-controls-2026-08-01"

Role = Literal["system", "user", "assistant", "tool"]
_ROLES: dict[str, Role] = {"assistant": "assistant", "system": "system"}


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the messages with their pointers."""
    return elements(body.get("messages"), "/messages")


def continues_thread(body: Json) -> bool:
    """Tells whether the messages come after those of a message thread, whose tools and system prompt hold for them, too:
    https://platform.claude.com/docs/en/build-with-claude/message-threads
    """
    return object_of(body.get("thread")).get("type") == "continue"


def tools(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the declared tools with their pointers."""
    return elements(body.get("tools"), "/tools")


@read_once
def blocks(message: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields a message's blocks with their pointers; a string counts as one text block."""
    content = message.get("content")
    if isinstance(content, str):
        yield f"{pointer}/content", {"type": "text", "text": content}
    else:
        yield from elements(content, f"{pointer}/content")


def drops_stale_thoughts(thinking: Any, betas: Any) -> bool:
    """Tells whether the API leaves out thoughts after a changed prefix instead of refusing them."""
    binding = object_of(object_of(thinking).get("block_binding"))
    return binding.get("prefix_mismatch_behavior") == "drop_block" and BINDING_BETA in (betas or "")


def kept_betas(request: Request) -> str | None:
    """Returns the betas that a request names, as one text, or `None` if a recorder may have dropped them: it kept no version of the
    API, or the address is that of a beta call of an SDK (`?beta=true`) and names none.
    """
    named = request.body.get("anthropic_beta") or request.body.get("betas") or ""
    told = f"{request.headers.get('anthropic-beta') or ''} {named}".strip()
    kept = "anthropic_version" in request.body or "anthropic-version" in request.headers
    return told if told or (kept and "beta=true" not in request.url) else None


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    found = list(_system(request.body.get("system")))
    for turn, (pointer, message) in enumerate(messages(request.body)):
        role = _ROLES.get(text_of(message.get("role")), "user")
        for place, block in blocks(message, pointer):
            found += _block(block, place, turn, role)
    return found


def _system(system: Any) -> Iterator[Item]:
    if isinstance(system, str):
        yield Item("system", "system", "/system", -1, system)
    for pointer, block in elements(system, "/system"):
        yield Item("system", "system", pointer, -1, text_of(block.get("text")))


def _block(block: Json, pointer: str, turn: int, role: Role, within: str | None = None) -> Iterator[Item]:
    kind, name = text_of(block.get("type")), text_of(block.get("name"))
    match kind:
        case "text":
            text_kind: Any = "system" if role == "system" else "text"
            yield Item(text_kind, role, pointer, turn, text_of(block.get("text")), within=within)
        case "image" | "document":
            media, pictures = _media(block), list(_pictures(block, pointer, turn, role, within))
            if media.data or media.url or not pictures:
                title = text_of(block.get("title"))
                yield Item(kind, role, pointer, turn, name=title, media=media, within=within)
            yield from pictures
        case "tool_use":
            id = text_of(block.get("id"))
            yield Item("call", role, pointer, turn, id=id, name=name, arguments=block.get("input"))
        case "tool_result":
            yield from _result(block, pointer, turn, role)
        case "thinking" | "redacted_thinking":
            yield Item("thinking", role, pointer, turn, text_of(block.get("thinking")))
        case _:
            yield Item("other", role, pointer, turn, name=kind, within=within)


def _result(block: Json, pointer: str, turn: int, role: Role) -> Iterator[Item]:
    id, content = text_of(block.get("tool_use_id")), block.get("content")
    text = (
        content
        if isinstance(content, str)
        else "".join(
            text_of(part.get("text")) for _, part in elements(content, "") if part.get("type") == "text"
        )
    )
    yield Item("result", role, pointer, turn, text, id=id, error=block.get("is_error") is True)
    for place, part in elements(content, f"{pointer}/content"):
        yield from _block(part, place, turn, role, within=id)


def _pictures(block: Json, pointer: str, turn: int, role: Role, within: str | None) -> Iterator[Item]:
    """Yields the images that a document's source has as its content."""
    for place, part in elements(object_of(block.get("source")).get("content"), f"{pointer}/source/content"):
        if part.get("type") == "image":
            yield from _block(part, place, turn, role, within)


def _media(block: Json) -> Media:
    source = object_of(block.get("source"))
    default = "image/*" if block.get("type") == "image" else "application/pdf"
    type = text_of(source.get("media_type")) or default
    title = text_of(block.get("title"))
    match source.get("type"):
        case "base64":
            return inline(type, source.get("data"), title)
        case "text":
            return Media(type, text_of(source.get("data")).encode(errors="surrogatepass"), filename=title)
        case "content":
            return Media(
                "text/plain", _plain(source.get("content")).encode(errors="surrogatepass"), filename=title
            )
        case _:
            return linked(source.get("url") or source.get("file_id"), type, title)


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(text_of(part.get("text")) for _, part in elements(content, ""))


def custom(request: Json) -> Iterator[tuple[int, str, Json]]:
    """Yields each client tool with its index and pointer. Anthropic's own tools have another type."""
    for index, (pointer, tool) in enumerate(tools(request)):
        if tool.get("type") in {None, "custom"}:
            yield index, pointer, tool


def answer_formats(request: Json) -> Iterator[tuple[str, Json]]:
    """Yields each form with its place: `output_config.format`, or `output_format`, its name in the beta."""
    found = {
        "output_config.format": object_of(request.get("output_config")).get("format"),
        "output_format": request.get("output_format"),
    }
    yield from ((place, form) for place, form in found.items() if isinstance(form, dict))
