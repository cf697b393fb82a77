"""Keeps the JSON of earlier turns and of tools, so that the cost of a request depends only on what is new in it.

Turns and tools are immutable, and `Wire.message(turn)` and `Wire.tool(tool)` depend on nothing else. With the same
wire, their JSON is therefore constant. A body consists of the cached bytes of its messages and tools, and is equal to a
newly written body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from ..contents.content import ToolDef
from ..contents.turns import Turn
from ..errors import UsageError
from ..wire.base import StructuredMode, Wire
from ..wire.interfaces import Json, Request

if TYPE_CHECKING:
    from ..schemas.type_classes import Type


SPARE = (
    16  # so many turns that are no longer said may be held, so that a chat does not sort them out each time
)


class LastRequest(NamedTuple):
    """The turns of one request, the number of messages of each, all messages, and their bytes. The first `joined` messages are also one
    text, `start`: a long conversation grows at its end.
    """

    turns: list[Turn]
    counts: list[int]
    messages: list[Json]
    texts: list[bytes]
    joined: int = 0
    start: bytes = b""


class LastTools(NamedTuple):
    """The tools of one request, their definitions, and the bytes of these, one by one and joined."""

    tools: list[ToolDef]
    definitions: list[Json]
    texts: list[bytes]
    joined: bytes


_NO_TOOLS = LastTools([], [], [], b"")


@dataclass(eq=False, repr=False)
class RequestCache:
    """The sent turns with their messages, by the identity of the turn, and the bytes of messages, by theirs. The cache holds
    references, so that no identity is reused.
    """

    wire: Wire | None = None
    turns: dict[int, Turn] = field(default_factory=dict)
    messages: dict[int, list[Json]] = field(default_factory=dict)
    texts: dict[int, bytes] = field(default_factory=dict)
    tools: LastTools = _NO_TOOLS
    last: LastRequest = field(default_factory=lambda: LastRequest([], [], [], []))

    def request(
        self,
        wire: Wire,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef],
        *,
        stream: bool,
        type: Type | None,
        mode: StructuredMode | None = None,
    ) -> tuple[Request, bytes]:
        """Returns the request of the wire and its body. Raises `UsageError` for values that are not JSON."""
        if self.wire is not None and wire is not self.wire and wire != self.wire:
            self._forget_everything()
        self.wire = wire
        keeping = object.__new__(wire.__class__)  # a copy that gets its messages from here
        vars(keeping).update(vars(wire), keep=self._keep, keep_tools=self._keep_tools)
        request = keeping.asking(turns, tools, stream=stream, type=type, mode=mode)
        body = self._body(request.json)
        if len(self.turns) > len(turns) * 5 // 4 + SPARE:
            self._forget_all_but(turns)
        return request, body

    def copy(self) -> RequestCache:
        """Returns a copy for a fork of the chat, without the last request: it may be changing in another thread."""
        return RequestCache(self.wire, dict(self.turns), dict(self.messages), dict(self.texts), self.tools)

    def _keep(self, turns: Sequence[Turn], message: Callable[[Turn], list[Json]]) -> list[Json]:
        """Returns the messages of the turns. A conversation begins as it did in the last request, so nearly all turns
        are known without a lookup.
        """
        before, counts, messages, texts, *_ = self.last
        same = shared_start(before, turns)
        for turn in turns[same:]:
            if id(turn) not in self.messages:
                self.turns[id(turn)], self.messages[id(turn)] = turn, message(turn)
                self.texts.update((id(each), encoded(each)) for each in self.messages[id(turn)])
        groups = [self.messages[id(turn)] for turn in turns[same:]]
        new = list(chain.from_iterable(groups))
        reused = len(messages) - sum(counts[same:])
        messages = messages[:reused]
        messages += new
        before[same:], counts[same:] = turns[same:], map(len, groups)
        texts[reused:] = [self.texts.get(id(item)) or encoded(item) for item in new]
        joined, start = self.last[4:] if self.last.joined <= reused else (0, b"")
        if joined < reused:
            start = b",".join([*filter(None, [start]), *texts[joined:reused]])
        self.last = LastRequest(before, counts, messages, texts, reused, start)
        return messages

    def _keep_tools(self, tools: Sequence[ToolDef], definition: Callable[[ToolDef], Json]) -> list[Json]:
        """Returns the definitions of the tools, which are nearly always those of the last request."""
        before, definitions, texts, _ = self.tools
        same = shared_start(before, tools)
        if same < max(len(before), len(tools)):
            new = list(map(definition, tools[same:]))
            texts = [*texts[:same], *map(encoded, new)]
            self.tools = LastTools([*tools], definitions[:same] + new, texts, b",".join(texts))
        return self.tools.definitions

    def _forget_everything(self) -> None:
        self.turns, self.messages, self.texts, self.tools = {}, {}, {}, _NO_TOOLS
        self.last = LastRequest([], [], [], [])

    def _forget_all_but(self, turns: Sequence[Turn]) -> None:
        self.turns = {id(turn): turn for turn in turns if id(turn) in self.turns}
        self.messages = {name: self.messages[name] for name in self.turns}
        used = {id(message) for messages in self.messages.values() for message in messages}
        self.texts = {name: text for name, text in self.texts.items() if name in used}

    def _body(self, body: Json) -> bytes:
        """Returns the whole body. Cached items of lists are reused, and the text of a long conversation is copied once."""
        pieces: list[bytes] = []
        for name, value in body.items():
            pieces += [b"," if pieces else b"{", encoded(str(name)), b":"]
            if not (isinstance(value, list) and value):
                pieces.append(encoded(value))
                continue
            if value is self.last.messages:
                first, *others = [*filter(None, [self.last.start]), *self.last.texts[self.last.joined :]]
            elif value is self.tools.definitions:
                first, others = self.tools.joined, []
            else:
                first, others = b",".join([self.texts.get(id(item)) or encoded(item) for item in value]), []
            pieces += [b"[", first, *[piece for item in others for piece in (b",", item)], b"]"]
        return b"".join([*(pieces or [b"{"]), b"}"])


def shared_start(before: Sequence[object], now: Sequence[object]) -> int:
    """Returns the number of identical objects at the beginning of both. It runs no Python code for each of them, if they differ only at their
    ends.
    """
    least = min(len(before), len(now))
    while least and before[least - 1] is not now[least - 1]:
        least -= 1
    if all(map(is_, islice(before, least), now)):
        return least
    return list(map(is_, before, now)).index(False)


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encoded(body: Any) -> bytes:
    """Returns compact JSON in UTF-8. A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD."""
    try:
        text = _compact(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The request cannot be written as JSON: {error}.") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
