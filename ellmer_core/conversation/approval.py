"""Somebody decides about a tool call before it runs: it is approved, approved with other arguments, or denied.

Who is asked is a matter of where the chat is shown: `deciding(decide)` says so for its context, as `showing()` does
for progress. Which calls are asked about, their tools say (`needs_approval`, or that they may destroy something).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ..contents.content import replaced
from ..contents.tool_calls import ContentToolRequest, ContentToolResult
from ..errors import ToolReject

__all__ = ["Decision", "agreed", "decided", "deciding", "denial", "needs_decision", "recorded"]


@dataclass(frozen=True)
class Decision:
    """What somebody said about a call. `arguments` replace those that the model gave."""

    approved: bool
    arguments: Mapping[str, Any] | None = None
    reason: str = "The user denied the tool call."


Decide = Callable[[ContentToolRequest], Decision | Awaitable[Decision]]

_decide: ContextVar[Decide | None] = ContextVar("ellmer_core_decide", default=None)


@contextmanager
def deciding(decide: Decide) -> Iterator[None]:
    """In this context, `decide(request)` is asked about calls that need it; async where the chat is."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


def needs_decision(request: ContentToolRequest) -> bool:
    """Whether somebody is to decide about it. A tool that asks for it is never called without."""
    notes = request.tool.annotations if request.tool else {}
    asks = notes.get("needs_approval")
    if callable(asks):
        try:
            asks = asks(dict(request.arguments))
        except Exception:  # noqa: BLE001 - who cannot say whether it is safe has not said that it is
            asks = True
    return bool(asks) or (bool(notes.get("destructive_hint")) and _decide.get() is not None)


def decided(request: ContentToolRequest) -> Decision | Awaitable[Decision]:
    """Asks; where nobody can be asked, the answer is no."""
    decide = _decide.get()
    if decide is None:
        return Decision(approved=False, reason="The tool needs an approval, and nobody was there to give it.")
    return decide(request)


def agreed(request: ContentToolRequest, decision: Decision) -> ContentToolRequest:
    """The request as it was approved, which it says in its `extra` (no provider is sent that)."""
    edited = decision.arguments is not None and dict(decision.arguments) != dict(request.arguments)
    changes = {"arguments": dict(decision.arguments or {}), "raw": None} if edited else {}
    extra = {**request.extra, "decision": "edited" if edited else "approved"}
    return replaced(request, extra=extra, **changes)


def denial(request: ContentToolRequest, reason: str) -> ContentToolResult:
    """The result of a call that was not made because somebody said no."""
    error = ToolReject(f"Tool call denied. {reason}")
    return ContentToolResult(error=error, extra={"decision": "denied"}, request=request)


def recorded(result: ContentToolResult) -> ContentToolResult:
    """The result, with what was decided about its call in its `extra`, if somebody was asked."""
    decision = result.request.extra.get("decision") if result.request else None
    return replaced(result, extra={**result.extra, "decision": decision}) if decision else result
