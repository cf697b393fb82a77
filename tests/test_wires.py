"""What the four wire formats send: orders, results, ids, media, thinking, tools, parameters."""

import json
import warnings
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
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.prompts import NEUTRAL, params
from ellmer_core.contents.tool_calls import ContentToolRequest, ContentToolResult, ToolDef
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import ContentError
from ellmer_core.schemas.type_values import TypeObject
from ellmer_core.schemas.types import TypeArray, TypeBasic, TypeEnum, TypeJsonSchema
from ellmer_core.wire.anthropic.request import AnthropicMessages
from ellmer_core.wire.bedrock.request import Bedrock
from ellmer_core.wire.cohere.request import CohereChat
from ellmer_core.wire.gemini.request import UNSIGNED, Gemini
from ellmer_core.wire.mistral.request import MistralChat
from ellmer_core.wire.openai_chat.request import OpenAIChat
from ellmer_core.wire.openai_responses.request import OpenAIResponses

CHAT, RESPONSES, ANTHROPIC, GEMINI = (
    OpenAIChat(model="m"),
    OpenAIResponses(model="m"),
    AnthropicMessages(model="m"),
    Gemini(model="gemini-2.5-flash"),
)
ALL = [CHAT, RESPONSES, ANTHROPIC, GEMINI]
every_wire = pytest.mark.parametrize("wire", ALL, ids=lambda wire: wire.name)

PNG = ContentImageInline("image/png", "iVBORw0=")
PDF = ContentPDF("application/pdf", "JVBERi0=", "a.pdf")
ONE, TWO = ContentToolRequest("call_1", "draw", {"n": 1}), ContentToolRequest("call_2", "look", {})
OPEN, CLOSE = '<content tool-call-id="call_1">', "</content>"


def result(value=None, request=ONE, error=None):
    return ContentToolResult(value, error=error, request=request)


def sent(wire, *contents):
    return wire.message(UserTurn(contents))


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
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}},
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
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0="},
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
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="},
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
                {"text": OPEN},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}},
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
    """What the model reads of one result."""
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
    with pytest.raises(ContentError, match="answers no request"):
        sent(wire, ContentToolResult("x"))


def test_native_media_stay_inside_the_result():
    value = ["intro", PNG, {"n": 1}, PDF]
    [chat] = sent(OpenAIChat(tool_media="native"), result(value))
    assert [part["type"] for part in chat["content"]] == ["text", "image_url", "text", "file"]
    [responses] = sent(OpenAIResponses(tool_media="native"), result(value))
    assert responses["output"] == [
        {"type": "input_text", "text": "intro"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0="},
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
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
    ]
    assert json.loads(response["response"]["output"])[::2] == ["intro", {"n": 1}]


# User contents ----------------------------------------------------------------------------------------------


@every_wire
def test_texts_images_and_documents_keep_their_order(wire):
    [message] = sent(wire, ContentText("first"), PNG, ContentText("second"), PDF, ContentJson({"third": 3}))
    said = json.dumps(message)
    places = [said.index(part) for part in ("first", "iVBORw0=", "second", "JVBERi0=", "third")]
    assert places == sorted(places)


def test_a_lone_text_is_a_plain_string_in_chat():
    assert CHAT.message(UserTurn("hi")) == [{"role": "user", "content": "hi"}]


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
    with pytest.raises(ContentError, match="fetches no URL"):
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


# The model's turns ------------------------------------------------------------------------------------------


def test_an_answer_with_calls_only():
    turn = AssistantTurn([ONE, ContentToolRequest("call_2", "look", raw="{ }")])
    assert CHAT.message(turn) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "draw", "arguments": '{"n":1}'}},
                {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "{ }"}},
            ],
        }
    ]
    assert RESPONSES.message(turn) == [
        {"type": "function_call", "call_id": "call_1", "name": "draw", "arguments": '{"n":1}'},
        {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": "{ }"},
    ]
    assert ANTHROPIC.message(turn)[0]["content"] == [
        {"type": "tool_use", "id": "call_1", "name": "draw", "input": {"n": 1}},
        {"type": "tool_use", "id": "call_2", "name": "look", "input": {}},
    ]
    assert GEMINI.message(turn)[0]["parts"] == [
        {"functionCall": {"name": "draw", "args": {"n": 1}}},
        {"functionCall": {"name": "look", "args": {}}},
    ]


@every_wire
def test_what_another_provider_sealed_stays_here(wire):
    foreign = [
        ContentThinking(
            "hm",
            extra={
                "elsewhere": {"signature": "s"},
                wire.name: {"issuer": "Somebody Else", "fields": {"x": 1}},
            },
        ),
        ContentUnknown("elsewhere", {"type": "odd"}),
        ContentText("hi"),
    ]
    assert wire.message(AssistantTurn(foreign)) == wire.message(AssistantTurn("hi"))


@every_wire
def test_a_partial_answer_goes_back_without_its_thoughts(wire):
    thinking = ContentThinking(
        "hm", extra=wire.own(fields={"thoughtSignature": "s"}, item={"id": "rs_1"}, block={"data": "x"})
    )
    assert wire.message(AssistantPartialTurn([thinking, ContentText("hi")])) == wire.message(
        AssistantTurn("hi")
    )
    assert wire.message(AssistantPartialTurn([thinking])) == []


@every_wire
def test_media_of_another_models_answer_are_named(wire):
    [message] = wire.message(AssistantTurn([ContentImageRemote("https://x")]))
    assert "[remote image]" in json.dumps(message)


@every_wire
def test_an_answer_holds_no_results(wire):
    with pytest.raises(ContentError, match="only a user turn holds results"):
        wire.message(AssistantTurn([result("x")]))


def test_ids_of_other_providers_become_legal_on_both_sides():
    odd = ContentToolRequest("functions.Bash:0" + "x" * 60, "bash", {})
    for wire, legal in ((CHAT, 40), (RESPONSES, 64), (ANTHROPIC, 64)):
        sides = json.dumps([wire.message(AssistantTurn([odd])), sent(wire, result("ok", odd))])
        assert odd.id not in sides
        assert len(wire.call_id(odd.id)) <= legal
        assert sides.count(wire.call_id(odd.id)) == 2
    assert CHAT.call_id("call_1") == "call_1"
    assert ANTHROPIC.call_id("toolu_1") == "toolu_1"


def test_responses_puts_foreign_text_before_the_calls():
    items = RESPONSES.message(AssistantTurn([ONE, ContentText("and"), TWO]))
    assert [item.get("type", item.get("role")) for item in items] == [
        "assistant",
        "function_call",
        "function_call",
    ]


@pytest.mark.parametrize(
    "wire",
    [*ALL, Bedrock(model="us.amazon.nova-pro-v1:0"), MistralChat(model="m")],
    ids=lambda wire: wire.name,
)
def test_the_tags_around_an_image_name_the_call_as_the_request_does(wire):
    foreign = ContentToolRequest("turn 1: call/1" + "x" * 60, "draw", {})
    messages = wire.messages([UserTurn("q"), AssistantTurn([foreign]), UserTurn([result(PNG, foreign)])])
    id = wire.call_id(foreign.id)
    assert f'<content tool-call-id=\\"{id}\\">' in json.dumps(messages)


def test_responses_sends_no_reasoning_that_was_cut_off_before_it_led_to_anything():
    """`Item 'rs_…' of type 'reasoning' was provided without its required following item.`"""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    said = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

    assert RESPONSES.message(RESPONSES.turn({**cut, "output": [reasoning]})) == []
    assert RESPONSES.message(RESPONSES.turn({**cut, "output": [said, reasoning]})) == [
        {"role": "assistant", "content": "Hi"}
    ]
    whole = RESPONSES.message(RESPONSES.turn({"status": "completed", "output": [reasoning, said]}))
    assert [item["id"] for item in whole] == ["rs_1", "msg_1"]


@pytest.mark.parametrize(
    ("wire", "answer"),
    [
        (
            ANTHROPIC,
            {
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "S"},
                    {"type": "text", "text": "\n"},
                ]
            },
        ),
        (
            Bedrock(model="us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            {
                "stopReason": "max_tokens",
                "output": {
                    "message": {"content": [{"reasoningContent": {"redactedContent": "eA=="}}, {"text": " "}]}
                },
            },
        ),
    ],
    ids=["anthropic", "bedrock"],
)
def test_thoughts_that_led_to_nothing_are_not_sent_back(wire, answer):
    """`The final block in an assistant message cannot be thinking`"""
    turn = wire.turn(answer)
    call = wire.message(AssistantTurn([*turn.contents, ONE]))
    assert wire.message(turn) == []
    assert len(call[0]["content"]) == 2


def test_anthropic_drops_blank_text_and_joins_neighbours():
    turns = [
        UserTurn("a"),
        AssistantTurn(" \n"),
        UserTurn("b"),
        AssistantTurn("c "),
        UserTurn("d"),
        AssistantTurn("e \n"),
    ]
    assert ANTHROPIC.messages(turns) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "c "}]},
        {"role": "user", "content": [{"type": "text", "text": "d"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "e"}]},
    ]


def test_gemini_signs_a_call_it_did_not_make_from_version_3_on():
    turns = [AssistantTurn([ContentText("so"), ONE, TWO])]
    start, model = Gemini(model="gemini-3-pro-preview").messages(turns)
    assert start == {"role": "user", "parts": [{"text": ""}]}
    assert [part.get("thoughtSignature") for part in model["parts"]] == [None, UNSIGNED, None]
    assert "thoughtSignature" not in json.dumps(Gemini(model="gemini-2.5-pro").messages(turns))
    assert Gemini(model="gemini-flash-latest").needs_signatures()


def test_gemini_joins_neighbouring_model_contents():
    contents = GEMINI.messages(
        [UserTurn("a"), AssistantTurn("b"), AssistantTurn([ONE]), UserTurn([result("x")])]
    )
    assert [(c["role"], len(c["parts"])) for c in contents] == [("user", 1), ("model", 2), ("user", 1)]


# Requests ---------------------------------------------------------------------------------------------------

TURNS = [SystemTurn("Be brief."), UserTurn("hi")]
ADD = ToolDef(
    lambda a, b=None: a,
    "add",
    "Adds.",
    TypeObject(
        properties={
            "a": TypeBasic("A number", type="integer"),
            "b": TypeEnum(required=False, values=("x", "y")),
        }
    ),
)
NOW = ToolDef(lambda: 0, "now", "The time.", TypeObject())


def test_a_chat_request():
    wire = OpenAIChat(model="m", base_url="https://x/v1/", credentials=lambda: "k", params={"max_tokens": 9})
    request = wire.request(TURNS, [ADD, NOW], stream=True)
    assert (request.url, request.headers) == ("https://x/v1/chat/completions", {"authorization": "Bearer k"})
    assert request.json == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "add",
                    "description": "Adds.",
                    "strict": True,
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "a": {"type": "integer", "description": "A number"},
                            "b": {"type": ["string", "null"], "enum": ["x", "y", None]},
                        },
                        "required": ["a", "b"],
                        "additionalProperties": False,
                    },
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "now",
                    "description": "The time.",
                    "strict": True,
                    "parameters": {
                        "type": "object",
                        "properties": {},
                        "required": [],
                        "additionalProperties": False,
                    },
                },
            },
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 9,
    }


def test_a_responses_request():
    request = OpenAIResponses(model="gpt-5-mini", params={"reasoning_effort": "low"}).request(TURNS, [NOW])
    assert request.url == "https://api.openai.com/v1/responses"
    assert request.headers == {}
    assert request.json == {
        "model": "gpt-5-mini",
        "input": [
            {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        ],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "now",
                "description": "The time.",
                "parameters": {
                    "type": "object",
                    "properties": {},
                    "required": [],
                    "additionalProperties": False,
                },
                "strict": True,
            }
        ],
        "reasoning": {"effort": "low"},
    }


@pytest.mark.parametrize(
    "model", ["o3", "gpt-5", "gpt-5.4-nano", "openai/gpt-5", "gpt-5.3-codex", "gpt-6", "gpt-oss-20b"]
)
def test_reasoning_models_give_their_reasoning_encrypted(model):
    assert OpenAIResponses(model=model).reasons()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-nano", "gpt-5-chat-latest", "gpt-5.2-chat"])
def test_others_have_none(model):
    assert not OpenAIResponses(model=model).reasons()


def test_an_anthropic_request():
    wire = AnthropicMessages(
        model="m", credentials=lambda: "k", params={"reasoning_tokens": 2000, "top_k": 3}
    )
    request = wire.request(TURNS, [ADD], stream=True)
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert request.headers == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert request.json == {
        "model": "m",
        "max_tokens": 6096,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "tools": [
            {
                "name": "add",
                "description": "Adds.",
                "input_schema": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "integer", "description": "A number"},
                        "b": {"type": "string", "enum": ["x", "y"]},
                    },
                    "required": ["a"],
                    "additionalProperties": False,
                },
            }
        ],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "stream": True,
        "top_k": 3,
    }
    effort = AnthropicMessages(model="m", params={"reasoning_effort": "low"}).request(TURNS).json
    assert (effort["thinking"], effort["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})


def test_a_gemini_request():
    wire = Gemini(model="g", credentials=lambda: "k", params={"max_tokens": 9, "reasoning_effort": "low"})
    request = wire.request(TURNS, [ADD, NOW], stream=True)
    assert (
        request.url
        == "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse"
    )
    assert request.headers == {"x-goog-api-key": "k"}
    [tools] = request.json.pop("tools")
    add, now = tools["functionDeclarations"]
    assert add["parametersJsonSchema"]["required"] == ["a"]
    assert now == {"name": "now", "description": "The time."}
    assert request.json == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"},
            "maxOutputTokens": 9,
        },
    }


@every_wire
def test_structured_output_is_asked_for_by_schema(wire):
    type = TypeObject(properties={"n": TypeBasic(type="number"), "tags": TypeArray(required=False)})
    body = wire.request([UserTurn("hi")], type=type).json
    match wire.name:
        case "openai-chat":
            schema = body["response_format"]["json_schema"]["schema"]
        case "openai-responses":
            schema = body["text"]["format"]["schema"]
        case "anthropic":
            schema = body["output_config"]["format"]["schema"]
        case _:
            assert body["generationConfig"]["responseMimeType"] == "application/json"
            schema = body["generationConfig"]["responseJsonSchema"]
    assert schema["properties"]["n"] == {"type": "number"}
    assert schema["additionalProperties"] is False
    nullable = wire.name.startswith("openai")
    assert schema["required"] == (["n", "tags"] if nullable else ["n"])
    assert schema["properties"]["tags"]["type"] == (["array", "null"] if nullable else "array")


@pytest.mark.parametrize(
    "type",
    [
        TypeObject(additional_properties=True),
        TypeObject(properties={"a": TypeJsonSchema(schema={"type": "object"})}),
        *(
            TypeObject(properties={"a": TypeJsonSchema(schema=schema)})
            for schema in (
                {},
                {"description": "Anything."},
                {"type": "array"},
                {"type": "array", "items": {}},
                {"type": "array", "items": {"type": "array", "prefixItems": [{"type": "string"}]}},
                {"anyOf": [{"type": "string"}, {}]},
                {"$ref": "#/$defs/A", "$defs": {"A": {}}},
            )
        ),
    ],
)
def test_what_strict_schemas_cannot_say_is_not_strict(type):
    assert CHAT.tool(ToolDef(print, "t", "", type))["function"]["strict"] is False
    assert RESPONSES.tool(ToolDef(print, "t", "", type))["strict"] is False
    assert CHAT.schema(type)["required"] == list(type.properties)


def test_a_property_may_bear_the_name_of_a_keyword():
    type = TypeObject(properties={"not": TypeBasic(), "items": TypeObject(), "enum": TypeEnum(values=("a",))})
    assert RESPONSES.tool(ToolDef(print, "t", "", type))["strict"] is True


def test_an_optional_json_schema_may_be_null():
    type = TypeObject(properties={"a": TypeJsonSchema(required=False, schema={"$ref": "#/$defs/x"})})
    assert CHAT.schema(type)["properties"]["a"] == {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}


@every_wire
def test_what_the_caller_adds_wins(wire):
    wire = type(wire)(
        model="m",
        params={"temperature": 0.1},
        api_args={"temperature": None, "metadata": {"a": 1}, "model": "other"},
        api_headers={"authorization": "mine", "x": "y"},
        credentials=lambda: "the-key",
    )
    request = wire.request([UserTurn("hi")])
    assert request.json["metadata"] == {"a": 1}
    assert request.json["model"] == "other"
    assert "temperature" not in request.json
    assert (request.headers["authorization"], request.headers["x"]) == ("mine", "y")
    assert "tools" not in request.json
    assert "the-key" not in repr(wire) + repr(request)


@every_wire
def test_a_neutral_parameter_it_does_not_have_is_named(wire):
    missing = sorted(NEUTRAL - wire.param_names.keys())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        body = type(wire)(model="m", params=dict.fromkeys(missing, 1)).request([UserTurn("hi")]).json
    named = f"{wire.name} has no parameter {', '.join(map(repr, missing))}: ignored"
    assert [str(warning.message) for warning in caught] == ([named] if missing else [])
    assert not set(missing) & set(body)


@every_wire
def test_a_parameter_of_the_provider_s_own_goes_in_as_it_is(wire):
    own = {"service_tier": "flex", "deep": {"a": [1]}}
    body = type(wire)(model="m", params=params(temperature=0.5, **own)).request([UserTurn("hi")]).json
    assert {name: body[name] for name in own} == own


@pytest.mark.parametrize(
    ("wire", "choice", "place"),
    [
        (OpenAIChat, "required", ["tool_choice"]),
        (OpenAIResponses, {"type": "function", "name": "f"}, ["tool_choice"]),
        (AnthropicMessages, {"type": "any", "disable_parallel_tool_use": True}, ["tool_choice"]),
        (Gemini, {"mode": "ANY", "allowedFunctionNames": ["f"]}, ["toolConfig", "functionCallingConfig"]),
        (Bedrock, {"any": {}}, ["toolConfig", "toolChoice"]),
        (MistralChat, "any", ["tool_choice"]),
        (CohereChat, "REQUIRED", ["tool_choice"]),
    ],
)
def test_the_provider_s_own_tool_choice_goes_where_it_belongs(wire, choice, place):
    sent = wire(model="m", params=params(tool_choice=choice)).request([UserTurn("hi")], [ADD]).json
    assert json.dumps(wire(model="m").tool(ADD)) in json.dumps(sent)
    for name in place:
        sent = sent[name]
    assert sent == choice


@every_wire
def test_building_a_request_changes_nothing_it_was_given(wire):
    turns = [*TURNS, AssistantTurn([ONE, TWO]), UserTurn([result([PNG, "x"]), result({"a": [1]}, TWO)])]
    before = repr(turns)
    assert wire.messages(turns) == wire.messages(turns)
    assert repr(turns) == before
