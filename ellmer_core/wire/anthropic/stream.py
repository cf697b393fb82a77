"""Merges the events of a streamed message into the message."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from ...contents.content import Content, ContentText, ContentThinking
from ..request_and_stream_merger import Json, Merger
from ..shared.json_bodies import sensible
from ..shared.provider_errors import in_band_error
from ..shared.tool_arguments_and_ids import tool_input

__all__ = ["AnthropicMerger"]


class AnthropicMerger(Merger):
    """The merger. It is complete at `message_stop`. It ignores `ping` and unknown events."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._blocks: dict[int, _Block] = {}
        self._done = False

    @property
    def complete(self) -> bool:
        return self._done

    @property
    def done(self) -> bool:
        return self._done

    @sensible
    def add(self, event: Any) -> Sequence[Content]:
        if not isinstance(event, dict):
            return ()
        match event.get("type"):
            case "content_block_delta":
                return self._block(event).add(event.get("delta") or {})
            case "content_block_start":
                return self._block(event).start(event.get("content_block") or {})
            case "message_start":
                self._message = deepcopy(event.get("message") or {})
            case "message_delta":
                self._end(event)
            case "message_stop":
                self._done = True
            case _ if event.get("error"):
                raise in_band_error(event)
        return ()

    def _block(self, event: Json) -> _Block:
        return self._blocks.setdefault(event.get("index", 0), _Block())

    def _end(self, event: Json) -> None:
        """Stores values from the end of the stream. Usage is cumulative: it replaces the counts of `message_start`."""
        known = {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
        self._message |= {k: v for k, v in event.items() if k not in {"type", "delta", "usage"}}
        self._message |= event.get("delta") or {}
        self._message["usage"] = {**(self._message.get("usage") or {}), **known}

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
        self._parts: dict[str, list[Any]] = {}

    def start(self, block: Json) -> Sequence[Content]:
        self._start = deepcopy(block)
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
        return (ContentText(value),)
    return (ContentThinking(value),) if name == "thinking" and value else ()
