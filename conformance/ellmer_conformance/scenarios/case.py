"""A case: the model's answers, the user's messages, and the expected result. Cases are plain values.

A case is independent of wire formats, adapters and transport. `cases/` has one function for each, and `runner/` runs
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from .messages import Approve, Part, Text, Tool, Turn
from .script import Script, Step
from .variations import named

__all__ = ["MODES", "Ask", "Case", "Mode", "ask", "case"]

Mode = Literal["sync", "async", "stream", "async-stream"]
MODES: tuple[Mode, ...] = ("sync", "async", "stream", "async-stream")

#: The required end of one `send`: with the given text; with an error or an answer marked as incomplete; with an
#: error raised (or told to the model) before anything is lost.
Outcome = Literal["answered", "incomplete", "refused"]


@dataclass(frozen=True)
class Ask:
    """One user turn, and how it must end.

    Args:
        parts: The contents of the turn.
        text: The whole text of the reply, if the turn is answered. Default: `""`.
        outcome: How it must end: `"answered"` (default), `"incomplete"` (an error, or a reply marked as incomplete) or `"refused"`
            (an error, or a tool result that reports an error, before anything is lost).
        who: Number of the conversation; each has a session of its own. Turns of different conversations that follow
            each other are sent at the same time in async modes. Default: 0.
        schema: JSON Schema of a value that is requested instead of text. Default: `None`, text is requested.
        value: The value that must come back. Default: `None`.
        cancelled: Whether the caller cancels the request after the answer has begun. Default: `False`.
        reloaded: Whether the conversation is saved and restored before the turn. Default: `False`.
        instructed: A system prompt that replaces the present one before the turn. Default: `""`.
        compacted: Whether the conversation is shortened before the turn. Default: `False`.
        options: Options of this turn alone: `tool_choice`, `stop`, `json`, `model`, `cache`, `requests`, `temperature`,
            `max_tokens`. Default: empty.

    Examples:
        >>> Ask((Text("Hi"),), text="Hello!").outcome
        'answered'
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

    def at(self, provider: str) -> Ask:
        """Returns the turn with the provider's name of the model.

        Args:
            provider: Name of the provider.

        Examples:
            >>> ask("Hi", text="Hello!").at("openai").text
            'Hello!'
        """
        model = self.options.get("model")
        named = {"model": model[provider]} if isinstance(model, Mapping) and provider in model else {}
        return replace(self, options={**self.options, **named}) if named else self


def ask(*parts: Part | str, text: str = "", outcome: Outcome = "answered", **more: Any) -> Ask:
    """Makes an `Ask`, in which strings stand for `Text`.

    Args:
        *parts: The contents of the turn.
        text: As in `Ask`.
        outcome: As in `Ask`.
        **more: The other fields of `Ask`.

    Returns:
        The turn of the user.

    Examples:
        >>> ask("Hi", text="Hello!").parts
        (Text(text='Hi'),)
    """
    return Ask(tuple(Text(p) if isinstance(p, str) else p for p in parts), text, outcome, **more)


@dataclass(frozen=True)
class Case:
    """A scenario of the suite: what the user and the model say, and how each turn must end.

    Args:
        script: The answers of the model, one `Step` for each request.
        steps: The turns of the user, each with the way it must end.
        tools: The tools that the session gets. Default: none.
        system: The system prompt; `None` (default) for none.
        history: The turns that the session starts from. Default: none.
        needs: Names of the `Capabilities` that the case needs. `tools` is added if it has tools. Default: none.
        everywhere: Whether it is run at every provider, and not only at the one whose own format it is. Default:
            `False`.
        streamed_apart: Whether the streamed transcript differs from the other one (a cut stream keeps what was
            received). Default: `False`.
        printed_alike: Whether the transcript is the same for every wire format. Default: `True`.
        inexpressible: Reasons why it cannot be run, by wire format or `wire/provider`. Default: empty.
        models: The models that the case is about, by wire format. Default: the model of the place.
        modes: The modes in which it is replayed. Default: all.
        max_retries: How often the adapter may retry a request. Default: 0.
        variations: Names of variations; the answers are replayed under each. Default: none.
        recording: Name of the case whose cassettes it replays; empty (default) for its own.
        on_server: Whether it is always replayed against the strict server, since it tests the connection. Default:
            `False`.
        advisory: Why its findings are warnings: they show a fault of the provider, which no client has to handle.
            Default: `""`, its findings are failures.
        approve: Decides about calls of tools that need approval. Default: `None`, no approver.
        searching: Whether the caller allows the provider's own web search. Default: `False`.
        name: Set by `@case`: the name of the function. Default: `""`.
        title: Set by `@case`: the docstring of the function. Default: `""`.
        area: Set by `@case`: the module of the function. Default: `""`.

    Examples:
        >>> Case(script=[Answer((Say("Hello!"),))], steps=[ask("Hi", text="Hello!")]).modes
        ('sync', 'async', 'stream', 'async-stream')
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
        """The script of the model."""
        return Script(self.script)

    def shows(self, wire: str, mode: Mode) -> bool:
        """Tells whether the case tests anything on a wire format, in a mode.

        Args:
            wire: Name of the wire format.
            mode: The mode.

        Examples:
            >>> Case(script=[Answer((Say("Hello!"),))], steps=[ask("Hi", text="Hello!")]).shows("openai-chat", "sync")
            True
        """
        varied = named(name.replace("*", "1") for name in self.variations)
        return mode in self.modes and (
            not varied or any(variation.befalls(wire, streamed="stream" in mode) for variation in varied)
        )

    def why_not(self, wire: str, provider: str) -> str:
        """Returns why the case cannot be expressed in a wire format or at a provider; empty if it can.

        Args:
            wire: Name of the wire format.
            provider: Name of the provider.

        Examples:
            >>> reasons = {"ollama": "it has no PDFs"}
            >>> Case(script=[], steps=[], inexpressible=reasons).why_not("ollama", "ollama")
            'it has no PDFs'
        """
        return self.inexpressible.get(wire) or self.inexpressible.get(f"{wire}/{provider}", "")

    def at(self, provider: str) -> Case:
        """Returns the case for a provider.

        Args:
            provider: Name of the provider.

        Examples:
            >>> Case(script=[Answer((Say("Hello!"),))], steps=[ask("Hi", text="Hello!")]).at("openai").steps[0].text
            'Hello!'
        """
        steps = [step.at(provider) for step in self.steps]
        return replace(self, steps=steps) if any(step.options for step in steps) else self

    @property
    def recorded_as(self) -> str:
        """The name of its cassettes and of its transcript."""
        return self.recording or self.name

    @cached_property
    def speakers(self) -> range:
        """The numbers of its conversations."""
        return range(1 + max((step.who for step in self.steps), default=0))


#: Every case by name, in the order of its module.
CASES: dict[str, Case] = {}


def case(build: Callable[[], Case]) -> Callable[[], Case]:
    """Registers a case. The function gives its name, the docstring its title, and the module its area.

    Args:
        build: A function without parameters that returns a `Case`.

    Returns:
        The function.

    Examples:
        >>> def greeting() -> Case:
        ...     "The model greets."
        ...     return Case(script=[Answer((Say("Hello!"),))], steps=[ask("Hi", text="Hello!")])
        >>> case(greeting) is greeting
        True
        >>> CASES.pop("greeting").title
        'The model greets.'
    """
    title = " ".join((build.__doc__ or "").split())
    area = build.__module__.rpartition(".")[2]
    unnamed = build()
    needs = unnamed.needs | {"tools"} if unnamed.tools else unnamed.needs
    CASES[build.__name__] = replace(unnamed, name=build.__name__, title=title, area=area, needs=needs)
    return build
