"""Merges the events of a streamed response into the response.

Deltas are only shown. The items come from their `done` events, and the response from the terminal event. Only an item
without a `done` event is built from its deltas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...contents.content import Content, ContentText, ContentThinking
from ..request_and_stream_merger import Json, Merger
from ..shared.json_bodies import sensible
from ..shared.provider_errors import in_band_error

__all__ = ["ResponsesMerger"]

_END = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})

#: Delta event: the field of its item, the type of the part in it, the key of the text in the part.
_PLACES = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.function_call_arguments.delta": ("arguments", "", ""),
}


class ResponsesMerger(Merger):
    """The merger. It is complete at a terminal event. It ignores `[DONE]`, which OpenRouter adds."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[int, _Item] = {}
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
        kind = event.get("type", "")
        if kind in _PLACES:
            return self._item(event).delta(_PLACES[kind], event)
        if kind == "error" or event.get("error"):
            raise in_band_error(event)
        if isinstance(response := event.get("response"), dict):
            if response.get("error"):
                raise in_band_error(response)
            self._response = response
            self._done = self._done or kind in _END
        elif isinstance(event.get("item"), dict):
            self._item(event).whole(event["item"], done=kind.endswith(".done"))
        return ()

    def _item(self, event: Json) -> _Item:
        index = event.get("output_index", 0)
        if index not in self._items:
            self._items[index] = _Item()
        return self._items[index]

    def response(self) -> Json:
        if self._done and self._response.get("output"):
            return self._response
        output = [item for index in sorted(self._items) if (item := self._items[index].json())]
        return {**self._response, "output": output}


class _Item:
    """One output item: its first event and the fragments for its fields, or its `done` event."""

    def __init__(self) -> None:
        self._item: Json = {}
        self._done = False
        self._fragments: dict[tuple[tuple[str, str, str], int], list[str]] = {}

    def whole(self, item: Json, *, done: bool) -> None:
        """Stores the item of an event. A finished item is never replaced."""
        if done or not self._done:
            self._item, self._done = item, done

    def delta(self, place: tuple[str, str, str], event: Json) -> Sequence[Content]:
        fragment = event.get("delta")
        if not isinstance(fragment, str) or not fragment:
            return ()
        index: int = event.get("summary_index") or event.get("content_index") or 0
        fragments = self._fragments.setdefault((place, index), [])
        fragments.append(fragment)
        match place:
            case ("arguments", _, _):
                return ()
            case (_, "summary_text" | "reasoning_text", _):
                paragraph = index and len(fragments) == 1
                return (ContentThinking(f"\n\n{fragment}" if paragraph else fragment),)
            case _:
                return (ContentText(fragment),)

    def json(self) -> Json:
        item = dict(self._item)
        for ((field, type, key), _), fragments in sorted(
            self._fragments.items(), key=lambda part: part[0][1]
        ):
            text = "".join(fragments)
            if field == "arguments":
                item[field] = item.get(field) or text
            elif not self._done:
                item.setdefault(
                    "type", "reasoning" if type in {"summary_text", "reasoning_text"} else "message"
                )
                item[field] = [*(item.get(field) or []), {"type": type, key: text}]
        return item if self._done or not item else {**item, "status": "incomplete"}
