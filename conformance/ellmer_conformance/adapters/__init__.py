"""The adapter protocol, which connects any chat library to the suite.

The protocol is structural: an adapter imports nothing of this package. An `Adapter` opens a `Session` for each
conversation. A session keeps its history and runs its tools, as the library does for its users.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from ..scenarios.case import MODES, Mode
from ..scenarios.messages import Part, Reply, Tool, Turn

__all__ = [
    "Ability",
    "Adapter",
    "Capabilities",
    "Difference",
    "Endpoint",
    "MediaAbility",
    "ProviderAddress",
    "Session",
    "Structured",
]


@dataclass(frozen=True)
class ProviderAddress:
    """A provider's address, with a model and the variables that may hold a key.

    Args:
        base_url: The provider's real base URL.
        model: The model that the cases use there.
        key_vars: Names of the environment variables that may hold a key; the first one that is set is used.

    Examples:
        >>> ProviderAddress("https://api.example.com/v1", "example-1", ("EXAMPLE_API_KEY",)).origin
        'https://api.example.com'
    """

    base_url: str
    model: str
    key_vars: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The scheme and the host. The harness sends requests with this origin to the strict server."""
        return self.base_url.removesuffix(self.path)

    @property
    def path(self) -> str:
        """The path of the base URL: `/v1`, or an empty string."""
        return urlsplit(self.base_url).path


@dataclass(frozen=True)
class Endpoint:
    """The API that a session talks to.

    Args:
        wire: Name of the wire format.
        provider: Name of the provider.
        base_url: The base URL: the provider's own (`https://api.openai.com/v1`), or that of a server which stands for it.
        api_key: The key.
        model: Name of the model.
        max_retries: How often the library may retry a request. The cases count requests. Default: 0.
        timeout: The seconds that the library is to wait for an answer; `None` (default) for its own default.

    Examples:
        >>> Endpoint("openai-chat", "openai", "http://127.0.0.1:8080/v1", "any-key", "gpt-4.1").max_retries
        0
    """

    wire: str
    provider: str
    base_url: str
    api_key: str
    model: str
    max_retries: int = 0
    timeout: float | None = None

    @property
    def timeout_option(self) -> Mapping[str, Any]:
        """The timeout as a keyword argument of a client: `{"timeout": 3.0}`, or nothing."""
        return {} if self.timeout is None else {"timeout": self.timeout}


Ability = Literal["native", "refused"]
MediaAbility = Literal["native", "pointer", "refused"]


@dataclass(frozen=True)
class Capabilities:
    """An adapter's declaration of its library's features. `"refused"` means that the library raises its own error,
    which is tested.

    A session may have `reloaded()`, which returns a new session that continues from saved data. An adapter may have
    `without_waiting(note)`, which returns a context manager, inside which pauses between retries are passed to `note` instead of
    waited for.

    Args:
        modes: The modes in which a session can be called: `"sync"`, `"async"`, `"stream"`, `"async-stream"`. Default: all.
        tools: Whether the library runs tools. Default: `"native"`.
        structured: Whether sessions have `extract(parts, schema)` and `aextract(parts, schema)`, whose `Reply` has a
            `value`. Default: `"refused"`.
        image_in_user: Whether a user turn may contain an image. Default: `"native"`.
        pdf_in_user: Whether a user turn may contain a PDF. Default: `"native"`.
        audio_in_user: Whether a user turn may contain an `Audio`. Default: `"refused"`.
        image_in_tool_result: How a tool result carries an image. `"pointer"` (default) puts the image after the results, and
            the result refers to it.
        pdf_in_tool_result: As `image_in_tool_result`, for a PDF.
        dangling_call: Whether a history may contain tool calls without results, after which the user continues. Default:
            `"refused"`; a library that repairs such a history is also accepted.
        interleaved_parts: Whether texts and media of a turn keep their order. An adapter that refuses it takes texts
            and media as two lists, and only the order within each list is checked. Default: `"native"`.
        changed_prompt: Whether sessions have `instructed(system)`, which replaces the system prompt. Default:
            `"refused"`.
        compaction: Whether sessions have `compacted()` and `acompacted()`, which shorten the conversation in one
            request. Default: `"refused"`.
        approval: Whether sessions have `approving(approve)`. `approve(name, arguments)` is called before a tool with
            `needs_approval` runs. Default: `"refused"`.
        citations: Whether replies have `sources`. If web search must be allowed first, sessions have `searching()`.
            Default: `"refused"`.
        uploads: Whether sessions have `upload(file)` and `aupload(file)`. What they return is among the `parts`.
            Default: `"refused"`.
        structured_with_tools: Whether a value can be requested from a session that has tools. Default: `"native"`.
        tool_choice: Whether `send` and `asend` take `options={"tool_choice": "required"}`, which holds for that turn.
            Default: `"refused"`.
        stop_sequences: The same for `options={"stop": [...]}`, a list of texts.
        json_mode: The same for `options={"json": True}`.
        model_override: The same for `options={"model": name}`.
        prompt_caching: The same for `options={"cache": True}`.
        usage_limits: The same for `options={"requests": n}`, the most requests that the turn may send.
        temperature: The same for `options={"temperature": 0}`. Zero is a value: it must be sent.
        output_limit: The same for `options={"max_tokens": n}`, the most tokens of an answer.
        forbidden_calls: The same for `options={"tool_choice": "none"}`: the tools stay offered, or are left out for that turn.
        single_calls: The same for `options={"parallel": False}`: an answer has at most one call. `False` must be sent.
        thinking: The same for `options={"thinking": True}`: the model thinks, however much.
        named_calls: The same for `options={"tool": name}`: the model must call this tool, and no other.
        thinking_off: The same for `options={"thinking": False}`: the model does not think, or as little as it can.
        async_tools: Whether a `Tool` with `asynchronous` is registered as a coroutine function, in the async modes. Default:
            `"refused"`.

    Examples:
        >>> Capabilities(pdf_in_user="refused").refused({"tools", "pdf_in_user"})
        ['pdf_in_user']
    """

    modes: Collection[Mode] = MODES
    tools: Ability = "native"
    structured: Ability = "refused"
    image_in_user: Ability = "native"
    pdf_in_user: Ability = "native"
    audio_in_user: Ability = "refused"
    image_in_tool_result: MediaAbility = "pointer"
    pdf_in_tool_result: MediaAbility = "pointer"
    dangling_call: Ability = "refused"
    interleaved_parts: Ability = "native"
    changed_prompt: Ability = "refused"
    compaction: Ability = "refused"
    approval: Ability = "refused"
    citations: Ability = "refused"
    uploads: Ability = "refused"
    structured_with_tools: Ability = "native"
    tool_choice: Ability = "refused"
    stop_sequences: Ability = "refused"
    json_mode: Ability = "refused"
    model_override: Ability = "refused"
    prompt_caching: Ability = "refused"
    usage_limits: Ability = "refused"
    temperature: Ability = "refused"
    output_limit: Ability = "refused"
    forbidden_calls: Ability = "refused"
    single_calls: Ability = "refused"
    thinking: Ability = "refused"
    named_calls: Ability = "refused"
    thinking_off: Ability = "refused"
    async_tools: Ability = "refused"

    def refused(self, needs: Collection[str]) -> list[str]:
        """Returns the capabilities of a case that are declared as refused.

        Args:
            needs: Names of the capabilities that the case needs.

        Examples:
            >>> Capabilities(approval="refused").refused(["tools", "approval"])
            ['approval']
        """
        return [need for need in needs if getattr(self, need) == "refused"]


@dataclass(frozen=True)
class Difference:
    """Something that a library does on purpose, although a rule forbids it. It is listed in the report, and it is not a
    failure.

    Args:
        rule: ID of the rule.
        shown: Part of the message with which the rule reports it. A violation with another message stays a failure.
        reason: What the library does, and why, as a sentence without a full stop.
        since: The date of the declaration, for example `"2026-11-26"`.
        wire: The wire format in which it does so; `""` (default) for all.

    An error that is declared with `RUN-003`, which forbids errors, also explains why texts of answers are missing in the run.

    Examples:
        >>> own = Difference("SYS-010", "You are an agent.", "it tells the model its name", "2026-11-26")
        >>> own.allows("SYS-010", "the caller did not say 'You are an agent. Your name is Ann.'", "gemini")
        True
    """

    rule: str
    shown: str
    reason: str
    since: str
    wire: str = ""

    def allows(self, rule: str, message: str, wire: str) -> bool:
        """Tells whether this difference excuses a violation of a rule.

        Args:
            rule: ID of the violated rule.
            message: The message of the violation.
            wire: The wire format of the run.

        Examples:
            >>> own = Difference("SYS-010", "You are an agent.", "it tells the model its name", "2026-11-26")
            >>> own.allows("SYS-010", "the system prompt is missing", "gemini")
            False
        """
        meant = rule == self.rule and self.wire in {"", wire}
        return meant and bool(self.shown) and self.shown in message


@runtime_checkable
class Session(Protocol):
    """One conversation of the library. It keeps its history, and it runs the tools that it was given.

    Examples:
        >>> class Echo:
        ...     def send(self, parts, *, stream=False):
        ...         return Reply(parts[0].text, stop="stop")
        >>> Echo().send([Text("Hello!")]).text
        'Hello!'
    """

    def send(self, parts: Sequence[Part], *, stream: bool = False) -> Reply:
        """Sends a user turn, runs the tools that the model calls, and returns the final answer.

        Args:
            parts: The contents of the turn.
            stream: Whether the answer is streamed. Default: `False`.

        Returns:
            The reply.

        Raises:
            Exception: Any error of the library.
        """
        ...

    def asend(self, parts: Sequence[Part], *, stream: bool = False) -> Awaitable[Reply]:
        """Works as `send()`, for async code. It is called only if an async mode is among the modes.

        Args:
            parts: As in `send()`.
            stream: As in `send()`.

        Returns:
            The reply, to be awaited.
        """
        ...

    def transcript(self) -> str:
        """Returns the conversation as the library prints it for a person, or `""` if it prints none."""
        ...

    def close(self) -> None:
        """Closes the connections."""


class Structured(Session, Protocol):
    """A session of a library that also returns values which fit a schema: `extract()` requests one."""

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        """Sends a user turn and requests a value that fits a JSON Schema.

        Args:
            parts: As in `send()`.
            schema: The JSON Schema.

        Returns:
            The reply; its `value` is the data.

        Raises:
            Exception: Any error of the library.
        """
        ...

    def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Awaitable[Reply]:
        """Works as `extract()`, for async code.

        Args:
            parts: As in `send()`.
            schema: As in `extract()`.

        Returns:
            The reply, to be awaited.
        """
        ...


@runtime_checkable
class Adapter(Protocol):
    """A library under test.

    `wires` maps each wire format that the library speaks to the providers that it speaks it with. A provider that the suite
    does not know needs a `ProviderAddress` in a further attribute `addresses`, a mapping from `(wire, provider)`. There, only the cases
    that are marked `everywhere` are run. What the library does on purpose is listed in an optional attribute `differences`, a
    sequence of `Difference`.

    Examples:
        >>> class Echo:
        ...     name = "echo"
        ...     wires = {"openai-chat": ["openai"]}
        ...     def capabilities(self, wire, provider):
        ...         return Capabilities(tools="refused")
        ...     def session(self, endpoint, *, system=None, tools=(), history=()):
        ...         raise NotImplementedError
        >>> isinstance(Echo(), Adapter)
        True
    """

    name: str
    wires: Mapping[str, Sequence[str]]

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        """Returns the library's features at a provider.

        Args:
            wire: Name of the wire format.
            provider: Name of the provider.
        """
        ...

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """Starts a conversation.

        Args:
            endpoint: The API to talk to.
            system: The system prompt; `None` (default) for none.
            tools: The tools that the model may call. Default: none.
            history: The turns that the conversation starts from. Default: none.

        Returns:
            The session.
        """
        ...
