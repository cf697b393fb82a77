"""Every class of content on every wire format, in every role: it is sent, or refused by name before sending."""

import json
from dataclasses import dataclass

import pytest

from ellmer_core.contents.content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, UserTurn
from ellmer_core.errors import ContentError
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

WIRES = [
    wire(model="m")
    for wire in (
        OpenAIChat, OpenAIResponses, AnthropicMessages, Gemini, Bedrock, OllamaChat, CohereChat, MistralChat
    )
]  # fmt: skip
NAMES = [wire.name for wire in WIRES]
PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
CALL = ContentToolRequest("c1", "add", {"a": 1})
CONTENTS = [
    ContentText("words"),
    ContentText(""),
    ContentJson({"a": [1, None]}),
    PNG,
    ContentImageRemote("https://example.com/a.png", "low"),
    ContentPDF("application/pdf", "JVBERi0=", "a.pdf"),
    ContentThinking("hm"),
    *(ContentThinking("hm", {name: {"issuer": "somebody else"}}) for name in NAMES),
    *(ContentUnknown(name, {"type": "text", "text": "of a newer version"}) for name in NAMES),
    *(ContentUploaded("files/1", kind, name) for name in NAMES for kind in ("image/png", "application/pdf")),
]
every_wire = pytest.mark.parametrize("wire", WIRES, ids=NAMES)


@every_wire
@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: type(content).__name__)
def test_every_content_is_sent_or_refused_by_name(wire, content):
    said = [UserTurn("Hi"), AssistantTurn([content, ContentText("so.")]), UserTurn("Go on")]
    assert json.dumps(wire.request(said).json)  # what a model said is never refused: it has been said
    looking = [UserTurn(["Look:", content])]
    try:
        sent = json.dumps(wire.request(looking).json)
    except ContentError:
        with pytest.raises(
            ContentError, match=f"^{type(content).__name__} cannot be sent over '{wire.name}'"
        ):
            wire.request(looking)
        return
    assert "Look:" in sent
    assert not isinstance(content, ContentThinking)


@every_wire
def test_a_history_from_anywhere_goes_everywhere(wire):
    results = [ContentToolResult([PNG, "x", 1.5], request=CALL), ContentToolResult(error="no", request=CALL)]
    for result in results:
        turns = [
            UserTurn(["Hi", PNG] if wire.supports.images else "Hi"),
            AssistantTurn([*CONTENTS, CALL]),
            UserTurn([result, "And?"]),
            AssistantPartialTurn([ContentThinking("h"), ContentText("half an ans")]),
            UserTurn("Go on"),
        ]
        before = repr(turns)
        body = json.dumps(wire.request(turns).json)
        assert all(words in body for words in ("add", "And?", "half an ans", "Go on"))
        assert "somebody else" not in body
        assert repr(turns) == before


@dataclass(frozen=True)
class MyText(ContentText):
    colour: str = "red"


@dataclass(frozen=True)
class MyRequest(ContentToolRequest):
    colour: str = "red"


@dataclass(frozen=True)
class Nobody(Content):
    pass


@every_wire
def test_a_subclass_goes_as_its_class(wire):
    mine = [UserTurn([MyText("words")]), AssistantTurn([MyText("said"), MyRequest("c1", "add", {"a": 1})])]
    theirs = [UserTurn("words"), AssistantTurn(["said", CALL])]
    assert wire.request(mine).json == wire.request(theirs).json


@every_wire
def test_a_class_of_nobody_is_refused_by_name(wire):
    for turns in ([UserTurn([Nobody()])], [UserTurn("Hi"), AssistantTurn([Nobody()])]):
        with pytest.raises(ContentError, match=f"Nobody cannot be sent over '{wire.name}'"):
            wire.request(turns)


@every_wire
def test_only_a_user_turn_holds_results(wire):
    with pytest.raises(ContentError, match="only a user turn holds results"):
        wire.request([UserTurn("Hi"), AssistantTurn([ContentToolResult(1, request=CALL)])])
    with pytest.raises(ContentError, match="has no request"):
        wire.request([UserTurn([ContentToolResult(1)])])
