"""Moonshot: Kimi, whose call ids contain the tool's name. The counts are inside the last choice.

https://platform.moonshot.ai/docs/api/chat
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ....contract.readers.json_access import items_of, object_of
from ....scenarios.script import Answer, Call
from ..base import Frame, sse
from .base import Compatible


class Moonshot(Compatible):
    """The host api.moonshot.ai."""

    provider: ClassVar[str] = "moonshot"
    carries: ClassVar[frozenset[str]] = frozenset()

    def call_id(self, call: Call, index: int) -> str:
        """Returns an id such as `functions.get_weather:0` (farion1231/cc-switch#1181: Anthropic refuses them).

        The number goes on over the calls of the conversation, so that no id is there twice.
        """
        messages = items_of(self.ticket.request.body.get("messages"))
        earlier = sum(len(items_of(object_of(message).get("tool_calls"))) for message in messages)
        return call.id or f"functions.{call.name}:{earlier + index}"

    def closing(self, answer: Answer) -> Iterator[Frame]:
        last = {"index": 0, "delta": {}, "finish_reason": self.stops[answer.reason]}
        yield Frame("end", self.event({"choices": [last | {"usage": self.usage(answer.usage)}]}))
        yield Frame("end", sse("[DONE]"))
