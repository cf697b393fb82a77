"""Adapter for Google's ADK: its runner, sessions and tool loop, with its models for Gemini, Claude and LiteLLM."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

os.environ.setdefault(
    "LITELLM_LOCAL_MODEL_COST_MAP", "True"
)  # LiteLLM downloads prices otherwise, when imported

from anthropic import AsyncAnthropic
from google import genai
from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.events import Event
from google.adk.models import Gemini
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from ellmer_conformance.adapters import Capabilities, Difference, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolResult, Turn

from .sdk_conversation import call_of, calls_in, media_type, parameters

__all__ = ["GoogleADK", "adapter"]

_USER, _AGENT = "user", "assistant"
#: What Google's documentation has for a call of another model, which has no signature.
_NO_SIGNATURE = b"skip_thought_signature_validator"
_STOPS = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "filter"}


def _google(to: Endpoint) -> Any:
    retries = types.HttpRetryOptions(attempts=to.max_retries + 1)
    limit = int(to.timeout * 1000) if to.timeout else None
    options = types.HttpOptions(
        base_url=to.base_url.removesuffix("/v1beta"), retry_options=retries, timeout=limit
    )
    return Gemini(model=to.model, client=genai.Client(api_key=to.api_key, http_options=options))


def _anthropic(to: Endpoint) -> Any:
    client = AsyncAnthropic(
        api_key=to.api_key,
        base_url=to.base_url.removesuffix("/v1"),
        max_retries=to.max_retries,
        **to.timeout_option,
    )
    return AnthropicLlm(model=to.model, client=client)


def _openai(to: Endpoint) -> Any:
    return LiteLlm(
        model=f"openai/{to.model}",
        api_base=to.base_url,
        api_key=to.api_key,
        max_retries=to.max_retries,
        **to.timeout_option,
    )


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai,
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """An agent with a runner. The runner keeps the events of the conversation."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.agent = LlmAgent(
            name=_AGENT,
            model=_MODELS[endpoint.wire](endpoint),
            instruction=(lambda _: system) if system else "",  # a function, so that braces are no variables
            tools=[_Tool(tool) for tool in tools],
            on_tool_error_callback=_told,
        )
        self.runner = InMemoryRunner(agent=self.agent)
        self.history = history
        self.calls = calls_in(history)
        self.session: Any = None
        self.loop: asyncio.Runner | None = None

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        self.loop = self.loop or asyncio.Runner()
        return self.loop.run(self.asend(parts, stream=stream))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        last: Any = None
        try:
            async with aclosing(self._events(parts, stream)) as events:
                async for event in events:
                    if event.partial:
                        pieces.append(_text(event))
                    else:
                        last = event
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return _reply(last, [piece for piece in pieces if piece])

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        if self.loop:
            self.loop.close()

    async def _events(self, parts: Sequence[Part], stream: bool) -> AsyncGenerator[Any, None]:
        """Yields the events of a turn."""
        if self.session is None:
            self.session = await self._restored()
        parts = await self._answered(parts)
        run = self.runner.run_async(
            user_id=_USER,
            session_id=self.session.id,
            new_message=self._content("user", parts),
            run_config=RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE),
        )
        async with aclosing(run):
            async for event in run:
                yield event

    async def _answered(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Adds results to the session as an event of their own if text comes with them, because a message has only one of the
        two. Returns the rest.
        """
        rest = [part for part in parts if not isinstance(part, ToolResult)]
        if not rest or len(rest) == len(parts):
            return parts
        results = [part for part in parts if isinstance(part, ToolResult)]
        event = Event(invocation_id="results", author="user", content=self._content("user", results))
        await self.runner.session_service.append_event(self.session, event)
        return rest

    async def _restored(self) -> Any:
        """Returns a session with the history as its events."""
        service = self.runner.session_service
        session = await service.create_session(app_name=self.runner.app_name, user_id=_USER)
        for number, turn in enumerate(self.history):
            author = _AGENT if turn.role == "assistant" else "user"
            content = self._content(turn.role, turn.parts)
            event = Event(invocation_id=f"earlier-{number}", author=author, content=content)
            await service.append_event(session, event)
        return session

    def _content(self, role: str, parts: Sequence[Part]) -> types.Content:
        """Returns a turn, with the results first."""
        results = [self._result(part) for part in parts if isinstance(part, ToolResult)]
        rest = [_part(part) for part in parts if not isinstance(part, ToolResult)]
        return types.Content(role="model" if role == "assistant" else "user", parts=[*results, *rest])

    def _result(self, result: ToolResult) -> types.Part:
        answer = types.FunctionResponse(
            id=result.id, name=self.calls[result.id].name, response=_dict(result.value)
        )
        return types.Part(function_response=answer)


def _told(tool: BaseTool, args: Any, tool_context: Any, error: Exception) -> Mapping[str, Any]:  # noqa: ARG001
    """Returns the error as the result of the tool. Without this callback, the runner raises it."""
    return {"error": f"{type(error).__name__}: {error}"}


def _reply(last: Any, pieces: Sequence[str]) -> Reply:
    """Returns the last event of a turn as a reply. An event of an error has a code, and a message or no content; one with a
    content and no message has an unusual stop reason as its code.
    """
    if last is None:
        return Reply("".join(pieces), pieces=pieces)
    stop = last.finish_reason.name if last.finish_reason else None
    if last.error_code and stop not in _STOPS and (last.error_message or not last.content):
        code = getattr(last.error_code, "name", last.error_code)
        error = RuntimeError(f"{code}: {last.error_message}")
        return Reply(
            "".join(pieces), _STOPS.get(stop or "", stop), complete=False, error=error, pieces=pieces
        )
    usage = last.usage_metadata
    counts = {"input": _sent(usage), "output": usage.candidates_token_count} if usage else {}
    return Reply(_text(last), _STOPS.get(stop or "", stop), usage=counts, pieces=pieces)


def _sent(usage: Any) -> int | None:
    """Returns the input tokens, with those of Google's own tools, which the library's object counts apart."""
    tools = usage.tool_use_prompt_token_count or 0
    return usage.prompt_token_count + tools if usage.prompt_token_count is not None else None


def _text(event: Any) -> str:
    """Returns the text of an event, without thoughts."""
    parts = event.content.parts if event.content else None
    return "".join(part.text for part in parts or [] if part.text and not part.thought)


def _part(part: Part) -> types.Part:
    match part:
        case Text(text):
            return types.Part(text=text)
        case Image(url=url) if url:
            return types.Part.from_uri(file_uri=url, mime_type=part.type)
        case Image() | PDF():
            return _media(part)
    call = call_of(part)
    asked = types.FunctionCall(id=call.id, name=call.name, args=dict(call.arguments))
    return types.Part(function_call=asked, thought_signature=_NO_SIGNATURE)


def _media(part: Image | PDF) -> types.Part:
    name = part.filename if isinstance(part, PDF) else None
    return types.Part(inline_data=types.Blob(data=part.data, mime_type=media_type(part), display_name=name))


def _dict(value: Any) -> dict[str, Any]:
    """Returns a result as the runner stores that of a tool."""
    return value if isinstance(value, dict) else {"result": value}


class _Tool(BaseTool):  # type: ignore[misc]  # it is Any where ADK is not installed
    """A tool of a case."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=parameters(self._tool)
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:  # noqa: ARG002
        return _value(self._tool.run(**args))


def _value(value: Any) -> Any:
    """Returns a tool's value, with media as parts."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _value(item) for name, item in value.items()}
    return _part(value) if isinstance(value, Image | PDF) else value


class GoogleADK(BridgeAdapter):
    """The adapter."""

    name = "google-adk"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {
        "openai-chat": ["openai"],
        "anthropic": ["anthropic"],
        "gemini": ["google"],
    }

    differences = (
        Difference(
            "SYS-010",
            'You are an agent. Your internal name is "assistant".',
            "it tells the model the agent's name, in a sentence of its own behind the system prompt",
            "2026-11-26",
        ),
        Difference(
            "RUN-003",
            "MALFORMED_FUNCTION_CALL",
            "it ends the turn with an error of its own if the arguments of a call are no JSON",
            "2026-11-27",
            "openai-chat",
        ),
        Difference(
            "STP-003",
            "under stop:pause_turn (the stop reason is pause_turn), the caller got the stop reason 'stop'",
            "its stop reasons are those of Gemini, and it maps `pause_turn` to one of them by name",
            "2026-11-27",
            "anthropic",
        ),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media are inside results, as parts of a function response."""
        return Capabilities(image_in_tool_result="native", pdf_in_tool_result="native")


adapter = GoogleADK
