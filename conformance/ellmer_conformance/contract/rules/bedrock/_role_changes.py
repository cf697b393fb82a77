"""A Bedrock request to Claude in Anthropic's terms, as Bedrock passes it on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from ...observed.exchange import Json, Request
from ...readers.bedrock import blocks, messages, specs
from ...readers.json_access import elements, object_of, text_of


@lru_cache(maxsize=4)
def translation(request: Request) -> tuple[Request, dict[str, str]]:
    """Returns the request in Anthropic's terms, and the Bedrock place of each block.

    Cache points are marks on the previous block, and do not count as blocks. A blank text with only a mark does not
    count either; a recording shows that it is accepted.
    """
    turns, places = _turns(request.body)
    tools, more_places = _tools(request.body)
    system, prompts = _prompts(request.body)
    config = object_of(request.body.get("inferenceConfig"))
    chosen = object_of(object_of(request.body.get("toolConfig")).get("toolChoice"))
    body = {
        "messages": turns,
        "tools": tools,
        "temperature": config.get("temperature"),
        **object_of(request.body.get("additionalModelRequestFields")),
        **({"system": system} if system else {}),
        "tool_choice": {"type": next(iter(chosen), "auto")},
    }
    name = request.model.rpartition("anthropic.")[2]
    inner = Request("anthropic", "anthropic", body, request.url, model=name, when=request.when)
    return inner, places | more_places | prompts


def _turns(body: Json) -> tuple[list[Json], dict[str, str]]:
    """Returns the messages, and the Bedrock place of each of their blocks."""
    turns: list[Json] = []
    places: dict[str, str] = {}
    for index, (pointer, message) in enumerate(messages(body)):
        listed = [*blocks(message, pointer)]
        content, marks = _without_cache_points(listed), _marks(listed)
        places |= {f"/messages/{index}/content/{j}": place for j, (place, _) in enumerate(content)}
        said = [_block(block) | marks.get(place, {}) for place, block in content]
        turns.append({"role": message.get("role"), "content": said})
    return turns, places


def _tools(body: Json) -> tuple[list[Json], dict[str, str]]:
    """Returns the tools, and the Bedrock place of each."""
    marks = _marks(elements(object_of(body.get("toolConfig")).get("tools"), "/toolConfig/tools"))
    offered = [*specs(body)]
    tools = [
        {"name": tool.get("name"), "input_schema": object_of(tool.get("inputSchema")).get("json")}
        | marks.get(place.removesuffix("/toolSpec"), {})
        for place, tool in offered
    ]
    return tools, {f"/tools/{i}": place for i, (place, _) in enumerate(offered)}


def _without_cache_points(content: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    marked = [place for place, (_, following) in enumerate(content[1:]) if "cachePoint" in following]
    blank = {place for place in marked if not text_of(content[place][1].get("text", "-")).strip()}
    return [each for place, each in enumerate(content) if place not in blank and "cachePoint" not in each[1]]


def _marks(listed: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Returns the marks of blocks by their places: a cache point marks what stands before it."""
    marks: dict[str, Json] = {}
    before = ""
    for place, block in listed:
        point = block.get("cachePoint")
        if point is None and text_of(block.get("text", "-")).strip():
            before = place
        elif point is not None and before:
            ttl = object_of(point).get("ttl")
            marks[before] = {"cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}}
    return marks


def _prompts(body: Json) -> tuple[list[Json], dict[str, str]]:
    """Returns the blocks of the system prompt, and their places."""
    listed = [*elements(body.get("system"), "/system")]
    marks, said = _marks(listed), [(place, block) for place, block in listed if "text" in block]
    blocks = [{"type": "text", "text": block["text"]} | marks.get(place, {}) for place, block in said]
    return blocks, {f"/system/{i}": place for i, (place, _) in enumerate(said)}


def pointer_before(pointer: str, places: dict[str, str]) -> str:
    """Converts a pointer into Anthropic's body to a pointer into Bedrock's."""
    block = re.match(r"/messages/\d+/content/\d+|/system/\d+|/tools/\d+(?!/input_schema)(?=/|$)", pointer)
    if block:
        return places.get(block[0], pointer)
    roots = {
        "/tool_choice": "/toolConfig/toolChoice",
        "/tool_choice/type": "/toolConfig/toolChoice",
        "/temperature": "/inferenceConfig/temperature",
    }
    if schema := re.fullmatch(r"(/tools/\d+)/input_schema(.*)", pointer):
        return f"{places[schema[1]]}/inputSchema/json{schema[2]}"
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
