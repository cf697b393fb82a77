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
│   └── TimeoutError               no answer in time (also a builtin TimeoutError)
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

import builtins
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from importlib import import_module
from types import FunctionType, UnionType
from typing import Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from unicodedata import category

__all__ = [
    "ApprovalRequiredError", "AsyncToolError", "AuthenticationError", "BadRequestError", "ConnectError",
    "ContentError", "ContentFieldError", "ContextWindowError", "ConversionError", "EllmerError",
    "EllmerWarning", "IncompleteResponseError", "NotSentError", "ProviderError", "RateLimitError", "ResponseError",
    "ServerError", "TimeoutError", "ToolReject", "ToolResultError", "ToolRoundsError", "UsageError",
    "UsageLimitError",
]  # fmt: skip


# --- wrong keywords --------------------------------------------------------------------------------------


#: What other libraries call a parameter.
ELSEWHERE = {
    **dict.fromkeys(("data_model", "response_model", "output_type", "response_format", "schema"), "type"),
    **dict.fromkeys(("system", "instructions"), "system_prompt"),
    **dict.fromkeys(("func", "fn"), "function"),
    "echo_mode": "echo",
    "yield_all": "content",  # of the proposal for ellmer's stream(), which is `content="all"` here
}
F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K", bound=type)


def wrong_keyword(name: str, of: str, keywords: Iterable[str]) -> TypeError:
    """Returns the error for a keyword that a function does not have, with the one that was probably meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    keywords = list(keywords)
    if "params" in keywords and (instead := _instead(name)):
        return TypeError(f"`{name}=` is not a parameter of {of}(): {instead}")
    near = [ELSEWHERE[name]] if ELSEWHERE.get(name) in keywords else get_close_matches(name, keywords, 1)
    advice = (
        f"did you mean `{near[0]}=`?"
        if near
        else f"it has {', '.join(f'`{n}=`' for n in keywords) or 'none'}."
    )
    return TypeError(f"`{name}=` is not a parameter of {of}(); {advice}")


def _instead(name: str) -> str | None:
    """Returns where a keyword of a chat belongs, which has another place here."""
    if name in ("tool", "tools"):
        return "give the tools to register_tools()."
    neutral = import_module(f"{__package__}.wire.interfaces").NEUTRAL | {"thinking"}
    return f"give params=params({name}=…)." if name in neutral else None


def check_spelling(extra: Iterable[str], of: str, parameters: Iterable[str], near: float = 0.88) -> None:
    """Raises `TypeError` for a name that differs from a parameter by a letter or two. `logprobs` is a provider's."""
    from difflib import get_close_matches  # noqa: PLC0415 - these names are rare

    for name in extra:
        found = get_close_matches(name, parameters, 1, near)
        if found and found[0].replace("_", "") != name.replace("_", ""):
            raise wrong_keyword(name, of, parameters)


def spelt(function: F, of: str = "", *, makes: bool = False) -> F:
    """Returns the function, or the class, with a better error for a wrong keyword, and with a check of the types of its
    arguments. `of` is its name in the error. What only makes a value (`makes`, and each class) is called before the check: its
    own errors have better words.
    """
    if isinstance(function, type):
        made: Any = function.__init__  # type: ignore[misc]  # of this very class
        made = getattr(made, "__wrapped__", made)
        function.__init__ = spelt(made, function.__name__, makes=True)  # type: ignore[misc]
        for base in function.__mro__:
            spelt_methods(base)
        return function
    if function.__globals__ is globals() and hasattr(function, "__wrapped__"):
        return function  # it was spelt before
    function = _taking_names(function) if hasattr(function, "registry") else function
    wrap = (
        _spelt_async if function.__code__.co_flags & CO_COROUTINE else _spelt_maker if makes else _spelt_call
    )
    name = of or function.__qualname__.rpartition(".")[2]
    return cast("F", wrap(function, name, _checks(function, name)))


def spelt_methods(kind: K) -> K:
    """Returns the class, whose public methods name a wrong keyword and a wrong type. Another package's stays as it is."""
    fields: Collection[str] = vars(kind).get("__dataclass_fields__", ())
    for name, method in [*vars(kind).items()] if kind.__module__.startswith(_OWN) else ():
        if isinstance(method, FunctionType) and not name.startswith("_") and name not in fields:
            setattr(kind, name, _spelt_bare(method) if _is_bare(method) else spelt(method))
    return kind


def _is_bare(method: FunctionType) -> bool:
    """Tells whether a method has no parameters. Such a one may be called for each piece of a stream."""
    code = method.__code__
    variable = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS | CO_COROUTINE)
    return not (variable or code.co_kwonlyargcount) and code.co_varnames[: code.co_argcount] == ("self",)


def _spelt_bare(method: Any) -> Any:
    @wraps(method)
    def call(self: Any, **unknown: Any) -> Any:
        if unknown:
            raise wrong_keyword(next(iter(unknown)), method.__name__, ())
        return method(self)

    return call


def _taking_names(function: Any) -> Any:
    """Returns a function of `singledispatch` that also takes its first argument by name, as any other."""
    first = function.__wrapped__.__code__.co_varnames[0]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args and first not in kwargs:
            return function.__wrapped__(**kwargs)  # Python's own words for what is missing
        return function(*args, **kwargs) if args else function(kwargs.pop(first), **kwargs)

    return call


def _spelt_async(function: Any, name: str, wrong: Wrong) -> Any:
    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        if found := wrong(args, kwargs):
            args, kwargs = (), {}
            raise found
        try:
            return await function(*args, **kwargs)
        except UsageError as error:
            args, kwargs = (), {}
            forget_locals(error)
            raise
        except TypeError as error:
            raise (_better(error, function, name, kwargs) or error) from error.__cause__

    return call


def _spelt_call(function: Any, name: str, wrong: Wrong) -> Any:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if found := wrong(args, kwargs):
            args, kwargs = (), {}
            raise found
        try:
            return function(*args, **kwargs)
        except UsageError as error:
            args, kwargs = (), {}
            forget_locals(error)
            raise
        except TypeError as error:
            raise (_better(error, function, name, kwargs) or error) from error.__cause__

    return call


def _spelt_maker(function: Any, name: str, wrong: Wrong) -> Any:
    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if str(sys._getframe(1).f_globals.get("__name__")).startswith(_OWN):  # noqa: SLF001 - our own values are many, and checked
            return function(*args, **kwargs)
        try:
            made = function(*args, **kwargs)
        except (AttributeError, TypeError, ValueError, EllmerError) as error:
            better = _better(error, function, name, kwargs) or wrong(args, kwargs)
            args, kwargs = (), {}
            forget_locals(error)
            raise (better if better and not _names(error, better) else error) from error.__cause__
        if found := wrong(args, kwargs):
            args, kwargs = (), {}
            raise found
        return made

    return make


Wrong = Callable[[Sequence[Any], Mapping[str, Any]], "UsageError | None"]
_OWN = f"{__package__}."


def _names(error: Exception, wrong: Exception) -> bool:
    """Tells whether an error of ours names the parameter that is wrong."""
    name = str(wrong).partition("=")[0]
    return isinstance(error, EllmerError) and re.search(rf"\b{re.escape(name)}\b", str(error)) is not None


CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR, CO_COROUTINE = 4, 8, 32, 128  # of `inspect`, which is not imported


def caller(depth: int) -> Any:
    """Returns the frame that called, `depth` frames up, without those of `spelt()`."""
    frame = sys._getframe(depth + 1)  # noqa: SLF001 - the one way to know one's caller
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return frame


def _better(
    error: Exception, function: Callable[..., Any], name: str, kwargs: Mapping[str, Any]
) -> TypeError | None:
    """Returns the error for a call with a wrong keyword, or `None` if `error` is another one. What lacks a value (`UsageError`) may
    have got it under a wrong name.
    """
    told = isinstance(error, TypeError) and re.search(
        r"got an unexpected keyword argument|missing \d+ required ", str(error)
    )
    if hasattr(error, "__notes__") or not (told or isinstance(error, UsageError)):
        return None
    known, any_name = _keywords(function)
    unknown = [each for each in kwargs if each not in known]
    return wrong_keyword(unknown[0], name, known) if unknown and (told or not any_name) else None


def _keywords(function: Callable[..., Any]) -> tuple[list[str], bool]:
    """Returns the names of a function's parameters, without those that have no name for a caller, and whether it takes any others."""
    import inspect  # noqa: PLC0415 - only for mistakes, as below

    unnamed = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    )
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind not in unnamed and each.name != "self"]
    return names, any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


# --- wrong types -----------------------------------------------------------------------------------------


def _checks(function: Any, of: str) -> Wrong:
    """Returns what finds the first argument of a call that is not of its parameter's type. The types of a parameter are read
    when it is first given a value, and a value whose type was accepted before costs one look-up.
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    unnamed = positional[: code.co_posonlyargcount]  # such a name is free for `**properties`
    accepted: set[tuple[str, type]] = set()
    hint_of = cache(partial(_hint, function))

    def wrong(args: Sequence[Any], kwargs: Mapping[str, Any]) -> UsageError | None:
        for name, value in (*zip(positional, args, strict=False), *kwargs.items()):
            if (name, type(value)) in accepted or (name in unnamed and name in kwargs):
                continue
            hint = hint_of(name)
            if not _may_be(value, hint):
                return UsageError(
                    f"{name}= of {of}() must be {_described(hint)}, not {_quoted(name, value)}."
                )
            if not any(part in str(hint) for part in _OF_VALUES):
                accepted.add((name, type(value)))
        return None

    return wrong


def _hint(function: Any, name: str) -> Any:
    """Returns the type of a parameter, or `Any` if it has none that is known when a program runs."""
    from types import SimpleNamespace  # noqa: PLC0415 - each parameter needs it once

    code, written, scope = function.__code__, function.__annotations__, function.__globals__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if name not in names:  # one of `**options: Unpack[Options]`
        options = next((each[7:-1] for each in map(str, written.values()) if each.startswith("Unpack[")), "")
        written = getattr(scope.get(options), "__annotations__", {})
        scope = vars(sys.modules[scope[options].__module__]) if options in scope else scope
    hints = SimpleNamespace(__annotations__={name: written.get(name, Any)})
    imported: dict[str, Any] = {}  # for type checkers only: the names of ours are public, the others Python's
    while True:
        try:
            return get_type_hints(hints, scope, imported)[name]
        except NameError as error:
            unknown = str(error.name)
            modules = map(import_module, (__package__, "typing", "collections.abc", "pathlib"))
            found = (getattr(module, unknown, None) for module in modules)
            imported[unknown] = next(filter(None, found), sys.modules.get(unknown, Any))
        except Exception:  # noqa: BLE001 - what it names is not there
            return Any


def _may_be(value: Any, hint: Any) -> bool:
    """Tells whether a value may be of a type. In doubt, it may."""
    kind = get_origin(hint) or hint
    if kind in _UNIONS:
        return any(_may_be(value, each) for each in get_args(hint))
    if kind is Literal:
        return any(value is each or (isinstance(value, str) and value == each) for each in get_args(hint))
    if kind in _METHODS:
        return hasattr(value, _METHODS[kind]) and takes(value, _arity(hint))
    with suppress(TypeError):  # the type is only for type checkers
        return isinstance(value, kind) and not (isinstance(value, str) and kind in _SERIES)
    return True


def _arity(hint: Any) -> int | None:
    """Returns the number of arguments of a function's type; `None` if it is no such type, or has any number."""
    arguments = next(iter(get_args(hint)), None)
    return len(arguments) if isinstance(arguments, list) else None


def takes(function: Any, count: int | None) -> bool:
    """Tells whether a function may be called with so many arguments."""
    import inspect  # noqa: PLC0415 - only where a function is given

    try:
        signature = inspect.signature(function) if count is not None else None
    except (TypeError, ValueError):  # it has none that can be read
        return True
    with suppress(TypeError):
        return signature is None or bool(signature.bind(*[None] * (count or 0)))
    return False


#: Parts of types that a value's own type does not decide about.
_OF_VALUES = ("Literal[", "Callable[[")
#: Types by the method that their values have; numbers may be those of numpy.
_METHODS = {float: "__float__", int: "__index__", Callable: "__call__"}
#: A string is not one of these: its letters are hardly meant.
_SERIES = (Iterable, Sequence, Collection)
_UNIONS = (Union, UnionType)


def _described(hint: Any) -> str:
    """Returns a type in words: `str, a path or None`."""
    words = list(dict.fromkeys(_words(hint)))
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


_WORDS = {"NoneType": "None", "Callable": "a function", "Path": "a path", "PathLike": "a path"}


def _words(hint: Any) -> list[str]:
    if get_origin(hint) in _UNIONS:
        return [word for each in get_args(hint) for word in _words(each)]
    if get_origin(hint) is Literal:
        return [f'"{value}"' if isinstance(value, str) else str(value) for value in get_args(hint)]
    name = getattr(get_origin(hint) or hint, "__name__", str(hint))
    arguments = {0: " without arguments", 1: " of one argument", None: ""}
    count = _arity(hint) if name == "Callable" else None
    return [_WORDS.get(name, name) + arguments.get(count, f" of {count} arguments")]


def _quoted(parameter: str, value: Any) -> str:
    import inspect  # noqa: PLC0415 - only for mistakes

    kind = type(value).__name__
    may_have_a_key = re.search(
        r"(^|_)(auth|key|token|secret|password|cookies?|credentials|headers|env|proxy|url|server)$", parameter
    )
    if may_have_a_key and not (callable(value) or isinstance(value, int | float | None)):
        return f"a value of type {kind}"
    try:
        named = inspect.isfunction(value)
        return f"{value.__name__}{inspect.signature(value)}" if named else f"{value!r:.60} ({kind})"
    except Exception:  # noqa: BLE001 - a value that cannot be printed is wrong, too
        return f"a {kind}"


# --- text ------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """Returns the text with terminal control characters and lone surrogates as escapes."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        # Those of 8 bits, too, but neither tab nor the ends of lines.
        text = re.sub(
            "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]|\\r(?!\\n)",
            lambda found: f"\\x{ord(found[0]):02x}",
            text,
        )
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


#: Letters that show nothing, though they are no control characters.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def revealed(text: str, *, line: bool = False) -> str:
    """Returns a text for a person who decides: all that is invisible or turns the direction of writing is an escape, as in
    JSON. In a `line`, tabs and line ends are escapes, too.
    """
    visible = "" if line else "\n\t"
    return "".join(_escape(c) if c not in visible and _hides(c) else c for c in text)


def _hides(letter: str) -> bool:
    return letter in _BLANK or category(letter)[0] == "C" or category(letter) in {"Zl", "Zp"}


def _escape(letter: str) -> str:
    return json.dumps(letter)[1:-1] if letter != "\x7f" else "\\u007f"


class EllmerError(Exception):
    """Base class. `str()` escapes control characters in texts from elsewhere.

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
        """Adds the provider and the model to the error, and returns it.

        Args:
            provider: Name of the provider.
            model: Name of the model.
            keys: Environment variables that may hold the key. Default: none.

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


class TimeoutError(ConnectError, builtins.TimeoutError):
    """No data arrived in time.

    Args:
        message: The error message.
        phase: Which of the `Timeouts` was exceeded: `"connect"`, `"idle"` (default) or `"total"`.

    Examples:
        >>> TimeoutError("Nothing arrived for 600 s.").phase
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
_DRIVERS = f"{__package__}.transport."  # whose coroutines do not wait when an exception has left them


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
            may_wait = CO_GENERATOR if module.startswith(_DRIVERS) else CO_GENERATOR | CO_COROUTINE
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
