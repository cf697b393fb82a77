"""The contents of a turn, with tools, calls and their results: plain, immutable values that are independent of providers.

Every class is a frozen dataclass, and other packages can make subclasses: a tool may return its own kind of
`ContentToolResult`, and a UI may use its own `ContentToolRequest`.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args

from ..base.argument_checks import misfit
from ..base.budget import CLIENT
from ..base.forks import cached_property
from ..base.log import logger, warn
from ..base.printable_text import revealed
from ..base.values import Value
from ..errors import ContentFieldError
from .display import Displayed

if TYPE_CHECKING:
    from ..schemas.type_classes import TypeObject

__all__ = [
    "Content", "ContentCitation", "ContentFile", "ContentImage", "ContentImageInline", "ContentImageRemote",
    "ContentJson", "ContentPDF", "ContentProviderCall", "ContentProviderResult", "ContentText",
    "ContentThinking", "ContentToolQuestion", "ContentToolRequest", "ContentToolResult", "ContentUnknown",
    "ContentUploaded",
    "ToolCallDelta", "ToolDef",
]  # fmt: skip


# --- contents --------------------------------------------------------------------------------------------


C = TypeVar("C", bound="Content")


@dataclass(frozen=True, eq=False, repr=False)
class Content(Displayed, Value):
    """Base class of everything that a turn can contain. `str()` gives its printed form.

    Examples:
        >>> isinstance(ContentText("Hello"), Content)
        True
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "AnyContent" in globals():
            _check_closed(cls)

    def __post_init__(self) -> None:
        if wrong := misfit(self):
            raise ContentFieldError(f"{wrong}.")

    def __str__(self) -> str:
        printed: str = self.displayed_as("text")
        return printed


@dataclass(frozen=True, eq=False, repr=False)
class ContentCitation(Content):
    """A citation: the source of a text, or of a part of it.

    Citations are in `ContentText.citations`. `stream(content="all")` yields each after its text.

    Args:
        url: Address of the source; `""` (default) where it has none.
        title: Title of the source. Default: `""`.
        quote: The words of the source that are cited. Default: `""`.
        start: Index of the first character of the text that the citation is for; `None` (default) means the
            whole text.
        end: Index after the last such character. Default: `None`, the end of the text.

    Examples:
        >>> source = ContentCitation("https://example.com", "Example")
        >>> ContentText("It rains.", citations=(source,)).citations[0].title
        'Example'
    """

    url: str = ""
    title: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ContentText(Content):
    """Text, often Markdown. It is the content that is shown while it streams.

    Two texts are equal when their words are equal.

    Args:
        text: The words.
        extra: What the provider attached to this text and expects back (an item id, a signature), under the name of the
            wire format as in `ContentThinking`. Default: empty.
        citations: The sources of the text. Default: none.

    Raises:
        ContentFieldError: A field has another type; `ContentText(5)` raises it.

    Examples:
        >>> ContentText("Hello") == ContentText("Hello", extra={"openai-responses": {"id": "msg_1"}})
        True
    """

    text: str
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    citations: tuple[ContentCitation, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = type(self.text) is str and type(self.extra) is dict and self.citations == ()
        if not plain or type(self) is not ContentText:  # most texts are plain, which is told fast
            super().__post_init__()

    @property
    def message(self) -> str | None:
        """The id of the message that the text is part of, for providers whose answers may have several messages. OpenAI's
        Responses has a comment and the final answer as two: https://github.com/microsoft/vscode/pull/312173
        """
        own = next((own for own in self.extra.values() if isinstance(own, Mapping) and "item" in own), None)
        item = own["item"] if own else None
        id = item.get("id") if isinstance(item, Mapping) else None
        return id if isinstance(id, str) else None


class _Data(Content):
    """A medium whose bytes are sent with the request: its `type` in lower case, and its `data` in standard base64."""

    only: ClassVar[str] = ""  # the one media type of the class, if it has one
    type: str
    data: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.type.islower():  # RFC 2045, 5.1: the case does not matter; providers refuse capitals
            object.__setattr__(self, "type", self.type.lower())

    @cached_property
    def fault(self) -> str:
        """What is wrong with the data, as a clause; `""` if they are the bytes that `type` names."""
        if not self.data:
            return "its data is empty"
        try:
            bytes = b64decode(self.data, validate=True)
        except ValueError:
            return "its data is not standard base64"
        from .media_bytes import AUDIO, SIGNATURES, picture_fault, sniffed  # noqa: PLC0415 - few chats have media

        actual = sniffed(bytes) or sniffed(bytes, AUDIO)
        if self.only and self.type != self.only:
            return f"its type is {self.type!r:.80}, not {self.only}"
        if self.type not in {**SIGNATURES, **AUDIO}:
            return ""
        if actual == self.type:
            return picture_fault(self.type, bytes)
        return f"its bytes are {actual}, not {self.type}" if actual else f"its bytes are not {self.type}"


class ContentImage(Content):
    """Base class of images: `ContentImageInline` and `ContentImageRemote`.

    Examples:
        >>> isinstance(content_image_url("https://example.com/cat.png"), ContentImage)
        True
    """


DETAILS = ("", "auto", "low", "high", "original")
_FIRST = 2**16  # characters of an image's data, in which nearly all have their size


@dataclass(frozen=True, eq=False, repr=False)
class ContentImageRemote(ContentImage):
    """An image by its address: the provider fetches it.

    Args:
        url: Address of the image.
        detail: How closely the model looks: `""` (default, the provider decides), `"auto"`, `"low"` or `"high"`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentImageRemote("https://example.com/cat.png").url
        'https://example.com/cat.png'
    """

    url: str
    detail: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        scheme, colon, rest = self.url.partition(":")
        if colon and not scheme.islower():  # RFC 3986, 3.1: the case does not matter; OpenAI refuses capitals
            object.__setattr__(self, "url", f"{scheme.lower()}:{rest}")

    @cached_property
    def fault(self) -> str:
        """What is wrong with the address, as a clause; `""` if a provider may fetch it, or if it has the bytes of an image."""
        if self.url.startswith("data:"):
            wrong = self._fault_of_data()
        elif re.match(r"(https?|gs|s3)://[^\s/]", self.url) and self.url.isprintable():
            wrong = ""
        else:
            wrong = f"{self.url!r:.80} is not the address of an image on the web"
        if wrong or self.detail in DETAILS:
            return wrong
        return f"its detail is {self.detail!r:.80}, not one of {DETAILS}"

    def _fault_of_data(self) -> str:
        found = re.fullmatch(r"data:(image/[^;,]*);base64,(.*)", self.url, re.DOTALL)
        if not found:
            return f"{self.url!r:.80} is not data:image/…;base64,…"
        from .media_bytes import SIGNATURES  # noqa: PLC0415 - few chats have images

        if found[1] not in SIGNATURES:
            known = ", ".join(type for type in SIGNATURES if type.startswith("image/"))
            return f"its bytes are {found[1]!r:.80}, not one of {known}"
        return ContentImageInline(found[1], found[2]).fault


@dataclass(frozen=True, eq=False, repr=False)
class ContentImageInline(ContentImage, _Data):
    """An image whose bytes are sent with the request. `content_image_file()` makes one from a path.

    Args:
        type: Media type, `"image/png"` for example.
        data: The bytes in standard base64. Default: `""`.
        extra: What the provider attached to an image that it made, as in `ContentText`. Default: empty.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentImageInline("image/png", "iVBORw0KGgo=").type
        'image/png'
    """

    type: str
    data: str = field(default="", repr=False)
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def size(self) -> tuple[int, int] | None:
        """The width and height in pixels, or `None` if the bytes do not tell."""
        from .media_bytes import image_size  # noqa: PLC0415 - few chats have images

        if self.fault:
            return None
        first = b64decode(self.data[:_FIRST])
        return image_size(self.type, first) or image_size(self.type, b64decode(self.data))


@dataclass(frozen=True, eq=False, repr=False)
class ContentPDF(_Data):
    """A PDF whose bytes are sent with the request. `content_pdf_file()` makes one from a path.

    Args:
        type: Media type: `"application/pdf"`.
        data: The bytes in standard base64.
        filename: Name that the model may see. Default: `"document.pdf"`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentPDF("application/pdf", "JVBERi0xLjQ=").filename
        'document.pdf'
    """

    only: ClassVar[str] = "application/pdf"
    type: str
    data: str = field(repr=False)
    filename: str = "document.pdf"


@dataclass(frozen=True, eq=False, repr=False)
class ContentJson(Content):
    """Structured data, from the model or for it.

    Args:
        value: Any JSON value.

    Examples:
        >>> ContentJson({"city": "Paris"}).value
        {'city': 'Paris'}
    """

    value: Any


@dataclass(frozen=True, eq=False, repr=False)
class ContentFile(_Data):
    """A document, audio or video file that is sent with the request. `content_file()` makes one from a path.

    Args:
        type: Media type, `"text/csv"` for example.
        data: The bytes in standard base64.
        filename: Name that the model may see. Default: `"file"`.
        text: The text of the document, if it is known; it is sent where the API does not accept the file. Default:
            `""`.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentFile("text/plain", "SGVsbG8=", "hello.txt").filename
        'hello.txt'
    """

    type: str
    data: str = field(repr=False)
    filename: str = "file"
    text: str = field(default="", repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class ContentUploaded(Content):
    """A file that the provider already stores. `chat.upload()` makes one.

    Only the wire format and the provider that issued it can refer to it. Others receive its `source`, if that is known.

    Args:
        uri: The provider's name for the file.
        type: Media type.
        wire: Name of the wire format.
        provider: Name of the provider. Default: `""`.
        expires_at: Unix time at which the provider deletes it; `None` (default) if it stays until it is deleted.
        source: The content itself, for other providers; `None` (default) if it is not known.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentUploaded("file-1", "application/pdf", "openai-responses", "OpenAI").uri
        'file-1'
    """

    uri: str
    type: str
    wire: str
    provider: str = ""
    expires_at: float | None = None
    source: Content | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class ContentThinking(Content):
    """The model's reasoning, as far as the provider shows it.

    Args:
        thinking: The words; `""` where the provider hides them.
        extra: What must be sent back unchanged (a signature, an encrypted block), under the name of the wire format
            that issued it. No other wire format sends it. Default: empty.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentThinking("The user greets me.").thinking
        'The user greets me.'
    """

    thinking: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class ContentUnknown(Content):
    """A block that this version of the library does not know. It is kept and sent back to the wire it came from.

    Args:
        wire: Name of the wire format that the block came from.
        data: The block.

    Examples:
        >>> ContentUnknown("anthropic", {"type": "new_block"}).data["type"]
        'new_block'
    """

    wire: str
    data: Mapping[str, Any]


def is_media(value: object) -> bool:
    """Tells whether `value` is an image, a PDF, an uploaded file, or a file that is not plain text: content that cannot
    be written as JSON text.
    """
    if isinstance(value, ContentFile):
        return not (value.text and value.type.startswith("text/"))
    return isinstance(value, (ContentImage, ContentPDF, ContentUploaded))


MAX_DEPTH = CLIENT.depth  # of a tool's value
Path = tuple[int | str, ...]  # of a part of a value: names, and numbers of items from 1


def contents_in(value: object) -> Iterator[Content]:
    """Yields the contents in a tool's value, at any depth. A list or dictionary is read once."""
    waiting, seen = [value], set[int]()
    while waiting:
        match part := waiting.pop():
            case Content():
                yield part
            case dict() | list() | tuple() if id(part) not in seen:
                seen.add(id(part))
                inner = part.values() if isinstance(part, dict) else part
                waiting += [item for item in reversed([*inner]) if isinstance(item, _HOLDERS)]


def mapped(value: Any, change: Callable[[Content, Path], Any], path: Path = ()) -> Any:
    """Returns a tool's value with `change(content, path)` instead of each content, at any depth."""
    match value:
        case Content():
            return change(value, path)
        case dict() if len(path) < MAX_DEPTH:
            return {name: mapped(item, change, (*path, str(name))) for name, item in value.items()}
        case list() | tuple() if len(path) < MAX_DEPTH:
            return [mapped(item, change, (*path, number)) for number, item in enumerate(value, 1)]
    return value


_HOLDERS = (Content, dict, list, tuple)


def plain_text(text: str) -> ContentText:
    """Returns `ContentText(text)`, for the thousands of pieces of a stream: without looking for a wrong argument it takes a third of the time."""
    if type(text) is not str:
        return ContentText(text)
    made = object.__new__(ContentText)
    fields = vars(made)
    fields["text"], fields["extra"], fields["citations"] = text, {}, ()
    return made


def replaced(content: C, **changes: Any) -> C:
    """Returns a copy with other field values. Unlike `dataclasses.replace`, it works for every subclass and
    `__init__`.
    """
    changed = copy(content)
    for computed in ("fault", "size"):
        vars(changed).pop(computed, None)
    for name, value in changes.items():
        object.__setattr__(changed, name, value)
    return changed


# --- tools, calls and results ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ContentToolRequest(Content):
    """The model's request to call a tool.

    Args:
        id: Id that pairs the call with its result; made up where the provider gives none.
        name: Name of the tool.
        arguments: The decoded arguments; empty when they could not be decoded. Default: empty.
        tool: The tool itself; `None` (default) where no tool of that name is registered.
        raw: The JSON text exactly as the model wrote it, where the wire format carries text. Default: `None`, where it
            carries an object.
        problem: Why the arguments could not be decoded; the tool is not called then. `None` (default): no problem.
        extra: Provider data that belongs to this call (a Gemini thought signature, an OpenAI item id), under the name
            of the wire format as in `ContentThinking`. Default: empty.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentToolRequest("call_1", "get_weather", {"city": "Paris"}).arguments
        {'city': 'Paris'}
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tool: ToolDef | None = field(default=None, compare=False)
    raw: str | None = field(default=None, repr=False)
    problem: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class ContentToolQuestion(ContentToolRequest):
    """A question that a running tool, or the MCP server behind it, asks the user. It is answered like the approval of a call:
    approved with `arguments` that fit the schema, or denied.

    Args:
        id: Id of the call that asks.
        name: Name of its tool.
        arguments: The default answers, by the name of the field. Default: empty.
        tool: A tool whose arguments are the answers, and whose title is the question. Default: `None`.
        raw: Not used, because the model did not write the question. Default: `None`.
        problem: Not used. Default: `None`.
        extra: Not used. Default: empty.
        message: The question, which the tool's author wrote. Do not trust it if the tool is somebody else's. Default:
            `""`.
        schema: JSON Schema of the answers, an object; `{}` (default) for yes or no.
        url: An address that the user is asked to open; `""` (default) if there is none. Show it to the user, and do not open it in your program.

    Raises:
        ContentFieldError: A field has another type.

    Examples:
        >>> ContentToolQuestion("call_1", "book", message="Which seat?").title
        'Which seat?'
    """

    message: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""

    @property
    def title(self) -> str:
        """The question, followed by the URL that the user is asked to open."""
        return f"{self.message} {self.url}".strip()


@dataclass(frozen=True, eq=False, repr=False)
class ToolCallDelta(Value):
    """A piece of the arguments of a tool call, while the model writes it; see `stream(content="deltas")`.

    The call itself follows as a `ContentToolRequest` with the same id, unless the answer breaks off. A model may write
    anything, so the pieces need not add up to JSON.

    Args:
        id: Id of the call.
        name: Name of the tool.
        arguments: The new part of the JSON text.

    Examples:
        >>> ToolCallDelta("call_1", "get_weather", '{"city": "Pa').arguments
        '{"city": "Pa'
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, eq=False, repr=False)
class ContentToolResult(Content):
    """The outcome of a tool call: a value or an error.

    Args:
        value: What the tool returned. Default: `None`.
        error: A message, or the exception that the tool raised; `None` (default) for a success. The model gets it instead of the
            value, so both together give a warning.
        extra: Data for your own program, such as a display; it is never sent to the model. Default: empty.
        request: The call that the result belongs to. The chat fills it in when a tool returns a result itself. Default:
            `None`.

    Examples:
        >>> ContentToolResult("21 °C").value
        '21 °C'
    """

    value: Any = None
    error: str | BaseException | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    request: ContentToolRequest | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.error is not None and self.value is not None:
            warn(f"{type(self).__name__} has a value and an error. The model gets the error only.")

    @property
    def id(self) -> str:
        """The id of the request that this result answers; `""` without a request."""
        return self.request.id if self.request else ""

    @property
    def decision(self) -> str:
        """The decision about the call: `"approved"`, `"edited"` (approved with other arguments) or `"denied"`; `""`
        if nobody was asked.
        """
        decision = self.extra.get("decision")
        return decision if decision in {"approved", "edited", "denied"} else ""


def is_final(result: ContentToolResult) -> bool:
    """Tells whether a result is the answer, so that the model is not asked again."""
    tool = result.request.tool if result.request else None
    return tool is not None and tool.final and result.error is None


@dataclass(frozen=True, eq=False, repr=False)
class ContentProviderCall(ContentUnknown):
    """A tool call that the provider ran itself, such as a web search or its code interpreter.

    Where the provider reports call and result in one block, this content has both.

    Args:
        wire: Name of the wire format that the block came from.
        data: The provider's block; it is sent back unchanged.
        id: Id of the call; `""` (default) where there is none.
        name: Name of the provider's tool. Default: `""`.
        arguments: The arguments of the call. Default: empty.
        value: The result; `None` (default) while it is not known.
        error: The error message of a call that failed. Default: `None`, the call did not fail.

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
        value = self.value if self.error is None else None
        return ContentToolResult(value, self.error, request=self.request)


@dataclass(frozen=True, eq=False, repr=False)
class ContentProviderResult(ContentProviderCall):
    """The result of a tool call that the provider ran itself, where the provider reports it as a block of its own.

    Args:
        wire: Name of the wire format that the block came from.
        data: The provider's block; it is sent back unchanged.
        id: Id of the call that it belongs to. Default: `""`.
        name: Name of the provider's tool. Default: `""`.
        arguments: The arguments of the call, where the block repeats them. Default: empty.
        value: The result. Default: `None`.
        error: The error message of a call that failed. Default: `None`, the call did not fail.

    Examples:
        >>> ContentProviderResult("anthropic", {}, id="srv_1", value="3 pages").value
        '3 pages'
    """


# --- the union -------------------------------------------------------------------------------------------

#: Every content of this library. A `match` over it that ends in `assert_never` names every place to change when a new
#: class joins. Other packages derive from these classes, or from `Content` for what no model receives.
AnyContent = (
    ContentText
    | ContentCitation
    | ContentThinking
    | ContentJson
    | ContentImageInline
    | ContentImageRemote
    | ContentPDF
    | ContentFile
    | ContentUploaded
    | ContentToolRequest
    | ContentToolResult
    | ContentUnknown
)


def any_content(content: Content) -> AnyContent | None:
    """Returns the content if its class or a base class is one of ours, else `None`."""
    return content if isinstance(content, AnyContent) else None


def _check_closed(cls: type[Content]) -> None:
    """Raises `TypeError` for a class of this library that `AnyContent` does not have."""
    ours = cls.__module__.startswith(f"{__name__.partition('.')[0]}.")
    if ours and not issubclass(cls, AnyContent) and not any(issubclass(c, cls) for c in get_args(AnyContent)):
        raise TypeError(
            f"{cls.__name__} is a content of this library, so it belongs to AnyContent. Add it to that union in contents/content.py."
        )


for _class in [*Content.__subclasses__(), *ContentImage.__subclasses__(), *_Data.__subclasses__()]:
    _check_closed(_class)


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
        annotations: Annotations for people and programs, as of `tool_annotations()`. Default: empty.
        timeout: Seconds after which a call becomes an error result; `None` (default) means no limit.
        hints: The Python types of the function's parameters. Default: empty.
        request: Class of the requests for this tool. Default: `ContentToolRequest`.
        context: Name of the parameter that receives the `ToolContext`; `None` (default) if there is none.
        deferred: Whether the model sees it only after a search, as of `tool(…, defer=True)`. Default: `False`.
        final: Whether its result is the answer, as of `tool(…, final=True)`. Default: `False`.

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
    deferred: bool = False
    final: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return revealed(f"<ToolDef {self.name}({', '.join(self.arguments.properties)})>", line=True)

    def provided(self, wire: str) -> dict[str, Any] | None:  # noqa: ARG002 - a function of ours is one everywhere
        """Returns `None`: this tool is a function of yours. A provider's own tool, which is a `ToolBuiltIn`, returns its
        definition.

        Args:
            wire: Name of the wire format.

        Examples:
            >>> def now() -> str:
            ...     "Gets the time."
            ...     return "12:00"
            >>> print(tool(now).provided("anthropic"))
            None
        """
        return None

    def title(self, arguments: Mapping[str, Any] | None = None) -> str:
        """Returns the title of the tool, or of one call of it, for people.

        It is the annotation `title` (a string, or a function of the arguments), else the name in words: "Get current weather".

        Args:
            arguments: The arguments of the call; `None` (default) for the tool itself.

        Examples:
            >>> def get_weather(city: str) -> str:
            ...     "Looks up the weather."
            ...     return "21 °C"
            >>> tool(get_weather).title()
            'Get weather'
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
        values = {field.name: getattr(request, field.name) for field in fields(ContentToolRequest)}
        try:
            return tool.request(**{**values, "tool": tool})
        except Exception:  # noqa: BLE001 - as with a title: the call goes on without it
            logger.debug("tool %s: no %s", tool.name, tool.request.__name__, exc_info=True)
    return replaced(request, tool=tool)


def in_words(name: str) -> str:
    """Returns a tool's name for people: `get_current_weather` and `getCurrentWeather` become "Get current weather"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", " ", name)
    words = re.sub(r"[\s_-]+", " ", words).strip() or name
    first, *rest = words.split(" ")
    return " ".join([first[:1].upper() + first[1:], *(w if w.isupper() else w.lower() for w in rest)])
