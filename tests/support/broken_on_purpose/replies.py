"""Adapters that return another answer than the model's."""

from __future__ import annotations

import re
from dataclasses import replace

from ellmer_conformance.scenarios.messages import Reply

from .base import BrokenAdapter


class TakesCutForComplete(BrokenAdapter):
    """Reports a cut stream as a complete answer."""

    case, caught_by, mode = "cut_before_the_end", ("STR-007",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=None, complete=True)


class InventsStop(BrokenAdapter):
    """Reports `stop` if no stop reason arrived."""

    case, caught_by, mode = "cut_before_the_end", ("STR-009",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop=reply.stop or "stop")


class SwallowsErrors(BrokenAdapter):
    """Ignores error events in a stream."""

    case, caught_by, mode = "error_inside_the_answer", ("STR-010",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=None, complete=True)


class SaysOnlyThatTheStreamFailed(BrokenAdapter):
    """Raises an error of its own for an error event in a stream."""

    case, caught_by, mode = "error_inside_the_answer", ("STR-022",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=ConnectionError("the stream failed")) if reply.error else reply


class KnowsOneStop(BrokenAdapter):
    """Reports every stop reason as `stop`."""

    case, caught_by = "length_inside_text", ("STP-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop="stop")


class LosesTheEnd(BrokenAdapter):
    """Drops the last character of an answer."""

    case, caught_by = "plain_text", ("TXT-005",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text[:-1])


class CountsInWords(BrokenAdapter):
    """Reports the number of words as the number of tokens."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={"input": 1, "output": len(reply.text.split())})


class PrintsOneId(BrokenAdapter):
    """Prints every call with the same id."""

    case, caught_by = "two_parallel_tools", ("TXT-002",)

    def printed(self, transcript: str) -> str:
        return re.sub(r"(\[tool (?:request|result ) \()[^)]+", r"\1call", transcript)


class PrintsTheKey(BrokenAdapter):
    """Prints the key in the transcript."""

    case, caught_by = "plain_text", ("AUT-002",)

    def printed(self, transcript: str) -> str:
        return f"{self.endpoint}\n{transcript}"


class KeyInErrors(BrokenAdapter):
    """Puts the whole request into its errors."""

    case, caught_by, mode = "cut_before_the_end", ("AUT-002",), "stream"

    def reply(self, reply: Reply) -> Reply:
        if reply.error is None:
            return reply
        return replace(reply, error=RuntimeError(f"{reply.error} ({self.endpoint})"))


class ExpectsACount(BrokenAdapter):
    """Raises an error of Python if an answer has a count that it does not expect."""

    case, caught_by = "one_tool", ("RUN-003",)

    def reply(self, reply: Reply) -> Reply:
        error = KeyError("total_tokens")
        return Reply(complete=False, error=error.with_traceback(reply.error and reply.error.__traceback__))


class CallsAnswersCut(BrokenAdapter):
    """Reports the token limit as the end of every answer."""

    case, caught_by = "plain_text", ("STP-006",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop="length")
