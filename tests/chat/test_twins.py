"""A method and its async twin take the same arguments, with the same defaults, and end alike. Only tools run concurrently by default."""

import ast
import asyncio
import inspect
from pathlib import Path

import pytest

import ellmer_core
from ellmer_core import Chat, ToolContext, testing
from ellmer_core._chat import answers
from ellmer_core.testing import ScriptedModel, tool_call

OWNERS = [(Chat, dir(Chat)), *((each, vars(each)) for each in (ToolContext, testing))]
OWNERS.append((ellmer_core, ellmer_core.__all__))
TWINS = [(owner, name) for owner, names in OWNERS for name in names if f"{name}_async" in names]


def test_the_twins_are_found():
    names = {name for _, name in TWINS}
    assert {"chat", "stream", "chat_structured", "stream_structured", "compact", "upload"} <= names
    assert {"ask", "run_tool", "parallel_chat", "parallel_chat_structured", "parallel_chat_text"} <= names


@pytest.mark.parametrize(("owner", "name"), TWINS)
def test_twins_have_one_signature(owner, name):
    blocking, concurrent = (
        dict(inspect.signature(getattr(owner, each)).parameters) for each in (name, f"{name}_async")
    )
    modes = [twin.pop("tool_mode").default for twin in (blocking, concurrent) if "tool_mode" in twin]

    assert list(blocking.items()) == list(concurrent.items())
    assert modes in ([], ["sequential", "concurrent"])


@pytest.mark.parametrize(
    ("options", "name", "apart"),
    [
        ("StreamOptions", "stream", {"content"}),
        ("DataOptions", "chat_structured", {"type", "convert", "frame"}),
        ("DataStreamOptions", "stream_structured", {"type"}),
    ],
)
def test_type_checkers_are_told_every_argument(options, name, apart):
    tree = ast.parse(Path(answers.__file__).read_text(encoding="utf-8"))
    [declared] = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == options]
    fields = {field.target.id: ast.unparse(field.annotation) for field in declared.body}
    taken = inspect.signature(getattr(Chat, name)).parameters

    assert fields == {key: taken[key].annotation for key in taken if key not in {"self", "inputs", *apart}}


@ellmer_core.tool(final=True)
def book(seat: str) -> str:
    """Books a seat."""
    return f"{seat} is booked."


async def awaited(found):
    return [piece async for piece in found] if hasattr(found, "__aiter__") else await found


def ended(name, **options):
    """Returns what a method returns or yields when a tool gives the answer, and how many requests that took."""
    model = ScriptedModel(tool_call("book", seat="12A"), {"seat": "12A"})
    chat = model.chat()
    chat.register_tool(book)
    found = getattr(chat, name)("Book.", **options)
    if name.endswith("_async"):
        found = asyncio.run(awaited(found))
    return list(found) if "stream" in name else found, len(model.asked)


@pytest.mark.parametrize(
    ("name", "requests"), [("chat", 1), ("stream", 1), ("chat_structured", 2), ("stream_structured", 2)]
)
def test_a_final_result_ends_both_twins(name, requests):
    type = ellmer_core.type_object(seat=ellmer_core.type_string())
    options = {"type": type} if "structured" in name else {}
    blocking = ended(name, **options)

    assert blocking == ended(f"{name}_async", **options)
    assert blocking[1] == requests
