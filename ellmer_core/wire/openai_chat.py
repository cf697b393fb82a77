"""OpenAI Chat Completions, `POST {base_url}/chat/completions`, and what other servers add to it.

https://platform.openai.com/docs/api-reference/chat. OpenAI's own format has no reasoning in it; the fields
that vendors add (`reasoning_content`, `reasoning`, `reasoning_details`, thinking chunks in the content) are
read here, and go back as they came to the vendor they came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from . import Json, Merger, Request, Wire, _shared
from ._errors import in_band_error
from ._openai_chat_stream import ChatMerger

if TYPE_CHECKING:
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["OpenAIChat"]

#: Where vendors put reasoning, the most readable first.
REASONING = ("reasoning_content", "reasoning", "reasoning_details")

FINISH = {
    "stop": "success",
    "eos": "success",
    "tool_calls": "tool_use",
    "tool_call": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "model_length": "context_window",
    "content_filter": "content_filter",
}


@dataclass(frozen=True)
class OpenAIChat(Wire):
    """The format itself, at any server that speaks it."""

    name: ClassVar[str] = "openai-chat"
    vendor: ClassVar[str] = "OpenAI-compatible"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "frequency_penalty": "frequency_penalty",
        "presence_penalty": "presence_penalty",
        "seed": "seed",
        "max_tokens": "max_completion_tokens",
        "stop_sequences": "stop",
        "log_probs": "logprobs",
        "top_logprobs": "top_logprobs",
        "reasoning_effort": "reasoning_effort",
        "tool_choice": "tool_choice",
        "parallel_tool_calls": "parallel_tool_calls",
    }

    base_url: str = "https://api.openai.com/v1"

    # ours → theirs ----------------------------------------------------------------------------------------

    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        body: Json = {"model": self.model, "messages": self.messages(turns)}
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["response_format"] = self.response_format(type)
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return self.post(f"{self.base_url.rstrip('/')}/chat/completions", body, stream=stream)

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        return [message for turn in turns for message in self.keep(turn, self.message)]

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return self.system(turn)
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one tool message per result, all of them before one user message with the rest.
                return [*map(self.result, results), *self.user(rest)]

    def system(self, turn: SystemTurn) -> list[Json]:
        """The system prompt; none where it is empty."""
        text = "\n\n".join(c.text for c in turn.contents if isinstance(c, ContentText) and c.text)
        return [{"role": "system", "content": text}] if text else []

    def user(self, contents: Sequence[Content]) -> list[Json]:
        """One user message; none where there is nothing to say."""
        parts = [self.content(c) for c in contents if _shared.sendable(c, self.name)]
        return [{"role": "user", "content": _plain(parts) if len(parts) == 1 else parts}] if parts else []

    def result(self, result: ContentToolResult) -> Json:
        """A tool message. The format has no error flag: the text says it."""
        parts = _shared.result_parts(result) if self.tool_media == "native" else None
        content = list(map(self.content, parts)) if parts else result_text(result)
        return {"role": "tool", "tool_call_id": self.call_id(_shared.answered(result).id), "content": content}

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """What the model said and called; nothing, where it did neither."""
        thinks = not isinstance(turn, AssistantPartialTurn)
        contents = [c for c in turn.contents if thinks or not isinstance(c, ContentThinking)]
        fields = {name: value for c in contents for name, value in self.fields(c).items()}
        parts = [part for c in contents if (part := self.said(c))]
        calls = [self.call(c) for c in contents if isinstance(c, ContentToolRequest)]
        if not parts and not calls and "refusal" not in fields:
            return []
        message = {"role": "assistant", "content": _plain(parts), **fields}
        return [message | {"tool_calls": calls} if calls else message]

    def said(self, content: Content) -> Json | None:
        """A part of an assistant message's content; `None` for what goes elsewhere, or to another provider only."""
        part: Json | None = None
        match _shared.known(content, self.name):
            case ContentText(text=text) if text and "refusal" not in self.fields(content):
                part = {"type": "text", "text": text}
            case ContentThinking(extra=extra):
                part = (self.issued(extra) or {}).get("part")
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                part = dict(data)
            case ContentJson():
                part = self.content(content)
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                part = {"type": "text", "text": _shared.placeholder(content)}  # the role takes text only
            case ContentToolResult():
                raise _shared.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown() | ContentToolRequest():
                pass
            case never:
                assert_never(never)
        return part

    def fields(self, content: Content) -> Json:
        """What a content adds to its assistant message beside the words: reasoning, a refusal, annotations."""
        if isinstance(content, (ContentThinking, ContentText)):
            return dict((self.issued(content.extra) or {}).get("fields", {}))
        return {}

    def call(self, request: ContentToolRequest) -> Json:
        """A tool call, its arguments exactly as the model wrote them."""
        own = self.issued(request.extra) or {}
        kind, key = ("custom", "input") if own.get("type") == "custom" else ("function", "arguments")
        call = {
            "id": self.call_id(request.id),
            "type": kind,
            kind: {"name": request.name, key: _shared.raw(request)},
        }
        return {**call, **own.get("fields", {})}

    def call_id(self, id: str) -> str:
        """At most 40 characters: `Invalid 'messages[2].tool_calls[0].id': string too long` (vercel/ai#5171)."""
        return _shared.legal_id(id, r".{1,40}")

    def content(self, content: Content) -> Json:
        match _shared.known(content, self.name):
            case ContentText(text=text):
                block: Json = {"type": "text", "text": text}
            case ContentJson(value=value):
                block = {"type": "text", "text": _shared.json_text(value)}
            case ContentImageInline() as image:
                block = {"type": "image_url", "image_url": {"url": _shared.data_url(image)}}
            case ContentImageRemote(url=url, detail=detail):
                block = {
                    "type": "image_url",
                    "image_url": {"url": url} | ({"detail": detail} if detail else {}),
                }
            case ContentPDF() as pdf:
                block = {
                    "type": "file",
                    "file": {"filename": pdf.filename, "file_data": _shared.data_url(pdf)},
                }
            case ContentUploaded(uri=uri, wire=self.name):
                block = {"type": "file", "file": {"file_id": uri}}
            case ContentUnknown(wire=self.name, data=data):
                block = dict(data)
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
        return block

    def tool(self, tool: ToolDef) -> Json:
        parameters, strict = _shared.strict_schema(tool.arguments)
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
            "strict": strict,
        }
        return {"type": "function", "function": function}

    def response_format(self, type: Type) -> Json:
        """The parameter that asks for structured output."""
        schema, strict = _shared.strict_schema(type)
        return {
            "type": "json_schema",
            "json_schema": {"name": "structured_data", "schema": schema, "strict": strict},
        }

    def schema(self, type: Type) -> Json:
        return _shared.strict_schema(type)[0]

    # theirs → ours ----------------------------------------------------------------------------------------

    @_shared.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        choice = (response.get("choices") or [{}])[0]
        if choice.get("error") or choice.get("finish_reason") == "error":
            raise in_band_error(choice)
        message = choice.get("message") or {}
        reason = choice.get("finish_reason")
        contents = [*self.thought(message), *self.text(message), *self.calls(message, reason)]
        return AssistantTurn(
            _shared.distinct(contents, response),
            tokens=self.tokens(response),
            finish_reason=self.finish_reason(reason, message),
            json=response,
        )

    def thought(self, message: Json) -> Iterator[ContentThinking]:
        """Reasoning beside the content. Some vendors say it twice, under two names; both go back."""
        fields = {name: message[name] for name in REASONING if message.get(name)}
        if fields:
            texts = (_reasoning_text(value) for value in fields.values())
            yield ContentThinking(next(filter(None, texts), ""), extra=self.own(fields=fields))

    def text(self, message: Json) -> Iterator[Content]:
        """The content, whole or in parts, and what came instead of it: a refusal, a voice, images."""
        extra = self.own(fields={"annotations": message["annotations"]}) if message.get("annotations") else {}
        match message.get("content"):
            case str(text) if text:
                yield ContentText(text, extra=extra)
            case list(parts):
                for part in parts:
                    yield from self.part(part)
            case dict(value):  # Cloudflare parses the JSON it was asked for
                yield ContentText(_shared.json_text(value), extra=extra)
        if message.get("refusal"):
            yield ContentText(message["refusal"], extra=self.own(fields={"refusal": message["refusal"]}))
        if message.get("audio"):
            yield ContentText(message["audio"].get("transcript") or "")
        for image in message.get("images") or ():
            yield from self.part(image)

    def part(self, part: Json) -> Iterator[Content]:
        """One part of a content list."""
        match part:
            case {"type": "text", "text": str(text)}:
                yield ContentText(text)
            case {"type": "thinking", "thinking": thinking}:
                yield ContentThinking(_reasoning_text(thinking), extra=self.own(part=part))
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield _shared.image(url)
            case _:
                yield _shared.unknown(self.name, part)

    def calls(self, message: Json, reason: str | None) -> Iterator[ContentToolRequest]:
        """The tool calls. The last one of an answer that was cut short may be cut short itself."""
        calls = message.get("tool_calls") or []
        calls = [calls] if isinstance(calls, dict) else calls
        if message.get("function_call"):
            calls = [*calls, {"function": message["function_call"]}]
        cut = FINISH.get(reason or "") in _shared.CUT
        for call in calls:
            yield self.tool_request(call, cut=cut and call is calls[-1])

    def tool_request(self, call: Json, *, cut: bool) -> ContentToolRequest:
        """One tool call; a custom tool's input is text, which no tool of ours takes."""
        kind = "custom" if call.get("custom") else "function"
        body = call.get(kind) or {}
        rest = _shared.without(call, "id", "index", "type", kind)
        own = ({"type": kind} if kind == "custom" else {}) | ({"fields": rest} if rest else {})
        return _shared.call_of(
            call.get("id") or "",
            body.get("name") or "",
            body.get("arguments", body.get("input")),
            cut=cut,
            extra=self.own(**own) if own else {},
        )

    def tokens(self, response: Json) -> Tokens:
        """Usage, also where Groq and Moonshot put it. Where the total counts reasoning on top of the completion
        (xAI), so do we."""
        beside = [response, response.get("x_groq") or {}, *(response.get("choices") or ())]
        usage: Json = next((place["usage"] for place in beside if place.get("usage")), {})
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        ins, outs = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
        reasoning = outs.get("reasoning_tokens", usage.get("reasoning_tokens"))
        if (
            reasoning
            and completion is not None
            and usage.get("total_tokens") == (prompt or 0) + completion + reasoning
        ):
            completion += reasoning
        return Tokens(
            input=prompt,
            output=completion,
            cached=ins.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
            cache_write=ins.get("cache_write_tokens"),
            reasoning=reasoning,
        )

    def finish_reason(self, reason: str | None, message: Json) -> str | None:
        """The neutral word; a stop with calls is a stop for them, one with a refusal is a filter's."""
        neutral = FINISH.get(reason, reason) if reason else None
        if neutral != "success":
            return neutral
        if message.get("refusal"):
            return "content_filter"
        return "tool_use" if message.get("tool_calls") or message.get("function_call") else neutral

    def merger(self) -> Merger:
        return ChatMerger()


def _plain(parts: list[Json]) -> str | list[Json] | None:
    """Text parts alone as the string that every server takes; `None` for nothing."""
    if all(part.get("type") == "text" for part in parts):
        return "".join(part["text"] for part in parts) or None
    return parts


def _reasoning_text(value: Any) -> str:
    """The words of reasoning: a string, or a list of chunks with `text` or `summary` in them."""
    if isinstance(value, list):
        return "".join(_reasoning_text(chunk) for chunk in value)
    if isinstance(value, Mapping):
        return _reasoning_text(value.get("text") or value.get("summary") or "")
    return value if isinstance(value, str) else ""
