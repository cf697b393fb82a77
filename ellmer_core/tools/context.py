"""The context of a tool call: a parameter of the type `ToolContext`, which the model never sees.

@tool
def find(query: str, context: ToolContext[Database]) -> list[str]:
    context.progress("Searching…")
    return context.deps.find(query)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..contents.content import ContentToolRequest
from ..contents.turns import AssistantTurn

__all__ = ["CallScope", "ToolContext", "is_context"]

D = TypeVar("D")


def _never() -> str | None:
    return None


@dataclass(frozen=True)
class CallScope:
    """The facts that a conversation knows about its calls. `cancelled()` returns the reason of a cancellation, if
    there is one.
    """

    turn: AssistantTurn | None = None
    deps: Any = None
    cancelled: Callable[[], str | None] = _never


@dataclass(frozen=True)
class ToolContext(Generic[D]):
    """The context of one tool call. A parameter of this type receives it; the model does not see the parameter.

    Args:
        request: The call, with the arguments that were approved.
        scope: The chat's side of the call: its turn, `deps` and cancellation.
        show: A function that shows a text where the chat is shown.

    Examples:
        >>> def balance(context: ToolContext) -> str:
        ...     "Gets the user's balance."
        ...     return context.deps["balance"]
        >>> chat = chat_openai(deps={"balance": "12 EUR"})
        >>> chat.register_tool(balance).name
        'balance'
    """

    request: ContentToolRequest
    scope: CallScope = field(default_factory=CallScope, repr=False)
    show: Callable[[str], object] = field(default=lambda _text: None, repr=False)

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self.request.id

    @property
    def turn(self) -> AssistantTurn | None:
        """The answer with the call, or `None` outside a chat."""
        return self.scope.turn

    @property
    def deps(self) -> D:
        """The value of `chat.deps`: a database, the user's name, a client."""
        deps: D = self.scope.deps
        return deps

    @property
    def cancelled(self) -> bool:
        """Whether the stream was cancelled, so that the result is no longer needed."""
        return self.scope.cancelled() is not None

    def progress(self, text: str) -> None:
        """Shows progress beside the call. The model does not receive it.

        Args:
            text: What to show.
        """
        self.show(text)


def is_context(hint: Any) -> bool:
    """Tells whether a type hint is `ToolContext`, with or without the type of its `deps`, or a union with `None`."""
    if hint is ToolContext or getattr(hint, "__origin__", None) is ToolContext:
        return True
    return type(None) in (options := getattr(hint, "__args__", ())) and any(map(is_context, options))
