"""Every error that ellmer_core raises on purpose.

EllmerError
├── UsageError                 an error of the caller: a wrong argument, an unknown provider, a missing key
│   ├── ContentError           this wire format or model does not accept a content (before sending)
│   │   └── ContentFieldError      a field of a content has a wrong type
│   ├── ToolResultError        a tool returned a value that cannot be sent (names the tool and the path)
│   └── AsyncToolError         an async tool or callback was used in a blocking call
├── ToolReject                 a tool or callback raises it to refuse a call; it never leaves the chat
├── ProviderError              the provider answered with an error
│   ├── BadRequestError            400, 404, 413, 422, a redirect
│   │   └── ContextWindowError         the conversation is longer than the model's context: see `chat.compact()`
│   ├── AuthenticationError        401, 403
│   ├── RateLimitError             429
│   └── ServerError                408, 409, 424, 5xx (529 included)
├── ConnectError               no answer: refused, reset, name not found
│   └── RequestTimeoutError        no answer in time (also a builtin TimeoutError)
├── ToolRoundsError            the model asked for tools more often than `max_tool_rounds` allows
├── UsageLimitError            the conversation would use more than its `UsageLimits` allow
├── NotSentError               one of many prompts was not sent, or not answered, because the job ended before
├── ApprovalRequiredError      tool calls wait for decisions that come later
└── ResponseError              the answer does not follow the wire format
    ├── IncompleteResponseError    the answer ended before its terminal marker
    └── ConversionError            a value does not fit the type that was asked for (names the path)

EllmerWarning                  the answer is usable, with a caveat (a `UserWarning`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, Self

from .base.printable_text import printable

__all__ = [
    "ApprovalRequiredError", "AsyncToolError", "AuthenticationError", "BadRequestError", "ConnectError",
    "ContentError", "ContentFieldError", "ContextWindowError", "ConversionError", "EllmerError",
    "EllmerWarning", "IncompleteResponseError", "NotSentError", "ProviderError", "RateLimitError",
    "RequestTimeoutError", "ResponseError", "ServerError", "ToolReject", "ToolResultError", "ToolRoundsError",
    "UsageError", "UsageLimitError",
]  # fmt: skip


class EllmerError(Exception):
    """The base class of the errors of this library. `str()` escapes control characters in texts from elsewhere.

    Args:
        *args: The message.

    Examples:
        >>> print(EllmerError("It is red: \\x1b[31m"))
        It is red: \\x1b[31m
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)

    def __str__(self) -> str:
        return printable(super().__str__())


class EllmerWarning(UserWarning):
    """A warning about an answer: it was cut at a limit or filtered, or a parameter was left out. The answer can be used.

    Args:
        *args: The message.

    Examples:
        >>> print(EllmerWarning("The answer was cut."))
        The answer was cut.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


class UsageError(EllmerError):
    """The call cannot work as it is written. The message says what to change.

    Examples:
        >>> try:
        ...     chat("nobody/model-1")
        ... except UsageError as error:
        ...     print(str(error).partition(".")[0])
        There is no provider 'nobody'
    """


class ContentError(UsageError):
    """A content cannot be sent: the wire format has no form for it, or the model does not accept it. The request with it was not sent.

    Examples:
        >>> try:
        ...     chat_openai(model="gpt-4.1").chat(ContentFile("audio/wav", "UklGRg==", "hello.wav"))
        ... except ContentError:
        ...     print("The model accepts no audio.")
        The model accepts no audio.
    """


class ContentFieldError(ContentError, TypeError):
    """A field of a content has a wrong type: `ContentText(5)`.

    Examples:
        >>> try:
        ...     ContentText(5)
        ... except ContentFieldError:
        ...     print("`text` must be a string.")
        `text` must be a string.
    """


class ToolResultError(UsageError):
    """A tool returned a value that cannot be sent: it is not a text, JSON, a content, or a list of those.

    The message names the tool and the path of the value. The model gets the message as the result of the call.

    Examples:
        >>> try:
        ...     check_tool_result("ratio", float("nan"))
        ... except ToolResultError:
        ...     print("NaN is not JSON.")
        NaN is not JSON.
    """


class AsyncToolError(UsageError):
    """An async tool or callback was used in a blocking call; use the `_async` method.

    Examples:
        >>> async def now() -> str:
        ...     "Tells the time."
        ...     return "12:00"
        >>> try:
        ...     run_tool(now)
        ... except AsyncToolError as error:
        ...     print("use run_tool_async()")
        use run_tool_async()
    """


class ToolReject(EllmerError):
    """Refuses a tool call; the model is told `reason`.

    Examples:
        >>> try:
        ...     tool_reject("Not on a Sunday.")
        ... except ToolReject as error:
        ...     print(error)
        Tool call rejected. Not on a Sunday.
    """


class ProviderError(EllmerError):
    """The provider answered with an error. `str()` adds provider, model, status and a hint on what to do.

    Args:
        message: The provider's own message.
        status: HTTP status; for an error inside a stream with status 200, the status it stands for. Default: `None`.
        code: The provider's error code; `None` (default) if it gave none, here and below.
        type: The provider's error type. Default: `None`.
        request_id: The id that the provider's support asks for. Default: `None`.
        retry_after: Seconds to wait before a retry. Default: `None`.
        body: The decoded body of the answer. Default: `None`.

    Examples:
        >>> ProviderError("Overloaded", status=529).status
        529
    """

    provider: str = ""
    model: str = ""
    keys: tuple[str, ...] = ()

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        type: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        body: object = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.type = type
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body

    def at(self, provider: str, model: str, keys: tuple[str, ...] = ()) -> Self:
        """Adds the provider and the model to the error.

        Args:
            provider: Name of the provider.
            model: Name of the model.
            keys: Environment variables that may hold the key. Default: none.

        Returns:
            The error itself.

        Examples:
            >>> print(ProviderError("Overloaded", status=529).at("Anthropic", "claude-sonnet-5"))
            Anthropic's claude-sonnet-5 (status 529): Overloaded
        """
        if not self.provider:
            self.provider, self.model, self.keys = provider, model, keys
        return self

    def hint(self) -> str:
        """Returns a hint for the caller; `""` if there is none.

        Examples:
            >>> ServerError("Overloaded", status=529).hint()
            'The provider failed. Retry later, or set a larger max_tries= to retry automatically.'
        """
        return ""

    def __str__(self) -> str:
        whose = f"{self.provider}'s {self.model}".strip() if self.model else self.provider
        status = f" (status {self.status})" if self.status else ""
        text = f"{whose}{status}: {self.message}" if whose else self.message
        advice = self.hint()
        return printable(f"{text}\n{advice}" if advice else text)


class BadRequestError(ProviderError):
    """The request is wrong and must be changed: 400, 404, 413, 422 and similar statuses.

    Examples:
        >>> print(BadRequestError("The model `gpt-9` does not exist.", status=404))
        The model `gpt-9` does not exist.
        Check the model's name, and base_url= if you gave one.
    """

    def hint(self) -> str:
        """Returns a hint for the caller; `""` if there is none.

        Examples:
            >>> BadRequestError("The image is too large.", status=413).hint()
            'Send less: smaller images, shorter texts, or fewer turns (`chat.compact()`).'
        """
        match self.status:
            case 402:
                return "Check the account's balance at the provider."
            case 404:
                return "Check the model's name, and base_url= if you gave one."
            case 413:
                return "Send less: smaller images, shorter texts, or fewer turns (`chat.compact()`)."
        return "Change what the message names. The same request would be refused again."


class ContextWindowError(BadRequestError):
    """The conversation is longer than the context of the model; `chat.compact()` makes it shorter.

    Examples:
        >>> print(ContextWindowError("The prompt is too long: 210000 tokens.", status=400))
        The prompt is too long: 210000 tokens.
        Call `chat.compact()`, which makes the conversation shorter, or choose a model with a larger context.
    """

    def hint(self) -> str:
        """Returns a hint for the caller; `""` if there is none.

        Examples:
            >>> ContextWindowError("Too long.").hint().startswith("Call `chat.compact()`")
            True
        """
        return "Call `chat.compact()`, which makes the conversation shorter, or choose a model with a larger context."


class AuthenticationError(ProviderError):
    """The key is missing, wrong, or not allowed to do this: 401, 403.

    Examples:
        >>> error = AuthenticationError("Incorrect API key provided.", status=401).at("OpenAI", "gpt-4.1", ("OPENAI_API_KEY",))
        >>> print(error)
        OpenAI's gpt-4.1 (status 401): Incorrect API key provided.
        Check the key: api_key= or OPENAI_API_KEY.
    """

    def hint(self) -> str:
        """Returns a hint for the caller; `""` if there is none.

        Examples:
            >>> AuthenticationError("No such key.", status=401).hint()
            'Check the key: api_key=.'
        """
        where = f"api_key= or {' or '.join(self.keys)}" if self.keys else "api_key="
        if self.status == 403:
            return f"Check that the key ({where}) may use this model, and that the account may."
        return f"Check the key: {where}."


class RateLimitError(ProviderError):
    """Too many requests or tokens: 429. `retry_after` is the provider's waiting time, if it gave one.

    Examples:
        >>> error = RateLimitError("Too many requests.", status=429, retry_after=20)
        >>> error.retry_after
        20
    """

    def hint(self) -> str:
        """Returns a hint for the caller; `""` if there is none.

        Examples:
            >>> RateLimitError("Too many requests.", retry_after=20).hint()
            'Retry in 20 seconds, or set a larger max_tries= to retry automatically.'
        """
        when = "in a while" if self.retry_after is None else f"in {self.retry_after:g} seconds"
        return f"Retry {when}, or set a larger max_tries= to retry automatically."


class ServerError(ProviderError):
    """The provider failed or is overloaded: 408, 409, 424 (the model's host failed), 5xx, 529.

    Examples:
        >>> chat = ScriptedModel(failure(503, "Overloaded"), "Hello!").chat(max_tries=1)
        >>> try:
        ...     chat.chat("Hi")
        ... except ServerError as error:
        ...     print(error.status)
        503
    """

    def hint(self) -> str:
        """Returns a hint for the caller; `""` if there is none.

        Examples:
            >>> ServerError("Overloaded").hint().startswith("The provider failed.")
            True
        """
        return "The provider failed. Retry later, or set a larger max_tries= to retry automatically."


class ConnectError(EllmerError):
    """The provider could not be reached, or the connection broke.

    The request was sent as often as `max_tries` allows. Check the network, `base_url=` and `proxy=`.

    Examples:
        >>> try:
        ...     chat_openai(base_url="http://127.0.0.1:9/v1", max_tries=1).chat("Hi")
        ... except ConnectError:
        ...     print("The provider cannot be reached.")
        The provider cannot be reached.
    """


class RequestTimeoutError(ConnectError, TimeoutError):
    """No data arrived in time.

    Args:
        message: The error message.
        phase: Which of the `Timeouts` was exceeded: `"connect"`, `"idle"` (default) or `"total"`.

    Examples:
        >>> RequestTimeoutError("Nothing arrived for 600 s.").phase
        'idle'
    """

    def __init__(self, message: str, phase: Literal["connect", "idle", "total"] = "idle") -> None:
        super().__init__(message)
        self.phase = phase


class ToolRoundsError(EllmerError):
    """The model called tools in more rounds than `max_tool_rounds` allows. The calls of the last round were not run.

    They are in the history. Call `chat()` again, or allow more rounds.

    Examples:
        >>> def retry() -> str:
        ...     "Retries."
        ...     return "again"
        >>> chat = ScriptedModel(tool_call("retry"), tool_call("retry")).chat(max_tool_rounds=1)
        >>> _ = chat.register_tool(retry)
        >>> try:
        ...     chat.chat("Hi")
        ... except ToolRoundsError:
        ...     print("The model did not come to an end.")
        The model did not come to an end.
    """


class UsageLimitError(EllmerError):
    """The conversation reached one of its `UsageLimits`. The message names the limit.

    The answers so far are in the history, and the next call continues from there.

    Examples:
        >>> chat = chat_openai(usage_limits=UsageLimits(requests=0))
        >>> try:
        ...     chat.chat("Hi")
        ... except UsageLimitError:
        ...     print("The limit is reached.")
        The limit is reached.
    """


class NotSentError(EllmerError):
    """One of many prompts was not sent or not answered, because the job ended before. The message says why.

    It is not raised: `PromptResults.errors` has it, by the index of the prompt.

    Examples:
        >>> results = PromptResults([None], {0: NotSentError("The job was interrupted.")})
        >>> str(results.errors[0])
        'The job was interrupted.'
    """


class ApprovalRequiredError(EllmerError):
    """Tool calls wait for a decision, and `approve="defer"` stopped the conversation until it is made.

    The chat can be saved meanwhile. Pass the decisions to `chat.decide()`, then call `chat.chat()` again.

    Args:
        message: The error message.
        requests: The waiting calls, each a `ContentToolRequest`. Default: none.

    Examples:
        >>> error = ApprovalRequiredError("1 call waits for a decision.")
        >>> error.requests
        ()
    """

    def __init__(self, message: str, requests: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.requests = tuple(requests)


class ResponseError(EllmerError):
    """The answer of the server does not follow the wire format, so it cannot be read.

    Check `base_url=`: a proxy, or a server of another wire format, may have answered.

    Examples:
        >>> try:
        ...     raise ResponseError("The answer is neither a JSON object nor a list: <html>")
        ... except EllmerError as error:
        ...     print(error)
        The answer is neither a JSON object nor a list: <html>
    """


class IncompleteResponseError(ResponseError):
    """The answer stopped before the end marker of the wire format.

    What was received is in the history, as an `AssistantPartialTurn`. Call `chat()` again to continue.

    Examples:
        >>> try:
        ...     raise IncompleteResponseError("The stream ended before its end marker.")
        ... except ResponseError as error:
        ...     print(error)
        The stream ended before its end marker.
    """


class ConversionError(ResponseError, ValueError):
    """The data of the model do not fit the type that was requested. The message names the path of each wrong value.

    Allow more retries (`max_retries=`), or make the type less strict.

    Examples:
        >>> try:
        ...     chat_openai().chat_structured("Hi", type=type_object(born=type_integer()), max_retries=0)
        ... except ConversionError:
        ...     print("The answer has other data.")
        The answer has other data.
    """


def printed(value: object) -> str:
    """Returns a value's text, or the name of its type if it cannot write itself."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - as an integer of 5,000 digits
        return f"({type(value).__name__})"


def chained(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an exception, and those that it followed or has in it, each once."""
    seen: set[int] = set()
    left = [error]
    while left:
        error = left.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            yield error
            left += [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]


#: The packages whose frames have keys in their variables: ours, HTTP clients, and the reader of what a provider quotes.
_INNER = frozenset({__package__, "httpx", "httpx2", "httpcore", "httpcore2", "h11", "h2", "hpack", "json"})
_GENERATOR, _COROUTINE = 32, 128  # of `inspect`, which is not imported
_DRIVERS = f"{__package__}.transport."  # whose coroutines do not wait when an exception has left them
_READERS = f"{__package__}.wire."  # likewise, of generators


def forget_locals(error: BaseException) -> None:
    """Clears the local variables of ours and of HTTP clients in the tracebacks of an exception, because trackers of errors show
    them, and some are keys. Code that still runs keeps its own.
    """
    for each in chained(error):
        trace = each.__traceback__
        while trace is not None:
            frame, trace = trace.tb_frame, trace.tb_next
            module = str(frame.f_globals.get("__name__"))
            package = module.partition(".")[0]
            may_wait = _GENERATOR if module.startswith(_DRIVERS) else _GENERATOR | _COROUTINE
            may_wait = 0 if module.startswith(_READERS) else may_wait
            if package in _INNER and not (package == __package__ and frame.f_code.co_flags & may_wait):
                with suppress(RuntimeError):
                    frame.clear()


def error_message(error: str | BaseException) -> str:
    """Returns an error's message as one line for the model. It never raises."""
    if isinstance(error, str):
        return str.__str__(error)  # a subclass may fail to write itself
    kind = type(error).__name__
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an exception whose __str__ fails must not hide the failure it reports
        return kind
    bare = not message.strip() or isinstance(error, KeyError)  # a KeyError's message is the key and no more
    return f"{kind}: {message}".rstrip(": ") if bare else message
