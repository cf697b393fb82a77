"""Tools: Python functions that the model may call.

    @tool
    def get_weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        '''Get the weather now.

        Args:
            city: Name of the city.
        '''

`tool()` makes the description from signature, hints and docstring, or takes it from the caller.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial, wraps
from inspect import Parameter, isawaitable, iscoroutine
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    NamedTuple,
    NoReturn,
    Optional,
    ParamSpec,
    Protocol,
    TypeVar,
    get_type_hints,
    overload,
)

from ..base.argument_checks import caller, check_spelling
from ..contents.content import ContentToolQuestion, ContentToolRequest, ToolDef, in_words
from ..contents.turns import AssistantTurn
from ..errors import AsyncToolError, ConversionError, ToolReject, UsageError, printed
from ..schemas.json_schema import check_data, check_schema
from ..schemas.type_classes import Type, TypeJsonSchema, TypeObject
from ..schemas.type_functions import arguments_of, inner_type, to_json_schema

__all__ = [
    "CallScope",
    "ToolContext",
    "is_context",
    "tool",
    "tool_annotations",
    "tool_context",
    "tool_reject",
]


# --- the context of a call -------------------------------------------------------------------------------


D = TypeVar("D")


def _never() -> str | None:
    return None


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class CallScope:
    """The facts of a conversation about its calls. `cancelled()` returns the reason of a cancellation, if
    there is one.
    """

    turn: AssistantTurn | None = None
    deps: Any = None
    cancelled: Callable[[], str | None] = _never
    ask: Callable[[ContentToolQuestion], Any] | None = None  # returns an answer, or one to await
    read: Callable[[Any], Any] = _same  # makes a decision of it; `None` if it comes later
    wait: Callable[[Awaitable[Any]], Any] | None = None  # for a tool in a thread of an async chat


@dataclass(frozen=True)
class ToolContext(Generic[D]):
    """The context of one tool call. A parameter of this type receives it; the model does not see the parameter.

    Args:
        request: The call, with the arguments that were approved.
        scope: The chat's side of the call: its turn, `deps` and cancellation. Default: the scope of a call outside of a
            chat.
        show: A function that shows a text where the chat is shown. Default: the text is not shown.

    Examples:
        >>> def balance(context: ToolContext) -> str:
        ...     "Gets the user's balance."
        ...     return context.deps["balance"]
        >>> chat = chat_openai(deps={"balance": "12 EUR"})
        >>> chat.register_tool(balance).name
        'balance'
    """

    request: ContentToolRequest
    scope: CallScope = field(default_factory=CallScope, repr=False)
    show: Callable[[str], object] = field(default=lambda _text: None, repr=False)

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self.request.id

    @property
    def turn(self) -> AssistantTurn | None:
        """The answer with the call, or `None` outside a chat."""
        return self.scope.turn

    @property
    def deps(self) -> D:
        """The value of `chat.deps`: a database, the user's name, a client."""
        deps: D = self.scope.deps
        return deps

    @property
    def cancelled(self) -> bool:
        """Whether the stream was cancelled, so that the result is no longer needed."""
        return self.scope.cancelled() is not None

    def progress(self, text: object) -> None:
        """Shows progress beside the call. The model does not receive it.

        Args:
            text: What to show. Another value is shown as its text.

        Examples:
            >>> shown = []
            >>> tool_context(None, show=shown.append).progress("Page 2 of 9")
            >>> shown
            ['Page 2 of 9']
        """
        self.show(printed(text))

    def ask(
        self, message: str, fields: TypeObject | Mapping[str, Any] | None = None, *, url: str = ""
    ) -> dict[str, Any] | None:
        """Asks the user something. The question is answered like the approval of a call: by `chat.approve`, the console, the app,
        or a later decision. With a later decision, the tool is called again from its beginning, and gets the answer then.

        Args:
            message: The question.
            fields: The fields of the answer, as a `type_object()` or its JSON Schema; `None` (default) asks yes or no.
            url: An address that the user should open; `""` (default) for none.

        Returns:
            The answers by field; `None` if the user said no, or nobody can be asked.

        Raises:
            AsyncToolError: The tool is async, and has to await `ask_async()`.
            UsageError: Three answers in a row did not fit the fields.

        Examples:
            >>> def book(context: ToolContext) -> str:
            ...     "Books a seat."
            ...     answer = context.ask("Which seat?", type_object(seat=type_string()))
            ...     return f"Seat {answer['seat']}" if answer else "No seat"
            >>> book(tool_context(None))
            'No seat'
        """
        problem = ""
        for _ in range(_TRIES):
            question = self._question(f"{message}\n{problem}" if problem else message, fields, url)
            answer = self._asked(question)
            if isawaitable(answer):
                if self.scope.wait is None:
                    if iscoroutine(answer):
                        answer.close()
                    raise AsyncToolError(
                        "The function that answers the question is async. Use chat_async() or stream_async(), and in an async tool ask_async()."
                    )
                answer = self.scope.wait(answer)
            answers, problem = self._answers(question, answer)
            if not problem:
                return answers
        raise UsageError(f"The question {message!r:.100} has no valid answer: {problem}.")

    async def ask_async(
        self, message: str, fields: TypeObject | Mapping[str, Any] | None = None, *, url: str = ""
    ) -> dict[str, Any] | None:
        """Works as `ask()`, for async tools.

        Args:
            message: As in `ask()`.
            fields: As in `ask()`.
            url: As in `ask()`.

        Returns:
            As `ask()`.

        Raises:
            UsageError: As in `ask()`.

        Examples:
            >>> import asyncio
            >>> async def book(context: ToolContext) -> str:
            ...     "Books a seat."
            ...     answer = await context.ask_async("Which seat?", type_object(seat=type_string()))
            ...     return f"Seat {answer['seat']}" if answer else "No seat"
            >>> asyncio.run(book(tool_context(None)))
            'No seat'
        """
        problem = ""
        for _ in range(_TRIES):
            question = self._question(f"{message}\n{problem}" if problem else message, fields, url)
            answer = self._asked(question)
            answers, problem = self._answers(question, await answer if isawaitable(answer) else answer)
            if not problem:
                return answers
        raise UsageError(f"The question {message!r:.100} has no valid answer: {problem}.")

    def _question(
        self, message: str, fields: TypeObject | Mapping[str, Any] | None, url: str
    ) -> ContentToolQuestion:
        schema = to_json_schema(fields) if isinstance(fields, TypeObject) else dict(fields or {})
        call = self.request
        return question_of(call.id, call.name, {"message": message, "schema": schema, "url": url})

    def _asked(self, question: ContentToolQuestion) -> Any:
        """Returns the answer that was given before, or that somebody gives now."""
        for earlier in self.request.extra.get("answers", ()):
            if (earlier["message"], earlier["schema"]) == (question.message, question.schema):
                return _Given(earlier["approved"], earlier["arguments"])
        return _Given() if self.scope.ask is None else self.scope.ask(question)

    def _answers(self, question: ContentToolQuestion, answer: Any) -> tuple[dict[str, Any] | None, str]:
        """Returns the answers, `None` for no, and what is wrong with them."""
        decision = answer if isinstance(answer, _Given) else self.scope.read(answer)
        if decision is None:
            raise AskLater(question)
        if not decision.approved:
            return None, ""
        fields, required = question.schema.get("properties") or {}, question.schema.get("required") or ()
        given = {**question.arguments, **(decision.arguments or {})}
        answers = {name: value for name, value in given.items() if name in fields and value is not None}
        if not all(name in answers for name in required):
            return None, ""
        return answers, _misfit(answers, question.schema)


_TRIES = 3  # of a question whose answers do not fit its fields


def _misfit(answers: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Returns why answers do not fit a schema, such as its `minimum` or `pattern`. A schema that is none is not checked."""
    try:
        check_schema(schema)
    except UsageError:
        return ""
    try:
        check_data(dict(answers), schema)
    except ConversionError as error:
        return str(error).replace("`value.", "`")
    return ""


class _Given(NamedTuple):
    """An answer that was given before; without one, no."""

    approved: bool = False
    arguments: Mapping[str, Any] | None = None


class AskLater(Exception):  # not an EllmerError: it never leaves the chat
    """A question that is answered later. The call has no result until then."""

    def __init__(self, question: ContentToolQuestion) -> None:
        super().__init__(question.message)
        self.question = question


def question_of(id: str, name: str, asked: Mapping[str, Any]) -> ContentToolQuestion:
    """Returns a question from its `message`, `schema` and `url`, with the defaults of the schema as answers."""
    schema = asked["schema"]
    fields = schema.get("properties") or {}
    defaults = {
        n: each["default"] for n, each in fields.items() if isinstance(each, dict) and "default" in each
    }
    words = f"{asked['message']} {asked.get('url', '')}".strip()
    tool = ToolDef(_unasked, name, words, arguments_of(schema), annotations={"title": words})
    return ContentToolQuestion(
        id, name, defaults, tool, message=asked["message"], schema=schema, url=asked.get("url", "")
    )


def _unasked(**_answers: Any) -> None:
    raise UsageError("A ContentToolQuestion is not a call of a function. Answer it with a decision.")


def tool_context(
    deps: D,
    *,
    arguments: Mapping[str, Any] | None = None,
    name: str = "tool",
    call_id: str = "call_1",
    cancelled: bool = False,
    show: Callable[[str], object] | None = None,
) -> ToolContext[D]:
    """Makes a context, to call a tool in a test as the chat would.

    Args:
        deps: The value of `chat.deps`.
        arguments: The arguments of the call; `None` (default): none.
        name: Name of the tool. Default: `"tool"`.
        call_id: Id of the call. Default: `"call_1"`.
        cancelled: Whether the stream was cancelled. Default: `False`.
        show: A function that receives the progress; `None` (default) ignores it.

    Returns:
        The context.

    Examples:
        >>> def balance(context: ToolContext) -> str:
        ...     "Gets the user's balance."
        ...     return context.deps["balance"]
        >>> balance(tool_context({"balance": "12 EUR"}))
        '12 EUR'
    """
    scope = CallScope(deps=deps, cancelled=lambda: "cancelled" if cancelled else None)
    request = ContentToolRequest(call_id, name, dict(arguments or {}))
    return ToolContext(request, scope, show or (lambda _text: None))


def is_context(hint: Any) -> bool:
    """Tells whether a type hint is `ToolContext`, with or without the type of its `deps`, or a union with `None`."""
    if hint is ToolContext or getattr(hint, "__origin__", None) is ToolContext:
        return True
    return type(None) in (options := getattr(hint, "__args__", ())) and any(map(is_context, options))


# --- what a function's signature and docstring say -------------------------------------------------------


DOCUMENTED: dict[str | None, Any] = {
    "bool": bool, "boolean": bool, "int": int, "integer": int,
    "float": float, "number": float, "str": str, "string": str,
}  # fmt: skip


def parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Returns the parameters of a function. Raises `UsageError` if Python does not know them (some builtins)."""
    bound = function.keywords if isinstance(function, partial) else {}
    try:
        parameters_of = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise UsageError(f"The parameters of {function!r} are unknown. Wrap it in a function.") from error
    return {name: p for name, p in parameters_of.items() if name not in bound}


@dataclass(frozen=True)
class Signature:
    """The part of a function that the model sees; `names` resolves hints that are local to the caller."""

    function: Callable[..., Any]
    names: Mapping[str, Any]

    @property
    def named(self) -> dict[str, Parameter]:
        """The parameters that a model can set, by name."""
        many = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
        single = {name: p for name, p in parameters(self.function).items() if p.kind not in many}
        return {name: p for name, p in single.items() if not is_context(self._resolved(p.annotation))}

    @property
    def context(self) -> str | None:
        """The parameter that takes the `ToolContext` of the call."""
        all_parameters = parameters(self.function).items()
        return next((name for name, p in all_parameters if is_context(self._resolved(p.annotation))), None)

    def _resolved(self, hint: Any) -> Any:
        """Returns a hint, resolved if it is text that names a context. Other hints stay the same."""
        if not isinstance(hint, str):
            return hint
        scope = getattr(inspect.unwrap(_written(self.function)), "__globals__", {})
        with suppress(Exception):
            return eval(hint, scope, dict(self.names))  # noqa: S307 - the author's own annotation
        named = re.fullmatch(
            r"(\w+\.)*ToolContext(\[.*\])?( *\| *None)?", hint
        )  # imported for type checkers only
        return ToolContext if named else hint

    @property
    def open(self) -> bool:
        """Whether it takes arguments of any name."""
        return any(p.kind is Parameter.VAR_KEYWORD for p in parameters(self.function).values())

    def hints(self) -> dict[str, Any]:
        """Returns the type hints of the named parameters that have one."""
        hints = self._all_hints()
        return {name: _hint(hints[name], p) for name, p in self.named.items() if name in hints}

    def _all_hints(self) -> dict[str, Any]:
        resolve, scope = self._hinted()
        with suppress(NameError):
            return get_type_hints(resolve, scope, include_extras=True)
        try:  # only then: a name means first what it means where the function stands
            return get_type_hints(resolve, scope, dict(self.names), include_extras=True)
        except NameError as error:
            raise UsageError(f"A type hint of {self.function!r} cannot be resolved: {error}.") from error

    def _hinted(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Returns a function with the hints of the named parameters only, and the names for resolving them. The
        return type is left out, because it may be imported only for type checkers.
        """
        written = _written(self.function)
        hints = getattr(written, "__annotations__", {})

        def bearer() -> None: ...

        bearer.__annotations__ = {name: hint for name, hint in hints.items() if name in self.named}
        return bearer, getattr(inspect.unwrap(written), "__globals__", {})

    def description(self) -> str:
        """Returns the docstring before its parameters; `""` if there is none."""
        return (self._documentation().description or "").strip()

    def arguments(self) -> TypeObject:
        """Returns the named parameters as a type. Parameters with a default are optional."""
        hints, documented = self.hints(), {p.arg_name: p for p in self._documentation().params}
        properties = {}
        for name, parameter in self.named.items():
            documentation = documented.get(name)
            hint = hints.get(name, _implied(parameter, documentation))
            if hint is Parameter.empty:
                raise UsageError(
                    f"Argument `{name}` of {self.function!r} has no type hint; add one or use arguments=. "
                    "(For a method, use the bound method: tool(object.method).)"
                )
            nothing = has_default(parameter) and _default(parameter) is None
            argument = inner_type(hint, f"argument `{name}`", required=not nothing)
            argument = replace(argument, required=not has_default(parameter))
            text = _annotated_description(hint) or getattr(documentation, "description", None)
            properties[name] = _described(argument, _with_default(text, parameter))
        return TypeObject(properties=properties)

    def _documentation(self) -> Any:
        import docstring_parser  # noqa: PLC0415 - imported when first needed

        return docstring_parser.parse(inspect.getdoc(_whole(self.function)) or "")


def has_default(parameter: Parameter) -> bool:
    """Tells whether a parameter is optional. A default may be pydantic's `Field(…)`, with or without a value."""
    default = parameter.default
    return default is not Parameter.empty and not (is_field(default) and default.is_required())


def _default(parameter: Parameter) -> Any:
    return parameter.default.default if is_field(parameter.default) else parameter.default


def is_field(default: Any) -> bool:
    """Tells whether a default is pydantic's `Field(…)`, without importing pydantic."""
    return type(default).__name__ == "FieldInfo"


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, partial):
        function = function.func
    return function


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function that has the hints."""
    function = _whole(function)
    if inspect.isclass(function):
        return function.__init__
    return function if inspect.isroutine(function) else type(function).__call__


def _hint(hint: Any, parameter: Parameter) -> Any:
    if is_field(parameter.default):
        return Annotated[hint, parameter.default]
    return Optional[hint] if parameter.default is None else hint  # noqa: UP045 - `|` does not take every hint


def _implied(parameter: Parameter, documentation: Any) -> Any:
    """Returns the type of an argument without a hint, from its default or the docstring."""
    if type(parameter.default) in DOCUMENTED.values():
        return type(parameter.default)
    return DOCUMENTED.get(getattr(documentation, "type_name", None), Parameter.empty)


def _annotated_description(hint: Any) -> str | None:
    """Returns the description in `Annotated[int, "How many."]` or `Annotated[int, Field(description="How
    many.")]`.
    """
    for note in getattr(hint, "__metadata__", ()):
        text = note if isinstance(note, str) else getattr(note, "description", None)
        if isinstance(text, str):
            return text
    return None


def _with_default(description: str | None, parameter: Parameter) -> str | None:
    """Returns the description with the default, if that is a plain value."""
    default = _default(parameter)
    default = default.value if isinstance(default, Enum) else default
    if not has_default(parameter) or type(default) not in (bool, int, float, str, list, dict):
        return description
    try:
        written = json.dumps(default, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return description
    if "default" in (description or "").lower():
        return description
    return f"{(description or '').rstrip()} Default: {written}.".lstrip()


def _described(type: Type, description: str | None) -> Type:
    if not description:
        return type
    if isinstance(type, TypeJsonSchema):
        type = replace(type, schema={**type.schema, "description": description})
    return replace(type, description=description)


# --- tools -----------------------------------------------------------------------------------------------


Approval = bool | Callable[[dict[str, Any]], bool]
P = ParamSpec("P")
R = TypeVar("R")


if TYPE_CHECKING:

    class FunctionTool(ToolDef, Generic[P, R]):
        """A `ToolDef` that type checkers can call like its function."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Decorator(Protocol):
    """The type of `tool(name=…)`, which makes a tool of a function."""

    def __call__(self, function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    function: Callable[P, R],
    description: str | None = None,
    *,
    name: str | None = None,
    arguments: Mapping[str, Any] | TypeObject | type[Any] | None = None,
    convert: bool = True,
    annotations: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    request: type[ContentToolRequest] = ContentToolRequest,
    needs_approval: Approval | None = None,
    defer: bool = False,
    final: bool = False,
) -> FunctionTool[P, R]: ...
@overload
def tool(
    function: None = None,
    description: str | None = None,
    *,
    name: str | None = None,
    arguments: Mapping[str, Any] | TypeObject | type[Any] | None = None,
    convert: bool = True,
    annotations: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    request: type[ContentToolRequest] = ContentToolRequest,
    needs_approval: Approval | None = None,
    defer: bool = False,
    final: bool = False,
) -> Decorator: ...
def tool(
    function: Callable[..., Any] | None = None,
    description: str | None = None,
    *,
    name: str | None = None,
    arguments: Mapping[str, Any] | TypeObject | type[Any] | None = None,
    convert: bool = True,
    annotations: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    request: type[ContentToolRequest] = ContentToolRequest,
    needs_approval: Approval | None = None,
    defer: bool = False,
    final: bool = False,
) -> Any:
    """Makes a tool of a function. It also works as a decorator: `@tool` or `@tool(name="…")`.

    Args:
        function: The function. It may be async, or a generator whose last value is the result. It returns what
            `check_tool_result()` accepts. A parameter of type `ToolContext` receives the context of the call. Default:
            `None`, for the decorator with arguments.
        description: Description for the model. Default: the function's docstring.
        name: Name for the model. Default: the function's name.
        arguments: A type for each parameter, `type_string("…")` or a Python type; or a pydantic model, whose fields are the
            parameters, and which validates the arguments. Default: the signature.
        convert: Whether the arguments are validated and converted to those types. Default: `True`.
        annotations: What people and programs may want to know, from `tool_annotations()`. Default: none.
        timeout: Seconds after which a call becomes an error result; a blocking function continues in its thread.
            `None` (default) means no limit.
        request: Subclass of `ContentToolRequest` for requests of this tool, with a title or display of its own. It is
            made from the fields of its base class. Default: `ContentToolRequest`.
        needs_approval: Whether a person decides about each call: `True`, or a function of the arguments (a
            dictionary). Default: `False`.
        defer: Whether the model sees the tool only after it searched for it, which keeps requests with many tools short. The
            provider searches where it can (Anthropic from Claude 4.5 on, OpenAI Responses from gpt-5.4 on), else a tool of this
            library does. Default: `False`.
        final: Whether the result of a successful call is the answer: the model is not asked again, and `chat()` returns the
            result as text. Default: `False`.

    Returns:
        The tool; as a decorator, a decorator that returns it.

    Raises:
        UsageError: The function has no name or a parameter without a type.

    Examples:
        >>> def add(a: int, b: int) -> int:
        ...     "Adds two numbers."
        ...     return a + b
        >>> tool(add).description
        'Adds two numbers.'
    """
    if needs_approval is not None:
        annotations = {**(annotations or {}), "needs_approval": needs_approval}
    local = caller(1).f_locals  # type hints may name what is local to the caller
    options = _ToolOptions(
        description, name, arguments, convert, annotations or {}, timeout, request, defer, final, local
    )
    return options.tool if function is None else options.tool(function)


def tool_annotations(
    title: str | Callable[[dict[str, Any]], str] | None = None,
    *,
    read_only_hint: bool | None = None,
    open_world_hint: bool | None = None,
    idempotent_hint: bool | None = None,
    destructive_hint: bool | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Collects annotations of a tool for people and programs. The model never sees them.

    The names are those of the Model Context Protocol:
    <https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations>.

    Args:
        title: Title for people; it may be a function of the arguments. Default: `None`, the name of the tool in words.
        read_only_hint: Whether the tool only reads. Default: `None`, not known.
        open_world_hint: Whether it reaches an open world, such as the web. Default: `None`, not known.
        idempotent_hint: Whether a repeated call changes nothing more. Default: `None`, not known.
        destructive_hint: Whether it may destroy something. Default: `None`, not known.
        **extra: Other annotations.

    Returns:
        The annotations that are not `None`.

    Examples:
        >>> tool_annotations("Delete a file", destructive_hint=True)["title"]
        'Delete a file'
    """
    hints = {
        "title": title,
        "read_only_hint": read_only_hint,
        "open_world_hint": open_world_hint,
        "idempotent_hint": idempotent_hint,
        "destructive_hint": destructive_hint,
    }
    check_spelling(extra, "tool_annotations", hints, near=0.75)
    return {name: value for name, value in (hints | extra).items() if value is not None}


def tool_reject(reason: str = "The user has chosen to disallow the tool call.") -> NoReturn:
    """Rejects a tool call, from inside the tool or from a callback.

    Args:
        reason: What the model is told. Default: `"The user has chosen to disallow the tool call."`.

    Raises:
        ToolReject: Always.

    Examples:
        >>> def delete(path: str) -> str:
        ...     "Deletes a file."
        ...     tool_reject("Files are never deleted.")
    """
    raise ToolReject(f"Tool call rejected. {reason}")


@dataclass(frozen=True)
class _ToolOptions:
    """The arguments of `tool()` except the function."""

    description: str | None
    name: str | None
    arguments: Mapping[str, Any] | TypeObject | type[Any] | None
    convert: bool
    annotations: Mapping[str, Any]
    timeout: float | None
    request: type[ContentToolRequest]
    defer: bool
    final: bool
    local: Mapping[str, Any]

    def tool(self, function: Callable[..., Any]) -> ToolDef:
        if isinstance(function, ToolDef) or not callable(function):
            instead = " It is a tool already: give its function." if isinstance(function, ToolDef) else ""
            raise UsageError(f"The first argument of tool() must be a function, not {function!r}.{instead}")
        if not (isinstance(self.request, type) and issubclass(self.request, ContentToolRequest)):
            raise UsageError(f"request= must be a subclass of ContentToolRequest, not {self.request!r}.")
        if self.timeout is not None and self.timeout <= 0:
            raise UsageError(f"timeout= must be a number of seconds above 0, not {self.timeout!r}.")
        name = _checked_name(self.name or _name_of(function))
        if isinstance(self.arguments, type):
            return self._of_model(function, name, self.arguments)
        signature = Signature(function, self.local)
        arguments = self.arguments
        return ToolDef(
            function,
            name,
            self.description or signature.description() or in_words(name),
            signature.arguments() if arguments is None else _checked_arguments(name, arguments, signature),
            self.convert,
            dict(self.annotations),
            self.timeout,
            signature.hints(),
            self.request,
            signature.context,
            self.defer,
            self.final,
        )

    def _of_model(self, function: Callable[..., Any], name: str, model: Any) -> ToolDef:
        """Returns a tool whose arguments are the fields of a pydantic model, which validates them."""
        arguments = inner_type(model, "arguments=")
        if not isinstance(arguments, TypeObject) or not hasattr(model, "model_validate"):
            raise UsageError(f"arguments= takes a pydantic model or a dictionary of types, not {model!r}.")
        defaults = {n for n, type in arguments.properties.items() if not type.required}
        required = replace(arguments, properties={
            n: replace(type, required=True) for n, type in arguments.properties.items()
        })  # fmt: skip
        _checked_arguments(name, required, signature := Signature(function, self.local))

        @wraps(function)
        def validated(*args: Any, **named: Any) -> Any:
            if args:
                return function(*args, **named)
            values = {n: named.pop(n) for n in arguments.properties if n in named or n not in defaults}
            checked = model.model_validate(values)
            return function(**{n: getattr(checked, n) for n in arguments.properties}, **named)

        description = self.description or signature.description() or in_words(name)
        return ToolDef(
            validated, name, description, arguments, False, dict(self.annotations), self.timeout, {}, self.request,
            signature.context, self.defer, self.final,
        )  # fmt: skip


def _name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise UsageError(
            f"A tool's name has 1 to 64 letters (A-Z), digits, _ and -; {name!r} is not valid. Set name=."
        )
    return name


def _checked_arguments(
    tool: str, arguments: Mapping[str, Any] | TypeObject, signature: Signature
) -> TypeObject:
    """Returns `arguments` if they agree with the parameters of the function."""
    types_by_name = arguments.properties if isinstance(arguments, TypeObject) else arguments
    named = signature.named
    extra = [] if signature.open else [name for name in types_by_name if name not in named]
    missing = [name for name in named if name not in types_by_name]
    if extra or missing:
        raise UsageError(
            f"The names of `arguments` must match the parameters of tool `{tool}`."
            + (f" Extra: {', '.join(map(repr, extra))}." if extra else "")
            + (f" Missing: {', '.join(map(repr, missing))}." if missing else "")
        )
    types = {name: inner_type(type, f"arguments[{name!r}]") for name, type in types_by_name.items()}
    for name, type in types.items():
        if not type.required and name in named and not has_default(named[name]):
            raise UsageError(
                f"Argument `{name}` of tool `{tool}` is optional, so the function needs a default for it."
            )
    return arguments if isinstance(arguments, TypeObject) else TypeObject(properties=types)
