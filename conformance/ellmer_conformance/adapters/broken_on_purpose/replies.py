"""Adapters that tell their caller something else than the model said."""

from __future__ import annotations

import re
from dataclasses import replace

from ...scenarios.messages import Reply
from .base import BrokenAdapter


class TakesCutForComplete(BrokenAdapter):
    """A stream that ends is a stream that is done."""

    case, caught_by, mode = "cut_before_the_end", ("STR-007",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=None, complete=True)


class InventsStop(BrokenAdapter):
    """Where no stop reason came, it was `stop`."""

    case, caught_by, mode = "cut_before_the_end", ("STR-009",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop=reply.stop or "stop")


class SwallowsErrors(BrokenAdapter):
    """An error event is not for callers."""

    case, caught_by, mode = "error_inside_the_answer", ("STR-010",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=None, complete=True)


class KnowsOneStop(BrokenAdapter):
    """Every answer stops because it is done."""

    case, caught_by = "length_inside_text", ("STP-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop="stop")


class LosesTheEnd(BrokenAdapter):
    """The last character does not count."""

    case, caught_by = "plain_text", ("TXT-005",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text[:-1])


class CountsInWords(BrokenAdapter):
    """Tokens are words, roughly."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={"input": 1, "output": len(reply.text.split())})


class PrintsOneId(BrokenAdapter):
    """Every call is printed under one id."""

    case, caught_by = "two_parallel_tools", ("TXT-002",)

    def printed(self, transcript: str) -> str:
        return re.sub(r"(\[tool (?:request|result ) \()[^)]+", r"\1call", transcript)


class PrintsTheKey(BrokenAdapter):
    """Prints what it knows."""

    case, caught_by = "plain_text", ("AUT-002",)

    def printed(self, transcript: str) -> str:
        return f"{self.endpoint}\n{transcript}"


class KeyInErrors(BrokenAdapter):
    """Puts the whole request in its errors."""

    case, caught_by, mode = "cut_before_the_end", ("AUT-002",), "stream"

    def reply(self, reply: Reply) -> Reply:
        if reply.error is None:
            return reply
        return replace(reply, error=RuntimeError(f"{reply.error} ({self.endpoint})"))
