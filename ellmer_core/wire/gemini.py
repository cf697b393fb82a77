"""Gemini `generateContent`, at Google's Gemini API and at Vertex. https://ai.google.dev/api/generate-content

A thought signature belongs to the very part it came with, and goes back on that part (a call, a text, an
image, a thought).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from ..content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ..tool_results import result_text, split
from ..turns import AssistantPartialTurn, AssistantTurn, SystemTurn, Tokens, Turn
from . import Json, Request, Wire, _shared
from ._errors import in_band_error
from ._gemini_stream import GeminiMerger

if TYPE_CHECKING:
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["Gemini"]

FINISH = {
    "STOP": "success",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
}

#: Google's own word for a call that the model did not make; as it stands, not in base64 (googleapis/go-genai#711).
UNSIGNED = "skip_thought_signature_validator"


@dataclass(frozen=True)
class Gemini(Wire):
    """The format itself. Its native media in results need Gemini 3 (`function_response.parts` is refused before)."""

    name: ClassVar[str] = "gemini"
    vendor: ClassVar[str] = "Google/Gemini"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "generationConfig.temperature",
        "top_p": "generationConfig.topP",
        "top_k": "generationConfig.topK",
        "frequency_penalty": "generationConfig.frequencyPenalty",
        "presence_penalty": "generationConfig.presencePenalty",
        "seed": "generationConfig.seed",
        "max_tokens": "generationConfig.maxOutputTokens",
        "stop_sequences": "generationConfig.stopSequences",
        "log_probs": "generationConfig.responseLogprobs",
        "top_logprobs": "generationConfig.logprobs",
        "reasoning_tokens": "generationConfig.thinkingConfig.thinkingBudget",
        "reasoning_effort": "generationConfig.thinkingConfig.thinkingLevel",
    }

    models_path: ClassVar[str] = "/models?pageSize=1000"

    base_url: str = "https://generativelanguage.googleapis.com/v1beta"

    @property
    def issuer(self) -> str:
        return self.name

    # ours → theirs ----------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"contents": self.messages(turns)}
        if system := [part for turn in turns for part in self.system(turn)]:
            body["systemInstruction"] = {"parts": system}
        if tools:
            body["tools"] = self.tools(tools)
        if config := self.config(type):
            body["generationConfig"] = config
        return self.post(self.url(stream=stream), body, stream=stream)

    def tools(self, tools: Sequence[ToolDef]) -> list[Json]:
        """All functions in one entry; what Google runs itself in entries of their own."""
        provided = [form for tool in tools if (form := self.provided(tool))]
        functions = [self.tool(tool) for tool in tools if not self.provided(tool)]
        return [*([{"functionDeclarations": functions}] if functions else []), *provided]

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.request(turns, tools, type=type)
        url = f"{self.base_url.rstrip('/')}/models/{self.model}:countTokens"
        return replace(request, url=url, json=self.counting(request.json))

    def counting(self, body: Json) -> Json:
        """A request, as the counter wants it."""
        return {"generateContentRequest": {"model": f"models/{self.model}", **body}}

    def counted(self, response: Json) -> int:
        return int(response["totalTokens"])

    def url(self, *, stream: bool) -> str:
        """Where the model is asked; without `alt=sse` a stream is a JSON array."""
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"{self.base_url.rstrip('/')}/models/{self.model}:{method}"

    def headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self.credentials()} if self.credentials else {}

    def config(self, type: Type | None) -> Json:
        """What of `generationConfig` is not a parameter: structured output, and thoughts where thinking is set."""
        config: Json = {}
        if type is not None:
            config = {"responseMimeType": "application/json", "responseJsonSchema": self.schema(type)}
        if self.params.keys() & {"reasoning_tokens", "reasoning_effort"}:
            config["thinkingConfig"] = {"includeThoughts": True}
        return config

    def system(self, turn: Turn) -> list[Json]:
        """The parts of a system turn; it stands beside the contents."""
        texts = turn.contents if isinstance(turn, SystemTurn) else ()
        return [self.content(c) for c in texts if _shared.sendable(c, self.name)]

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Neighbouring model contents are one; a first functionCall gets a user turn to come after: `function
        call turn comes immediately after a user turn or after a function response turn`."""
        contents: list[Json] = []
        for place, turn in enumerate(turns):
            ordered = _in_call_order(turn, turns[place - 1] if place else turn)
            for content in self.keep(ordered, self.message):
                if contents and contents[-1]["role"] == content["role"] == "model":
                    contents[-1] = {**content, "parts": [*contents[-1]["parts"], *content["parts"]]}
                else:
                    contents.append(content)
        if contents and contents[0]["role"] == "model":
            contents.insert(0, {"role": "user", "parts": [{"text": ""}]})
        return contents

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: every functionResponse in a content of their own, the rest in a user content after it.
                contents = [
                    [self.result(r) for r in results],
                    [self.content(c) for c in rest if self.sendable(c)],
                ]
                return [{"role": "user", "parts": parts} for parts in contents if parts]

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """What the model said, in one content; of a partial answer, no thoughts."""
        thinks = not isinstance(turn, AssistantPartialTurn)
        contents = [c for c in turn.contents if thinks or not isinstance(c, ContentThinking)]
        parts = [part for c in contents if (part := self.said(c))]
        return [{"role": "model", "parts": self.signed(parts)}] if parts else []

    def sendable(self, content: Content) -> bool:
        """Whether there is something to send."""
        return _shared.sendable(content, self.name)

    def signed(self, parts: list[Json]) -> list[Json]:
        """The parts; from Gemini 3 on, the first call of a step must carry a signature."""
        first = next((place for place, part in enumerate(parts) if "functionCall" in part), None)
        if first is None or "thoughtSignature" in parts[first] or not self.needs_signatures():
            return parts
        return [*parts[:first], {**parts[first], "thoughtSignature": UNSIGNED}, *parts[first + 1 :]]

    def needs_signatures(self) -> bool:
        """Whether the model refuses a call without a signature: Gemini 3 and later, and the `-latest` names."""
        version = re.search(r"gemini-(\d+)", self.model)
        return int(version[1]) >= 3 if version else self.model.endswith("-latest")

    def result(self, result: ContentToolResult) -> Json:
        """A functionResponse part, with its media inside where `tool_media` is native. Its id is the server's
        own, if the server gave the call one."""
        request = _shared.answered(result)
        parts = _shared.result_parts(result) if self.tool_media == "native" else None
        media = [self.content(part) for part in parts or () if not isinstance(part, ContentText)]
        outcome = {"output" if result.error is None else "error": result_text(result)}
        response: Json = {**self.server_id(request), "name": request.name, "response": outcome}
        return {"functionResponse": response | {"parts": media} if media else response}

    def server_id(self, request: ContentToolRequest) -> Json:
        """The id the server gave a call, to be echoed; nothing for an id that was made up on our side."""
        id = (self.issued(request.extra) or {}).get("id")
        return {"id": id} if id else {}

    def sealed(self, thinking: ContentThinking) -> Json | None:
        """A thought that carries a signature; others nobody needs. One without words came as empty text."""
        signature = (self.issued(thinking.extra) or {}).get("fields")
        if not signature:
            return None
        thought = {"thought": True} if thinking.thinking else {}
        return {"text": thinking.thinking, **thought, **signature}

    def said(self, content: Content) -> Json | None:
        """One part of what the model said; `None` for what only another provider understands."""
        part: Json | None = None
        signature = (self.issued(getattr(content, "extra", {})) or {}).get("fields", {})
        match _shared.known(content, self.name):
            case ContentText(text=text) if text:
                part = {"text": text, **signature}
            case ContentThinking() as thinking:
                part = self.sealed(thinking)
            case ContentToolRequest(name=name, arguments=arguments) as call:
                part = {
                    "functionCall": {**self.server_id(call), "name": name, "args": dict(arguments)},
                    **signature,
                }
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = dict(data)
            case ContentUploaded(wire=wire) if wire != self.name:
                part = {"text": _shared.placeholder(content)}
            case ContentImageInline() | ContentPDF() | ContentUploaded() | ContentJson():
                part = {**self.content(content), **signature}
            case ContentImageRemote():
                part = {"text": _shared.placeholder(content)}
            case ContentToolResult():
                raise _shared.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown():
                pass
            case never:
                assert_never(never)
        return part

    def content(self, content: Content) -> Json:
        match _shared.known(content, self.name):
            case ContentText(text=text):
                part: Json = {"text": text}
            case ContentJson(value=value):
                part = {"text": _shared.json_text(value)}
            case ContentImageInline(type=type, data=data) | ContentPDF(type=type, data=data):
                part = {"inlineData": {"mimeType": type, "data": data}}
            case ContentImageRemote(url=url):
                part = self.remote(content, url)
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                part = {"fileData": {"mimeType": type, "fileUri": uri}}
            case ContentUnknown(wire=self.name, data=data):
                part = dict(data)
            case (
                ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise _shared.refused(content, self.name)
            case never:
                assert_never(never)
        return part

    def remote(self, content: Content, url: str) -> Json:
        """An image by URL: only Vertex fetches one."""
        raise _shared.refused(content, self.name, f"Gemini fetches no URL; send the bytes of {url} instead")

    def tool(self, tool: ToolDef) -> Json:
        """A declaration. An object without properties is refused: no arguments, no schema."""
        declaration: Json = {"name": tool.name, "description": tool.description}
        schema = self.schema(tool.arguments)
        return declaration | {"parametersJsonSchema": schema} if schema.get("properties") else declaration

    def schema(self, type: Type) -> Json:
        """Real JSON Schema, for the fields that take it; `parameters` and `responseSchema` know a subset only."""
        return _shared.json_schema(type)

    # theirs → ours ----------------------------------------------------------------------------------------

    @_shared.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        candidate = (response.get("candidates") or [{}])[0]
        parts = (candidate.get("content") or {}).get("parts") or []
        cut = FINISH.get(candidate.get("finishReason", "")) in _shared.CUT
        contents = [self.part(part, cut=cut and part is parts[-1]) for part in parts]
        return AssistantTurn(
            _shared.distinct([c for c in contents if c], response),
            tokens=self.tokens(response.get("usageMetadata") or {}),
            finish_reason=self.finish_reason(candidate, response),
            json=response,
        )

    def part(self, part: Json, *, cut: bool) -> Content | None:
        """One part of the answer; `None` for an empty one."""
        fields = {"thoughtSignature": part["thoughtSignature"]} if part.get("thoughtSignature") else {}
        extra = self.own(fields=fields) if fields else {}
        match part:
            case {"functionCall": dict(call)}:
                return self.tool_request(call, fields, cut=cut)
            case {"text": str(text), "thought": True}:
                return ContentThinking(text, extra=extra)
            case {"text": ""}:  # a signature of its own, at the end of a stream
                return ContentThinking("", extra=extra) if fields else None
            case {"text": str(text)}:
                return ContentText(text, extra=extra)
            case {"inlineData": {"mimeType": str(type), "data": str(data)}} if type.startswith("image/"):
                return ContentImageInline(type, data, extra=extra)
            case _:
                return _shared.unknown(self.name, part)

    def tool_request(self, call: Json, fields: Json, *, cut: bool) -> ContentToolRequest:
        """A call; with streamed arguments (`partialArgs`) it never came whole."""
        own = ({"fields": fields} if fields else {}) | ({"id": call["id"]} if call.get("id") else {})
        return _shared.call_of(
            call.get("id") or "",
            call.get("name") or "",
            call.get("args"),
            cut=cut or "partialArgs" in call,
            extra=self.own(**own) if own else {},
        )

    def tokens(self, usage: Json) -> Tokens:
        """Usage. Tool-use prompts come on top of the prompt, thoughts on top of the candidates."""
        return Tokens(
            input=_sum(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount")),
            output=_sum(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
            cached=usage.get("cachedContentTokenCount"),
            reasoning=usage.get("thoughtsTokenCount"),
        )

    def finish_reason(self, candidate: Json, response: Json) -> str | None:
        """The neutral word; a blocked prompt has no candidate at all."""
        if not candidate and (response.get("promptFeedback") or {}).get("blockReason"):
            return "content_filter"
        reason = candidate.get("finishReason")
        neutral = FINISH.get(reason, reason) if reason else None
        calls = any("functionCall" in part for part in (candidate.get("content") or {}).get("parts") or ())
        return "tool_use" if calls and neutral == "success" else neutral

    def merger(self) -> GeminiMerger:
        return GeminiMerger()


def _in_call_order(turn: Turn, before: Turn) -> Turn:
    """The turn with its results in the order of the calls before it: without ids, the order is what pairs them."""
    if not isinstance(before, AssistantTurn) or not before.tool_requests:
        return turn
    place = {request.id: n for n, request in enumerate(before.tool_requests)}
    results, rest = split(turn.contents)
    contents = (*sorted(results, key=lambda result: place.get(result.id, len(place))), *rest)
    if all(map(is_, contents, turn.contents)):
        return turn
    ordered = copy(turn)
    object.__setattr__(ordered, "contents", contents)
    return ordered


def _sum(*counts: Any) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
