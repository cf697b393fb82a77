"""The user's turn in the four wire formats: order, results, media, refusals."""

import json
from dataclasses import dataclass

import pytest
from wires.four_wires import (
    ALL,
    ANTHROPIC,
    CHAT,
    CLOSE,
    GEMINI,
    ONE,
    OPEN,
    PDF,
    PNG,
    RESPONSES,
    TWO,
    every_wire,
    result,
    sent,
)

from ellmer_core.contents.content import (
    Content,
    ContentImageRemote,
    ContentJson,
    ContentText,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import ContentError
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

# Order ------------------------------------------------------------------------------------------------------

#: Two parallel calls, the image comes from the first; and the user goes on in the same turn.
PARALLEL = (ContentText("before"), result(PNG), result("sunny", TWO), ContentText("go on"))


def test_chat_sends_all_tool_messages_before_the_user_message():
    assert sent(CHAT, *PARALLEL) == [
        {"role": "tool", "tool_call_id": "call_1", "content": "[see below]"},
        {"role": "tool", "tool_call_id": "call_2", "content": "sunny"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "before"},
                {"type": "text", "text": OPEN},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                {"type": "text", "text": CLOSE},
                {"type": "text", "text": "go on"},
            ],
        },
    ]


def test_responses_sends_all_outputs_before_one_user_message():
    assert sent(RESPONSES, *PARALLEL) == [
        {"type": "function_call_output", "call_id": "call_1", "output": "[see below]"},
        {"type": "function_call_output", "call_id": "call_2", "output": "sunny"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "before"},
                {"type": "input_text", "text": OPEN},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
                {"type": "input_text", "text": CLOSE},
                {"type": "input_text", "text": "go on"},
            ],
        },
    ]


def test_anthropic_puts_results_first_in_the_same_message():
    assert sent(ANTHROPIC, *PARALLEL) == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "[see below]"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": "sunny"},
                {"type": "text", "text": "before"},
                {"type": "text", "text": OPEN},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                },
                {"type": "text", "text": CLOSE},
                {"type": "text", "text": "go on"},
            ],
        }
    ]


def test_gemini_gives_results_a_content_of_their_own():
    assert sent(GEMINI, *PARALLEL) == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "draw", "response": {"output": "[see below]"}}},
                {"functionResponse": {"name": "look", "response": {"output": "sunny"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"text": "before"},
                {"text": '<content tool-call-id="draw">'},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                {"text": CLOSE},
                {"text": "go on"},
            ],
        },
    ]


def test_gemini_pairs_by_order_so_results_take_the_order_of_the_calls():
    turns = [UserTurn("hi"), AssistantTurn([ONE, TWO]), UserTurn([result("b", TWO), result("a", ONE)])]
    [*_, last] = GEMINI.messages(turns)
    assert [part["functionResponse"]["name"] for part in last["parts"]] == ["draw", "look"]


# Results ----------------------------------------------------------------------------------------------------


def outcome(wire, content):
    """Returns the model's text of one result."""
    [message] = sent(wire, content)
    match wire.name:
        case "openai-chat":
            return message["content"]
        case "openai-responses":
            return message["output"]
        case "anthropic":
            return message["content"][0]["content"]
        case _:
            [part] = message["parts"]
            return next(iter(part["functionResponse"]["response"].values()))


@every_wire
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ("", "(no output)"),
        (0, "0"),
        (False, "false"),
        ([], "[]"),
        ({}, "{}"),
        ({"a": "ü"}, '{"a":"ü"}'),
    ],
)
def test_every_result_is_sent_as_text(wire, value, text):
    assert outcome(wire, result(value)) == text


@every_wire
def test_a_mixed_list_keeps_its_numbering(wire):
    value = result(["intro", PNG, PDF])
    message = sent(wire, value)[0] if wire is not ANTHROPIC else sent(wire, value)[0]["content"][0]
    text = '["intro","[see below: item 2]","[see below: item 3]"]'
    assert text in json.dumps(message).replace("\\", "").replace('""', '"')


@every_wire
def test_a_failure_is_said_and_flagged_where_there_is_a_flag(wire):
    failed = result(error=ValueError("boom"))
    assert outcome(wire, failed) == "Tool calling failed with error boom"
    [message] = sent(wire, failed)
    if wire is ANTHROPIC:
        assert message["content"][0]["is_error"] is True
    if wire is GEMINI:
        assert list(message["parts"][0]["functionResponse"]["response"]) == ["error"]


@every_wire
def test_a_result_without_its_request_is_refused(wire):
    with pytest.raises(ContentError, match="has no request"):
        sent(wire, ContentToolResult("x"))


def test_native_media_stay_inside_the_result():
    value = ["intro", PNG, {"n": 1}, PDF]
    [chat] = sent(OpenAIChat(tool_media="native"), result(value))
    assert [part["type"] for part in chat["content"]] == ["text", "image_url", "text", "file"]
    [responses] = sent(OpenAIResponses(tool_media="native"), result(value))
    assert responses["output"] == [
        {"type": "input_text", "text": "intro"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_text", "text": '{"n":1}'},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
    ]
    [anthropic] = sent(AnthropicMessages(tool_media="native"), result(value), ContentText("hi"))
    assert [block["type"] for block in anthropic["content"]] == ["tool_result", "text"]
    assert [block["type"] for block in anthropic["content"][0]["content"]] == [
        "text",
        "image",
        "text",
        "document",
    ]
    [gemini] = sent(Gemini(model="gemini-3-pro", tool_media="native"), result(value))
    response = gemini["parts"][0]["functionResponse"]
    assert response["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
    ]
    assert json.loads(response["response"]["output"])[::2] == ["intro", {"n": 1}]


# User contents ----------------------------------------------------------------------------------------------


@every_wire
def test_texts_images_and_documents_keep_their_order(wire):
    [message] = sent(wire, ContentText("first"), PNG, ContentText("second"), PDF, ContentJson({"third": 3}))
    said = json.dumps(message)
    places = [said.index(part) for part in ("first", "iVBORw0KGgo=", "second", "JVBERi0=", "third")]
    assert places == sorted(places)


def test_a_lone_text_is_a_plain_string_in_chat():
    assert CHAT.message(UserTurn("hi")) == [{"role": "user", "content": "hi"}]


@every_wire
def test_a_part_of_a_newer_version_goes_to_its_own_api_as_it_is(wire):
    part = {"type": "odd", "of": [1]}
    assert json.dumps(part) in json.dumps(sent(wire, ContentUnknown(wire.name, part)))


@every_wire
def test_nothing_to_say_sends_nothing(wire):
    assert sent(wire, ContentText("")) == []
    assert sent(wire, ContentUnknown("another", {"type": "odd"})) == []
    assert wire.message(AssistantTurn("")) == []
    assert wire.message(SystemTurn("")) == []


@every_wire
def test_a_class_it_does_not_know_is_refused_by_name(wire):
    @dataclass(frozen=True)
    class ContentSmell(Content):
        pass

    for turn in (UserTurn([ContentSmell()]), AssistantTurn([ContentSmell()])):
        with pytest.raises(ContentError, match=f"ContentSmell cannot be sent over '{wire.name}'"):
            wire.message(turn)


@every_wire
def test_a_subclass_of_what_it_knows_will_do(wire):
    @dataclass(frozen=True)
    class ContentLoudText(ContentText):
        pass

    assert wire.message(UserTurn([ContentLoudText("HI")])) == wire.message(UserTurn("HI"))


def test_remote_images_and_uploaded_files():
    remote = ContentImageRemote("https://x/y.png", detail="low")
    assert CHAT.content(remote) == {
        "type": "image_url",
        "image_url": {"url": "https://x/y.png", "detail": "low"},
    }
    assert RESPONSES.content(remote) == {
        "type": "input_image",
        "image_url": "https://x/y.png",
        "detail": "low",
    }
    assert ANTHROPIC.content(remote) == {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
    with pytest.raises(ContentError, match="does not fetch URLs"):
        GEMINI.content(remote)
    assert GEMINI.content(ContentUploaded("files/1", "application/pdf", "gemini")) == {
        "fileData": {"mimeType": "application/pdf", "fileUri": "files/1"}
    }
    assert (
        ANTHROPIC.content(ContentUploaded("file_1", "image/png", "anthropic"))["source"]["file_id"]
        == "file_1"
    )
    assert (
        RESPONSES.content(ContentUploaded("file-1", "application/pdf", "openai-responses"))["type"]
        == "input_file"
    )
    for wire in ALL:
        with pytest.raises(ContentError, match="ContentUploaded"):
            wire.content(ContentUploaded("file_1", "image/png", "bedrock"))
