"""The conversation, with the I/O left out.

`converse()` is a generator. It yields what it needs done, an `Effect`, and is sent the outcome, or has the
failure thrown into it; `transport/` does what it asks for, once blocking and once async. A test needs neither:
`next()`, `.send()`, `.throw()` and `.close()` are the whole of the outside world.

    Send → Answer(200, …)                the request is out, and the head of the answer is here
        ReadBody → bytes                 the whole body
        ReadEvents → [event, …] | None   of a stream: what one network chunk completed; None at its end
        Finish → None                    the answer is complete, its connection free
    CallTools(requests, keep) → None     runs the tools; `keep(position, result)` the moment each has ended
    Decide(request, …) → Decision        asks somebody whether the call may run
    Notify(callbacks, content) → None    calls the user's callbacks
    Emit(content) → None                 shows a piece of an answer, a request, a result, or a finished turn
    Wait(at_least, at_most) → None       seconds
    Fetch(url) → ContentImageInline      downloads an image
    Clock → float                        seconds, from any origin

Whatever happens at a yield, the history (an object of its own) is left such that the chat can go on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from ..contents.content import Content, ContentImageRemote, ContentText, ContentThinking
from ..contents.tool_calls import ContentProviderCall, ContentToolRequest, ContentToolResult
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..errors import (
    ApprovalRequiredError,
    ConnectError,
    ContentError,
    IncompleteResponseError,
    ProviderError,
    ResponseError,
    TimeoutError,
    ToolReject,
    ToolRoundsError,
    UsageError,
)
from ..log import logger, warn
from ..tools.context import CallScope
from ..tools.definition import matched
from ..wire.in_words import sendable_to
from ..wire.remote_images import inlined, unfetched
from ..wire.structured import answer_of
from ..wire.values import Request
from . import retry
from .approval import agreed, decision_of, denial, needs_decision, recorded
from .cancellation import Cancelled
from .effects import Answer, CallTools, Clock, Decide, Emit, Fetch, Loop, Notify, Send, Wait
from .fallback import answered
from .history import INTERRUPTED, History, sendable
from .response_reading import cut_short, read
from .settings import Settings

__all__ = ["converse"]


def converse(history: History, settings: Settings, inputs: Sequence[Content]) -> Loop[AssistantTurn | None]:
    """Sends the inputs, runs the tools the model asks for, and so on until it has answered.

    Returns the last turn, or `None` when the controller was used.
    """
    began = len(history.turns) if settings.usage_limits.per == "call" else 0
    problems = 0
    try:
        if history.decisions:
            yield from call_tools(history, settings, history.open_requests)
        asked = history.reply(inputs)
        yield Emit(asked)
        user: UserTurn | None = asked
        for rounds in count():
            settings.usage_limits.check_request(history.turns[began:])
            turn, settings = yield from answered(request_answer, history, settings, user)
            if not turn.tool_requests and not settings.wire.paused(turn):
                problem = settings.check(turn) if settings.check and problems < settings.max_retries else None
                if problem is None:
                    return turn
                problems += 1
                user = history.reply([ContentText(problem)])
                yield Emit(user)
                continue
            if rounds >= settings.max_tool_rounds:
                raise ToolRoundsError(
                    f"The model asked for tools {rounds + 1} times in a row, and max_tool_rounds is "
                    f"{settings.max_tool_rounds}. The last tool calls were not run. The next chat() tells the model so."
                )
            settings.usage_limits.check_calls(history.turns[began:])
            yield from call_tools(history, settings, turn.tool_requests)
            user = history.reply(()) if turn.tool_requests else None
    except Cancelled:
        pass
    return None


# One request, one answer ------------------------------------------------------------------------------------


def request_answer(history: History, settings: Settings, user: UserTurn | None) -> Loop[AssistantTurn]:
    """One user turn (none, to have an answer gone on with) and its answer, in the history; or an error, and the
    history as it was."""
    tools = tuple(settings.tools.values())
    turns = sendable(said(history, settings))
    missed = yield from fetch_images(settings, turns, user)
    if settings.fetched:
        turns = [inlined(turn, settings.fetched) for turn in turns]
    new = user and inlined(user, settings.fetched)
    sent = sendable_to(settings.wire, turns, new, tools)
    request, body = settings.written.request(
        settings.wire, sent.turns, tools, stream=settings.stream, type=settings.type, mode=settings.mode
    )
    tell(settings, [*sent.replaced, *missed])
    began: float = yield Clock()
    try:
        turn = yield from with_retries(history, settings, request, body, user)
        ended: float = yield Clock()
        turn = _completed(turn, settings, ended - began)
        _check_whole(turn, settings)
    except BaseException as error:
        history.close_interrupted(_reason(error))
        raise
    shown = history.delivered
    history.commit(user, turn)
    for content in turn.contents:
        if not shown and isinstance(content, ContentText | ContentThinking):
            yield Emit(content)
        elif shown and isinstance(content, ContentText):
            for citation in content.citations:
                yield Emit(citation)
        elif isinstance(content, ContentProviderCall):
            yield Emit(content)
    settings.count(settings.wire, turn.tokens, turn.cost)
    yield Emit(turn)
    return turn


def said(history: History, settings: Settings) -> list[Turn]:
    """The history, as the caller's hooks want it sent."""
    turns = list(history.turns)
    for change in settings.on_history:
        turns = list(change(turns))
        if wrong := next((turn for turn in turns if not isinstance(turn, Turn)), None):
            raise UsageError(f"A callback of on_history() returns turns, not {type(wrong).__name__}.")
    return turns


def fetch_images(settings: Settings, turns: Sequence[Turn], user: UserTurn | None) -> Loop[list[str]]:
    """Fetches images that the API fetches not itself, each once, if the caller allows it. Returns those that could not be
    fetched, with the reason; raises `ContentError` for one that the user gives now."""
    wanted = unfetched(settings.wire, [*turns, *filter(None, [user])]) if settings.fetch else []
    for url in wanted:
        if url not in settings.fetched:
            try:
                settings.fetched[url] = yield Fetch(url)
            except (UsageError, ConnectError) as error:
                settings.fetched[url] = str(error)
    missed = {url: why for url in wanted if isinstance(why := settings.fetched[url], str)}
    given = user.contents if user else ()
    if here := next((c.url for c in given if isinstance(c, ContentImageRemote) and c.url in missed), ""):
        raise ContentError(f"The image was not fetched: {settings.fetched.pop(here)}")
    return [f"{url} (it was not fetched: {why})" for url, why in missed.items()]


def tell(settings: Settings, replaced: Sequence[str]) -> None:
    """Warns the caller, once for a chat and a medium, of what the model is told in words only."""
    if new := [one for one in dict.fromkeys(replaced) if one not in settings.told]:
        settings.told.update(new)
        warn(
            f"{settings.wire.vendor}'s {settings.wire.model} was not sent {', '.join(new)}; words stand in its place."
        )


def with_retries(
    history: History, settings: Settings, request: Request, body: bytes, user: UserTurn | None
) -> Loop[AssistantTurn]:
    """The answer to a request, tried again where that may help and nothing of an answer was shown."""
    for tries in count(1):
        answer = Answer(0)
        history.begin(user)
        settings.controller.check()
        try:
            answer = yield Send(request, body, settings.provider)
            return (yield from read(history, settings, request, answer))
        except (ProviderError, ConnectError) as error:
            if isinstance(error, ProviderError):  # one inside an answer knows not yet whose it is
                error.at(settings.wire.vendor, settings.wire.model, settings.wire.key_vars)
            settings.controller.check()
            wait = retry.wait(error, answer.headers, answer.at, tries)
            if history.delivered or wait is None or tries >= settings.max_tries:
                raise
            logger.info(
                "%s; try %d of %d in %.1f s or later", _kind(error), tries + 1, settings.max_tries, wait[0]
            )
        yield Wait(*wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _kind(error: Exception) -> str:
    status = f" {error.status}" if isinstance(error, ProviderError) and error.status else ""
    return f"{type(error).__name__}{status}"


def _completed(turn: AssistantTurn, settings: Settings, duration: float) -> AssistantTurn:
    """The turn with what the wire format cannot know: the tools that are asked for, the cost, the duration."""
    if settings.type is not None:
        turn = answer_of(turn)
    contents = tuple(
        matched(c, settings.tools.get(c.name)) if isinstance(c, ContentToolRequest) else c
        for c in turn.contents
    )
    return replace(
        turn,
        contents=contents,
        cost=settings.price(settings.wire, turn.tokens) if turn.cost is None else turn.cost,
        duration=duration,
    )


def _check_whole(turn: AssistantTurn, settings: Settings) -> None:
    """Structured data that was cut short is no data (in a chat, a short text is text all the same)."""
    if settings.type is not None and (cut := cut_short(turn)):
        raise IncompleteResponseError(f"No structured data: {cut}")


def _reason(error: BaseException) -> str:
    """Why a partial turn is one, in the word that is printed with it."""
    match error:
        case Cancelled():
            return str(error)
        case TimeoutError():
            return "timeout"
        case IncompleteResponseError():
            return "incomplete"
        case ProviderError() | ResponseError():
            return "error"
    return "interrupted"


# Tools ------------------------------------------------------------------------------------------------------


def call_tools(history: History, settings: Settings, requests: Sequence[ContentToolRequest]) -> Loop[None]:
    """Runs the tools, one by one or all at once. Each result is in the history the moment it exists. Calls that wait
    for a decision are left; the others run first."""
    places = [place for place in range(len(requests)) if place not in history.results]
    for batch in [places] if settings.concurrent else [[place] for place in places]:
        ready: dict[int, ContentToolRequest] = {}
        for place in batch:
            settings.controller.check()
            yield Emit(requests[place])
            outcome = yield from permitted(history, settings, requests[place])
            if isinstance(outcome, ContentToolResult):
                history.results[place] = outcome
            elif outcome is not None:
                ready[place] = outcome
        if ready:
            yield from run_calls(history, settings, ready)
        for place in batch:
            if place in history.results:
                yield Notify(tuple(settings.on_result), history.results[place])
                yield Emit(history.results[place])
    if waiting := history.waiting:
        names = ", ".join(f"`{request.name}` ({request.id})" for request in waiting)
        raise ApprovalRequiredError(
            f"Tool calls wait for a decision: {names}. Give it to chat.decide(), then go on with chat.chat().",
            waiting,
        )


def permitted(
    history: History, settings: Settings, request: ContentToolRequest
) -> Loop[ContentToolRequest | ContentToolResult | None]:
    """The request as it may run, which somebody may have been asked about; or the result of one that may not; or
    `None`, where the decision is yet to come."""
    if refusal := (yield from refused(settings, request)):
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


def run_calls(history: History, settings: Settings, ready: Mapping[int, ContentToolRequest]) -> Loop[None]:
    """Calls tools; of those that were interrupted, nobody may say that they did not run."""
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


def refused(settings: Settings, request: ContentToolRequest) -> Loop[ContentToolResult | None]:
    """The result of a request that must not be run: it makes no sense, or a callback rejected it."""
    if request.problem:
        return ContentToolResult(error=f"The call was not run: {request.problem}.", request=request)
    try:
        yield Notify(tuple(settings.on_request), request)
    except ToolReject as rejection:
        return ContentToolResult(error=rejection, request=request)
    return None
