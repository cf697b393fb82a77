"""A conversation over an SDK that has none: it sends a request, runs the tools, and sends the next one.

The raw SDKs are the control: libraries on top of them inherit their violations. This loop therefore does all that an
SDK leaves to its caller, and relies on the SDK for everything else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from ...scenarios.messages import Part, Reply, Text, Tool, ToolCall, ToolResult, Turn
from .. import Endpoint
from .tool_values import CUT, CUT_OFF, NOT_RUN, answered, calls_in, hoisted, open_calls

__all__ = ["Answered", "SDKSession", "Said", "texts_and_calls"]


@dataclass(frozen=True)
class Said:
    """An answer of the model. `messages` are the SDK's own, for the next request. A call's arguments may be JSON
    text.
    """

    text: str
    messages: Sequence[Any]
    stop: str | None = None
    calls: Sequence[tuple[str, str, Any]] = ()  # id, name, arguments
    usage: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """A result for the next request. `media` is the content that the text points at, if the result cannot contain it."""

    id: str
    name: str
    value: Any
    failed: bool = False

    @property
    def text(self) -> str:
        """The text of the result. It is never blank, because some providers refuse that."""
        return hoisted(self.id, self.value)[0] or "(nothing)"

    @property
    def media(self) -> list[Part]:
        """The media that come after all results."""
        return hoisted(self.id, self.value)[1]


class SDKSession(ABC):
    """A history in the SDK's own messages. Subclasses define the requests and the messages."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.endpoint, self.system = endpoint, system
        self.tools = {tool.name: tool for tool in tools}
        self.messages: list[Any] = []
        self.pieces: list[str] = []
        self.waiting: Mapping[str, ToolCall] = open_calls(history)
        calls = calls_in(history)
        for turn in history:
            if turn.role == "user":
                results = [
                    Answered(p.id, calls[p.id].name, p.value) for p in turn.parts if isinstance(p, ToolResult)
                ]
                self.messages += self.user(results, _said(turn.parts))
            else:
                self.messages += self.assistant(turn.parts)

    @abstractmethod
    def user(self, results: Sequence[Answered], parts: Sequence[Part]) -> list[Any]:
        """Returns results and the user's message as messages."""

    @abstractmethod
    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        """Returns an assistant turn of a foreign history as messages."""

    @abstractmethod
    def ask(self, *, stream: bool) -> Said:
        """Sends the messages. A stream adds its text to `pieces`."""

    @abstractmethod
    async def aask(self, *, stream: bool) -> Said:
        """Works as `ask()`, without blocking."""

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        try:
            with closing(self._talk(parts)) as talk:
                next(talk)
                while True:
                    talk.send(self.ask(stream=stream))
        except StopIteration as done:
            return self._reply(done.value, stream)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return self._broken(error)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        try:
            with closing(self._talk(parts)) as talk:
                next(talk)
                while True:
                    talk.send(await self.aask(stream=stream))
        except StopIteration as done:
            return self._reply(done.value, stream)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return self._broken(error)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        return  # every request has its own client

    def _talk(self, parts: Sequence[Part]) -> Generator[None, Said, Said]:
        """Runs a user turn: yields to send a request, is sent the answer, and returns the last answer."""
        self.pieces = []
        said_before = len(self.messages)
        given = {part.id: part.value for part in parts if isinstance(part, ToolResult)}
        results = [
            Answered(c.id, c.name, given.get(c.id, NOT_RUN), c.id not in given) for c in self.waiting.values()
        ]
        self.messages += self.user(results, _said(parts))
        try:
            said = yield
        except GeneratorExit:
            del self.messages[said_before:]
            raise
        self.waiting = {}
        while said.calls and said.stop in {"tool", "length"}:  # as every SDK's documentation has it
            if said.stop == "length":
                self.messages += [*self.assistant([Text(said.text or CUT)]), *self.user([], [Text(CUT_OFF)])]
            else:
                self.messages += [*said.messages, *self.user([self._run(*call) for call in said.calls], [])]
            self.pieces = []
            said = yield
        if said.text:
            self.messages += self.assistant([Text(said.text)]) if said.calls else said.messages
        return said

    def ran_tools(self, said: Said) -> bool:
        """Runs the called tools, and adds calls and results to the history."""
        if said.calls and said.stop == "tool":
            self.messages += [*said.messages, *self.user([self._run(*call) for call in said.calls], [])]
        return bool(said.calls) and said.stop == "tool"

    def _run(self, id: str, name: str, arguments: Any) -> Answered:
        value, failed = answered(self.tools, name, arguments)
        return Answered(id, name, value, failed)

    def _reply(self, said: Said, stream: bool) -> Reply:
        return Reply(said.text, said.stop, usage=said.usage, pieces=self.pieces if stream else ())

    def _broken(self, error: Exception) -> Reply:
        return Reply("".join(self.pieces), complete=False, error=error, pieces=self.pieces)


def _said(parts: Sequence[Part]) -> list[Part]:
    """Returns the user's content without results."""
    return [part for part in parts if not isinstance(part, ToolResult)]


def texts_and_calls(parts: Sequence[Part]) -> tuple[str, list[ToolCall]]:
    """Returns the texts and the calls of an assistant turn."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return text, [part for part in parts if isinstance(part, ToolCall)]
