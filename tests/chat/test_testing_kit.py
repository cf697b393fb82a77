"""The kit for tests of chats and tools: a model in the process, tools run as a model would, assertions on turns."""

import asyncio
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from ellmer_conformance.scenarios.cases._media_and_tools import RED
from ellmer_core import (
    AsyncToolError,
    ConnectError,
    RateLimitError,
    ServerError,
    ToolContext,
    UsageError,
    content_image_file,
)
from ellmer_core.contents.content import ContentThinking
from ellmer_core.testing import (
    ScriptedModel,
    assert_tool_called,
    assert_tool_not_called,
    failure,
    run_tool,
    run_tool_async,
    tool_call,
    tool_calls,
    tool_results,
    transcript,
)


class Person(BaseModel):
    name: str


@dataclass
class Year:
    born: int


def add(x: int, y: int = 1) -> int:
    """Adds."""
    return x + y


async def slow(x: int) -> int:
    """Takes its time."""
    await asyncio.sleep(0)
    return x


def with_context(context: ToolContext[dict[str, str]]) -> str:
    """Knows the user."""
    context.progress("looking")
    return context.deps["user"]


@pytest.mark.parametrize("arguments", [{"x": 2}, '{"x": 2}', '{"x": 2, "y": null}'])
def test_a_tool_runs_as_a_model_calls_it(arguments):
    assert run_tool(add, arguments).value == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (None, "`x` is missing"),
        ({"x": "two"}, "must be an integer"),
        ({"x": 1, "z": 1}, "no argument `z`"),
        ('{"x": 1', "arguments are invalid"),
    ],
)
def test_a_wrong_call_is_an_error_for_the_model(arguments, words):
    assert words in str(run_tool(add, arguments).error)


def test_an_async_tool_and_one_with_a_context():
    heard = []
    assert asyncio.run(run_tool_async(slow, {"x": 2})).value == 2
    with pytest.raises(AsyncToolError, match=r"`slow` is async: await run_tool_async\(\)"):
        run_tool(slow, {"x": 2})
    assert run_tool(with_context, deps={"user": "Ann"}, progress=heard.append).value == "Ann"
    assert heard == ["looking"]


def test_an_error_of_the_tool_is_its_result():
    def broken() -> str:
        """Breaks."""
        raise ValueError("no")

    assert isinstance(run_tool(broken).error, ValueError)


@pytest.mark.parametrize("mode", ["native", "prompt"])
def test_data_are_answers(mode):
    chat = ScriptedModel({"name": "Ann"}, Person(name="Bo"), Year(1815), [1, 2]).chat()
    assert chat.chat_structured("Who?", type=Person, mode=mode) == Person(name="Ann")
    assert chat.chat_structured("Who?", type=Person, mode=mode) == Person(name="Bo")
    assert chat.chat_structured("When?", type=Year, mode=mode) == Year(1815)
    assert chat.chat_structured("Which?", type=list[int], mode=mode) == [1, 2]


def test_a_stream_arrives_in_words_and_async_chats_share_the_script():
    model = ScriptedModel("one two", "three")
    chat = model.chat()

    async def rest():
        return [piece async for piece in chat.stream_async("And?")]

    assert list(chat.stream("Say.")) == ["one", " two"]
    assert asyncio.run(rest()) == ["three"]
    model.assert_finished()


def test_several_calls_at_once_beside_a_text():
    model = ScriptedModel(
        ["I add.", tool_call("add", x=1), tool_call("add", x=2)], lambda asked: asked.results
    )
    chat = model.chat("Be brief.")
    chat.register_tool(add)
    assert chat.chat("Add.") == "23"
    assert [call.id for call in tool_calls(chat)] == ["call_1", "call_2"]
    assert [result.value for result in tool_results(chat, "add")] == [2, 3]
    assert (model.asked[0].tools, model.asked[0].text) == (["add"], "Add.")
    assert model.asked[1].results == ["2", "3"]


def test_failures_are_those_of_a_provider():
    chat = ScriptedModel(failure(429, "Slow down."), failure(500), "Hello").chat(max_tries=1)
    with pytest.raises(RateLimitError, match="Slow down"):
        chat.chat("Hi")
    with pytest.raises(ServerError):
        chat.chat("Hi")
    assert chat.chat("Hi") == "Hello"
    assert len(chat.get_turns()) == 2


def test_a_script_that_is_too_short_or_too_long_says_so():
    model = ScriptedModel("Hello", "unused")
    chat = model.chat()
    chat.chat("Hi")
    with pytest.raises(AssertionError, match=r"No request used 1 of the scripted answers: \['unused'\]"):
        model.assert_finished()
    chat.chat("Hi")
    with pytest.raises(AssertionError, match="no answer to request 3, whose last message is: 'More'"):
        chat.chat("More")


def test_what_is_no_answer_is_refused():
    with pytest.raises(UsageError, match="A scripted answer is"):
        ScriptedModel(object()).chat().chat("Hi")
    with pytest.raises(UsageError, match="A scripted answer is"):
        ScriptedModel(ContentThinking("Hm")).chat().chat("Hi")
    with pytest.raises(ConnectError):  # an error of the line, from a function
        ScriptedModel(_no_connection).chat(max_tries=1).chat("Hi")


def _no_connection(_asked):
    raise ConnectError("nobody there")


def test_assertions_list_the_calls():
    chat = ScriptedModel([tool_call("add", x=1), tool_call("add", x=2)], "Done").chat()
    chat.register_tool(add)
    chat.chat("Add.")
    assert_tool_called(chat, "add", x=2)
    assert_tool_called(chat, "add", times=2)
    assert_tool_not_called(chat, "delete")
    with pytest.raises(
        AssertionError, match=r"add\(x=3\) was called 0 times, not at least once\. .*\n  add\(x=1\)\n"
    ):
        assert_tool_called(chat, "add", x=3)
    with pytest.raises(AssertionError, match=r"add\(\) was called 2 times, not 1 times"):
        assert_tool_called(chat, "add", times=1)
    with pytest.raises(AssertionError, match=r"add\(\) was called"):
        assert_tool_not_called(chat.get_turns(), "add")


def test_a_transcript_is_what_the_model_gets(tmp_path):
    picture = tmp_path / "red.png"
    picture.write_bytes(RED.data)

    def draw():
        """Draws."""
        return content_image_file(picture)

    chat = ScriptedModel(tool_call("draw"), "Red.").chat()
    chat.register_tool(draw)
    chat.chat("Draw.")
    assert transcript(chat).splitlines() == [
        "user: Draw.",
        "assistant: calls draw()",
        "user: draw returns [see below]",
        'user: <content tool-call-id="call_1">',
        "user: [inline image]",
        "user: </content>",
        "assistant: Red.",
    ]
