"""Somebody decides about a tool call before it runs: it is approved, approved with other arguments, or denied.

Which calls are asked about, their tools say (`needs_approval`, or that they may destroy something), and the chat
(`ask_before`). Who is asked, the chat says (`approve`), or else where it is shown: `deciding(decide)` says so for its
context, as `showing()` does for progress. Who answers `DEFER` stops the conversation until there is a decision.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from ..contents.content import replaced
from ..contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ..errors import UsageError
from ..values import Value

__all__ = [
    "DEFER",
    "AskBefore",
    "Decide",
    "Decision",
    "Said",
    "agreed",
    "decided",
    "deciding",
    "decision_of",
    "denial",
    "needs_decision",
    "recorded",
]


@dataclass(frozen=True, eq=False, repr=False)
class Decision(Value):
    """A person's decision about a tool call.

    Args:
        approved: Whether the call may run.
        arguments: Arguments that replace the model's; `None` (default) keeps them.
        reason: What the model is told about a call that was denied.

    Examples:
        >>> Decision(approved=False, reason="Not on a Sunday.").approved
        False
    """

    approved: bool
    arguments: Mapping[str, Any] | None = None
    reason: str = "The user denied the tool call."


DEFER: Literal["defer"] = "defer"

Said = Decision | bool | Mapping[str, Any] | Literal["defer"]
Decide = Callable[[ContentToolRequest], Said | Awaitable[Said]]
AskBefore = bool | str | Collection[str] | Callable[[ContentToolRequest], bool]

_decide: ContextVar[Decide | None] = ContextVar("ellmer_core_decide", default=None)


@contextmanager
def deciding(decide: Decide) -> Iterator[None]:
    """In this context, `decide(request)` is asked about calls that need it; async where the chat is."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


def needs_decision(
    request: ContentToolRequest, ask_before: AskBefore = (), approve: Decide | None = None
) -> bool:
    """Whether somebody is to decide about it. A tool that asks for it is never called without."""
    notes = request.tool.annotations if request.tool else {}
    if _asks(notes.get("needs_approval"), dict(request.arguments)) or _listed(request, ask_before):
        return True
    return bool(notes.get("destructive_hint")) and (approve or _decide.get()) is not None


def _listed(request: ContentToolRequest, ask_before: AskBefore) -> bool:
    if isinstance(ask_before, Collection):
        return request.name in ([ask_before] if isinstance(ask_before, str) else ask_before)
    return _asks(ask_before, request)


def _asks(asks: Any, about: Any) -> bool:
    """A yes or no, or the answer of a function to it."""
    try:
        return bool(asks(about) if callable(asks) else asks)
    except Exception:  # noqa: BLE001 - who cannot say whether it is safe has not said that it is
        return True


def decided(request: ContentToolRequest, approve: Decide | None = None) -> Said | Awaitable[Said]:
    """Asks; where nobody can be asked, the answer is no."""
    decide = approve or _decide.get()
    if decide is None:
        return Decision(approved=False, reason="The tool needs an approval, and nobody was there to give it.")
    return decide(request)


def decision_of(said: Said) -> Decision | None:
    """A decision from what somebody said, which may have come as JSON; `None` where it is yet to come."""
    match said:
        case Decision() | None:
            return said
        case bool():
            return Decision(approved=said)
        case "defer":
            return None
        case {"approved": bool(approved)} if not said.keys() - {"approved", "arguments", "reason"}:
            arguments, reason = said.get("arguments"), said.get("reason") or Decision.reason
            if isinstance(arguments, Mapping | None) and isinstance(reason, str):
                return Decision(approved, arguments, reason)
    raise UsageError(
        'A decision is True, False, "defer", a Decision or {"approved": true, "arguments": {…}, "reason": "…"}, '
        f"not {said!r:.100}."
    )


def agreed(request: ContentToolRequest, decision: Decision) -> ContentToolRequest:
    """The request as it was approved, which it says in its `extra` (no provider is sent that)."""
    edited = decision.arguments is not None and dict(decision.arguments) != dict(request.arguments)
    changes = {"arguments": dict(decision.arguments or {}), "raw": None} if edited else {}
    extra = {**request.extra, "decision": "edited" if edited else "approved"}
    return replaced(request, extra=extra, **changes)


def denial(request: ContentToolRequest, reason: str) -> ContentToolResult:
    """The result of a call that was not made because somebody said no: nothing failed, and the model reads why."""
    return ContentToolResult(f"Tool call denied. {reason}", extra={"decision": "denied"}, request=request)


def recorded(result: ContentToolResult) -> ContentToolResult:
    """The result, with what was decided about its call in its `extra`, if somebody was asked."""
    decision = result.request.extra.get("decision") if result.request else None
    return replaced(result, extra={**result.extra, "decision": decision}) if decision else result
