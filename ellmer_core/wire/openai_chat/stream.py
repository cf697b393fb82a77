"""Merges a stream of chat completion chunks into the chat completion.

Deltas are joined by the kind of their field, not by comparison. Tool calls are separated by `index`. Some servers
give every call the index 0 or none, so a new id or name separates them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ...contents.content import Content, ContentText, ContentThinking
from ..request_and_stream_merger import Json, Merger
from ..shared.json_bodies import json_text, sensible
from ..shared.provider_errors import in_band_error
from ..shared.stream_delta_joining import concatenate, folded
from ..shared.tool_arguments_and_ids import strict_json

__all__ = ["ChatMerger", "kind_of"]

_NOT_KEPT = frozenset({"choices", "object", "obfuscation", "p"})  # the last two are random padding
_DELTAS = frozenset({"delta", "message", "index", "text"})
_CALL = frozenset({"id", "index", "type", "function", "custom"})


class ChatMerger(Merger):
    """The merger. It is complete at `[DONE]`, or when every choice has its finish reason. A few providers leave out
    the one (Perplexity, some behind Hugging Face and OpenRouter) or the other (Nebius).
    """

    def __init__(self) -> None:
        self._top: Json = {}
        self._choices: dict[int, _Choice] = {}
        self._done = False

    @property
    def complete(self) -> bool:
        choices = self._choices.values()
        return self._done or (bool(choices) and all(c.fields.get("finish_reason") for c in choices))

    @sensible
    def add(self, event: Any) -> Sequence[Content]:
        if not isinstance(event, dict):
            self._done = self._done or event == "[DONE]"
            return ()
        if event.get("error"):
            raise in_band_error(event)
        for name, value in event.items():
            if value and name not in _NOT_KEPT:
                self._top[name] = value
        shown: list[Content] = []
        for choice in event.get("choices") or ():
            index = choice.get("index") or 0
            if index not in self._choices:
                self._choices[index] = _Choice(index)
            self._choices[index].add(choice, [] if index else shown)
        return shown

    def response(self) -> Json:
        choices = [self._choices[index].json() for index in sorted(self._choices)]
        return {**self._top, "object": "chat.completion", "choices": choices}


class _Choice:
    """One choice: its own fields, and its message as lists of fragments."""

    def __init__(self, index: int) -> None:
        self.fields: Json = {"index": index}
        self._message: Json = {"role": "assistant"}
        self._content: list[str | Json] = []
        self._texts: dict[str, list[str]] = {}
        self._details: dict[Any, Json] = {}
        self._calls: list[_Call] = []
        self._open: dict[Any, _Call] = {}
        self._shows = ""  # the field whose thoughts are shown

    def add(self, choice: Json, shown: list[Content]) -> None:
        """Adds one delta. Its visible part is appended to `shown`."""
        if choice.get("error") or choice.get("finish_reason") == "error":  # Mistral, OpenRouter
            raise in_band_error(choice)
        for name, value in choice.items():
            if value and name not in _DELTAS:
                self._keep(name, value)
        for name, value in (choice.get("delta", choice.get("message")) or {}).items():
            if not value:
                continue
            if name == "content" and isinstance(value, str):
                self._content.append(value)
                shown.append(ContentText(value))
            elif name in self._parts:
                self._parts[name](self, value, shown)
            elif isinstance(value, list):
                self._message.setdefault(name, []).extend(value)
            else:
                self._message[name] = value

    def _keep(self, name: str, value: Any) -> None:
        if name == "logprobs" and isinstance(value, dict):
            concatenate(self.fields.setdefault(name, {}), value)
        else:
            self.fields[name] = value

    def _add_content(self, chunks: Any, shown: list[Content]) -> None:
        """Adds content in chunks (Mistral), or as an object (Cloudflare parses JSON)."""
        if isinstance(chunks, dict):
            chunks = [json_text(chunks)]
        for chunk in chunks:
            self._content.append(chunk)
            if isinstance(chunk, str):
                shown.append(ContentText(chunk))
            elif chunk.get("type") == "text":
                shown.append(ContentText(chunk["text"]))
            elif chunk.get("type") == "thinking":
                shown.extend(
                    ContentThinking(piece["text"]) for piece in chunk["thinking"] if piece.get("text")
                )

    def _add_reasoning(self, value: str, shown: list[Content]) -> None:
        self._add_thought("reasoning", value, shown)

    def _add_reasoning_content(self, value: str, shown: list[Content]) -> None:
        self._add_thought("reasoning_content", value, shown)

    def _add_thought(self, name: str, value: str, shown: list[Content]) -> None:
        self._texts.setdefault(name, []).append(value)
        self._show_thought(name, value, shown)

    def _show_thought(self, name: str, value: str, shown: list[Content]) -> None:
        """Shows the thoughts of one field, because the same text may arrive under several names."""
        self._shows = self._shows or name
        if self._shows == name:
            shown.append(ContentThinking(value))

    def _add_refusal(self, value: str, shown: list[Content]) -> None:
        self._texts.setdefault("refusal", []).append(value)
        shown.append(ContentText(value))

    def _add_details(self, details: list[Json], shown: list[Content]) -> None:
        for detail in details:
            if text := detail.get("text") or detail.get("summary"):
                self._show_thought("reasoning_details", text, shown)
            index = detail.get("index")
            key = len(self._details) if index is None else (detail.get("type"), index)
            concatenate(self._details.setdefault(key, {}), detail)

    def _add_audio(self, audio: Json, shown: list[Content]) -> None:
        concatenate(self._message.setdefault("audio", {}), audio)
        if audio.get("transcript"):
            shown.append(ContentText(audio["transcript"]))

    def _add_function_call(self, function: Json, shown: list[Content]) -> None:
        if any(function.values()):  # `tool_calls` until 2023; Snowflake sends it with empty values
            self._add_calls([{"index": "function_call", "function": function}], shown)

    def _add_calls(self, deltas: list[Json] | Json, _: list[Content]) -> None:
        for delta in [deltas] if isinstance(deltas, dict) else deltas:  # TGI sends the call itself
            index = delta.get("index")
            call = self._open.get(index)
            if call is None or call.is_another(delta):
                call = self._open[index] = _Call()
                self._calls.append(call)
            call.add(delta)

    _parts: ClassVar[dict[str, Callable[[_Choice, Any, list[Content]], None]]] = {
        "content": _add_content,
        "tool_calls": _add_calls,
        "reasoning": _add_reasoning,
        "reasoning_content": _add_reasoning_content,
        "reasoning_details": _add_details,
        "refusal": _add_refusal,
        "audio": _add_audio,
        "function_call": _add_function_call,
    }

    def json(self) -> Json:
        message = {**self._message, "content": folded(self._content)}
        message |= {name: "".join(parts) for name, parts in self._texts.items()}
        if self._details:
            message["reasoning_details"] = list(self._details.values())
        if self._calls:
            message["tool_calls"] = [call.json() for call in self._calls]
        return {"finish_reason": None, **self.fields, "message": message}


class _Call:
    """One tool call while it arrives. Its id and name may come late, or in pieces."""

    def __init__(self) -> None:
        self._id = ""
        self._name = ""
        self._arguments: list[str] = []
        self._kind = "function"
        self._rest: Json = {}

    def is_another(self, delta: Json) -> bool:
        """Tells whether a delta at this call's index opens a new call: it has a name and another id, or it has no id
        and either no index or this call's arguments are complete.
        """
        if not self._name or not _body(delta).get("name"):
            return False
        if delta.get("id"):
            return bool(self._id) and delta["id"] != self._id
        return delta.get("index") is None or _is_whole("".join(self._arguments))

    def add(self, delta: Json) -> None:
        body = _body(delta)
        arguments = body.get("arguments", body.get("input"))
        self._kind = kind_of(delta) if body else self._kind
        if (id := delta.get("id")) and id != self._id and (not self._id or not arguments):
            self._id += (
                id  # servers that make up a new id for every fragment send arguments along: first one wins
            )
        if (name := body.get("name")) and name != self._name:
            self._name += name
        if arguments:
            self._arguments.append(arguments if isinstance(arguments, str) else json_text(arguments))
        self._rest |= {k: v for k, v in delta.items() if v and k not in _CALL}

    def json(self) -> Json:
        placeholder = len(self._arguments) > 1 and self._arguments[0] == "{}"
        arguments = "".join(self._arguments[1:] if placeholder else self._arguments)
        key = "input" if self._kind == "custom" else "arguments"
        return {
            "id": self._id,
            "type": self._kind,
            self._kind: {"name": self._name, key: arguments},
            **self._rest,
        }


def _body(delta: Json) -> Json:
    return delta.get(kind_of(delta)) or {}


def kind_of(call: Json) -> str:
    """Returns whether a call is one of a function or of a custom tool. Snowflake sends both fields, one with empty
    values.
    """
    custom, function = call.get("custom") or {}, call.get("function") or {}
    return (
        "custom"
        if custom and not (function and (function.get("name") or not custom.get("name")))
        else "function"
    )


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(strict_json(arguments), dict)
    except ValueError:
        return False
