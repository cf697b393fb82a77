"""OpenAI Responses, from the wire: the events of a stream as the answer they add up to, and an answer as a turn.

Deltas are only shown. The items come from their `done` events, and the response from the terminal event. Only an item
without a `done` event is built from its deltas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

from ...base.log import warn
from ...contents import content as ours
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..interfaces import CallPiece, Json, Merger, Piece
from ..shared import content_parts, json_objects, tool_calls
from ..shared.content_parts import openai_citations
from ..shared.endings_and_errors import Endings, answer, in_band_error

# --- streams ---------------------------------------------------------------------------------------------


_END = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})

_ARGUMENTS = ("arguments", "", "")

#: Delta event: the field of its item, the type of the part in it, the key of the text in the part.
_PLACES = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.function_call_arguments.delta": _ARGUMENTS,
}


class ResponsesMerger(Merger):
    """The merger. It is complete at a terminal event. It ignores `[DONE]`, which OpenRouter adds."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[int, _Item] = {}
        self._calls: dict[str, _Item] = {}  # the first call of each tool
        self._message: Any = None  # the message of the last text

    @property
    def complete(self) -> bool:
        return self.done

    def add(self, event: Any) -> Sequence[Piece]:
        if not isinstance(event, dict):
            return ()
        kind = event.get("type", "")
        if kind in _PLACES:
            return [*map(partial(self._apart, event), self._item(event).delta(_PLACES[kind], event))]
        if kind == "error" or event.get("error"):
            raise in_band_error(event)
        if isinstance(response := event.get("response"), dict):
            if response.get("error"):
                raise in_band_error(response)
            self._response = response
            self.done = self.done or kind in _END
        elif isinstance(event.get("item"), dict):
            item, content = self._item(event), event["item"]
            item.whole(content, done=kind.endswith(".done"))
            if content.get("type") == "function_call":
                self._calls.setdefault(str(content.get("name")), item)
        return ()

    def _apart(self, event: Json, piece: Piece) -> Piece:
        """Returns a piece, with a blank line before it if it is the first text of a second message."""
        if not isinstance(piece, ours.ContentText):
            return piece
        before, self._message = self._message, event.get("item_id")
        another = before is not None and self._message not in {None, before}
        return ours.ContentText(f"\n\n{piece.text}") if another else piece

    def call_arguments(self, tool: str) -> Sequence[str]:
        return self._calls[tool].arguments() if tool in self._calls else ()

    def _item(self, event: Json) -> _Item:
        index = event.get("output_index", 0)
        if index not in self._items:
            self._items[index] = _Item()
        return self._items[index]

    def response(self) -> Json:
        if self.done and self._response.get("output"):
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

    def delta(self, place: tuple[str, str, str], event: Json) -> Sequence[Piece]:
        fragment = event.get("delta")
        if not isinstance(fragment, str) or not fragment:
            return ()
        index: int = event.get("summary_index") or event.get("content_index") or 0
        fragments = self._fragments.setdefault((place, index), [])
        fragments.append(fragment)
        match place:
            case ("arguments", _, _):
                id, name = self._item.get("call_id"), self._item.get("name")
                return (CallPiece(event.get("output_index", 0), str(id or ""), str(name or ""), fragment),)
            case (_, "summary_text" | "reasoning_text", _):
                paragraph = index and len(fragments) == 1
                return (ours.ContentThinking(f"\n\n{fragment}" if paragraph else fragment),)
            case _:
                return (ours.plain_text(fragment),)

    def arguments(self) -> Sequence[str]:
        """Returns the pieces of a call's arguments. Some servers send them only in the item."""
        whole = self._item.get("arguments")
        return self._fragments.get((_ARGUMENTS, 0)) or ([whole] if whole and isinstance(whole, str) else ())

    def json(self) -> Json:
        item = dict(self._item)
        parts: dict[str, list[Json]] = {}
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
                parts.setdefault(field, []).append({"type": type, key: text})
        item |= {field: [*(item.get(field) or []), *added] for field, added in parts.items()}
        return item if self._done or not item else {**item, "status": "incomplete"}


# --- finish reasons --------------------------------------------------------------------------------------

#: A response has a status; `incomplete_details.reason` says why it is incomplete.
ENDINGS = Endings(
    ("https://developers.openai.com/api/reference/resources/responses",),
    whole={"completed": "success"},
    cut={
        "max_output_tokens": "max_tokens",
        "content_filter": "content_filter",
        "incomplete": "incomplete",
        "failed": "failed",
        "cancelled": "cancelled",
        "in_progress": "in_progress",
        "queued": "queued",
    },
)


# --- answers ---------------------------------------------------------------------------------------------


#: Items that wait for an answer of the program, and what the program can do.
WAITING = {"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"}


def _is_finished(item: Json) -> bool:
    """Tells whether an item of a completed response is complete. A call that a program of the model's makes (programmatic
    tool calling) is `in_progress` until it has its result; its arguments are complete.
    """
    return item.get("status") in {None, "completed"} or bool(
        item.get("status") == "in_progress" and (item.get("arguments") or item.get("input"))
    )


def _tell_of_waiting(output: list[Json]) -> None:
    """Warns of items that wait for an answer, because the chat goes on without one.

    A command that ran in OpenAI's container has its result in the same answer
    (<https://platform.openai.com/docs/guides/tools-shell>).
    """
    answered = {item.get("call_id") for item in output if item.get("type") == "shell_call_output"}
    for item in output:
        if item.get("type") in WAITING and item.get("call_id", item.get("id")) not in answered:
            warn(
                f"This library does not run the `{item['type']}` of the answer. It is in the turn as ContentUnknown; "
                "answer it, or leave out the tool."
            )


class ResponsesResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        output = response.get("output") or []
        _tell_of_waiting(output)
        whole = self.endings.is_whole(response.get("status"))
        contents = [
            content
            for item, after in pairwise([*output, {}])
            for content in self.output(item, after, cut=not whole or not _is_finished(item))
        ]
        return answer(
            tool_calls.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response.get("usage") or {}),
            finish_reason=self.finish_reason(response),
            json=response,
        )

    def output(self, item: Json, after: Json, *, cut: bool) -> Iterator[ours.Content]:
        """Yields the contents of one output item; `after` is the next item."""
        match item:
            case {"type": "message"}:
                yield from self.parts(item)
            case {"type": "reasoning"}:
                yield ours.ContentThinking(_thought(item), extra=self.own(item=item, before=after.get("id")))
            case {"type": "function_call", "call_id": id, "name": name}:
                own = json_objects.without(item, "call_id", "name", "arguments")
                yield tool_calls.call_of(id, name, item.get("arguments"), cut=cut, extra=self.own(item=own))
            case {"type": "custom_tool_call", "call_id": str(id), "name": str(name), "input": str(text)} if (
                not id.startswith(tool_calls.XAI_SEARCH)
            ):
                own = json_objects.without(item, "call_id", "name", "input")
                arguments = json_objects.json_text({"input": text})
                call = tool_calls.call_of(id, name, arguments, cut=cut, extra=self.own(item=own))
                yield ours.replaced(call, raw=text)
            case {"type": "image_generation_call", "result": str(data)} if data:
                type = f"image/{item.get('output_format', 'png')}"
                yield ours.ContentImageInline(
                    type, data, extra=self.own(item=json_objects.without(item, "result"))
                )
            case _:
                yield content_parts.unknown_block(self.name, item)

    def parts(self, message: Json) -> Iterator[ours.Content]:
        """Yields the parts of a message, with the data for sending it back: the item's id, phase, status."""
        own = json_objects.without(message, "content", "role", "type")
        for part in message.get("content") or ():
            match part:
                case {"type": "output_text", "text": str(text)}:
                    rest = json_objects.without(part, "text", "type", "logprobs")
                    cited = openai_citations(part.get("annotations"))
                    yield ours.ContentText(text, extra=self.own(item=own, part=rest), citations=cited)
                case {"type": "refusal", "refusal": str(text)}:
                    yield ours.ContentText(text, extra=self.own(item=own, part={"refusal": text}))
                case _:
                    yield ours.ContentUnknown(
                        self.name, {"type": "message", "role": "assistant", "content": [part]}
                    )

    def tokens(self, usage: Json) -> Tokens:
        """Returns the usage. Cached tokens are part of the input, and reasoning is part of the output."""
        ins, outs = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
        return Tokens(
            input=usage.get("input_tokens"),
            output=usage.get("output_tokens"),
            cached=ins.get("cached_tokens"),
            cache_write=ins.get("cache_write_tokens"),
            reasoning=outs.get("reasoning_tokens"),
        )

    def finish_reason(self, response: Json) -> str | None:
        """Returns the reason. The format has only a status, so the completed items decide."""
        status = response.get("status")
        if self.endings.is_whole(status):
            return self._completed(response.get("output") or [])
        details = response.get("incomplete_details") or {}
        return self.endings.neutral(details.get("reason") or status)

    def _completed(self, output: list[Json]) -> str:
        kinds = {item.get("type") for item in output}
        kinds |= {part.get("type") for item in output for part in item.get("content") or ()}
        if kinds & {"function_call", "custom_tool_call"}:
            return "tool_use"
        return "content_filter" if "refusal" in kinds else "success"

    def merger(self) -> ResponsesMerger:
        return ResponsesMerger()


def _thought(item: Json) -> str:
    """Returns the summary's paragraphs, or else the reasoning itself, which open models give."""
    parts = item.get("summary") or item.get("content") or []
    return "\n\n".join(part.get("text") or "" for part in parts)
