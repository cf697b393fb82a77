"""A wire format converts our turns to a provider's JSON, and the provider's JSON to our turns.

A `Wire` is a frozen value. It opens no socket and reads neither the clock nor the environment. Each wire format
is a package with the same modules: `request` (our turns as a request, in order), `content` (one content at a time),
`response` (an answer as a turn) and `stream` (events as the answer they add up to). A provider is a subclass in
`ellmer_core/providers/` that overrides what differs; this base and the wire formats never know their children.

A streamed answer is merged into the JSON of the same answer without a stream (`Merger`), and both go through
`turn()`. The turns of both are therefore equal.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..errors import UsageError
from ..values import Value
from .batch_and_file_apis.base import Batches, Uploads
from .media_acceptance import MediaAcceptance
from .model_profile import Profile
from .request_and_stream_merger import Json, Merger, Request, Supports
from .shared import json_bodies
from .shared.hidden_keys import HiddenHeaders, without_user
from .shared.provider_errors import error_of
from .structured_output import StructuredOutput

if TYPE_CHECKING:
    from ..contents.content import Content
    from ..contents.tool_requests_and_results import ToolDef
    from ..contents.turns import AssistantTurn, Turn
    from ..errors import ProviderError
    from ..schemas.type_functions import Type

__all__ = ["Wire"]


def _anew(turns: Sequence[Turn], message: Callable[[Turn], list[Json]]) -> list[Json]:
    return list(chain.from_iterable(map(message, turns)))


def _define(tool: ToolDef, definition: Callable[[ToolDef], Json]) -> Json:
    return definition(tool)


@dataclass(frozen=True, eq=False, repr=False)
class Wire(MediaAcceptance, StructuredOutput, Value):
    """A wire format at a provider, with a model.

    `params` are the neutral parameters (`temperature`, `max_tokens`, …), which the wire renames. `api_args` is merged
    into the body last, and `api_headers` into the headers last. `credentials` returns the key when a request is
    built; it is never printed. `keep(turns, self.message)` returns the messages of `self.message(turn)` for each turn,
    new or cached, and `keep_tool(tool, self.tool)` does the same for a tool.
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
    fetches: ClassVar[bool] = True  # whether the API fetches an image from a URL
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
    keep_tool: Callable[[ToolDef, Callable[[ToolDef], Json]], Json] = field(
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
        tools: Sequence[ToolDef] = (),
        *,
        stream: bool = False,
        type: Type | None = None,
    ) -> Request:
        """Returns the whole request. `turns` end with the user turn to answer; `type` asks for structured output by
        the API's own parameter. `asking()` finds other methods.
        """

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """Returns the finished request: `params` at their places, then `api_args`, then `api_headers`. Each overrides
        the earlier values.
        """
        body = json_bodies.merged(json_bodies.merged(body, self.profile.fields), self.parameters())
        body = json_bodies.merged(self.with_tools(body), self.api_args)
        return Request(url, {**self.headers(), **self.added_headers()}, body, stream)

    @property
    def takes(self) -> Mapping[str, str]:
        """The neutral parameters that the format supports for the model, with their places in the body."""
        return self.param_names

    def with_tools(self, body: Json) -> Json:
        """Returns the body with the fields that the model needs for tools. Without tools, the tool choice is removed."""
        if any(one.get("tools") or one.get("toolConfig", {}).get("tools") for one in (body, self.api_args)):
            needed = json_bodies.parameters(self.profile.with_tools, self.takes, self.name)
            return json_bodies.merged(body, needed)
        return json_bodies.without(body, "tool_choice", "toolConfig", "parallel_tool_calls")

    def added_headers(self) -> Mapping[str, str]:
        """Returns the headers of the profile and the caller's. A header in both has both values."""
        both = self.profile.headers.keys() & self.api_headers.keys()
        joined = {name: f"{self.profile.headers[name]},{self.api_headers[name]}" for name in both}
        return {**self.profile.headers, **self.api_headers, **joined}

    def parameters(self) -> Json:
        """Returns `params` at their places in the body."""
        return json_bodies.parameters(self.params, self.param_names, self.name)

    def headers(self) -> dict[str, str]:
        """Returns the headers with the key, if there is one."""
        return {"authorization": f"Bearer {self.credentials()}"} if self.credentials else {}

    @abstractmethod
    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns all turns as the provider's messages, joined as the format requires. It takes each turn's messages
        from `kept()` and changes none of them.
        """

    def kept(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages of all turns, one after the other. Neither the list nor a message may be changed."""
        return self.keep(turns, self.message)

    @abstractmethod
    def message(self, turn: Turn) -> list[Json]:
        """Returns one turn as the provider's messages (several, if results are separate messages). The result depends
        only on `turn`, so that its JSON can be cached.
        """

    @abstractmethod
    def content(self, content: Content) -> Json:
        """Returns one content block. Raises `ContentError` with class and wire if the format does not support the
        content.
        """

    def call_id(self, id: str) -> str:
        """Returns a valid tool-call id, which is the same for the call and its result."""
        return id

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

    def own(self, **what: Any) -> Json:
        """Returns the `extra` of a content from this provider; `issued()` reads it."""
        return {self.name: {"issuer": self.issuer, **what}}

    @abstractmethod
    def tool(self, tool: ToolDef) -> Json:
        """Returns a tool definition. It depends only on `tool`, so that it can be cached."""

    @abstractmethod
    def schema(self, type: Type) -> Json:
        """Returns a type as the JSON Schema dialect of this format."""

    def tools(self, tools: Sequence[ToolDef]) -> list[Json]:
        """Returns the definitions of all tools. A tool that the provider runs itself is unchanged."""
        return [self.provided(tool) or self.defined(tool) for tool in tools]

    def defined(self, tool: ToolDef) -> Json:
        """Returns the definition of a function of ours, new or cached. It may not be changed."""
        return self.keep_tool(tool, self.tool)

    def provided(self, tool: ToolDef) -> Json | None:
        """Returns the definition of a tool that the provider runs itself, or `None` for a function of ours."""
        return tool.provided(self.name)

    # beside the conversation ------------------------------------------------------------------------------

    def count_request(
        self,
        turns: Sequence[Turn],  # noqa: ARG002 - as where there is a counter
        tools: Sequence[ToolDef] = (),  # noqa: ARG002
        *,
        type: Type | None = None,  # noqa: ARG002
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
    def turn(self, response: Json) -> AssistantTurn:
        """Returns a whole answer as a turn. Unknown blocks become `ContentUnknown`. Raises the typed
        `ProviderError` when a 200 carries an error.
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
