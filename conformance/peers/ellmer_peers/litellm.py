"""Adapter for litellm: `completion()` with OpenAI's messages for every provider. The bridge has the loop."""

from __future__ import annotations

import os
from typing import Any, Literal

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it downloads prices otherwise, when imported

import litellm

from ellmer_conformance.adapters import Ability, Capabilities
from ellmer_conformance.adapters.base_adapter import FOUR_WIRES, BridgeAdapter, ids_as_given
from ellmer_conformance.contract.observed.exchange import Json

from .sdk_conversation import HEARING, MediaInResults, ModelAnswer

__all__ = ["LiteLLM", "adapter"]

_MODELS = {
    "openai-chat": "openai/{}",
    "openai-responses": "openai/responses/{}",
    "anthropic": "anthropic/{}",
    "gemini": "gemini/{}",
}


class Session(MediaInResults):
    """A list of messages, for blocking and async calls."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        answer = litellm.completion(**self._request(), **(_STREAM if stream else {}))
        if not stream:
            return self.answer(answer)
        chunks = []
        for chunk in answer:
            self._heard(chunk)
            chunks.append(chunk)
        return self.answer(litellm.stream_chunk_builder(chunks, messages=self.messages))

    async def aask(self, *, stream: bool) -> ModelAnswer:
        answer = await litellm.acompletion(**self._request(), **(_STREAM if stream else {}))
        if not stream:
            return self.answer(answer)
        chunks = []
        async for chunk in answer:
            self._heard(chunk)
            chunks.append(chunk)
        return self.answer(litellm.stream_chunk_builder(chunks, messages=self.messages))

    def history_message(self, message: Any) -> Any:
        return message.model_dump()

    def _request(self) -> Json:
        to = self.endpoint
        url = to.base_url.removesuffix("/v1") if to.wire == "anthropic" else to.base_url
        return self.body() | {
            "model": _MODELS[to.wire].format(to.model),
            "api_base": url,
            "api_key": to.api_key,
            **self._retries(),
            **to.timeout_option,
        }

    def _retries(self) -> Json:
        """Returns the option for retries. Only OpenAI's client has `max_retries`. litellm retries its own requests
        only with tenacity.
        """
        to = self.endpoint
        if to.wire == "openai-chat":
            return {"max_retries": to.max_retries}
        return {"max_retries": 0, "num_retries": to.max_retries}

    def _heard(self, chunk: Any) -> None:
        delta = chunk.choices[0].delta if chunk.choices else None
        if delta and delta.content:
            self.pieces.append(delta.content)


_STREAM = {"stream": True, "stream_options": {"include_usage": True}}


class LiteLLM(BridgeAdapter):
    """The adapter."""

    name = "litellm"
    sessions = Session
    wires = FOUR_WIRES

    differences = ids_as_given("2026-11-29")

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Tool messages may contain media."""
        media: Literal["native", "pointer"] = "pointer" if wire == "openai-chat" else "native"
        audio: Ability = "native" if wire in HEARING else "refused"
        return Capabilities(audio_in_user=audio, image_in_tool_result=media, pdf_in_tool_result=media)


adapter = LiteLLM
