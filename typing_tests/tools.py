"""Tools as a user writes them. Never run, as `chats.py`."""

from collections.abc import Callable
from typing import Any, assert_type

from ellmer_core import (
    ContentToolRequest,
    ContentToolResult,
    ToolBuiltIn,
    ToolDef,
    chat_openai,
    create_tool_def,
    tool,
    tool_annotations,
    tool_reject,
    tool_web_search,
    type_integer,
    type_string,
)


@tool
def add(a: int, b: int = 1) -> int:
    """Adds."""
    return a + b


@tool(name="named", annotations=tool_annotations(read_only_hint=True))
def shout(text: str) -> str:
    """Shouts."""
    return text.upper()


@tool
async def later(text: str) -> bytes:
    """Answers later."""
    return text.encode()


as_tool: ToolDef = add
assert_type(add(1, b=2), int)
assert_type(shout("hi"), str)
assert_type(add.name, str)
add("one")  # type: ignore[arg-type]
shout()  # type: ignore[call-arg]
tool(5)  # type: ignore[call-overload]

given = tool(len, "The length of a text.", name="length", arguments={"obj": type_string("The text.")})
assert_type(given("abc"), int)
type_integer(required="no")  # type: ignore[arg-type]

chat = chat_openai()
assert_type(chat.register_tool(add)(1), int)
assert_type(chat.get_tools(), dict[str, ToolDef])
chat.register_tools([add, shout, later, tool_web_search(), str.upper])
chat.register_tool(ToolBuiltIn("code", {"openai-responses": {"type": "code_interpreter"}}))
chat.register_tool("add")  # type: ignore[arg-type]
assert_type(create_tool_def(str.upper, chat), str)


@chat.register_tool
def decorated(text: str) -> int:
    """Counts."""
    return len(text)


assert_type(decorated("abc"), int)


def asked(request: ContentToolRequest) -> None:
    if request.name == "shout":
        tool_reject("Too loud.")


async def answered(result: ContentToolResult) -> None:
    assert_type(result.value, Any)


assert_type(chat.on_tool_request(asked), Callable[[], None])
chat.on_tool_result(answered)
chat.on_tool_result(asked)  # type: ignore[arg-type]


async def use_later() -> None:
    assert_type(await later("abc"), bytes)
