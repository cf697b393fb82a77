"""A case: what the model says, what the user says, and what must come back. Plain values.

A case says nothing about wires, adapters or transport; `cases/` has one function for each, `runner.py` plays
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from .messages import Approve, Part, Text, Tool, Turn
from .script import Script, Step
from .variations import named

__all__ = ["MODES", "Ask", "Case", "Mode", "ask", "case"]

Mode = Literal["sync", "async", "stream", "async-stream"]
MODES: tuple[Mode, ...] = ("sync", "async", "stream", "async-stream")

#: How one `send` must end: with the given text; with an error or an answer marked as incomplete; with an
#: error raised (or told to the model) before anything is lost.
Outcome = Literal["answered", "incomplete", "refused"]


@dataclass(frozen=True)
class Ask:
    """One user turn, and how it must end. `text` is the whole reply, where it is answered.

    `who` counts conversations: each has a session of its own. Those that follow one another with different
    numbers are held at the same time, where the mode is async. With a `schema`, it asks for a `value` instead of text. `cancelled`: it is
    given up when the answer has begun. `reloaded`: the conversation is saved before, and goes on from what was saved.
    `instructed` replaces the system prompt before; `compacted`: the conversation is made shorter before. `options` are
    those of this turn alone: `tool_choice`, `stop`, `json`, `model`, `cache`, `requests`.
    """

    parts: tuple[Part, ...]
    text: str = ""
    outcome: Outcome = "answered"
    who: int = 0
    schema: Mapping[str, Any] | None = None
    value: Any = None
    cancelled: bool = False
    reloaded: bool = False
    instructed: str = ""
    compacted: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def at(self, vendor: str) -> Ask:
        """The same, with the model that it asks for named as the provider names it."""
        model = self.options.get("model")
        named = {"model": model[vendor]} if isinstance(model, Mapping) and vendor in model else {}
        return replace(self, options={**self.options, **named}) if named else self


def ask(*parts: Part | str, text: str = "", outcome: Outcome = "answered", **more: Any) -> Ask:
    """An `Ask`, with strings standing for `Text`."""
    return Ask(tuple(Text(p) if isinstance(p, str) else p for p in parts), text, outcome, **more)


@dataclass(frozen=True)
class Case:
    """One scenario.

    `needs` names the `Capabilities` it rests on (`tools` among them, where it has some). `everywhere` says that it
    is played at every provider, and not only where its wire format is at home. `streamed_apart` says that its transcript differs between
    streamed and not (a cut stream keeps what was received), `printed_alike` that it is the same for every format.
    `inexpressible` gives a reason per wire format
    (or `wire/vendor`) that cannot say it. `modes` are those that show it; `max_retries` is what the adapter is allowed.

    `models` names, per wire format, the model that the case is about, where that is not the place's own.

    `variations` names other ways for the same answers to travel: it is played under each, from the cassettes of
    the case `recording`, where it has none of its own. `advisory` gives the reason why its findings fail nobody: what it
    shows is a fault of the provider's, to which no client owes an answer. `on_server`: what it shows happens on the connection, so
    that it is always played against the strict server, and never recorded. `approve` is what somebody says about the
    calls of tools that need it. `searching`: the caller allows the provider's own web search.
    """

    script: Sequence[Step]
    steps: Sequence[Ask]
    tools: Sequence[Tool] = ()
    system: str | None = None
    history: Sequence[Turn] = ()
    needs: frozenset[str] = frozenset()
    everywhere: bool = False
    streamed_apart: bool = False
    printed_alike: bool = True
    inexpressible: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    modes: Sequence[Mode] = MODES
    max_retries: int = 0
    variations: Sequence[str] = ()
    recording: str = ""
    on_server: bool = False
    advisory: str = ""
    approve: Approve | None = None
    searching: bool = False
    name: str = ""
    title: str = ""
    area: str = ""

    @property
    def model(self) -> Script:
        """The model's side."""
        return Script(self.script)

    def shows(self, wire: str, mode: Mode) -> bool:
        """Whether there is something to see on a wire format, in a mode."""
        varied = named(name.replace("*", "1") for name in self.variations)
        return mode in self.modes and (
            not varied or any(one.befalls(wire, streamed="stream" in mode) for one in varied)
        )

    def cannot(self, wire: str, vendor: str) -> str:
        """Why the case cannot be expressed in this wire format or at this provider; empty if it can."""
        return self.inexpressible.get(wire) or self.inexpressible.get(f"{wire}/{vendor}", "")

    def at(self, vendor: str) -> Case:
        """The case as it is played at a provider."""
        steps = [step.at(vendor) for step in self.steps]
        return replace(self, steps=steps) if any(step.options for step in steps) else self

    @property
    def recorded_as(self) -> str:
        """The name of its cassettes and of its transcript."""
        return self.recording or self.name

    @property
    def speakers(self) -> range:
        """Its conversations, by number."""
        return range(1 + max((step.who for step in self.steps), default=0))


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
