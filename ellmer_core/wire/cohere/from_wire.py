"""Cohere Chat v2, from the wire: the events of a stream as the answer they add up to, and an answer as a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, ClassVar

from ...contents.content import Content, ContentText, ContentThinking, ContentUnknown
from ...contents.turns import AssistantTurn, Tokens
from ..interfaces import CallPiece, Json, Merger, Piece
from ..openai_chat.from_wire import OpenAIChatResponse
from ..shared import json_objects, tool_calls
from ..shared.content_parts import cohere_citations
from ..shared.endings_and_errors import Endings, answer, in_band_error

# --- streams ---------------------------------------------------------------------------------------------


class CohereMerger(Merger):
    """The merger. It is complete at `message-end`; a `[DONE]` follows. It ignores unknown events."""

    def __init__(self) -> None:
        self._top: Json = {}
        self._plan: list[str] = []
        self._parts: list[tuple[int, _Part]] = []
        self._open: dict[int, _Part] = {}  # the last part of each index
        self._calls: dict[int, _Call] = {}
        self._named: dict[str, _Call] = {}  # the first call of each tool
        self._citations: list[Json] = []
        self._complete = False

    @property
    def complete(self) -> bool:
        return self._complete

    def add(self, event: Any) -> Sequence[Piece]:
        if not isinstance(event, dict):
            return ()
        message = (event.get("delta") or {}).get("message") or {}
        match event.get("type"):
            case "content-start" | "content-delta":
                return list(self._part(event["index"], message["content"]).add(message["content"]))
            case "tool-plan-delta" if message.get("tool_plan"):
                self._plan.append(message["tool_plan"])
                return [ContentThinking(message["tool_plan"])]
            case "tool-call-start" | "tool-call-delta":
                call = self._calls.setdefault(event["index"], _Call())
                text = call.add(message["tool_calls"])
                self._named.setdefault(call.name, call)
                return [CallPiece(event["index"], call.id, call.name, text)] if text else ()
            case "citation-start":
                self._citations.append(message["citations"])
            case "message-start" if event.get("id"):
                self._top["id"] = event["id"]
            case "message-end":
                self._end(event.get("delta") or {})
            case None if event.get("message") or event.get("error"):
                raise in_band_error(event)
        return ()

    def call_arguments(self, tool: str) -> Sequence[str]:
        return self._named[tool].arguments if tool in self._named else ()

    def _part(self, index: int, content: Json) -> _Part:
        """Returns the part that a piece belongs to. Text after thinking is a new part, even if both have the index 0."""
        part = self._open.get(index)
        if part is None or not part.takes(content):
            part = self._open[index] = _Part()
            self._parts.append((index, part))
        return part

    def _end(self, delta: Json) -> None:
        if delta.get("error"):
            raise in_band_error(delta)
        self._top |= delta
        self._complete = True

    def response(self) -> Json:
        message: Json = {"role": "assistant"}
        if self._plan:
            message["tool_plan"] = "".join(self._plan)
        if self._parts:
            message["content"] = [part.json() for _, part in sorted(self._parts, key=itemgetter(0))]
        if self._calls:
            message["tool_calls"] = [self._calls[index].json() for index in sorted(self._calls)]
        if self._citations:
            message["citations"] = self._citations
        return {**self._top, "message": message}


class _Part:
    """One part of the content. Its text is in fragments under the part's own name (`text`, `thinking`)."""

    def __init__(self) -> None:
        self._start: Json = {}
        self._texts: dict[str, list[str]] = {}

    def takes(self, content: Json) -> bool:
        """Tells whether a piece belongs to this part: it does not open a part, and its text has the same name."""
        names = content.keys() & {"text", "thinking"}
        return "type" not in content and names <= self._texts.keys()

    def add(self, delta: Json) -> Iterator[Content]:
        for name, value in delta.items():
            if name not in {"text", "thinking"}:
                self._start[name] = value
            else:
                self._texts.setdefault(name, []).append(value)
                if value:
                    yield ContentText(value) if name == "text" else ContentThinking(value)

    def json(self) -> Json:
        texts = {name: "".join(parts) for name, parts in self._texts.items()}
        return {"type": next(iter(texts), None), **self._start, **texts}


class _Call:
    """One tool call, its arguments in fragments."""

    def __init__(self) -> None:
        self._start: Json = {}
        self.name = ""
        self.arguments: list[str] = []

    @property
    def id(self) -> str:
        return str(self._start.get("id") or "")

    def add(self, delta: Json) -> str:
        """Adds a delta. Returns its piece of the arguments."""
        function = delta.get("function") or {}
        self._start |= {name: value for name, value in delta.items() if name != "function"}
        self.name = function.get("name") or self.name
        self.arguments.append(function.get("arguments") or "")
        return self.arguments[-1]

    def json(self) -> Json:
        function = {"name": self.name, "arguments": "".join(self.arguments)}
        return {"type": "function", **self._start, "function": function}


# --- finish reasons --------------------------------------------------------------------------------------

ENDINGS = Endings(
    ("https://docs.cohere.com/v2/reference/chat#response.body.finish_reason",),
    whole={"COMPLETE": "success", "STOP_SEQUENCE": "stop_sequence", "TOOL_CALL": "tool_use"},
    cut={"MAX_TOKENS": "max_tokens", "ERROR": "ERROR", "TIMEOUT": "TIMEOUT"},
)


# --- answers ---------------------------------------------------------------------------------------------


class CohereResponse(OpenAIChatResponse):
    """Reads whole and streamed answers of Cohere."""

    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        message = response.get("message")
        if not isinstance(message, dict):
            raise in_band_error(response)
        reason = response.get("finish_reason")
        whole = self.endings.is_whole(reason)
        contents = list(self.contents(message, cut=not whole))
        return answer(
            tool_calls.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.endings.neutral(reason),
            json=response,
        )

    def contents(self, message: Json, *, cut: bool) -> Iterator[Content]:
        """Yields the contents of the message. Citations point into the whole text, so its first part keeps them."""
        if message.get("tool_plan"):
            plan = {"tool_plan": message["tool_plan"]}
            yield ContentThinking(message["tool_plan"], extra=self.own(fields=plan))
        cited = {"citations": message["citations"]} if message.get("citations") else {}
        citations = cohere_citations(message.get("citations"))
        for part in message.get("content") or ():
            match part:
                case {"type": "text", "text": str(text)}:
                    yield ContentText(text, self.own(fields=cited) if cited else {}, citations)
                    cited, citations = {}, ()
                case {"type": "thinking", "thinking": str(thinking)}:
                    yield ContentThinking(thinking, extra=self.own(part=part))
                case _:
                    yield ContentUnknown(self.name, part)
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            yield tool_calls.call_of(
                call.get("id") or "", function.get("name") or "", function.get("arguments"), cut=cut
            )

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage: the tokens that the model read and wrote. The billed tokens may be fewer."""
        counts = usage.get("tokens") or usage.get("billed_units") or {}
        return Tokens(
            counts.get("input_tokens"), counts.get("output_tokens"), cached=usage.get("cached_tokens")
        )

    def merger(self) -> CohereMerger:
        return CohereMerger()
