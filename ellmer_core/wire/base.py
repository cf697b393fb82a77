"""A wire format converts our turns to a provider's JSON, and the provider's JSON to our turns.

A `Wire` is a frozen value. It opens no socket and reads neither the clock nor the environment. Each wire format
is a package with the same two modules: `to_wire` (our turns as a request, in order, and one content at a time) and
`from_wire` (events as the answer they add up to, and an answer as a turn). A provider is a subclass in
`ellmer_core/providers/` that overrides what differs; this base and the wire formats never know their children.

A streamed answer is merged into the JSON of the same answer without a stream (`Merger`), and both go through
`turn()`. The turns of both are therefore equal.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, cast
from urllib.parse import unquote, urlsplit

from ..base.values import Value
from ..contents import content as ours
from ..contents.turns import AssistantTurn, Turn, UserTurn
from ..errors import UsageError
from ..tools.results import described, named_text, pointed, result_id
from .batches_and_files import Batches, Uploads
from .interfaces import IMAGES, Json, Merger, Profile, Request, SchemaLimits, Supports
from .shared import content_parts, json_objects
from .shared.endings_and_errors import error_of
from .shared.tool_calls import STRUCTURED

if TYPE_CHECKING:
    from ..errors import ProviderError
    from ..schemas.type_functions import Type, TypeObject


StructuredMode = Literal["native", "tool", "prompt"]


_ASKED = f"Give your answer by calling the tool `{STRUCTURED}`."


def _anew(turns: Sequence[Turn], message: Callable[[Turn], list[Json]]) -> list[Json]:
    return list(chain.from_iterable(map(message, turns)))


def _define(tools: Sequence[ours.ToolDef], definition: Callable[[ours.ToolDef], Json]) -> list[Json]:
    return list(map(definition, tools))


@dataclass(frozen=True, eq=False, repr=False)
class Wire(Value, ABC):
    """A wire format at a provider, with a model.

    `params` are the neutral parameters (`temperature`, `max_tokens`, …), which the wire renames. `api_args` is merged
    into the body last, and `api_headers` into the headers last. `credentials` returns the key when a request is
    built; it is never printed. `keep(turns, self.message)` returns the messages of `self.message(turn)` for each turn,
    new or cached, and `keep_tools(tools, self.tool)` does the same for tools.
    """

    name: ClassVar[str]  # "openai-chat": the wire format
    provider: ClassVar[str]  # "OpenAI": as printed
    default_model: ClassVar[str]
    key_vars: ClassVar[tuple[str, ...]] = ()  # environment variables that may hold the key, first one wins
    key_optional: ClassVar[bool] = False  # the server may do without one
    base_url_var: ClassVar[str] = ""  # environment variable that may hold the base URL
    example_url: ClassVar[str] = ""  # an example of a base URL, if each account has its own
    base_url_end: ClassVar[str] = ""  # what the provider's own clients add to the URL of that variable: "/v1"
    batches: ClassVar[Batches | None] = None  # its batch API, where the provider has one
    uploads: ClassVar[Uploads | None] = None  # where it keeps files, if it does
    models_path: ClassVar[str] = "/models"  # where the API lists its models; "" where it does not
    param_names: ClassVar[
        Mapping[str, str]
    ] = {}  # neutral parameter: its place in the body, `a.b` for {"a": {"b"}}
    supports: ClassVar[Supports] = Supports()
    fetches: ClassVar[tuple[str, ...]] = (
        "https:",
        "http:",
        "data:",
    )  # the URLs from which the API takes an image
    schema_limits: ClassVar[SchemaLimits] = SchemaLimits()
    #: What a result may have inside.
    media_in_results: ClassVar[tuple[type[ours.Content], ...]] = (
        ours.ContentImage,
        ours.ContentPDF,
        ours.ContentUploaded,
    )
    tool_media: Literal["pointer", "native"] = "pointer"

    model: str = ""
    base_url: str = ""
    credentials: Any = field(default=None, repr=False, compare=False)  # Callable[[], str] | None
    params: Mapping[str, Any] = field(default_factory=dict)
    api_args: Mapping[str, Any] = field(default_factory=dict)
    api_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    profile: Profile = field(default_factory=Profile, repr=False)
    keep: Callable[[Sequence[Turn], Callable[[Turn], list[Json]]], list[Json]] = field(
        default=_anew, repr=False, compare=False
    )
    keep_tools: Callable[[Sequence[ours.ToolDef], Callable[[ours.ToolDef], Json]], list[Json]] = field(
        default=_define, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        url, headers = without_user(self.base_url, self.api_headers)
        object.__setattr__(self, "base_url", url)
        if headers:
            object.__setattr__(self, "api_headers", HiddenHeaders(headers))
        if self.tool_media not in {"pointer", "native"}:
            raise UsageError(f'tool_media must be "pointer" or "native", not {self.tool_media!r}.')
        if self.tool_media == "native" and not self.supports.native_tool_media:
            raise UsageError(
                f'{self.provider} does not accept media inside tool results. Use tool_media="pointer".'
            )

    # ours → theirs ----------------------------------------------------------------------------------------

    @abstractmethod
    def request(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        """Returns the whole request. `turns` end with the user turn to answer; `type` asks for structured output by
        the API's own parameter. `asking()` finds other methods.
        """

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """Returns the finished request: `params` at their places, then `api_args`, then `api_headers`. Each overrides
        the earlier values. With tools, it has the fields that the model needs for them; without, no tool choice.
        """
        body = json_objects.merged(body, self.profile.fields)
        if self.params:
            body = json_objects.merged(body, self.parameters())
        if any(
            each.get("tools") or each.get("toolConfig", {}).get("tools") for each in (body, self.api_args)
        ):
            if self.profile.with_tools:
                needed = json_objects.parameters(self.profile.with_tools, self.takes, self.name)
                body = json_objects.merged(body, needed)
        else:
            body = json_objects.without(body, "tool_choice", "toolConfig", "parallel_tool_calls")
        body = json_objects.merged(body, self.api_args)
        first, last = self.profile.headers, self.api_headers  # a header in both has both values
        joined = {name: f"{first[name]},{last[name]}" for name in first.keys() & last.keys()}
        return Request(url, {**self.headers(), **first, **last, **joined}, body, stream)

    @property
    def takes(self) -> Mapping[str, str]:
        """The neutral parameters that the format supports for the model, with their places in the body."""
        return self.param_names

    def parameters(self) -> Json:
        """Returns `params` at their places in the body."""
        return json_objects.parameters(self.params, self.param_names, self.name)

    def headers(self) -> dict[str, str]:
        """Returns the headers with the key, if there is one."""
        return {"authorization": f"Bearer {self.credentials()}"} if self.credentials else {}

    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns all turns as the provider's messages, new or cached, one after the other. A format that requires it
        joins them. Neither the list nor a message may be changed.
        """
        return self.keep(turns, self.message)

    @abstractmethod
    def message(self, turn: Turn) -> list[Json]:
        """Returns one turn as the provider's messages (several, if results are separate messages). The result depends
        only on `turn`, so that its JSON can be cached.
        """

    @abstractmethod
    def content(self, content: ours.Content) -> Json:
        """Returns one content block. Raises `ContentError` with class and wire if the format does not support the
        content.
        """

    def call_id(self, id: str) -> str:
        """Returns a valid tool-call id, which is the same for the call and its result."""
        return id

    @property
    def version(self) -> str:
        """The version of the API that requests name; empty if they name none."""
        return ""

    @property
    def issuer(self) -> str:
        """The issuer that can read this provider's signatures and encrypted reasoning. They are sent back to no
        other.
        """
        return self.provider

    def issued(self, extra: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Returns the data that this issuer attached to a content and requires back, or `None`."""
        own = extra.get(self.name)
        return own if isinstance(own, Mapping) and own.get("issuer", self.issuer) == self.issuer else None

    def attached(self, extra: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Returns an object in that data; an empty one if there is none. A restored history may hold anything."""
        value = (self.issued(extra) or {}).get(name)
        return value if isinstance(value, Mapping) else {}

    def own(self, **what: Any) -> Json:
        """Returns the `extra` of a content from this provider; `issued()` reads it."""
        return {self.name: {"issuer": self.issuer, **what}}

    @abstractmethod
    def tool(self, tool: ours.ToolDef) -> Json:
        """Returns a tool definition. It depends only on `tool`, so that it can be cached."""

    @abstractmethod
    def schema(self, type: Type) -> Json:
        """Returns a type as the JSON Schema dialect of this format."""

    def tools(self, tools: Sequence[ours.ToolDef]) -> list[Json]:
        """Returns the definitions of all tools, new or cached, which may not be changed. A tool that the provider runs
        itself is unchanged. Beside deferred tools stands the provider's search, if it has one.
        """
        found = self.keep_tools(tools, lambda tool: tool.provided(self.name) or self.tool(tool))
        return (
            [*found, dict(self.tool_search)] if self.tool_search and any(map(self.defers, tools)) else found
        )

    #: The definition of the provider's own search among deferred tools.
    tool_search: ClassVar[Mapping[str, Any]] = {}

    def defers(self, tool: ours.ToolDef) -> bool:
        """Tells whether a tool is sent as one that the provider's own search finds."""
        return tool.deferred and self.searches

    @property
    def searches(self) -> bool:
        """Whether the provider searches deferred tools itself, for this model."""
        return bool(self.tool_search) and self.profile.tool_search

    # media --------------------------------------------------------------------------------------------------

    def flat(self, contents: Sequence[ours.Content]) -> list[ours.Content]:
        """Returns the contents of a user turn with the media of tool results inside or after them, as `tool_media`
        says. Raises `ContentError` for media that the provider does not accept; in a result they are described
        instead.
        """
        if {*map(type, contents)} == {ours.ContentText}:
            return list(contents)
        files = ours.ContentFile | ours.ContentUploaded
        sent = [self.as_sent(c) if isinstance(c, files) else c for c in self.pointed(contents)]
        if refused := next(filter(self.refuses, sent), None):
            raise content_parts.refused(refused, self.name, self.objection(refused))
        return sent

    def pointed(self, contents: Sequence[ours.Content], *, printed: bool = False) -> list[ours.Content]:
        """Returns the contents of a user turn with the media of results described, inside or after them, as they are
        sent. `printed` keeps our ids of calls.
        """
        contents = described([self._resolved(content) for content in contents], self.refuses)
        named = result_id if printed else self.namer(contents)
        parts: list[ours.Content] = []
        for content in contents:
            if isinstance(content, ours.ContentToolResult) and not self.keeps(content):
                parts += pointed(content, named)
            elif printed and isinstance(content, ours.ContentToolResult):
                parts += self.printed_inside(content)
            else:
                parts.append(content)
        return parts

    def printed_inside(self, result: ours.ContentToolResult) -> list[ours.Content]:
        """Returns the contents that are printed for a tool result whose media the model gets inside of it."""
        return [result]

    def keeps(self, result: ours.ContentToolResult) -> bool:
        """Tells whether the media of a result stay in it: the format can have all of them inside."""
        media = [part for part in ours.contents_in(result.value) if ours.is_media(part)]
        if not media or self.tool_media != "native":
            return not media
        value = result.value
        items = (
            value.values()
            if isinstance(value, dict)
            else value
            if isinstance(value, list | tuple)
            else [value]
        )
        return len(media) == sum(isinstance(item, self.media_in_results) for item in items)

    def _resolved(self, content: ours.Content) -> ours.Content:
        """Returns the content with files at another provider replaced by the files themselves. In a result, a document
        that is sent as its text is that text.
        """
        match content:
            case ours.ContentUploaded(source=ours.Content() as source) if not self.holds(content):
                return source
            case ours.ContentToolResult(error=None) if any(
                isinstance(part, ours.ContentUploaded | ours.ContentFile)
                for part in ours.contents_in(content.value)
            ):
                return ours.replaced(
                    content, value=ours.mapped(content.value, lambda c, _path: self._inside(c))
                )
        return content

    def _inside(self, content: ours.Content) -> ours.Content:
        content = self._resolved(content)
        if (
            isinstance(content, ours.ContentFile)
            and not content.fault
            and content.text
            and not self.file(content)
        ):
            return self.as_sent(content)
        return content

    def as_sent(self, content: ours.Content) -> ours.Content:
        """Returns the content to send for a content of the user. A file at another provider is sent itself, and an
        unsupported document is sent as its text.
        """
        content = self._resolved(content)
        if not isinstance(content, ours.ContentFile) or content.fault:
            return content
        if block := self.file(content):
            return ours.ContentUnknown(self.name, block)
        if not content.text:
            raise content_parts.refused(content, self.name, self.objection(content))
        return ours.ContentText(named_text(content))

    def file(self, file: ours.ContentFile) -> Json | None:  # noqa: ARG002 - as where files are not taken
        """Returns a file as a block of the format, or `None` if the API does not accept it."""
        return None

    def holds(self, file: ours.ContentUploaded) -> bool:
        """Tells whether a file is stored at this provider."""
        return file.wire == self.name and file.provider in {"", self.provider}

    def refuses(self, value: object) -> bool:
        """Tells whether this is media of a kind that the provider or the model does not accept."""
        return bool(self.objection(value))

    def objection(self, value: object) -> str:  # noqa: PLR0911 - one return per kind of media
        """Returns the reason why the provider or the model does not accept this medium, or `""`."""
        who, profile = f"{self.provider}'s {self.model}", self.profile
        match value:
            case (
                ours.ContentImageInline() | ours.ContentImageRemote() | ours.ContentPDF() | ours.ContentFile()
            ) if value.fault:
                return value.fault
            case ours.ContentPDF() if not self.supports.pdfs or profile.pdfs is False:
                return f"{who} does not accept PDFs"
            case ours.ContentImage() if not self.supports.images or profile.images == ():
                return f"{who} does not accept images"
            case ours.ContentImageInline(type=type) if type not in (profile.images or IMAGES):
                there = ", ".join(profile.images or IMAGES)
                return f"{type} is not one of {there}, which {who} accepts"
            case ours.ContentImageInline() if profile.pixels and max(value.size or (0,)) > profile.pixels:
                return f"it has more than {profile.pixels:,} pixels in a row or column, which {who} does not accept in this request"
            case ours.ContentImageRemote(url=url) if not self.fetches_from(url):
                what = "from there" if self.fetches else "URLs"
                return f"{self.provider} does not fetch {what}; send the bytes of {url} instead, or set fetch='https'"
            case ours.ContentFile(type=type, text=text) if not text and not self.file(value):
                return f"{who} does not accept {type} over this API"
            case ours.ContentUploaded(source=ours.Content() as source) if not self.holds(value):
                return self.objection(source)
            case ours.ContentUploaded(wire=wire) if (
                wire != self.name or not self.supports.pdfs or profile.pdfs is False
            ):
                return f"{who} cannot read files that were uploaded elsewhere ({wire})"
        return ""

    def fetches_from(self, url: str) -> bool:
        """Tells whether the API downloads an image from there. A cloud's own storage (`gs:`, `s3:`) is read by that cloud only."""
        return url.startswith(self.fetches)

    def namer(self, contents: Sequence[ours.Content]) -> Callable[[ours.ContentToolResult], str]:  # noqa: ARG002 - for formats without ids
        """Returns the function that names the call of a result in this turn, for the tags around its media."""
        return lambda result: self.call_id(result.id)

    # structured output --------------------------------------------------------------------------------------

    def asking(
        self,
        turns: Sequence[Turn],
        tools: Sequence[ours.ToolDef] = (),
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
        from .shared.schemas import in_words  # noqa: PLC0415 - most answers need no schema

        return self.request(with_instruction(turns, in_words(type)), tools, stream=stream)

    def structured_mode(
        self, type: Type, tools: Sequence[ours.ToolDef] = (), mode: StructuredMode | None = None
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

    def native_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:  # noqa: ARG002 - as where they matter
        """Returns the reason why the API cannot enforce this schema beside these tools, or `None`."""
        if self.profile.structured == "words":
            return f"{self.model} does not support structured output"
        from .shared.schemas import json_schema, unfit  # noqa: PLC0415 - most answers need no schema

        return unfit(json_schema(type), self.schema_limits)

    def call_problem(self, type: Type, tools: Sequence[ours.ToolDef]) -> str | None:  # noqa: ARG002 - as where they matter
        """Returns the reason why the answer cannot be a tool call, or `None`."""
        calls = self.supports.tools and self.profile.tools
        return None if calls else f"{self.model} calls no tools"

    def forced(self, *, alone: bool) -> Json:  # noqa: ARG002 - as where a call can be demanded
        """Returns the fields of a body that demand a call: of the one tool, or else of any. It is empty if the model
        cannot be forced; the prompt then asks for the call.
        """
        return {}

    def by_a_call(
        self, turns: Sequence[Turn], tools: Sequence[ours.ToolDef], type: Type, *, stream: bool
    ) -> Request:
        """Returns the request for an answer by a tool call."""
        forced = self.forced(alone=not tools) if self._forcible() else {}
        asked = turns if forced else with_instruction(turns, _ASKED)
        request = self.request(asked, [*tools, _answer_tool(type)], stream=stream)
        before = {name: request.json[name] for name in forced if name in request.json}
        return replace(request, json={**request.json, **json_objects.merged(before, forced)})

    def _forcible(self) -> bool:
        asked = self.params.keys() & {"reasoning_tokens", "reasoning_effort"}
        thinks = self.profile.thinks or bool(asked)
        return self.profile.forced and (self.profile.forced_thinking or not thinks)

    # beside the conversation ------------------------------------------------------------------------------

    def count_request(
        self,
        turns: Sequence[Turn],  # noqa: ARG002 - as where there is a counter
        tools: Sequence[ours.ToolDef] = (),  # noqa: ARG002 - wires that need it override this
        *,
        type: Type | None = None,  # noqa: ARG002 - wires that need it override this
    ) -> Request:
        """Returns the request that counts the tokens of this input. Raises `UsageError` if the API does not count."""
        raise UsageError(f"{self.provider} cannot count tokens before a request. Use get_tokens() after it.")

    def counted(self, response: Json) -> int:
        """Returns the number of tokens in the answer to it."""
        raise NotImplementedError

    def models_request(self) -> Request:
        """Returns the request for the list of models. Raises `UsageError` if the API has none."""
        if not self.models_path:
            raise UsageError(f"The API of {self.provider} does not list its models; see its documentation.")
        return self.get(self.models_url())

    def models_url(self) -> str:
        """Returns the URL of that list."""
        return f"{self.base_url.rstrip('/')}{self.models_path}"

    def get(self, url: str) -> Request:
        """Returns a request without a body."""
        return Request(url, {**self.headers(), **self.api_headers}, {}, method="GET")

    # theirs → ours ----------------------------------------------------------------------------------------

    @abstractmethod
    def turn(self, response: Json, /) -> AssistantTurn:
        """Returns a whole answer as a turn. Unknown blocks become `ContentUnknown`. Raises the typed
        `ProviderError` if the body of a status 200 is an error.
        """

    def paused(self, turn: AssistantTurn) -> bool:  # noqa: ARG002 - as where answers pause
        """Tells whether the provider continues this answer when it is sent back unchanged."""
        return False

    @abstractmethod
    def merger(self) -> Merger:
        """Returns a new merger for one streamed answer."""

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Returns the typed error for an answer with an error status. The body may be anything, also HTML or empty."""
        return error_of(status, headers, body).at(self.provider, self.model, self.key_vars)


# --- structured output -----------------------------------------------------------------------------------


def with_instruction(turns: Sequence[Turn], text: str) -> list[Turn]:
    """Returns the turns with an instruction after the user's last message. It stays there during tool rounds."""
    last = [
        place
        for place, turn in enumerate(turns)
        if isinstance(turn, UserTurn)
        and not all(isinstance(c, ours.ContentToolResult) for c in turn.contents)
    ]
    place = last[-1] + 1 if last else len(turns)
    return [*turns[:place], UserTurn(text), *turns[place:]]


def _answer_tool(type: Type) -> ours.ToolDef:
    arguments = cast("TypeObject", type)  # only its schema is read
    return ours.ToolDef(_never_called, STRUCTURED, "Gives the answer, in the end.", arguments)


def _never_called(**_: Any) -> NoReturn:
    raise AssertionError("unreachable: the call of this tool is the answer")


def answer_of(turn: AssistantTurn) -> AssistantTurn:
    """Returns the turn with its data as text if they arrived as a call. If no other call is left, the reason is a
    normal stop.
    """
    if not any(map(_gives_data, turn.tool_requests)):
        return turn
    contents = tuple(
        ours.ContentText(called_text(c)) if isinstance(c, ours.ContentToolRequest) and _gives_data(c) else c
        for c in turn.contents
    )
    answered = replace(turn, contents=contents)
    ended = turn.finish_reason == "tool_use" and not answered.tool_requests
    return replace(answered, finish_reason="success") if ended else answered


def called_text(request: ours.ContentToolRequest) -> str:
    """Returns the arguments of a call unchanged."""
    return request.raw if request.raw is not None else json_objects.json_text(dict(request.arguments))


def _gives_data(request: ours.ContentToolRequest) -> bool:
    return request.name == STRUCTURED


# --- keys, which are never shown -------------------------------------------------------------------------


class _Unpickled:
    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("API keys are not pickled. Create the chat, or the wire, where it is used.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Key(_Unpickled):
    """A key. Calling it returns the key's value."""

    __slots__ = ("__key",)

    def __init__(self, key: str) -> None:
        self.__key = key

    def __call__(self) -> str:
        return self.__key

    def __repr__(self) -> str:
        return "<a key>"


class HiddenHeaders(_Unpickled, dict[str, str]):
    """Headers that show only their names."""

    def __repr__(self) -> str:
        return f"<headers: {', '.join(self) or 'none'}>"


def without_user(url: str, headers: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Returns a URL without `user:password@`, and equivalent headers. Without a user, both are unchanged."""
    if "@" not in url:
        return url, headers
    try:
        parts = urlsplit(url)
    except ValueError:  # no request will be sent there, but an error shows it
        parts = None
    if parts is None or (parts.username is None and parts.password is None):
        return re.sub(r"^([A-Za-z][\w+.-]*://)?[^/?#]*@", r"\1", url), headers
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
    basic = {"authorization": f"Basic {b64encode(pair).decode()}"}
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), {**basic, **headers}
