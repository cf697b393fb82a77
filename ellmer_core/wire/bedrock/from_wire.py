"""Amazon Bedrock Converse, from the wire: the events of a stream as the answer they add up to, and an answer as a turn."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...contents.content import (
    Content,
    ContentImageInline,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    plain_text,
)
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..interfaces import CallPiece, Json, Merger, Piece
from ..shared import json_objects, tool_calls
from ..shared.content_parts import bedrock_citations, cited_before
from ..shared.endings_and_errors import Endings, answer, error_of, in_band_error
from ..shared.tool_calls import paired, provider_content, tool_input

if TYPE_CHECKING:
    from ...errors import ProviderError


# --- streams ---------------------------------------------------------------------------------------------


#: The HTTP status that an exception in a stream means (botocore: ConverseStreamOutput).
STATUS = {
    "validationException": 400,
    "modelTimeoutException": 408,
    "modelStreamErrorException": 424,
    "throttlingException": 429,
    "internalServerException": 500,
    "serviceUnavailableException": 503,
}


#: Kinds of block. A fragment of another kind says more about a block, not that it is another one.
KINDS = {"text", "reasoningContent", "toolUse", "toolResult", "image"}


class BedrockMerger(Merger):
    """The merger. It is complete at `messageStop`; the `metadata` come last."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._top: Json = {}
        self._blocks: dict[int, _Block] = {}
        self._calls: dict[str, _Block] = {}  # the first call of each tool

    @property
    def complete(self) -> bool:
        return "stopReason" in self._top

    def add(self, event: Any) -> Sequence[Piece]:
        match event:
            case {":exception": dict(exception)}:
                status = STATUS.get(str(exception.get("type")))
                raise in_band_error({"status_code": status, **exception} if status else exception)
            case {"messageStart": dict(start)}:
                self._message = _without_pad(start)
            case {"contentBlockStart": {"contentBlockIndex": index, "start": dict(start)}}:
                self._block(index).start(start)
                if isinstance(call := start.get("toolUse"), dict):
                    self._calls.setdefault(str(call.get("name")), self._block(index))
            case {"contentBlockDelta": {"contentBlockIndex": index, "delta": dict(delta)}}:
                return self._block(index).add(index, delta)
            case {"messageStop": dict(stop)}:
                self._top |= _without_pad(stop)
            case {"metadata": dict(metadata)}:
                self._top |= _without_pad(metadata)
                self.done = self.complete
        return ()

    def call_arguments(self, tool: str) -> Sequence[str]:
        return self._calls[tool].arguments() if tool in self._calls else ()

    def _block(self, index: int) -> _Block:
        return self._blocks.setdefault(index, _Block())

    def response(self) -> Json:
        content = [self._blocks[index].json() for index in sorted(self._blocks)]
        message = {"role": "assistant", **self._message, "content": content}
        return {**self._top, "output": {"message": message}}


class _Block:
    """One block: its first event, and the fragments that followed, by kind. Texts have no first event."""

    def __init__(self) -> None:
        self._kind = "text"
        self._start: Json = {}
        self._parts: dict[str, list[Any]] = {}

    def start(self, start: Json) -> None:
        for kind, value in start.items():
            self._kind, self._start = kind, dict(value)

    def add(self, index: int, delta: Json) -> Sequence[Piece]:
        shown: list[Piece] = []
        for kind, value in delta.items():
            if kind in KINDS or (kind != "citation" and not self._parts):
                self._kind = kind
            fields = value if kind in {"reasoningContent", "toolUse"} else {kind: value}
            for name, part in fields.items():
                self._parts.setdefault(name, []).append(part)
            if kind == "text" and value:
                shown.append(plain_text(value))
            elif kind == "reasoningContent" and value.get("text"):
                shown.append(ContentThinking(value["text"]))
            elif kind == "toolUse" and value.get("input"):
                id, name = self._start.get("toolUseId"), self._start.get("name")
                shown.append(CallPiece(index, str(id or ""), str(name or ""), value["input"]))
        return shown

    def arguments(self) -> Sequence[str]:
        """Returns the pieces of a call's input."""
        return self._parts.get("input", ())

    def json(self) -> Json:
        match self._kind:
            case "text" if "citation" in self._parts:
                content = [{"text": self._text("text")}]
                value: Any = {"content": content, "citations": self._parts["citation"]}
                return {"citationsContent": value}
            case "text":
                value = self._text("text")
            case "reasoningContent" if "redactedContent" in self._parts:
                value = {"redactedContent": _joined_base64(self._parts["redactedContent"])}
            case "reasoningContent":
                value = {"reasoningText": {name: self._text(name) for name in ("text", *self._parts)}}
            case "toolUse":
                value = {**self._start, "input": tool_input(self._text("input"))}
            case "toolResult":
                value = {
                    **self._start,
                    "content": [x for xs in self._parts.get("toolResult", ()) for x in xs],
                }
            case kind:
                parts = (self._start, *self._parts.get(kind, ()))
                value = {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
                value = value or self._text(kind)
        return {self._kind: value}

    def _text(self, name: str) -> str:
        return "".join(map(str, self._parts.get(name, ())))


def _without_pad(event: Json) -> Json:
    """Returns the event without `p`, a filler that hides its length on the network."""
    return {name: value for name, value in event.items() if name != "p"}


def _joined_base64(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else b64encode(b"".join(map(b64decode, parts))).decode()


# --- finish reasons --------------------------------------------------------------------------------------

ENDINGS = Endings(
    ("https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",),
    whole={"end_turn": "success", "tool_use": "tool_use", "stop_sequence": "stop_sequence"},
    cut={
        "max_tokens": "max_tokens",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
        "model_context_window_exceeded": "context_window",
        "malformed_tool_use": "error",
        "malformed_model_output": "error",
    },
)


# --- answers ---------------------------------------------------------------------------------------------


class BedrockResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        reason = response.get("stopReason")
        message = (response.get("output") or {}).get("message")
        if message is None and reason is None:
            raise in_band_error(response)
        blocks = (message or {}).get("content") or []
        whole = self.endings.is_whole(reason)
        contents = cited_before([self.block(block, cut=not whole) for block in blocks])
        return answer(
            tool_calls.distinct(paired(contents), response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(reason, contents),
            json=response,
        )

    def block(self, block: Json, *, cut: bool) -> Content:
        """Converts a block of the answer. In a truncated stream, `input` is a text."""
        content: Content = provider_content(self.name, block)
        match block:
            case {"text": str(text)}:
                content = ContentText(text)
            case {"toolUse": {"type": "server_tool_use", "input": input} as call}:
                whole = input if isinstance(input, dict) else {}
                content = provider_content(self.name, {"toolUse": {**call, "input": whole}})
            case {"toolUse": {"type": kind}} if kind not in {None, "tool_use"}:
                pass  # the call is unknown, so it is not run
            case {"toolUse": {"toolUseId": id, "name": name, "input": input}}:
                content = tool_calls.call_of(id, name, input, cut=cut)
            case {"reasoningContent": dict(thought)}:
                text = (thought.get("reasoningText") or {}).get("text") or ""
                content = ContentThinking(text, extra=self.own(block=block))
            case {"citationsContent": dict(cited_text)}:
                text = "".join(part.get("text") or "" for part in cited_text.get("content") or ())
                citations = bedrock_citations(cited_text.get("citations"))
                content = ContentText(text, extra=self.own(block=block), citations=citations)
            case {"image": {"format": str(kind), "source": {"bytes": str(data)}}}:
                content = ContentImageInline(f"image/{kind}", data)
        return content

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. `inputTokens` includes neither tokens that were read from the cache nor tokens written
        to it.
        """
        parts = [usage.get(k) for k in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")]
        return Tokens(
            input=None if parts[0] is None else sum(part or 0 for part in parts),
            output=usage.get("outputTokens"),
            cached=parts[1],
            cache_write=parts[2],
        )

    def finish_reason(self, reason: str | None, contents: Sequence[Content]) -> str | None:
        """Returns the neutral reason. If the only call was the structured data, the reason is a normal stop."""
        neutral = self.endings.neutral(reason)
        if neutral not in {"success", "tool_use"}:
            return neutral
        calls = any(isinstance(content, ContentToolRequest) for content in contents)
        return "tool_use" if calls else "success"

    def merger(self) -> BedrockMerger:
        return BedrockMerger()

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Returns the error. The body has only a message, and a header has the error's type."""
        error = error_of(status, headers, body)
        lower = {name.lower(): value for name, value in headers.items()}
        error.type = error.code = lower.get("x-amzn-errortype", "").partition(":")[0] or error.type
        error.request_id = lower.get("x-amzn-requestid") or error.request_id
        return error
