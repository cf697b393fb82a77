"""Merges the chunks of a streamed answer into the answer. Each chunk has the shape of a whole answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...contents.content import Content, ContentText, ContentThinking
from ..request_and_stream_merger import Json, Merger
from ..shared.json_bodies import sensible
from ..shared.provider_errors import in_band_error

__all__ = ["GeminiMerger"]


_FOLDED = frozenset({"candidates", "usageMetadata"})


class GeminiMerger(Merger):
    """The merger. It is complete when every candidate has its finish reason, or when the prompt was blocked."""

    def __init__(self) -> None:
        self._top: Json = {}
        self._usage: Json = {}
        self._candidates: dict[int, _Candidate] = {}

    @property
    def complete(self) -> bool:
        if self._candidates:
            return all(c.fields.get("finishReason") for c in self._candidates.values())
        return bool((self._top.get("promptFeedback") or {}).get("blockReason"))

    @sensible
    def add(self, event: Any) -> Sequence[Content]:
        if not isinstance(event, dict):
            return ()
        if event.get("error"):
            raise in_band_error(event)
        self._usage |= event.get("usageMetadata") or {}  # cumulative: the last count of each kind holds
        for name, value in event.items():
            if value and name not in _FOLDED:
                self._top[name] = value
        shown: Sequence[Content] = ()
        for candidate in event.get("candidates") or ():
            index = candidate.get("index", 0)
            pieces = self._candidates.setdefault(index, _Candidate()).add(candidate)
            shown = shown if index else pieces
        return shown

    def response(self) -> Json:
        response = dict(self._top)
        if self._candidates:
            response["candidates"] = [self._candidates[index].json() for index in sorted(self._candidates)]
        return response | {"usageMetadata": self._usage} if self._usage else response


class _Candidate:
    """One candidate: its own fields and its parts. Consecutive plain text parts are joined later."""

    def __init__(self) -> None:
        self.fields: Json = {}
        self._parts: list[tuple[Json, list[str]]] = []

    def add(self, candidate: Json) -> list[Content]:
        for name, value in candidate.items():
            if value and name == "citationMetadata":
                self._cite(value)
            elif (value or name not in self.fields) and name != "content":
                self.fields[name] = value
        parts = (candidate.get("content") or {}).get("parts") or ()
        return [piece for part in parts for piece in self._part(part)]

    def _cite(self, metadata: Json) -> None:
        known = self.fields.get("citationMetadata") or {}
        lists = {k: [*(known.get(k) or []), *v] for k, v in metadata.items() if isinstance(v, list)}
        self.fields["citationMetadata"] = {**known, **metadata, **lists}

    def _part(self, part: Json) -> list[Content]:
        text = part.get("text")
        if not isinstance(text, str):
            self._parts.append((part, []))
            return []
        plain, thought = _is_plain(part), part.get("thought", False)
        before = self._parts[-1][0] if self._parts else {}
        if plain and _is_plain(before) and before.get("thought", False) == thought:
            self._parts[-1][1].append(text)
        elif text or not plain:
            self._parts.append((part, [text]))
        if not text:
            return []
        return [ContentThinking(text) if thought else ContentText(text)]

    def json(self) -> Json:
        parts = [{**part, "text": "".join(texts)} if texts else part for part, texts in self._parts]
        return {**self.fields, "content": {"role": "model", "parts": parts}}


def _is_plain(part: Json) -> bool:
    """Tells whether a part is plain text. A part with a signature stays separate."""
    return "text" in part and (len(part) == 1 or part.keys() == {"text", "thought"})
