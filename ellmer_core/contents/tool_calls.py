"""Tools, requests for their calls, and the results: three values that refer to each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..log import logger
from ..schemas.type_values import TypeObject
from .content import Content, ContentUnknown, replaced
from .display import Displayed

__all__ = [
    "ContentProviderCall",
    "ContentProviderResult",
    "ContentToolRequest",
    "ContentToolResult",
    "ToolDef",
    "in_words",
    "matched",
]


@dataclass(frozen=True)
class ContentToolRequest(Content):
    """The model asks for a tool call.

    `arguments` are the decoded arguments. `raw` is their JSON text exactly as the model wrote it, where the
    wire format carries text; when it does not decode to an object, `problem` says why, `arguments` is empty
    and the tool is never called. `extra` holds opaque provider data that belongs to this very call (a
    Gemini thought signature, an OpenAI item id), under the wire format's name as in `ContentThinking`.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tool: ToolDef | None = field(default=None, repr=False, compare=False)
    raw: str | None = field(default=None, repr=False)
    problem: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ContentToolResult(Content):
    """The outcome of a tool call: `value`, or `error` (a message or the exception that was raised).

    `request` is filled in by the chat when a tool returns a result of its own. `extra` is for the caller
    (a custom display, say) and is never sent to the model.
    """

    value: Any = None
    error: str | BaseException | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    request: ContentToolRequest | None = None

    @property
    def id(self) -> str:
        """Id of the request this answers; `""` while no request is attached."""
        return self.request.id if self.request else ""

    @property
    def decision(self) -> str:
        """What somebody who was asked decided about the call: `"approved"`, `"edited"` (approved with other
        arguments) or `"denied"`; `""` where nobody was asked."""
        decision = self.extra.get("decision")
        return decision if decision in {"approved", "edited", "denied"} else ""


@dataclass(frozen=True)
class ContentProviderCall(ContentUnknown):
    """A call of a tool that the provider ran itself (a web search, its code interpreter), and what came of it, where
    the provider says both in one block. `data` is that block, which goes back as it came."""

    id: str = ""
    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    error: str | None = None

    @property
    def request(self) -> ContentToolRequest:
        """The call as a call of ours would look."""
        return ContentToolRequest(self.id, self.name, self.arguments)

    @property
    def result(self) -> ContentToolResult | None:
        """What came of it, if that is known."""
        if self.value is None and self.error is None:
            return None
        return ContentToolResult(self.value, self.error, request=self.request)


@dataclass(frozen=True)
class ContentProviderResult(ContentProviderCall):
    """What came of a call of a tool that the provider ran itself, where that is a block of its own."""


@dataclass(frozen=True, repr=False)
class ToolDef(Displayed):
    """A function with what the model needs to know to ask for it. Calling it calls the function.

    `convert`: arguments are validated and made what `arguments` and the function's own `hints` say (dates,
    enums, models); without it the function gets the JSON as it came. `timeout` is in seconds. `request` is the class
    of the requests for it. `context` is the parameter that is given the call's `ToolContext`; no model sees it.
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
        """What a request over `wire` holds for a tool that the provider runs itself (see `ToolBuiltIn`)."""
        return None

    def title(self, arguments: Mapping[str, Any] | None = None) -> str:
        """What to call the tool, or this call of it, before people: the annotation `title` (a string, or a
        function of the arguments), else the name in words: "Get current weather"."""
        title = self.annotations.get("title")
        try:
            title = title(dict(arguments or {})) if callable(title) else title
        except Exception:  # noqa: BLE001 - a title is decoration; the call goes on without it
            title = None
        return str(title) if title else in_words(self.name)


def matched(request: ContentToolRequest, tool: ToolDef | None) -> ContentToolRequest:
    """The request with the tool that it asks for, in that tool's class of requests."""
    if tool is not None and not isinstance(request, tool.request):
        given = {field.name: getattr(request, field.name) for field in fields(ContentToolRequest)}
        try:
            return tool.request(**given | {"tool": tool})
        except Exception:  # noqa: BLE001 - as with a title: the call goes on without it
            logger.debug("tool %s: no %s", tool.name, tool.request.__name__, exc_info=True)
    return replaced(request, tool=tool)


def in_words(name: str) -> str:
    """A tool's name for people: `get_current_weather` and `getCurrentWeather` are "Get current weather"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", " ", name)
    words = re.sub(r"[\s_-]+", " ", words).strip() or name
    first, *rest = words.split(" ")
    return " ".join([first[:1].upper() + first[1:], *(w if w.isupper() else w.lower() for w in rest)])
