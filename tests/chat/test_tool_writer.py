"""`create_tool_def()`: the description of a function for the model, and the result."""

import json

import pytest

from ellmer_core import UsageError, chat_openai_compatible, create_tool_def, tool, type_integer
from ellmer_core.contents.turns import AssistantTurn, UserTurn


def area(width: int, height: int = 1) -> int:
    """Returns the area of a rectangle, in square metres."""
    return width * height


def undocumented(x):
    return x + 41 + 1


CODE = 'tool(area, "The area.", arguments={"width": type_integer("m"), "height": type_integer("m", required=False)})'


@pytest.fixture
def chat(server):
    return chat_openai_compatible("Be brief.", base_url=server.url, model="m", api_key="k", echo="none")


def answer(text):
    return [json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()]


def test_the_code_comes_out_of_its_fence_and_makes_the_tool(server, reply, chat):
    server.answers(reply(answer(f"Here it is:\n```python\n{CODE}\n```\n")), reply(answer(f" {CODE}\n")))
    chat.register_tool(tool(area))
    chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello.")])

    assert create_tool_def(area, chat) == create_tool_def(area, chat) == CODE

    made = eval(CODE, {"tool": tool, "type_integer": type_integer, "area": area})
    assert made(2, 3) == 6
    body = server.asked[0].json
    system, user = (message["content"] for message in body["messages"])
    assert "ellmer_core" in system
    assert "area(width: int, height: int = 1) -> int" in user
    assert "Returns the area of a rectangle, in square metres." in user
    assert "tools" not in body
    assert len(chat.get_turns()) == 2
    assert chat.get_system_prompt() == "Be brief."


@pytest.mark.parametrize(
    ("function", "words"),
    [(undocumented, "return x + 41 + 1"), (dict.fromkeys, "fromkeys("), (min, "Python does not know")],
)
def test_what_is_known_of_other_functions(server, reply, chat, function, words):
    server.answers(reply(answer(CODE)))
    create_tool_def(function, chat)
    assert words in server.asked[0].json["messages"][1]["content"]


def test_what_is_no_function(chat):
    with pytest.raises(UsageError, match="must be a function"):
        create_tool_def("area", chat)
