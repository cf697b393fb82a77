"""Chats in evaluations with inspect-ai (`pip install "ellmer-core[inspect]"`), as a solver and as a model.

    Task(dataset, solver=chat_solver(chat), scorer=match())  # our loop calls the chat's own tools

    inspect eval task.py --model ellmer/openai/gpt-4.1  # inspect-ai's loop calls the task's tools

https://inspect.aisi.org.uk
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import inspect_ai.model as theirs
from inspect_ai.model import GenerateConfig, ModelAPI, modelapi
from inspect_ai.solver import solver
from inspect_ai.tool import ToolCall, ToolCallError

from ._chat.chat import Chat
from .base.argument_checks import spelt
from .contents import content as ours
from .contents.content import ContentToolRequest, ContentToolResult, ToolDef
from .contents.json_serialization import contents_record, contents_replay
from .contents.turns import AssistantTurn, SystemTurn, Tokens, Turn, UserTurn
from .errors import ContentError, ToolRoundsError, UsageError
from .providers._construction import chat
from .schemas.type_functions import arguments_of
from .tools.results import flatten, result_text, split
from .wire.interfaces import params

__all__ = ["EllmerModel", "chat_solver"]


# --- messages --------------------------------------------------------------------------------------------


KEPT = "ellmer_core"
STOP = {
    "success": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "context_window": "model_length",
    "content_filter": "content_filter",
}


# theirs → ours ------------------------------------------------------------------------------------------------


def turns_of(messages: Iterable[Any]) -> list[Turn]:
    """Converts messages to turns. System messages are joined, and neighbouring messages of tools and users become one
    turn.
    """
    system: list[ours.Content] = []
    turns: list[Turn] = []
    asked: dict[str, ContentToolRequest] = {}
    for message in messages:
        if message.role == "system":
            system += _contents(message.content)
        elif message.role == "assistant":
            turns.append(turn := _answer(message))
            asked |= {request.id: request for request in turn.tool_requests}
        else:
            parts = [_result(message, asked)] if message.role == "tool" else _contents(message.content)
            before = turns.pop().contents if turns and isinstance(turns[-1], UserTurn) else ()
            turns.append(UserTurn([*before, *parts]))
    return [*([SystemTurn(system)] if system else []), *turns]


def _answer(message: Any) -> AssistantTurn:
    if record := (message.metadata or {}).get(KEPT):
        turn: AssistantTurn = contents_replay(record)
        return turn
    calls = [ContentToolRequest(c.id, c.function, c.arguments) for c in message.tool_calls or ()]
    return AssistantTurn([*_contents(message.content), *calls])


def _result(message: Any, asked: dict[str, ContentToolRequest]) -> ContentToolResult:
    request = asked.get(message.tool_call_id)
    if message.error is not None:
        return ContentToolResult(error=message.error.message, request=request)
    values = [
        part.text if isinstance(part, ours.ContentText) else part for part in _contents(message.content)
    ]
    return ContentToolResult(values[0] if len(values) == 1 else values, request=request)


def _contents(content: str | Sequence[Any]) -> list[ours.Content]:
    if isinstance(content, str):
        return [ours.ContentText(content)]
    return [_content(part) for part in content]


def _content(part: Any) -> ours.Content:
    match part.type:
        case "text":
            return ours.ContentText(part.text)
        case "reasoning":
            return ours.ContentThinking(part.summary or part.reasoning)
        case "image":
            inline = _data(part.image)
            return ours.ContentImageInline(*inline) if inline else ours.ContentImageRemote(part.image)
        case "document" if inline := _data(part.document):
            return ours.ContentPDF(*inline, part.filename or "document.pdf")
        case "data":
            return ours.ContentJson(part.data)
    raise ContentError(f"inspect-ai's content of type {part.type!r} cannot be sent.")


def _data(url: str) -> tuple[str, str] | None:
    found = re.fullmatch(r"data:([^;,]*);base64,(.*)", url, re.DOTALL)
    return (found[1], found[2]) if found else None


# ours → theirs ------------------------------------------------------------------------------------------------


def messages_of(turns: Iterable[Turn], model: str) -> list[Any]:
    """Converts turns to messages. Tool results become separate messages."""
    return [message for turn in turns for message in _messages(turn, model)]


def output_of(turn: AssistantTurn, model: str) -> Any:
    """Returns an answer as inspect-ai's model output."""
    [message] = _messages(turn, model)
    choice = theirs.ChatCompletionChoice(
        message=message, stop_reason=STOP.get(turn.finish_reason or "success", "unknown")
    )
    return theirs.ModelOutput(model=model, choices=[choice], usage=_usage(turn.tokens))


def _messages(turn: Turn, model: str) -> list[Any]:
    if isinstance(turn, SystemTurn):
        return [theirs.ChatMessageSystem(content=turn.text)]
    if isinstance(turn, AssistantTurn):
        calls = [_call(request) for request in turn.tool_requests]
        record = contents_record(AssistantTurn(turn.contents))
        return [
            theirs.ChatMessageAssistant(
                content=_parts(turn.contents),
                tool_calls=calls or None,
                model=model,
                source="generate",
                metadata={KEPT: record},
            )
        ]
    results, rest = split(flatten(turn.contents))
    messages = [theirs.ChatMessageUser(content=_parts(rest))] if rest else []
    return [*map(_tool_message, results), *messages]


def _call(request: ContentToolRequest) -> Any:
    return ToolCall(
        id=request.id,
        function=request.name,
        arguments=dict(request.arguments),
        parse_error=request.problem,
    )


def _tool_message(result: ContentToolResult) -> Any:
    text = result_text(result)
    return theirs.ChatMessageTool(
        content=text,
        tool_call_id=result.id,
        function=result.request.name if result.request else None,
        error=None if result.error is None else ToolCallError("unknown", text),
    )


def _parts(contents: Iterable[ours.Content]) -> list[Any]:
    parts = (_part(content) for content in contents if not isinstance(content, ContentToolRequest))
    return [part for part in parts if part is not None]


def _part(content: ours.Content) -> Any:
    match content:
        case ours.ContentText(text=text):
            return theirs.ContentText(text=text)
        case ours.ContentThinking(thinking=text):
            return theirs.ContentReasoning(reasoning=text)
        case ours.ContentImageInline(type=kind, data=data):
            return theirs.ContentImage(image=f"data:{kind};base64,{data}")
        case ours.ContentImageRemote(url=url):
            return theirs.ContentImage(image=url)
        case ours.ContentPDF(type=kind, data=data, filename=name):
            return theirs.ContentDocument(
                document=f"data:{kind};base64,{data}", filename=name, mime_type=kind
            )
    return theirs.ContentText(text=str(content))


def _usage(tokens: Tokens) -> Any:
    """Returns the usage. inspect-ai's `input_tokens` exclude tokens that were read from or written to a cache."""
    cached, written = tokens.cached or 0, tokens.cache_write or 0
    return theirs.ModelUsage(
        input_tokens=max((tokens.input or 0) - cached - written, 0),
        output_tokens=tokens.output or 0,
        total_tokens=(tokens.input or 0) + (tokens.output or 0),
        input_tokens_cache_read=tokens.cached,
        input_tokens_cache_write=tokens.cache_write,
        reasoning_tokens=tokens.reasoning,
    )


# --- the model -------------------------------------------------------------------------------------------


#: Their names of the parameters whose names differ.
NAMES = {"stop_sequences": "stop_seqs"}
PARAMETERS = (
    *("temperature", "top_p", "top_k", "max_tokens", "seed", "stop_sequences"),
    *("frequency_penalty", "presence_penalty", "reasoning_effort", "reasoning_tokens"),
)


@modelapi(name="ellmer")
class EllmerModel(ModelAPI):  # type: ignore[misc]  # inspect-ai is not where types are checked
    """The model `ellmer/PROVIDER/MODEL`, which uses `chat("PROVIDER/MODEL")`. Further arguments are options of `chat()`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - their signature
        **options: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        keys = {"base_url": base_url, "api_key": api_key}
        self.options: dict[str, Any] = {name: value for name, value in keys.items() if value} | options

    async def generate(
        self, input: list[Any], tools: list[Any], tool_choice: Any, config: GenerateConfig
    ) -> Any:
        """Sends one request and returns its answer."""
        if tool_choice not in ("auto", "none"):
            raise UsageError(f"tool_choice must be 'auto' or 'none' here, not {tool_choice!r}.")
        *before, asked = turns_of(input)
        if not isinstance(asked, UserTurn):
            raise UsageError("There is nothing to answer, because the last message is from the model.")
        talk = chat(self.model_name, params=_params(config), echo="none", **self.options)
        talk.max_tool_rounds = 0
        talk.set_tools([_tool(tool) for tool in tools] if tool_choice == "auto" else [])
        talk.set_turns(before)
        async with talk:
            with suppress(ToolRoundsError):  # the caller runs the tools
                await talk.chat_async(*asked.contents)
        answer = talk.last_turn("assistant")
        assert isinstance(answer, AssistantTurn)
        return output_of(answer, self.model_name)


def _params(config: GenerateConfig) -> dict[str, Any]:
    values = {name: getattr(config, NAMES.get(name, name), None) for name in PARAMETERS}
    return params(**{name: value for name, value in values.items() if value is not None})


def _tool(tool: Any) -> ToolDef:
    schema = tool.parameters.model_dump(exclude_none=True)
    return ToolDef(_never, tool.name, tool.description, arguments_of(schema), convert=False)


def _never(**_arguments: Any) -> NoReturn:
    raise AssertionError("unreachable: inspect-ai runs the tools")


# --- the solver ------------------------------------------------------------------------------------------


@solver  # type: ignore[untyped-decorator]  # inspect-ai is not where types are checked
@spelt
def chat_solver(chat: Chat) -> Any:
    """Answers each sample with a fork of `chat`, with the chat's own system prompt and tools. Earlier messages of the
    sample are used, and a system message of the sample replaces the chat's.
    """

    async def solve(state: Any, _generate: Any) -> Any:
        *before, asked = turns_of(state.messages)
        if not isinstance(asked, UserTurn):
            raise UsageError(
                "There is nothing to answer, because the last message of the sample is from the model."
            )
        fork = chat.fork()
        fork.set_turns(
            [*fork.get_turns(include_system_prompt=True), *before] if not _system(before) else before
        )
        count = len(fork.get_turns())
        await fork.chat_async(*asked.contents)
        model = f"ellmer/{fork.wire.provider}/{fork.get_model()}"
        state.messages += messages_of(fork.get_turns()[count + 1 :], model)
        answer = fork.last_turn("assistant")
        assert isinstance(answer, AssistantTurn)
        state.output = output_of(answer, model)
        state.output.choices[0].message = state.messages[-1]
        return state

    return solve


def _system(turns: list[Any]) -> bool:
    return any(isinstance(turn, SystemTurn) for turn in turns)
