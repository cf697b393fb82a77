"""Approval of tool calls: which calls need a person's decision, who is asked for it, and what becomes of an approved, an edited
and a denied call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from ..base.values import Value
from ..contents.content import ContentToolRequest, ContentToolResult, replaced
from ..errors import UsageError

__all__ = ["DEFER", "AskBefore", "Decide", "Decision", "DecisionLike"]


# --- Decisions ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Decision(Value):
    """A person's decision about a tool call.

    Args:
        approved: Whether the call may run.
        arguments: Arguments that replace the model's; `None` (default) keeps them.
        reason: What the model is told about a call that was denied. Default: `"The user denied the tool call."`.

    Examples:
        >>> Decision(approved=False, reason="Not on a Sunday.").approved
        False
    """

    approved: bool
    arguments: Mapping[str, Any] | None = None
    reason: str = "The user denied the tool call."


DEFER: Literal["defer"] = "defer"

DecisionLike = Decision | bool | Mapping[str, Any] | Literal["defer"]
Decide = Callable[[ContentToolRequest], DecisionLike | Awaitable[DecisionLike]]
AskBefore = bool | str | Collection[str] | Callable[[ContentToolRequest], bool]


def decision_of(answer: DecisionLike) -> Decision | None:
    """Returns a decision from an answer, which may be JSON, or `None` if the decision comes later."""
    match answer:
        case Decision() | None:
            return answer
        case bool():
            return Decision(approved=answer)
        case "defer":
            return None
        case {"approved": bool(approved)} if not answer.keys() - {"approved", "arguments", "reason"}:
            arguments, reason = answer.get("arguments"), answer.get("reason") or Decision.reason
            if isinstance(arguments, Mapping | None) and isinstance(reason, str):
                return Decision(approved, arguments, reason)
    raise UsageError(
        'A decision is True, False, "defer", a Decision or {"approved": true, "arguments": {…}, "reason": "…"}, '
        f"not {answer!r:.100}."
    )


# --- Which calls need one -------------------------------------------------------------------------------


def needs_decision(
    request: ContentToolRequest, ask_before: AskBefore = (), approve: Decide | None = None
) -> bool:
    """Tells whether a call needs a decision. A tool that requires one is never called without it."""
    notes = request.tool.annotations if request.tool else {}
    names = [ask_before] if isinstance(ask_before, str) else ask_before
    if _asks(notes.get("needs_approval"), dict(request.arguments)):
        return True
    if request.name in names if isinstance(names, Collection) else _asks(names, request):
        return True
    return bool(notes.get("destructive_hint")) and (approve or _decide.get()) is not None


def _asks(asks: Any, about: Any) -> bool:
    """Returns a setting that is a bool, or the result of calling it."""
    try:
        return bool(asks(about) if callable(asks) else asks)
    except Exception:  # noqa: BLE001 - who cannot say whether it is safe has not said that it is
        return True


# --- Who decides ----------------------------------------------------------------------------------------


_decide: ContextVar[Decide | None] = ContextVar("ellmer_core_decide", default=None)


@contextmanager
def deciding(decide: Decide) -> Iterator[None]:
    """Sets the function `decide(request)` for this context. It is async for async chats."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


def ask_for_decision(
    request: ContentToolRequest, approve: Decide | None = None
) -> DecisionLike | Awaitable[DecisionLike]:
    """Asks for a decision. If nobody can be asked, the answer is no."""
    decide = approve or _decide.get()
    if decide is None:
        return Decision(approved=False, reason="The tool needs an approval, and nobody was there to give it.")
    return decide(request)


# --- The approved and the denied call -------------------------------------------------------------------


def approved_request(request: ContentToolRequest, decision: Decision) -> ContentToolRequest:
    """Returns the approved request, with the decision in its `extra` (which is not sent to any provider)."""
    edited = decision.arguments is not None and dict(decision.arguments) != dict(request.arguments)
    changes = {"arguments": dict(decision.arguments or {}), "raw": None} if edited else {}
    extra = {**request.extra, "decision": "edited" if edited else "approved"}
    return replaced(request, extra=extra, **changes)


def denial(request: ContentToolRequest, reason: str) -> ContentToolResult:
    """Returns the result of a denied call. It is not an error, and it tells the model the reason."""
    return ContentToolResult(f"Tool call denied. {reason}", extra={"decision": "denied"}, request=request)


# --- A call whose tool asks a question ------------------------------------------------------------------


def with_question(
    request: ContentToolRequest, ran: ContentToolRequest, question: Mapping[str, Any]
) -> ContentToolRequest:
    """Returns a request with the question that its tool asked when it ran, as plain JSON, so that it can be saved."""
    before = {name: ran.extra[name] for name in ("answers", "decision") if name in ran.extra}
    return replaced(
        request, extra={**request.extra, "question": {**question, "arguments": dict(ran.arguments), **before}}
    )


def with_answer(request: ContentToolRequest, decision: Decision) -> ContentToolRequest:
    """Returns the request whose tool runs again, with the answer to its question, and with the arguments it had before."""
    asked = request.extra["question"]
    answer = {
        "message": asked["message"],
        "schema": asked["schema"],
        "approved": decision.approved,
        "arguments": dict(decision.arguments) if decision.arguments is not None else None,
    }
    extra = {name: value for name, value in request.extra.items() if name != "question"}
    extra |= {"decision": asked["decision"]} if "decision" in asked else {}
    extra["answers"] = [*asked.get("answers", ()), answer]
    return replaced(request, arguments=asked["arguments"], extra=extra)
