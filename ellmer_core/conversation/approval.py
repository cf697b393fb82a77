"""A person or a function decides about a tool call before it runs: it is approved, approved with other arguments, or
denied.

The tools decide which calls need a decision (`needs_approval`, or a destructive tool), and so does the chat
(`ask_before`). The chat says who decides (`approve`). Otherwise, the user interface does: `deciding(decide)` sets it
for a context, as `showing()` does for progress. The answer `DEFER` stops the conversation until there is a decision.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from ..contents.content import ContentToolRequest, ContentToolResult, replaced
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
    """Sets the function `decide(request)` for this context. It is async for async chats."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


def needs_decision(
    request: ContentToolRequest, ask_before: AskBefore = (), approve: Decide | None = None
) -> bool:
    """Tells whether a call needs a decision. A tool that requires one is never called without it."""
    notes = request.tool.annotations if request.tool else {}
    if _asks(notes.get("needs_approval"), dict(request.arguments)) or _listed(request, ask_before):
        return True
    return bool(notes.get("destructive_hint")) and (approve or _decide.get()) is not None


def _listed(request: ContentToolRequest, ask_before: AskBefore) -> bool:
    if isinstance(ask_before, Collection):
        return request.name in ([ask_before] if isinstance(ask_before, str) else ask_before)
    return _asks(ask_before, request)


def _asks(asks: Any, about: Any) -> bool:
    """Returns a setting that is a bool, or the result of calling it."""
    try:
        return bool(asks(about) if callable(asks) else asks)
    except Exception:  # noqa: BLE001 - who cannot say whether it is safe has not said that it is
        return True


def decided(request: ContentToolRequest, approve: Decide | None = None) -> Said | Awaitable[Said]:
    """Asks for a decision. If nobody can be asked, the answer is no."""
    decide = approve or _decide.get()
    if decide is None:
        return Decision(approved=False, reason="The tool needs an approval, and nobody was there to give it.")
    return decide(request)


def decision_of(said: Said) -> Decision | None:
    """Returns a decision from an answer, which may be JSON, or `None` if the decision comes later."""
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
    """Returns the approved request, with the decision in its `extra` (which is not sent to any provider)."""
    edited = decision.arguments is not None and dict(decision.arguments) != dict(request.arguments)
    changes = {"arguments": dict(decision.arguments or {}), "raw": None} if edited else {}
    extra = {**request.extra, "decision": "edited" if edited else "approved"}
    return replaced(request, extra=extra, **changes)


def denial(request: ContentToolRequest, reason: str) -> ContentToolResult:
    """Returns the result of a denied call. It is not an error, and it tells the model the reason."""
    return ContentToolResult(f"Tool call denied. {reason}", extra={"decision": "denied"}, request=request)


def recorded(result: ContentToolResult) -> ContentToolResult:
    """Returns the result with the decision in its `extra`, if there was one."""
    decision = result.request.extra.get("decision") if result.request else None
    return replaced(result, extra={**result.extra, "decision": decision}) if decision else result
