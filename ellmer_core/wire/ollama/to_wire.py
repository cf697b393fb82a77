"""Ollama, requests: converts one content at a time to text, or to images beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, assert_never

from ...contents import content as ours
from ...contents.turns import AssistantTurn, SystemTurn, Turn
from ...tools.results import result_parts, result_text, split
from ..interfaces import Json, Request, Supports
from ..shared import content_parts, json_objects, schemas
from .from_wire import OllamaResponse

if TYPE_CHECKING:
    from ...schemas.type_functions import Type


@dataclass(frozen=True, eq=False, repr=False)
class OllamaChat(OllamaResponse):
    """The wire format of Ollama's chat API."""

    name: ClassVar[str] = "ollama"
    provider: ClassVar[str] = "Ollama"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "options.temperature",
        "top_p": "options.top_p",
        "top_k": "options.top_k",
        "frequency_penalty": "options.frequency_penalty",
        "presence_penalty": "options.presence_penalty",
        "seed": "options.seed",
        "max_tokens": "options.num_predict",
        "stop_sequences": "options.stop",
        "log_probs": "logprobs",
        "top_logprobs": "top_logprobs",
        "reasoning_effort": "think",
    }

    supports: ClassVar[Supports] = Supports(pdfs=False)
    fetches: ClassVar[tuple[str, ...]] = ()

    models_path: ClassVar[str] = "/api/tags"

    base_url: str = "http://localhost:11434"

    # requests -------------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "messages": self.messages(turns), "stream": stream}
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["format"] = self.schema(type)
        request = self.post(f"{self.base_url.rstrip('/')}/api/chat", body, stream=stream)
        return replace(request, framing="ndjson")

    def parameters(self) -> Json:
        """Returns the parameters. `think` is a level, or False."""
        body = super().parameters()
        return {**body, "think": False} if body.get("think") == "none" else body

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                text = "\n\n".join(
                    c.text for c in turn.contents if isinstance(c, ours.ContentText) and c.text
                )
                return [{"role": "system", "content": text}] if text else []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one tool message per result, all of them before what the user says.
                return [*map(self.result, results), *self.user(rest)]

    def user(self, contents: Sequence[ours.Content]) -> list[Json]:
        """Returns user messages. The server shows a message's images before its text, so an image starts a new
        message.
        """
        messages: list[Json] = []
        for part in (self.content(c) for c in contents if content_parts.sendable(c, self.name)):
            last = messages[-1] if messages else None
            if last is None or ("images" in part and last["content"]):
                messages.append({"role": "user", "content": "", **part})
            elif "images" in part:
                last["images"] = [*last["images"], *part["images"]]
            else:
                last["content"] += f"\n\n{part['content']}" if last["content"] else part["content"]
        return messages

    def result(self, result: ours.ContentToolResult) -> Json:
        """Returns a tool message, with its images beside the text if `tool_media` is native."""
        request = content_parts.request_of(result)
        parts = result_parts(result) if self.tool_media == "native" else None
        parts_sent = [self.content(part) for part in parts or ()]
        images = [image for part in parts_sent for image in part.get("images", ())]
        text = "\n\n".join(part["content"] for part in parts_sent if "content" in part)
        message: Json = {"role": "tool", "content": text if images else result_text(result)}
        message |= {"tool_name": request.name, "tool_call_id": self.call_id(request.id)}
        return message | {"images": images} if images else message

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """Returns the model's text, thoughts and calls in one message, or nothing if there are none."""
        thinks = not turn.lost
        contents = [c for c in turn.contents if thinks or not isinstance(c, ours.ContentThinking)]
        text = "".join(part for c in contents if (part := self.assistant_part(c)))
        message: Json = {"role": "assistant", "content": text}
        thoughts = [c for c in contents if isinstance(c, ours.ContentThinking)]
        if thought := "".join(c.thinking for c in thoughts if self.issued(c.extra) is not None):
            message["thinking"] = thought
        if calls := [self.call(c) for c in contents if isinstance(c, ours.ContentToolRequest)]:
            message["tool_calls"] = calls
        return [message] if text or calls else []

    def tool(self, tool: ours.ToolDef) -> Json:
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": self.schema(tool.arguments),
        }
        return {"type": "function", "function": function}

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - there is no tool_choice
        return {}

    def schema(self, type: Type) -> Json:
        return schemas.json_schema(type)

    # contents -------------------------------------------------------------------------------------------

    def assistant_part(self, content: ours.Content) -> str:
        """Returns the text that a content adds to an assistant message."""
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                return text
            case ours.ContentJson(value=value):
                return json_objects.json_text(value)
            case (
                ours.ContentImageInline()
                | ours.ContentImageRemote()
                | ours.ContentPDF()
                | ours.ContentFile()
                | ours.ContentUploaded()
            ):
                return content_parts.placeholder(content)  # the role takes text only
            case ours.ContentCitation():
                raise content_parts.refused(content, self.name)
            case ours.ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ours.ContentThinking() | ours.ContentToolRequest() | ours.ContentUnknown():
                return ""
            case never:
                assert_never(never)

    def call(self, request: ours.ContentToolRequest) -> Json:
        """Returns a tool call."""
        function = {"name": request.name, "arguments": dict(request.arguments)}
        return {"id": self.call_id(request.id), "function": function}

    def content(self, content: ours.Content) -> Json:
        """Returns fields of a message: its `content`, or its `images`."""
        match content_parts.supported(content, self.name):
            case ours.ContentText(text=text):
                return {"content": text}
            case ours.ContentFile() as file:
                return {"content": content_parts.placeholder(file)}
            case ours.ContentJson(value=value):
                return {"content": json_objects.json_text(value)}
            case ours.ContentImageInline(data=data):
                return {"images": [data]}
            case ours.ContentImageRemote(url=url):
                raise content_parts.refused(
                    content, self.name, f"Ollama does not fetch URLs; send the bytes of {url} instead"
                )
            case (
                ours.ContentPDF()
                | ours.ContentUploaded()
                | ours.ContentUnknown()
                | ours.ContentThinking()
                | ours.ContentToolRequest()
                | ours.ContentToolResult()
                | ours.ContentCitation()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
