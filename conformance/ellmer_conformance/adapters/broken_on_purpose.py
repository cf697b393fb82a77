"""A demonstration: our own adapter with one bug. This command shows how the suite reports it:

conformance run --against server --adapter ellmer_conformance.adapters.broken_on_purpose:ForgetsAnswers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..scenarios.messages import Part, Reply, Tool, Turn
from . import Capabilities, Endpoint
from .ellmer_core import EllmerCore, Session, requests


class ForgetsAnswers(EllmerCore):
    """An adapter that keeps the user's messages in its history, but not the model's answers."""

    name = "broken-on-purpose"

    @property
    def wires(self) -> Mapping[str, Sequence[str]]:
        """Chat Completions at its own provider."""
        return {"openai-chat": ["openai"]}

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        """Returns our own capabilities, for blocking calls."""
        return replace(super().capabilities(wire, provider), modes=["sync"])

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """Returns a session that forgets."""
        session = super().session(endpoint, system=system, tools=tools, history=history)
        return _Forgetful(session.chat, session.another)


class _Forgetful(Session):
    def send(
        self, parts: Sequence[Part], *, stream: bool = False, options: Mapping[str, Any] | None = None
    ) -> Reply:
        reply = super().send(parts, stream=stream, options=options)
        self.chat.set_turns([turn for turn in self.chat.get_turns() if turn.role == "user" or requests(turn)])
        return reply
