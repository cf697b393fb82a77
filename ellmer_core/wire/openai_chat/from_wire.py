"""OpenAI Chat Completions, from the wire: the events of a stream as the answer they add up to, and an answer as a turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from operator import itemgetter
from typing import Any, ClassVar

from ...contents.content import (
    Content,
    ContentFile,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    plain_text,
)
from ...contents.turns import AssistantTurn, Tokens
from ..base import Wire
from ..interfaces import CallPiece, Json, Merger, Piece
from ..shared import content_parts, json_objects, tool_calls
from ..shared.content_parts import cited_last, openai_citations, sources
from ..shared.endings_and_errors import Endings, answer, in_band_error
from ..shared.json_objects import json_text
from ..shared.tool_calls import executed

# --- fragments -------------------------------------------------------------------------------------------

_NAMES = frozenset({"type", "id", "format", "index", "expires_at"})


class Fragments:
    """An object that arrives in fragments: text is joined to text, list to list, and names are not joined. The text is
    joined once, at the end, so that n fragments take n steps.
    """

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}

    def add(self, fragment: Json) -> None:
        for name, value in fragment.items():
            match self._fields.get(name), value:
                case _Text() as text, str() if name not in _NAMES:
                    text.append(value)
                case _Chunks() as chunks, list():
                    chunks.extend(value)
                case _ if value is not None or name not in self._fields:
                    self._fields[name] = _first_of(value)

    def json(self) -> Json:
        return {name: _joined(value) for name, value in self._fields.items()}


class _Text(list[str]):
    """The pieces of a text."""


class _Chunks:
    """A list of chunks. A chunk of text (or thinking) after one of the same type is joined with it."""

    def __init__(self, chunks: list[Any]) -> None:
        self.chunks = deepcopy(chunks)
        self._last: Fragments | None = None  # the last chunk, if others were joined with it

    def extend(self, more: list[Any]) -> None:
        for chunk in more:
            type = chunk.get("type") if isinstance(chunk, dict) else None
            if type in {"text", "thinking"} and type == self._type():
                self._open().add(chunk)
            else:
                self._close()
                self.chunks.append(deepcopy(chunk))

    def json(self) -> list[Any]:
        self._close()
        return self.chunks

    def _type(self) -> Any:
        last = self.chunks[-1] if self.chunks else None
        return last.get("type") if isinstance(last, dict) else None

    def _open(self) -> Fragments:
        if self._last is None:
            self._last = Fragments()
            self._last.add(self.chunks[-1])
        return self._last

    def _close(self) -> None:
        if self._last is not None:
            self.chunks[-1] = self._last.json()
            self._last = None


def _first_of(value: Any) -> Any:
    if isinstance(value, str):
        return _Text([value])
    return _Chunks(value) if isinstance(value, list) else deepcopy(value)


def _joined(value: Any) -> Any:
    if isinstance(value, _Text):
        return "".join(value)
    return value.json() if isinstance(value, _Chunks) else value


def folded(pieces: list[str | Json]) -> str | list[Json] | None:
    """Returns the content of the message: one string, or a list if the deltas were chunks."""
    if set(map(type, pieces)) <= {str}:
        return "".join(map(str, pieces)) or None
    chunks = _Chunks([])
    chunks.extend([{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in pieces])
    return chunks.json()


# --- streams ---------------------------------------------------------------------------------------------


_NOT_KEPT = ("choices", "object", "obfuscation", "p")  # the last two are random padding
_HAS_VALUE = itemgetter(1)
_NO_REASON = (None, "")
_DELTAS = frozenset({"delta", "message", "index", "text"})
_CALL = frozenset({"id", "index", "type", "function", "custom"})
_IN_PIECES = 1000  # characters of a name or an id, after which no more pieces are joined to it: no tool has such a name


class ChatMerger(Merger):
    """The merger. It is complete at `[DONE]`, or when every choice has its finish reason. A few providers leave out
    the one (Perplexity, some behind Hugging Face and OpenRouter) or the other (Nebius).
    """

    def __init__(self) -> None:
        self._top: Json = {}
        self._choices: dict[int, _Choice] = {}
        self._unfinished: set[int] = set()  # choices without a finish reason
        self._done = False

    @property
    def complete(self) -> bool:
        return self._done or (bool(self._choices) and not self._unfinished)

    def add(self, event: Any) -> Sequence[Piece]:
        if not isinstance(event, dict):
            self._done = self._done or event == "[DONE]"
            return ()
        if event.get("error"):
            raise in_band_error(event)
        self._top.update(event if all(event.values()) else filter(_HAS_VALUE, event.items()))
        shown: list[Piece] = []
        for choice in event.get("choices") or ():
            index = choice.get("index") or 0
            if (known := self._choices.get(index)) is None:
                known = self._choices[index] = _Choice(index)
                self._unfinished.add(index)
            known.add(choice, [] if index else shown)
            if "finish_reason" in known.fields:
                self._unfinished.discard(index)
        return shown

    def call_arguments(self, tool: str) -> Sequence[str]:
        named = self._choices[0].named if 0 in self._choices else {}
        return named[tool].arguments if tool in named else ()

    def response(self) -> Json:
        choices = [self._choices[index].json() for index in sorted(self._choices)]
        if self._done:
            choices = [_with_its_end(choice) for choice in choices]
        return {
            **json_objects.without(self._top, *_NOT_KEPT),
            "object": "chat.completion",
            "choices": choices,
        }


def _with_its_end(choice: Json) -> Json:
    """Returns a choice of a stream that ended with `[DONE]`. Spoken answers have no finish reason (recorded)."""
    spoken = choice["message"].get("audio") and not choice["message"].get("tool_calls")
    return {**choice, "finish_reason": "stop"} if spoken and not choice["finish_reason"] else choice


class _Choice:
    """One choice: its own fields, and its message as lists of fragments."""

    def __init__(self, index: int) -> None:
        self.fields: Json = {"index": index}
        self._message: Json = {"role": "assistant"}
        self._content: list[str | Json] = []
        self._texts: dict[str, list[str]] = {}
        self._details: dict[Any, Fragments] = {}
        self._fragments: dict[str, Fragments] = {}  # of `audio`, and of `logprobs` beside the message
        self._calls: list[_Call] = []
        self._open: dict[Any, _Call] = {}
        self.named: dict[str, _Call] = {}  # the first call of each tool
        self._shows = ""  # the field whose thoughts are shown

    def add(self, choice: Json, shown: list[Piece]) -> None:
        """Adds one delta. Its visible part is appended to `shown`."""
        for name, value in choice.items():
            if value and name not in _DELTAS:
                self._keep(name, value, choice)
            elif (
                name == "finish_reason" and value not in _NO_REASON
            ):  # `false` or `0`: no reason that anyone lists
                self.fields[name] = value
        delta = (choice["delta"] if "delta" in choice else choice.get("message")) or {}
        for name, value in delta.items():
            if not value:
                continue
            if name == "content" and type(value) is str:
                self._content.append(value)
                shown.append(plain_text(value))
            elif name in self._parts:
                self._parts[name](self, value, shown)
            elif isinstance(value, list):
                self._message.setdefault(name, []).extend(value)
            else:
                self._message[name] = value

    def _keep(self, name: str, value: Any, choice: Json) -> None:
        if name == "error" or (name == "finish_reason" and value == "error"):  # Mistral, OpenRouter
            raise in_band_error(choice)
        if name == "logprobs" and isinstance(value, dict):
            self._fragments.setdefault(name, Fragments()).add(value)
        else:
            self.fields[name] = value

    def _add_content(self, chunks: Any, shown: list[Piece]) -> None:
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

    def _add_reasoning(self, value: str, shown: list[Piece]) -> None:
        self._add_thought("reasoning", value, shown)

    def _add_reasoning_content(self, value: str, shown: list[Piece]) -> None:
        self._add_thought("reasoning_content", value, shown)

    def _add_thought(self, name: str, value: str, shown: list[Piece]) -> None:
        self._texts.setdefault(name, []).append(value)
        self._show_thought(name, value, shown)

    def _show_thought(self, name: str, value: str, shown: list[Piece]) -> None:
        """Shows the thoughts of one field, because the same text may arrive under several names."""
        self._shows = self._shows or name
        if self._shows == name:
            shown.append(ContentThinking(value))

    def _add_refusal(self, value: str, shown: list[Piece]) -> None:
        self._texts.setdefault("refusal", []).append(value)
        shown.append(ContentText(value))

    def _add_details(self, details: list[Json], shown: list[Piece]) -> None:
        for detail in details:
            if text := detail.get("text") or detail.get("summary"):
                self._show_thought("reasoning_details", text, shown)
            index = detail.get("index")
            key = len(self._details) if index is None else (detail.get("type"), index)
            self._details.setdefault(key, Fragments()).add(detail)

    def _add_audio(self, audio: Json, shown: list[Piece]) -> None:
        self._fragments.setdefault("audio", Fragments()).add(audio)
        if audio.get("transcript"):
            shown.append(ContentText(audio["transcript"]))

    def _add_function_call(self, function: Json, shown: list[Piece]) -> None:
        if any(function.values()):  # `tool_calls` until 2023; Snowflake sends it with empty values
            self._add_calls([{"index": "function_call", "function": function}], shown)

    def _add_calls(self, deltas: list[Json] | Json, shown: list[Piece]) -> None:
        for delta in [deltas] if isinstance(deltas, dict) else deltas:  # TGI sends the call itself
            index = delta.get("index")
            call = self._open.get(index)
            if call is None or call.is_another(delta):
                call = self._open[index] = _Call()
                self._calls.append(call)
            if piece := call.add(delta):
                shown.append(CallPiece(id(call), call.id, call.name, piece))
            self.named.setdefault(call.name, call)

    _parts: ClassVar[dict[str, Callable[[_Choice, Any, list[Piece]], None]]] = {
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
            message["reasoning_details"] = [detail.json() for detail in self._details.values()]
        if "audio" in self._fragments:
            message["audio"] = self._fragments["audio"].json()
        if self._calls:
            message["tool_calls"] = [call.json() for call in self._calls]
        logprobs = {"logprobs": self._fragments["logprobs"].json()} if "logprobs" in self._fragments else {}
        return {"finish_reason": None, **self.fields, **logprobs, "message": message}


class _Call:
    """One tool call while it arrives. Its id and name may come late, or in pieces."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self._whole = tool_calls.WholeObject(self.arguments)
        self._kind = "function"
        self._rest: Json = {}

    def is_another(self, delta: Json) -> bool:
        """Tells whether a delta at this call's index opens a new call: it has a name and another id, or it has no id
        and either no index or this call's arguments are complete.
        """
        if not self.name or not _body(delta).get("name"):
            return False
        if delta.get("id"):
            return bool(self.id) and delta["id"] != self.id
        return delta.get("index") is None or self._whole.reached()

    def add(self, delta: Json) -> str:
        """Adds a delta. Returns its piece of the arguments."""
        body = _body(delta)
        arguments = body.get("arguments", body.get("input"))
        self._kind = kind_of(delta) if body else self._kind
        # Servers that make up a new id for every fragment send arguments along: the first one wins.
        if (id := delta.get("id")) and id != self.id and (not self.id or not arguments):
            self.id += id if len(self.id) < _IN_PIECES else ""
        if (name := body.get("name")) and name != self.name:
            self.name += name if len(self.name) < _IN_PIECES else ""
        self._rest |= {k: v for k, v in delta.items() if v and k not in _CALL}
        if not arguments:
            return ""
        self.arguments.append(arguments if isinstance(arguments, str) else json_text(arguments))
        return self.arguments[-1]

    def json(self) -> Json:
        placeholder = len(self.arguments) > 1 and self.arguments[0] == "{}"
        arguments = "".join(self.arguments[1:] if placeholder else self.arguments)
        key = "input" if self._kind == "custom" else "arguments"
        return {
            "id": self.id,
            "type": self._kind,
            self._kind: {"name": self.name, key: arguments},
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


# --- finish reasons --------------------------------------------------------------------------------------

#: Words that servers of Chat Completions share are here, also where OpenAI has none of them: many are reached through
#: a gateway. What only one provider says stands in the provider's file.
ENDINGS = Endings(
    (
        "https://developers.openai.com/api/reference/resources/chat",
        "https://huggingface.github.io/text-generation-inference/ (FinishReason: length, eos_token, stop_sequence)",
        "https://docs.mistral.ai/api/endpoint/chat (model_length)",
    ),
    whole={
        "stop": "success",
        "end_turn": "success",  # recorded behind gateways
        "eos": "success",  # Together, recorded
        "eos_token": "success",  # Text Generation Inference, recorded
        "stop_sequence": "stop_sequence",
        "tool_calls": "tool_use",
        "tool_call": "tool_use",  # Azure's other models, recorded
        "function_call": "tool_use",
    },
    cut={"length": "max_tokens", "model_length": "context_window", "content_filter": "content_filter"},
)


# --- answers ---------------------------------------------------------------------------------------------


#: Fields in which providers put reasoning, the most readable first.
REASONING = ("reasoning_content", "reasoning", "reasoning_details")


class OpenAIChatResponse(Wire):
    """Reads complete answers. A stream is merged into one first."""

    endings: ClassVar[Endings] = ENDINGS

    @json_objects.sensible
    def turn(self, response: Json) -> AssistantTurn:
        if response.get("error"):
            raise in_band_error(response)
        choice = (response.get("choices") or [{}])[0]
        if choice.get("error") or choice.get("finish_reason") == "error":
            raise in_band_error(choice)
        message = choice.get("message") or {}
        reason = choice.get("finish_reason")
        whole = self.endings.is_whole(reason)
        contents = [
            *self.thought(message),
            *(executed(self.name, message) if "executed_tools" in message else ()),
            *self.text(message),
            *self.calls(message, cut=not whole),
        ]
        turn = answer(
            tool_calls.distinct(contents, response),
            whole=whole,
            tokens=self.tokens(response),
            finish_reason=self.finish_reason(reason, message),
            json=response,
        )
        beside = sources(response) if {"search_results", "citations"} & response.keys() else ()
        return cited_last(turn, beside) if beside else turn

    def thought(self, message: Json) -> Iterator[ContentThinking]:
        """Yields the reasoning beside the content. Some providers send it under two names; both are sent back."""
        fields = {name: message[name] for name in REASONING if message.get(name)}
        if fields:
            texts = (_reasoning_text(value) for value in fields.values())
            yield ContentThinking(next(filter(None, texts), ""), extra=self.own(fields=fields))

    def text(self, message: Json) -> Iterator[Content]:
        """Yields the content, whole or in parts, and what replaces it: a refusal, audio, images."""
        annotations = message.get("annotations")
        extra = self.own(fields={"annotations": annotations}) if annotations else {}
        cited = openai_citations(annotations) if annotations else ()
        match message.get("content"):
            case str(text) if text:
                yield ContentText(text, extra=extra, citations=cited)
            case list(parts):
                for part in parts:
                    yield from self.part(part)
            case dict(value):  # Cloudflare parses the JSON it was asked for
                yield ContentText(json_objects.json_text(value), extra=extra)
        if message.get("refusal"):
            yield ContentText(message["refusal"], extra=self.own(fields={"refusal": message["refusal"]}))
        audio = message.get("audio") or {}
        if transcript := audio.get("transcript"):
            yield ContentText(transcript)
        if isinstance(sound := audio.get("data"), str) and sound:
            from ...contents.media_bytes import audio_type  # noqa: PLC0415 - few answers have audio

            yield ContentFile(audio_type(sound), sound, "answer")
        for image in message.get("images") or ():
            yield from self.part(image)

    def part(self, part: Json) -> Iterator[Content]:
        """Converts a part of a content list."""
        match part:
            case {"type": "text", "text": str(text)}:
                yield ContentText(text)
            case {"type": "thinking", "thinking": thinking}:
                yield ContentThinking(_reasoning_text(thinking), extra=self.own(part=part))
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield content_parts.image(url)
            case _:
                yield content_parts.unknown_block(self.name, part)

    def calls(self, message: Json, *, cut: bool) -> Iterator[ContentToolRequest]:
        """Yields the tool calls. The calls of a truncated answer may be truncated."""
        calls = message.get("tool_calls") or []
        calls = [calls] if isinstance(calls, dict) else calls
        if (message.get("function_call") or {}).get("name"):
            calls = [*calls, {"function": message["function_call"]}]
        for call in calls:
            yield self.tool_request(call, cut=cut)

    def tool_request(self, call: Json, *, cut: bool) -> ContentToolRequest:
        """Converts a tool call. The input of a custom tool is text, which none of our tools accepts."""
        kind = kind_of(call)
        body = call.get(kind) or {}
        rest = json_objects.without(call, "id", "index", "type", kind)
        own = ({"type": kind} if kind == "custom" else {}) | ({"fields": rest} if rest else {})
        return tool_calls.call_of(
            call.get("id") or "",
            body.get("name") or "",
            body.get("arguments", body.get("input")),
            cut=cut,
            extra=self.own(**own) if own else {},
        )

    def tokens(self, response: Json, /) -> Tokens:
        """Returns the usage, also in the places of Groq and Moonshot. If the total counts reasoning in addition to
        the completion (xAI), so do we.
        """
        beside = [response, response.get("x_groq") or {}, *(response.get("choices") or ())]
        usage: Json = next((place["usage"] for place in beside if place.get("usage")), {})
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        ins, outs = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
        reasoning = outs.get("reasoning_tokens", usage.get("reasoning_tokens"))
        if (
            reasoning
            and completion is not None
            and usage.get("total_tokens") == (prompt or 0) + completion + reasoning
        ):
            completion += reasoning
        return Tokens(
            input=prompt,
            output=completion,
            cached=ins.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
            cache_write=ins.get("cache_write_tokens"),
            reasoning=reasoning,
        )

    def finish_reason(self, reason: str | None, message: Json) -> str | None:
        """Returns the neutral reason. A stop with calls is a stop for tool calls, and one with a refusal is a
        filter's.
        """
        neutral = self.endings.neutral(reason)
        if neutral != "success":
            return neutral
        if message.get("refusal"):
            return "content_filter"
        called = message.get("tool_calls") or (message.get("function_call") or {}).get("name")
        return "tool_use" if called else neutral

    def merger(self) -> Merger:
        return ChatMerger()


def _reasoning_text(value: Any) -> str:
    """Returns the text of reasoning: a string, or a list of chunks with `text` or `summary`."""
    if isinstance(value, list):
        return "".join(_reasoning_text(chunk) for chunk in value)
    if isinstance(value, Mapping):
        return _reasoning_text(value.get("text") or value.get("summary") or "")
    return value if isinstance(value, str) else ""
