"""A wire format: our turns in a provider's JSON, and the provider's JSON in our turns.

A `Wire` is a frozen value. It opens no socket and reads neither the clock nor the environment. Each wire format
is a package with the same modules: `request` (our turns as a request, in order), `content` (one content at a time),
`response` (an answer as a turn) and `stream` (events as the answer they add up to). A provider is a subclass in
`ellmer_core/providers/` that overrides what differs; this base and the wire formats never know their children.

A streamed answer is folded back into the JSON of the same answer unstreamed (`Merger`), and both go through
`turn()`; so a stream and a non-stream of one answer give equal turns.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..errors import UsageError
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


def _anew(turns: Sequence[Turn], message: Callable[[Turn], list[Json]]) -> list[list[Json]]:
    return list(map(message, turns))


@dataclass(frozen=True)
class Wire(MediaAcceptance, StructuredOutput):
    """A wire format at a provider, with a model.

    `params` are the neutral parameters (`temperature`, `max_tokens`, …), renamed by the wire; `api_args` is
    merged into the body last, `api_headers` into the headers last. `credentials` gives the key when a request
    is built; it is never printed. `keep(turns, self.message)` is `self.message(turn)` for each, or what that was before.
    """

    name: ClassVar[str]  # "openai-chat": the wire format
    vendor: ClassVar[str]  # "OpenAI": as printed
    default_model: ClassVar[str]
    key_vars: ClassVar[tuple[str, ...]] = ()  # environment variables that may hold the key, first one wins
    key_optional: ClassVar[bool] = False  # the server may do without one
    base_url_var: ClassVar[str] = ""  # environment variable that may hold the base URL
    example_url: ClassVar[str] = ""  # where each account has a base URL of its own: what one looks like
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
    keep: Callable[[Sequence[Turn], Callable[[Turn], list[Json]]], list[list[Json]]] = field(
        default=_anew, repr=False, compare=False
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
                f'{self.vendor} does not accept media inside tool results. Use tool_media="pointer".'
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
        """Returns the whole request: `turns` end with the user turn to answer; `type` asks for structured
        output by the API's own means. `asking()` finds other means where these do not do.
        """

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """Returns the finished request: `params` at their places, then `api_args`, then `api_headers`; each
        wins over what was there before.
        """
        body = json_bodies.merged(json_bodies.merged(body, self.profile.fields), self.parameters())
        body = json_bodies.merged(self.with_tools(body), self.api_args)
        return Request(url, {**self.headers(), **self.added_headers()}, body, stream)

    @property
    def takes(self) -> Mapping[str, str]:
        """The neutral parameters that the format has for the model, with their places in the body."""
        return self.param_names

    def with_tools(self, body: Json) -> Json:
        """Returns the body with what the model needs beside tools; without tools, no choice among them
        either.
        """
        if any(one.get("tools") or one.get("toolConfig", {}).get("tools") for one in (body, self.api_args)):
            needed = json_bodies.parameters(self.profile.with_tools, self.takes, self.name)
            return json_bodies.merged(body, needed)
        return json_bodies.without(body, "tool_choice", "toolConfig", "parallel_tool_calls")

    def added_headers(self) -> Mapping[str, str]:
        """Returns the headers of the profile and the caller's; one that both have holds both values."""
        both = self.profile.headers.keys() & self.api_headers.keys()
        joined = {name: f"{self.profile.headers[name]},{self.api_headers[name]}" for name in both}
        return {**self.profile.headers, **self.api_headers, **joined}

    def parameters(self) -> Json:
        """`params` at their places in the body."""
        return json_bodies.parameters(self.params, self.param_names, self.name)

    def headers(self) -> dict[str, str]:
        """Returns the headers that carry the key, if there is one."""
        return {"authorization": f"Bearer {self.credentials()}"} if self.credentials else {}

    @abstractmethod
    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns all turns in the provider's list, with the joins between turns that the format wants. Takes
        each turn's messages from `kept()`, and changes none of them.
        """

    def kept(self, turns: Sequence[Turn]) -> list[Json]:
        """Returns the messages of all turns, one after the other."""
        return list(chain.from_iterable(self.keep(turns, self.message)))

    @abstractmethod
    def message(self, turn: Turn) -> list[Json]:
        """Returns one turn in the provider's messages (several, where results are messages of their own).
        Depends on `turn` alone, so that its JSON can be kept and used again.
        """

    @abstractmethod
    def content(self, content: Content) -> Json:
        """Returns one content block. Raises `ContentError`, naming class and wire, for what the format cannot
        say.
        """

    def call_id(self, id: str) -> str:
        """Returns a tool-call id that this format takes; the same for the call and its result."""
        return id

    @property
    def issuer(self) -> str:
        """Who can read what this provider seals (a signature, encrypted reasoning): nobody else gets it back."""
        return self.vendor

    def issued(self, extra: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Returns what this very issuer attached to a content and wants back; `None` for another's, or nothing."""
        own = extra.get(self.name)
        return own if isinstance(own, Mapping) and own.get("issuer", self.issuer) == self.issuer else None

    def own(self, **what: Any) -> Json:
        """Returns the `extra` of a content that this very provider issued; `issued()` reads it."""
        return {self.name: {"issuer": self.issuer, **what}}

    @abstractmethod
    def tool(self, tool: ToolDef) -> Json:
        """Returns a tool definition."""

    @abstractmethod
    def schema(self, type: Type) -> Json:
        """Returns a type as the JSON Schema dialect of this format."""

    def tools(self, tools: Sequence[ToolDef]) -> list[Json]:
        """Returns the definitions of all tools; one that the provider runs itself goes as it was given."""
        return [self.provided(tool) or self.tool(tool) for tool in tools]

    def provided(self, tool: ToolDef) -> Json | None:
        """Returns what stands for a tool that the provider runs itself; `None` for a function of ours."""
        return tool.provided(self.name)

    # beside the conversation ------------------------------------------------------------------------------

    def count_request(
        self,
        turns: Sequence[Turn],  # noqa: ARG002 - as where there is a counter
        tools: Sequence[ToolDef] = (),  # noqa: ARG002
        *,
        type: Type | None = None,  # noqa: ARG002
    ) -> Request:
        """Asks how many tokens this input would be. Raises `UsageError` where the API does not count."""
        raise UsageError(f"{self.vendor} cannot count tokens before a request. Use get_tokens() after it.")

    def counted(self, response: Json) -> int:
        """Returns the answer to that."""
        raise NotImplementedError

    def models_request(self) -> Request:
        """Asks for the list of models. Raises `UsageError` where the API has none."""
        if not self.models_path:
            raise UsageError(f"The API of {self.vendor} does not list its models; see its documentation.")
        return self.get(self.models_url())

    def models_url(self) -> str:
        """Returns where that list is."""
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
        """Tells whether the provider goes on with this answer when it is sent back as it is."""
        return False

    @abstractmethod
    def merger(self) -> Merger:
        """Returns a fresh fold for one streamed answer."""

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Returns the typed error for an answer with an error status; any body, HTML and empty ones included."""
        return error_of(status, headers, body).at(self.vendor, self.model, self.key_vars)
