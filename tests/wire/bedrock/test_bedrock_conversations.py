"""Bedrock Converse: the conversation for each model family."""

import pytest
from wires.bedrock_samples import CALLED, CLAUDE, LLAMA, MISTRAL, NOVA, PDF, PNG, QWEN, TWO, WRITER, result

from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentToolRequest,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import ContentError
from ellmer_core.wire.bedrock.to_wire import Bedrock


def sent(wire, *turns):
    return wire.request([UserTurn("Go"), *turns]).json["messages"][1:]


def native(wire):
    return Bedrock(model=wire.model, tool_media="native")


def kinds(message):
    return [next(iter(block)) for block in message["content"]]


# Order ------------------------------------------------------------------------------------------------------

PARALLEL = UserTurn([ContentText("before"), result(PNG), result("sunny", TWO), ContentText("go on")])


@pytest.mark.parametrize("wire", [CLAUDE, NOVA, QWEN], ids=lambda wire: wire.family.name)
def test_all_results_come_first_in_the_one_user_message(wire):
    *_, message = sent(wire, CALLED, PARALLEL)

    assert kinds(message) == ["toolResult", "toolResult", "text", "text", "image", "text", "text"]
    assert message["content"][0]["toolResult"] == {
        "toolUseId": "call_1",
        "content": [{"text": "[see below]"}],
        "status": "success",
    }
    assert [block.get("text") for block in message["content"][2:]] == [
        "before",
        '<content tool-call-id="call_1">',
        None,
        "</content>",
        "go on",
    ]


@pytest.mark.parametrize("wire", [LLAMA, MISTRAL, WRITER], ids=lambda wire: wire.family.name)
def test_where_results_must_be_alone_the_rest_follows_an_assistant_message(wire):
    messages = sent(wire, CALLED, PARALLEL)

    assert [message["role"] for message in messages] == ["assistant", "user", "assistant", "user"]
    assert kinds(messages[1]) == ["toolResult", "toolResult"]
    assert messages[2]["content"] == [{"text": "."}]
    assert "toolResult" not in kinds(messages[3])


def test_neighbours_of_one_role_are_one_message():
    messages = sent(
        CLAUDE, CALLED, UserTurn([result("a"), result("b", TWO)]), UserTurn("and?"), UserTurn("well?")
    )

    assert kinds(messages[1]) == ["toolResult", "toolResult", "text", "text"]
    assert [m["role"] for m in sent(LLAMA, CALLED, UserTurn([result("a")]), UserTurn("and?"))] == [
        "assistant",
        "user",
        "assistant",
        "user",
    ]


def test_a_conversation_starts_with_the_user_where_it_has_to():
    turns = [AssistantTurn("Hello!"), UserTurn("Hi")]

    assert [m["role"] for m in CLAUDE.messages(turns)] == ["assistant", "user"]
    assert [m["role"] for m in NOVA.messages(turns)] == ["user", "assistant", "user"]


def test_blank_texts_and_empty_turns_are_left_out():
    turns = [
        SystemTurn(" "),
        UserTurn([ContentText("Hi"), ContentText("\n")]),
        AssistantTurn(" "),
    ]

    assert CLAUDE.request(turns).json == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


# Results ----------------------------------------------------------------------------------------------------


def test_an_error_is_said_and_flagged():
    [message] = CLAUDE.message(UserTurn([result(error="boom")]))

    assert message["content"][0]["toolResult"]["status"] == "error"
    assert message["content"][0]["toolResult"]["content"] == [{"text": "Tool calling failed with error boom"}]
    assert "status" not in WRITER.message(UserTurn([result("x")]))[0]["content"][0]["toolResult"]


@pytest.mark.parametrize(
    ("value", "json"), [({"t": 3}, {"t": 3}), ("warm", {"result": "warm"}), ([1], {"result": "[1]"})]
)
def test_mistral_gets_results_as_objects(value, json):
    [message] = MISTRAL.message(UserTurn([result(value)]))

    assert message["content"][0]["toolResult"]["content"] == [{"json": json}]


@pytest.mark.parametrize(
    ("wire", "inside"),
    [
        (CLAUDE, ["text", "image", "document"]),
        (LLAMA, ["text", "image", "document"]),
        (NOVA, ["text"]),
        (QWEN, ["text"]),
    ],
    ids=lambda value: getattr(getattr(value, "family", None), "name", ""),
)
def test_native_media_stay_in_a_result_where_the_family_takes_them(wire, inside):
    messages = native(wire).message(UserTurn([result(["A cat:", PNG, PDF]), result("b", TWO)]))

    assert [next(iter(part)) for part in messages[0]["content"][0]["toolResult"]["content"]] == inside
    assert kinds(messages[0])[:2] == ["toolResult", "toolResult"]
    hoisted = [kind for message in messages for kind in kinds(message) if kind in {"image", "document"}]
    assert hoisted == ([] if "image" in inside else ["image", "document"])


def test_nova_takes_images_in_results():
    [message] = native(NOVA).message(UserTurn([result(PNG)]))

    assert message["content"] == [
        {
            "toolResult": {
                "toolUseId": "call_1",
                "content": [{"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}],
                "status": "success",
            }
        }
    ]


@pytest.mark.parametrize("id", ["functions.f:0", "a b", "x" * 65, "日本"])
def test_ids_of_others_are_made_legal_on_both_sides(id):
    call = ContentToolRequest(id, "f")
    asked, answer = CLAUDE.messages([AssistantTurn([call]), UserTurn([result("x", call)])])
    ours = asked["content"][0]["toolUse"]["toolUseId"]

    assert ours == answer["content"][0]["toolResult"]["toolUseId"]
    assert ours.isascii()
    assert ours.isalnum()


# Media ------------------------------------------------------------------------------------------------------


def test_a_document_needs_text_beside_it():
    assert CLAUDE.message(UserTurn([PDF]))[0]["content"] == [
        {"text": "."},
        {"document": {"name": "Q3 report (final)", "format": "pdf", "source": {"bytes": "JVBERi0="}}},
    ]
    assert kinds(CLAUDE.message(UserTurn([ContentText("Read"), PDF]))[0]) == ["text", "document"]


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("a_b.c.pdf", "a-b-c"),
        ("two  spaces.pdf", "two spaces"),
        ("../../etc/passwd", "passwd"),
        ("données [1].pdf", "donn-es [1]"),
        ("", "document"),
        ("x" * 300 + ".pdf", "x" * 190),
    ],
)
def test_names_of_documents_are_legal(filename, name):
    [message] = CLAUDE.message(UserTurn([ContentPDF("application/pdf", "JVBERi0=", filename)]))

    assert message["content"][1]["document"]["name"] == name


def test_names_of_documents_are_distinct_and_stay_as_the_history_grows():
    turns = [UserTurn([ContentText("a"), PDF, PDF])]
    longer = [*turns, AssistantTurn("b"), UserTurn([ContentText("c"), PDF])]

    assert CLAUDE.messages(longer)[0] == CLAUDE.messages(turns)[0]
    names = [b["document"]["name"] for m in CLAUDE.messages(longer) for b in m["content"] if "document" in b]
    assert names == ["Q3 report (final)", "Q3 report (final) (2)", "Q3 report (final) (3)"]


def test_files_come_from_s3_and_never_from_the_web():
    photo = ContentImageRemote("s3://bucket/photo.jpg")
    sheet = ContentUploaded("s3://bucket/a.csv", "text/csv", "bedrock")
    picture = ContentUploaded("s3://bucket/a", "image/webp", "bedrock")

    assert CLAUDE.content(photo) == {
        "image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://bucket/photo.jpg"}}}
    }
    assert CLAUDE.content(sheet)["document"]["format"] == "csv"
    assert CLAUDE.content(picture)["image"]["format"] == "webp"
    with pytest.raises(ContentError, match=r"does not fetch URLs.*https://x/y\.png"):
        CLAUDE.content(ContentImageRemote("https://x/y.png"))
    with pytest.raises(ContentError, match="image/tiff is not one of"):
        CLAUDE.content(ContentImageInline("image/tiff", "AA"))
    with pytest.raises(ContentError):
        CLAUDE.content(ContentUploaded("file_1", "application/pdf", "anthropic"))


def test_the_models_own_media_are_named():
    turn = AssistantTurn([PNG, PDF, ContentJson({"a": 1})])

    assert CLAUDE.message(turn)[0]["content"] == [
        {"text": "[inline image]"},
        {"text": "[PDF document]"},
        {"text": '{"a":1}'},
    ]
