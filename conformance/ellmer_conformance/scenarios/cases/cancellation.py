"""Cancelled requests, and conversations that are saved and continued."""

from __future__ import annotations

from ..case import Case, ask, case
from ..script import Answer, Delivery, Say, Usage
from .tools import one_tool

_LONG = Answer((Say("Once upon a time there was a king, and he had three daughters."),), usage=Usage(12, 16))
_AGAIN = Answer((Say("Here again."),), usage=Usage(30, 4))


@case
def cancelled_in_the_middle() -> Case:
    """The caller cancels during the answer: the connection is closed, and the chat can continue."""
    return Case(
        on_server=True,
        printed_alike=False,  # how much of the answer had come is a matter of chance
        modes=("async", "async-stream"),
        script=[Delivery(_LONG, slices=(300,), after=300, ending="stall"), _AGAIN],
        steps=[
            ask("Tell me a story.", outcome="incomplete", cancelled=True),
            ask("Are you there?", text="Here again."),
        ],
    )


@case
def saved_and_reloaded() -> Case:
    """A conversation with a tool call is saved and loaded by a new session, which continues with the same requests."""
    base = one_tool()
    return Case(
        tools=base.tools,
        script=[*base.script, Answer((Say("You are welcome."),), usage=Usage(90, 5))],
        steps=[*base.steps, ask("Thanks!", text="You are welcome.", reloaded=True)],
    )
