"""Adapter for DSPy: `dspy.LM` with the typed requests of its own engine. The bridge has the loop.

DSPy's modules put each question into prompts of their own, so the bridge calls the model class, and not a module.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

os.environ.setdefault(
    "LITELLM_LOCAL_MODEL_COST_MAP", "True"
)  # LiteLLM downloads prices otherwise, when imported

import dspy
from dspy import lm15

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter, ids_as_given
from ellmer_conformance.scenarios.messages import PDF, Audio, Image, Part, Text

from .sdk_conversation import (
    HEARING,
    CallResult,
    ModelAnswer,
    SDKSession,
    base64_of,
    media_type,
    parameters,
    text_of,
    texts_and_calls,
)

__all__ = ["DSPy", "adapter"]

_MODELS = {
    "openai-chat": "openai/{}",
    "openai-responses": "openai/{}",
    "anthropic": "anthropic/{}",
    "gemini": "gemini/{}",
}
#: What Google's documentation has for a call of another model, which has no signature.
_NO_SIGNATURE = lm15.ContinuationState(
    provider="gemini", kind="thought_signature", data={"value": "skip_thought_signature_validator"}
)
_STOPS = {"tool_call": "tool", "content_filter": "filter"}
#: The wire formats whose results may have media.
_MEDIA_INSIDE = ("openai-responses", "anthropic", "gemini")


class Session(SDKSession):
    """A list of typed messages, and a model."""

    def __init__(self, endpoint: Endpoint, *rest: Any) -> None:
        super().__init__(endpoint, *rest)
        kind: Literal["chat", "responses"] = "responses" if endpoint.wire == "openai-responses" else "chat"
        self.model = dspy.LM(
            _MODELS[endpoint.wire].format(endpoint.model),
            model_type=kind,
            cache=False,
            num_retries=endpoint.max_retries,
            api_key=endpoint.api_key,
            api_base=endpoint.base_url,
            **endpoint.timeout_option,
        )

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        inside = self.endpoint.wire in _MEDIA_INSIDE
        answers = [_result(result, inside=inside) for result in results]
        moved = [] if inside else [part for result in results for part in result.media]
        content = [_part(part) for part in [*moved, *parts]]
        messages = [lm15.Message.tool(answers)] if answers else []
        return [*messages, *([lm15.Message.user(content)] if content else [])]

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        text, calls = texts_and_calls(parts)
        said = [lm15.TextPart(text)] if text else []
        state = (_NO_SIGNATURE,) if self.endpoint.wire == "gemini" else ()
        called = [lm15.ToolCallPart(call.id, call.name, dict(call.arguments), state) for call in calls]
        return [lm15.Message.assistant([*said, *called])]

    def ask(self, *, stream: bool) -> ModelAnswer:
        if stream:
            raise NotImplementedError("a typed request has no stream")
        return _answer(self.model(self._request()))

    async def aask(self, *, stream: bool) -> ModelAnswer:
        if stream:
            raise NotImplementedError("a typed request has no stream")
        return _answer(await self.model.acall(self._request()))

    def _request(self) -> Any:
        tools = [
            lm15.FunctionTool(tool.name, tool.description, parameters(tool)) for tool in self.tools.values()
        ]
        return lm15.Request(
            model=self.model.model, messages=tuple(self.messages), system=self.system, tools=tuple(tools)
        )


def _answer(response: Any) -> ModelAnswer:
    message, usage = response.message, response.usage
    calls = [(call.id, call.name, call.input) for call in message.parts_of(lm15.ToolCallPart)]
    stop = _STOPS.get(response.finish_reason, response.finish_reason)
    counts: Mapping[str, int | None] = {"input": usage.input_tokens, "output": usage.output_tokens}
    return ModelAnswer(_text(message), [message], stop, calls, counts)


def _text(message: Any) -> str:
    """Returns what the model says: its text, or the words with which it refuses."""
    said = (part.text for part in message.parts if isinstance(part, lm15.TextPart | lm15.RefusalPart))
    return "".join(said)


def _result(result: CallResult, *, inside: bool) -> Any:
    items = result.value if isinstance(result.value, list) else [result.value]
    content = [lm15.TextPart(result.text)]
    if inside and result.media:
        media = (Image, PDF)
        content = [_part(item if isinstance(item, media) else Text(text_of(item))) for item in items]
    return lm15.ToolResultPart(result.id, tuple(content), name=result.name, is_error=result.failed)


def _part(part: Part) -> Any:
    match part:
        case Text(text):
            return lm15.TextPart(text)
        case Image(url=url) if url:
            return lm15.ImagePart(url=url)
        case Image():
            return lm15.ImagePart(data=base64_of(part), media_type=media_type(part))
        case Audio():
            return lm15.AudioPart(data=base64_of(part), media_type=media_type(part))
        case PDF():
            return lm15.DocumentPart(data=base64_of(part), media_type=media_type(part))
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


class DSPy(BridgeAdapter):
    """The adapter."""

    name = "dspy"
    sessions = Session
    wires = FOUR_WIRES

    differences = ids_as_given("2026-11-28")

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. A typed request has no stream, and its media may be inside results."""
        media: Literal["native", "pointer"] = "native" if wire in _MEDIA_INSIDE else "pointer"
        return Capabilities(
            modes=("sync", "async"),
            audio_in_user="native" if wire in HEARING and wire != "openai-chat" else "refused",
            pdf_in_user="refused" if wire == "openai-chat" else "native",
            image_in_tool_result=media,
            pdf_in_tool_result="refused" if wire == "openai-chat" else media,
        )


adapter = DSPy
