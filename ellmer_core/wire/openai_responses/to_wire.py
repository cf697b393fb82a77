"""Responses, requests: converts one content at a time. The model's items keep their ids; ours are parts of messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, assert_never

from ...contents import content as ours
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...tools.results import result_parts, result_text, split
from ..interfaces import Json, Request
from ..shared import content_parts, json_objects, tool_calls
from ..shared.json_objects import WORD, Shape, Tagged, fits, fitting, legal
from ..shared.tool_calls import OURS, STRUCTURED
from .from_wire import ResponsesResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


_OFFICE = re.compile(r"application/(msword|rtf|vnd\.(apple|ms-|oasis\.opendocument|openxmlformats))")
_SUMMARY = {"type": re.compile("summary_text"), "text": str}


def _legal(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the item in the form that the API accepts back. It returns nothing if the id is invalid, because it
    could not be looked up, or if a thought has neither its sealed nor its open text.
    """
    if not fits(item.get("id"), (WORD, None)):
        return {}
    legal_fields = {
        key: value for key, value in item.items() if key not in FIELDS or fits(value, FIELDS[key])
    }
    if legal_fields.get("type") == "reasoning":
        # Answers have a status, which requests may not have: https://github.com/BerriAI/litellm/issues/13420
        legal_fields.pop("status", None)
        legal_fields["summary"] = fitting(legal_fields.get("summary"), _SUMMARY)
        # Nothing is stored, so an item without its sealed or open text leads nowhere.
        thought = legal_fields.get("encrypted_content") or legal_fields.get("content")
        return legal_fields if thought and fits(legal_fields, ITEMS) else {}
    return legal_fields


#: Models that reason, and so have something to encrypt; others refuse to be asked for it.
REASONING_MODELS = r"(?:.*/)?(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat)|gpt-oss|codex)"

#: The fields that the counter of tokens takes (InputTokenCountParams).
COUNTED = (
    "conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning",
    "text", "tool_choice", "tools", "truncation",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class OpenAIResponses(ResponsesResponse):
    """The wire format of the Responses API, for any server that has it. Nothing is stored there (`store: false`)."""

    name: ClassVar[str] = "openai-responses"
    provider: ClassVar[str] = "OpenAI"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "max_tokens": "max_output_tokens",
        "log_probs": "include",
        "top_logprobs": "top_logprobs",
        "reasoning_effort": "reasoning.effort",
        "compact_at": "context_management",
    }

    base_url: str = "https://api.openai.com/v1"

    # requests -------------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "input": self.messages(turns), "store": False}
        if included := list(self.included()):
            body["include"] = included
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["text"] = {"format": self.text_format(type)}
        if stream:
            body["stream"] = True
        return self.post(f"{self.base_url.rstrip('/')}/responses", body, stream=stream)

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ours.ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.asking(turns, tools, type=type)
        return replace(
            request, url=f"{request.url}/input_tokens", json=json_objects.only(request.json, *COUNTED)
        )

    def counted(self, response: Json) -> int:
        return int(response["input_tokens"])

    def included(self) -> Iterator[str]:
        """Yields the parts of an answer that must be requested."""
        if self.reasons():
            yield "reasoning.encrypted_content"
        if self.params.get("log_probs"):
            yield "message.output_text.logprobs"

    def parameters(self) -> Json:
        """Returns the parameters. `log_probs` is not a field, but one of the parts to include."""
        params = json_objects.without(self.params, "log_probs")
        if tokens := params.get("compact_at"):
            params["compact_at"] = [{"type": "compaction", "compact_threshold": tokens}]
        return json_objects.parameters(params, self.param_names, self.name)

    def reasons(self) -> bool:
        """Tells whether encrypted reasoning can be requested from the model. The server stores none of it."""
        return re.match(REASONING_MODELS, self.model) is not None

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return self.message_item("system", turn.contents)
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one output item per result first, then one user message with the rest.
                return [*map(self.result, results), *self.message_item("user", rest)]

    def message_item(self, role: str, contents: Sequence[ours.Content]) -> list[Json]:
        """Returns a message item of ours, or nothing if it has no content."""
        parts = [self.content(c) for c in contents if content_parts.sendable(c, self.name)]
        return [{"role": role, "content": parts}] if parts else []

    def result(self, result: ours.ContentToolResult) -> Json:
        """Returns a function_call_output item, with its media inside if `tool_media` is native. It has no error flag."""
        parts = result_parts(result) if self.tool_media == "native" else None
        output = list(map(self.content, parts)) if parts else result_text(result)
        request = content_parts.request_of(result)
        kind = "custom_tool_call_output" if self.is_custom(request) else "function_call_output"
        return {"type": kind, "call_id": self.call_id(request.id), "output": output}

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the items of an answer. Text of another provider comes before the calls, because some servers
        refuse a message between two calls (`No tool output found for tool call`, DeepSeek).
        """
        contents = sent_back(turn.contents, self.name)
        if not any(self.item_of(c) for c in contents):
            contents.sort(key=lambda content: isinstance(content, ours.ContentToolRequest))
        whole = not turn.lost and self.is_whole(contents)
        items: list[Json] = []
        for content in contents:
            if item := self.item(content, whole=whole):
                _append(items, item)
        return items

    def is_whole(self, contents: Sequence[ours.Content]) -> bool:
        """Tells whether every reasoning item is followed by its item. A reasoning item that was cut off at a limit
        has none.
        """
        for content, after in pairwise([*contents, None]):
            if not isinstance(content, ours.ContentThinking) or not (own := self.issued(content.extra)):
                continue
            if after is None or not self.item_of(content):
                return False
            if own.get("before") != self.item_of(after).get("id"):
                return False
        return True

    tool_search: ClassVar[Json] = {"type": "tool_search"}

    def tool(self, tool: ours.ToolDef) -> Json:
        """Returns a function. `strict` is always set, because the default is to try it."""
        from ..shared.schemas import function_schema  # noqa: PLC0415 - most answers need no schema

        parameters, strict = function_schema(tool.arguments)
        head = {"type": "function", "name": tool.name, "description": tool.description}
        deferred = {"defer_loading": True} if self.defers(tool) else {}
        return {**head, "parameters": parameters, "strict": strict, **deferred}

    def forced(self, *, alone: bool) -> Json:
        return {"tool_choice": {"type": "function", "name": STRUCTURED} if alone else "required"}

    def text_format(self, type: Type) -> Json:
        """Returns the parameter that asks for structured output."""
        from ..shared.schemas import strict_schema  # noqa: PLC0415 - most answers need no schema

        schema, strict = strict_schema(type)
        return {"type": "json_schema", "name": "structured_data", "schema": schema, "strict": strict}

    def schema(self, type: Type) -> Json:
        from ..shared.schemas import strict_schema  # noqa: PLC0415 - most answers need no schema

        return strict_schema(type)[0]

    # contents -------------------------------------------------------------------------------------------

    def item_of(self, content: ours.Content) -> Mapping[str, Any]:
        """Returns the provider's data about the item of a content, such as its `id`."""
        if isinstance(content, ours.ContentUnknown):
            return content.data if content.wire == self.name else {}
        return _legal(self.attached(getattr(content, "extra", {}), "item"))

    def item(self, content: ours.Content, *, whole: bool) -> Json | None:  # noqa: C901 - one case per class
        """Returns one content as an item, or `None` for content that only another provider understands. With `whole`,
        it has its id.
        """
        own = {} if not whole else dict(self.item_of(content))
        item: Json | None = None
        match content_parts.supported(content, self.name):
            case ours.ContentText() as text if text.text or own:
                item = self.model_message(text, own)
            case ours.ContentThinking():
                item = own or None
            case ours.ContentToolRequest() as call:
                item = self.call(call, own)
            case ours.ContentUnknown(wire=wire, data=data) if wire == self.name:
                item = dict(data)
            case ours.ContentImageInline(data=data) if own and fits({**own, "result": data}, ITEMS):
                item = {**own, "result": data}
            case ours.ContentJson(value=value):
                item = self.model_message(ours.ContentText(json_objects.json_text(value)), {})
            case (
                ours.ContentImageInline()
                | ours.ContentImageRemote()
                | ours.ContentPDF()
                | ours.ContentFile()
                | ours.ContentUploaded()
            ):
                item = self.model_message(ours.ContentText(content_parts.placeholder(content)), {})
            case ours.ContentCitation():
                raise content_parts.refused(content, self.name)
            case ours.ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ours.ContentText() | ours.ContentUnknown():
                pass
            case never:
                assert_never(never)
        return item

    def model_message(self, content: ours.ContentText, own: Json) -> Json:
        """Returns a message of the model with one part: complete with its id, or else in short form, with its phase, and plain text
        as a string. Models that say a phase expect it back: https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/messagephase
        """
        text, part = content.text, self.attached(content.extra, "part")
        if "refusal" in part:
            part = {"type": "refusal", "refusal": text}
        elif part:
            annotations = fitting(part.get("annotations"), NOTE)
            part = {"type": "output_text", "text": text, **part, "annotations": annotations}
        phase = self.item_of(content).get("phase")
        head = {"type": "message", **own} if own else {"phase": phase} if phase else {}
        return {**head, "role": "assistant", "content": [part] if part else text}

    def file(self, file: ours.ContentFile) -> Json | None:
        """Returns text and office documents; https://developers.openai.com/api/docs/guides/file-inputs."""
        medium = file.type.startswith(("audio/", "image/", "video/"))
        if medium or not (file.text or _OFFICE.match(file.type)):
            return None
        data = f"data:{file.type};base64,{file.data}"
        return {"type": "input_file", "filename": file.filename, "file_data": data}

    def call(self, request: ours.ContentToolRequest, own: Json) -> Json:
        """Returns a function_call item with the model's exact arguments."""
        call = {"call_id": self.call_id(request.id), "name": request.name}
        if self.is_custom(request):
            return {**own, "type": "custom_tool_call", **call, "input": request.raw or ""}
        return {**own, "type": "function_call", **call, "arguments": tool_calls.raw(request)}

    def is_custom(self, request: ours.ContentToolRequest) -> bool:
        """Tells whether a call is one of a custom tool, whose input is a text."""
        return self.attached(request.extra, "item").get("type") == "custom_tool_call"

    def call_id(self, id: str) -> str:
        """Returns an id of 1 to 64 characters (openapi.yaml, FunctionCallOutputItemParam)."""
        return tool_calls.legal_id(id, r".{1,64}")

    def content(self, content: ours.Content) -> Json:
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                part: Json = {"type": "input_text", "text": text}
            case ours.ContentFile() as file:
                part = {"type": "input_text", "text": content_parts.placeholder(file)}
            case ours.ContentJson(value=value):
                part = {"type": "input_text", "text": json_objects.json_text(value)}
            case ours.ContentImageInline() as image:
                part = {"type": "input_image", "image_url": content_parts.data_url(image)}
            case ours.ContentImageRemote(url=url, detail=detail):
                part = {"type": "input_image", "image_url": url} | ({"detail": detail} if detail else {})
            case ours.ContentPDF() as pdf:
                part = {
                    "type": "input_file",
                    "filename": pdf.filename,
                    "file_data": content_parts.data_url(pdf),
                }
            case ours.ContentUploaded(uri=uri, type=type, wire=self.name):
                part = {"type": "input_image" if type.startswith("image/") else "input_file", "file_id": uri}
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


def _append(items: list[Json], item: Json) -> None:
    """Adds an item. A part of an existing message is added to it."""
    last = items[-1] if items else {}
    same = item.get("role") == last.get("role") == "assistant" and item.get("id") == last.get("id")
    if same and type(item["content"]) is type(last["content"]):
        items[-1] = {**last, "content": last["content"] + item["content"]}
    else:
        items.append(item)


# --- items that are sent back ----------------------------------------------------------------------------


#: Optional fields of an item, with their types. A field of another type is left out.
FIELDS: Mapping[str, Shape] = {
    "status": re.compile("completed|in_progress|incomplete"),
    "phase": (WORD, None),
    "namespace": str,
    "caller": ({"type": str}, None),
    "async": bool,
}
_TEXT = {"type": str, "text": str}
_CALL = {"id": WORD, "status": WORD}
NOTE = Tagged(
    {
        "url_citation": {"url": str, "title": str, "start_index": int, "end_index": int},
        "file_citation": {"file_id": str, "filename": str, "index": int},
        "container_file_citation": {
            "container_id": str,
            "file_id": str,
            "filename": str,
            "start_index": int,
            "end_index": int,
        },
        "file_path": {"file_id": str, "index": int},
    }
)
_PART = Tagged({"output_text": {"text": str, "annotations?": [NOTE]}, "refusal": {"refusal": str}})
_SEARCH = Tagged(
    {
        "search": {"query?": str, "queries?": [str], "sources?": [{"type": str, "url": str}]},
        "open_page": {"url?": str},
        "find_in_page": {"pattern": str, "url": str},
    }
)
_OUTPUT = Tagged({"logs": {"logs": str}, "image": {"url": str}})
_TOOL = {"name": str, "input_schema": dict, "description?": str}
_FOUND = {"file_id?": str, "filename?": str, "text?": str, "score?": (int, float), "attributes?": dict}
_FUNCTION = {"name": str, "parameters": dict, "strict": bool, "description?": str}
_LOADED = Tagged(
    {
        "function": _FUNCTION,
        "custom": {"name": str, "description?": str},
        "mcp": {"server_label": str},
        "namespace": {
            "name": str,
            "description": str,
            "tools": [Tagged({"function": {"name": str}, "custom": {"name": str}})],
        },
    }
)

ITEMS = Tagged(
    {
        "message": {"id?": WORD, "content": (str, [_PART]), "phase?": WORD},
        "reasoning": {"id?": WORD, "summary": [_TEXT], "content?": [_TEXT], "encrypted_content?": str},
        "function_call": {"call_id": WORD, "name": str, "arguments": str},
        "custom_tool_call": {"call_id": WORD, "name": str, "input": str},
        "web_search_call": {**_CALL, "action": _SEARCH},
        "file_search_call": {**_CALL, "queries": [str], "results?": [_FOUND]},
        "code_interpreter_call": {**_CALL, "container_id": str, "code?": str, "outputs?": [_OUTPUT]},
        "image_generation_call": {**_CALL, "result?": str},
        "computer_call": {**_CALL, "call_id": WORD, "pending_safety_checks": list, "action?": {"type": str}},
        "local_shell_call": {
            **_CALL,
            "call_id": WORD,
            "action": {"type": str, "command": [str], "env": dict},
        },
        "shell_call": {"call_id": WORD, "action": {"commands": [str]}},
        "shell_call_output": {
            "call_id": WORD,
            "output": [{"outcome": {"type": str}, "stdout": str, "stderr": str}],
        },
        "apply_patch_call": {"call_id": WORD, "status": WORD, "operation": {"type": str}},
        "mcp_call": {"id": WORD, "arguments": str, "name": str, "server_label": str, "output?": str},
        "mcp_list_tools": {"id": WORD, "server_label": str, "tools": [_TOOL], "error?": (str, dict)},
        "mcp_approval_request": {"id": WORD, "arguments": str, "name": str, "server_label": str},
        "tool_search_call": {"arguments?": object, "call_id?": str},
        "tool_search_output": {"tools": [_LOADED], "call_id?": str},
        "compaction": {"encrypted_content": str, "id?": WORD},
    }
)


def sent_back(contents: Sequence[ours.Content], wire: str) -> list[ours.Content]:
    """Returns the contents without incomplete items, and without unrun calls of client-side tools: `No tool output
    found for custom tool call …`.
    """
    items = [content.data for content in contents if isinstance(content, ours.ContentUnknown)]
    outputs = {str(item.get("call_id")) for item in items if str(item.get("type")).endswith("_output")}
    return [
        content
        for content in contents
        if not isinstance(content, ours.ContentUnknown)
        or content.wire != wire
        or (_ran(content.data, outputs) and legal(content.data, ITEMS, wire))
    ]


def _ran(item: Mapping[str, Any], outputs: set[str]) -> bool:
    from_us = str(item.get("type")) in OURS - {"function_call"}
    return not from_us or str(item.get("call_id")) in outputs
