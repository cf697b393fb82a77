"""A printed chat shows what its model gets of a tool's media: described, after the result, or inside it."""

import pytest

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
INSIDE = "[tool result  (c1)]: \nA cat:\n[inline image]"


@pytest.mark.parametrize(
    ("name", "options", "printed"),
    [
        ("openai/gpt-5.4", {}, POINTED),
        ("anthropic/claude-sonnet-5", {"tool_media": "native"}, INSIDE),
        ("deepseek/deepseek-v4-flash", {}, DESCRIBED),
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
