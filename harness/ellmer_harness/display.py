"""Interactions in a readable form: bodies are parsed, media are named instead of shown, and streams are
folded.

Consecutive events of the same shape are shown as one event. Its strings are the joined strings of all of
them, so that a text that was sent in pieces can be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from .exchange.messages import Headers
from .format.blobs import Blobs
from .format.bodies import Form, encode
from .recordings import Interaction
from .recordings.interaction import value_of


@dataclass(frozen=True)
class Media:
    """Binary data that is not shown: its media type and size."""

    text: str

    def __str__(self) -> str:
        return f"<{self.text}>"


@dataclass(frozen=True)
class Events:
    """A stream: the name and value of each event. Folded streams also have the number of events."""

    folded: list[tuple[str, Any, int]]

    @property
    def count(self) -> int:
        """The number of events."""
        return sum(times for _, _, times in self.folded)


@dataclass(frozen=True)
class View:
    """An interaction in readable form. A body is a JSON value, `Events`, text, `Media`, or `None` if there is
    no body.
    """

    interaction: Interaction
    request: Any
    response: Any


def view(it: Interaction) -> View:
    """Returns the interaction in readable form."""
    return View(it, _body(it.body, it.sent), _body(it.content, it.headers))


def fold(events: Iterable[tuple[str, Any]]) -> list[tuple[str, Any, int]]:
    """Folds consecutive events with the same name and shape into one, with their number."""
    groups = ([*group] for _, group in groupby(events, lambda event: (event[0], _shape(event[1]))))
    return [(group[0][0], _joined([value for _, value in group]), len(group)) for group in groups]


def size(count: int) -> str:
    """Returns a number of bytes in a readable unit."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def _body(body: bytes | None, headers: Headers) -> Any:
    blobs = Blobs(Path())
    coding, content_type = value_of(headers, "content-encoding"), value_of(headers, "content-type").lower()
    form = encode(body or b"", content_type, coding, blobs)
    return None if form is None else _value({**form.get("reads", form)}, content_type, blobs)


def _value(form: Form, content_type: str, blobs: Blobs) -> Any:
    match form:
        case {"json": value}:
            return _media_named(value, blobs)
        case {"text": text}:
            return "".join(text)
        case {"blob": name}:
            return _media(name, blobs, content_type)
        case {"base64": text}:
            return Media(f"{content_type or 'binary'}, {size(len(text) * 3 // 4)}")
        case _:
            return Events(fold(_events(form, blobs)))


def _events(form: Form, blobs: Blobs) -> Iterator[tuple[str, Any]]:
    yield from (_event(each, blobs) for each in form.get("sse", ()))
    yield from (("", _media_named(each.get("raw", each), blobs)) for each in form.get("ndjson", ()))
    yield from (_frame(each, blobs) for each in form.get("eventstream", ()))


def _event(event: Form, blobs: Blobs) -> tuple[str, Any]:
    if "raw" in event:
        return "", event["raw"]
    if "data" in event:
        return event.get("event", "data"), _media_named(event["data"], blobs)
    if "comment" in event:
        return "comment", event["comment"]
    return event.get("event", "data"), event.get("text", "")


def _frame(frame: Form, blobs: Blobs) -> tuple[str, Any]:
    headers = frame.get("headers", {})
    name = headers.get(":event-type") or headers.get(":exception-type") or "frame"
    if "base64" in frame:
        return name, str(Media(f"binary, {size(len(frame['base64']) * 3 // 4)}"))
    return name, _media_named(frame["json"], blobs) if "json" in frame else frame["text"]


def _media_named(value: Any, blobs: Blobs) -> Any:
    if isinstance(value, list):
        return [_media_named(item, blobs) for item in value]
    if not isinstance(value, dict):
        return value
    if "$blob" in value:
        return value.get("before", "") + str(_media(value["$blob"], blobs, ""))
    return {key: _media_named(item, blobs) for key, item in value.items()}


def _media(name: str, blobs: Blobs, content_type: str) -> Media:
    digest, _, kind = name.partition(".")
    return Media(f"{content_type or kind}, {size(len(blobs.get(name)))}, {digest[:8]}")


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _shape(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_shape, value))
    return type(value).__name__


def _joined(values: list[Any]) -> Any:
    first = values[0]
    if all(value == first for value in values):
        return first
    if isinstance(first, dict):
        return {key: _joined([value[key] for value in values]) for key in first}
    if isinstance(first, list):
        return [_joined([*items]) for items in zip(*values, strict=True)]
    if isinstance(first, str):
        return "".join(values)
    return f"{first} … {values[-1]}"


# --- The outline of a JSON value -------------------------------------------------------------------------


WIDTH = 100
_LONGEST = 2000  # characters of one string
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # would command the terminal


def outline(value: Any) -> Iterator[str]:
    """Yields the lines of the outline."""
    if isinstance(value, str):
        yield from shown(value).split("\n")
    elif not isinstance(value, dict | list) or (line := _line(value)) is None:
        yield from _broken(value) if isinstance(value, dict | list) and value else [json.dumps(value)]
    else:
        yield line


def shown(text: str) -> str:
    """Returns a text that is safe to print: it is shortened, and control characters are escaped."""
    seen = _UNSEEN.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))
    return seen if len(seen) <= _LONGEST else f"{seen[:_LONGEST]}… ({len(text)} characters)"


def _line(value: Any) -> str | None:
    """Returns the value on one line if it is short enough, else `None`."""
    text = shown(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= WIDTH and "\\n" not in text else None


def _broken(value: dict[str, Any] | list[Any]) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            first, *rest = _item(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
        return
    for key, item in value.items():
        first, *rest = _item(item)
        if isinstance(item, dict | list) and rest:
            yield f"{shown(key)}:"
            yield from (f"  {line}" for line in (first, *rest))
        else:
            yield f"{shown(key)}: {first}"
            yield from (f"  {line}" for line in rest)


def _item(value: Any) -> list[str]:
    """Returns a string in quotes, unless it has several lines."""
    if isinstance(value, str):
        return ["|", *outline(value)] if "\n" in value else [shown(json.dumps(value, ensure_ascii=False))]
    return [*outline(value)]
