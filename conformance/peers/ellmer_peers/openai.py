"""Adapter for the official `openai` SDK alone. It is the control for libraries that are built on it.

It covers Chat Completions and Responses, with streams through the SDK's own helpers (`chat.completions.stream`,
`responses.stream`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import openai
from pydantic import BaseModel

from ellmer_conformance.adapters import Ability, Capabilities, Endpoint
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import PDF, Image, Part, Text

from .sdk_conversation import (
    CallResult,
    ChatMessages,
    ModelAnswer,
    Parsing,
    SDKSession,
    data_url,
    json_of,
    parameters,
    texts_and_calls,
)

__all__ = ["OpenAI", "adapter", "response_input"]

_RESPONSES_STOPS = {"max_output_tokens": "length", "content_filter": "filter"}


class OpenAI(BridgeAdapter):
    """The adapter."""

    name = "openai"
    wires: Mapping[str, Sequence[str]] = {"openai-chat": ["openai"], "openai-responses": ["openai"]}

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Responses accepts media inside a result; Chat Completions does not."""
        media: Literal["native", "pointer"] = "native" if wire == "openai-responses" else "pointer"
        audio: Ability = "native" if wire == "openai-chat" else "refused"
        return Capabilities(
            structured="native", audio_in_user=audio, image_in_tool_result=media, pdf_in_tool_result=media
        )

    def kind(self, endpoint: Endpoint) -> type[SDKSession]:
        """Returns the class of conversations for one of the SDK's two resources."""
        return Responses if endpoint.wire == "openai-responses" else Chat


class _OpenAISession(Parsing, ABC):
    def client(self) -> Any:
        return openai.OpenAI(**self._options())

    def aclient(self) -> Any:
        return openai.AsyncOpenAI(**self._options())

    def _options(self) -> Json:
        to = self.endpoint
        return {
            "base_url": to.base_url,
            "api_key": to.api_key,
            "max_retries": to.max_retries,
            **to.timeout_option,
        }


# Chat Completions -------------------------------------------------------------------------------------------


class Chat(_OpenAISession, ChatMessages):
    """Chat Completions."""

    def ask(self, *, stream: bool) -> ModelAnswer:
        with self.client() as client:
            if not stream:
                return self.answer(client.chat.completions.create(**self.body()))
            with client.chat.completions.stream(**self.body(), **_USAGE) as events:
                try:
                    for event in events:
                        self._heard(event)
                    return self.answer(events.get_final_completion())
                except openai.LengthFinishReasonError as error:
                    return self.answer(error.completion)

    async def aask(self, *, stream: bool) -> ModelAnswer:
        async with self.aclient() as client:
            if not stream:
                return self.answer(await client.chat.completions.create(**self.body()))
            async with client.chat.completions.stream(**self.body(), **_USAGE) as events:
                try:
                    async for event in events:
                        self._heard(event)
                    return self.answer(await events.get_final_completion())
                except openai.LengthFinishReasonError as error:
                    return self.answer(error.completion)

    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        with self.client() as client:
            completion = client.chat.completions.parse(**self._strict(), response_format=model)
        return self.answer(completion), completion.choices[0].message.parsed

    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        async with self.aclient() as client:
            completion = await client.chat.completions.parse(**self._strict(), response_format=model)
        return self.answer(completion), completion.choices[0].message.parsed

    def _strict(self) -> Json:
        """Returns the request with strict tools, because the SDK parses values only with strict tools."""
        body = self.body()
        for tool in body.get("tools", []):
            closed = tool["function"]["parameters"] | {"additionalProperties": False}
            tool["function"] |= {"parameters": closed, "strict": True}
        return body

    def _heard(self, event: Any) -> None:
        if event.type in {"content.delta", "refusal.delta"}:
            self.pieces.append(event.delta)


_USAGE = {"stream_options": {"include_usage": True}}


# Responses --------------------------------------------------------------------------------------------------


class Responses(_OpenAISession):
    """Responses without stored state: items are sent back unchanged."""

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        outputs = [{"type": "function_call_output", "call_id": r.id, "output": _output(r)} for r in results]
        content = [response_input(part) for part in parts]
        return [*outputs, *([{"role": "user", "content": content}] if content else [])]

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        text, calls = texts_and_calls(parts)
        items: list[Any] = [{"role": "assistant", "content": text}] if text else []
        return items + [
            {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": json_of(c.arguments)}
            for c in calls
        ]

    def ask(self, *, stream: bool) -> ModelAnswer:
        with self.client() as client:
            if not stream:
                return self._answer(client.responses.create(**self._body()))
            with client.responses.stream(**self._body()) as events:
                for event in events:
                    if event.type == "response.incomplete":  # get_final_response() knows only complete ones
                        return self._answer(event.response)
                    self._heard(event)
                return self._answer(events.get_final_response())

    async def aask(self, *, stream: bool) -> ModelAnswer:
        async with self.aclient() as client:
            if not stream:
                return self._answer(await client.responses.create(**self._body()))
            async with client.responses.stream(**self._body()) as events:
                async for event in events:
                    if event.type == "response.incomplete":
                        return self._answer(event.response)
                    self._heard(event)
                return self._answer(await events.get_final_response())

    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        with self.client() as client:
            response = client.responses.parse(**self._body(), text_format=model)
        return self._answer(response), response.output_parsed

    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        async with self.aclient() as client:
            response = await client.responses.parse(**self._body(), text_format=model)
        return self._answer(response), response.output_parsed

    def _body(self) -> Json:
        tools = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": parameters(t)}
            | {"strict": False}
            for t in self.tools.values()
        ]
        body: Json = {"model": self.endpoint.model, "input": self.messages, "store": False}
        body |= {"include": ["reasoning.encrypted_content"]}
        body |= {"instructions": self.system} if self.system else {}
        return body | ({"tools": tools} if tools else {})

    def _heard(self, event: Any) -> None:
        if event.type == "response.output_text.delta":
            self.pieces.append(event.delta)

    def _answer(self, response: Any) -> ModelAnswer:
        calls = [item for item in response.output if item.type == "function_call"]
        cut = response.incomplete_details
        stop = _RESPONSES_STOPS.get(cut.reason, cut.reason) if cut else "stop"
        usage = response.usage
        parts = [part for item in response.output if item.type == "message" for part in item.content]
        refusal = "".join(part.refusal for part in parts if part.type == "refusal")
        return ModelAnswer(
            response.output_text or refusal,
            [_history_item(item) for item in response.output],
            stop if response.status in {"completed", "incomplete"} else None,
            [(item.call_id, item.name, item.arguments) for item in calls],
            {"input": usage.input_tokens, "output": usage.output_tokens} if usage else {},
        )


def _history_item(item: Any) -> Json:
    """Returns an item for the next request, without the fields that the SDK's parser adds."""
    fields: Json = item.to_dict(exclude_none=True)
    fields.pop("parsed_arguments", None)
    for part in fields.get("content") or ():
        part.pop("parsed", None)
    return fields


def response_input(part: Part) -> Json:
    """Returns a part of a user message in Responses."""
    match part:
        case Text(text):
            return {"type": "input_text", "text": text}
        case Image():
            return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
        case PDF(filename=filename):
            return {"type": "input_file", "filename": filename, "file_data": data_url(part)}
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


def _output(result: CallResult) -> str | list[Json]:
    """Returns the output of a call: text, or a list with media in it."""
    if not result.media:
        return result.text
    items = result.value if isinstance(result.value, list) else [result.value]
    return [response_input(item if isinstance(item, Image | PDF) else Text(str(item))) for item in items]


adapter = OpenAI
