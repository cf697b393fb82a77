"""A printed chat shows what its model gets of a tool's media: described, after the result, or inside it."""

import re
from base64 import b64encode
from dataclasses import replace

import pytest
from wires.every_provider import PLACES

import ellmer_core as ec

PNG = ec.ContentImageInline("image/png", "iVBORw0KGgo=")
PDF = ec.ContentPDF("application/pdf", "JVBERi0=")
CALL = ec.ContentToolRequest("c1", "draw", {})

POINTED = """[tool result  (c1)]: ["A cat:","[see below: item 2]"]
<content tool-call-id="c1" item="2">
[inline image]
</content>"""
DESCRIBED = (
    '[tool result  (c1)]: ["A cat:","[The tool returned an image here, which this model cannot be shown.]"]'
)
BESIDE = '[tool result  (c1)]: ["A cat:","[see below: item 2]"]\n[inline image]'
INSIDE = "[tool result  (c1)]: \nA cat:\n[inline image]"


@pytest.mark.parametrize(
    ("name", "options", "printed"),
    [
        ("openai/gpt-5.4", {}, POINTED),
        ("anthropic/claude-sonnet-5", {"tool_media": "native"}, INSIDE),
        ("google_gemini/gemini-3.5-flash", {"tool_media": "native"}, BESIDE),
        ("deepseek/deepseek-v4-pro", {}, DESCRIBED),
        ("deepseek/deepseek-flash", {}, POINTED),
        ("ollama/qwen3-vl", {}, POINTED),
    ],
)
def test_a_tools_media_are_printed_as_they_are_sent(name, options, printed, capsys):
    chat = ec.chat(name, api_key="k", **options)
    result = ec.ContentToolResult(["A cat:", PNG], request=CALL)
    chat.set_turns([ec.UserTurn("Draw"), ec.AssistantTurn([CALL]), ec.UserTurn([result])])

    assert printed in str(chat)
    assert str(ec.UserTurn([result])) == f"<Turn: user>\n{POINTED}", "without a chat, there is no provider"


def test_a_users_medium_in_the_history_is_printed_as_it_is_described():
    chat = ec.chat_ollama(model="m")
    chat.set_turns([ec.UserTurn(["Read", PDF]), ec.AssistantTurn("I cannot.")])

    assert "[The user gave a PDF document here, which this model cannot be shown.]" in str(chat)
    assert chat.get_turns()[0].contents[1] is PDF


NOTES = ec.ContentFile("text/markdown", "SGk=", "notes.md", "Hi there")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("ollama/qwen3-vl", '<file name="notes.md">\nHi there\n</file>'),
        ("anthropic/claude-sonnet-5", "[file]: notes.md (text/markdown)"),
    ],
)
def test_a_document_is_printed_as_its_text_where_its_text_is_sent(name, printed):
    chat = ec.chat(name, api_key="k")
    chat.set_turns([ec.UserTurn(["Read", NOTES]), ec.AssistantTurn("I have.")])

    assert f"\n{printed}\n" in str(chat)


def test_a_repaired_history_is_printed_as_it_is_sent():
    chat = ec.chat_openai(model="gpt-5.4", api_key="k")
    result = ec.ContentToolResult("5", request=CALL)
    chat.set_turns(
        [ec.UserTurn("Draw"), ec.AssistantTurn("No."), ec.UserTurn([result]), ec.AssistantTurn("Ok.")]
    )

    assert "\n[The tool draw returned:] 5\n" in str(chat)
    assert chat.get_turns()[2].contents[0] is result


NAMES = sorted(set(filter(re.compile("chat_(?!app|fallback|github)").match, ec.__all__)))
CAT, DOG = (
    ec.ContentImageInline("image/png", b64encode(b"\x89PNG\r\n\x1a\n" + name).decode())
    for name in (b"the cat", b"the dog")
)
VALUES = [CAT, PDF, [CAT, DOG], ["A cat:", CAT], {"title": "t", "doc": PDF, "pic": CAT}, [{"a": [CAT, {"b": PDF}]}], ["x", NOTES, CAT]]  # fmt: skip


@pytest.mark.parametrize("media", ["pointer", "native"])
@pytest.mark.parametrize("name", NAMES)
def test_every_provider_prints_what_it_sends(name, media, monkeypatch):
    for variable, value in PLACES.items():
        monkeypatch.setenv(variable, value)
    chat = getattr(ec, name)(model="m", api_key="key", base_url="http://127.0.0.1/v1", echo="none")
    if media == "native" and not chat.wire.supports.native_tool_media:
        pytest.skip("it takes no media inside results")
    chat.wire = replace(chat.wire, tool_media=media)
    for value in VALUES:
        result = ec.ContentToolResult(value, request=CALL)
        chat.set_turns([ec.UserTurn("Draw"), ec.AssistantTurn([CALL]), ec.UserTurn([result])])
        sent, printed = "\n".join(texts(chat.wire.request(chat.get_turns(), []).json)), str(chat)
        assert printed.count("[inline image]") == sum(sent.count(image.data) for image in (CAT, DOG))
        assert printed.count("<PDF document>") == sent.count(PDF.data)
        for words in ("[see below", "<content tool-call-id", "</content>", "cannot be shown", "Hi there"):
            assert printed.count(words) == sent.count(words), (value, words)


def texts(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value
