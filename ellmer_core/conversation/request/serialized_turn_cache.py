"""Keeps the JSON of earlier turns, so that the cost of a request depends only on what is new in it.

Turns are values, and `Wire.message(turn)` depends on its turn alone: while the wire stays as it is, so does the JSON
of a turn. A body is put together from the bytes of its messages, and is byte for byte what writing it anew would
give.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from ...contents.tool_requests_and_results import ToolDef
from ...contents.turns import Turn
from ...errors import UsageError
from ...schemas.type_classes import Type
from ...wire.base import Wire
from ...wire.request_and_stream_merger import Json, Request
from ...wire.structured_output import StructuredMode

__all__ = ["RequestCache", "encoded"]

SPARE = (
    16  # so many turns that are no longer said may be held, so that a chat does not sort them out each time
)


@dataclass(eq=False, repr=False)
class RequestCache:
    """The turns that were sent, and the messages of each, by the identity of the turn; and these messages' bytes, by
    theirs. What is held here is not freed, so that nothing else gets its identity."""

    wire: Wire | None = None
    turns: dict[int, Turn] = field(default_factory=dict)
    messages: dict[int, list[Json]] = field(default_factory=dict)
    texts: dict[int, bytes] = field(default_factory=dict)

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
        """Returns the request of the wire, and its body. Raises `UsageError` for what is not JSON."""
        if wire != self.wire:
            self.wire, self.turns, self.messages, self.texts = wire, {}, {}, {}
        keeping = copy(wire)
        object.__setattr__(keeping, "keep", self._keep)
        request = keeping.asking(turns, tools, stream=stream, type=type, mode=mode)
        body = self._body(request.json)
        if len(self.turns) > len(turns) + SPARE:
            self._forget_all_but(turns)
        return request, body

    def copy(self) -> RequestCache:
        """Returns a copy for a fork of the chat."""
        return RequestCache(self.wire, dict(self.turns), dict(self.messages), dict(self.texts))

    def _keep(self, turns: Sequence[Turn], message: Callable[[Turn], list[Json]]) -> list[list[Json]]:
        """Returns the messages of each turn. Of a long history nearly all are known: these are looked up
        without a line of Python for each.
        """
        known = list(map(self.messages.get, map(id, turns)))
        return [self._new(turns[n], message) if one is None else one for n, one in enumerate(known)]

    def _new(self, turn: Turn, message: Callable[[Turn], list[Json]]) -> list[Json]:
        if id(turn) not in self.turns:  # else it is there twice
            self.turns[id(turn)], self.messages[id(turn)] = turn, message(turn)
            self.texts.update((id(one), encoded(one)) for one in self.messages[id(turn)])
        return self.messages[id(turn)]

    def _forget_all_but(self, turns: Sequence[Turn]) -> None:
        self.turns = {id(turn): turn for turn in turns if id(turn) in self.turns}
        self.messages = {name: self.messages[name] for name in self.turns}
        there = {id(one) for messages in self.messages.values() for one in messages}
        self.texts = {name: text for name, text in self.texts.items() if name in there}

    def _body(self, body: Json) -> bytes:
        """Returns the whole body; of a list, what is written already as it is. Commas part fields and items
        alike, so one `join()` is enough: to copy a long conversation costs more than to look it up.
        """
        pieces = []
        for name, value in body.items():
            field = encoded(str(name)) + b":"
            if isinstance(value, list) and value:
                known = map(self.texts.get, map(id, value))
                first, *rest = [
                    encoded(item) if text is None else text for text, item in zip(known, value, strict=True)
                ]
                pieces += [field + b"[" + first, *rest]
                pieces[-1] += b"]"
            else:
                pieces.append(field + encoded(value))
        return b",".join(_in_braces(pieces))


def _in_braces(pieces: list[bytes]) -> list[bytes]:
    """Returns the pieces of an object, the first and the last with its braces."""
    first, *rest = pieces or [b""]
    *most, last = [b"{" + first, *rest]
    return [*most, last + b"}"]


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encoded(body: Any) -> bytes:
    """Compact JSON in UTF-8. Half a surrogate pair, which has no UTF-8, becomes U+FFFD."""
    try:
        text = _compact(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The request cannot be written as JSON: {error}.") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
