"""Approval: a person decides about a call before its tool is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..case import Case, ask, case
from ..messages import Tool
from ..script import Answer, Call, Say, Usage
from ._media_and_tools import weather

_NEEDS = frozenset({"approval"})
_NUMBER = {"type": "integer", "description": "How many."}
_BOOK = {"type": "string", "description": "Its title."}
_ORDER = {
    "type": "object",
    "properties": {"book": _BOOK, "copies": _NUMBER},
    "required": ["book", "copies"],
}


def _order(book: str, copies: int) -> str:
    return f"ordered {copies} of {book}"


order = Tool("order_book", "Orders copies of a book.", _order, _ORDER, needs_approval=True)


def _at_most_ten(_: str, arguments: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Approves small amounts, denies a thousand, and changes a hundred to ten."""
    copies = arguments["copies"]
    return None if copies >= 1000 else {**arguments, "copies": min(copies, 10)}


@case
def approved_and_denied() -> Case:
    """Two calls need an approval, and a third does not: one is approved and one is denied, and the model is told
    which.
    """
    return Case(
        needs=_NEEDS,
        approve=_at_most_ten,
        tools=[order, weather],
        script=[
            Answer(
                (
                    Call("order_book", {"book": "Emma", "copies": 2}),
                    Call("order_book", {"book": "Dracula", "copies": 1000}),
                    Call("get_weather", {"city": "Oslo"}),
                ),
                usage=Usage(90, 60),
            ),
            Answer((Say("Emma is ordered, Dracula is not."),), usage=Usage(190, 10)),
            Answer((Say("You are welcome."),), usage=Usage(210, 5)),
        ],
        steps=[
            ask(
                "Order 2 of Emma and 1000 of Dracula. Does it rain in Oslo?",
                text="Emma is ordered, Dracula is not.",
            ),
            ask("Thanks!", text="You are welcome."),
        ],
    )


@case
def approved_with_other_arguments() -> Case:
    """A call is approved with other arguments: the tool gets these, and the model's own call stays in the history."""
    return Case(
        needs=_NEEDS,
        approve=_at_most_ten,
        tools=[order],
        script=[
            Answer((Call("order_book", {"book": "Persuasion", "copies": 100}),), usage=Usage(60, 24)),
            Answer((Say("Ten are ordered."),), usage=Usage(110, 6)),
        ],
        steps=[ask("Order 100 of Persuasion.", text="Ten are ordered.")],
    )
