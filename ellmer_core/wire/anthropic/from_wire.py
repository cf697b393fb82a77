"""Anthropic Messages, from the wire: the events of a stream as the answer they add up to, and an answer as a turn."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar

from ...contents.content import Content, ContentText, ContentThinking, ContentUnknown, plain_text
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..interfaces import CallPiece, Json, Merger, Piece
from ..shared import content_parts, json_objects, tool_calls
from ..shared.content_parts import anthropic_citations
from ..shared.endings_and_errors import Endings, answer, in_band_error
from ..shared.json_objects import json_text
from ..shared.tool_calls import paired, tool_input

# --- streams ---------------------------------------------------------------------------------------------


class AnthropicMerger(Merger):
    """The merger. It is complete at `message_stop`. It ignores `ping` and unknown events."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._blocks: dict[int, _Block] = {}
        self._calls: dict[str, _Block] = {}  # the first call of each tool

    @property
    def complete(self) -> bool:
        return self.done

    def add(self, event: Any) -> Sequence[Piece]:
        if not isinstance(event, dict):
            return ()
        match event.get("type"):
            case "content_block_delta":
                return self._delta(event.get("index", 0), self._block(event), event.get("delta") or {})
            case "content_block_start":
                return self._start(self._block(event), event.get("content_block") or {})
            case "message_start":
                self._message = deepcopy(event.get("message") or {})
            case "message_delta":
                self._end(event)
            case "message_stop":
                self.done = True
            case _ if event.get("error"):
                raise in_band_error(event)
        return ()

    def call_arguments(self, tool: str) -> Sequence[str]:
        return self._calls[tool].arguments() if tool in self._calls else ()

    def _delta(self, index: int, block: _Block, delta: Json) -> Sequence[Piece]:
        shown = block.add(delta)
        text = delta.get("partial_json")
        if text and isinstance(text, str) and block.is_call:
            return (CallPiece(index, *block.called, text),)
        return shown

    def _start(self, block: _Block, content: Json) -> Sequence[Content]:
        if content.get("type") == "tool_use":
            self._calls.setdefault(str(content.get("name")), block)
        return block.start(content)

    def _block(self, event: Json) -> _Block:
        return self._blocks.setdefault(event.get("index", 0), _Block())

    def _end(self, event: Json) -> None:
        """Stores values from the end of the stream. Usage is cumulative: it replaces the counts of `message_start`."""
        counts = {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
        self._message |= {k: v for k, v in event.items() if k not in {"type", "delta", "usage"}}
        self._message |= event.get("delta") or {}
        usage: Json = self._message.get("usage") or {}
        usage |= counts
        self._message["usage"] = usage

    def response(self) -> Json:
        blocks = [self._blocks[index].json() for index in sorted(self._blocks)]
        content = [*(self._message.get("content") or ()), *blocks]
        return {"type": "message", "role": "assistant", **self._message, "content": content}


_FIELD_OF = {"partial_json": "input", "citation": "citations"}
#: The fields that deltas of these block kinds may extend. For other kinds, any field.
_DELTAS = {
    "text": ("text", "citations"),
    "thinking": ("thinking", "signature"),
    "tool_use": ("input",),
    "server_tool_use": ("input",),
    "mcp_tool_use": ("input",),
}


class _Block:
    """One block: its first event, and for each text field the fragments that followed."""

    def __init__(self) -> None:
        self._start: Json = {}
        self._input: Sequence[str] = ()  # of the first event
        self._parts: dict[str, list[Any]] = {}

    def start(self, block: Json) -> Sequence[Content]:
        self._start = deepcopy(block)
        self._input = [json_text(whole)] if (whole := block.get("input")) else ()
        kind = block.get("type", "")
        return _shown(kind, block.get(kind))

    def add(self, delta: Json) -> Sequence[Content]:
        shown: Sequence[Content] = ()
        for name, value in delta.items():
            if name != "type" and value:
                self._parts.setdefault(_FIELD_OF.get(name, name), []).append(value)
                shown = shown or _shown(name, value)
        if "type" not in self._start:  # the start was lost; the delta's name tells
            self._start["type"] = str(delta.get("type", "")).removesuffix("_delta")
        return shown

    @property
    def is_call(self) -> bool:
        return self._start.get("type") == "tool_use"

    @property
    def called(self) -> tuple[str, str]:
        """The id of a call, and its tool."""
        return str(self._start.get("id") or ""), str(self._start.get("name") or "")

    def arguments(self) -> Sequence[str]:
        """Returns the pieces of a call's input. It may be whole in the first event."""
        return self._parts.get("input") or self._input

    def json(self) -> Json:
        block = dict(self._start)
        takes = _DELTAS.get(str(block.get("type")), self._parts)
        for name, parts in self._parts.items():
            if name not in takes:
                continue
            if name == "input":
                block[name] = tool_input("".join(parts))
            elif all(isinstance(part, str) for part in parts):
                block[name] = (block.get(name) or "") + "".join(parts)
            else:
                block[name] = [*(block.get(name) or []), *parts]
        return block


def _shown(name: str, value: Any) -> Sequence[Content]:
    if name == "text" and value:
        return (plain_text(value),)
    return (ContentThinking(value),) if name == "thinking" and value else ()


# --- finish reasons --------------------------------------------------------------------------------------

ENDINGS = Endings(
    ("https://docs.claude.com/en/api/handling-stop-reasons",),
    whole={
        "end_turn": "success",
        "tool_use": "tool_use",
        "stop_sequence": "stop_sequence",
        "pause_turn": "pause_turn",  # the server continues if the answer is sent back unchanged
    },
    cut={
        "max_tokens": "max_tokens",
        "refusal": "content_filter",
        "model_context_window_exceeded": "context_window",
    },
)


# --- answers ---------------------------------------------------------------------------------------------


#: https://docs.claude.com/en/docs/build-with-claude/handling-stop-reasons#pause-turn
PAUSE = "pause_turn"


class AnthropicResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        reason = response.get("stop_reason")
        blocks = response.get("content") or []
        whole = self.endings.is_whole(reason)
        shown = [block for block in blocks if block.get("type") != "text" or block.get("text")]
        contents = [self.block(block, cut=not whole) for block in shown]
        return answer(
            tool_calls.distinct(paired(contents), response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(reason, blocks),
            json=response,
        )

    def block(self, block: Json, *, cut: bool) -> Content:
        """Converts a block of the answer. In a truncated stream, `input` is a text."""
        match block:
            case {"type": "text", "text": str(text)}:
                citations = [
                    json_objects.without(citation, "file_id") for citation in block.get("citations") or ()
                ]
                extra = self.own(fields={"citations": citations}) if citations else {}
                return ContentText(text, extra=extra, citations=anthropic_citations(citations))
            case {"type": "thinking"} | {"type": "redacted_thinking"}:
                return ContentThinking(block.get("thinking") or "", extra=self.own(block=block))
            case {"type": "tool_use", "id": id, "name": name}:
                rest = json_objects.without(block, "type", "id", "name", "input")
                extra = self.own(fields=rest) if rest else {}
                return tool_calls.call_of(id, name, block.get("input"), cut=cut, extra=extra)
            case {"input": str()}:
                return content_parts.unknown_block(
                    self.name, {**block, "input": {}}
                )  # a server tool's, cut off
            case _:
                return content_parts.unknown_block(self.name, block)

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. `input_tokens` includes neither tokens that were read from the cache nor tokens written
        to it.
        """
        parts = [
            usage.get(k) for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        ]
        return Tokens(
            input=None if parts[0] is None else sum(part or 0 for part in parts),
            output=usage.get("output_tokens"),
            cached=parts[1],
            cache_write=parts[2],
            reasoning=(usage.get("output_tokens_details") or {}).get("thinking_tokens"),
        )

    def finish_reason(self, reason: str | None, blocks: list[Json]) -> str | None:
        """Returns the neutral reason. `pause_turn` stays: sending the answer back continues it."""
        neutral = self.endings.neutral(reason)
        calls = any(block.get("type") == "tool_use" for block in blocks)
        return "tool_use" if calls and neutral == "success" else neutral

    def paused(self, turn: AssistantTurn) -> bool:
        """Tells whether the server paused between calls of its own tools. Sending the answer back continues it."""
        return turn.finish_reason == PAUSE and any(isinstance(c, ContentUnknown) for c in turn.contents)

    def merger(self) -> AnthropicMerger:
        return AnthropicMerger()
