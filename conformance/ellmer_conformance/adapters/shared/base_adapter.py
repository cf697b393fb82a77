"""What the adapters of all bridges share: how they open a conversation, and where most of them are played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from ...scenarios.messages import Tool, Turn
from .. import Endpoint, Session

__all__ = ["FOUR_WIRES", "BridgeAdapter", "Sessions"]

#: The wire formats of the three largest providers, at each one's own API.
FOUR_WIRES: Mapping[str, Sequence[str]] = {
    "openai-chat": ["openai"],
    "openai-responses": ["openai"],
    "anthropic": ["anthropic"],
    "gemini": ["google"],
}


class Sessions(Protocol):
    """Makes a conversation of an endpoint, a system prompt, tools and a history; a class of sessions does."""

    def __call__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn], /
    ) -> Session: ...


class BridgeAdapter:
    """An adapter whose conversations are `sessions`."""

    sessions: ClassVar[Sessions]

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """A conversation."""
        return self.kind(endpoint)(endpoint, system, tools, history)

    def kind(self, endpoint: Endpoint) -> Sessions:  # noqa: ARG002 - for those that speak several formats
        """What makes the conversations at an endpoint."""
        return self.sessions
