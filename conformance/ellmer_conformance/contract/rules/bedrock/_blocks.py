"""The parts of a request that several rules check, with their pointers."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Json
from ...readers.bedrock import blocks, messages
from ...readers.read_cache import read_once

__all__ = ["FORMATS", "media_of", "specs"]

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
