"""A conversation over an SDK that has none: it sends a request, runs the tools, and sends the next one.

The raw SDKs are the control: libraries on top of them inherit their violations. This loop therefore does all that an
SDK leaves to its caller, and relies on the SDK for everything else.
"""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from ellmer_conformance.adapters import Endpoint
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import (
    PDF,
    Audio,
    Image,
    Part,
    Reply,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)

__all__ = [
    "CUT",
    "CUT_OFF",
    "HEARING",
    "NOT_RUN",
    "CallResult",
    "ChatMessages",
    "MediaInResults",
    "ModelAnswer",
    "Parsing",
    "SDKSession",
    "base64_of",
    "call_of",
    "calls_in",
    "chat_part",
    "chat_tool",
    "data_url",
    "hoisted",
    "json_of",
    "media_type",
    "model_of",
    "open_calls",
    "parameters",
    "run_call",
    "text_of",
    "texts_and_calls",
]


# --- The value of a tool, in the forms that libraries require --------------------------------------------


NOT_RUN = "Error: the call was not run."
CUT_OFF = "The token limit cut your tool call off, and it was not run. Please try again."
CUT = "(cut off)"
_SEEN = {"image/png", "image/jpeg", "image/gif", "image/webp"}  # by every provider


def base64_of(part: Audio | Image | PDF) -> str:
    """Returns the bytes as base64."""
    return base64.b64encode(part.data).decode("ascii")


def media_type(part: Audio | Image | PDF) -> str:
    """Returns the media type, for example `image/png`."""
    return "application/pdf" if isinstance(part, PDF) else part.type


def data_url(part: Image | PDF) -> str:
    """Returns a URL with the bytes, or the image's own URL."""
    if isinstance(part, Image) and part.url:
        return part.url
    return f"data:{media_type(part)};base64,{base64_of(part)}"


def text_of(value: Any) -> str:
    """Returns a tool's value without media, as the text of a result."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def hoisted(id: str, value: Any) -> tuple[str, list[Part]]:
    """Returns the text of a result, with `[see below]` for media, and the media, each between tags with the id of the
    call.
    """
    items = value if isinstance(value, list) else [value]
    media = [item for item in items if isinstance(item, Image | PDF)]
    if not media:
        return text_of(value), []
    places = [f"[see below: item {n}]" if item in media else item for n, item in enumerate(items, 1)]
    parts: list[Part] = []
    for item in media:
        parts += [Text(f'<content tool-call-id="{id}">'), item, Text("</content>")]
    return (text_of(places) if isinstance(value, list) else "[see below]"), parts


def parameters(tool: Tool) -> Json:
    """Returns the JSON Schema of a tool's arguments, as a copy."""
    copied: Json = json.loads(json.dumps(tool.parameters, default=dict))
    return copied


def call_of(part: Part) -> ToolCall:
    """Returns the call of a part of an assistant turn, or nothing for text."""
    if isinstance(part, ToolCall):
        return part
    raise TypeError(f"{type(part).__name__} is not supported in an assistant turn")


def calls_in(history: Sequence[Turn]) -> dict[str, ToolCall]:
    """Returns every call in a history, by id."""
    return {part.id: part for turn in history for part in turn.parts if isinstance(part, ToolCall)}


def open_calls(history: Sequence[Turn]) -> dict[str, ToolCall]:
    """Returns the unanswered calls at the end of a history, by id."""
    last = history[-1].parts if history and history[-1].role == "assistant" else ()
    return {part.id: part for part in last if isinstance(part, ToolCall)}


def run_call(tools: Mapping[str, Tool], name: str, arguments: Any) -> tuple[Any, bool]:
    """Returns the result of a call: the value, or a sentence and True if it failed."""
    if name not in tools:
        return f"Error: there is no tool {name}.", True
    try:
        value = tools[name].run(
            **(json.loads(arguments or "{}") if isinstance(arguments, str) else arguments or {})
        )
        deep = list(_nested(value))
        unseen = _unseen(value)
    except Exception as error:  # noqa: BLE001 - every error of a tool is reported to the model
        return f"Error: {type(error).__name__}: {error}", True
    if deep:
        return f"Error: {name} returned media in {deep[0]}: return them one level higher.", True
    if unseen:
        return f"Error: {name} returned an image of the type {unseen[0]}, which models do not see.", True
    return value, False


def _unseen(value: Any) -> list[str]:
    """Returns the types of its images that no provider accepts."""
    items = value if isinstance(value, list) else [value]
    return [item.type for item in items if isinstance(item, Image) and item.type not in _SEEN]


def _nested(value: Any, place: str = "value", depth: int = 0) -> Iterator[str]:
    """Yields the places of media that are nested too deeply."""
    if isinstance(value, Image | PDF) and depth > 1:
        yield place
    elif isinstance(value, list | dict):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _nested(item, f"{place}[{key}]", depth + 1)


# --- The loop --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelAnswer:
    """An answer of the model. `messages` are the SDK's own, for the next request. A call's arguments may be JSON
    text. Its calls are run, also where `stop` says that it is whole, as some compatible servers do.
    """

    text: str
    messages: Sequence[Any]
    stop: str | None = None
    calls: Sequence[tuple[str, str, Any]] = ()  # id, name, arguments
    usage: Mapping[str, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.calls and self.stop == "stop":
            object.__setattr__(self, "stop", "tool")


@dataclass(frozen=True)
class CallResult:
    """A result for the next request. `media` is the content that the text points at, if the result cannot contain it."""

    id: str
    name: str
    value: Any
    failed: bool = False

    @property
    def text(self) -> str:
        """The text of the result. It is never blank, because some providers refuse that."""
        return hoisted(self.id, self.value)[0] or "(nothing)"

    @property
    def media(self) -> list[Part]:
        """The media that come after all results."""
        return hoisted(self.id, self.value)[1]


class SDKSession(ABC):
    """A history in the SDK's own messages. Subclasses define the requests and the messages."""

    def __init__(
        self, endpoint: Endpoint, system: str | None, tools: Sequence[Tool], history: Sequence[Turn]
    ) -> None:
        self.endpoint, self.system = endpoint, system
        self.tools = {tool.name: tool for tool in tools}
        self.messages: list[Any] = []
        self.pieces: list[str] = []
        self.waiting: Mapping[str, ToolCall] = open_calls(history)
        calls = calls_in(history)
        for turn in history:
            if turn.role == "user":
                results = [
                    CallResult(p.id, calls[p.id].name, p.value)
                    for p in turn.parts
                    if isinstance(p, ToolResult)
                ]
                self.messages += self.user(results, _without_results(turn.parts))
            else:
                self.messages += self.assistant(turn.parts)

    @abstractmethod
    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        """Returns results and the user's message as messages."""

    @abstractmethod
    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        """Returns an assistant turn of a foreign history as messages."""

    @abstractmethod
    def ask(self, *, stream: bool) -> ModelAnswer:
        """Sends the messages. A stream adds its text to `pieces`."""

    @abstractmethod
    async def aask(self, *, stream: bool) -> ModelAnswer:
        """Works as `ask()`, without blocking."""

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        try:
            with closing(self._talk(parts)) as talk:
                next(talk)
                while True:
                    talk.send(self.ask(stream=stream))
        except StopIteration as done:
            return self._reply(done.value, stream)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return self._broken(error)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        try:
            with closing(self._talk(parts)) as talk:
                next(talk)
                while True:
                    talk.send(await self.aask(stream=stream))
        except StopIteration as done:
            return self._reply(done.value, stream)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return self._broken(error)

    def transcript(self) -> str:
        return ""

    def close(self) -> None:
        return  # every request has its own client

    def _talk(self, parts: Sequence[Part]) -> Generator[None, ModelAnswer, ModelAnswer]:
        """Runs a user turn: yields to send a request, is sent the answer, and returns the last answer."""
        self.pieces = []
        before = len(self.messages)
        values = {part.id: part.value for part in parts if isinstance(part, ToolResult)}
        results = [
            CallResult(c.id, c.name, values.get(c.id, NOT_RUN), c.id not in values)
            for c in self.waiting.values()
        ]
        self.messages += self.user(results, _without_results(parts))
        try:
            answer = yield
        except GeneratorExit:
            del self.messages[before:]
            raise
        self.waiting = {}
        self._told_apart(answer, before)
        while answer.calls and answer.stop in {"tool", "length"}:  # as every SDK's documentation has it
            if answer.stop == "length":
                self.messages += [
                    *self.assistant([Text(answer.text or CUT)]),
                    *self.user([], [Text(CUT_OFF)]),
                ]
            else:
                self.messages += [
                    *answer.messages,
                    *self.user([self._run(*call) for call in answer.calls], []),
                ]
            self.pieces = []
            answer = yield
            self._told_apart(answer, before)
        if answer.text:
            self.messages += self.assistant([Text(answer.text)]) if answer.calls else answer.messages
        return answer

    def _told_apart(self, answer: ModelAnswer, before: int) -> None:
        """Refuses an answer in which two calls have one id, and gives the turn up: no result can be told from the other."""
        ids = [id for id, _, _ in answer.calls if id]
        if len(set(ids)) < len(ids):
            del self.messages[before:]
            raise ValueError(f"two calls of the model have one id: {', '.join(sorted(set(ids)))}")

    def ran_tools(self, answer: ModelAnswer) -> bool:
        """Runs the called tools, and adds calls and results to the history."""
        if answer.calls and answer.stop == "tool":
            self.messages += [*answer.messages, *self.user([self._run(*call) for call in answer.calls], [])]
        return bool(answer.calls) and answer.stop == "tool"

    def _run(self, id: str, name: str, arguments: Any) -> CallResult:
        value, failed = run_call(self.tools, name, arguments)
        return CallResult(id, name, value, failed)

    def _reply(self, answer: ModelAnswer, stream: bool) -> Reply:
        return Reply(answer.text, answer.stop, usage=answer.usage, pieces=self.pieces if stream else ())

    def _broken(self, error: Exception) -> Reply:
        return Reply("".join(self.pieces), complete=False, error=error, pieces=self.pieces)


def _without_results(parts: Sequence[Part]) -> list[Part]:
    """Returns the user's content without results."""
    return [part for part in parts if not isinstance(part, ToolResult)]


def texts_and_calls(parts: Sequence[Part]) -> tuple[str, list[ToolCall]]:
    """Returns the texts and the calls of an assistant turn."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return text, [part for part in parts if isinstance(part, ToolCall)]


# --- A history in the messages of Chat Completions -------------------------------------------------------


#: The wire formats in which a message may have audio, as the messages have it.
HEARING = ("openai-chat", "gemini")
_CHAT_STOPS = {"tool_calls": "tool", "content_filter": "filter"}


class ChatMessages(SDKSession, ABC):
    """A history in the messages of Chat Completions.

    Each result is one tool message, and a user message follows with the content that tool messages cannot hold.
    """

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        messages = [{"role": "tool", "tool_call_id": r.id, "content": r.text} for r in results]
        content = [chat_part(part) for r in results for part in r.media] + [chat_part(part) for part in parts]
        return [*messages, *([{"role": "user", "content": content}] if content else [])]

    def assistant(self, parts: Sequence[Part]) -> list[Any]:
        text, calls = texts_and_calls(parts)
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json_of(c.arguments)}}
            for c in calls
        ]
        return [{"role": "assistant", "content": text or None, **({"tool_calls": asked} if asked else {})}]

    def body(self) -> Json:
        """Returns the model, messages and tools of a request."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        tools = [chat_tool(tool) for tool in self.tools.values()]
        body = {"model": self.endpoint.model, "messages": [*system, *self.messages]}
        return body | ({"tools": tools} if tools else {})

    def answer(self, completion: Any) -> ModelAnswer:
        """Returns the content of a chat completion."""
        choice = completion.choices[0]
        message, usage = choice.message, completion.usage
        calls = message.tool_calls or []
        return ModelAnswer(
            words(message),
            [self.history_message(message)],
            _CHAT_STOPS.get(choice.finish_reason, choice.finish_reason),
            [(call.id, call.function.name, call.function.arguments) for call in calls],
            {"input": usage.prompt_tokens, "output": usage.completion_tokens} if usage else {},
        )

    def history_message(self, message: Any) -> Any:
        """Returns the message for the next request."""
        calls = {"tool_calls": [_call(call) for call in message.tool_calls]} if message.tool_calls else {}
        return {"role": "assistant", "content": words(message) or None, **calls}


def words(message: Any) -> str:
    """Returns what the model says: its text, or the words with which it refuses, where an SDK has them."""
    more = getattr(message, "provider_specific_fields", None) or {}  # of litellm
    return message.content or getattr(message, "refusal", None) or more.get("refusal") or ""


class MediaInResults(ChatMessages, ABC):
    """A history whose tool messages may contain media, for libraries that move the media themselves."""

    def user(self, results: Sequence[CallResult], parts: Sequence[Part]) -> list[Any]:
        messages = [{"role": "tool", "tool_call_id": r.id, "content": _inside(r)} for r in results]
        content = [chat_part(part) for part in parts]
        return [*messages, *([{"role": "user", "content": content}] if content else [])]


def _inside(result: CallResult) -> Any:
    items = result.value if isinstance(result.value, list) else [result.value]
    if not result.media:
        return result.text
    return [chat_part(item if isinstance(item, Image | PDF) else Text(str(item))) for item in items]


def _call(call: Any) -> Json:
    function = {"name": call.function.name, "arguments": call.function.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def chat_part(part: Part) -> Json:
    """Returns a part of a user message in Chat Completions."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image():
            return {"type": "image_url", "image_url": {"url": data_url(part)}}
        case Audio():
            return {"type": "input_audio", "input_audio": {"data": base64_of(part), "format": "wav"}}
        case PDF(filename=filename):
            return {"type": "file", "file": {"filename": filename, "file_data": data_url(part)}}
    raise TypeError(f"{type(part).__name__} is not supported in a user message")


def chat_tool(tool: Tool) -> Json:
    """Returns a tool in Chat Completions."""
    function = {"name": tool.name, "description": tool.description, "parameters": parameters(tool)}
    return {"type": "function", "function": function}


def json_of(arguments: Mapping[str, Any]) -> str:
    """Returns arguments as the JSON text of OpenAI's formats."""
    return json.dumps(dict(arguments), ensure_ascii=False)


# --- Structured output with Pydantic models --------------------------------------------------------------


_TYPES: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}


#: What Pydantic calls the bounds of a value.
_BOUNDS: Mapping[str, str] = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}


def model_of(schema: Mapping[str, Any], name: str = "Value") -> type[BaseModel]:
    """Returns the model for a schema, with every property required, as a caller would write it."""
    defined = schema.get("$defs", {})
    fields: dict[str, Any] = {
        name: (_type_of(of, defined), _field(of)) for name, of in schema["properties"].items()
    }
    return create_model(name, **fields)


def _field(schema: Mapping[str, Any]) -> Any:
    """Returns the description and the bounds of a property."""
    bounds: dict[str, Any] = {told: schema[word] for word, told in _BOUNDS.items() if word in schema}
    more = {"format": schema["format"]} if "format" in schema else None
    return Field(description=schema.get("description"), json_schema_extra=more, **bounds)


def _type_of(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> Any:
    """Returns the type of a property: another model, one of several values or forms, a list, or a plain type."""
    if "$ref" in schema:
        named = schema["$ref"].rpartition("/")[2]
        return model_of(defined[named], named.title())
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return reduce(or_, (_type_of(each, defined) for each in schema["anyOf"]))
    if schema["type"] == "array":
        return list[_type_of(schema["items"], defined)]  # type: ignore[misc]  # a type that a schema names
    return _TYPES[schema["type"]]


class Parsing(SDKSession, ABC):
    """A conversation over an SDK that parses answers. Its result is the value."""

    @abstractmethod
    def parse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        """Sends the messages. Returns the answer and the SDK's parsed value."""

    @abstractmethod
    async def aparse(self, model: type[BaseModel]) -> tuple[ModelAnswer, Any]:
        """Works as `parse()`, without blocking."""

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        """Returns a value that fits the schema, or the SDK's error."""
        try:
            with self._asking(parts):
                answer, value = self.parse(model_of(schema))
                while self.ran_tools(answer):
                    answer, value = self.parse(model_of(schema))
                return _value_reply(value)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return Reply(complete=False, error=error)

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        """Works as `extract()`, without blocking."""
        try:
            with self._asking(parts):
                answer, value = await self.aparse(model_of(schema))
                while self.ran_tools(answer):
                    answer, value = await self.aparse(model_of(schema))
                return _value_reply(value)
        except Exception as error:  # noqa: BLE001 - the SDK's errors, all of them, are what is judged
            return Reply(complete=False, error=error)

    @contextmanager
    def _asking(self, parts: Sequence[Part]) -> Iterator[None]:
        """Adds the user's message for one request only, because a value is not a turn of the conversation."""
        before = len(self.messages)
        self.messages += self.user([], parts)
        try:
            yield
        finally:
            del self.messages[before:]


def _value_reply(value: Any) -> Reply:
    return Reply(value=value.model_dump() if isinstance(value, BaseModel) else value)
