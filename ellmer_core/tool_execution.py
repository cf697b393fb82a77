"""Runs one tool call. It always returns a result, whatever the tool does.

The arguments are checked and converted first, and the value last. Every failure becomes an error result for the
model. A blocking tool runs in the caller's thread, unless it has a timeout or the caller is async. Only
`AsyncToolError` is raised, for an async tool in a blocking call.

The progress that a tool reports while it runs is shown to the user, and never sent to the model.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import aclosing, contextmanager
from contextvars import ContextVar, copy_context
from copy import deepcopy
from dataclasses import replace
from functools import partial
from inspect import Parameter, isasyncgenfunction, iscoroutine, iscoroutinefunction, isroutine, signature
from logging import DEBUG, WARNING
from threading import Thread
from typing import Any, Literal

from .base.log import log_raised, logger
from .contents.content import ContentToolRequest, ContentToolResult, ToolDef, replaced
from .errors import AsyncToolError, ConversionError, ToolReject, UsageError, printed
from .schemas.python_types import convert, is_left_out
from .telemetry.spans import traced_call
from .tools.definition import AskLater, CallScope, ToolContext, is_field
from .tools.results import check_tool_result

__all__ = ["Progress", "local_shinychat", "showing"]


# --- Progress --------------------------------------------------------------------------------------------


Show = Callable[[ContentToolRequest, str], object]

_show: ContextVar[Show | None] = ContextVar("ellmer_core_show", default=None)
_call: ContextVar[ContentToolRequest | None] = ContextVar("ellmer_core_call", default=None)


class Progress:
    """The progress line beside a running tool call. It disappears when the result arrives."""

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._text = ""

    def append(self, text: Any, *, operation: Literal["append", "replace"] = "append") -> None:
        """Appends text to the progress, or the text of an HTML tag. With `operation="replace"`, it replaces the previous text."""
        if operation not in {"append", "replace"}:
            raise UsageError(f'operation= must be "append" or "replace", not {operation!r}.')
        self.replace(text if operation == "replace" else self._text + _words(text))

    def replace(self, text: Any) -> None:
        """Replaces the previous text, by text or by the text of an HTML tag."""
        self._text = text = _words(text)
        self._show(text)


def _words(value: Any) -> str:
    """Returns a text, or the words of an HTML tag. A tool never fails because of its progress."""
    if isinstance(value, str):
        return value
    from html import unescape  # noqa: PLC0415 - most tools report text
    from re import sub  # noqa: PLC0415 - see above

    return unescape(sub(r"<[^>]*>", " ", printed(value))).strip()


def local_shinychat() -> Progress:
    """Returns the chat on the screen, so that a tool can show its progress.

    Without a UI (`live_browser()`, `live_console()` or `shinychat_stream()`), its methods do nothing. Progress is never
    sent to the model and disappears when the tool returns.

    Returns:
        An object with `append(text)` and `replace(text)`.

    Examples:
        >>> chat_ui = local_shinychat()
        >>> chat_ui.append("Searching…")
        >>> chat_ui.replace("50 %")
    """
    show, request = _show.get(), _call.get()
    if show is None or request is None:
        return Progress(lambda _text: None)
    return Progress(lambda text: show(request, text))


def say(value: object) -> None:
    """Reports a value that a generator tool yields before its result as progress."""
    local_shinychat().replace(printed(value))


@contextmanager
def showing(show: Show) -> Iterator[None]:
    """Sends the progress of tools in this context to `show(request, text)`, which any thread may call."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


# --- The call --------------------------------------------------------------------------------------------


NO_SCOPE = CallScope()
OnProgress = Callable[[Any], object]
Later = Awaitable[Any] | AsyncGenerator[Any, None]


def invoke(
    request: ContentToolRequest, *, on_progress: OnProgress = say, scope: CallScope = NO_SCOPE
) -> ContentToolResult:
    """Calls the tool of `request` and waits. Values that a generator yields go to `on_progress`, or by default to the
    user interface (see `local_shinychat()`). `scope` holds the facts for its `ToolContext`.
    """
    with traced_call(request) as ended:
        return _logged(ended(_invoked(ToolContext(request, scope, on_progress))))


def _invoked(call: ToolContext[Any]) -> ContentToolResult:
    request = call.request
    timeout = request.tool.timeout if request.tool else None
    token = _call.set(request)
    try:
        outcome = _attempted(call) if timeout is None else _threaded(call).result(timeout)
    except TimeoutError:  # ours: the tool's own is an error result by now
        return _late(request)
    finally:
        _call.reset(token)
    if isinstance(outcome, ContentToolResult):
        return outcome
    if iscoroutine(outcome):
        outcome.close()
    raise AsyncToolError(
        f"Tool `{request.name}` is async, but chat() and stream() are not: use chat_async() or stream_async()."
    )


async def ainvoke(
    request: ContentToolRequest, *, on_progress: OnProgress = say, scope: CallScope = NO_SCOPE
) -> ContentToolResult:
    """Awaits the tool of `request`. A blocking tool runs in its own thread, with the caller's context variables (and
    calls `on_progress` there).
    """
    with traced_call(request) as ended:
        return _logged(ended(await _ainvoked(ToolContext(request, scope, on_progress))))


async def _ainvoked(call: ToolContext[Any]) -> ContentToolResult:
    import asyncio  # noqa: PLC0415 - imported when first needed

    request, tool = call.request, call.request.tool
    token = _call.set(request)
    try:
        async with asyncio.timeout(tool.timeout if tool else None):
            if tool is None or _is_async(tool.function):
                outcome = _attempted(call)
            else:
                wait = partial(_wait_in, asyncio.get_running_loop())
                call = replace(call, scope=replace(call.scope, wait=wait))
                outcome = await asyncio.wrap_future(_threaded(call))
            if isinstance(outcome, ContentToolResult):
                return outcome
            return await _awaited(request, outcome, call.show)
    except TimeoutError:  # ours: the tool's own is an error result by now
        return _late(request)
    finally:
        _call.reset(token)


def _wait_in(loop: Any, answer: Any) -> Any:
    """Waits in a thread for an answer that comes in an event loop."""
    import asyncio  # noqa: PLC0415 - imported when first needed

    return asyncio.run_coroutine_threadsafe(answer, loop).result()


def _logged(result: ContentToolResult) -> ContentToolResult:
    request, error = result.request, result.error
    name = request.name if request and request.tool else "(unknown)"  # it may be any text of the model
    if error is None:
        logger.debug("tool %s: done", name)
    else:
        raised = error if isinstance(error, BaseException) and not isinstance(error, ToolReject) else None
        level, what = (WARNING, type(raised).__name__) if raised else (DEBUG, "not run")
        log_raised(level, "tool %s: %s", name, what, error=raised)
    return result


def _attempted(call: ToolContext[Any]) -> ContentToolResult | Later:
    """Returns the result, or the awaitable of an async tool. It raises no `Exception`."""
    request = call.request
    try:
        value = _called(request, call)
        if isinstance(value, (Awaitable, AsyncGenerator)):
            return value
        return _result(request, _last(value, call.show) if isinstance(value, Generator) else value)
    except _Refused as refused:
        return ContentToolResult(error=str(refused), request=request)
    except AskLater as later:
        return _asks(request, later)
    except (Exception, GeneratorExit) as error:  # noqa: BLE001 - every error is reported to the model
        return ContentToolResult(error=error, request=request)


async def _awaited(request: ContentToolRequest, later: Later, on_progress: OnProgress) -> ContentToolResult:
    try:
        value = await later if isinstance(later, Awaitable) else await _alast(later, on_progress)
        return _result(request, value)
    except AskLater as asked:
        return _asks(request, asked)
    except Exception as error:  # noqa: BLE001 - as above
        return ContentToolResult(error=error, request=request)


def _asks(request: ContentToolRequest, later: AskLater) -> ContentToolResult:
    """Returns what stands for the result of a call whose tool asked something that is answered later."""
    asked = later.question
    question = {"message": asked.message, "schema": dict(asked.schema), "url": asked.url}
    return ContentToolResult(extra={"question": question}, request=request)


def _threaded(call: ToolContext[Any]) -> Future[ContentToolResult | Later]:
    """Runs the call in a daemon thread, which does not keep the program alive."""
    future: Future[ContentToolResult | Later] = Future()
    future.set_running_or_notify_cancel()  # from here on it cannot be cancelled; callers can only stop waiting
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(_attempted, call))
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like belong to who waits
            future.set_exception(error)

    Thread(target=run, name=f"tool {call.request.name}", daemon=True).start()
    return future


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, partial):
        function = function.func
    function = function if isroutine(function) else type(function).__call__
    return iscoroutinefunction(function) or isasyncgenfunction(function)


class _Refused(Exception):
    """The call cannot be made. The message is for the model."""


def _called(request: ContentToolRequest, call: ToolContext[Any]) -> Any:
    """Returns the function's return value for the arguments of the request and an optional context."""
    tool = request.tool
    if tool is None:
        raise _Refused(f"Unknown tool `{request.name}`.")
    if request.problem is not None:
        raise _Refused(f"The arguments are invalid: {request.problem}. They were: {_cut(request.raw or '')}")
    arguments = _arguments(tool, request) | ({tool.context: call} if tool.context else {})
    expected = signature(tool.function).parameters.values()
    if fields := {p.name: p.default for p in expected if is_field(p.default)}:
        arguments = _field_defaults(fields) | arguments
    args = [arguments.pop(p.name, p.default) for p in expected if p.kind is Parameter.POSITIONAL_ONLY]
    return tool.function(*args, **arguments)


def _arguments(tool: ToolDef, request: ContentToolRequest) -> dict[str, Any]:
    """Returns the arguments for the function. A null for an optional argument means its default, unless its type
    allows null.
    """
    types = tool.arguments.properties
    arguments = {k: v for k, v in request.arguments.items() if not is_left_out(v, types.get(k))}
    problems = [
        f"`{name}` is missing" for name, type in types.items() if type.required and name not in arguments
    ]
    if not tool.arguments.additional_properties:
        problems += [f"there is no argument `{name}`" for name in arguments if name not in types]
    converted = {}
    for name, value in arguments.items():
        try:
            converted[name] = _converted(tool, name, deepcopy(value))
        except ConversionError as error:
            problems.append(str(error))
    if problems:
        raise _Refused(f"The arguments are invalid: {'; '.join(problems)}.")
    return converted


def _converted(tool: ToolDef, name: str, value: Any) -> Any:
    if not tool.convert:
        return value
    if name in tool.arguments.properties:
        value = convert(value, tool.arguments.properties[name], path=name)
    return convert(value, tool.hints[name], path=name) if name in tool.hints else value


def _field_defaults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the defaults of pydantic's `Field(5)` or `Field(default_factory=list)`."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if not field.is_required()
    }


def _result(request: ContentToolRequest, value: Any) -> ContentToolResult:
    """Returns a checked result. A `ContentToolResult` of the tool keeps its class and gets its request."""
    value = check_tool_result(request.name, value)
    if isinstance(value, ContentToolResult):
        return replaced(value, request=request)
    return ContentToolResult(value, request=request)


def _last(generator: Generator[Any, None, Any], on_progress: OnProgress) -> Any:
    """Returns a generator's return value, or else the last value that it yields."""
    last = None
    while True:
        try:
            last = next(generator)
        except StopIteration as stop:
            return last if stop.value is None else stop.value
        on_progress(last)


async def _alast(generator: AsyncGenerator[Any, None], on_progress: OnProgress) -> Any:
    last = None
    async with aclosing(generator):
        async for last in generator:
            on_progress(last)
    return last


def _late(request: ContentToolRequest) -> ContentToolResult:
    assert request.tool
    message = f"The tool `{request.name}` gave no result within {request.tool.timeout:g} seconds."
    return ContentToolResult(error=TimeoutError(message), request=request)


def _cut(text: str, length: int = 1000) -> str:
    return text if len(text) <= length else f"{text[:length]}…"
