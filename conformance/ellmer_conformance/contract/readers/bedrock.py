"""AWS Bedrock Converse: user and assistant messages, each a list of blocks that are named by their only key.

The model is in the URL; `/converse-stream` asks for a stream.
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Media, Request
from .json_access import elements, inline, linked, object_of, read_once, text_of

WIRE = "bedrock"
PROVIDER = "bedrock"
paths = (r"/model/[^/]+/converse(-stream)?$",)

_TYPES = {
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the messages with their pointers."""
    return elements(body.get("messages"), "/messages")


def blocks(message: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields a message's blocks with their pointers."""
    return elements(message.get("content"), f"{pointer}/content")


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    found = [
        Item("system", "system", pointer, -1, text_of(block["text"]))
        for pointer, block in elements(request.body.get("system"), "/system")
        if "text" in block
    ]
    for turn, (pointer, message) in enumerate(messages(request.body)):
        role = "assistant" if message.get("role") == "assistant" else "user"
        for place, block in blocks(message, pointer):
            found += _block(block, place, turn, role)
    return found


def _block(block: Json, pointer: str, turn: int, role: Any, within: str | None = None) -> Iterator[Item]:
    match block:
        case {"text": str(text)} | {"guardContent": {"text": {"text": str(text)}}}:
            yield Item("text", role, pointer, turn, text, within=within)
        case {"citationsContent": {"content": list(parts)}}:
            yield Item("text", role, pointer, turn, _text(parts), within=within)
        case {"json": value}:
            yield Item("text", role, pointer, turn, json.dumps(value, ensure_ascii=False), within=within)
        case {"image": dict(image)}:
            media = _media(image, f"image/{text_of(image.get('format')) or '*'}")
            yield Item("image", role, pointer, turn, media=media, within=within)
        case {"document": dict(document)}:
            kind = text_of(document.get("format"))
            media = _media(document, _TYPES.get(kind, f"application/{kind or '*'}"))
            yield Item("document", role, pointer, turn, name=media.filename, media=media, within=within)
        case {"toolUse": dict(use)} if (
            use.get("type") != "server_tool_use"
        ):  # a tool that the service runs is not a call
            id, name = text_of(use.get("toolUseId")), text_of(use.get("name"))
            yield Item("call", role, pointer, turn, id=id, name=name, arguments=use.get("input"))
        case {"toolResult": dict(result)} if "type" not in result:
            yield from _result(result, pointer, turn, role)
        case {"reasoningContent": reasoning}:
            thought = object_of(object_of(reasoning).get("reasoningText")).get("text")
            yield Item("thinking", role, pointer, turn, text_of(thought))
        case {"cachePoint": _}:
            return  # a mark, and nothing that is said
        case _:
            yield Item("other", role, pointer, turn, name=next(iter(block), ""), within=within)


def _result(result: Json, pointer: str, turn: int, role: Any) -> Iterator[Item]:
    id, content = text_of(result.get("toolUseId")), result.get("content")
    error = result.get("status") == "error"
    yield Item("result", role, pointer, turn, _text(content), id=id, error=error)
    for place, block in elements(content, f"{pointer}/toolResult/content"):
        yield from _block(block, place, turn, role, within=id)


def _media(block: Json, type: str) -> Media:
    name, source = text_of(block.get("name")), object_of(block.get("source"))
    match source:
        case {"text": str(text)}:
            return Media(type, text.encode(errors="surrogatepass"), filename=name)
        case {"content": list(parts)}:
            return Media(type, _text(parts).encode(errors="surrogatepass"), filename=name)
        case {"s3Location": dict(location)}:
            return linked(location.get("uri"), type, name)
        case _:
            return inline(type, source.get("bytes"), name)


def _text(blocks: Any) -> str:
    """Returns all text of a list of blocks, with JSON as text."""
    return "".join(
        text_of(block.get("text"))
        or (json.dumps(block["json"], ensure_ascii=False) if "json" in block else "")
        for _, block in elements(blocks, "")
    )


FORMATS = {
    "image": ("png", "jpeg", "gif", "webp"),
    "document": ("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"),
    "video": ("mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"),
}


@read_once
def media_of(request: Json) -> Iterator[tuple[str, str, Json]]:
    """Yields every image, document and video, also those inside results: pointer of its block, kind, value."""
    for pointer, message in messages(request):
        for place, block in blocks(message, pointer):
            inner = block.get("toolResult")
            found = (
                blocks(inner, f"{place}/toolResult") if isinstance(inner, dict) else iter([(place, block)])
            )
            for where, each in found:
                for kind in FORMATS:
                    if isinstance(each.get(kind), dict):
                        yield where, kind, each[kind]


@read_once
def specs(request: Json) -> Iterator[tuple[str, Json]]:
    """Yields the tools that the client describes, with their pointers."""
    config = request.get("toolConfig")
    tools = config.get("tools") if isinstance(config, dict) else None
    for i, tool in enumerate(tools if isinstance(tools, list) else []):
        if isinstance(tool, dict) and isinstance(tool.get("toolSpec"), dict):
            yield f"/toolConfig/tools/{i}/toolSpec", tool["toolSpec"]
