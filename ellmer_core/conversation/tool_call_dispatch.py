"""The tool calls of one answer: who decides about each, which ones run, and the results of the others. It does no
I/O.

Each result is added to the history as soon as it exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..contents.content import ContentToolRequest, ContentToolResult
from ..contents.turns import AssistantTurn
from ..errors import ApprovalRequiredError, ToolReject
from .approval import agreed, decision_of, denial, needs_decision, recorded
from .history import INTERRUPTED, History
from .io_operations import CallTools, Decide, Emit, Loop, Notify
from .settings import Settings

__all__ = ["call_tools"]


def call_tools(history: History, settings: Settings, requests: Sequence[ContentToolRequest]) -> Loop[None]:
    """Runs the tools, in sequence or concurrently. Calls that wait for a decision are skipped, and the others run
    first.
    """
    places = [place for place in range(len(requests)) if place not in history.results]
    for batch in [places] if settings.concurrent else [[place] for place in places]:
        if ready := (yield from _ready(history, settings, {place: requests[place] for place in batch})):
            yield from _run(history, settings, ready)
        for place in batch:
            if place in history.results:
                yield Notify(tuple(settings.on_result), history.results[place])
                yield Emit(history.results[place])
    if waiting := history.waiting:
        names = ", ".join(f"`{request.name}` ({request.id})" for request in waiting)
        raise ApprovalRequiredError(
            f"Tool calls wait for a decision: {names}. Pass the decisions to chat.decide(), then call chat.chat().",
            waiting,
        )


def _ready(
    history: History, settings: Settings, requests: Mapping[int, ContentToolRequest]
) -> Loop[dict[int, ContentToolRequest]]:
    """Yields the calls that may run, by index. The results of the others are added to the history."""
    ready: dict[int, ContentToolRequest] = {}
    for place, request in requests.items():
        settings.controller.check()
        yield Emit(request)
        outcome = yield from _permitted(history, settings, request)
        if isinstance(outcome, ContentToolResult):
            history.results[place] = outcome
        elif outcome is not None:
            ready[place] = outcome
    return ready


def _permitted(
    history: History, settings: Settings, request: ContentToolRequest
) -> Loop[ContentToolRequest | ContentToolResult | None]:
    """Returns the permitted request, the result of a denied one, or `None` if the decision comes later."""
    if refusal := (yield from _refused(settings, request)):
        return refusal
    decision = history.decisions.get(request.id)
    if decision is None:
        if not needs_decision(request, settings.ask_before, settings.approve):
            return request
        decision = decision_of((yield Decide(request, settings.approve)))
        settings.controller.check()
    if decision is None:
        return None
    return agreed(request, decision) if decision.approved else denial(request, decision.reason)


def _run(history: History, settings: Settings, ready: Mapping[int, ContentToolRequest]) -> Loop[None]:
    """Calls tools. Interrupted calls are not reported as unrun."""
    from ..tools.definition import CallScope  # noqa: PLC0415 - many chats have no tools

    asked = history.turns[-1]
    turn = asked if isinstance(asked, AssistantTurn) else None
    scope = CallScope(turn, settings.deps, lambda: settings.controller.reason)
    try:
        yield CallTools(ready, lambda place, result: history.results.update({place: recorded(result)}), scope)
    except Exception:
        raise
    except BaseException:
        for place, request in ready.items():
            history.results.setdefault(place, ContentToolResult(error=INTERRUPTED, request=request))
        raise


def _refused(settings: Settings, request: ContentToolRequest) -> Loop[ContentToolResult | None]:
    """Returns the result of a request that must not run, because it is invalid or a callback rejected it."""
    if request.problem:
        return ContentToolResult(error=f"The call was not run: {request.problem}.", request=request)
    try:
        yield Notify(tuple(settings.on_request), request)
    except ToolReject as rejection:
        return ContentToolResult(error=rejection, request=request)
    return None
