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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..contents.content import ContentToolRequest, ContentToolResult
from ..errors import ProviderError
from ..tools.result_serialization import result_text

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

__all__ = ["captures", "failed", "traced_call", "tracer"]

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
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
        f"execute_tool {request.name}",
        attributes=_call_attributes(request),
        record_exception=False,  # its message may be anything
        set_status_on_exception=False,
    ) as span:
        try:
            yield lambda result: _with_result(span, result)
        except BaseException as error:
            failed(span, error)
            raise


def _call_attributes(request: ContentToolRequest) -> dict[str, str]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": request.name,
        "gen_ai.tool.call.id": request.id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": request.tool.description if request.tool else "",
    }
    if captures():
        from .gen_ai_attributes import json_of  # noqa: PLC0415 - only needed by those who want it

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
