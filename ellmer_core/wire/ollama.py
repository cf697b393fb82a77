"""Ollama's own chat, `POST {base_url}/api/chat`. https://docs.ollama.com/api/chat

Arguments are objects, content is one string, images stand beside it. The server checks no ids and pairs nothing;
`tool_name` is what most of its templates show the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from . import Json, Merger, Request, Supports, Wire, _shared
from ._errors import error_of, in_band_error

if TYPE_CHECKING:
    from ..errors import ProviderError
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["OllamaChat"]

FINISH = {"stop": "success", "length": "max_tokens"}


@dataclass(frozen=True)
class OllamaChat(Wire):
    """The format itself."""

    name: ClassVar[str] = "ollama"
    vendor: ClassVar[str] = "Ollama"
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

    models_path: ClassVar[str] = "/api/tags"

    base_url: str = "http://localhost:11434"

    # ours → theirs ----------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
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
        """`think` is a level, or no thinking at all."""
        body = super().parameters()
        return {**body, "think": False} if body.get("think") == "none" else body

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        return [message for turn in turns for message in self.keep(turn, self.message)]

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                text = "\n\n".join(c.text for c in turn.contents if isinstance(c, ContentText) and c.text)
                return [{"role": "system", "content": text}] if text else []
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one tool message per result, all of them before what the user says.
                return [*map(self.result, results), *self.user(rest)]

    def user(self, contents: Sequence[Content]) -> list[Json]:
        """User messages. The server shows a message's images before its text: so an image starts a message."""
        messages: list[Json] = []
        for part in (self.content(c) for c in contents if _shared.sendable(c, self.name)):
            last = messages[-1] if messages else None
            if last is None or ("images" in part and last["content"]):
                messages.append({"role": "user", "content": "", **part})
            elif "images" in part:
                last["images"] = [*last["images"], *part["images"]]
            else:
                last["content"] += f"\n\n{part['content']}" if last["content"] else part["content"]
        return messages

    def result(self, result: ContentToolResult) -> Json:
        """A tool message, with its images beside the text where `tool_media` is native."""
        request = _shared.answered(result)
        parts = _shared.result_parts(result) if self.tool_media == "native" else None
        said = [self.content(part) for part in parts or ()]
        images = [image for part in said for image in part.get("images", ())]
        text = "\n\n".join(part["content"] for part in said if "content" in part)
        message: Json = {"role": "tool", "content": text if images else result_text(result)}
        message |= {"tool_name": request.name, "tool_call_id": self.call_id(request.id)}
        return message | {"images": images} if images else message

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """What the model said, thought and called, in one message; nothing, where it did neither."""
        thinks = not isinstance(turn, AssistantPartialTurn)
        contents = [c for c in turn.contents if thinks or not isinstance(c, ContentThinking)]
        text = "".join(part for c in contents if (part := self.said(c)))
        message: Json = {"role": "assistant", "content": text}
        thoughts = [c for c in contents if isinstance(c, ContentThinking)]
        if thought := "".join(c.thinking for c in thoughts if self.issued(c.extra) is not None):
            message["thinking"] = thought
        if calls := [self.call(c) for c in contents if isinstance(c, ContentToolRequest)]:
            message["tool_calls"] = calls
        return [message] if text or calls else []

    def said(self, content: Content) -> str:
        """What a content adds to the text of an assistant message."""
        match _shared.known(content, self.name):
            case ContentText(text=text):
                return text
            case ContentJson(value=value):
                return _shared.json_text(value)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                return _shared.placeholder(content)  # the role takes text only
            case ContentToolResult():
                raise _shared.refused(content, self.name, "only a user turn holds results")
            case ContentThinking() | ContentToolRequest() | ContentUnknown():
                return ""
            case never:
                assert_never(never)

    def call(self, request: ContentToolRequest) -> Json:
        """A tool call."""
        function = {"name": request.name, "arguments": dict(request.arguments)}
        return {"id": self.call_id(request.id), "function": function}

    def content(self, content: Content) -> Json:
        """A part of a message: its `content`, or its `images`."""
        match _shared.known(content, self.name):
            case ContentText(text=text):
                return {"content": text}
            case ContentJson(value=value):
                return {"content": _shared.json_text(value)}
            case ContentImageInline(data=data):
                return {"images": [data]}
            case ContentImageRemote(url=url):
                raise _shared.refused(
                    content, self.name, f"Ollama fetches no URL; send the bytes of {url} instead"
                )
            case (
                ContentPDF()
                | ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise _shared.refused(content, self.name)
            case never:
                assert_never(never)

    def tool(self, tool: ToolDef) -> Json:
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": self.schema(tool.arguments),
        }
        return {"type": "function", "function": function}

    def schema(self, type: Type) -> Json:
        return _shared.json_schema(type)

    # theirs → ours ----------------------------------------------------------------------------------------

    @_shared.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        message, reason = response.get("message") or {}, response.get("done_reason")
        contents = list(self.contents(message, cut=FINISH.get(reason or "") in _shared.CUT))
        return AssistantTurn(
            _shared.distinct(contents, response),
            tokens=self.tokens(response),
            finish_reason=self.finish_reason(reason, message),
            json=response,
        )

    def contents(self, message: Json, *, cut: bool) -> Iterator[Content]:
        """What the message holds. Old servers give calls no id."""
        if message.get("thinking"):
            yield ContentThinking(message["thinking"], extra=self.own())
        if message.get("content"):
            yield ContentText(message["content"])
        calls = message.get("tool_calls") or []
        for call in calls:
            function = call.get("function") or {}
            last = call is calls[-1]
            yield _shared.call_of(
                call.get("id") or "", function.get("name") or "", function.get("arguments"), cut=cut and last
            )

    def tokens(self, response: Json) -> Tokens:
        """Usage. The server leaves a count of 0 out (a prompt it had in its cache, say)."""
        counted = response.keys() & {"prompt_eval_count", "eval_count", "total_duration"}
        none = 0 if counted else None
        return Tokens(response.get("prompt_eval_count", none), response.get("eval_count", none))

    def finish_reason(self, reason: str | None, message: Json) -> str | None:
        """The neutral word; a stop with calls is a stop for them."""
        neutral = FINISH.get(reason, reason) if reason else None
        return "tool_use" if message.get("tool_calls") and neutral == "success" else neutral

    def merger(self) -> OllamaMerger:
        return OllamaMerger()

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        return error_of(status, headers, body)


class OllamaMerger(Merger):
    """The fold of a stream's lines: text and thinking in pieces, calls whole. Complete at the line that says so."""

    def __init__(self) -> None:
        self._last: Json = {}
        self._message: Json = {"role": "assistant"}
        self._texts: dict[str, list[str]] = {"content": [], "thinking": []}
        self._lists: dict[str, list[Any]] = {}

    @property
    def complete(self) -> bool:
        return bool(self._last.get("done"))

    @property
    def done(self) -> bool:
        return self.complete

    @_shared.sensible
    def add(self, event: Any) -> Sequence[Content]:
        if not isinstance(event, dict):
            return ()
        if event.get("error"):
            raise in_band_error(event)
        self._last |= event
        if event.get("logprobs"):
            self._lists.setdefault("logprobs", []).extend(event["logprobs"])
        shown: list[Content] = []
        for name, value in (event.get("message") or {}).items():
            if name in self._texts and value:
                self._texts[name].append(value)
                shown.append(ContentThinking(value) if name == "thinking" else ContentText(value))
            elif isinstance(value, list):
                self._message[name] = [*self._message.get(name, ()), *value]
            elif value and name not in self._texts:
                self._message[name] = value
        return shown

    def response(self) -> Json:
        texts = {name: "".join(parts) for name, parts in self._texts.items() if parts or name == "content"}
        return {**self._last, **self._lists, "message": {**self._message, **texts}}
