"""Adapters that return another answer than the model's. They were invented after the rules."""

from __future__ import annotations

from dataclasses import replace

from ellmer_conformance.scenarios.messages import Reply

from ..base import BrokenAdapter

_CHAT = ("openai-chat", "anthropic")


class StripsAnswers(BrokenAdapter):
    """Strips white space from the text of answers."""

    case, caught_by = "odd_text", ("TXT-005",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.strip())


class LosesTheLastPiece(BrokenAdapter):
    """Loses the last piece of a stream."""

    case, caught_by, mode = "one_tool", ("TXT-005",), "stream"

    def reply(self, reply: Reply) -> Reply:
        kept = list(reply.pieces)[:-1]
        return replace(reply, text="".join(kept), pieces=kept)


class TakesTheFirstBlock(BrokenAdapter):
    """Returns only the first text block of an answer."""

    case, caught_by, on = "texts_in_blocks", ("TXT-005",), ("anthropic", "gemini")

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.removesuffix("Then that."))


class GluesMessages(BrokenAdapter):
    """Joins the messages of an answer without a break."""

    case, caught_by, on = "texts_in_blocks", ("TXT-006",), ("openai-responses",)
    gently = True

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, text=reply.text.replace("\n\n", ""))


class TellsItAllAgain(BrokenAdapter):
    """Returns the text of earlier answers before that of the last one."""

    case, caught_by = "plain_text", ("TXT-005",)
    so_far = ""

    def reply(self, reply: Reply) -> Reply:
        self.so_far += reply.text
        return replace(reply, text=self.so_far)


class CountsTwice(BrokenAdapter):
    """Reports twice the number of tokens."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={name: 2 * (count or 0) for name, count in reply.usage.items()})


class SwapsCounts(BrokenAdapter):
    """Reports input tokens as output tokens, and the other way round."""

    case, caught_by = "plain_text", ("USG-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={"input": reply.usage.get("output"), "output": reply.usage.get("input")})


class HandsOverPiecesTwice(BrokenAdapter):
    """Yields each piece of a stream twice."""

    case, caught_by, mode = "one_tool", ("STR-024",), "stream"
    on = _CHAT

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[piece for each in reply.pieces for piece in (each, each)])


class HandsOverAtTheEnd(BrokenAdapter):
    """Yields the whole text at the end of a stream."""

    gently = True
    case, caught_by, mode = "one_tool", ("STR-021",), "stream"

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[reply.text])


class SaysErrorsAsAnswers(BrokenAdapter):
    """Returns the message of an error as the text of an answer."""

    case, caught_by = "overloaded_for_good", ("STR-010",)

    def reply(self, reply: Reply) -> Reply:
        if reply.error is None:
            return reply
        return replace(reply, text=str(reply.error), error=None, complete=True)


class ReportsNoReason(BrokenAdapter):
    """Does not report a stop reason."""

    case, caught_by = "length_inside_text", ("STP-001",)

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, stop=None)
