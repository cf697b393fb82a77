"""The conversation for a page that is loaded again, in both protocols."""

import json

import pytest
from ag_ui.core import Interrupt, Message
from pydantic import TypeAdapter

import ellmer_core as ec
from ellmer_core import AssistantTurn, ContentText, ContentToolRequest, ContentToolResult, UserTurn
from ellmer_core.web import ag_ui, vercel

PNG = ec.ContentImageInline("image/png", "iVBORw0KGgo=")
SOURCE = ec.ContentCitation("https://example.com", "A page")
CALL = ContentToolRequest("c1", "look", {"x": 1})
OTHER = ContentToolRequest("c2", "look", {"x": 2})


@pytest.fixture
def chat():
    return ec.chat_openai("Be brief.", model="gpt-5.4", api_key="k")


def parts(chat):
    return [message["parts"] for message in vercel.messages(chat)]


def messages(chat):
    found = ag_ui.messages(chat)
    TypeAdapter(list[Message]).validate_python(found)
    return [{name: value for name, value in message.items() if name != "id"} for message in found]


def test_no_conversation_is_no_message(chat):
    assert vercel.messages(chat) == ag_ui.messages(chat) == ag_ui.interrupts(chat) == []


def test_what_was_said_is_shown_and_the_system_prompt_is_not(chat):
    cited = ContentText("A dot.", citations=(SOURCE, SOURCE))
    answer = AssistantTurn([ec.ContentThinking("hm"), cited, PNG], tokens=ec.Tokens(3, 4))
    chat.set_turns([UserTurn(["What?", PNG]), answer])

    image = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="}
    [asked, [step, thought, text, source, file]] = parts(chat)
    assert asked == [{"type": "text", "text": "What?"}, image]
    assert (step["type"], thought["type"], thought["text"]) == ("step-start", "reasoning", "hm")
    assert text == {"type": "text", "text": "A dot.", "state": "done"}
    assert (source["url"], source["title"], file) == ("https://example.com", "A page", image)
    assert vercel.messages(chat)[1]["metadata"]["usage"]["totalTokens"] == 7

    said, thinking, spoken = messages(chat)
    assert [part["type"] for part in said["content"]] == ["text", "image"]
    assert (thinking["role"], spoken["content"]) == ("reasoning", "A dot.")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "image"),
        (ec.ContentFile("audio/wav", "UklGRg=="), "audio"),
        (ec.ContentFile("video/mp4", "AAAA"), "video"),
        (ec.ContentFile("text/csv", "YSxi"), "document"),
        (ec.ContentPDF("application/pdf", "JVBERi0="), "document"),
    ],
)
def test_media_have_the_kind_that_the_protocol_has_for_them(chat, content, kind):
    chat.set_turns([UserTurn(["What?", content]), AssistantTurn("This.")])
    asked = messages(chat)[0]["content"][1]

    assert (asked["type"], asked["source"]["mimeType"]) == (kind, content.type)
    assert asked["source"]["value"] == content.data


def test_calls_have_their_results_also_an_error_and_a_denied_one(chat):
    denied = ContentToolRequest("c3", "look", {"x": 3})
    results = [
        ContentToolResult({"found": [PNG]}, request=CALL),
        ContentToolResult(error="it failed", request=OTHER),
        ContentToolResult(error="no", extra={"decision": "denied"}, request=denied),
    ]
    chat.set_turns(
        [UserTurn("Look"), AssistantTurn([CALL, OTHER, denied]), UserTurn(results), AssistantTurn("Done.")]
    )

    [_, [_, first, second, third, step, done]] = parts(chat)
    assert first["output"]["found"][0]["type"] == "file"
    assert (second["state"], third["state"]) == ("output-error", "output-denied")
    assert third["approval"] == {"id": "c3", "approved": False}
    assert (step["type"], done["text"]) == ("step-start", "Done.")

    _, answer, *tools, last = messages(chat)
    assert [call["id"] for call in answer["toolCalls"]] == [tool["toolCallId"] for tool in tools]
    assert last["content"] == "Done."


def test_a_call_that_waits_can_be_decided_about(chat):
    chat.set_turns([UserTurn("Look"), AssistantTurn([CALL])])

    [_, [_, call]] = parts(chat)
    assert (call["state"], call["approval"]) == ("approval-requested", {"id": "c1"})
    [asked] = ag_ui.interrupts(chat)
    TypeAdapter(Interrupt).validate_python(asked)
    assert asked["toolCallId"] == "c1"


def test_one_of_two_calls_has_a_result_that_was_not_sent(chat):
    chat.set_turns([UserTurn("Look"), AssistantTurn([CALL, OTHER])])
    chat._history.results[0] = ContentToolResult("5", request=CALL)

    [_, [_, first, second]] = parts(chat)
    assert (first["state"], second["state"]) == ("output-available", "approval-requested")
    assert [each["id"] for each in ag_ui.interrupts(chat)] == ["c2"]


def test_the_question_of_a_tool_has_its_form(chat):
    schema = {"type": "object", "properties": {"seat": {"type": "string"}}}
    question = {"message": "Which seat?", "schema": schema, "arguments": {}, "url": ""}
    chat.set_turns(
        [UserTurn("Book"), AssistantTurn([ContentToolRequest("c1", "book", extra={"question": question})])]
    )

    [_, [_, call]] = parts(chat)
    assert call["approval"]["requestReason"] == "Which seat?"
    assert call["approval"]["descriptor"]["schema"] == schema


def test_a_call_without_a_result_in_a_history_from_elsewhere_is_an_error(chat):
    chat.set_turns([UserTurn("Look"), AssistantTurn([CALL]), UserTurn("Never mind"), AssistantTurn("Fine.")])

    assert parts(chat)[1][1]["state"] == "output-error"
    assert len(parts(chat)) == 4


def test_a_call_with_the_id_of_an_earlier_one_keeps_its_own_result(chat):
    rounds = [
        turn
        for word in ("first", "second")
        for turn in (
            AssistantTurn([CALL]),
            UserTurn([ContentToolResult(word, request=CALL)]),
        )
    ]
    chat.set_turns([UserTurn("Look"), *rounds, AssistantTurn("Done.")])

    assert [part["output"] for part in parts(chat)[1] if "output" in part] == ["first", "second"]


def test_what_a_provider_ran_is_marked(chat):
    ran = ec.ContentProviderCall("gemini", {}, id="s1", name="web_search", value="3 pages")
    chat.set_turns([UserTurn("Search"), AssistantTurn([ran, "Found."])])

    call = parts(chat)[1][1]
    assert (call["type"], call["providerExecuted"], call["output"]) == ("tool-web_search", True, "3 pages")


def test_ids_stay_and_are_distinct(chat):
    chat.set_turns([UserTurn("a"), AssistantTurn("b"), UserTurn("c"), AssistantTurn(["d", CALL])])
    for shown in (vercel.messages, ag_ui.messages):
        ids = [message["id"] for message in shown(chat)]
        assert ids == [message["id"] for message in shown(chat)]
        assert len({*ids}) == len(ids)


def test_the_messages_are_json_that_the_adapters_read_back(chat):
    results = UserTurn([ContentToolResult("5", request=CALL)])
    turns = [UserTurn("Look"), AssistantTurn(["Let me see.", CALL]), results, AssistantTurn("Five.")]
    chat.set_turns(turns)

    said = {"role": "user", "id": "n", "parts": [{"type": "text", "text": "And?"}]}
    body = {"id": "c", "messages": [*vercel.messages(chat), said]}
    assert list(vercel.read(json.dumps(body)).turns) == turns
    said = {"role": "user", "id": "n", "content": "And?"}
    body = {"threadId": "c", "runId": "r", "messages": [*ag_ui.messages(chat), said]}
    assert [turn.text for turn in ag_ui.read(json.dumps(body)).turns] == [turn.text for turn in turns]
