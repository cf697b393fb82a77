"""Gemini `generateContent`, from the wire: the events of a stream as the answer they add up to, and an answer as a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from ...base.budget import CLIENT
from ...contents import content as ours
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..interfaces import Json, Merger
from ..shared import content_parts, json_objects, tool_calls
from ..shared.content_parts import with_grounding
from ..shared.endings_and_errors import Endings, answer, in_band_error
from ..shared.json_objects import json_text
from ..shared.tool_calls import grounded, paired

# --- streams ---------------------------------------------------------------------------------------------


_FOLDED = frozenset({"candidates", "usageMetadata"})


class GeminiMerger(Merger):
    """The merger. It is complete when every candidate has its finish reason, or when the prompt was blocked."""

    def __init__(self) -> None:
        self._top: Json = {}
        self._usage: Json = {}
        self._candidates: dict[int, _Candidate] = {}
        self._unfinished: set[int] = set()  # candidates without a finish reason

    @property
    def complete(self) -> bool:
        if self._candidates:
            return not self._unfinished
        return bool((self._top.get("promptFeedback") or {}).get("blockReason"))

    def add(self, event: Any) -> Sequence[ours.Content]:
        if not isinstance(event, dict):
            return ()
        if event.get("error"):
            raise in_band_error(event)
        self._usage |= event.get("usageMetadata") or {}  # cumulative: the last count of each kind holds
        for name, value in event.items():
            if value and name not in _FOLDED:
                self._top[name] = value
        shown: Sequence[ours.Content] = ()
        for candidate in event.get("candidates") or ():
            index = candidate.get("index", 0)
            if index not in self._candidates:
                self._candidates[index] = _Candidate()
                self._unfinished.add(index)
            pieces = self._candidates[index].add(candidate)
            if self._candidates[index].fields.get("finishReason"):
                self._unfinished.discard(index)
            shown = shown if index else pieces
        return shown

    def call_arguments(self, tool: str) -> Sequence[str]:
        return self._candidates[0].arguments.get(tool, ()) if 0 in self._candidates else ()

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
        self.arguments: dict[str, list[str]] = {}  # of the first call of each tool
        self._open: _Call | None = None  # the call whose arguments are arriving

    def add(self, candidate: Json) -> list[ours.Content]:
        for name, value in candidate.items():
            if value and name == "citationMetadata":
                self._cite(value)
            elif (value or name not in self.fields) and name != "content":
                self.fields[name] = value
        parts = (candidate.get("content") or {}).get("parts") or ()
        return [piece for part in parts for piece in self._part(part)]

    def _cite(self, metadata: Json) -> None:
        citations: Json = self.fields.setdefault("citationMetadata", {})
        for name, value in metadata.items():
            if isinstance(value, list):
                citations.setdefault(name, []).extend(value)
            else:
                citations[name] = value

    def _part(self, part: Json) -> list[ours.Content]:
        text = part.get("text")
        if not isinstance(text, str):
            if isinstance(call := part.get("functionCall"), dict):
                part = self._call(part, call)
            if part:
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
        return [ours.ContentThinking(text) if thought else ours.plain_text(text)]

    def _call(self, part: Json, call: Json) -> Json:
        """Returns the part of a call, or nothing for a piece of the call before, or of none."""
        if self._open is None and not call.get("name") and not call.get("args"):
            return {}
        if self._open is not None and not call.get("name"):
            piece, last = {}, self._open
        else:
            last = self._open = _Call(call)
            piece = {**part, "functionCall": last.call}
        if last.add(call):
            self._open = None
            self.arguments.setdefault(str(last.call.get("name")), [json_text(last.call.get("args") or {})])
        return piece

    def json(self) -> Json:
        parts = [{**part, "text": "".join(texts)} if texts else part for part, texts in self._parts]
        return {**self.fields, "content": {"role": "model", "parts": parts}}


_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_VALUES = ("stringValue", "numberValue", "boolValue")


class _Call:
    """A call. Its arguments may arrive in pieces (`streamFunctionCallArguments`), each for a JSON path: the first has the
    name, a text may continue, and a piece without `willContinue` is the last (vercel/ai#13929, vercel/ai#14358).
    """

    def __init__(self, call: Json) -> None:
        self.call: Json = dict(call) if "args" in call else {k: call[k] for k in ("name", "id") if k in call}
        self._leaves: dict[tuple[str | int, ...], Any] = {}

    def add(self, call: Json) -> bool:
        """Adds a piece. Tells whether the call is complete."""
        for piece in call.get("partialArgs") or ():
            path = _path(piece["jsonPath"])
            value = next((piece[name] for name in _VALUES if name in piece), None)
            if isinstance(value, str):
                self._leaves.setdefault(path, []).append(value)
            else:
                self._leaves[path] = value
        if call.get("willContinue"):
            self.call["willContinue"] = True
            return False
        self.call.pop("willContinue", None)
        if self._leaves:
            self.call["args"] = self._arguments()
        return True

    def _arguments(self) -> Json:
        arguments: Json = {}
        for path, value in self._leaves.items():
            _put(arguments, path, "".join(value) if isinstance(value, list) else value)
        return arguments


def _path(text: str) -> tuple[str | int, ...]:
    """Returns the steps of a JSON path: names, and places in a list."""
    steps = list(_STEP.finditer(text.removeprefix("$")))
    if "".join(step[0] for step in steps) != text.removeprefix("$") or not 0 < len(steps) <= CLIENT.depth:
        raise ValueError(f"{text!r:.100} is not a path to an argument")
    return tuple(int(step[2]) if step[2] else step[1] or step[3] or step[4] or "" for step in steps)


def _put(container: Any, path: tuple[str | int, ...], value: Any) -> None:
    """Puts a value at its place, and makes the objects and lists on the way."""
    for step, after in zip(path, [*path[1:], None], strict=True):
        inner = value
        if after is not None:
            inner = [] if isinstance(after, int) else {}
        if isinstance(container, list) and step == len(container):
            container.append(inner)
        elif isinstance(container, dict) and isinstance(step, str):
            container.setdefault(step, inner)
        container = container[step]  # pyright: ignore[reportCallIssue, reportArgumentType]  # a wrong step raises


def _is_plain(part: Json) -> bool:
    """Tells whether a part is plain text. A part with a signature stays separate."""
    return "text" in part and (len(part) == 1 or part.keys() == {"text", "thought"})


# --- finish reasons --------------------------------------------------------------------------------------

ENDINGS = Endings(
    ("https://ai.google.dev/api/generate-content#FinishReason",),
    whole={"STOP": "success"},
    cut={
        "MAX_TOKENS": "max_tokens",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "ESCALATION": "content_filter",
        "PUP_LIMITED_DISABLED": "content_filter",
        "CONTINUATION": "max_tokens",  # of one request: `continuationToken` would continue it
        "LANGUAGE": "LANGUAGE",
        "OTHER": "OTHER",
        "MALFORMED_FUNCTION_CALL": "error",
        "UNEXPECTED_TOOL_CALL": "error",
        "TOO_MANY_TOOL_CALLS": "error",
        "MISSING_THOUGHT_SIGNATURE": "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE": "error",
        "NO_IMAGE": "NO_IMAGE",
        "IMAGE_OTHER": "IMAGE_OTHER",
        "FINISH_REASON_UNSPECIFIED": "FINISH_REASON_UNSPECIFIED",
    },
)


# --- answers ---------------------------------------------------------------------------------------------


#: The numbers of `finishReason` with `$alt=json;enum-encoding=int`. Google's two products number them differently:
#: `google.ai.generativelanguage.v1beta.Candidate` and `google.cloud.aiplatform.v1.Candidate`.
_SHARED = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
_GEMINI = ("LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY")
_VERTEX = (
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
)
GEMINI_NUMBERS = (*_SHARED, *_GEMINI, "UNEXPECTED_TOOL_CALL")
VERTEX_NUMBERS = (
    *(*_SHARED, *_VERTEX),
    *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "UNEXPECTED_TOOL_CALL", "NO_IMAGE"),
)

_MEDIA = ("image/", "audio/", "video/")


class GeminiResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    finish_numbers: ClassVar[Sequence[str]] = GEMINI_NUMBERS
    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        candidate = (response.get("candidates") or [{}])[0]
        parts = (candidate.get("content") or {}).get("parts") or []
        whole = self.endings.is_whole(self.reason(candidate))
        contents = [self.part(part, cut=not whole) for part in parts]
        searches = [] if any("toolCall" in part for part in parts) else grounded(self.name, candidate)
        cited = with_grounding(paired([*searches, *(c for c in contents if c)]), candidate)
        return answer(
            tool_calls.distinct(cited, response),
            whole=whole,
            tokens=self.tokens(response.get("usageMetadata") or {}),
            finish_reason=self.finish_reason(candidate, response, contents),
            json=response,
        )

    def part(self, part: Json, *, cut: bool) -> ours.Content | None:
        """Converts a part of the answer. Returns `None` for an empty one."""
        fields = {"thoughtSignature": part["thoughtSignature"]} if part.get("thoughtSignature") else {}
        extra = self.own(fields=fields) if fields else {}
        match part:
            case {"functionCall": dict(call)}:
                return self.tool_request(call, fields, cut=cut)
            case {"text": str(text), "thought": True}:
                return ours.ContentThinking(text, extra=extra)
            case {"text": ""}:  # a separate signature at the end of a stream
                return ours.ContentThinking("", extra=extra) if fields else None
            case {"text": str(text)}:
                return ours.ContentText(text, extra=extra)
            case {"inlineData": {"mimeType": str(type), "data": str(data)}} if type.startswith(_MEDIA):
                return _media(type, data, extra)
            case _:
                return content_parts.unknown_block(self.name, part)

    def tool_request(self, call: Json, fields: Json, *, cut: bool) -> ours.ContentToolRequest:
        """Returns a call. A call with streamed arguments (`partialArgs`, `willContinue`) is incomplete."""
        own = ({"fields": fields} if fields else {}) | ({"id": call["id"]} if call.get("id") else {})
        return tool_calls.call_of(
            call.get("id") or "",
            call.get("name") or "",
            call.get("args"),
            cut=cut or "partialArgs" in call or bool(call.get("willContinue")),
            extra=self.own(**own) if own else {},
        )

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. Tool-use prompts are added to the prompt, and thoughts to the candidates."""
        return Tokens(
            input=_sum(usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount")),
            output=_sum(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
            cached=usage.get("cachedContentTokenCount"),
            reasoning=usage.get("thoughtsTokenCount"),
        )

    def finish_reason(
        self, candidate: Json, response: Json, contents: Sequence[ours.Content | None]
    ) -> str | None:
        """Returns the neutral reason. A blocked prompt has no candidate."""
        if not candidate and (response.get("promptFeedback") or {}).get("blockReason"):
            return "content_filter"
        neutral = self.endings.neutral(self.reason(candidate))
        calls = any(isinstance(content, ours.ContentToolRequest) for content in contents)
        return "tool_use" if calls and neutral == "success" else neutral

    def reason(self, candidate: Json) -> str | None:
        """Returns the name of the finish reason, which may be a number."""
        reason = candidate.get("finishReason")
        if type(reason) is int and 0 <= reason < len(self.finish_numbers):
            return self.finish_numbers[reason]
        return str(reason) if reason else None

    def merger(self) -> GeminiMerger:
        return GeminiMerger()


def _sum(*counts: Any) -> int | None:
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if numbers else None


def _media(type: str, data: str, extra: Json) -> ours.Content:
    """Returns an image, audio or video in the answer."""
    kind, _, form = type.partition("/")
    if kind == "image":
        return ours.ContentImageInline(type, data, extra=extra)
    return ours.ContentFile(type, data, f"answer.{form.partition(';')[0]}")
