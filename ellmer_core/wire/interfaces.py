"""The values that a wire format works with: requests, mergers of streams, parameters and profiles of models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import unwrap
from typing import Any, Literal, NamedTuple

from ..base.argument_checks import check_spelling, spelt
from ..base.values import Value
from ..contents.content import Content
from ..errors import ResponseError

__all__ = ["Profile", "params"]


# --- requests and streams --------------------------------------------------------------------------------


Json = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Request(Value):
    """An HTTP request, ready to send. `framing` says how the answer of a stream is split into events.

    `raw` is the body if it is not JSON. For providers with signatures, `sign` makes further headers from the body's
    bytes and the Unix time. It is called again for every retry. `secrets` are keys that are not sent, because they sign.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    json: Json
    stream: bool = False
    framing: Literal["sse", "ndjson", "aws_event_stream"] = "sse"
    method: str = "POST"
    raw: bytes | None = field(default=None, repr=False)
    sign: Callable[[bytes, float], Mapping[str, str]] | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Supports(NamedTuple):
    """The features of a provider's API for all models.

    `native_tool_media`: it accepts images inside tool results. `structured`: it enforces a schema (otherwise the
    prompt describes it). `usage_in_stream`: it counts the tokens of a streamed answer, too.
    """

    tools: bool = True
    images: bool = True
    pdfs: bool = True
    native_tool_media: bool = True
    structured: bool = True
    thinking: bool = True
    usage_in_stream: bool = True


class SchemaLimits(NamedTuple):
    """The limits; the defaults limit nothing. `recursion`: a schema may refer to itself everywhere, in optional
    properties only, or nowhere. `anything`: a schema may allow any value. `words`: keywords that are refused.
    """

    recursion: Literal["anywhere", "optional", "nowhere"] = "anywhere"
    open_objects: bool = True
    anything: bool = True
    optional: int | None = None
    unions: int | None = None
    words: frozenset[str] = frozenset()


class CallPiece(NamedTuple):
    """A piece of the arguments of a call: the place of the call in the answer, its id (`""` if it has none yet), the name
    of the tool as far as it arrived, and the new text.
    """

    place: Hashable
    id: str
    name: str
    text: str


Piece = Content | CallPiece


class Merger(ABC):
    """Merges the events of one streamed answer. Each request has its own merger."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether the format's end marker has arrived. Without it, the answer is incomplete."""

    def call_arguments(self, tool: str) -> Sequence[str]:  # noqa: ARG002 - for formats without tools
        """Returns the pieces of the arguments of the first call of a tool, as far as they arrived. Later pieces follow
        those that were returned before, so that a reader takes each of them once.
        """
        return ()

    #: Whether nothing can follow, so that the rest of the stream need not be read.
    done: bool = False

    @abstractmethod
    def add(self, event: Any) -> Sequence[Piece]:
        """Adds one decoded event (a JSON object, or the string `"[DONE]"`). Returns its visible parts: `ContentText`
        and `ContentThinking` pieces, and pieces of calls of our tools. Unknown events and fields are kept or ignored, never an error. Raises the typed
        `ProviderError` for an error event.
        """

    @abstractmethod
    def response(self) -> Json:
        """Returns the answer so far, in the shape of an answer without a stream (for `Wire.turn`)."""


class Decoder(ABC):
    """Splits one answer into events. Each request has its own decoder. The events do not depend on where chunks end:
    those before an unreadable one are returned, and the next call raises its error, which is in `failure` at once.
    """

    failure: ResponseError | None = None

    def feed(self, chunk: bytes) -> list[Any]:
        """Returns the events that `chunk` completes. Raises `ResponseError` if an event cannot be read."""
        if self.failure is not None:
            raise self.failure
        events: list[Any] = []
        try:
            self.decode(chunk, events)
        except ResponseError as error:
            self.failure = error
            if not events:
                raise
        return events

    @abstractmethod
    def decode(self, chunk: bytes, events: list[Any]) -> None:
        """Appends the events that `chunk` completes."""

    @abstractmethod
    def flush(self) -> list[Any]:
        """Returns the rest at the end of the answer. An incomplete event is dropped."""


# --- parameters ------------------------------------------------------------------------------------------


@spelt
def params(
    *,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    frequency_penalty: float | None = None,
    presence_penalty: float | None = None,
    seed: int | None = None,
    max_tokens: int | None = None,
    log_probs: bool | None = None,
    stop_sequences: str | Sequence[str] | None = None,
    reasoning_effort: str | None = None,
    reasoning_tokens: int | None = None,
    thinking: str | int | None = None,
    compact_at: int | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Collects parameters of a model, for `chat_openai(params=…)` and its like. `None` leaves a parameter to the provider.

    A parameter that the model does not accept is left out with a warning.

    Args:
        temperature: Randomness; 0 is the least. The largest value differs by provider (1 or 2). Default: `None`.
        top_p: Share of the probability that tokens are drawn from, 0 to 1. Default: `None`.
        top_k: Number of the most likely tokens that tokens are drawn from. Default: `None`.
        frequency_penalty: Penalty for tokens by how often they occurred, usually -2 to 2. Default: `None`.
        presence_penalty: Penalty for tokens that occurred, usually -2 to 2. Default: `None`.
        seed: Seed for repeatable answers, where the provider has one. Default: `None`.
        max_tokens: Largest number of tokens of an answer, reasoning included. Default: `None`.
        log_probs: Whether the provider returns log probabilities of the tokens. Default: `None`.
        stop_sequences: Texts that end the answer. Default: `None`.
        reasoning_effort: The provider's own word for how much the model thinks. Default: `None`.
        reasoning_tokens: Number of tokens to think with. Default: `None`.
        thinking: One setting for all providers: `"off"`, `"low"`, `"medium"`, `"high"`, `"max"`, or a number of tokens.
            Default: `None`.
        compact_at: Number of input tokens from which on the provider itself replaces the older part of the conversation
            by a summary, where it can: Anthropic (at least 50,000) and the Responses API of OpenAI (at least 1,000).
            Default: `None`.
        **extra: Parameters by the provider's own names.

    Returns:
        The parameters that are not `None`.

    Examples:
        >>> params(temperature=0.2, max_tokens=500)
        {'temperature': 0.2, 'max_tokens': 500}
    """
    named = {
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "frequency_penalty": frequency_penalty,
        "presence_penalty": presence_penalty,
        "seed": seed,
        "max_tokens": max_tokens,
        "log_probs": log_probs,
        "stop_sequences": _texts(stop_sequences),
        "reasoning_effort": reasoning_effort,
        "reasoning_tokens": reasoning_tokens,
        "thinking": thinking,
        "compact_at": compact_at,
    }
    if extra:
        check_spelling(extra, "params", named)
    return {name: value for name, value in (named | extra).items() if value is not None}


def _texts(sequences: Sequence[str] | None) -> list[str] | None:
    """Returns a list of texts. A single string becomes a list of one, because its letters would be wrong stop
    sequences.
    """
    if sequences is None:
        return None
    return [sequences] if isinstance(sequences, str) else list(sequences)


#: The names that every provider shares.
NEUTRAL = frozenset(unwrap(params).__kwdefaults__ or ()) - {"thinking"}


def check_params(given: Mapping[str, Any]) -> None:
    """Raises `UsageError` for a neutral parameter whose value is of a wrong type."""
    params(**{name: value for name, value in given.items() if name in NEUTRAL or name == "thinking"})


# --- profiles of models ----------------------------------------------------------------------------------


#: The media types of images that nearly every model takes.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Value):
    """What a model accepts. `chat.profile` shows the profile of a chat, and `profile=` overrides fields of it.

    `None` stands for "not known", and an empty tuple or dictionary for "none". "Parameters" are names or values of
    `params()`.

    Args:
        refuses: Names of the parameters that the model does not accept. Default: `()`.
        refuses_thinking: Names of the parameters that it does not accept while it thinks. Default: `()`.
        exclusive: Groups of names of parameters; it accepts one parameter of each group. Default: `()`.
        ranges: The smallest and the largest value of a parameter, by its name. Default: `{}`.
        max_tokens: Number of tokens that is requested if the caller gives none and the API requires one. Default: `None`.
        thinks: Whether the model thinks unless it is told not to. Default: `False`.
        adaptive: Whether the model decides itself how much to think, and is asked for an effort. Default: `True`.
        efforts: The accepted values of `reasoning_effort`. Default: `None`.
        budget: The smallest and the largest accepted `reasoning_tokens`. Default: `None`.
        off: Parameters that turn thinking off, by name. Default: `None`.
        on: Parameters that are sent while thinking is on, so that the API shows the thoughts. Default: `{}`.
        levels: Parameters for each level of `thinking`, for a model with neither an effort nor a budget. Default: `{}`.
        forced: Whether a tool call can be forced. Default: `True`.
        forced_thinking: Whether a tool call can be forced while the model thinks. Default: `True`.
        images: The accepted media types of images, such as `"image/png"`. Default: `None`.
        pixels: The largest accepted width and height of an image, in pixels. Default: `None`.
        pdfs: Whether it accepts PDFs. Default: `None`.
        audio: Whether it accepts audio. Default: `None`.
        tools: Whether it accepts tools. Default: `True`.
        instead: What the caller can do if it accepts no tools, as a sentence. Default: `""`.
        system: Whether it accepts a system prompt. Default: `True`.
        structured: How it gives structured output: `"schema"` (default), or `"words"` if only the prompt can ask for it.
        with_tools: Parameters that it requires in requests with tools, by name. Default: `{}`.
        tool_search: Whether the provider searches deferred tools for it. Default: `False`.
        compacts: The smallest and the largest `compact_at` in tokens; `()` (default) if the provider does not compact
            conversations.
        fields: Fields of the body that every request has. Default: `{}`.
        headers: Headers that every request has. Default: `{}`.
        gone: Names of the parameters that the API version does not have for any model. Default: `()`.
        sources: Links to the provider's documentation of these facts. Default: `()`.

    Examples:
        >>> chat = chat_openai(model="gpt-4.1", profile={"max_tokens": 500})
        >>> chat.profile.max_tokens
        500
    """

    refuses: tuple[str, ...] = ()
    refuses_thinking: tuple[str, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    max_tokens: int | None = None
    thinks: bool = False
    adaptive: bool = True
    efforts: tuple[str, ...] | None = None
    budget: tuple[int, ...] | None = None
    off: Mapping[str, Any] | None = None
    on: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    forced: bool = True
    forced_thinking: bool = True
    images: tuple[str, ...] | None = None
    pixels: int | None = None
    pdfs: bool | None = None
    audio: bool | None = None
    tools: bool = True
    instead: str = ""
    system: bool = True
    structured: str = "schema"
    with_tools: Mapping[str, Any] = field(default_factory=dict)
    tool_search: bool = False
    compacts: tuple[int, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
