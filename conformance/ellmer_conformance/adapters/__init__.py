"""The adapter protocol: how any chat library, ours or yours, is put under test.

Structural: nothing of this package needs to be imported. An `Adapter` opens a `Session` per conversation; a
session keeps its history and runs the tools it was given, as the library's own users would have it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from ..scenarios.case import MODES, Mode
from ..scenarios.messages import Part, Reply, Tool, Turn

__all__ = ["Ability", "Adapter", "Capabilities", "Endpoint", "MediaAbility", "Place", "Session", "Structured"]


@dataclass(frozen=True)
class Place:
    """Where a provider is: its real base URL, a model, and the variables that may hold a key."""

    base_url: str
    model: str
    key_vars: tuple[str, ...]

    @property
    def origin(self) -> str:
        """Scheme and host: what the harness routes to the strict server."""
        return self.base_url.removesuffix(self.path)

    @property
    def path(self) -> str:
        """What the base URL adds to it: `/v1`, or nothing."""
        return urlsplit(self.base_url).path


@dataclass(frozen=True)
class Endpoint:
    """Where a session talks to. `base_url` is the provider's own (`https://api.openai.com/v1`), or any.

    The cases count requests: the library must not retry more often than `max_retries`.
    """

    wire: str
    vendor: str
    base_url: str
    api_key: str
    model: str
    max_retries: int = 0


Ability = Literal["native", "refused"]
MediaAbility = Literal["native", "pointer", "refused"]


@dataclass(frozen=True)
class Capabilities:
    """What an adapter says it can do. `refused` means: it raises a typed error, and that is tested.

    `pointer`: media are moved behind the results, which point at them. `dangling_call` is a history with calls that
    nobody answered, and the user goes on. With `audio_in_user`, a turn may have an `Audio`. `interleaved_parts`, refused: texts and media are given apart, in two lists, so
    that each keeps its own order and no more is asked.

    A session may have `reloaded()`: a fresh session that goes on from what was saved of it; an adapter
    `without_waiting(note)`: a context in which pauses between two tries are noted, not made. With `structured`,
    sessions have `extract(parts, schema)` and `aextract(parts, schema)`: a `Reply` with a `value`. With `changed_prompt`
    they have `instructed(system)`, which replaces the system prompt; with `compaction`, `compacted()` and `acompacted()`,
    which make the conversation shorter, in one request of their own. With `approval` they have `approving(approve)`:
    `approve(name, arguments)` is asked before a tool with `needs_approval` runs. With `citations` the replies have
    `sources`, and sessions `searching()`, which allows the provider's own web search, where that must be asked for. With
    `uploads` they have `upload(file)` and `aupload(file)`: what they return is among the `parts`.
    `structured_with_tools`, refused: a value is asked for without tools. With `tool_choice`, `stop_sequences`, `json_mode`,
    `model_override`, `prompt_caching` or `usage_limits`, `send` and `asend` take `options=`, a mapping of what holds for this
    turn alone: `tool_choice` (`"required"`), `stop` (a list of texts), `json` (True), `model` (its name), `cache` (True),
    `requests` (the most that the turn may send). It is passed only where a step has options.
    """

    modes: Collection[Mode] = MODES
    tools: Ability = "native"
    structured: Ability = "refused"
    image_in_user: Ability = "native"
    pdf_in_user: Ability = "native"
    audio_in_user: Ability = "refused"
    image_in_tool_result: MediaAbility = "pointer"
    pdf_in_tool_result: MediaAbility = "pointer"
    dangling_call: Ability = "native"
    interleaved_parts: Ability = "native"
    changed_prompt: Ability = "refused"
    compaction: Ability = "refused"
    approval: Ability = "refused"
    citations: Ability = "refused"
    uploads: Ability = "refused"
    structured_with_tools: Ability = "native"
    tool_choice: Ability = "refused"
    stop_sequences: Ability = "refused"
    json_mode: Ability = "refused"
    model_override: Ability = "refused"
    prompt_caching: Ability = "refused"
    usage_limits: Ability = "refused"

    def refused(self, needs: Collection[str]) -> list[str]:
        """Which of the capabilities a case needs are declared as refused."""
        return [need for need in needs if getattr(self, need) == "refused"]


@runtime_checkable
class Session(Protocol):
    """One conversation."""

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        """Sends a user turn, runs the tools the model asks for, returns the final answer. May raise."""

    def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Awaitable[Reply]:
        """The same, without blocking (only called when an async mode is among the modes)."""

    def transcript(self) -> str:
        """The conversation as the library prints it for a person; `""` if it prints none."""

    def close(self) -> None:
        """Frees connections."""


class Structured(Session, Protocol):
    """A conversation that gives values as well as text."""

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        """Sends a user turn and asks for a value that fits the JSON Schema: the reply's `value`. May raise."""

    def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Awaitable[Reply]:
        """The same, without blocking."""


@runtime_checkable
class Adapter(Protocol):
    """A library under test. `wires` maps each wire format it speaks to the providers it speaks it with.

    A provider that the suite does not know needs a `Place`, in a further attribute `places`, a mapping of
    `(wire, provider)`; of the cases, those are played there that are played everywhere.
    """

    name: str
    wires: Mapping[str, Sequence[str]]

    def capabilities(self, wire: str, vendor: str) -> Capabilities:
        """What it can do there."""

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """A fresh conversation."""
