"""The conversation loop without I/O.

`converse()` is a generator. It yields an `Effect` and is sent the outcome, or the failure is thrown into it.
`transport/` carries out the effects, in a blocking and in an async version. A test needs neither: it uses `next()`,
`.send()`, `.throw()` and `.close()`.

    Send → Answer(200, …)                the request is out, and the head of the answer is here
        ReadBody → bytes                 the whole body
        ReadEvents → [event, …] | None   of a stream: what one network chunk completed; None at its end
        Finish → None                    the answer is complete, its connection free
    CallTools(requests, keep) → None     runs the tools; `keep(position, result)` the moment each has ended
    Decide(request, …) → Decision        asks somebody whether the call may run
    Notify(callbacks, content) → None    calls the user's callbacks
    a content, a turn → None             shows a piece of an answer, a request, a result, or a finished turn
    Wait(at_least, at_most) → None       seconds
    Fetch(url) → ContentImageInline      downloads an image
    Clock → float                        seconds, from any origin

Whatever happens at a yield, the chat can continue with the history that is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from operator import attrgetter

from .. import errors
from ..base.log import logger, warn
from ..contents.content import (
    Content,
    ContentFile,
    ContentImage,
    ContentPDF,
    ContentProviderCall,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    matched,
)
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..errors import ConnectError, IncompleteResponseError, ProviderError
from ..wire.base import answer_of
from ..wire.interfaces import Request
from ..wire.shared.json_objects import is_forced
from . import retries
from .approval import approved_request, ask_for_decision, decision_of, denial, needs_decision, with_answer
from .history import INTERRUPTED, History
from .io_operations import Answer, CallTools, Clock, Decide, Loop, Notify, Send, Wait
from .repaired_turns import without_attachments
from .request import accepts, request_turns, warn_replaced
from .response import cut_short, read
from .settings import Cancelled, Settings


def converse(history: History, settings: Settings, inputs: Sequence[Content]) -> Loop[AssistantTurn | None]:
    """Sends the inputs, runs the tools that the model calls, and repeats this until the model has answered.

    Messages that are added meanwhile go out with the next request. Returns the last turn, or `None` if the conversation was cancelled
    or got none.
    """
    began = len(history.turns) if settings.usage_limits.per == "call" else 0
    try:
        waited = history.decisions and (yield from call_tools(history, settings, history.open_requests))
        if waited and not inputs and not history.added:
            return None
        user: UserTurn | None
        yield (user := history.reply([*history.added, *inputs]))
        for rounds in count():
            settings.usage_limits.check_request(history.turns[began:])
            turn, settings = yield from answered(history, settings, user)
            if turn.tool_requests or settings.wire.paused(turn):
                following = yield from _after_calls(history, settings, turn, began, rounds)
                if following is None:
                    return turn
                user, settings = following
            elif not (settings.check or history.added):
                return turn
            else:
                user, settings = _after_text(history, settings, turn)
                if user is None:
                    return turn
                yield user
    except Cancelled:
        return None
    except errors.ContentError:
        history.added = []  # it would be refused again and again
        raise
    raise AssertionError("unreachable: the last round returns or raises")


def _after_calls(
    history: History, settings: Settings, turn: AssistantTurn, began: int, rounds: int
) -> Loop[tuple[UserTurn | None, Settings] | None]:
    """Runs the calls of an answer. Returns the next user turn (`None`: an answer is continued) and the settings for it, or `None` if
    a result is the answer.
    """
    limits = settings.usage_limits
    counted = limits.tool_calls is not None or limits.same_calls is not None
    may_end = counted or rounds >= settings.max_tool_rounds
    reached = _reached(settings, history.turns[began:], rounds) if may_end else None
    if reached is not None:
        yield from _refused(history, settings, turn, reached)
    elif (yield from call_tools(history, settings, turn.tool_requests)) and not history.added:
        return None
    if not turn.tool_requests:
        return None, settings
    added = history.added
    if added:
        yield UserTurn(added)
    if reached is not None or (limits.at_limit == "answer" and limits.next_is_last(history.turns[began:])):
        settings = _without_tools(settings)
    elif "tool_choice" in settings.wire.params:
        settings = _not_forcing(settings)
    return history.reply(added), settings


def _after_text(
    history: History, settings: Settings, turn: AssistantTurn
) -> tuple[UserTurn | None, Settings]:
    """Returns the next user turn after an answer without calls, and the settings for it. There is none if the model is done."""
    if settings.check and settings.max_retries > 0 and (wrong := settings.check(turn)) is not None:
        return history.reply([ContentText(wrong)]), replace(settings, max_retries=settings.max_retries - 1)
    return history.reply(history.added) if history.added else None, settings


def _not_forcing(settings: Settings) -> Settings:
    """Returns the settings without a forced call: with one, the model could only call again, and never answer."""
    if not is_forced(settings.wire.params.get("tool_choice")):
        return settings
    params = {name: value for name, value in settings.wire.params.items() if name != "tool_choice"}
    return replace(settings, wire=replace(settings.wire, params=params))


#: What the model is told about a call beyond a limit.
REFUSED = "The call was not run: no tool can be called any more. Answer with what you have."


def _reached(settings: Settings, turns: Sequence[Turn], rounds: int) -> errors.EllmerError | None:
    """Returns the limit that the calls of the last turn exceed, if the model is to answer without them. Raises it otherwise."""
    try:
        if rounds >= settings.max_tool_rounds:
            raise _too_many_rounds(settings, rounds)
        settings.usage_limits.check_calls(turns)
    except (errors.ToolRoundsError, errors.UsageLimitError) as error:
        if settings.usage_limits.at_limit != "answer" or not settings.tools:
            raise
        return error
    return None


def _refused(
    history: History, settings: Settings, turn: AssistantTurn, reached: errors.EllmerError
) -> Loop[None]:
    """Answers the calls of a turn with an error that tells the model that they were not run."""
    if not turn.tool_requests:
        raise reached
    logger.info("%s: %s The model is asked for an answer without tools.", type(reached).__name__, reached)
    for place, request in enumerate(turn.tool_requests):
        yield request
        history.results[place] = ContentToolResult(error=REFUSED, request=request)
        yield history.results[place]
        if settings.on_result:
            yield Notify(tuple(settings.on_result), history.results[place])


def _without_tools(settings: Settings) -> Settings:
    params = {
        n: v for n, v in settings.wire.params.items() if n not in {"tool_choice", "parallel_tool_calls"}
    }
    return replace(settings, tools={}, wire=replace(settings.wire, params=params))


def _too_many_rounds(settings: Settings, rounds: int) -> errors.ToolRoundsError:
    return errors.ToolRoundsError(
        f"The model asked for tools {rounds + 1} times in a row, and max_tool_rounds is "
        f"{settings.max_tool_rounds}. The last tool calls were not run. The next chat() tells the model so."
    )


# --- The next provider -----------------------------------------------------------------------------------


#: Errors that another provider may not have. The caller has to correct a refused request or key.
OUTAGES = (errors.RateLimitError, errors.ServerError, ConnectError, IncompleteResponseError)


def answered(
    history: History, settings: Settings, user: UserTurn | None
) -> Loop[tuple[AssistantTurn, Settings]]:
    """Returns the answer of the first provider that gives one, and the provider to continue with. After a part of an
    answer was shown, no other provider is asked. A provider that does not accept the user's message is skipped if another does.
    """
    while True:
        before = len(history.turns)
        try:
            return (yield from request_answer(history, settings, user)), settings
        except (*OUTAGES, errors.ContentError) as error:
            others = [o for o in settings.fallbacks if isinstance(error, OUTAGES) or accepts(o.wire, user)]
            if not others or len(history.turns) > before:
                raise
            settings = _next(settings, error, user)


def _next(settings: Settings, error: errors.EllmerError, user: UserTurn | None) -> Settings:
    """Returns the settings of the next provider that accepts the user's message, or else of the next one, which gets its
    media in words.
    """
    able = [other for other in settings.fallbacks if accepts(other.wire, user)]
    following = (able or settings.fallbacks)[0]
    rest = [other for other in settings.fallbacks if other is not following]
    logger.warning(
        "%s/%s: %s; continuing with %s/%s",
        *(settings.wire.provider, settings.wire.model, type(error).__name__),
        *(following.wire.provider, following.wire.model),
    )
    return replace(
        settings,
        wire=following.wire,
        provider=following.provider,
        max_tries=following.max_tries,
        written=following.written,
        fallbacks=rest,
        describes=not able,
    )


# --- One request, one answer -----------------------------------------------------------------------------


def request_answer(history: History, settings: Settings, user: UserTurn | None) -> Loop[AssistantTurn]:
    """Returns one user turn and its answer, and adds both to the history. Without a user turn, an answer is
    continued. A failure raises an error and leaves the history unchanged.
    """
    request, body = yield from _written(history, settings, user)
    began: float = yield Clock()
    try:
        try:
            turn = yield from with_retries(history, settings, request, body, user)
        except errors.BadRequestError as error:
            turn = yield from _answer_without_attachments(history, settings, user, error, body)
        ended: float = yield Clock()
        turn = _completed(turn, settings, ended - began)
    except BaseException as error:
        history.close_interrupted(_reason(error))
        raise
    streamed = bool(history.received)
    history.commit(*filter(None, [user]), turn)
    yield from _show(turn, streamed=streamed)
    settings.count(settings.wire, turn)
    yield turn
    return turn


def _written(history: History, settings: Settings, user: UserTurn | None) -> Loop[tuple[Request, bytes]]:
    """Returns the request for the next answer, and its body."""
    sent = yield from request_turns(history, settings, user)
    tools = tuple(settings.tools.values())
    if any(map(attrgetter("deferred"), tools)):
        from ..tools.tool_search import offered  # noqa: PLC0415 - few chats defer tools

        tools = offered(settings.tools, sent.turns, native=settings.wire.searches)
    written = settings.written.request(
        sent.wire, sent.turns, tools, stream=settings.stream, type=settings.type, mode=settings.mode
    )
    if sent.replaced:
        warn_replaced(settings, sent.replaced)
    return written


def _answer_without_attachments(
    history: History, settings: Settings, user: UserTurn | None, error: errors.BadRequestError, refused: bytes
) -> Loop[AssistantTurn]:
    """Returns the answer to the refused request without what the provider attached to earlier answers, if that was the cause.
    Raises the error if it was not.
    """
    plain = without_attachments(history.turns, settings.wire.name)
    other_cause = history.received or isinstance(error, errors.ContextWindowError)
    if other_cause or plain.keys() <= settings.plain.keys() or error.status not in {400, 404, 422}:
        raise error
    known, turn = dict(settings.plain), None
    settings.plain.update(plain)
    try:
        request, body = yield from _written(history, settings, user)
        if body == refused:
            raise error
        turn = yield from with_retries(history, settings, request, body, user)
    except errors.ProviderError:
        raise error from None
    finally:
        if turn is None:
            settings.plain.clear()
            settings.plain.update(known)
    warn(
        f"{settings.wire.provider} refused what it attached to earlier answers (signatures, encrypted reasoning, blocks of its "
        f"own), so they are sent without it: {error.message}"
    )
    return turn  # pyright: ignore[reportReturnType]  # only a raised error leaves it None


def _show(turn: AssistantTurn, *, streamed: bool) -> Loop[None]:
    """Yields the contents that were not shown while the answer arrived."""
    for content in turn.contents:
        if not streamed and isinstance(content, ContentText | ContentThinking):
            yield content
        elif streamed and isinstance(content, ContentText):
            yield from content.citations
        elif isinstance(content, ContentProviderCall | ContentImage | ContentPDF | ContentFile):
            yield content


def with_retries(
    history: History, settings: Settings, request: Request, body: bytes, user: UserTurn | None
) -> Loop[AssistantTurn]:
    """Returns the answer to a request. It is sent again if that may help and no part of an answer was shown."""
    for tries in count(1):
        answer = Answer(0)
        history.asked, history.received = user, []
        settings.controller.check()
        try:
            answer = yield Send(request, body, settings.provider)
            return (yield from read(history, settings, request, answer))
        except (ProviderError, ConnectError) as error:
            if isinstance(error, ProviderError):  # one inside an answer knows not yet whose it is
                error.at(settings.wire.provider, settings.wire.model, settings.wire.key_vars)
            settings.controller.check()
            wait = retries.wait(error, answer.headers, tries)
            if history.received or wait is None or tries >= settings.max_tries:
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
    """Returns the turn with values that the wire format cannot know: the called tools, the cost, the duration. Raises an
    error for truncated structured data. (In a chat, a truncated text is kept.)
    """
    if settings.type is not None:
        turn = answer_of(turn)
        if cut := cut_short(turn):
            raise IncompleteResponseError(f"The answer has no structured data: {cut}")
    contents = tuple(
        matched(c, settings.tools.get(c.name)) if isinstance(c, ContentToolRequest) else c
        for c in turn.contents
    )
    return turn.but_with(
        contents=contents,
        cost=settings.price(settings.wire, turn.tokens) if turn.cost is None else turn.cost,
        duration=duration,
    )


def _reason(error: BaseException) -> str:
    """Returns the reason why a turn is partial, as it is printed."""
    match error:
        case Cancelled():
            return str(error)
        case errors.RequestTimeoutError():
            return "timeout"
        case IncompleteResponseError():
            return "incomplete"
        case ProviderError() | errors.ResponseError():
            return "error"
    return "interrupted"


# --- The tool calls of one answer ------------------------------------------------------------------------


def call_tools(history: History, settings: Settings, requests: Sequence[ContentToolRequest]) -> Loop[bool]:
    """Runs the tools, in sequence or concurrently. Calls that wait for a decision are skipped, and the others run
    first.

    Returns whether a result is the answer. It is sent with the next message. For data of a type, the model is always asked.
    """
    places = [place for place in range(len(requests)) if place not in history.results]
    for batch in [places] if settings.concurrent else [[place] for place in places]:
        ready: dict[int, ContentToolRequest] = {}
        for place in batch:
            settings.controller.check()
            yield requests[place]
            outcome = yield from _permitted(history, settings, requests[place])
            if isinstance(outcome, ContentToolResult):
                history.results[place] = outcome
            elif outcome is not None:
                ready[place] = outcome
        if ready:
            yield from _run(history, settings, ready)
        for place in batch:
            if place in history.results:
                yield history.results[place]
                if settings.on_result:
                    yield Notify(tuple(settings.on_result), history.results[place])
    if any(place not in history.results for place in places):
        raise _approval_required(history.questions)
    may_end = any(map(attrgetter("final"), settings.tools.values()))
    history.final = history.final_results() if may_end else []
    return bool(history.final) and settings.type is None


def _approval_required(waiting: tuple[ContentToolRequest, ...]) -> errors.ApprovalRequiredError:
    names = ", ".join(f"`{request.name}` ({request.id})" for request in waiting)
    return errors.ApprovalRequiredError(
        f"Tool calls wait for a decision: {names}. Pass the decisions to chat.decide(), then call chat.chat().",
        waiting,
    )


def _permitted(
    history: History, settings: Settings, request: ContentToolRequest
) -> Loop[ContentToolRequest | ContentToolResult | None]:
    """Returns the permitted request, the result of a denied one, or `None` if the decision comes later."""
    decision = history.decisions.get(request.id)
    if "question" in request.extra:  # it was permitted, and its tool asked something
        return None if decision is None else with_answer(request, decision)
    if request.problem:
        return ContentToolResult(error=f"The call was not run: {request.problem}.", request=request)
    try:
        if settings.on_request:
            yield Notify(tuple(settings.on_request), request)
    except errors.ToolReject as rejection:
        return ContentToolResult(error=rejection, request=request)
    if decision is None:
        may_ask = settings.ask_before or (request.tool and request.tool.annotations)
        if not (may_ask and needs_decision(request, settings.ask_before, settings.approve)):
            return request
        decision = decision_of((yield Decide(request, settings.approve)))
        settings.controller.check()
    if decision is None:
        return None
    return approved_request(request, decision) if decision.approved else denial(request, decision.reason)


def _run(history: History, settings: Settings, ready: Mapping[int, ContentToolRequest]) -> Loop[None]:
    """Calls tools. Interrupted calls are not reported as unrun."""
    from ..tools.definition import CallScope  # noqa: PLC0415 - many chats have no tools

    asked = history.turns[-1]
    turn = asked if isinstance(asked, AssistantTurn) else None
    ask = partial(ask_for_decision, approve=settings.approve)
    scope = CallScope(turn, settings.deps, lambda: settings.controller.reason, ask, decision_of)
    try:
        yield CallTools(ready, history.keep, scope)
    except Exception:
        raise
    except BaseException:
        for place, request in ready.items():
            history.results.setdefault(place, ContentToolResult(error=INTERRUPTED, request=request))
        raise
