"""The base class of the adapters of other libraries: it opens conversations and lists their wire formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from ..scenarios.messages import Tool, Turn
from . import Difference, Endpoint, Session

__all__ = ["FOUR_WIRES", "BridgeAdapter", "Sessions", "ids_as_given"]

#: The wire formats of the three largest providers, at each one's own API.
FOUR_WIRES: Mapping[str, Sequence[str]] = {
    "openai-chat": ["openai"],
    "openai-responses": ["openai"],
    "anthropic": ["anthropic"],
    "gemini": ["google"],
}


class Sessions(Protocol):
    """A callable that makes a session from an endpoint, a system prompt, tools and a history. A class of sessions is
    one.
    """

    def __call__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn], /
    ) -> Session: ...


def ids_as_given(since: str) -> tuple[Difference, ...]:
    """Returns the differences of a library that sends a caller's history to Anthropic with the ids of another provider's calls.

    Args:
        since: The date of the declaration.

    Examples:
        >>> {each.rule for each in ids_as_given("2026-11-28")} == {"PAIR-007", "REQ-106"}
        True
    """
    reason = "a history that the caller writes is sent as it was given, with its ids"
    shown = (("PAIR-007", "has other characters"), ("REQ-106", "the pattern here is"))
    return tuple(Difference(rule, part, reason, since, "anthropic") for rule, part in shown)


class BridgeAdapter:
    """An adapter whose conversations are made by `sessions`.

    Examples:
        >>> class MySession:
        ...     def __init__(self, endpoint, system, tools, history):
        ...         self.endpoint = endpoint
        >>> class Mine(BridgeAdapter):
        ...     sessions = MySession
        >>> endpoint = Endpoint("openai-chat", "openai", "http://127.0.0.1:8087/v1", "any-key", "gpt-4.1")
        >>> Mine().session(endpoint).endpoint.model
        'gpt-4.1'
    """

    sessions: ClassVar[Sessions]

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """Starts a conversation.

        Args:
            endpoint: The API to talk to.
            system: The system prompt; `None` (default) for none.
            tools: The tools that the model may call. Default: none.
            history: The turns that the conversation starts from. Default: none.

        Returns:
            The session.
        """
        return self.kind(endpoint)(endpoint, system, tools, history)

    def kind(self, endpoint: Endpoint) -> Sessions:  # noqa: ARG002 - for those that speak several formats
        """Returns the class of conversations at an endpoint. A library with several wire formats overrides it.

        Args:
            endpoint: The API to talk to.
        """
        return self.sessions
