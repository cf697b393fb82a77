"""Merges the lines of Ollama's stream into the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...contents.content import Content, ContentText, ContentThinking
from ..request_and_stream_merger import Json, Merger
from ..shared import json_bodies
from ..shared.provider_errors import in_band_error

__all__ = ["OllamaMerger"]


class OllamaMerger(Merger):
    """The merger of a stream's lines: text and thinking arrive in pieces, calls whole. It is complete at the line
    with `done`.
    """

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

    @json_bodies.sensible
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
