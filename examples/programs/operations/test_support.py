"""Tests of a support agent, without a provider, a network or a key: `pytest test_support.py`."""

from ellmer_core import Chat, ToolContext, tool
from ellmer_core.testing import ScriptedModel, assert_tool_called, failure, run_tool, tool_call, transcript

ORDERS = {"A-17": "shipped"}


@tool
def order_status(order: str, context: ToolContext[str]) -> str:
    """Looks up an order of the user.

    Args:
        order: The number of the order.
        context: Whose order it is.
    """
    return f"{order} of {context.deps} is {ORDERS[order]}"


def support(model: ScriptedModel) -> Chat:
    """Returns the agent. The program passes a chat of a provider instead."""
    chat = model.chat("You help customers.", max_tries=2)
    chat.register_tool(order_status)
    chat.deps = "Ann"
    return chat


def test_the_tool_knows_the_user() -> None:
    assert run_tool(order_status, {"order": "A-17"}, deps="Ann").value == "A-17 of Ann is shipped"
    assert run_tool(order_status, {"order": "B-1"}, deps="Ann").error is not None


def test_an_order_is_looked_up() -> None:
    model = ScriptedModel(
        tool_call("order_status", order="A-17"), lambda asked: f"Good news: {asked.results[0]}."
    )
    chat = support(model)

    assert chat.chat("Where is A-17?") == "Good news: A-17 of Ann is shipped."
    assert_tool_called(chat, "order_status", order="A-17", times=1)
    model.assert_finished()


def test_an_overloaded_provider_is_asked_again() -> None:
    model = ScriptedModel(failure(503), "Hello!")
    chat = support(model)

    assert chat.chat("Hi") == "Hello!"
    assert transcript(chat) == "user: Hi\nassistant: Hello!"
