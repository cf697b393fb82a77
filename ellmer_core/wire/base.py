"""A wire format: our turns in a provider's JSON, and the provider's JSON in our turns.

A `Wire` is a frozen value. It opens no socket and reads neither the clock nor the environment. Each wire format
is a package with the same modules: `request` (our turns as a request, in order), `content` (one content at a time),
`response` (an answer as a turn) and `stream` (events as the answer they add up to). A provider is a subclass in
`ellmer_core/providers/` that overrides what differs; this base and the wire formats never know their children.

A streamed answer is folded back into the JSON of the same answer unstreamed (`Merger`), and both go through
`turn()`; so a stream and a non-stream of one answer give equal turns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from ..contents.content import (
    Content,
    ContentFile,
    ContentImage,
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentUnknown,
    ContentUploaded,
)
from ..errors import UsageError
from ..tools.results import described, flatten
from .profile import IMAGES, Profile
from .shared import content_parts, json_bodies
from .shared.errors import error_of
from .shared.hidden import HiddenHeaders, without_user
from .structured import StructuredOutput
from .values import Json, Merger, Request, Supports

if TYPE_CHECKING:
    from ..contents.tool_calls import ContentToolResult, ToolDef
    from ..contents.turns import AssistantTurn, Turn
    from ..errors import ProviderError
    from ..schemas.types import Type

__all__ = ["Batches", "Steps", "Uploads", "Wire"]

T = TypeVar("T")
Steps = Generator[Request, bytes, T]


def _anew(turn: Turn, message: Callable[[Turn], list[Json]]) -> list[Json]:
    return message(turn)


@dataclass(frozen=True)
class Wire(StructuredOutput):
    """One wire format at one vendor, with one model.

    `params` are the neutral parameters (`temperature`, `max_tokens`, …), renamed by the wire; `api_args` is
    merged into the body last, `api_headers` into the headers last. `credentials` gives the key when a request
    is built; it is never printed. `keep(turn, self.message)` is `self.message(turn)`, or what that was before.
    """

    name: ClassVar[str]  # "openai-chat": the wire format
    vendor: ClassVar[str]  # "OpenAI": as printed
    default_model: ClassVar[str]
    key_vars: ClassVar[tuple[str, ...]] = ()  # environment variables that may hold the key, first one wins
    key_optional: ClassVar[bool] = False  # the server may do without one
    base_url_var: ClassVar[str] = ""  # environment variable that may hold the base URL
    example_url: ClassVar[str] = ""  # where each account has a base URL of its own: what one looks like
    base_url_end: ClassVar[str] = ""  # what the vendor's own clients add to the URL of that variable: "/v1"
    batches: ClassVar[Batches | None] = None  # its batch API, where the vendor has one
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
    keep: Callable[[Turn, Callable[[Turn], list[Json]]], list[Json]] = field(
        default=_anew, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        url, headers = without_user(self.base_url, self.api_headers)
        object.__setattr__(self, "base_url", url)
        if headers:
            object.__setattr__(self, "api_headers", HiddenHeaders(headers))
        if self.tool_media not in {"pointer", "native"}:
            raise UsageError(f'tool_media is "pointer" or "native", not {self.tool_media!r}.')
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
        """The whole request: `turns` end with the user turn to answer; `type` asks for structured output by the API's own
        means. `asking()` finds other means where these do not do."""

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        """The finished request: `params` at their places, then `api_args`, then `api_headers`; each wins over
        what was there before."""
        body = json_bodies.merged(json_bodies.merged(body, self.profile.fields), self.parameters())
        body = json_bodies.merged(self.with_tools(body), self.api_args)
        return Request(url, {**self.headers(), **self.added_headers()}, body, stream)

    @property
    def takes(self) -> Mapping[str, str]:
        """The neutral parameters that the format has for the model, with their places in the body."""
        return self.param_names

    def with_tools(self, body: Json) -> Json:
        """The body with what the model needs beside tools; without tools, no choice among them either."""
        if any(one.get("tools") or one.get("toolConfig", {}).get("tools") for one in (body, self.api_args)):
            needed = json_bodies.parameters(self.profile.with_tools, self.takes, self.name)
            return json_bodies.merged(body, needed)
        return json_bodies.without(body, "tool_choice", "toolConfig", "parallel_tool_calls")

    def added_headers(self) -> Mapping[str, str]:
        """The headers of the profile and the caller's; one that both have holds both values."""
        both = self.profile.headers.keys() & self.api_headers.keys()
        joined = {name: f"{self.profile.headers[name]},{self.api_headers[name]}" for name in both}
        return {**self.profile.headers, **self.api_headers, **joined}

    def parameters(self) -> Json:
        """`params` at their places in the body."""
        return json_bodies.parameters(self.params, self.param_names, self.name)

    def headers(self) -> dict[str, str]:
        """The headers that carry the key, if there is one."""
        return {"authorization": f"Bearer {self.credentials()}"} if self.credentials else {}

    @abstractmethod
    def messages(self, turns: Sequence[Turn]) -> list[Json]:
        """All turns in the provider's list, with the joins between turns that the format wants. Takes each turn's
        messages from `keep()`, and changes none of them."""

    @abstractmethod
    def message(self, turn: Turn) -> list[Json]:
        """One turn in the provider's messages (several, where results are messages of their own). Depends on
        `turn` alone, so that its JSON can be kept and used again."""

    @abstractmethod
    def content(self, content: Content) -> Json:
        """One content block. Raises `ContentError`, naming class and wire, for what the format cannot say."""

    def flat(self, contents: Sequence[Content]) -> list[Content]:
        """The contents of a user turn as `tool_media` wants the media of tool results: inside them, or hoisted
        out. Raises `ContentError` for media that the vendor does not take; in a result they are named instead."""
        contents = described([self.as_sent(content) for content in contents], self.refuses)
        if refused := next(filter(self.refuses, contents), None):
            raise content_parts.refused(refused, self.name, self.objection(refused))
        return contents if self.tool_media == "native" else flatten(contents, self.namer(contents))

    def as_sent(self, content: Content) -> Content:
        """What stands for a content of the user: a file that was uploaded elsewhere is sent along, and one that the API
        does not take as its text."""
        if isinstance(content, ContentUploaded) and content.source is not None and not self.holds(content):
            content = content.source
        if not isinstance(content, ContentFile):
            return content
        if block := self.file(content):
            return ContentUnknown(self.name, block)
        if not content.text:
            raise content_parts.refused(content, self.name, self.objection(content))
        return ContentText(f'<file name="{escape(content.filename)}">\n{content.text}\n</file>')

    def file(self, file: ContentFile) -> Json | None:  # noqa: ARG002 - as where files are not taken
        """A file as a block of the format; `None` where the API does not take it."""
        return None

    def holds(self, file: ContentUploaded) -> bool:
        """Whether a file was uploaded to this very provider."""
        return file.wire == self.name and file.vendor in {"", self.vendor}

    def refuses(self, value: object) -> bool:
        """Whether this is media of a kind that the vendor, or the model, does not take."""
        return bool(self.objection(value))

    def objection(self, value: object) -> str:  # noqa: PLR0911 - one return per kind of media
        """Why the vendor, or the model, does not take this medium; nothing, where it does."""
        who, profile = f"{self.vendor}'s {self.model}", self.profile
        match value:
            case ContentPDF() if not self.supports.pdfs or profile.pdfs is False:
                return f"{who} takes no PDF"
            case ContentImage() if not self.supports.images or profile.images == ():
                return f"{who} takes no image"
            case ContentImageInline(type=type) if type.lower() not in (profile.images or IMAGES):
                there = ", ".join(profile.images or IMAGES)
                return f"{type} is not one of {there}, which {who} takes"
            case ContentImageRemote(url=url) if not self.fetches_from(url):
                return f"{self.vendor} fetches no URL; send the bytes of {url} instead, or give the chat fetch='https'"
            case ContentFile(type=type, text=text) if not text and not self.file(value):
                return f"{who} takes no {type} over this API"
            case ContentUploaded(source=Content() as source) if not self.holds(value):
                return self.objection(source)
            case ContentUploaded(wire=wire) if (
                wire != self.name or not self.supports.pdfs or profile.pdfs is False
            ):
                return f"{who} cannot read what was uploaded elsewhere ({wire})"
        return ""

    def fetches_from(self, url: str) -> bool:  # noqa: ARG002 - a provider may fetch from some places only
        """Whether the API fetches an image from there."""
        return self.fetches

    def call_id(self, id: str) -> str:
        """A tool-call id that this format takes; the same for the call and its result."""
        return id

    def namer(self, contents: Sequence[Content]) -> Callable[[ContentToolResult], str]:  # noqa: ARG002 - for formats without ids
        """How the model knows the call of a result in this turn: what stands in the tags around its media."""
        return lambda result: self.call_id(result.id)

    @property
    def issuer(self) -> str:
        """Who can read what this provider seals (a signature, encrypted reasoning): nobody else gets it back."""
        return self.vendor

    def issued(self, extra: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What this very issuer attached to a content and wants back; `None` for another's, or nothing."""
        own = extra.get(self.name)
        return own if isinstance(own, Mapping) and own.get("issuer", self.issuer) == self.issuer else None

    def own(self, **what: Any) -> Json:
        """The `extra` of a content that this very provider issued; `issued()` reads it."""
        return {self.name: {"issuer": self.issuer, **what}}

    @abstractmethod
    def tool(self, tool: ToolDef) -> Json:
        """A tool definition."""

    @abstractmethod
    def schema(self, type: Type) -> Json:
        """A type as the JSON Schema dialect of this format."""

    def tools(self, tools: Sequence[ToolDef]) -> list[Json]:
        """The definitions of all tools; one that the provider runs itself goes as it was given."""
        return [self.provided(tool) or self.tool(tool) for tool in tools]

    def provided(self, tool: ToolDef) -> Json | None:
        """What stands for a tool that the provider runs itself; `None` for a function of ours."""
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
        """The answer to that."""
        raise NotImplementedError

    def models_request(self) -> Request:
        """Asks for the list of models. Raises `UsageError` where the API has none."""
        if not self.models_path:
            raise UsageError(f"The API of {self.vendor} does not list its models; see its documentation.")
        return self.get(self.models_url())

    def models_url(self) -> str:
        """Where that list is."""
        return f"{self.base_url.rstrip('/')}{self.models_path}"

    def get(self, url: str) -> Request:
        """A request without a body."""
        return Request(url, {**self.headers(), **self.api_headers}, {}, method="GET")

    # theirs → ours ----------------------------------------------------------------------------------------

    @abstractmethod
    def turn(self, response: Json) -> AssistantTurn:
        """A whole answer as a turn. Unknown blocks become `ContentUnknown`. Raises the typed `ProviderError`
        when a 200 carries an error."""

    def paused(self, turn: AssistantTurn) -> bool:  # noqa: ARG002 - as where answers pause
        """Whether the provider goes on with this answer when it is sent back as it is."""
        return False

    @abstractmethod
    def merger(self) -> Merger:
        """A fresh fold for one streamed answer."""

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """The typed error for an answer with an error status; any body, HTML and empty ones included."""
        return error_of(status, headers, body).at(self.vendor, self.model, self.key_vars)


class Batches(ABC):
    """The batch API of one provider: many requests at once (`wire/batches.py`). A `batch` is the provider's own object, as its API last returned it."""

    @abstractmethod
    def submit(self, wire: Wire, bodies: Mapping[str, Json]) -> Steps[Json]:
        """Hands in the bodies of requests, by the names that their answers will bear."""

    @abstractmethod
    def poll(self, wire: Wire, batch: Json) -> Request:
        """Asks how far it is."""

    @abstractmethod
    def done(self, batch: Json) -> bool:
        """Whether there is nothing to wait for. Raises `BadRequestError` where it failed as a whole."""

    @abstractmethod
    def results(self, wire: Wire, batch: Json) -> Steps[dict[str, Json]]:
        """The answers by name; one that is missing was not given."""


class Uploads(ABC):
    """Where one provider keeps files (`wire/uploads.py`)."""

    @abstractmethod
    def upload(
        self, wire: Wire, data: bytes, type: str, filename: str, expires_in: float | None
    ) -> Steps[Any]:
        """Uploads a file. Raises `UsageError` for an expiry that the provider does not keep."""

    @abstractmethod
    def delete(self, wire: Wire, uri: str) -> Request:
        """Deletes it."""

    def poll(self, wire: Wire, uri: str) -> Request | None:  # noqa: ARG002 - as where files are ready at once
        """Asks whether the file is ready; `None` where there is nothing to ask."""
        return None

    def polled(self, body: bytes) -> Any:
        """The answer to that."""
        raise NotImplementedError
