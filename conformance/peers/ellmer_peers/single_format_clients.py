"""Adapters for clients of one wire format, which only the hostile provider attacks: the SDKs of Ollama, Mistral and Cohere, and httpx as many
programs use it, without an SDK. They block, and stream.
"""

from __future__ import annotations

import json
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ellmer_conformance.adapters import Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Part

from .sdk_conversation import CallResult, ChatMessages, ModelAnswer, SDKSession

__all__ = ["cohere", "httpx", "mistralai", "ollama"]

_STOPS = {"tool_calls": "tool", "TOOL_CALL": "tool", "COMPLETE": "stop", "MAX_TOKENS": "length"}


class _Blocking(ChatMessages, ABC):
    """A conversation that blocks."""

    async def aask(self, *, stream: bool) -> NoReturn:
        raise NotImplementedError

    def said(self, message: Any, stop: str | None, calls: Sequence[tuple[str, str, Any]]) -> ModelAnswer:
        """Returns a whole answer."""
        return ModelAnswer(message.get("content") or "", [message], _STOPS.get(stop or "", stop), calls)

    def heard(self, calls: Sequence[tuple[str, str, str]], stop: str | None) -> ModelAnswer:
        """Returns the answer that a stream has told in pieces."""
        asked = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ]
        message: Json = {"role": "assistant", "content": "".join(self.pieces)}
        return self.said(message | ({"tool_calls": asked} if asked else {}), stop, calls)


class _Pieces:
    """The calls of a stream, by index: id, name, and arguments in pieces."""

    def __init__(self) -> None:
        self._calls: dict[Any, list[str]] = {}

    def add(self, index: Any, id: str | None, name: str | None, arguments: str | None) -> None:
        call = self._calls.setdefault(index, ["", "", ""])
        call[0], call[1], call[2] = call[0] or id or "", call[1] or name or "", call[2] + (arguments or "")

    def whole(self) -> list[tuple[str, str, str]]:
        return [(id, name, arguments) for id, name, arguments in self._calls.values()]


class Ollama(_Blocking):
    """The SDK of Ollama."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        import ollama  # noqa: PLC0415 - each of these clients may be missing

        to = self.endpoint
        headers = {"authorization": f"Bearer {to.api_key}"}
        client = ollama.Client(host=to.base_url, headers=headers, **to.timeout_option)
        if not stream:
            answer = client.chat(**self._asked())
            return self.said(
                answer.message.model_dump(exclude_none=True), answer.done_reason, _of(answer.message)
            )
        calls, stop = list[tuple[str, str, Any]](), None
        for part in client.chat(**self._asked(), stream=True):
            self.pieces.append(part.message.content or "")
            calls += _of(part.message)
            stop = part.done_reason or stop
        asked = [{"function": {"name": name, "arguments": arguments}} for _, name, arguments in calls]
        return self.said(
            {"role": "assistant", "content": "".join(self.pieces), "tool_calls": asked}, stop, calls
        )

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        return [{"role": "tool", "tool_name": r.name, "content": r.text} for r in results] + super().user(
            [], parts
        )

    def _asked(self) -> Json:
        body = self.body()
        plain = [{**m, "content": _text(m["content"])} for m in body["messages"]]
        return {**body, "messages": plain}


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "".join(part["text"] for part in parts)


def _of(message: Any) -> list[tuple[str, str, Any]]:
    return [("", call.function.name, dict(call.function.arguments)) for call in message.tool_calls or ()]


class Mistral(_Blocking):
    """The SDK of Mistral."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        from mistralai.client import Mistral as Client  # noqa: PLC0415 - likewise

        to = self.endpoint
        limit = None if to.timeout is None else int(to.timeout * 1000)
        client = Client(api_key=to.api_key, server_url=to.base_url.removesuffix("/v1"), timeout_ms=limit)
        if not stream:
            answered: Any = client.chat.complete(**self.body()).choices[0]
            said = answered.message.model_dump(exclude_none=True)
            return self.said(said, answered.finish_reason, _functions(answered.message))
        pieces, stop = _Pieces(), None
        for event in client.chat.stream(**self.body()):
            choice: Any = event.data.choices[0]
            self.pieces.append(choice.delta.content or "")
            for call in choice.delta.tool_calls or ():
                pieces.add(call.index, call.id, call.function.name, call.function.arguments)
            stop = choice.finish_reason or stop
        return self.heard(pieces.whole(), stop)


def _functions(message: Any) -> list[tuple[str, str, Any]]:
    return [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]


class Cohere(_Blocking):
    """The SDK of Cohere."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        import cohere as sdk  # noqa: PLC0415 - likewise

        to = self.endpoint
        client = sdk.ClientV2(to.api_key, base_url=to.base_url.removesuffix("/v2"), **to.timeout_option)
        if not stream:
            answer = client.chat(**self.body())
            text = "".join(part.text for part in answer.message.content or () if part.type == "text")
            message = answer.message.model_dump(exclude_none=True) | {"content": text}
            return self.said(message, answer.finish_reason, _functions(answer.message))
        pieces, stop = _Pieces(), None
        for event in client.chat_stream(**self.body()):
            stop = self._hear(event, pieces) or stop
        return self.heard(pieces.whole(), stop)

    def _hear(self, event: Any, pieces: _Pieces) -> str | None:
        """Adds an event, and returns why the answer ends if it does."""
        if event.type == "content-delta":
            self.pieces.append(event.delta.message.content.text or "")
        elif event.type == "tool-call-start":
            call = event.delta.message.tool_calls
            pieces.add(event.index, call.id, call.function.name, call.function.arguments)
        elif event.type == "tool-call-delta":
            pieces.add(event.index, None, None, event.delta.message.tool_calls.function.arguments)
        elif event.type == "message-end":
            return str(event.delta.finish_reason)
        return None


class Httpx(_Blocking):
    """httpx without an SDK, as programs use it that need only one request: the examples of many providers look so."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        import httpx as client  # noqa: PLC0415 - likewise

        to, body = self.endpoint, self.body()
        headers = {"authorization": f"Bearer {to.api_key}"}
        url = f"{to.base_url}/chat/completions"
        if not stream:
            response = client.post(url, json=body, headers=headers, **to.timeout_option)
            response.raise_for_status()
            choice = response.json()["choices"][0]
            calls = _asked_for(choice["message"])
            return self.said(choice["message"], "tool" if calls else choice["finish_reason"], calls)
        pieces, stop = _Pieces(), None
        asked = {**body, "stream": True}
        with client.stream("POST", url, json=asked, headers=headers, **to.timeout_option) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                for choice in json.loads(line.removeprefix("data: "))["choices"]:
                    self.pieces.append(choice["delta"].get("content") or "")
                    for call in choice["delta"].get("tool_calls") or ():
                        of = call["function"]
                        pieces.add(call["index"], call.get("id"), of.get("name"), of.get("arguments"))
                    stop = choice.get("finish_reason") or stop
        return self.heard(pieces.whole(), "tool" if pieces.whole() else stop)


def _asked_for(message: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    calls = message.get("tool_calls") or ()
    return [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls]


def _adapter(called: str, wire: str, provider: str, session: type[SDKSession]) -> Callable[[], BridgeAdapter]:
    class Adapter(BridgeAdapter):
        name = called
        wires: Mapping[str, Sequence[str]] = {wire: [provider]}
        sessions = session

        def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
            return Capabilities(modes=("sync", "stream"))

        def kind(self, endpoint: Endpoint) -> type[SDKSession]:  # noqa: ARG002 - there is one
            return session

    return Adapter


ollama = _adapter("ollama", "ollama", "ollama", Ollama)
mistralai = _adapter("mistralai", "mistral", "mistral", Mistral)
cohere = _adapter("cohere", "cohere", "cohere", Cohere)
httpx = _adapter("httpx", "openai-chat", "openai", Httpx)
