"""Several conversations at once, and conversations that are long or come from elsewhere."""

from __future__ import annotations

from ..case import Case, ask, case
from ..messages import Text, ToolCall, ToolResult, Turn
from ..script import Answer, AnswerByText, Say, Usage
from ._media_and_tools import weather

_NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal")


def _answer(text: str) -> Answer:
    return Answer((Say(text),), usage=Usage(12, 5))


@case
def several_conversations() -> Case:
    """Eight conversations of one adapter run at the same time: each gets its own answers, and has its own history."""
    hears = AnswerByText(
        {f"I am {name}.": _answer(f"Hello, {name}!") for name in _NAMES}
        | {f"Bye. It was {name}.": _answer(f"Goodbye, {name}!") for name in _NAMES}
    )
    greetings = [ask(f"I am {n}.", text=f"Hello, {n}!", who=who) for who, n in enumerate(_NAMES)]
    goodbyes = [ask(f"Bye. It was {n}.", text=f"Goodbye, {n}!", who=who) for who, n in enumerate(_NAMES)]
    return Case(script=[hears] * (2 * len(_NAMES)), steps=[*greetings, *goodbyes])


@case
def long_history() -> Case:
    """A history of forty turns is sent whole and in order, each time."""
    pairs = (
        (Turn("user", (Text(f"What comes after {n}?"),)), Turn("assistant", (Text(f"{n + 1}."),)))
        for n in range(20)
    )
    return Case(
        history=[turn for pair in pairs for turn in pair],
        script=[_answer("21."), _answer("22.")],
        steps=[ask("What comes after 20?", text="21."), ask("And then?", text="22.")],
    )


@case
def foreign_history() -> Case:
    """A history comes from another provider: its call ids may have a form that this provider refuses."""
    ids = ("functions.get_weather:0", "functions.get_weather:1")
    calls = tuple(
        ToolCall(id, "get_weather", {"city": city}) for id, city in zip(ids, ("Paris", "Oslo"), strict=True)
    )
    results = (ToolResult(ids[0], "21C, sunny"), ToolResult(ids[1], "9C, rain"))
    return Case(
        tools=[weather],
        history=[
            Turn("user", (Text("Weather in Paris and Oslo?"),)),
            Turn("assistant", calls),
            Turn("user", results),
            Turn("assistant", (Text("21C and 9C."),)),
        ],
        script=[_answer("Paris.")],
        steps=[ask("Which is warmer?", text="Paris.")],
    )
