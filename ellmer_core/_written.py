"""What a chat has written as JSON before, so that a request costs what is new in it and not the whole history.

Turns are values, and `Wire.message(turn)` depends on its turn alone: while the wire stays as it is, so does the JSON
of a turn. A body is put together from the bytes of its messages, and is byte for byte what writing it anew would
give. Only the turns of the last request are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from .errors import UsageError
from .tools import ToolDef
from .turns import Turn
from .types import Type
from .wire import Json, Request, Wire

__all__ = ["Written", "encoded"]


@dataclass(frozen=True)
class Kept:
    """The messages of one turn, and their bytes. It holds the turn, so that nothing else gets its identity."""

    turn: Turn
    messages: list[Json]
    texts: list[bytes]


@dataclass
class Written:
    """What the last request of a chat was made of, by the identity of its turns."""

    wire: Wire | None = None
    turns: dict[int, Kept] = field(default_factory=dict)

    def request(
        self, wire: Wire, turns: Sequence[Turn], tools: Sequence[ToolDef], *, stream: bool, type: Type | None
    ) -> tuple[Request, bytes]:
        """The request of the wire, and its body. Raises `UsageError` for what is not JSON."""
        before = self.turns if wire == self.wire else {}
        self.wire, self.turns = wire, {}

        def keep(turn: Turn, message: Callable[[Turn], list[Json]]) -> list[Json]:
            kept = self.turns.get(id(turn)) or before.get(id(turn)) or _kept(turn, message)
            self.turns[id(turn)] = kept
            return kept.messages

        keeping = copy(wire)
        object.__setattr__(keeping, "keep", keep)
        request = keeping.request(turns, tools, stream=stream, type=type)
        return request, self._body(request.json)

    def copy(self) -> Written:
        """The same, for a fork of the chat."""
        return Written(self.wire, self.turns)

    def _body(self, body: Json) -> bytes:
        texts = {
            id(message): text
            for kept in self.turns.values()
            for message, text in zip(kept.messages, kept.texts, strict=True)
        }
        return b"{" + b",".join(_field(name, value, texts) for name, value in body.items()) + b"}"


def _kept(turn: Turn, message: Callable[[Turn], list[Json]]) -> Kept:
    messages = message(turn)
    return Kept(turn, messages, list(map(encoded, messages)))


def _field(name: str, value: Any, texts: Mapping[int, bytes]) -> bytes:
    """One member of the body; of a list, what is written already as it is."""
    if not isinstance(value, list):
        return encoded({name: value})[1:-1]
    items = (texts.get(id(item)) or encoded(item) for item in value)
    return encoded({name: []})[1:-2] + b",".join(items) + b"]"


def encoded(body: Mapping[str, Any]) -> bytes:
    """Compact JSON in UTF-8. Half a surrogate pair, which has no UTF-8, becomes U+FFFD."""
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The request cannot be written as JSON: {error}.") from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
