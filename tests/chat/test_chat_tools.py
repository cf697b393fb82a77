"""The tools and callbacks that a user registers with a chat."""

import pytest
from chats.answers import answer, calls, f, named_tool

from ellmer_core.contents.content import ContentToolRequest, ContentToolResult
from ellmer_core.errors import UsageError
from ellmer_core.tools.definition import tool


def test_tools_are_registered_replaced_and_listed(make):
    chat = make()
    registered = chat.register_tool(f)
    assert chat.get_tools() == {"f": registered}
    chat.register_tools([named_tool(f, "f"), named_tool(f, "g")])
    assert list(chat.get_tools()) == ["f", "g"]
    chat.set_tools([named_tool(f, "h")])
    assert list(chat.get_tools()) == ["h"]
    with pytest.raises(UsageError):
        chat.set_tools([f, "no tool"])
    assert list(chat.get_tools()) == ["h"]


def test_several_tools_are_registered_or_none(make):
    chat = make()
    for register in (chat.register_tools, chat.set_tools):
        with pytest.raises(UsageError, match="must be a function, not 3"):
            register([f, 3])
    assert chat.get_tools() == {}


def test_callbacks_can_be_removed(server, reply, make):
    chat, seen = make(), []
    chat.register_tool(f)
    remove = chat.on_tool_request(lambda request: seen.append(request.name))
    chat.on_tool_result(lambda result: seen.append(result.value))
    server.answers(*[reply([calls("a")]), reply([answer()])] * 2)
    chat.chat("Hi")
    remove()
    remove()
    chat.chat("Hi")
    assert seen == ["f", "done", "done"]


def test_a_callback_that_is_registered_twice_is_removed_one_by_one(server, reply, make):
    chat, seen = make(), []
    chat.register_tool(f)
    first, second = chat.on_tool_result(seen.append), chat.on_tool_result(seen.append)
    first()
    first()
    server.answers(*[reply([calls("a")]), reply([answer()])] * 2)
    chat.chat("Hi")
    assert len(seen) == 1
    second()
    chat.chat("Hi")
    assert len(seen) == 1


class Request(ContentToolRequest):
    title = "Just does it"


def test_a_tools_own_class_of_requests_is_what_callbacks_and_streams_see(server, reply, make):
    server.answers(reply([calls("a")]), reply([answer()]))
    chat, heard = make(), []
    chat.register_tool(tool(f, request=Request))
    chat.on_tool_request(heard.append)
    seen = list(chat.stream("Hi", content="all"))
    assert [type(content) for content in seen[:2]] == [Request, ContentToolResult]
    assert heard == [seen[0]] == [seen[1].request] == [*chat.get_turns()[1].contents]


def test_a_tool_that_talks_to_its_own_chat_is_told(server, reply, make):
    chat = make()
    chat.register_tool(named_tool(lambda: chat.chat("Hi"), "f"))
    server.answers(reply([calls("a")]), reply([answer()]))
    chat.chat("Hi")
    assert "fork" in server.asked[1].json["messages"][-1]["content"]
