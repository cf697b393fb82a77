"""A case: what the model says, what the user says, and what must come back. Plain values.

A case says nothing about wires, adapters or transport; `cases/` has one function for each, `runner.py` plays
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .neutral import Part, Text, Tool, Turn
from .script import Script, Step

__all__ = ["MODES", "Ask", "Case", "Mode", "ask", "case"]

Mode = Literal["sync", "async", "stream", "async-stream"]
MODES: tuple[Mode, ...] = ("sync", "async", "stream", "async-stream")

#: How one `send` must end: with the given text; with an error or an answer marked as incomplete; with an
#: error raised (or told to the model) before anything is lost.
Outcome = Literal["answered", "incomplete", "refused"]


@dataclass(frozen=True)
class Ask:
    """One user turn, and how it must end. `text` is the whole reply, where it is answered."""

    parts: tuple[Part, ...]
    text: str = ""
    outcome: Outcome = "answered"


def ask(*parts: Part | str, text: str = "", outcome: Outcome = "answered") -> Ask:
    """An `Ask`, with strings standing for `Text`."""
    return Ask(tuple(Text(p) if isinstance(p, str) else p for p in parts), text, outcome)


@dataclass(frozen=True)
class Case:
    """One scenario.

    `needs` names the `Capabilities` it rests on (`tools` among them, where it has some). `everywhere` says that it
    is played at every vendor, and not only where its wire format is at home. `streamed_apart` says that its
    transcript differs between streamed and not (a cut stream keeps what was received). `inexpressible` gives a reason per wire format
    that cannot say it.
    """

    script: Sequence[Step]
    steps: Sequence[Ask]
    tools: Sequence[Tool] = ()
    system: str | None = None
    history: Sequence[Turn] = ()
    needs: frozenset[str] = frozenset()
    everywhere: bool = False
    streamed_apart: bool = False
    inexpressible: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    title: str = ""
    area: str = ""

    @property
    def model(self) -> Script:
        """The model's side."""
        return Script(self.script)


#: Every case by name, in the order of its module.
CASES: dict[str, Case] = {}


def case(build: Callable[[], Case]) -> Callable[[], Case]:
    """Registers a case: the function's name is the case's, its docstring the title, its module the area."""
    title = " ".join((build.__doc__ or "").split())
    area = build.__module__.rpartition(".")[2]
    made = build()
    needs = made.needs | {"tools"} if made.tools else made.needs
    CASES[build.__name__] = replace(made, name=build.__name__, title=title, area=area, needs=needs)
    return build
