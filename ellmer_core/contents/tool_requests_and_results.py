"""Tools, requests for their calls, and the results, which refer to each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..log import logger
from ..values import Value
from .content import Content, ContentUnknown, replaced
from .display import Displayed

if TYPE_CHECKING:
    from ..schemas.type_classes import TypeObject

__all__ = [
    "ContentProviderCall",
    "ContentProviderResult",
    "ContentToolRequest",
    "ContentToolResult",
    "ToolDef",
    "in_words",
    "matched",
]


@dataclass(frozen=True, eq=False, repr=False)
class ContentToolRequest(Content):
    """The model's request to call a tool.

    Args:
        id: Id that pairs the call with its result; made up where the provider gives none.
        name: Name of the tool.
        arguments: The decoded arguments; empty when they could not be decoded.
        tool: The tool itself; `None` (default) where no tool of that name is registered.
        raw: The JSON text exactly as the model wrote it, where the wire format carries text.
        problem: Why the arguments could not be decoded; the tool is not called then. `None` (default): no problem.
        extra: Provider data that belongs to this call (a Gemini thought signature, an OpenAI item id), under the
            name of the wire format as in `ContentThinking`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentToolRequest("call_1", "get_weather", {"city": "Paris"}).arguments
        {'city': 'Paris'}
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tool: ToolDef | None = field(default=None, repr=False, compare=False)
    raw: str | None = field(default=None, repr=False)
    problem: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class ContentToolResult(Content):
    """The outcome of a tool call: a value or an error.

    Args:
        value: What the tool returned.
        error: A message, or the exception that the tool raised; `None` (default) for a success.
        extra: Data for your own program, such as a display; it is never sent to the model.
        request: The call that the result belongs to. The chat fills it in when a tool returns a result itself.

    Examples:
        >>> ContentToolResult("21 °C").value
        '21 °C'
    """

    value: Any = None
    error: str | BaseException | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    request: ContentToolRequest | None = None

    @property
    def id(self) -> str:
        """The id of the request that this result answers; `""` without a request."""
        return self.request.id if self.request else ""

    @property
    def is_flat(self) -> bool:
        """Whether neither the value nor an item of it is a content, such as an image."""
        return not any(isinstance(item, Content) for item in result_items(self))

    @property
    def decision(self) -> str:
        """The decision about the call: `"approved"`, `"edited"` (approved with other arguments) or `"denied"`; `""`
        if nobody was asked.
        """
        decision = self.extra.get("decision")
        return decision if decision in {"approved", "edited", "denied"} else ""


def result_items(result: ContentToolResult) -> list[Any]:
    """Returns the parts of a result: the items of a list, the values of a dictionary, or its one value."""
    if isinstance(result.value, dict):
        return list(result.value.values())
    return list(result.value) if isinstance(result.value, list | tuple) else [result.value]


@dataclass(frozen=True, eq=False, repr=False)
class ContentProviderCall(ContentUnknown):
    """A tool call that the provider ran itself, such as a web search or its code interpreter.

    Where the provider reports call and result in one block, this content has both.

    Args:
        wire: Name of the wire format that the block came from.
        data: The provider's block; it is sent back unchanged.
        id: Id of the call; `""` (default) where there is none.
        name: Name of the provider's tool.
        arguments: The arguments of the call.
        value: The result; `None` (default) while it is not known.
        error: The error message of a call that failed.

    Examples:
        >>> call = ContentProviderCall("anthropic", {}, name="web_search", arguments={"query": "cats"})
        >>> call.request.arguments
        {'query': 'cats'}
    """

    id: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    error: str | None = None

    @property
    def request(self) -> ContentToolRequest:
        """The call in the form of one of our own calls."""
        return ContentToolRequest(self.id, self.name, self.arguments)

    @property
    def result(self) -> ContentToolResult | None:
        """The result of the call, if it is known."""
        if self.value is None and self.error is None:
            return None
        return ContentToolResult(self.value, self.error, request=self.request)


@dataclass(frozen=True, eq=False, repr=False)
class ContentProviderResult(ContentProviderCall):
    """The result of a tool call that the provider ran itself, where the provider reports it as a block of its own.

    Args:
        wire: Name of the wire format that the block came from.
        data: The provider's block; it is sent back unchanged.
        id: Id of the call that it belongs to.
        name: Name of the provider's tool.
        arguments: The arguments of the call, where the block repeats them.
        value: The result.
        error: The error message of a call that failed.

    Examples:
        >>> ContentProviderResult("anthropic", {}, id="srv_1", value="3 pages").value
        '3 pages'
    """


@dataclass(frozen=True, eq=False, repr=False)
class ToolDef(Displayed, Value):
    """A tool: a function with what the model needs to know. `tool()` makes one. Calling it calls the function.

    Args:
        function: The function.
        name: Name that the model sees.
        description: Description that the model sees.
        arguments: Types of the arguments.
        convert: Whether the arguments are validated and converted to what `arguments` and `hints` say (dates, enums,
            models). Default: `True`. Otherwise the function receives the JSON values.
        annotations: Annotations for people and programs, as of `tool_annotations()`.
        timeout: Seconds after which a call becomes an error result; `None` (default) means no limit.
        hints: The Python types of the function's parameters.
        request: Class of the requests for this tool.
        context: Name of the parameter that receives the `ToolContext`; `None` (default) if there is none.

    Examples:
        >>> ToolDef(len, "length", "Counts.", type_object(text=type_string())).name
        'length'
    """

    function: Callable[..., Any]
    name: str
    description: str
    arguments: TypeObject
    convert: bool = True
    annotations: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    hints: Mapping[str, Any] = field(default_factory=dict, compare=False)
    request: type[ContentToolRequest] = ContentToolRequest
    context: str | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<ToolDef {self.name}({', '.join(self.arguments.properties)})>"

    def provided(self, wire: str) -> dict[str, Any] | None:  # noqa: ARG002 - a function of ours is one everywhere
        """Returns the definition of a provider's own tool (see `ToolBuiltIn`), or `None` if it is not one.

        Args:
            wire: Name of the wire format.
        """
        return None

    def title(self, arguments: Mapping[str, Any] | None = None) -> str:
        """Returns the title of the tool, or of one call of it, for people.

        It is the annotation `title` (a string, or a function of the arguments), else the name in words: "Get current weather".

        Args:
            arguments: The arguments of the call; `None` (default) for the tool itself.
        """
        title = self.annotations.get("title")
        try:
            title = title(dict(arguments or {})) if callable(title) else title
        except Exception:  # noqa: BLE001 - a title is decoration; the call goes on without it
            title = None
        return str(title) if title else in_words(self.name)


def matched(request: ContentToolRequest, tool: ToolDef | None) -> ContentToolRequest:
    """Returns the request with its tool, in that tool's class of requests."""
    if tool is not None and not isinstance(request, tool.request):
        given = {field.name: getattr(request, field.name) for field in fields(ContentToolRequest)}
        try:
            return tool.request(**given | {"tool": tool})
        except Exception:  # noqa: BLE001 - as with a title: the call goes on without it
            logger.debug("tool %s: no %s", tool.name, tool.request.__name__, exc_info=True)
    return replaced(request, tool=tool)


def in_words(name: str) -> str:
    """Returns a tool's name for people: `get_current_weather` and `getCurrentWeather` become "Get current weather"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", " ", name)
    words = re.sub(r"[\s_-]+", " ", words).strip() or name
    first, *rest = words.split(" ")
    return " ".join([first[:1].upper() + first[1:], *(w if w.isupper() else w.lower() for w in rest)])
