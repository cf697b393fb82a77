"""The spans of conversations: see `tool_call_spans.py`. A conversation is a generator of effects, and a conversation
with spans is one, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..contents.turns import AssistantTurn
from ..conversation.history import History, sendable
from ..conversation.io_operations import CallTools, Effect, Emit, Loop, Notify, ReadBody, Send
from ..conversation.settings import Settings
from .tool_call_spans import captures, failed, tracer

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

__all__ = ["traced"]

T = TypeVar("T")


def traced(loop: Loop[T], history: History, settings: Settings) -> Loop[T]:
    """Returns the same conversation, with spans if tracing is on."""
    found = tracer()
    return loop if found is None else _Conversation(found, history, settings).run(loop)


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
        outcome: Any = None
        try:
            while True:
                effect = step(outcome)
                self._before(effect)
                step, outcome = loop.send, None
                try:
                    outcome = yield from self._within(effect)
                except BaseException as error:  # noqa: BLE001 - the loop lets through what is not its own
                    step, outcome = loop.throw, error
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
            case Emit(AssistantTurn() as turn) if self.call is not None:
                self._end_call(turn)
            case Emit() if self.call is not None and self.settings.stream and self.began:
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
            said = sendable([*self.history.turns, *filter(None, [self.history.asked])])
            system, messages = self.words.conversation(said)
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
