"""The four most common wire formats, and the values that their tests send: media, calls, results."""

import pytest

from ellmer_core.contents.content import ContentImageInline, ContentPDF, ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import UserTurn
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

CHAT, RESPONSES, ANTHROPIC, GEMINI = (
    OpenAIChat(model="m"),
    OpenAIResponses(model="m"),
    AnthropicMessages(model="m"),
    Gemini(model="gemini-2.5-flash"),
)
ALL = [CHAT, RESPONSES, ANTHROPIC, GEMINI]
every_wire = pytest.mark.parametrize("wire", ALL, ids=lambda wire: wire.name)

PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
PDF = ContentPDF("application/pdf", "JVBERi0=", "a.pdf")
ONE, TWO = ContentToolRequest("call_1", "draw", {"n": 1}), ContentToolRequest("call_2", "look", {})
OPEN, CLOSE = '<content tool-call-id="call_1">', "</content>"


def result(value=None, request=ONE, error=None):
    return ContentToolResult(value, error=error, request=request)


def sent(wire, *contents):
    return wire.message(UserTurn(contents))
