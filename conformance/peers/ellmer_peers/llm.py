"""Adapter for llm: conversations and chains, with its own OpenAI models and those of llm-anthropic.

llm-gemini is not tested, because its host is fixed in its code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import llm
import llm_anthropic
from anthropic import Anthropic
from llm import parts as llm_parts
from llm.default_plugins import openai_models

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Reply, Text, Tool, ToolResult, Turn

from .sdk_conversation import call_of, calls_in, media_type, parameters, text_of

__all__ = ["LLM", "adapter"]

_STOPS = {
    "tool_calls": "tool",
    "end_turn": "stop",
    "tool_use": "tool",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "refusal": "filter",
    "content_filter": "filter",
}


def _openai(to: Endpoint) -> Any:
    kind = openai_models.Chat if to.wire == "openai-chat" else openai_models.Responses
    model: Any = kind(to.model, api_base=to.base_url, vision=True, supports_tools=True)
    client = model.get_client
    model.get_client = lambda key: client(key).with_options(
        max_retries=to.max_retries, **to.timeout_option
    )  # the library has no such option
    return model


def _anthropic(to: Endpoint) -> Any:
    llm_anthropic.Anthropic = partial(
        Anthropic, max_retries=to.max_retries, **to.timeout_option
    )  # the library has no such option
    return llm_anthropic.ClaudeMessages(to.model, supports_pdf=True, base_url=to.base_url.removesuffix("/v1"))


_MODELS: Mapping[str, Callable[[Endpoint], Any]] = {
    "openai-chat": _openai,
    "openai-responses": _openai,
    "anthropic": _anthropic,
}


class Session:
    """A conversation and its messages so far."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        model = _MODELS[endpoint.wire](endpoint)
        self.conversation = model.conversation(tools=[_tool(tool) for tool in tools])
        self.key, self.system = endpoint.api_key, system
        self.calls = calls_in(history)
        self.messages = [llm.system(system)] if system else []
        for turn in history:
            self.messages += self._user_messages(turn.parts) if turn.role == "user" else [_answer(turn)]

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        pieces: list[str] = []
        last: Any = None
        how = {"system": self.system, "stream": stream, "key": self.key}
        chain = self.conversation.chain(messages=[*self.messages, *self._user_messages(parts)], **how)
        try:
            for last in chain.responses():
                pieces.clear()
                pieces.extend(last)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its reply
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        self.messages = [*last.prompt.messages, *last.messages()]
        raw = last.response_json or {}
        choice = (raw.get("choices") or [{}])[0]
        cut = (raw.get("incomplete_details") or {}).get("reason")
        stop: Any = cut or choice.get("finish_reason") or raw.get("finish_reason") or raw.get("stop_reason")
        return Reply(
            last.text(),
            stop=_STOPS.get(stop, stop),
            usage=_counts(last),
            pieces=pieces if stream else (),
        )

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        raise NotImplementedError

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        """Does nothing, because the clients close with the process."""

    def _user_messages(self, parts: Sequence[Part]) -> list[Any]:
        results = [
            llm_parts.ToolResultPart(name=self.calls[p.id].name, output=text_of(p.value), tool_call_id=p.id)
            for p in parts
            if isinstance(p, ToolResult)
        ]
        content = [_part(part) for part in parts if not isinstance(part, ToolResult)]
        told = [llm.tool_message(*results)] if results else []
        return [*told, *([llm.user(*content)] if content else [])]


def _counts(response: Any) -> Mapping[str, int | None]:
    """Returns the token counts. Anthropic's cached tokens are counted separately."""
    details = response.token_details or {}
    cached = (details.get(f"cache_{kind}_input_tokens") or 0 for kind in ("read", "creation"))
    return {"input": (response.input_tokens or 0) + sum(cached), "output": response.output_tokens}


def _answer(turn: Turn) -> Any:
    calls = [call_of(part) for part in turn.parts if not isinstance(part, Text)]
    return llm.assistant(
        *[part.text for part in turn.parts if isinstance(part, Text)],
        *[llm_parts.ToolCallPart(name=c.name, arguments=dict(c.arguments), tool_call_id=c.id) for c in calls],
    )


def _part(part: Part) -> Any:
    match part:
        case Text(text):
            return llm_parts.TextPart(text=text)
        case Image(url=url) if url:
            return llm.Attachment(url=url)
        case Image(data) | PDF(data):
            return llm.Attachment(type=media_type(part), content=data)
    raise TypeError(f"{type(part).__name__} is not supported in a message that the caller writes")


def _tool(tool: Tool) -> Any:
    return llm.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=parameters(tool),
        implementation=lambda **arguments: _value(tool.run(**arguments)),
    )


def _value(value: Any) -> Any:
    """Returns a tool's value. A value with media is an output with attachments."""
    items = value if isinstance(value, list) else [value]
    media = [item for item in items if isinstance(item, Image | PDF)]
    if not media:
        return value
    rest = [item for item in items if not isinstance(item, Image | PDF)]
    return llm.ToolOutput(output=text_of(rest), attachments=[_part(item) for item in media])


class LLM(BridgeAdapter):
    """The adapter."""

    name = "llm"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {
        "openai-chat": ["openai"],
        "openai-responses": ["openai"],
        "anthropic": ["anthropic"],
    }

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Attachments come after the results. The library's async models are separate and
        not tested. A prompt has a text and a list of attachments.
        """
        return Capabilities(modes=("sync", "stream"), interleaved_parts="refused")


adapter = LLM
