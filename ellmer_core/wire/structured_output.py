"""Asks for structured output in a way that the provider, its model and the schema allow. It does no I/O.

    native    the API holds the answer to the schema itself
    tool      the answer is a call of one more tool, whose arguments are the schema
    prompt    the last message says which JSON is wanted

The first possible way is used, in this order, unless the caller names one. Each provider says by `native_problem()`
and `call_problem()` what it does not support, and by `forced()` how a call is demanded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, cast

from ..contents.content import ContentText
from ..contents.tool_requests_and_results import ContentToolRequest, ContentToolResult, ToolDef
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..errors import UsageError
from .model_profile import Profile
from .request_and_stream_merger import Json, Request, Supports
from .shared import json_bodies
from .shared.schema_limits import SchemaLimits, unfit
from .shared.tool_arguments_and_ids import STRUCTURED

if TYPE_CHECKING:
    from ..schemas.type_functions import Type, TypeObject

__all__ = ["StructuredMode", "StructuredOutput", "answer_of", "called_text", "told"]

StructuredMode = Literal["native", "tool", "prompt"]

_ASKED = f"Give your answer by calling the tool `{STRUCTURED}`."


class StructuredOutput(ABC):
    """The part of `Wire` that requests structured output."""

    provider: ClassVar[str]
    supports: ClassVar[Supports]
    model: str
    params: Mapping[str, Any]
    profile: Profile
    schema_limits: ClassVar[SchemaLimits] = SchemaLimits()

    @abstractmethod
    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        """Returns the request; see `Wire`. `type` is requested natively."""

    def asking(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
        mode: StructuredMode | None = None,
    ) -> Request:
        """Returns the whole request for `type` in a possible mode. Raises `UsageError` if `mode` is not possible."""
        if type is None:
            return self.request(turns, tools, stream=stream)
        match self.structured_mode(type, tools, mode):
            case "native":
                return self.request(turns, tools, stream=stream, type=type)
            case "tool":
                return self.by_a_call(turns, tools, type, stream=stream)
        from .shared.types_as_json_schema import in_words  # noqa: PLC0415 - most answers need no schema

        return self.request(told(turns, in_words(type)), tools, stream=stream)

    def structured_mode(
        self, type: Type, tools: Sequence[ToolDef] = (), mode: StructuredMode | None = None
    ) -> StructuredMode:
        """Returns the first possible mode, or the requested one."""
        if mode == "prompt":
            return mode
        if mode not in {None, "native", "tool"}:
            raise UsageError(f'mode must be "native", "tool" or "prompt", not {mode!r}.')
        native = self.native_problem(type, tools) if mode != "tool" else "a tool is wanted"
        if native is None:
            return "native"
        if mode == "native":
            raise UsageError(f'mode="native" does not work with {self.provider} here: {native}.')
        call = self.call_problem(type, tools)
        if mode == "tool" and call is not None:
            raise UsageError(f'mode="tool" does not work with {self.provider} here: {call}.')
        return "prompt" if call else "tool"

    def native_problem(self, type: Type, tools: Sequence[ToolDef]) -> str | None:  # noqa: ARG002 - as where they matter
        """Returns the reason why the API cannot enforce this schema beside these tools, or `None`."""
        if self.profile.structured == "words":
            return f"{self.model} does not support structured output"
        from .shared.types_as_json_schema import json_schema  # noqa: PLC0415 - most answers need no schema

        return unfit(json_schema(type), self.schema_limits)

    def call_problem(self, type: Type, tools: Sequence[ToolDef]) -> str | None:  # noqa: ARG002 - as where they matter
        """Returns the reason why the answer cannot be a tool call, or `None`."""
        calls = self.supports.tools and self.profile.tools
        return None if calls else f"{self.model} calls no tools"

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - as where a call can be demanded
        """Returns the fields of a body that demand a call: of the one tool, or else of any. It is empty if the model
        cannot be forced; the prompt then asks for the call.
        """
        return {}

    def by_a_call(
        self, turns: Sequence[Turn], tools: Sequence[ToolDef], type: Type, *, stream: bool
    ) -> Request:
        """Returns the request for an answer by a tool call."""
        forced = self.forced(alone=not tools) if self._forcible() else {}
        asked = turns if forced else told(turns, _ASKED)
        request = self.request(asked, [*tools, _answer_tool(type)], stream=stream)
        ours = {name: request.json[name] for name in forced if name in request.json}
        return replace(request, json={**request.json, **json_bodies.merged(ours, forced)})

    def _forcible(self) -> bool:
        asked = self.params.keys() & {"reasoning_tokens", "reasoning_effort"}
        thinks = self.profile.thinks or bool(asked)
        return self.profile.forced and (self.profile.forced_thinking or not thinks)


def told(turns: Sequence[Turn], text: str) -> list[Turn]:
    """Returns the turns with an instruction after the user's last message. It stays there during tool rounds."""
    last = [
        place
        for place, turn in enumerate(turns)
        if isinstance(turn, UserTurn) and not all(isinstance(c, ContentToolResult) for c in turn.contents)
    ]
    place = last[-1] + 1 if last else len(turns)
    return [*turns[:place], UserTurn(text), *turns[place:]]


def _answer_tool(type: Type) -> ToolDef:
    arguments = cast("TypeObject", type)  # only its schema is read
    return ToolDef(_never_called, STRUCTURED, "Gives the answer, in the end.", arguments)


def _never_called(**_: Any) -> NoReturn:
    raise AssertionError("the call is the answer")


def answer_of(turn: AssistantTurn) -> AssistantTurn:
    """Returns the turn with its data as text if they arrived as a call. If no other call is left, the reason is a
    normal stop.
    """
    if not any(map(_gives_data, turn.tool_requests)):
        return turn
    contents = tuple(
        ContentText(called_text(c)) if isinstance(c, ContentToolRequest) and _gives_data(c) else c
        for c in turn.contents
    )
    answered = replace(turn, contents=contents)
    ended = turn.finish_reason == "tool_use" and not answered.tool_requests
    return replace(answered, finish_reason="success") if ended else answered


def called_text(request: ContentToolRequest) -> str:
    """Returns the arguments of a call unchanged."""
    return request.raw if request.raw is not None else json_bodies.json_text(dict(request.arguments))


def _gives_data(request: ContentToolRequest) -> bool:
    return request.name == STRUCTURED
