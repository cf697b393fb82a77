"""`add_message()`: a message to a conversation in progress goes out with its next request."""

import asyncio
import threading
from pathlib import Path

import pytest

import ellmer_core as ec
from ellmer_core import ContentToolResult, UsageError, content_image_file, tool
from ellmer_core.testing import ScriptedModel, failure, tool_call, transcript

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "ui-progress.png"
CALL = tool_call("look", at="the sofa")
WHOLE = """\
user: Look.
assistant: calls look(at='the sofa')
user: look returns a cat
user: Be brief.
assistant: A cat."""


def looking(*answers, said=("Be brief.",), final=False, **options):
    """Returns a chat whose tool adds a message, and its model."""
    model = ScriptedModel(*answers)
    chat = model.chat(**options)

    @tool(final=final)
    def look(at: str) -> str:
        """Looks at something."""
        chat.add_message(*said)
        return "a cat"

    chat.register_tool(look)
    return chat, model


def test_it_goes_out_with_the_results_of_the_tools():
    chat, model = looking(CALL, "A cat.")
    assert chat.chat("Look.") == "A cat."
    assert transcript(chat) == WHOLE
    assert model.asked[-1].text == "Be brief."
    assert model.asked[-1].results == ["a cat"]


def test_a_hook_sees_it_and_can_change_it():
    chat, model = looking(CALL, "A cat.", said=("Write to ann@example.com.",))
    seen = []

    def without_address(turns):
        seen.append(transcript(turns))
        *before, new = turns
        texts = [
            c.text.replace("ann@example.com", "[address]") if isinstance(c, ec.ContentText) else c
            for c in new.contents
        ]
        return [*before, ec.UserTurn(texts)]

    chat.on_history(without_address)
    assert chat.chat("Look.") == "A cat."
    assert seen[-1].endswith("user: look returns a cat\nuser: Write to ann@example.com.")
    assert model.asked[-1].text == "Write to [address]."
    assert model.asked[-1].results == ["a cat"]
    assert chat.last_turn("user").text == "Write to ann@example.com."


@pytest.mark.filterwarnings("ignore:The conversation has")  # of a result whose call is left out
@pytest.mark.parametrize("hook", [lambda _: [], lambda turns: turns[:1], lambda turns: turns[:-1]])
def test_a_hook_that_leaves_the_new_message_out_does_not_keep_it_back(hook):
    chat, model = looking(CALL, "A cat.")
    chat.on_history(hook)
    assert chat.chat("Look.") == "A cat."
    assert [asked.text.splitlines()[-1] for asked in model.asked] == ["Look.", "Be brief."]


def test_it_does_so_in_async_code_and_in_streams():
    chat, _ = looking(CALL, "A cat.")
    asyncio.run(chat.chat_async("Look."))
    assert transcript(chat) == WHOLE
    chat, _ = looking(CALL, "A cat.")
    assert "".join(chat.stream("Look.")) == "A cat."
    assert transcript(chat) == WHOLE


def test_an_answer_without_a_call_is_followed_by_one_more_request():
    model = ScriptedModel("One.", "Two.")
    chat = model.chat()
    pieces = []
    for piece in chat.stream("Count."):
        if not pieces:
            chat.add_message("And then?")
        pieces.append(piece)
    assert "".join(pieces) == "One.\n\nTwo."
    assert [turn.text for turn in chat.get_turns()] == ["Count.", "One.", "And then?", "Two."]


def test_it_follows_a_result_that_would_be_the_answer():
    chat, _ = looking(CALL, "A cat, in short.", final=True)
    assert chat.chat("Look.") == "A cat, in short."


def test_it_comes_from_another_thread():
    asked, go = threading.Event(), threading.Event()

    def answer(_):
        asked.set()
        assert go.wait(30)
        return "One."

    model = ScriptedModel(answer, "Two.")
    chat = model.chat()
    texts = []
    thread = threading.Thread(target=lambda: texts.append(chat.chat("Count.")))
    thread.start()
    assert asked.wait(30)
    chat.add_message("And then?")
    go.set()
    thread.join(30)
    assert texts == ["Two."]


def test_without_a_conversation_it_goes_out_with_the_next_one():
    model = ScriptedModel("Yes.", "No.")
    chat = model.chat()
    chat.add_message("First.")
    assert not chat.get_turns()
    chat.chat("Second.")
    assert [content.text for content in chat.last_turn("user").contents] == ["First.", "Second."]
    chat.add_message("Third.")
    assert chat.chat() == "No."
    assert chat.last_turn("user").text == "Third."


def test_a_failed_request_does_not_lose_it():
    chat, _ = looking(CALL, failure(400), "A cat.", max_tries=1)
    with pytest.raises(ec.BadRequestError):
        chat.chat("Look.")
    assert chat.chat() == "A cat."
    assert transcript(chat) == WHOLE
    assert not chat._history.added


def test_a_content_that_the_model_does_not_accept_is_dropped():
    chat, _ = looking(CALL, "A cat.", said=(ec.ContentImageInline("image/png", "eA=="),))
    with pytest.raises(ec.ContentError):
        chat.chat("Look.")
    assert chat.chat() == "A cat."


def test_an_image_can_be_added():
    chat, model = looking(CALL, "A cat.", said=("Like this:", content_image_file(PICTURE)))
    chat.chat("Look.")
    assert [part["type"] for part in model.asked[-1].messages[-1]["content"]] == ["text", "image_url"]


def test_a_fork_and_a_replaced_history_have_no_messages():
    model = ScriptedModel("Yes.")
    chat = model.chat()
    chat.add_message("First.")
    with pytest.raises(UsageError, match="nothing to send"):
        chat.fork().chat()
    chat.set_turns([])
    with pytest.raises(UsageError, match="nothing to send"):
        chat.chat()


@pytest.mark.parametrize("inputs", [(), (ContentToolResult(1),)])
def test_it_takes_messages_only(inputs):
    with pytest.raises(UsageError, match="takes strings and contents"):
        ScriptedModel().chat().add_message(*inputs)


def test_data_are_those_of_the_last_answer():
    chat, _ = looking(CALL, {"n": 2}, said=("Count again.",))
    assert chat.chat_structured("Look.", type=dict[str, int]) == {"n": 2}
