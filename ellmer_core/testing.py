"""Tests of tools and chats without a provider, a server or a key: `from ellmer_core.testing import …`.

- `run_tool()` runs one tool as a model would call it.
- `ScriptedModel` is a model whose answers the test has written. Its chats are real: requests are built, sent through httpx
  to a handler in the same process, and answers are read from the wire format of Chat Completions.
- `transcript()`, `tool_calls()` and `assert_tool_called()` look at the turns of a chat.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import count
from threading import Lock
from typing import Any, ClassVar, NoReturn, Unpack

from ._chat.chat import Chat
from .base.argument_checks import spelt
from .base.values import Value
from .contents.content import (
    Content,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ToolDef,
    matched,
    replaced,
)
from .contents.turns import Turn
from .errors import AsyncToolError, UsageError
from .providers._construction import Options, construct
from .providers.openai_compatible import OpenAICompatible
from .render.printed_form import format_content, visible
from .tool_execution import ainvoke, invoke
from .tools.definition import CallScope, tool, tool_context
from .wire.shared.tool_calls import call_of

__all__ = [
    "Asked", "Failure", "ScriptedModel", "assert_tool_called", "assert_tool_not_called", "failure", "run_tool",
    "run_tool_async", "tool_call", "tool_calls", "tool_context", "tool_results", "transcript",
]  # fmt: skip


# --- One tool --------------------------------------------------------------------------------------------


@spelt
def run_tool(
    function: ToolDef | Callable[..., Any],
    arguments: Mapping[str, Any] | str | None = None,
    /,
    *,
    deps: Any = None,
    progress: Callable[[str], object] | None = None,
) -> ContentToolResult:
    """Runs a tool as the model would call it: the arguments are checked and converted, the value is checked.

    An error of the tool is not raised. It is the result's `error`, as the model gets it.

    Args:
        function: The tool, or a function that `tool()` can make one of.
        arguments: The arguments as JSON values, or the JSON text that a model wrote. `None` (default): none.
        deps: The value of `chat.deps`, for a tool with a `ToolContext`. Default: `None`.
        progress: A function that receives the progress that the tool shows; `None` (default) ignores it.

    Returns:
        The result. `str(result)` is what the model reads.

    Raises:
        AsyncToolError: The tool is async: use `run_tool_async()`.

    Examples:
        >>> def double(number: int) -> int:
        ...     "Doubles a number."
        ...     return 2 * number
        >>> run_tool(double, {"number": 4}).value
        8
        >>> print(run_tool(double, '{"number": "four"}').error)
        The arguments are invalid: `number` must be an integer, not "four".
    """
    show = progress or (lambda _text: None)
    request = _request(function, arguments)
    try:
        return invoke(request, on_progress=show, scope=CallScope(deps=deps))
    except AsyncToolError:
        raise AsyncToolError(f"Tool `{request.name}` is async: await run_tool_async().") from None


async def run_tool_async(
    function: ToolDef | Callable[..., Any],
    arguments: Mapping[str, Any] | str | None = None,
    /,
    *,
    deps: Any = None,
    progress: Callable[[str], object] | None = None,
) -> ContentToolResult:
    """Works as `run_tool()`, for async tools.

    Args:
        function: As in `run_tool()`.
        arguments: As in `run_tool()`.
        deps: As in `run_tool()`.
        progress: As in `run_tool()`.

    Returns:
        The result.

    Examples:
        >>> import asyncio
        >>> async def double(number: int) -> int:
        ...     "Doubles a number."
        ...     return 2 * number
        >>> asyncio.run(run_tool_async(double, {"number": 4})).value
        8
    """
    show = progress or (lambda _text: None)
    return await ainvoke(_request(function, arguments), on_progress=show, scope=CallScope(deps=deps))


def _request(
    function: ToolDef | Callable[..., Any], arguments: Mapping[str, Any] | str | None
) -> ContentToolRequest:
    definition = function if isinstance(function, ToolDef) else tool(function)
    raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}))
    return matched(call_of("call_1", definition.name, raw), definition)


# --- A model whose answers are written -------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Failure(Value):
    """An error that the provider answers with; `failure()` makes one.

    Args:
        status: The HTTP status.
        message: The provider's words.

    Examples:
        >>> Failure(429, "Slow down.").status
        429
    """

    status: int
    message: str


@spelt
def failure(status: int, message: str = "The scripted model failed.") -> Failure:
    """Makes an answer of a `ScriptedModel` that is an error of the provider.

    Args:
        status: The HTTP status.
        message: The provider's words. Default: `"The scripted model failed."`.

    Returns:
        The error.

    Examples:
        >>> chat = ScriptedModel(failure(429, "Slow down."), "Hello!").chat(max_tries=1)
        >>> try:
        ...     chat.chat("Hi")
        ... except RateLimitError as error:
        ...     print(error.message)
        Slow down.
    """
    return Failure(status, message)


@spelt
def tool_call(name: str, /, **arguments: Any) -> ContentToolRequest:
    """Makes a call of a tool, as an answer of a `ScriptedModel`.

    Args:
        name: Name of the tool.
        **arguments: The arguments, as JSON values.

    Returns:
        The call. Its id is set when it is sent: `call_1`, `call_2` and so on.

    Examples:
        >>> tool_call("get_weather", city="Paris").arguments
        {'city': 'Paris'}
    """
    return ContentToolRequest("", name, arguments)


@dataclass(frozen=True, eq=False, repr=False)
class Asked(Value):
    """One request to a `ScriptedModel`.

    Args:
        messages: The messages, in the format of Chat Completions.
        tools: Names of the tools that were sent. Default: none.
        schema: The JSON schema that the answer must follow; `None` (default) if it is a text.

    Examples:
        >>> model = ScriptedModel("Hello!")
        >>> _ = model.chat("Be kind.").chat("Hi")
        >>> [message["role"] for message in model.asked[0].messages], model.asked[0].text
        (['system', 'user'], 'Hi')
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[str] = ()
    schema: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of the last message."""
        return _text(self.messages[-1]) if self.messages else ""

    @property
    def results(self) -> list[str]:
        """The results of the last tool calls."""
        last = [place for place, m in enumerate(self.messages) if m["role"] == "assistant"][-1:]
        return [_text(m) for m in self.messages[last[0] if last else 0 :] if m["role"] == "tool"]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return "\n".join(filter(None, parts))


#: A text, a call, a failure, data, or a list of texts and calls; or a function that returns one.
Reply = object | Callable[[Asked], object]


class ScriptedModel:
    """A model in this process that gives the answers of a script, one for each request.

    An answer is a text, a `tool_call()`, a list of those (several calls at once), data for `chat_structured()` (a dictionary,
    a dataclass, a pydantic model), a `failure()`, or a function that is called with the `Asked` and returns one of these. A
    request for which there is no answer raises an `AssertionError`.

    Args:
        *answers: The answers, in their order.

    Examples:
        >>> def get_weather(city: str) -> str:
        ...     "Looks up the weather."
        ...     return f"21 °C in {city}"
        >>> model = ScriptedModel(tool_call("get_weather", city="Paris"), lambda asked: f"It is {asked.results[0]}.")
        >>> chat = model.chat("Be brief.")
        >>> _ = chat.register_tool(get_weather)
        >>> chat.chat("Do I need a coat?")
        'It is 21 °C in Paris.'
        >>> model.assert_finished()
    """

    def __init__(self, *answers: Reply) -> None:
        self._answers = list(answers)
        self._ids = count(1)
        self._lock = Lock()
        self.asked: list[Asked] = []

    def chat(self, system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
        """Makes a chat with this model. Chats, forks and threads share the script.

        Args:
            system_prompt: The system prompt. Default: none.
            **options: The keyword arguments of `Options`, without those of the connection.

        Returns:
            The chat.

        Examples:
            >>> ScriptedModel("Hello!").chat("Be kind.").chat("Hi")
            'Hello!'
        """
        import httpx  # noqa: PLC0415 - as the library itself, which loads it when it is first needed

        def handle(request: httpx.Request) -> httpx.Response:
            body = json.loads(request.content)
            answer = self._answer(body)
            headers = {"content-type": "text/event-stream" if body.get("stream") else "application/json"}
            if isinstance(answer, Failure):
                error = {"error": {"message": answer.message}}
                return httpx.Response(answer.status, headers={"retry-after-ms": "0"}, json=error)
            content = _streamed(answer) if body.get("stream") else _whole(answer)
            return httpx.Response(200, headers=headers, content=content)

        line = httpx.MockTransport(handle)
        options = {
            "model": "scripted",
            "client": (httpx.Client(transport=line), httpx.AsyncClient(transport=line)),
            **options,
        }
        return construct(_Scripted, system_prompt, {"base_url": "http://scripted.invalid", **options})

    def assert_finished(self) -> None:
        """Raises an `AssertionError` if answers of the script were not asked for.

        Examples:
            >>> model = ScriptedModel("Hello!")
            >>> _ = model.chat().chat("Hi")
            >>> model.assert_finished()
        """
        if self._answers:
            raise AssertionError(
                f"No request used {len(self._answers)} of the scripted answers: {self._answers!r:.300}"
            )

    def _answer(self, body: Mapping[str, Any]) -> Failure | list[Content]:
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        names = [each["function"]["name"] for each in body.get("tools", ())]
        asked = Asked(body["messages"], names, schema)
        with self._lock:
            self.asked.append(asked)
            if not self._answers:
                raise AssertionError(
                    f"The script has no answer to request {len(self.asked)}, whose last message is: {asked.text!r:.300}"
                )
            answer = self._answers.pop(0)
        answer = answer(asked) if callable(answer) else answer
        return answer if isinstance(answer, Failure) else list(self._contents(answer, asked))

    def _contents(self, answer: Reply, asked: Asked) -> Iterator[Content]:
        """Yields the texts and calls of an answer."""
        match answer:
            case str():
                yield ContentText(answer)
            case ContentText():
                yield answer
            case ContentToolRequest():
                yield replaced(answer, id=answer.id or f"call_{next(self._ids)}")
            case list() if all(isinstance(each, str | Content) for each in answer) and asked.schema is None:
                for each in answer:
                    yield from self._contents(each, asked)
            case Content():
                raise _no_answer(answer)
            case _:
                yield ContentText(_json(answer, asked))


@dataclass(frozen=True, eq=False, repr=False)
class _Scripted(OpenAICompatible):
    provider: ClassVar[str] = "Scripted"


def _json(value: Any, asked: Asked) -> str:
    """Returns data as the model would write them. A value that is not an object is put into an object, as the schema requires."""
    if asked.schema is not None and list(asked.schema.get("properties", ())) == ["wrapper"]:
        value = {"wrapper": value}
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except TypeError as error:
        raise _no_answer(value) from error


def _no_answer(value: object) -> UsageError:
    return UsageError(f"A scripted answer is a text, a tool_call(), data or a failure(), not {value!r:.80}.")


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(type(value).__name__)


def _message(contents: Sequence[Content]) -> dict[str, Any]:
    calls = [c for c in contents if isinstance(c, ContentToolRequest)]
    said = {
        "role": "assistant",
        "content": "".join(c.text for c in contents if isinstance(c, ContentText)) or None,
    }
    functions = [{"name": c.name, "arguments": c.raw or json.dumps(dict(c.arguments))} for c in calls]
    wire = [
        {"id": call.id, "type": "function", "function": function}
        for call, function in zip(calls, functions, strict=True)
    ]
    return said | ({"tool_calls": wire} if wire else {})


def _ends(contents: Sequence[Content]) -> str:
    return "tool_calls" if any(isinstance(c, ContentToolRequest) for c in contents) else "stop"


_USED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _whole(contents: Sequence[Content]) -> bytes:
    choice = {"index": 0, "message": _message(contents), "finish_reason": _ends(contents)}
    return json.dumps({"object": "chat.completion", "choices": [choice], "usage": _USED}).encode()


def _streamed(contents: Sequence[Content]) -> bytes:
    """Returns the answer as a stream, its text word by word."""
    message = _message(contents)
    words = (message.pop("content") or "").split(" ")
    deltas = [{"content": word if place == 0 else f" {word}"} for place, word in enumerate(words)]
    calls = [{"index": place, **call} for place, call in enumerate(message.pop("tool_calls", ()))]
    deltas += [{"tool_calls": calls}] if calls else []
    choices: list[dict[str, Any]] = [{"index": 0, "delta": d, "finish_reason": None} for d in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": _ends(contents)})
    events = [json.dumps({"object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
    events.append(json.dumps({"object": "chat.completion.chunk", "choices": [], "usage": _USED}))
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


# --- Assertions on turns ---------------------------------------------------------------------------------


@spelt
def tool_calls(turns: Chat | Sequence[Turn], name: str | None = None) -> list[ContentToolRequest]:
    """Returns the tool calls of a chat, in their order.

    Args:
        turns: The chat, or turns.
        name: Name of the tool; `None` (default) means all.

    Returns:
        The calls.

    Examples:
        >>> chat = ScriptedModel(tool_call("add", x=1), "Done.").chat()
        >>> _ = chat.chat("Add.")
        >>> [(call.name, dict(call.arguments)) for call in tool_calls(chat)]
        [('add', {'x': 1})]
    """
    calls = (c for c in _contents(turns) if isinstance(c, ContentToolRequest))
    return [call for call in calls if name in (None, call.name)]


@spelt
def tool_results(turns: Chat | Sequence[Turn], name: str | None = None) -> list[ContentToolResult]:
    """Returns the results of the tool calls of a chat, in their order.

    Args:
        turns: The chat, or turns.
        name: Name of the tool; `None` (default) means all.

    Returns:
        The results.

    Examples:
        >>> chat = ScriptedModel(tool_call("add", x=1), "Sorry.").chat()
        >>> _ = chat.chat("Add.")
        >>> [result.error for result in tool_results(chat, "add")]
        ['Unknown tool `add`.']
    """
    results = (c for c in _contents(turns) if isinstance(c, ContentToolResult))
    return [each for each in results if name is None or (each.request and each.request.name == name)]


@spelt
def assert_tool_called(
    turns: Chat | Sequence[Turn], name: str, /, *, times: int | None = None, **arguments: Any
) -> None:
    """Checks that a tool was called, with these arguments among others.

    Args:
        turns: The chat, or turns.
        name: Name of the tool.
        times: How often; `None` (default) means at least once.
        **arguments: Arguments that such a call has.

    Raises:
        AssertionError: It was not. The text lists the calls.

    Examples:
        >>> chat = ScriptedModel(tool_call("add", x=1), "Done.").chat()
        >>> _ = chat.chat("Add.")
        >>> assert_tool_called(chat, "add", times=1, x=1)
    """
    found = [call for call in tool_calls(turns, name) if arguments.items() <= dict(call.arguments).items()]
    if len(found) != times if times is not None else not found:
        wanted = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        often = "at least once" if times is None else f"{times} times"
        _fail(f"{name}({wanted}) was called {len(found)} times, not {often}", turns)


@spelt
def assert_tool_not_called(turns: Chat | Sequence[Turn], name: str) -> None:
    """Checks that a tool was not called.

    Args:
        turns: The chat, or turns.
        name: Name of the tool.

    Raises:
        AssertionError: It was. The text lists the calls.

    Examples:
        >>> chat = ScriptedModel("Hello!").chat()
        >>> _ = chat.chat("Hi")
        >>> assert_tool_not_called(chat, "delete_everything")
    """
    if tool_calls(turns, name):
        _fail(f"{name}() was called", turns)


def _fail(what: str, turns: Chat | Sequence[Turn]) -> NoReturn:
    calls = "\n".join(f"  {_call(call)}" for call in tool_calls(turns)) or "  none"
    raise AssertionError(f"{what}. The calls were:\n{calls}")


@spelt
def transcript(turns: Chat | Sequence[Turn]) -> str:
    """Returns the turns as text for a comparison: a line for each content, in the form that the model gets, without ids.

    Args:
        turns: The chat, or turns.

    Returns:
        The text.

    Examples:
        >>> chat = ScriptedModel(tool_call("add", x=1), "Sorry.").chat()
        >>> _ = chat.chat("Add.")
        >>> print(transcript(chat))
        user: Add.
        assistant: calls add(x=1)
        user: add returns Error: Unknown tool `add`.
        assistant: Sorry.
    """
    return "\n".join(f"{turn.role}: {_line(content)}" for turn in _turns(turns) for content in visible(turn))


def _line(content: Content) -> str:
    match content:
        case ContentToolRequest():
            return f"calls {_call(content)}"
        case ContentToolResult(request=request):
            name = request.name if request else "a tool"
            return f"{name} returns {format_content(content).partition(']: ')[2]}"
    return format_content(content)


def _call(call: ContentToolRequest) -> str:
    arguments = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
    return f"{call.name}({arguments})"


def _turns(turns: Chat | Sequence[Turn]) -> Sequence[Turn]:
    return turns.get_turns() if isinstance(turns, Chat) else turns


def _contents(turns: Chat | Sequence[Turn]) -> Iterator[Content]:
    return (content for turn in _turns(turns) for content in turn.contents)
