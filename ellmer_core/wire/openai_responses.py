"""OpenAI Responses, `POST {base_url}/responses`, stateless. https://platform.openai.com/docs/api-reference/responses

What the model produced goes back item by item, ids included, since a reasoning item and the item after it
belong together: `Item 'rs_…' of type 'reasoning' was provided without its required following item`. Where a
turn is no longer what the model produced (edited, cut off, from elsewhere), its items go without ids and its
reasoning stays here: neither half can then miss the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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
from ._openai_responses_stream import ResponsesMerger

if TYPE_CHECKING:
    from ..tools import ToolDef
    from ..types import Type

__all__ = ["OpenAIResponses"]

INCOMPLETE = {"max_output_tokens": "max_tokens", "content_filter": "content_filter"}

#: Models that reason, and so have something to encrypt; others refuse to be asked for it.
REASONING_MODELS = r"(?:.*/)?(?:o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat)|gpt-oss|codex)"

#: The fields that the counter of tokens takes (InputTokenCountParams).
COUNTED = (
    "conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning",
    "text", "tool_choice", "tools", "truncation",
)  # fmt: skip


@dataclass(frozen=True)
class OpenAIResponses(Wire):
    """The format itself, at any server that speaks it; nothing is stored there (`store: false`)."""

    name: ClassVar[str] = "openai-responses"
    vendor: ClassVar[str] = "OpenAI"
    default_model: ClassVar[str] = ""
    param_names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "max_tokens": "max_output_tokens",
        "top_logprobs": "top_logprobs",
        "reasoning_effort": "reasoning.effort",
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
        body: Json = {"model": self.model, "input": self.messages(turns), "store": False}
        if self.reasons():
            body["include"] = ["reasoning.encrypted_content"]
        if tools:
            body["tools"] = self.tools(tools)
        if type is not None:
            body["text"] = {"format": self.text_format(type)}
        if stream:
            body["stream"] = True
        return self.post(f"{self.base_url.rstrip('/')}/responses", body, stream=stream)

    def count_request(
        self, turns: Sequence[Turn], tools: Sequence[ToolDef] = (), *, type: Type | None = None
    ) -> Request:
        request = self.request(turns, tools, type=type)
        return replace(request, url=f"{request.url}/input_tokens", json=_shared.only(request.json, *COUNTED))

    def counted(self, response: Json) -> int:
        return int(response["input_tokens"])

    def reasons(self) -> bool:
        """Whether the model may be asked for its reasoning, encrypted, since the server keeps none of it."""
        return re.match(REASONING_MODELS, self.model) is not None

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        return [item for turn in turns for item in self.keep(turn, self.message)]

    def message(self, turn: Turn) -> list[Json]:
        match turn:
            case SystemTurn():
                return self.ours("system", turn.contents)
            case AssistantTurn():
                return self.assistant(turn)
            case _:
                results, rest = split(self.flat(turn.contents))
                # The order: one output item per result first, then one user message with the rest.
                return [*map(self.result, results), *self.ours("user", rest)]

    def ours(self, role: str, contents: Sequence[Content]) -> list[Json]:
        """One message item of ours; none where there is nothing to say."""
        parts = [self.content(c) for c in contents if _shared.sendable(c, self.name)]
        return [{"role": role, "content": parts}] if parts else []

    def result(self, result: ContentToolResult) -> Json:
        """A function_call_output item, with its media inside where `tool_media` is native. No error flag."""
        parts = _shared.result_parts(result) if self.tool_media == "native" else None
        output = list(map(self.content, parts)) if parts else result_text(result)
        call_id = self.call_id(_shared.answered(result).id)
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def assistant(self, turn: AssistantTurn) -> list[Json]:
        """The items of an answer. Text that another provider wrote stands before the calls: a message between
        two calls of a batch is refused by some (`No tool output found for tool call`, DeepSeek)."""
        contents = list(turn.contents)
        if not any(self.item_of(c) for c in contents):
            contents.sort(key=lambda content: isinstance(content, ContentToolRequest))
        whole = not isinstance(turn, AssistantPartialTurn) and self.is_whole(contents)
        items: list[Json] = []
        for content in contents:
            if item := self.item(content, whole=whole):
                _append(items, item)
        return items

    def item_of(self, content: Content) -> Mapping[str, Any]:
        """What the provider said of the item that a content comes from, its `id` above all."""
        if isinstance(content, ContentUnknown):
            return content.data if content.wire == self.name else {}
        own = self.issued(getattr(content, "extra", {})) or {}
        item: Mapping[str, Any] = own.get("item", {})
        return item

    def is_whole(self, contents: Sequence[Content]) -> bool:
        """Whether every reasoning item still has the item behind it that it came with."""
        for content, after in pairwise([*contents, ContentText("")]):
            if not isinstance(content, ContentThinking) or not self.item_of(content):
                continue
            if content.extra[self.name].get("before") != self.item_of(after).get("id"):
                return False
        return True

    def item(self, content: Content, *, whole: bool) -> Json | None:
        """One content as an item; `None` for what only another provider understands. `whole`: with its id."""
        own = {} if not whole else dict(self.item_of(content))
        item: Json | None = None
        match _shared.known(content, self.name):
            case ContentText() as said if said.text or own:
                item = self.model_message(said, own)
            case ContentThinking():
                item = own or None
            case ContentToolRequest() as call:
                item = self.call(call, own)
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                item = dict(data)
            case ContentImageInline(data=data) if own:
                item = {**own, "result": data}
            case ContentJson(value=value):
                item = self.model_message(ContentText(_shared.json_text(value)), {})
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                item = self.model_message(ContentText(_shared.placeholder(content)), {})
            case ContentToolResult():
                raise _shared.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown():
                pass
            case never:
                assert_never(never)
        return item

    def model_message(self, content: ContentText, own: Json) -> Json:
        """A message of the model with one part: in full where it has its id, else in short, plain text as a string."""
        part = (self.issued(content.extra) or {}).get("part", {})
        if "refusal" in part:
            part = {"type": "refusal", "refusal": content.text}
        elif part:
            part = {"type": "output_text", "text": content.text, **part}
        head = {"type": "message", **own} if own else {}
        return {**head, "role": "assistant", "content": [part] if part else content.text}

    def call(self, request: ContentToolRequest, own: Json) -> Json:
        """A function_call item, its arguments exactly as the model wrote them."""
        call = {"type": "function_call", "call_id": self.call_id(request.id), "name": request.name}
        return {**own, **call, "arguments": _shared.raw(request)}

    def call_id(self, id: str) -> str:
        """1 to 64 characters (openapi.yaml, FunctionCallOutputItemParam)."""
        return _shared.legal_id(id, r".{1,64}")

    def content(self, content: Content) -> Json:
        match _shared.known(content, self.name):
            case ContentText(text=text):
                part: Json = {"type": "input_text", "text": text}
            case ContentJson(value=value):
                part = {"type": "input_text", "text": _shared.json_text(value)}
            case ContentImageInline() as image:
                part = {"type": "input_image", "image_url": _shared.data_url(image)}
            case ContentImageRemote(url=url, detail=detail):
                part = {"type": "input_image", "image_url": url} | ({"detail": detail} if detail else {})
            case ContentPDF() as pdf:
                part = {"type": "input_file", "filename": pdf.filename, "file_data": _shared.data_url(pdf)}
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                part = {"type": "input_image" if type.startswith("image/") else "input_file", "file_id": uri}
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

    def tool(self, tool: ToolDef) -> Json:
        """A function. `strict` is always said: left out, it would be tried."""
        parameters, strict = _shared.strict_schema(tool.arguments)
        head = {"type": "function", "name": tool.name, "description": tool.description}
        return {**head, "parameters": parameters, "strict": strict}

    def text_format(self, type: Type) -> Json:
        """The parameter that asks for structured output."""
        schema, strict = _shared.strict_schema(type)
        return {"type": "json_schema", "name": "structured_data", "schema": schema, "strict": strict}

    def schema(self, type: Type) -> Json:
        return _shared.strict_schema(type)[0]

    # theirs → ours ----------------------------------------------------------------------------------------

    @_shared.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        output = response.get("output") or []
        reason = self.finish_reason(response)
        contents = [
            content
            for item, after in pairwise([*output, {}])
            for content in self.output(item, after, cut=reason in _shared.CUT and not after)
        ]
        return AssistantTurn(
            _shared.distinct(contents, response),
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=reason,
            json=response,
        )

    def output(self, item: Json, after: Json, *, cut: bool) -> Iterator[Content]:
        """The contents of one output item; `after` is the item behind it."""
        match item:
            case {"type": "message"}:
                yield from self.parts(item)
            case {"type": "reasoning"}:
                yield ContentThinking(_thought(item), extra=self.own(item=item, before=after.get("id")))
            case {"type": "function_call", "call_id": id, "name": name}:
                own = _shared.without(item, "call_id", "name", "arguments")
                yield _shared.call_of(id, name, item.get("arguments"), cut=cut, extra=self.own(item=own))
            case {"type": "image_generation_call", "result": str(data)} if data:
                type = f"image/{item.get('output_format', 'png')}"
                yield ContentImageInline(type, data, extra=self.own(item=_shared.without(item, "result")))
            case _:
                yield _shared.unknown(self.name, item)

    def parts(self, message: Json) -> Iterator[Content]:
        """The parts of a message, each with what it needs to become one again: the item's id, phase, status."""
        own = _shared.without(message, "content", "role", "type")
        for part in message.get("content") or ():
            match part:
                case {"type": "output_text", "text": str(text)}:
                    rest = _shared.without(part, "text", "type", "logprobs")
                    yield ContentText(text, extra=self.own(item=own, part=rest))
                case {"type": "refusal", "refusal": str(text)}:
                    yield ContentText(text, extra=self.own(item=own, part={"refusal": text}))
                case _:
                    yield ContentUnknown(
                        self.name, {"type": "message", "role": "assistant", "content": [part]}
                    )

    def tokens(self, usage: Json) -> Tokens:
        """Usage; cached tokens are part of the input, reasoning of the output."""
        ins, outs = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
        return Tokens(
            input=usage.get("input_tokens"),
            output=usage.get("output_tokens"),
            cached=ins.get("cached_tokens"),
            cache_write=ins.get("cache_write_tokens"),
            reasoning=outs.get("reasoning_tokens"),
        )

    def finish_reason(self, response: Json) -> str | None:
        """The format has a status and no reason; what was completed tells the rest."""
        match response.get("status"):
            case "incomplete":
                reason = (response.get("incomplete_details") or {}).get("reason") or "incomplete"
                return INCOMPLETE.get(reason, reason)
            case "completed":
                return self._completed(response.get("output") or [])
            case "in_progress" | "queued" | None:
                return None
            case other:
                return str(other)

    def _completed(self, output: list[Json]) -> str:
        kinds = {item.get("type") for item in output}
        kinds |= {part.get("type") for item in output for part in item.get("content") or ()}
        if "function_call" in kinds:
            return "tool_use"
        return "content_filter" if "refusal" in kinds else "success"

    def merger(self) -> ResponsesMerger:
        return ResponsesMerger()


def _thought(item: Json) -> str:
    """The summary's paragraphs; where there is none, the reasoning itself, as open models give it."""
    parts = item.get("summary") or item.get("content") or []
    return "\n\n".join(part.get("text") or "" for part in parts)


def _append(items: list[Json], item: Json) -> None:
    """Adds an item; a part of the message that is already there joins it."""
    last = items[-1] if items else {}
    same = item.get("role") == last.get("role") == "assistant" and item.get("id") == last.get("id")
    if same and type(item["content"]) is type(last["content"]):
        items[-1] = {**last, "content": last["content"] + item["content"]}
    else:
        items.append(item)
