"""Spans of conversations and tool calls, for OpenTelemetry (`pip install "ellmer-core[otel]"`).

    invoke_agent                 one chat(), stream(), chat_structured()
    ├── chat gpt-4.1             one request and its answer, tries included
    ├── execute_tool get_weather
    └── chat gpt-4.1

Spans exist only if the program has set up a tracer provider. Otherwise, the cost is one dictionary lookup. Messages
are in spans only if `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is `true`. Keys and headers never are.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ..contents.content import ContentToolRequest, ContentToolResult
from ..contents.turns import AssistantTurn
from ..conversation.history import History
from ..conversation.io_operations import CallTools, Effect, Loop, Notify, ReadBody, Send, Shown
from ..conversation.repaired_turns import repaired
from ..conversation.settings import Settings
from ..errors import ProviderError
from ..tools.results import result_text

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer


# --- Tool calls ------------------------------------------------------------------------------------------


CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
UNKNOWN = "(unknown)"  # for a name that no tool has, which is the model's text
SCHEMA = "https://opentelemetry.io/schemas/1.37.0"


def tracer() -> Tracer | None:
    """Returns a tracer if the program has set up OpenTelemetry."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        return None
    found: Tracer = provider.get_tracer("ellmer_core", schema_url=SCHEMA)
    return found


def captures() -> bool:
    """Tells whether spans may contain messages."""
    return os.environ.get(CAPTURE, "").lower() in {"true", "1", "span_only", "span_and_event"}


@contextmanager
def traced_call(request: ContentToolRequest) -> Iterator[Callable[[ContentToolResult], ContentToolResult]]:
    """Yields a function that adds the result of a tool call to its span. The span is current while the call runs."""
    found = tracer()
    if found is None:
        yield lambda result: result
        return
    with found.start_as_current_span(
        f"execute_tool {_name(request)}",
        attributes=_call_attributes(request),
        record_exception=False,  # its message may be anything
        set_status_on_exception=False,
    ) as span:
        try:
            yield lambda result: _with_result(span, result)
        except BaseException as error:
            failed(span, error)
            raise


def _name(request: ContentToolRequest) -> str:
    from .gen_ai_attributes import short  # noqa: PLC0415 - only needed where spans are

    return short(request.name) if request.tool or captures() else UNKNOWN


def _call_attributes(request: ContentToolRequest) -> dict[str, str]:
    from .gen_ai_attributes import json_of, short  # noqa: PLC0415 - only needed where spans are

    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": _name(request),
        "gen_ai.tool.call.id": short(request.id),
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": short(request.tool.description) if request.tool else "",
    }
    if captures():
        attributes["gen_ai.tool.call.arguments"] = json_of(dict(request.arguments))
    return {name: value for name, value in attributes.items() if value}


def _with_result(span: Span, result: ContentToolResult) -> ContentToolResult:
    if result.error is not None:
        failed(span, result.error if isinstance(result.error, BaseException) else None)
    if captures():
        span.set_attribute("gen_ai.tool.call.result", result_text(result))
    return result


def failed(span: Span, error: BaseException | None) -> None:
    """Marks a span as failed. The error's message is left out if it may quote a conversation."""
    from opentelemetry.trace import StatusCode  # noqa: PLC0415 - it is imported already

    span.set_attribute("error.type", type(error).__name__ if error is not None else "tool_error")
    if isinstance(error, ProviderError) and error.status:
        span.set_attribute("http.response.status_code", error.status)
    span.set_status(StatusCode.ERROR)


# --- Conversations ---------------------------------------------------------------------------------------


T = TypeVar("T")


def traced(found: Tracer, loop: Loop[T], history: History, settings: Settings) -> Loop[T]:
    """Returns the same conversation, with spans of this tracer."""
    return _Conversation(found, history, settings).run(loop)


class _Conversation:
    """The spans of one conversation."""

    def __init__(self, tracer: Tracer, history: History, settings: Settings) -> None:
        from . import gen_ai_attributes  # noqa: PLC0415 - only needed by those who want spans

        self.words = gen_ai_attributes
        self.tracer, self.history, self.settings = tracer, history, settings
        self.root: Span | None = None
        self.call: Span | None = None
        self.began = 0.0

    def run(self, loop: Loop[T]) -> Loop[T]:
        """Passes effects and outcomes on, and makes spans of them."""
        self.root = self._started("invoke_agent", "INTERNAL", None)
        step: Callable[[Any], Effect] = loop.send
        outcomes: list[Any] = [None]  # as in drive()
        try:
            while True:
                effect = step(outcomes.pop())
                self._before(effect)
                step = loop.send
                try:
                    outcomes.append((yield from self._within(effect)))
                except BaseException as error:  # noqa: BLE001 - the loop lets through what is not its own
                    step = loop.throw
                    outcomes.append(error)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration has no type parameter
        except BaseException as error:
            self._end(error)
            raise
        finally:
            self._end(None)

    def _before(self, effect: Effect) -> None:
        match effect:
            case Send() if self.call is None:
                self._start_call(effect)
            case AssistantTurn() as turn if self.call is not None:
                self._end_call(turn)
            case _ if (
                isinstance(effect, Shown) and self.call is not None and self.settings.stream and self.began
            ):
                seconds = time.monotonic() - self.began
                self.call.set_attribute("gen_ai.response.time_to_first_chunk", seconds)
                self.began = 0.0

    def _within(self, effect: Effect) -> Generator[Effect, Any, Any]:
        """Yields the effect. If its execution may make spans, its own span is the current one."""
        if not isinstance(effect, CallTools | Notify | ReadBody | Send):
            return (yield effect)
        from opentelemetry import context, trace  # noqa: PLC0415 - it is imported already

        span = self.call or self.root
        assert span is not None
        token = context.attach(trace.set_span_in_context(span))
        try:
            return (yield effect)
        finally:
            context.detach(token)

    def _start_call(self, sent: Send) -> None:
        self.began = time.monotonic()
        self.call = self._started("chat", "CLIENT", self.root)
        self.call.set_attributes(self.words.where(sent.request.url))
        self.call.set_attribute("gen_ai.output.type", "text" if self.settings.type is None else "json")
        if self.settings.stream:
            self.call.set_attribute("gen_ai.request.stream", True)
        if captures():
            turns = repaired([*self.history.turns, *filter(None, [self.history.asked])]).turns
            system, messages = self.words.conversation(turns)
            tools = self.words.definitions(self.settings.tools.values())
            self._capture(
                {"system_instructions": system, "input.messages": messages, "tool.definitions": tools}
            )

    def _end_call(self, turn: AssistantTurn) -> None:
        assert self.call is not None
        self.call.set_attributes(self.words.of_response(turn))
        if captures():
            self._capture({"output.messages": self.words.output(turn)})
        self.call.end()
        self.call = None

    def _capture(self, what: Mapping[str, list[Any]]) -> None:
        assert self.call is not None
        for name, value in what.items():
            if value:
                self.call.set_attribute(f"gen_ai.{name}", self.words.json_of(value))

    def _started(self, operation: str, kind: str, parent: Span | None) -> Span:
        from opentelemetry import trace  # noqa: PLC0415 - it is imported already

        wire = self.settings.wire
        return self.tracer.start_span(
            f"{operation} {wire.model}" if operation == "chat" else operation,
            context=None if parent is None else trace.set_span_in_context(parent),
            kind=trace.SpanKind[kind],
            attributes={"gen_ai.operation.name": operation, **self.words.of_request(wire)},
        )

    def _end(self, error: BaseException | None) -> None:
        """Ends the open spans. An incomplete answer was abandoned."""
        for span in filter(None, (self.call, self.root)):
            if error is not None:
                failed(span, error)
            elif span is self.call:
                span.set_attribute("error.type", "cancelled")
            span.end()
        self.call = self.root = None
