"""Adapters that tell their caller something else than the model said: invented when the rules stood."""

from __future__ import annotations

from dataclasses import replace

from ....scenarios.messages import Reply
from ..base import BrokenAdapter

_CHAT = ("openai-chat", "anthropic")


class StripsAnswers(BrokenAdapter):
    """An answer has no lines before it and none after."""

    case, caught_by = "odd_text", ("TXT-005",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.strip())


class LosesTheLastPiece(BrokenAdapter):
    """Hands a piece over when the next one comes."""

    case, caught_by, mode = "one_tool", ("TXT-005",), "stream"

    def reply(self, reply: Reply) -> Reply:
        kept = list(reply.pieces)[:-1]
        return replace(reply, text="".join(kept), pieces=kept)


class TakesTheFirstBlock(BrokenAdapter):
    """The text of an answer is its first block."""

    case, caught_by, on = "texts_in_blocks", ("TXT-005",), ("anthropic", "gemini")

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.removesuffix("Then that."))


class TellsItAllAgain(BrokenAdapter):
    """The text so far is the text of the answer."""

    case, caught_by = "plain_text", ("TXT-005",)
    so_far = ""

    def reply(self, reply: Reply) -> Reply:
        self.so_far += reply.text
        return replace(reply, text=self.so_far)


class CountsTwice(BrokenAdapter):
    """Adds the counts of an answer to itself."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={name: 2 * (count or 0) for name, count in reply.usage.items()})


class SwapsCounts(BrokenAdapter):
    """Output is what was put in."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={"input": reply.usage.get("output"), "output": reply.usage.get("input")})


class HandsOverPiecesTwice(BrokenAdapter):
    """Two callbacks hand the pieces over."""

    gently = True
    case, caught_by, mode = "one_tool", ("STR-017",), "stream"
    on = _CHAT

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[piece for each in reply.pieces for piece in (each, each)])


class HandsOverAtTheEnd(BrokenAdapter):
    """Streams, and keeps it to itself until all is there."""

    gently = True
    case, caught_by, mode = "one_tool", ("STR-021",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[reply.text])


class SaysErrorsAsAnswers(BrokenAdapter):
    """An error is a text like any other."""

    case, caught_by = "overloaded_for_good", ("STR-010",)

    def reply(self, reply: Reply) -> Reply:
        if reply.error is None:
            return reply
        return replace(reply, text=str(reply.error), error=None, complete=True)


class ReportsNoReason(BrokenAdapter):
    """Why an answer ends is not said."""

    case, caught_by = "length_inside_text", ("STP-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop=None)
