"""OpenAI Responses: `input`, a string or a list of items. Calls and their outputs are separate items.

https://developers.openai.com/api/reference/resources/responses/methods/create
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Media, Request
from .json_access import elements, inline, kind_of, linked, object_of, parsed, text_of

WIRE = "openai-responses"
PROVIDER = "openai"
paths = (r"/responses/?$",)

_ROLES = {"system": "system", "developer": "system", "assistant": "assistant"}


def items(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the input items with their pointers, or nothing if the input is a string."""
    return elements(body.get("input"), "/input")


def parts(item: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields the parts of a message's content, or of an output, with their pointers, or nothing if it is a string."""
    key = "output" if is_output(item) else "content"
    return elements(item.get(key), f"{pointer}/{key}")


def tools(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the declared tools with their pointers."""
    return elements(body.get("tools"), "/tools")


def type_of(item: Json) -> str:
    """Returns an item's type. Without one, an item with a role is a message, and an item with an id is a reference."""
    without = "message" if "role" in item else "item_reference" if "id" in item else ""
    return text_of(item.get("type")) or without


def is_call(item: Json) -> bool:
    """Tells whether the item asks the client to run something, and needs an output."""
    return type_of(item).endswith("_call") and "call_id" in item


def is_output(item: Json) -> bool:
    """Tells whether the item is the client's answer to a call."""
    return type_of(item).endswith("_call_output")


def format_of(body: Json) -> Json:
    """Returns the requested format of the answer; `{}` if there is none."""
    return object_of(object_of(body.get("text")).get("format"))


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order. Each input item counts as a turn."""
    body = request.body
    found = []
    if instructions := text_of(body.get("instructions")):
        found.append(Item("system", "system", "/instructions", -1, instructions))
    if isinstance(body.get("input"), str):
        found.append(Item("text", "user", "/input", 0, body["input"]))
    for turn, (pointer, item) in enumerate(items(body)):
        found += _item(item, pointer, turn)
    return found


def _item(item: Json, pointer: str, turn: int) -> Iterator[Item]:
    id, name = text_of(item.get("call_id")), text_of(item.get("name"))
    match type_of(item):
        case "message":
            role = _ROLES.get(text_of(item.get("role")), "user")
            yield from _content(item.get("content"), f"{pointer}/content", turn, role)
        case "reasoning":
            yield Item("thinking", "assistant", pointer, turn, _summary(item))
        case kind if is_call(item):
            arguments = parsed(item.get("arguments", item.get("input", item.get("action"))))
            yield Item("call", "assistant", pointer, turn, id=id, name=name or kind, arguments=arguments)
        case _ if is_output(item):
            output = item.get("output")
            yield Item("result", "tool", pointer, turn, _text(output), id=id)
            if not isinstance(output, str):
                yield from _content(output, f"{pointer}/output", turn, "tool", within=id)
        case kind:
            yield Item("other", "assistant", pointer, turn, name=kind)


def _content(content: Any, pointer: str, turn: int, role: Any, within: str | None = None) -> Iterator[Item]:
    if isinstance(content, str):
        yield Item("system" if role == "system" else "text", role, pointer, turn, content, within=within)
    if isinstance(content, dict):  # the output of a computer call is one part, not a list
        yield _part(content, pointer, turn, role, within)
    for place, part in elements(content, pointer):
        yield _part(part, place, turn, role, within)


def _part(part: Json, pointer: str, turn: int, role: Any, within: str | None) -> Item:
    kind = text_of(part.get("type"))
    if kind in {"input_text", "output_text", "text", "refusal", "summary_text"}:
        text_kind: Any = "system" if role == "system" else "text"
        text = text_of(part.get("refusal" if kind == "refusal" else "text"))
        return Item(text_kind, role, pointer, turn, text, within=within)
    media = _media(part)
    found: Any = "image" if kind in {"input_image", "computer_screenshot"} else media and kind_of(media)
    return Item(found or "other", role, pointer, turn, name=kind, media=media, within=within)


def _media(part: Json) -> Media | None:
    name = text_of(part.get("filename"))
    match part.get("type"):
        case "input_image" | "computer_screenshot":
            return linked(part.get("image_url") or part.get("file_id"), "image/*")
        case "input_file":
            source = part.get("file_data") or part.get("file_url") or part.get("file_id")
            return linked(source, "application/pdf", name)
        case "input_audio":
            audio = object_of(part.get("input_audio"))
            return inline(f"audio/{text_of(audio.get('format'))}", audio.get("data"))
        case _:
            return None


def _summary(item: Json) -> str:
    return "".join(text_of(part.get("text")) for _, part in elements(item.get("summary"), ""))


def _text(output: Any) -> str:
    if isinstance(output, list):
        return "".join(text_of(part.get("text")) for _, part in elements(output, ""))
    return text_of(output)
