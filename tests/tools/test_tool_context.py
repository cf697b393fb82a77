"""The facts about its call that a tool gets, and the model does not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import pytest
from chats.loop import PLAN, Outside, called, talk, whole

import ellmer_core as ec
from ellmer_core import ToolContext, tool
from ellmer_core.contents.content import ContentToolRequest
from ellmer_core.conversation.history import History
from ellmer_core.tool_execution import ainvoke, invoke, showing
from ellmer_core.tools.definition import CallScope

if TYPE_CHECKING:
    from ellmer_core import ToolContext as Context


@dataclass
class Shop:
    stock: dict[str, int]


@tool
def look(x: str, context: ToolContext[Shop], lots: bool = False) -> int:
    """Looks for it."""
    return context.deps.stock[x]


def in_front(context: ToolContext, x: str) -> str:
    """With the context first."""
    return f"{context.call_id} {x}"


def qualified(x: str, *, context: ec.ToolContext | None = None) -> str:
    """By its module."""
    return f"{context.call_id if context else None} {x}"


def for_checkers(x: str, context: Context[Shop]) -> str:
    """Known to type checkers only, under another name."""
    return x


@pytest.mark.parametrize("function", [in_front, qualified])
def test_the_context_is_no_argument_for_the_model(function):
    made = tool(function)

    assert list(made.arguments.properties) == ["x"]
    assert made.context == "context"
    result = invoke(ContentToolRequest("c1", made.name, {"x": "a"}, tool=made))
    assert result.value == "c1 a"


def test_the_model_cannot_give_a_context():
    result = invoke(ContentToolRequest("c1", "f", {"x": "a", "context": "mine"}, tool=tool(in_front)))

    assert "there is no argument `context`" in str(result.error)


def test_given_arguments_leave_the_context_out():
    made = tool(in_front, arguments={"x": Annotated[str, "What."]})

    assert invoke(ContentToolRequest("c1", "in_front", {"x": "a"}, tool=made)).value == "c1 a"


def test_a_hint_that_nobody_can_resolve_is_said():
    with pytest.raises(ec.UsageError, match="Context"):
        tool(for_checkers)


def test_the_conversation_gives_deps_and_the_answer_that_asked():
    seen = []

    @tool
    def f(x: str, context: ToolContext[Shop]) -> int:
        seen.append(context)
        return context.deps.stock[x]

    history, outside = History(), Outside(called("a", "b"), whole("ok"))
    settings = replace(PLAN, tools={"f": f}, deps=Shop({"a": 3, "b": 4}))
    talk(history, outside, settings=settings)

    assert [c.call_id for c in seen] == ["a", "b"]
    assert [r.value for t in history.turns if isinstance(t, ec.UserTurn) for r in t.tool_results] == [3, 4]
    assert seen[0].turn is history.turns[1]


def test_a_cancelled_conversation_is_seen_from_inside():
    reasons = []
    context = ToolContext(
        ContentToolRequest("c", "f"), CallScope(cancelled=lambda: (reasons and reasons[0]) or None)
    )

    assert not context.cancelled
    reasons.append("stopped")
    assert context.cancelled


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_progress_goes_where_the_chat_is_shown(mode):
    said = []

    class Unprintable:
        def __str__(self):
            raise RuntimeError

    def work(context: ToolContext) -> str:
        context.progress("half")
        context.progress(Unprintable())
        return "done"

    request = ContentToolRequest("c", "work", tool=tool(work, name="work"))
    with showing(lambda asked, text: said.append((asked.id, text))):
        result = invoke(request) if mode == "sync" else asyncio.run(ainvoke(request))

    assert (result.value, said) == ("done", [("c", "half"), ("c", "(Unprintable)")])


def test_defaults_are_told_to_the_model():
    def f(n: int = 5, unit: str = "C", deep: bool = False, on: str | None = None, said: int = 2):
        """F.

        Args:
            n: How many.
            said: How many, 2 by default.
        """

    told = {name: type.description for name, type in tool(f).arguments.properties.items()}
    assert told == {
        "n": "How many. Default: 5.",
        "unit": 'Default: "C".',
        "deep": "Default: false.",
        "on": None,
        "said": "How many, 2 by default.",
    }
