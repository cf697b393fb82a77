"""Chats by name, `chat("openai/gpt-5.6-terra")`, and the common part of all `chat_<provider>()`.

There is no registry. `chat("x/…")` calls `chat_x()` of `providers/x.py`. For providers of other packages, it calls
the constructor of the entry point `x` in the group `ellmer_core.providers`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Literal, TypedDict, Unpack

from .. import providers
from .._chat.answers import EchoMode, default_echo
from .._chat.chat import Chat
from ..base.argument_checks import wrong_keyword
from ..conversation.approval import AskBefore, Decide
from ..conversation.settings import UsageLimits
from ..errors import UsageError
from ..transport.http_clients import Limits, Timeouts
from ..wire.base import Key, Wire, without_user
from ..wire.interfaces import Profile

__all__ = ["Options", "chat", "construct", "constructor"]


# --- the environment -------------------------------------------------------------------------------------


def setting(name: str, value: str | None, *variables: str) -> str:
    """Returns what the caller gave as `name`, or else the first of the environment variables that is set."""
    if found := value or next(filter(None, map(variable, variables)), ""):
        return found
    raise UsageError(f"Give {name}=, or set the environment variable {' or '.join(variables)}.")


def variable(name: str) -> str:
    """Returns the value of an environment variable without surrounding space; `""` if it is not set."""
    return os.environ.get(name, "").strip()


# --- keys ------------------------------------------------------------------------------------------------


def credentials_of(
    wire: type[Wire], api_key: str | None, credentials: Callable[[], str] | None
) -> Callable[[], str] | None:
    """Returns a function that returns the key. It looks for a key at once, so that a chat without a key is not made."""
    if api_key is not None and credentials is not None:
        raise UsageError("Give api_key= or credentials=, not both.")
    if credentials is not None:
        if not callable(credentials):
            raise UsageError(
                "credentials= must be a function that returns the key. Pass the key itself as api_key=."
            )
        return partial(_key_of, credentials)
    if api_key is not None:
        return _given_key(wire, api_key)
    if not wire.key_vars or (wire.key_optional and not any(map(variable, wire.key_vars))):
        return None
    read = partial(_environment_key, wire.provider, wire.key_vars)
    read()
    return read


def _given_key(wire: type[Wire], api_key: str) -> Callable[[], str] | None:
    if not isinstance(api_key, str):
        raise UsageError(f"api_key= must be a string, not {type(api_key).__name__}.")
    if key := api_key.strip():
        return Key(key)
    if wire.key_vars and not wire.key_optional:
        raise UsageError(f"api_key= is blank, but {wire.provider} needs a key.")
    return None


def _key_of(credentials: Callable[[], Any]) -> Any:
    from ..transport.aws_signature import AwsKeys  # noqa: PLC0415 - chats do without it until they ask for the key

    key = credentials()
    if isinstance(key, str | AwsKeys):
        return key
    kind = type(key).__name__
    del key  # trackers of errors show variables
    raise UsageError(
        f"The function credentials= must return the key as a string, but it returned a value of type {kind}."
    )


def _environment_key(provider: str, variables: Sequence[str]) -> str:
    for name in variables:
        if key := variable(name):
            return key
    raise UsageError(
        f"There is no key for {provider}: set the environment variable {' or '.join(variables)}, or give api_key=."
    )


# --- chats -----------------------------------------------------------------------------------------------


GROUP = "ellmer_core.providers"


class Options(TypedDict, total=False):
    """The options of every constructor besides the system prompt. An option that is `None` or missing has its default.

    Args:
        model: The provider's name of the model. Default: the provider's default model, which is announced on stderr; it is
            required if there is none.
        params: Parameters of the model by name, as `params()` returns them: `temperature`, `top_p`, `max_tokens`,
            `stop_sequences`, `seed` and others. A parameter that the model does not accept is left out with a warning.
            Default: none.
        thinking: How much the model thinks, in the same words for all providers: `"off"`, `"low"`, `"medium"`, `"high"`,
            `"max"`, or a number of tokens. Default: the provider decides.
        profile: What the model accepts: a `Profile`, or a dictionary of some of its fields, which replace those of
            `chat.profile`. Default: the library's own profile of the model.
        fetch: `"https"` downloads images by URL in this process where the API fetches none, from public addresses only
            and at most 50 MB each. Default: `"none"`.
        api_key: The key. Default: the provider's environment variable, which is read for each request.
        credentials: A function without parameters that returns the key or a token. It is called for each request.
            Default: the key does not change.
        api_args: Fields that are merged into the body of each request, last. `None` as a value removes a field.
            Default: none.
        api_headers: Headers that are added to each request, last. Default: none.
        base_url: The URL of the API, without the path of the endpoint. Default: the provider's environment variable for
            it, else the provider's own URL.
        echo: What is printed to the terminal: `"none"`, `"output"` (the answer) or `"all"` (the prompt and the answer).
            Default: `"output"` for a chat that was made at the prompt of a console, else `"none"`.
        client: Your `httpx.Client` for blocking calls, your `httpx.AsyncClient` for async calls, or a tuple of both.
            Those of httpx2 work, too. It is not closed. Default: clients of the library's own.
        proxy: The URL of a proxy for all requests. Default: the environment's (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`).
        timeout: Seconds without data after which a request fails, or a `Timeouts`. Default: 10 s until the connection is
            made, 600 s without data, 3,600 s for the whole answer.
        limits: How much of an answer is read, as a `Limits`. Default: 100 MB and 1,000,000 events of an answer, 250 KB of
            an error.
        max_tries: How often one request is sent in all, if a retry may help. Default: 3.
        max_tool_rounds: How many rounds of tool calls one answer may need. Default: 100.
        tool_media: Where images and PDFs of tool results are sent: `"pointer"` puts them after the results, which refer to
            them, and `"native"` inside the results, where the API accepts that. Default: `"pointer"`.
        deps: A value that tools get as `deps` of their `ToolContext`, such as a database. Each chat and each `fork()` can
            have its own. Default: `None`.
        usage_limits: The most that one call of the chat may use, as a `UsageLimits`. Default: no limit.
        ask_before: The tools whose calls need an approval: their names, `True` for all tools, or a function that receives
            the `ContentToolRequest`. Default: those with `needs_approval`.
        approve: Who approves a call: a function that receives the `ContentToolRequest`, `"console"` to ask in the
            terminal, or `"defer"` to stop until `chat.decide()`. Default: nobody, and a call that needs an approval is
            denied.
        when_busy: What a call does while another call of the chat is running: `"raise"` raises `UsageError`, and `"wait"`
            waits for its turn. Default: `"raise"`.

    Examples:
        >>> options: Options = {"model": "gpt-4.1", "echo": "none"}
        >>> chat_openai(**options).get_model()
        'gpt-4.1'
    """

    model: str | None
    params: Mapping[str, Any] | None
    thinking: str | int | None
    profile: Profile | Mapping[str, Any] | None
    fetch: Literal["none", "https"] | None
    api_key: str | None
    credentials: Callable[[], Any] | None
    api_args: Mapping[str, Any] | None
    api_headers: Mapping[str, str] | None
    base_url: str | None
    echo: EchoMode | None
    client: Any
    proxy: str | None
    timeout: float | Timeouts | None
    limits: Limits | None
    max_tries: int
    max_tool_rounds: int
    tool_media: Literal["pointer", "native"] | None
    deps: Any
    usage_limits: UsageLimits | None
    ask_before: AskBefore | None
    approve: Decide | Literal["console", "defer"] | None
    when_busy: Literal["raise", "wait"] | None


#: The arguments that become attributes of a chat.
ATTRIBUTES = ("deps", "usage_limits", "ask_before", "approve", "when_busy")


def chat(name: str, system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with a provider by its name.

    Args:
        name: The provider, `"openai"`, or the provider and a model, `"openai/gpt-4.1"`.
        system_prompt: Instructions for the model; `None` (default) sends none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat.

    Raises:
        UsageError: There is no such provider, or an option is wrong.

    Examples:
        >>> chat("openai/gpt-4.1").get_model()
        'gpt-4.1'
    """
    if not isinstance(name, str):
        raise UsageError(f'A chat is named "provider" or "provider/model", not {name!r}.')
    provider, _, model = name.partition("/")
    make = constructor(provider)
    if options.get("echo") is None:
        options["echo"] = default_echo(2)
    if model:
        options["model"] = model
    return make(system_prompt, **options)


def construct(wire: type[Wire], system_prompt: str | None, options: Options, **fields: Any) -> Chat:
    """Returns the chat for a `chat_<provider>()`, which calls it directly. `fields` are further fields of its wire."""
    _check_names(options, f"chat_{wire.__module__.rpartition('.')[2]}", fields)
    arguments = {name: options.get(name) for name in ("params", "api_args", "api_headers", "tool_media")}
    fields |= {name: value for name, value in arguments.items() if value is not None}
    _check_types(fields, options.get("limits"))
    echo = options.get("echo")
    chat = Chat(
        wire(
            model=_model(wire, options.get("model")),
            base_url=_base_url(wire, options.get("base_url")),
            credentials=credentials_of(wire, options.get("api_key"), options.get("credentials")),
            **fields,
        ),
        system_prompt,
        echo=default_echo(3) if echo is None else echo,
        client=options.get("client"),
        timeouts=_timeouts(options.get("timeout")),
        limits=options.get("limits"),
        proxy=options.get("proxy"),
        max_tries=options.get("max_tries", DEFAULTS["max_tries"]),
        max_tool_rounds=options.get("max_tool_rounds", DEFAULTS["max_tool_rounds"]),
        thinking=options.get("thinking"),
        profile=options.get("profile"),
        fetch=options.get("fetch"),
    )
    for name in ATTRIBUTES:
        if options.get(name) is not None:
            setattr(chat, name, options.get(name))
    return chat


def _check_types(fields: Mapping[str, Any], limits: object) -> None:
    for name in ("params", "api_args", "api_headers"):
        if not isinstance(fields.get(name, {}), Mapping):
            raise UsageError(
                f"{name}= must be a dictionary, not a value of type {type(fields[name]).__name__}."
            )
    if not all(isinstance(each, str) for pair in fields.get("api_headers", {}).items() for each in pair):
        raise UsageError("api_headers= must have strings as names and as values.")
    if not isinstance(limits, Limits | None):
        raise UsageError(f"limits= must be Limits(…), not {limits!r:.60}.")


DEFAULTS = {"max_tries": 3, "max_tool_rounds": 100}  # of the options whose default is not `None`


def _check_names(options: Options, function: str, fields: Iterable[str]) -> None:
    names = Options.__annotations__
    if unknown := [name for name in options if name not in names]:
        raise wrong_keyword(unknown[0], function, ["system_prompt", *names, *fields])


def constructor(provider: str) -> Callable[..., Chat]:
    name = provider.replace("-", "_")
    name = providers.ALIASES.get(name, name)
    if name in own_providers():
        make: Callable[..., Chat] = getattr(import_module(f"{providers.__name__}.{name}"), f"chat_{name}")
        return make
    from importlib.metadata import entry_points  # noqa: PLC0415 - only needed for providers of others

    others = entry_points(group=GROUP)
    if found := [entry for entry in others if entry.name == provider]:
        loaded: Callable[..., Chat] = found[0].load()
        return loaded
    there = ", ".join(sorted({*own_providers(), *others.names}))
    raise UsageError(
        f"There is no provider {provider!r}. Write PROVIDER/MODEL, such as openai/gpt-4.1. There are: {there}."
    )


def own_providers() -> list[str]:
    """Returns the names of the modules of this folder, one for each provider."""
    import pkgutil  # noqa: PLC0415 - only needed to find a provider by its name

    names = [module.name for module in pkgutil.iter_modules(providers.__path__)]
    return [name for name in names if not name.startswith("_")]


def _model(wire: type[Wire], model: str | None) -> str:
    if model is not None and not isinstance(model, str):
        raise UsageError(f'model= is the name of a model, such as "gpt-4.1", not {model!r}.')
    if model:
        return model
    if not wire.default_model:
        raise UsageError(f"{wire.provider} has no default model: give model=.")
    print(f'Using model = "{wire.default_model}".', file=sys.stderr)  # noqa: T201 - ellmer announces it so
    return wire.default_model


def _base_url(wire: type[Wire], base_url: str | None) -> str:
    set_url = variable(wire.base_url_var or "-").rstrip("/")
    if set_url and not set_url.endswith(wire.base_url_end):
        set_url += wire.base_url_end
    url = base_url or set_url or wire.base_url
    if not url:
        raise UsageError(f"{wire.provider} needs base_url=, the URL of the server.")
    if "?" in url or "#" in url:
        start, _ = without_user(url.partition("?")[0].partition("#")[0], {})
        raise UsageError(f"base_url= must end before the path of the endpoint and have no query: {start}")
    return url


def _timeouts(timeout: float | Timeouts | None) -> Timeouts | None:
    if timeout is None or isinstance(timeout, Timeouts):
        return timeout
    if not isinstance(timeout, int | float) or timeout <= 0:
        raise UsageError(f"timeout= must be a number of seconds or Timeouts(…), not {timeout!r}.")
    return Timeouts(connect=min(10.0, timeout), idle=timeout)
