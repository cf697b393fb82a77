"""Adapter for any-llm: `AnyLLM.completion()` with OpenAI's messages for every provider. The bridge has the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from any_llm import AnyLLM as Client

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.adapters.base_adapter import BridgeAdapter, ids_as_given
from ellmer_conformance.contract.observed.exchange import Json

from .sdk_conversation import HEARING, ChatMessages, ModelAnswer

__all__ = ["AnyLLM", "adapter"]

_PROVIDERS = {"openai-chat": "openai", "anthropic": "anthropic", "gemini": "gemini"}
_SUFFIXES = {"anthropic": "/v1", "gemini": "/v1beta"}  # what the SDK below adds


class Session(ChatMessages):
    """A list of messages, for blocking and async calls."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        answer = self._client().completion(**self.body(), **(_STREAM if stream else {}))
        if not stream:
            return self.answer(answer)
        whole = Whole()
        for chunk in answer:
            self.pieces += whole.add(chunk)
        return self.answer(whole.completion())

    async def aask(self, *, stream: bool) -> ModelAnswer:
        answer = await self._client().acompletion(**self.body(), **(_STREAM if stream else {}))
        if not stream:
            return self.answer(answer)
        whole = Whole()
        async for chunk in answer:
            self.pieces += whole.add(chunk)
        return self.answer(whole.completion())

    def answer(self, completion: Any) -> ModelAnswer:
        """Returns the answer. Where a filter ended it, `refusal` has a sentence of the library, which the model did not say."""
        choice = completion.choices[0]
        if choice.finish_reason == "content_filter":
            choice.message.refusal = None
        return super().answer(completion)

    def history_message(self, message: Any) -> Any:
        return message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else _plain(message)

    def _client(self) -> Any:
        to = self.endpoint
        url = to.base_url.removesuffix(_SUFFIXES.get(to.wire, ""))
        return Client.create(
            _PROVIDERS[to.wire],
            api_key=to.api_key,
            api_base=url,
            max_retries=to.max_retries,
            **to.timeout_option,
        )


_STREAM = {"stream": True}


class Whole:
    """A completion that is built from its chunks, because the library leaves this to the caller."""

    def __init__(self) -> None:
        self.text, self.stop, self.usage = "", None, None
        self.thought, self.says = "", False  # a refusal has words of its own, and no text
        self.more: Json = {}
        self.calls: list[Json] = []

    def add(self, chunk: Any) -> list[str]:
        """Adds a chunk and returns its text."""
        self.usage = chunk.usage or self.usage
        if not chunk.choices:
            return []
        choice = chunk.choices[0]
        self.stop = choice.finish_reason or self.stop
        for each in choice.delta.tool_calls or ():
            self._add_call(each)
        delta = choice.delta.model_dump(include={"reasoning", "extra_content"}, exclude_none=True)
        self.thought += (delta.get("reasoning") or {}).get("content") or ""
        self.more |= delta.get("extra_content") or {}
        self.says = self.says or bool(choice.delta.content) or choice.finish_reason == "content_filter"
        text = (choice.delta.content if self.says else choice.delta.refusal) or ""
        self.text += text
        return [text] if text else []

    def _add_call(self, piece: Any) -> None:
        """Adds a piece to the last call with its index, unless it has another id."""
        call = next((c for c in reversed(self.calls) if c["index"] == piece.index), None)
        if call is None or (piece.id and call["id"] and piece.id != call["id"]):
            call = {"index": piece.index, "id": "", "name": "", "arguments": "", "more": {}}
            self.calls.append(call)
        call["id"] = piece.id or call["id"]
        call["more"] |= piece.model_dump(include={"extra_content"}, exclude_none=True)
        if piece.function:
            call["name"] = piece.function.name or call["name"]
            call["arguments"] += piece.function.arguments or ""

    def completion(self) -> Any:
        """Returns the whole completion."""
        calls = [
            SimpleNamespace(
                id=call["id"],
                more=call["more"],
                function=SimpleNamespace(name=call["name"], arguments=call["arguments"] or "{}"),
            )
            for call in self.calls
        ]
        message = SimpleNamespace(
            content=self.text or None, tool_calls=calls, thought=self.thought, more=self.more
        )
        choice = SimpleNamespace(message=message, finish_reason=self.stop)
        return SimpleNamespace(choices=[choice], usage=self.usage)


def _plain(message: Any) -> Json:
    """Returns a message that was built from chunks, with its thoughts and their signature."""
    calls = [
        {"id": c.id, "type": "function", "function": vars(c.function), **c.more} for c in message.tool_calls
    ]
    return {
        "role": "assistant",
        "content": message.content,
        **({"tool_calls": calls} if calls else {}),
        **({"reasoning": {"content": message.thought}} if message.thought else {}),
        **({"extra_content": message.more} if message.more else {}),
    }


class AnyLLM(BridgeAdapter):
    """The adapter."""

    name = "any-llm"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {
        "openai-chat": ["openai"],
        "anthropic": ["anthropic"],
        "gemini": ["google"],
    }

    differences = ids_as_given("2026-11-29")

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Messages are OpenAI's, so media come after the results."""
        return Capabilities(audio_in_user="native" if wire in HEARING else "refused")


adapter = AnyLLM
