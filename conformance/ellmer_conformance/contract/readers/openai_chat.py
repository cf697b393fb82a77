"""OpenAI Chat Completions: `messages`, one for each speaker. Each tool result is a separate message, and which call it
answers is found in one pass.

https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..observed.exchange import Item, Json, Media, Request
from .json_access import elements, inline, items_of, kind_of, linked, object_of, parsed, read_once, text_of

WIRE = "openai-chat"
PROVIDER = "openai"
paths = (r"/chat/completions/?$",)

_ROLES = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the messages with their pointers."""
    return elements(body.get("messages"), "/messages")


def parts(message: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields the parts of a message's content with their pointers, or nothing if it is a string."""
    return elements(message.get("content"), f"{pointer}/content")


@read_once
def all_parts(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the parts of all messages with their pointers."""
    for pointer, message in messages(body):
        yield from parts(message, pointer)


def tools(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the declared tools with their pointers."""
    return elements(body.get("tools"), "/tools")


_NO_MORE = Item("text", "user", "", 0)[5:]  # the fields that a text does not have


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    found: list[Item] = []
    turn = 0
    for index, message in enumerate(items_of(request.body.get("messages"))):
        if not isinstance(message, dict):
            continue
        role, content = message.get("role"), message.get("content")
        if (role == "user" or role == "assistant") and len(message) == 2 and isinstance(content, str):  # noqa: PLR1714  # most are; a role may be a list
            found.append(Item._make(("text", role, f"/messages/{index}/content", turn, content, *_NO_MORE)))
        else:
            found += _message(message, f"/messages/{index}", turn)
        turn += 1
    return found


def text(content: Any) -> str:
    """Returns all text of a message's content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for _, part in elements(content, ""))
    return text_of(content)


def _message(message: Json, pointer: str, turn: int) -> Iterator[Item]:
    role = _ROLES.get(text_of(message.get("role")), "user")
    if role == "tool":
        yield from _result(message, pointer, turn)
        return
    if not _THOUGHTS.isdisjoint(message):
        yield from _thoughts(message, pointer, turn)
    yield from _content(message.get("content"), f"{pointer}/content", turn, role)
    if not _CALLS.isdisjoint(message):
        yield from _calls(message, pointer, turn)


_THOUGHTS, _CALLS = {"reasoning", "reasoning_content"}, {"tool_calls", "function_call"}


def _thoughts(message: Json, pointer: str, turn: int) -> Iterator[Item]:
    fields = {text_of(message.get(key)): key for key in ("reasoning", "reasoning_content")}  # once, if alike
    for thought, key in fields.items():
        if thought:
            yield Item("thinking", "assistant", f"{pointer}/{key}", turn, thought)


def _content(content: Any, pointer: str, turn: int, role: Any, within: str | None = None) -> Iterator[Item]:
    if isinstance(content, str):
        yield Item("system" if role == "system" else "text", role, pointer, turn, content, within=within)
    for place, part in elements(content, pointer):
        yield _part(part, place, turn, role, within)


def _part(part: Json, pointer: str, turn: int, role: Any, within: str | None) -> Item:
    match part.get("type"):
        case "text" | "refusal" as kind:
            text_kind: Any = "system" if role == "system" else "text"
            return Item(text_kind, role, pointer, turn, text_of(part.get(kind)), within=within)
        case "thinking":
            return Item("thinking", role, pointer, turn, text(part.get("thinking")), within=within)
        case _:
            media = _media(part)
            kind = kind_of(media) if media else "other"
            if part.get("type") == "image_url":
                kind = "image"
            return Item(kind, role, pointer, turn, name=text_of(part.get("type")), media=media, within=within)


def _media(part: Json) -> Media | None:
    match part.get("type"):
        case "image_url":
            image = part.get("image_url")
            return linked(image if isinstance(image, str) else object_of(image).get("url"), "image/*")
        case "document_url":  # Mistral
            return linked(part.get("document_url"), "application/pdf", text_of(part.get("document_name")))
        case "file":
            file = object_of(part.get("file"))
            source = file.get("file_data") or file.get("file_id")
            return linked(source, "application/pdf", text_of(file.get("filename")))
        case "input_audio":
            audio = part.get("input_audio")
            if isinstance(audio, str):  # Mistral
                return linked(audio) if audio.startswith("http") else inline("audio/*", audio)
            audio = object_of(audio)
            return inline(f"audio/{text_of(audio.get('format'))}", audio.get("data"))
        case _:
            return None


def _calls(message: Json, pointer: str, turn: int) -> Iterator[Item]:
    for place, call in elements(message.get("tool_calls"), f"{pointer}/tool_calls"):
        body = object_of(call.get("function") or call.get("custom"))
        yield Item(
            "call",
            "assistant",
            place,
            turn,
            id=text_of(call.get("id")),
            name=text_of(body.get("name")),
            arguments=parsed(body.get("arguments", body.get("input"))),
        )
    if isinstance(old := message.get("function_call"), dict):
        place, name = f"{pointer}/function_call", text_of(old.get("name"))
        yield Item("call", "assistant", place, turn, name=name, arguments=parsed(old.get("arguments")))


def _result(message: Json, pointer: str, turn: int) -> Iterator[Item]:
    content, id = message.get("content"), text_of(message.get("tool_call_id"))
    name = text_of(message.get("name"))
    yield Item("result", "tool", pointer, turn, text(content), id=id, name=name)
    if isinstance(content, list):
        yield from _content(content, f"{pointer}/content", turn, "tool", within=id)


# --- Calls and results ----------------------------------------------------------------------------------


@dataclass
class Block:
    """An assistant message with tool calls, and the consecutive tool messages after it.

    `answers` and `strangers` are (message index, id) of these tool messages: the ids of `answers` are ids of the
    calls. `late` are the calls whose result comes after `end`, the index of the next other message.
    """

    index: int
    pointer: str
    ids: list[str]
    answers: list[tuple[int, str]] = field(default_factory=list)
    strangers: list[tuple[int, str]] = field(default_factory=list)
    late: dict[str, int] = field(default_factory=dict)
    end: int | None = None
    ended_by: str = ""

    @property
    def missing(self) -> list[str]:
        """The calls without any result."""
        answered = {id for _, id in self.answers} | self.late.keys()
        return [id for id in self.ids if id not in answered]


@dataclass
class Pairing:
    """`blocks`, and `orphans`: the tool messages (index, id) without an earlier call."""

    blocks: list[Block] = field(default_factory=list)
    orphans: list[tuple[int, str]] = field(default_factory=list)


def calls_of(message: Json) -> list[Json]:
    """Returns the calls of an assistant message."""
    calls = message.get("tool_calls") if message.get("role") == "assistant" else None
    return [each for each in items_of(calls) if isinstance(each, dict)]


@lru_cache(maxsize=4)
def pairing(request: Request) -> Pairing:
    """Returns the paired calls and results of a request."""
    found = Pairing()
    row: Block | None = None
    unanswered: dict[str, Block] = {}
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "tool":
            _file(found, row, unanswered, index, str(message.get("tool_call_id")))
            continue
        if row and row.end is None:
            row.end, row.ended_by = index, str(message.get("role"))
        calls = calls_of(message)
        row = Block(index, pointer, [str(each.get("id")) for each in calls]) if calls else None
        if row:
            found.blocks.append(row)
            unanswered |= dict.fromkeys(row.ids, row)
    return found


def _file(found: Pairing, row: Block | None, unanswered: dict[str, Block], index: int, id: str) -> None:
    if row and id in row.ids:
        row.answers.append((index, id))
        unanswered.pop(id, None)
    elif id in unanswered:
        unanswered.pop(id).late[id] = index
    elif row:
        row.strangers.append((index, id))
    else:
        found.orphans.append((index, id))
