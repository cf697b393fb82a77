"""Adapter for agno: its agent, its history in an in-memory database, and its tool loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.media import File
from agno.media import Image as Picture
from agno.models.anthropic import Claude
from agno.models.google import Gemini
from agno.models.message import Message
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.run import RunStatus
from agno.run.agent import RunContentEvent, RunErrorEvent, RunOutput
from agno.tools.function import Function
from agno.tools.function import ToolResult as Result
from google.genai.types import HttpOptions, HttpRetryOptions

from ellmer_conformance.adapters import Capabilities, Difference, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter
from ellmer_conformance.scenarios.messages import (
    PDF,
    Audio,
    Image,
    Part,
    Reply,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)

from .sdk_conversation import calls_in, json_of, media_type, model_of, parameters, text_of

__all__ = ["Agno", "RunFailed", "adapter"]


class RunFailed(Exception):
    """A run with the status `error`. agno does not raise; the run's content is the error's text."""


def _openai(kind: Callable[..., Any]) -> Callable[[Endpoint], Any]:
    def model(to: Endpoint) -> Any:
        return kind(
            id=to.model,
            base_url=to.base_url,
            api_key=to.api_key,
            max_retries=to.max_retries,
            **to.timeout_option,
        )

    return model


def _anthropic(to: Endpoint) -> Any:
    client = {
        "base_url": to.base_url.removesuffix("/v1"),
        "auth_token": None,
        "max_retries": to.max_retries,
        **to.timeout_option,
    }
    return Claude(id=to.model, api_key=to.api_key, client_params=client)


def _google(to: Endpoint) -> Any:
    retries = HttpRetryOptions(attempts=to.max_retries + 1)
    options = HttpOptions(base_url=to.base_url.removesuffix("/v1beta"), retry_options=retries)
    return Gemini(id=to.model, api_key=to.api_key, client_params={"http_options": options})


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai(OpenAIChat),
    "openai-responses": _openai(OpenAIResponses),
    "anthropic": _anthropic,
    "gemini": _google,
}


class Session:
    """An agent with its whole history. A foreign history comes before the first question."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.names = {id: call.name for id, call in calls_in(history).items()}
        self.before = [
            message for turn in history for message in _messages(turn.parts, turn.role, self.names)
        ]
        self.agent: Any = Agent(
            model=_MODELS[endpoint.wire](endpoint),
            system_message=system,
            tools=[_tool(tool) for tool in tools],
            db=InMemoryDb(),
            add_history_to_context=True,
            num_history_runs=1000,
            telemetry=False,
        )

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        try:
            if not stream:
                return self._heard_out(_reply(self.agent.run(self._user_messages(parts), **_SESSION), pieces))
            run = None
            for event in self.agent.run(self._user_messages(parts), **_SESSION, **_STREAM):
                run = _heard(event, pieces) or run
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._heard_out(_reply(run, pieces))

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        try:
            if not stream:
                run = await self.agent.arun(self._user_messages(parts), **_SESSION)
                return self._heard_out(_reply(run, pieces))
            run = None
            async for event in self.agent.arun(self._user_messages(parts), **_SESSION, **_STREAM):
                run = _heard(event, pieces) or run
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._heard_out(_reply(run, pieces))

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        try:
            run = self.agent.run(self._user_messages(parts), **_SESSION, output_schema=model_of(schema))
            return self._heard_out(_value(run))
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply(complete=False, error=error)

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        try:
            asked = self._user_messages(parts)
            return self._heard_out(
                _value(await self.agent.arun(asked, **_SESSION, output_schema=model_of(schema)))
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply(complete=False, error=error)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        """Does nothing, because the history is in memory."""

    def _user_messages(self, parts: Sequence[Part]) -> list[Any]:
        return [*self.before, *_messages(parts, "user", self.names)]

    def _heard_out(self, reply: Reply) -> Reply:
        """Returns the reply of a run that the library keeps, with the foreign history: one that failed is forgotten."""
        self.before = []
        return reply


_SESSION = {"session_id": "conformance"}
_STREAM = {"stream": True, "yield_run_output": True}


def _heard(event: Any, pieces: list[str]) -> Any:
    """Returns the final run of a stream, and stores a piece of text."""
    if isinstance(event, RunErrorEvent):
        raise RunFailed(event.content)
    if isinstance(event, RunContentEvent) and event.content:
        pieces.append(str(event.content))
    return event if isinstance(event, RunOutput) else None


def _reply(run: Any, pieces: Sequence[str]) -> Reply:
    if run.status == RunStatus.error:
        raise RunFailed(run.content)
    metrics = run.metrics
    usage = {"input": metrics.input_tokens, "output": metrics.output_tokens} if metrics else {}
    return Reply(str(run.content or ""), usage=usage, pieces=pieces)


def _value(run: Any) -> Reply:
    if run.status == RunStatus.error:
        raise RunFailed(run.content)
    return Reply(value=run.content.model_dump() if hasattr(run.content, "model_dump") else run.content)


def _messages(parts: Sequence[Part], role: str, names: Mapping[str, str]) -> list[Any]:
    results = [
        Message(role="tool", tool_call_id=p.id, tool_name=names.get(p.id), content=text_of(p.value))
        for p in parts
        if isinstance(p, ToolResult)
    ]
    others = [part for part in parts if not isinstance(part, ToolResult)]
    if any(isinstance(part, Audio) for part in others):
        raise TypeError("this bridge does not support audio")
    calls = [_call(part) for part in others if isinstance(part, ToolCall)]
    text = "".join(part.text for part in others if isinstance(part, Text))
    media = {"images": _images(others) or None, "files": _files(others) or None}
    message = Message(
        role=role, content=None if calls and not text else text, tool_calls=calls or None, **media
    )
    return [*results, *([message] if others else [])]


def _call(call: ToolCall) -> Any:
    function = {"name": call.name, "arguments": json_of(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _images(items: Sequence[Any]) -> list[Any]:
    return [
        Picture(url=i.url) if i.url else Picture(content=i.data, mime_type=media_type(i))
        for i in items
        if isinstance(i, Image)
    ]


def _files(items: Sequence[Any]) -> list[Any]:
    return [
        File(content=i.data, mime_type="application/pdf", filename=i.filename)
        for i in items
        if isinstance(i, PDF)
    ]


def _tool(tool: Tool) -> Any:
    def call(**arguments: Any) -> Any:
        value = tool.run(**arguments)
        items = value if isinstance(value, list) else [value]
        if not any(isinstance(item, Image | PDF) for item in items):
            return text_of(value)
        texts = [text_of(item) for item in items if not isinstance(item, Image | PDF)]
        return Result(content="\n".join(texts), images=_images(items) or None, files=_files(items) or None)

    return Function(
        name=tool.name,
        description=tool.description,
        parameters=parameters(tool),
        entrypoint=call,
        skip_entrypoint_processing=True,
    )


class Agno(BridgeAdapter):
    """The adapter."""

    name = "agno"
    sessions = Session
    wires = FOUR_WIRES

    differences = (
        Difference(
            "SYS-010",
            "Do not reflect on the quality of the returned search results",
            "it adds a sentence to the system prompt where Claude has tools",
            "2026-11-26",
        ),
    )

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. A message has a text and separate lists of images and files; media of tools come
        after the results.
        """
        return Capabilities(structured="native", interleaved_parts="refused")


adapter = Agno
