"""Ollama's own chat, from the wire: the events of a stream as the answer they add up to, and an answer as a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...contents.content import Content, ContentText, ContentThinking, plain_text
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..interfaces import Json, Merger
from ..shared import json_objects, tool_calls
from ..shared.endings_and_errors import Endings, answer, in_band_error

# --- streams ---------------------------------------------------------------------------------------------


class OllamaMerger(Merger):
    """The merger of a stream's lines: text and thinking arrive in pieces, calls whole. It is complete at the line
    with `done`.
    """

    def __init__(self) -> None:
        self._last: Json = {}
        self._message: Json = {"role": "assistant"}
        self._texts: dict[str, list[str]] = {"content": [], "thinking": []}
        self._lists: dict[str, list[Any]] = {}
        self._calls: dict[str, list[str]] = {}  # the arguments of the first call of each tool

    @property
    def complete(self) -> bool:
        return self.done

    def add(self, event: Any) -> Sequence[Content]:
        if not isinstance(event, dict):
            return ()
        if event.get("error"):
            raise in_band_error(event)
        self._last |= event
        self.done = bool(self._last.get("done"))
        if event.get("logprobs"):
            self._lists.setdefault("logprobs", []).extend(event["logprobs"])
        shown: list[Content] = []
        for name, value in (event.get("message") or {}).items():
            if name in self._texts and value:
                self._texts[name].append(value)
                shown.append(ContentThinking(value) if name == "thinking" else plain_text(value))
            elif isinstance(value, list):
                self._message.setdefault(name, []).extend(value)
                if name == "tool_calls":
                    self._note(value)
            elif value and name not in self._texts:
                self._message[name] = value
        return shown

    def _note(self, calls: list[Json]) -> None:
        for call in calls:
            function = call.get("function") or {}
            arguments = json_objects.json_text(function.get("arguments") or {})
            self._calls.setdefault(str(function.get("name")), [arguments])

    def call_arguments(self, tool: str) -> Sequence[str]:
        return self._calls.get(tool, ())

    def response(self) -> Json:
        texts = {name: "".join(parts) for name, parts in self._texts.items() if parts or name == "content"}
        return {**self._last, **self._lists, "message": {**self._message, **texts}}


# --- finish reasons --------------------------------------------------------------------------------------

ENDINGS = Endings(
    ("https://github.com/ollama/ollama/blob/main/llm/server.go (DoneReason)",),
    whole={"": "success", "stop": "success"},  # servers of before May 2024 say `done` and no reason
    cut={"length": "max_tokens", "load": "load", "unload": "unload"},
)


# --- answers ---------------------------------------------------------------------------------------------


class OllamaResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        message, reason = response.get("message") or {}, response.get("done_reason")
        whole = response.get("done") is True and self.endings.is_whole(reason)
        contents = list(self.contents(message, cut=not whole))
        return answer(
            tool_calls.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response),
            finish_reason=self.finish_reason(reason, message) if response.get("done") else None,
            json=response,
        )

    def contents(self, message: Json, *, cut: bool) -> Iterator[Content]:
        """Yields the contents of the message. Old servers give calls no id."""
        if message.get("thinking"):
            yield ContentThinking(message["thinking"], extra=self.own())
        if message.get("content"):
            yield ContentText(message["content"])
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            yield tool_calls.call_of(
                call.get("id") or "", function.get("name") or "", function.get("arguments"), cut=cut
            )

    def tokens(self, response: Json) -> Tokens:
        """Returns the usage. The server leaves out a count of 0 (for example, of a cached prompt)."""
        counted = response.keys() & {"prompt_eval_count", "eval_count", "total_duration"}
        none = 0 if counted else None
        return Tokens(response.get("prompt_eval_count", none), response.get("eval_count", none))

    def finish_reason(self, reason: str | None, message: Json) -> str | None:
        """Returns the neutral reason. A stop with calls is a stop for tool calls."""
        neutral = self.endings.neutral(reason)
        return "tool_use" if message.get("tool_calls") and neutral == "success" else neutral

    def merger(self) -> OllamaMerger:
        return OllamaMerger()
