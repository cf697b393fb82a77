"""Adapter for the official `google-genai` SDK alone. It is the control for libraries that are built on it.

`models.generate_content` and `generate_content_stream`, with automatic function calling off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google import genai
from google.genai import types
from pydantic import BaseModel

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.adapters.base_adapter import BridgeAdapter
from ellmer_conformance.scenarios.messages import PDF, Audio, Image, Part, Text

from .sdk_conversation import CallResult, ModelAnswer, Parsing, media_type, parameters, texts_and_calls

__all__ = ["GoogleGenAI", "adapter"]

_STOPS = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "filter"}


class Session(Parsing):
    """A history in which results are one content, and the user's text is the next."""

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        media = [part for result in results for part in result.media]
        contents = [[_result(result) for result in results], [_part(part) for part in [*media, *parts]]]
        return [types.Content(role="user", parts=each) for each in contents if each]

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        text, calls = texts_and_calls(parts)
        blocks = [types.Part(text=text)] if text else []
        blocks += [
            types.Part(
                function_call=types.FunctionCall(id=c.id, name=c.name, args=dict(c.arguments)),
                thought_signature=_NO_SIGNATURE,
            )
            for c in calls
        ]
        return [types.Content(role="model", parts=blocks)]

    def ask(self, *, stream: bool) -> ModelAnswer:
        with self._client() as client:
            if not stream:
                return _answer([client.models.generate_content(**self._request())])
            chunks = []
            for chunk in client.models.generate_content_stream(**self._request()):
                self._heard(chunk)
                chunks.append(chunk)
            return _answer(chunks)

    async def aask(self, *, stream: bool) -> ModelAnswer:
        async with self._client().aio as client:
            if not stream:
                return _answer([await client.models.generate_content(**self._request())])
            chunks = []
            async for chunk in await client.models.generate_content_stream(**self._request()):
                self._heard(chunk)
                chunks.append(chunk)
            return _answer(chunks)

    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        with self._client() as client:
            return _parsed(client.models.generate_content(**self._request(model)))

    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        async with self._client().aio as client:
            return _parsed(await client.models.generate_content(**self._request(model)))

    def _client(self) -> genai.Client:
        url = self.endpoint.base_url.removesuffix("/v1beta")  # the SDK adds it
        retry = types.HttpRetryOptions(attempts=self.endpoint.max_retries + 1)
        options = types.HttpOptions(
            base_url=url,
            retry_options=retry,
            timeout=None
            if self.endpoint.timeout is None
            else int(self.endpoint.timeout * 1000),  # milliseconds
        )
        return genai.Client(api_key=self.endpoint.api_key, http_options=options)

    def _request(self, model: type[BaseModel] | None = None) -> dict[str, Any]:
        tools = [
            types.FunctionDeclaration(
                name=t.name, description=t.description, parameters_json_schema=parameters(t)
            )
            for t in self.tools.values()
        ]
        config = types.GenerateContentConfig(
            system_instruction=self.system,
            tools=[types.Tool(function_declarations=tools)] if tools else None,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            response_mime_type="application/json" if model else None,
            response_schema=model,
        )
        return {"model": self.endpoint.model, "contents": self.messages, "config": config}

    def _heard(self, chunk: Any) -> None:
        text = "".join(part.text for part in _parts(chunk) if part.text and not part.thought)
        if text:
            self.pieces.append(text)


#: The signature that Google documents for calls of other models:
#: https://ai.google.dev/gemini-api/docs/thought-signatures
_NO_SIGNATURE = b"skip_thought_signature_validator"


def _answer(chunks: Sequence[Any]) -> ModelAnswer:
    """Returns the answer, whole or from chunks, because the SDK leaves this to the caller."""
    parts = [part for chunk in chunks for part in _parts(chunk)]
    reasons = [c.finish_reason for chunk in chunks for c in chunk.candidates or () if c.finish_reason]
    usage = next((chunk.usage_metadata for chunk in reversed(chunks) if chunk.usage_metadata), None)
    calls = [part.function_call for part in parts if part.function_call]
    stop = _STOPS.get(reasons[-1].value, reasons[-1].value) if reasons else None
    if any(chunk.prompt_feedback and chunk.prompt_feedback.block_reason for chunk in chunks):
        stop = "filter"
    return ModelAnswer(
        "".join(part.text for part in parts if part.text and not part.thought),
        [types.Content(role="model", parts=parts)],
        stop,
        [(call.id or call.name, call.name, call.args or {}) for call in calls],
        _counts(usage) if usage else {},
    )


def _parsed(response: Any) -> tuple[ModelAnswer, Any]:
    """Returns the answer and the value. The SDK leaves it to the caller to find out why a value is missing."""
    answer = _answer([response])
    if response.parsed is None and answer.stop != "tool":
        raise ValueError(f"no value: the answer, which ended with {answer.stop!r}, is {answer.text!r}")
    return answer, response.parsed


def _counts(usage: Any) -> Mapping[str, int | None]:
    thoughts = usage.thoughts_token_count or 0
    return {"input": usage.prompt_token_count, "output": (usage.candidates_token_count or 0) + thoughts}


def _parts(chunk: Any) -> list[Any]:
    content = chunk.candidates[0].content if chunk.candidates else None
    return list(content.parts or ()) if content else []


def _result(result: CallResult) -> types.Part:
    response = {"error" if result.failed else "result": result.text}
    id = result.id if result.id != result.name else None
    return types.Part(function_response=types.FunctionResponse(id=id, name=result.name, response=response))


def _part(part: Part) -> types.Part:
    match part:
        case Text(text):
            return types.Part(text=text)
        case Image(url=url) if url:
            return types.Part(file_data=types.FileData(file_uri=url, mime_type="image/png"))
        case Image(data) | PDF(data) | Audio(data):
            return types.Part(inline_data=types.Blob(data=data, mime_type=media_type(part)))
    raise TypeError(f"{type(part).__name__} is not supported in a user content")


class GoogleGenAI(BridgeAdapter):
    """The adapter."""

    name = "google-genai"
    sessions = Session
    wires: Mapping[str, Sequence[str]] = {"gemini": ["google"]}

    def capabilities(self, wire: str, provider: str) -> Capabilities:  # noqa: ARG002 - the protocol's
        """Returns the capabilities. Media come after the results."""
        return Capabilities(structured="native", audio_in_user="native")


adapter = GoogleGenAI
