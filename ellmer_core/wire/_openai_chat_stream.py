"""Folds a stream of chat completion chunks into the chat completion it stands for.

Deltas are joined by the role of their field, never by comparing them. Tool calls are told apart by `index`
and, since some servers give every call the index 0 or none at all, by a new id or name beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any, ClassVar

from ..content import Content, ContentText, ContentThinking
from . import Json, Merger
from ._errors import in_band_error

__all__ = ["ChatMerger"]

_PADS = frozenset({"p", "obfuscation", "choices", "object"})
_TEXTS = frozenset({"reasoning", "reasoning_content", "refusal"})


class ChatMerger(Merger):
    """The fold. Complete at `[DONE]`, or once every choice that started has its finish reason: a few vendors
    leave out the one (Perplexity, some behind Hugging Face and OpenRouter) or the other (Nebius)."""

    def __init__(self) -> None:
        self._top: Json = {}
        self._choices: dict[int, _Choice] = {}
        self._done = False

    @property
    def complete(self) -> bool:
        choices = self._choices.values()
        return self._done or (bool(choices) and all(c.fields.get("finish_reason") for c in choices))

    def add(self, event: Any) -> Sequence[Content]:
        if not isinstance(event, dict):
            self._done = self._done or event == "[DONE]"
            return ()
        if event.get("error"):
            raise in_band_error(event)
        for name, value in event.items():
            if value and name not in _PADS:
                self._top[name] = value
        shown: Sequence[Content] = ()
        for choice in event.get("choices") or ():
            index = choice.get("index") or 0
            if index not in self._choices:
                self._choices[index] = _Choice(index)
            pieces = self._choices[index].add(choice)
            shown = shown if index else pieces
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

    def add(self, choice: Json) -> list[Content]:
        for name, value in choice.items():
            match name:
                case "delta" | "message" | "index" | "text":
                    pass
                case "error" if value:
                    raise in_band_error(choice)
                case "logprobs" if isinstance(value, dict):
                    _extend(self.fields.setdefault(name, {}), value)
                case _ if value:
                    self.fields[name] = value
        delta = choice.get("delta", choice.get("message"))
        return list(self._delta(delta)) if delta else []

    def _delta(self, delta: Json) -> Iterator[Content]:
        for name, value in delta.items():
            if not value:
                continue
            if name in _TEXTS:
                yield from self._add_text(name, value)
            elif name in self._parts:
                yield from self._parts[name](self, value)
            elif isinstance(value, list):
                self._message.setdefault(name, []).extend(value)
            else:
                self._message[name] = value

    def _add_text(self, name: str, value: str) -> Iterator[Content]:
        self._texts.setdefault(name, []).append(value)
        if name == "refusal":
            yield ContentText(value)
        elif (
            next(n for n in self._texts if n != "refusal") == name
        ):  # the same words may come under two names
            yield ContentThinking(value)

    def _add_content(self, value: Any) -> Iterator[Content]:
        for piece in value if isinstance(value, list) else [value]:
            self._content.append(piece)
            if isinstance(piece, str):
                yield ContentText(piece)
            elif piece.get("type") == "text":
                yield ContentText(piece.get("text") or "")
            elif piece.get("type") == "thinking":
                yield from (ContentThinking(chunk.get("text") or "") for chunk in piece.get("thinking") or ())

    def _add_details(self, details: list[Json]) -> Iterator[Content]:
        for detail in details:
            index = detail.get("index")
            key = (detail.get("type"), index) if index is not None else len(self._details)
            _concatenate(self._details.setdefault(key, {}), detail)
        yield from ()  # the same words come as `reasoning`

    def _add_audio(self, audio: Json) -> Iterator[Content]:
        _concatenate(self._message.setdefault("audio", {}), audio)
        if audio.get("transcript"):
            yield ContentText(audio["transcript"])

    def _add_calls(self, calls: list[Json]) -> Iterator[Content]:
        for call in calls:
            self._add_call(call, call.get("index"))
        yield from ()

    def _add_function_call(self, function: Json) -> Iterator[Content]:
        self._add_call({"function": function}, "function_call")  # what tool_calls were called until 2023
        yield from ()

    def _add_call(self, delta: Json, index: Any) -> None:
        call = self._open.get(index)
        if call is None or call.is_another(delta, index):
            call = self._open[index] = _Call()
            self._calls.append(call)
        call.add(delta)

    _parts: ClassVar[dict[str, Callable[[_Choice, Any], Iterator[Content]]]] = {
        "content": _add_content,
        "tool_calls": _add_calls,
        "function_call": _add_function_call,
        "reasoning_details": _add_details,
        "audio": _add_audio,
    }

    def json(self) -> Json:
        message = {**self._message, "content": _folded(self._content)}
        message |= {name: "".join(parts) for name, parts in self._texts.items()}
        if self._details:
            message["reasoning_details"] = list(self._details.values())
        if self._calls:
            message["tool_calls"] = [call.json() for call in self._calls]
        return {"finish_reason": None, **self.fields, "message": message}


class _Call:
    """One tool call while it arrives; id and name may come late, or in pieces."""

    def __init__(self) -> None:
        self._id = ""
        self._name = ""
        self._arguments: list[str] = []
        self._kind = "function"
        self._rest: Json = {}

    def is_another(self, delta: Json, index: Any) -> bool:
        """Whether a delta at this call's index opens a call of its own: it comes with a name, and with another
        id; or without any id, where there is no index either or this call's arguments are whole."""
        name = _body(delta).get("name")
        if not name or not self._name:
            return False
        if delta.get("id"):
            return bool(self._id) and delta["id"] != self._id
        return index is None or _is_whole("".join(self._arguments))

    def add(self, delta: Json) -> None:
        body = _body(delta)
        arguments = body.get("arguments", body.get("input"))
        if delta.get("custom"):
            self._kind = "custom"
        if (id := delta.get("id")) and id != self._id and (not self._id or not arguments):
            self._id += (
                id  # servers that make up a new id for every fragment send arguments along: first one wins
            )
        if (name := body.get("name")) and name != self._name:
            self._name += name
        if arguments:
            self._arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))
        self._rest |= {k: v for k, v in delta.items() if v and k not in _CALL}

    def json(self) -> Json:
        if len(self._arguments) > 1 and self._arguments[0] == "{}":
            del self._arguments[0]  # a placeholder before the real ones
        key = "input" if self._kind == "custom" else "arguments"
        body = {"name": self._name, key: "".join(self._arguments)}
        return {"id": self._id, "type": self._kind, self._kind: body, **self._rest}


_CALL = frozenset({"id", "index", "type", "function", "custom"})


def _body(delta: Json) -> Json:
    return delta.get("function") or delta.get("custom") or {}


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def _folded(pieces: list[str | Json]) -> str | list[Json] | None:
    """The content of the message: one string, or a list where the deltas were chunks (Mistral)."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(str, pieces)) or None
    chunks: list[Json] = []
    for piece in pieces:
        chunk = {"type": "text", "text": piece} if isinstance(piece, str) else piece
        if (
            chunks
            and chunks[-1].get("type") == chunk.get("type")
            and chunk.get("type") in {"text", "thinking"}
        ):
            _concatenate(chunks[-1], chunk)
        else:
            chunks.append(deepcopy(chunk))
    return chunks


_WHOLE = frozenset({"type", "id", "format", "role", "index", "mime_type"})


def _concatenate(whole: Json, more: Json) -> None:
    """Adds a fragment in place: text to text, list to list; what names something stays what it is."""
    for name, value in more.items():
        before = whole.get(name)
        if isinstance(before, str) and isinstance(value, str) and name not in _WHOLE:
            whole[name] = before + value
        elif isinstance(before, list) and isinstance(value, list):
            _extend_chunks(before, value)
        elif isinstance(before, dict) and isinstance(value, dict):
            _concatenate(before, value)
        elif value is not None:
            whole[name] = deepcopy(value)


def _extend_chunks(before: list[Any], more: list[Any]) -> None:
    for chunk in more:
        last = before[-1] if before else None
        if (
            isinstance(chunk, dict)
            and isinstance(last, dict)
            and chunk.get("type") == last.get("type") == "text"
        ):
            _concatenate(last, chunk)
        else:
            before.append(deepcopy(chunk))


def _extend(whole: Json, more: Json) -> None:
    for name, value in more.items():
        if isinstance(value, list) and isinstance(whole.get(name), list):
            whole[name].extend(value)
        elif value is not None or name not in whole:
            whole[name] = deepcopy(value)
