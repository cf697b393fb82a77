"""What a tool may know of its call: a parameter of the type `ToolContext`, which the model never sees.

@tool
def find(query: str, context: ToolContext[Database]) -> list[str]:
    context.progress("Searching…")
    return context.deps.find(query)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..contents.tool_calls import ContentToolRequest
from ..contents.turns import AssistantTurn

__all__ = ["CallScope", "ToolContext", "is_context"]

D = TypeVar("D")


def _never() -> str | None:
    return None


@dataclass(frozen=True)
class CallScope:
    """What a conversation knows of the calls it makes. `cancelled()` says why it was stopped, if it was."""

    turn: AssistantTurn | None = None
    deps: Any = None
    cancelled: Callable[[], str | None] = _never


@dataclass(frozen=True)
class ToolContext(Generic[D]):
    """One call of a tool. `request` is what the model asked for, as it was approved."""

    request: ContentToolRequest
    scope: CallScope = field(default_factory=CallScope, repr=False)
    show: Callable[[str], object] = field(default=lambda _text: None, repr=False)

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self.request.id

    @property
    def turn(self) -> AssistantTurn | None:
        """The answer in which the model asked for the call; `None` outside a chat."""
        return self.scope.turn

    @property
    def deps(self) -> D:
        """What the caller put into `chat.deps`: a database, the user's name, a client."""
        deps: D = self.scope.deps
        return deps

    @property
    def cancelled(self) -> bool:
        """Whether the stream was cancelled meanwhile, so that nobody waits for the result."""
        return self.scope.cancelled() is not None

    def progress(self, text: str) -> None:
        """Says how far the call is, beside it, where the chat is shown; the model is not told."""
        self.show(text)


def is_context(hint: Any) -> bool:
    """Whether a type hint is `ToolContext`, with or without the type of its `deps`, or that or `None`."""
    if hint is ToolContext or getattr(hint, "__origin__", None) is ToolContext:
        return True
    return type(None) in (options := getattr(hint, "__args__", ())) and any(map(is_context, options))
