"""A second opinion: the requests of all wires match the types of the official SDKs."""

import json

import pytest
from pydantic import TypeAdapter

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses


def openai_chat():
    from openai.types.chat import ChatCompletionMessageParam

    return OpenAIChat, ChatCompletionMessageParam


def openai_responses():
    from openai.types.responses import ResponseInputItemParam

    return OpenAIResponses, ResponseInputItemParam


def anthropic():
    from anthropic.types import MessageParam

    return AnthropicMessages, MessageParam


def gemini():
    from google.genai.types import Content

    return Gemini, Content


PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
PDF = ContentPDF("application/pdf", "JVBERi0=")
ONE, TWO = ContentToolRequest("call_1", "draw", {"n": 1}), ContentToolRequest("call_2", "look", {})


def conversation(wire):
    media = [] if wire.name == "gemini" else [ContentImageRemote("https://x/y.png")]
    sealed = wire.own(block={"type": "redacted_thinking", "data": "x"}, fields={}, item={})
    return [
        SystemTurn("Be brief."),
        UserTurn([ContentText("hi"), PNG, *media, PDF]),
        AssistantTurn([ContentThinking("hm", extra=sealed), ContentText("so"), ONE, TWO]),
        UserTurn(
            [
                ContentToolResult(["a", PNG, PDF], request=ONE),
                ContentToolResult(error="boom", request=TWO),
                ContentText("go on"),
            ]
        ),
        AssistantTurn("done"),
    ]


@pytest.mark.parametrize("tool_media", ["pointer", "native"])
@pytest.mark.parametrize("sdk", [openai_chat, openai_responses, anthropic, gemini])
def test_the_sdk_knows_every_message(sdk, tool_media):
    if (sdk, tool_media) == (openai_chat, "native"):
        pytest.skip("OpenAI's own tool messages take text only; servers that take media have no SDK")
    wire_class, message_type = sdk()
    wire = wire_class(model="gemini-3-pro", tool_media=tool_media)
    sent = wire.messages(conversation(wire))
    for part in (
        part for message in sent for part in message.get("content") or () if wire.name == "openai-responses"
    ):
        if "image_url" in part:
            part["detail"] = "auto"  # the SDK requires what the API does not
    known = TypeAdapter(list[message_type])  # must outlive what it validates lazily
    parsed = known.validate_python(sent)
    assert json.dumps(parsed, default=lambda lazy: list(lazy) if hasattr(lazy, "__next__") else str(lazy))
