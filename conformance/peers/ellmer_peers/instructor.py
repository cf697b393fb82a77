"""Adapter for instructor: structured output through it, and all else through the SDK that it wraps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import instructor
from pydantic import BaseModel

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter

from . import anthropic, openai
from .sdk_conversation import ModelAnswer, SDKSession

__all__ = ["Instructor", "adapter"]

_NOTHING = ModelAnswer("", [])
_ONCE = {"max_retries": 0}  # the library asks again where a value does not fit: not more often than it may


class Chat(openai.Chat):
    """Chat Completions."""

    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        with self.client() as client:
            return _NOTHING, instructor.from_openai(client).create(
                response_model=model, **self.body(), **_ONCE
            )

    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        async with self.aclient() as client:
            return _NOTHING, await instructor.from_openai(client).create(
                response_model=model, **self.body(), **_ONCE
            )


class Claude(anthropic.Session):
    """Anthropic Messages."""

    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        with self.client() as client:
            return _NOTHING, instructor.from_anthropic(client).create(
                response_model=model, **self.body(), **_ONCE
            )

    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        async with self.aclient() as client:
            return _NOTHING, await instructor.from_anthropic(client).create(
                response_model=model, **self.body(), **_ONCE
            )


class Instructor(BridgeAdapter):
    """The adapter. The structured cases test the library; the others show that it leaves the SDK unchanged."""

    name = "instructor"
    wires: Mapping[str, Sequence[str]] = {"openai-chat": ["openai"], "anthropic": ["anthropic"]}

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        """Returns the capabilities of the SDK. A value is requested by a forced call, so no other tool can be called
        before.
        """
        sdk = (openai.OpenAI if wire == "openai-chat" else anthropic.Anthropic)().capabilities(wire, provider)
        return replace(sdk, structured_with_tools="refused")

    def kind(self, endpoint: Endpoint) -> type[SDKSession]:
        """Returns the class of conversations over a patched client."""
        return Chat if endpoint.wire == "openai-chat" else Claude


adapter = Instructor
