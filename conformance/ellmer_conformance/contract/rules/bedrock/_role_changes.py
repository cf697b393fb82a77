"""A Bedrock request to Claude in Anthropic's terms, as Bedrock passes it on."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from ...exchange import Json, Request
from ...readers.bedrock import blocks, messages, specs
from ...readers.json_access import object_of, text_of


@lru_cache(maxsize=4)
def translation(request: Request) -> tuple[Request, dict[str, str]]:
    """Returns the request in Anthropic's terms, and the Bedrock place of each block.

    Cache points are marks on the previous block, and do not count as blocks. A blank text with only a mark does not
    count either; a recording shows that it is accepted.
    """
    places: dict[str, str] = {}
    turns: list[Json] = []
    for index, (pointer, message) in enumerate(messages(request.body)):
        content = _said([*blocks(message, pointer)])
        places |= {f"/messages/{index}/content/{j}": place for j, (place, _) in enumerate(content)}
        turns.append({"role": message.get("role"), "content": [_block(block) for _, block in content]})
    config, more = (
        object_of(request.body.get("inferenceConfig")),
        request.body.get("additionalModelRequestFields"),
    )
    tools = [
        {"name": tool.get("name"), "input_schema": object_of(tool.get("inputSchema")).get("json")}
        for _, tool in specs(request.body)
    ]
    body = {"messages": turns, "tools": tools, "temperature": config.get("temperature"), **object_of(more)}
    chosen = object_of(object_of(request.body.get("toolConfig")).get("toolChoice"))
    body["tool_choice"] = {"type": next(iter(chosen), "auto")}
    name = request.model.rpartition("anthropic.")[2]
    return Request("anthropic", "anthropic", body, request.url, model=name, when=request.when), places


def _said(content: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    marked = [place for place, (_, following) in enumerate(content[1:]) if "cachePoint" in following]
    blank = {place for place in marked if not text_of(content[place][1].get("text", "-")).strip()}
    return [each for place, each in enumerate(content) if place not in blank and "cachePoint" not in each[1]]


def led_back(pointer: str, places: dict[str, str]) -> str:
    """Converts a pointer into Anthropic's body to a pointer into Bedrock's."""
    block = re.match(r"/messages/\d+/content/\d+", pointer)
    if block:
        return places.get(block[0], pointer)
    roots = {
        "/tool_choice": "/toolConfig/toolChoice",
        "/tool_choice/type": "/toolConfig/toolChoice",
        "/temperature": "/inferenceConfig/temperature",
    }
    if schema := re.fullmatch(r"/tools/(\d+)/input_schema(.*)", pointer):
        return f"/toolConfig/tools/{schema[1]}/toolSpec/inputSchema/json{schema[2]}"
    return roots.get(pointer, pointer.replace("/thinking", "/additionalModelRequestFields/thinking"))


def _block(block: Json) -> Json:  # noqa: PLR0911 - one line a kind
    match block:
        case {"text": text}:
            return {"type": "text", "text": text}
        case {"image": {"source": {"bytes": data}, "format": format}}:
            return {
                "type": "image",
                "source": {"type": "base64", "media_type": f"image/{format}", "data": data},
            }
        case {"toolUse": dict(use)}:
            served = use.get("type") == "server_tool_use"
            kind = "server_tool_use" if served else "tool_use"
            return {
                "type": kind,
                "id": use.get("toolUseId"),
                "name": use.get("name"),
                "input": use.get("input"),
            }
        case {"toolResult": dict(result)}:
            content = [_block(part) for _, part in blocks(result, "")]
            failed = {"is_error": True} if result.get("status") == "error" else {}
            return {
                "type": "tool_result",
                "tool_use_id": result.get("toolUseId"),
                "content": content,
                **failed,
            }
        case {"json": value}:
            return {"type": "text", "text": json.dumps(value)}
        case {"reasoningContent": {"redactedContent": data}}:
            return {"type": "redacted_thinking", "data": data}
        case {"reasoningContent": {"reasoningText": dict(thought)}}:
            signature = text_of(thought.get("signature"))
            return {"type": "thinking", "thinking": thought.get("text"), "signature": signature}
        case _:
            return {"type": next(iter(block), "")}
