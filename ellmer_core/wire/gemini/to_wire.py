"""Gemini, requests: converts one content at a time to parts, with their signatures and ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from operator import is_
from typing import TYPE_CHECKING, ClassVar, assert_never
from urllib.parse import quote

from ...contents import content as ours
from ...contents.turns import AssistantTurn, SystemTurn, Turn, not_plain, system_turns
from ...errors import UsageError
from ...tools.results import pointed, result_parts, result_text, split
from ..interfaces import IMAGES, Json, Request, SchemaLimits
from ..shared import content_parts, json_objects, schemas
from ..shared.content_parts import joined
from ..shared.json_objects import fits, legal
from ..shared.schemas import GEMINI_LIMITS, bare_references
from .from_wire import GeminiResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


_WORD = (str, int)  # of an enumeration, or its number
#: A part that goes back as it came (google.ai.generativelanguage.v1beta.Part).
_PART = {
    "text?": str,
    "thought?": bool,
    "thoughtSignature?": str,
    "inlineData?": {"mimeType?": str, "data?": str},
    "fileData?": {"mimeType?": str, "fileUri?": str},
    "functionCall?": {"name": str, "args?": dict, "id?": str},
    "executableCode?": {"code?": str, "language?": _WORD, "id?": str},
    "codeExecutionResult?": {"outcome?": _WORD, "output?": str, "id?": str},
    "toolCall?": {"toolType?": _WORD, "args?": dict, "id?": str},
    "toolResponse?": {"toolType?": _WORD, "response?": dict, "id?": str},
    "videoMetadata?": dict,
    "partMetadata?": dict,
    "mediaResolution?": dict,
}


#: Google's own word for a call that the model did not make; as it stands, not in base64 (googleapis/go-genai#711).
UNSIGNED = "skip_thought_signature_validator"


def model_path(model: str) -> str:
    """Returns the name of a model for a URL: it ends neither the path nor the folder of models."""
    if ".." in model.split("/"):
        raise UsageError(f"{model!r} is no name of a model.")
    return quote(model, safe="/:@")


@dataclass(frozen=True, eq=False, repr=False)
class Gemini(GeminiResponse):
    """The wire format of the Gemini API. Media inside results need Gemini 3 (`function_response.parts` is refused before)."""

    name: ClassVar[str] = "gemini"
    provider: ClassVar[str] = "Google/Gemini"
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
        "tool_choice": "toolConfig.functionCallingConfig",
    }

    models_path: ClassVar[str] = "/models?pageSize=1000"
    schema_limits: ClassVar[SchemaLimits] = GEMINI_LIMITS
    fetches: ClassVar[tuple[str, ...]] = ()

    base_url: str = "https://generativelanguage.googleapis.com/v1beta"

    # requests -------------------------------------------------------------------------------------------

    @property
    def issuer(self) -> str:
        return self.name

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"contents": self.messages(turns)}
        if system := [part for turn in system_turns(turns) for part in self.system(turn)]:
            body["systemInstruction"] = {"parts": system}
        if tools:
            body["tools"] = self.tools(tools)
        if config := self.config(type):
            body["generationConfig"] = config
        return self.post(self.url(stream=stream), body, stream=stream)

    def tools(self, tools: Sequence[ours.ToolDef]) -> list[Json]:
        """Returns all functions in one entry, and Google's own tools in separate entries."""
        provided = [form for tool in tools if (form := tool.provided(self.name))]
        functions = self.keep_tools([tool for tool in tools if not tool.provided(self.name)], self.tool)
        return [*([{"functionDeclarations": functions}] if functions else []), *provided]

    def native_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:
        """Returns the problem of a schema with tools before Gemini 3: `Function calling with a response mime type:
        'application/json' is unsupported`. Google's own tools have the same problem.
        """
        if tools and re.search("gemini-[12]", self.model):
            return f"{self.model} takes a schema or tools, not both"
        return super().native_problem(type, tools)

    def call_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:
        """Returns the problem of tools with a call before Gemini 3: `Tool use with function calling is unsupported`."""
        if any(tool.provided(self.name) for tool in tools) and re.search("gemini-[12]", self.model):
            return f"{self.model} takes functions or Google's own tools, not both"
        return super().call_problem(type, tools)

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - any call is the one call
        return {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ours.ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.asking(turns, tools, type=type)
        url = f"{self.base_url.rstrip('/')}/models/{model_path(self.model)}:countTokens"
        return replace(request, url=url, json=self.counting(request.json))

    def counting(self, body: Json) -> Json:
        """Returns a request in the form of the token counter."""
        return {"generateContentRequest": {"model": f"models/{self.model}", **body}}

    def counted(self, response: Json) -> int:
        return int(response["totalTokens"])

    def url(self, *, stream: bool) -> str:
        """Returns the URL of the model. Without `alt=sse`, a stream is a JSON array."""
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"{self.base_url.rstrip('/')}/models/{model_path(self.model)}:{method}"

    def headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self.credentials()} if self.credentials else {}

    def config(self, type: Type | None) -> Json:
        """Returns the fields of `generationConfig` that are not parameters: structured output and thinking."""
        config: Json = {}
        if type is not None:
            config = {
                "responseMimeType": "application/json",
                "responseJsonSchema": bare_references(self.schema(type)),
            }
        thinks = (
            self.params.get("reasoning_tokens") != 0
        )  # Vertex AI refuses to show thoughts where there are none
        if thinks and self.params.keys() & {"reasoning_tokens", "reasoning_effort"}:
            config["thinkingConfig"] = {"includeThoughts": True}
        return config

    def system(self, turn: Turn) -> list[Json]:
        """Returns the parts of a system turn, which are outside the contents."""
        texts = turn.contents if isinstance(turn, SystemTurn) else ()
        return [self.content(c) for c in texts if content_parts.sendable(c, self.name)]

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the contents. Neighbouring contents of the model are joined. A functionCall at the beginning gets a
        user turn before it: `function call turn comes immediately after a user turn or after a function response
        turn`.
        """
        ordered = list(turns)
        for place in not_plain(turns[:-1]):
            ordered[place + 1] = _in_call_order(turns[place + 1], turns[place])
        contents = joined(super().messages(ordered), "parts", ("model",))
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
                # The order: all functionResponses in one content, the rest in a user content after it.
                contents = [
                    [self.result(r) for r in results],
                    [self.content(c) for c in rest if self.sendable(c)],
                ]
                return [{"role": "user", "parts": parts} for parts in contents if parts]

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's message as one content. Thoughts of a partial answer are left out."""
        thinks = not turn.lost
        contents = [c for c in turn.contents if thinks or not isinstance(c, ours.ContentThinking)]
        parts = [part for c in contents if (part := self.assistant_part(c))]
        return [{"role": "model", "parts": self.signed(parts)}] if parts else []

    def sendable(self, content: ours.Content) -> bool:
        """Tells whether the message has content to send."""
        return content_parts.sendable(content, self.name)

    def printed_inside(self, result: ours.ContentToolResult) -> list[ours.Content]:
        """Returns the result with pointers, and its media after it: its text is one part, and each medium another."""
        first, *rest = pointed(result)
        return [first, *filter(ours.is_media, rest)]

    def signed(self, parts: list[Json]) -> list[Json]:
        """Returns the parts. From Gemini 3 on, the first call of a step must have a signature."""
        first = next((place for place, part in enumerate(parts) if "functionCall" in part), None)
        if first is None or "thoughtSignature" in parts[first] or not self.needs_signatures():
            return parts
        return [*parts[:first], {**parts[first], "thoughtSignature": UNSIGNED}, *parts[first + 1 :]]

    def needs_signatures(self) -> bool:
        """Tells whether the model refuses a call without a signature: Gemini 3 and later, and the `-latest` names."""
        version = re.search(r"gemini-(\d+)", self.model)
        return int(version[1]) >= 3 if version else self.model.endswith("-latest")

    def namer(self, contents: Sequence[ours.Content]) -> Callable[[ours.ContentToolResult], str]:
        """Returns the name of a call: the server's id, or its function's name, with a number if there are several."""
        results, _ = split(contents)
        names = [self._name(result) for result in results]
        distinct = {
            id(result): f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
            for place, (result, name) in enumerate(zip(results, names, strict=True))
        }
        return lambda result: distinct[id(result)]

    def _name(self, result: ours.ContentToolResult) -> str:
        request = content_parts.request_of(result)
        return str(self.server_id(request).get("id") or request.name)

    def result(self, result: ours.ContentToolResult) -> Json:
        """Returns a functionResponse part, with its media inside if `tool_media` is native. Its id is the server's
        own, if there is one.
        """
        request = content_parts.request_of(result)
        parts = result_parts(result) if self.tool_media == "native" else None
        media = [self.content(part) for part in parts or () if not isinstance(part, ours.ContentText)]
        outcome = {"output" if result.error is None else "error": result_text(result)}
        response: Json = {**self.server_id(request), "name": request.name, "response": outcome}
        return {"functionResponse": response | {"parts": media} if media else response}

    def tool(self, tool: ours.ToolDef) -> Json:
        """Returns a declaration. An object without properties is refused, so a tool without arguments has no schema."""
        declaration: Json = {"name": tool.name, "description": tool.description}
        schema = self.schema(tool.arguments)
        return declaration | {"parametersJsonSchema": schema} if schema.get("properties") else declaration

    def schema(self, type: Type) -> Json:
        """Returns plain JSON Schema, for the fields that accept it; `parameters` and `responseSchema` support only a
        subset.
        """
        return schemas.json_schema(type)

    # contents -------------------------------------------------------------------------------------------

    def server_id(self, request: ours.ContentToolRequest) -> Json:
        """Returns the server's id of a call, which is sent back. An id that was generated here is left out."""
        id = (self.issued(request.extra) or {}).get("id")
        return {"id": id} if id and isinstance(id, str) else {}

    def signature(self, content: ours.Content) -> Json:
        """Returns the signature of a part."""
        fields = self.attached(getattr(content, "extra", {}), "fields")
        return dict(fields) if fits(fields, {"thoughtSignature": str}) else {}

    def file(self, file: ours.ContentFile) -> Json | None:
        """Returns text, audio and video unchanged."""
        if not file.type.startswith(("text/", "audio/", "video/")):
            return None
        return {"inlineData": {"mimeType": file.type, "data": file.data}}

    def signed_part(self, thinking: ours.ContentThinking) -> Json | None:
        """Returns a thought that has a signature. Others are not needed. A thought without text arrived as empty
        text.
        """
        signature = self.signature(thinking)
        if not signature:
            return None
        thought = {"thought": True} if thinking.thinking else {}
        return {"text": thinking.thinking, **thought, **signature}

    def assistant_part(self, content: ours.Content) -> Json | None:  # noqa: C901 - one case per class
        """Returns a part of the model's content, or `None` for content that only another provider understands."""
        part: Json | None = None
        signature = self.signature(content)
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text) if text:
                part = {"text": text, **signature}
            case ours.ContentThinking() as thinking:
                part = self.signed_part(thinking)
            case ours.ContentToolRequest(name=name, arguments=arguments) as call:
                part = {
                    "functionCall": {**self.server_id(call), "name": name, "args": dict(arguments)},
                    **signature,
                }
            case ours.ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = legal(data, _PART, self.name) if data else None
            case ours.ContentUploaded(wire=wire) if wire != self.name:
                part = {"text": content_parts.placeholder(content)}
            case ours.ContentImageInline(type=type) if type not in (self.profile.images or IMAGES):
                part = {"text": content_parts.placeholder(content)}
            case ours.ContentImageInline() | ours.ContentPDF() | ours.ContentUploaded() | ours.ContentJson():
                part = {**self.content(content), **signature}
            case ours.ContentImageRemote() | ours.ContentFile():
                part = {"text": content_parts.placeholder(content)}
            case ours.ContentCitation():
                raise content_parts.refused(content, self.name)
            case ours.ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ours.ContentText() | ours.ContentUnknown():
                pass
            case never:
                assert_never(never)
        return part

    def content(self, content: ours.Content) -> Json:
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                part: Json = {"text": text}
            case ours.ContentFile() as file:
                part = {"text": content_parts.placeholder(file)}
            case ours.ContentJson(value=value):
                part = {"text": json_objects.json_text(value)}
            case ours.ContentImageInline(type=type, data=data) | ours.ContentPDF(type=type, data=data):
                part = {"inlineData": {"mimeType": type, "data": data}}
            case ours.ContentImageRemote(url=url):
                part = self.remote(content, url)
            case ours.ContentUploaded(uri=uri, type=type, wire=self.name):
                part = {"fileData": {"mimeType": type, "fileUri": uri}}
            case ours.ContentUnknown(wire=self.name, data=data):
                part = dict(data)
            case (
                ours.ContentUploaded()
                | ours.ContentUnknown()
                | ours.ContentThinking()
                | ours.ContentToolRequest()
                | ours.ContentToolResult()
                | ours.ContentCitation()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
        return part

    def remote(self, content: ours.Content, url: str) -> Json:
        """Returns an image by URL. Only Vertex downloads one."""
        raise content_parts.refused(
            content, self.name, f"Gemini does not fetch URLs; send the bytes of {url} instead"
        )


def _in_call_order(turn: Turn, before: Turn) -> Turn:
    """Returns the turn with its results in the order of the calls, because without ids the order pairs them."""
    if len(turn.contents) < 2 or not isinstance(before, AssistantTurn) or not before.tool_requests:
        return turn
    place = {request.id: n for n, request in enumerate(before.tool_requests)}
    results, rest = split(turn.contents)
    contents = (*sorted(results, key=lambda result: place.get(result.id, len(place))), *rest)
    if all(map(is_, contents, turn.contents)):
        return turn
    ordered = copy(turn)
    object.__setattr__(ordered, "contents", contents)
    return ordered
