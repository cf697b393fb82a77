"""Adapter for ellmer_core. It uses the public API, as any outside library would.

The sections are pauses between retries, options of one turn, the conversion of the cases' messages, the providers, and the
adapter with its sessions.
"""

from __future__ import annotations

import asyncio
import base64
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from unittest import mock
from urllib.parse import urlsplit

import ellmer_core as ec
from ellmer_core import providers as modules
from ellmer_core.wire.base import Wire

from ..contract.readers import provider_of
from ..scenarios.messages import (
    PDF,
    Approve,
    Audio,
    Image,
    Part,
    Reply,
    Source,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from . import Capabilities, Endpoint, ProviderAddress
from .endpoints import PROVIDER_ADDRESSES

# --- Pauses between retries ------------------------------------------------------------------------------


@contextmanager
def patience(note: Callable[[float], None]) -> Iterator[None]:
    """Calls `note(seconds)` instead of every pause, blocking or not, inside the block."""

    def wait(_: ec.StreamController, seconds: float) -> None:
        note(seconds)

    async def sleep(seconds: float) -> None:
        if seconds:
            note(seconds)
        else:  # lets others run
            await real(0)

    real = asyncio.sleep
    with mock.patch.object(ec.StreamController, "wait", wait), mock.patch.object(asyncio, "sleep", sleep):
        yield


# --- Options of one turn ---------------------------------------------------------------------------------


_OBJECT = {"response_format": {"type": "json_object"}}

#: A demanded and a forbidden call, as each format has them.
_CHOICES: Mapping[str, Mapping[str, Any]] = {
    "openai-chat": {"required": "required", "none": "none"},
    "openai-responses": {"required": "required", "none": "none"},
    "anthropic": {"required": {"type": "any"}, "none": {"type": "none"}},
    "gemini": {"required": {"mode": "ANY"}, "none": {"mode": "NONE"}},
    "bedrock": {"required": {"any": {}}},
    "mistral": {"required": "any", "none": "none"},
    "cohere": {"required": "REQUIRED", "none": "NONE"},
}
#: A demanded call of one tool, as each format has it.
_NAMED: Mapping[str, Callable[[str], Any]] = {
    "openai-chat": lambda name: {"type": "function", "function": {"name": name}},
    "openai-responses": lambda name: {"type": "function", "name": name},
    "anthropic": lambda name: {"type": "tool", "name": name},
    "gemini": lambda name: {"mode": "ANY", "allowedFunctionNames": [name]},
    "bedrock": lambda name: {"tool": {"name": name}},
    "mistral": lambda name: {"type": "function", "function": {"name": name}},
}
#: One call at a time, where it is not a field of its own.
_ONE_CALL: Mapping[str, Any] = {
    "anthropic": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
}
#: Providers whose form of the format has schemas, but no JSON without one: `REQ-127`.
_ONLY_SCHEMAS = {"Perplexity"}
#: JSON without a schema, as each format has it.
_JSON: Mapping[str, Mapping[str, Any]] = {
    "openai-chat": _OBJECT,
    "openai-responses": {"text": {"format": {"type": "json_object"}}},
    "gemini": {"generationConfig": {"responseMimeType": "application/json"}},
    "ollama": {"format": "json"},
    "mistral": _OBJECT,
    "cohere": _OBJECT,
}


def turn_params(wire: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a call. The model and the cache are not parameters."""
    found: dict[str, Any] = {}
    if "tool_choice" in options:
        found["tool_choice"] = _CHOICES[wire][options["tool_choice"]]
    if "tool" in options:
        found["tool_choice"] = _NAMED[wire](options["tool"])
    if "stop" in options:
        found["stop_sequences"] = options["stop"]
    if "parallel" in options:
        found |= _ONE_CALL.get(wire, {"parallel_tool_calls": False})
    if "thinking" in options:
        found["thinking"] = "medium" if options["thinking"] else "off"
    found |= {name: options[name] for name in ("temperature", "max_tokens") if name in options}
    return found | dict(_JSON[wire] if "json" in options else {})


# --- Messages, tools and schemas -------------------------------------------------------------------------


def requests(turn: ec.Turn) -> Sequence[ec.ContentToolRequest]:
    return turn.tool_requests if isinstance(turn, ec.AssistantTurn) else ()


def content(part: Part) -> ec.Content:
    match part:
        case Text(text):
            return ec.ContentText(text)
        case Image(url=url) if url:
            return ec.ContentImageRemote(url)
        case Image(data, media_type):
            return ec.ContentImageInline(media_type, base64.b64encode(data).decode())
        case PDF(data, filename):
            return ec.ContentPDF("application/pdf", base64.b64encode(data).decode(), filename)
        case Audio(data, media_type):
            return ec.ContentFile(media_type, base64.b64encode(data).decode(), "sound.wav")
        case ToolCall(id, name, arguments):
            return ec.ContentToolRequest(id, name, arguments)
    raise TypeError(f"{type(part).__name__} is not supported in a turn that the caller writes")


def turns_of(history: Sequence[Turn]) -> list[ec.Turn]:
    """Returns the turns. Each result has its request."""
    turns: list[ec.Turn] = []
    for turn in history:
        asked = {request.id: request for before in turns for request in requests(before)}
        contents = [
            ec.ContentToolResult(p.value, request=asked[p.id]) if isinstance(p, ToolResult) else content(p)
            for p in turn.parts
        ]
        turns.append((ec.UserTurn if turn.role == "user" else ec.AssistantTurn)(contents))
    return turns


def type_of(schema: Mapping[str, Any]) -> Any:
    return ec.type_from_schema(json.dumps(schema))


def tool_of(tool: Tool) -> ec.ToolDef:
    defined = {"$defs": tool.parameters["$defs"]} if "$defs" in tool.parameters else {}

    def call(**arguments: Any) -> Any:
        return _value(tool.run(**arguments))

    async def call_later(**arguments: Any) -> Any:
        await asyncio.sleep(0)
        return call(**arguments)

    return ec.tool(
        call_later if tool.asynchronous else call,
        tool.description,
        name=tool.name,
        needs_approval=tool.needs_approval,
        arguments={
            name: replace(type_of({**schema, **defined}), required=name in tool.parameters["required"])
            for name, schema in tool.parameters["properties"].items()
        },
    )


def _value(value: Any) -> Any:
    if isinstance(value, Image | PDF):
        return content(value)
    return [_value(item) for item in value] if isinstance(value, list) else value


# --- Providers -------------------------------------------------------------------------------------------


#: A wire format and a provider.
Key = tuple[str, str]
Value = TypeVar("Value")

_IMAGE = ec.ContentImageInline("image/png", "iVBORw0KGgo=")
_AUDIO = ec.ContentFile("audio/wav", "UklGRgAAAABXQVZF", "a.wav")
_PDF = ec.ContentPDF("application/pdf", "JVBERi0=", "a.pdf")
_ANY_MODEL = "example-model"  # if the provider has no model
_HEARS = {"openai-chat": "gpt-audio"}  # where the usual model does not


@dataclass(frozen=True)
class Provider:
    """A provider of ellmer_core: the name of its constructor is `chat_<name>`."""

    name: str
    construct: Callable[..., ec.Chat]
    wire: type[Wire]

    @property
    def url(self) -> str:
        """Its base URL, or an example if each account has its own."""
        return self.wire.base_url or self.wire.example_url

    @property
    def key(self) -> tuple[str, str]:
        """The wire format and provider under the suite's names, or under its own name if the suite does not know its
        host.
        """
        host = urlsplit(self.url).netloc
        provider = provider_of(host)
        return self.wire.name, self.name if provider == host.partition(":")[0] else provider

    @property
    def unasked(self) -> Mapping[str, Any]:
        """The options that turn off what its constructor does unasked: `searching()` of a session allows a web search."""
        return {"web_search": False} if hasattr(self.wire, "web_search") else {}

    @property
    def place(self) -> ProviderAddress:
        """The provider's address, default model and key variables, as the suite or the library knows them."""
        suites = PROVIDER_ADDRESSES.get(self.key)
        return suites or ProviderAddress(self.url, self.wire.default_model or _ANY_MODEL, self.wire.key_vars)

    @cached_property
    def capabilities(self) -> Capabilities:
        """Its declared features for the model of a case."""
        wire = ec.Chat(self.wire(model=self.place.model)).wire
        hears = ec.Chat(self.wire(model=_HEARS.get(wire.name, self.place.model))).wire
        images, pdfs, tools = not wire.refuses(_IMAGE), not wire.refuses(_PDF), wire.supports.tools
        forced = wire.profile.forced and wire.profile.forced_thinking
        return Capabilities(
            structured="native",  # where the API has no schemas, the prompt has
            tools="native" if tools else "refused",
            dangling_call="native",
            image_in_user="native" if images else "refused",
            audio_in_user="refused" if hears.refuses(_AUDIO) else "native",
            image_in_tool_result="pointer" if images and tools else "refused",
            pdf_in_user="native" if pdfs else "refused",
            pdf_in_tool_result="pointer" if pdfs and tools else "refused",
            changed_prompt="native",
            compaction="native",
            approval="native" if tools else "refused",
            citations="native",
            uploads="native" if wire.uploads else "refused",
            tool_choice="native" if forced and tools else "refused",
            stop_sequences="native",
            json_mode="refused" if wire.provider in _ONLY_SCHEMAS else "native",
            model_override="native",
            temperature="native",
            output_limit="native",
            forbidden_calls="native" if tools and "none" in _CHOICES.get(wire.name, {}) else "refused",
            single_calls="native" if tools else "refused",
            thinking="native",
            named_calls="native" if forced and tools and wire.name in _NAMED else "refused",
            thinking_off="native",
            async_tools="native" if tools else "refused",
            prompt_caching="native",
            usage_limits="native",
        )


#: The keys of our providers. They save imports only: a module that is not listed is imported, and tells its keys.
_CHAT_COMPLETIONS = (
    *(
        "cerebras",
        "cloudflare",
        "databricks",
        "deepseek",
        "fireworks",
        "groq",
        "huggingface",
        "lmstudio",
        "moonshot",
    ),
    *(
        "openai_compatible",
        "openrouter",
        "portkey",
        "qwen",
        "snowflake",
        "together",
        "vllm",
        "xai",
        "zai",
    ),
)
LISTED: Mapping[str, Sequence[Key]] = {
    **{name: [("openai-chat", name)] for name in _CHAT_COMPLETIONS},
    "anthropic": [("anthropic", "anthropic")],
    "aws_bedrock": [("bedrock", "bedrock")],
    "azure_openai": [("openai-chat", "azure")],
    "cohere": [("cohere", "cohere")],
    "google_gemini": [("gemini", "google")],
    "google_vertex": [("gemini", "vertex")],
    "mistral": [("mistral", "mistral")],
    "ollama": [("ollama", "ollama")],
    "openai": [("openai-responses", "openai")],
    "openai_completions": [("openai-chat", "openai")],
    "perplexity": [("openai-responses", "perplexity")],
    "github": [],  # it was retired
    "posit": [("anthropic", "posit"), ("openai-chat", "posit")],
}


def providers() -> Iterator[Provider]:
    """Yields every provider: the modules of `ellmer_core.providers`, and the providers of other packages."""
    for name in _module_names():
        yield from _providers_of(name)
    yield from _providers_of_other_packages()


def _module_names() -> list[str]:
    return sorted(each.name for each in iter_modules(modules.__path__) if not each.name.startswith("_"))


def _providers_of(module: str) -> Iterator[Provider]:
    """Yields the providers of a module of `ellmer_core.providers` (GitHub's was retired, and has none)."""
    found = import_module(f"{modules.__name__}.{module}")
    yield from _constructed_by(module, vars(found).get(f"chat_{module}"))


def _providers_of_other_packages() -> Iterator[Provider]:
    for entry in sorted(entry_points(group="ellmer_core.providers")):
        yield from _constructed_by(entry.name, entry.load())


def _constructed_by(name: str, construct: Callable[..., ec.Chat] | None) -> Iterator[Provider]:
    """Yields a provider for each wire format that is defined beside a constructor."""
    if construct:
        for each in vars(import_module(construct.__module__)).values():
            if isinstance(each, type) and issubclass(each, Wire) and each.__module__ == construct.__module__:
                yield Provider(name, construct, each)


class ByKey(Mapping[Key, Value]):
    """A mapping by wire format and provider whose values are made when they are asked for."""

    def __init__(self, keys: Iterable[Key], value_of: Callable[[Key], Value]) -> None:
        self._keys, self._value_of = dict.fromkeys(keys), value_of

    def __getitem__(self, key: Key) -> Value:
        if key not in self._keys:
            raise KeyError(key)
        return self._value_of(key)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@cache
def providers_by_key() -> Mapping[Key, Provider]:
    """Returns the providers by wire format and name, each format's own provider first. Installed packages are
    searched once, and a module is imported when its provider is asked for.
    """
    listed = {key: name for name in _module_names() for key in LISTED.get(name, ())}
    loaded = {
        provider.key: provider
        for name in _module_names()
        if name not in LISTED
        for provider in _providers_of(name)
    }
    loaded |= {provider.key: provider for provider in _providers_of_other_packages()}

    @cache
    def provider_at(key: Key) -> Provider:
        if key not in loaded:
            loaded.update({provider.key: provider for provider in _providers_of(listed[key])})
        return loaded[key]

    found = sorted({*listed, *loaded})
    return ByKey(sorted(found, key=lambda key: [*PROVIDER_ADDRESSES, key].index(key)), provider_at)


# --- The adapter and its sessions ------------------------------------------------------------------------


#: Options for a single turn, by name.
Options = Mapping[str, Any] | None

_STOPS = {"success": "stop", "tool_use": "tool", "max_tokens": "length", "content_filter": "filter"}


class EllmerCore:
    """The adapter of ellmer-core."""

    name = "ellmer-core"

    @property
    def providers(self) -> Mapping[tuple[str, str], Provider]:
        """The providers by wire format and name. A format's own provider comes first."""
        return providers_by_key()

    @property
    def wires(self) -> Mapping[str, Sequence[str]]:
        """The providers of each wire format."""
        return {wire: [v for w, v in self.providers if w == wire] for wire, _ in self.providers}

    @cached_property
    def addresses(self) -> Mapping[tuple[str, str], ProviderAddress]:
        """The address, the default model and the key variables of each provider."""
        return ByKey(self.providers, lambda key: self.providers[key].place)

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        """Returns the capabilities that the provider's module declares."""
        return self.providers[wire, provider].capabilities

    def session(
        self,
        endpoint: Endpoint,
        *,
        system: str | None = None,
        tools: Sequence[Tool] = (),
        history: Sequence[Turn] = (),
    ) -> Session:
        """Returns a session with a chat from the provider's own constructor."""
        provider = self.providers[endpoint.wire, endpoint.provider]
        key = (
            {"api_key": endpoint.api_key}
            if provider.wire.key_vars
            else {"credentials": lambda: endpoint.api_key}
        )
        chat = provider.construct(
            system,
            model=endpoint.model,
            base_url=endpoint.base_url,
            echo="none",
            max_tries=endpoint.max_retries + 1,
            **_timeout(endpoint),
            **key,
            **provider.unasked,
            **self.options(),
        )
        chat.register_tools([tool_of(tool) for tool in tools])
        if history:
            chat.set_turns(turns_of(history))
        return Session(chat, partial(self.session, endpoint, system=system, tools=tools))

    def without_waiting(self, note: Callable[[float], None]) -> AbstractContextManager[object]:
        """Returns a context in which pauses between retries are noted instead of waited for."""
        return patience(note)

    def options(self) -> Mapping[str, Any]:
        """Returns further options of the constructor."""
        return {}


def _timeout(endpoint: Endpoint) -> dict[str, Any]:
    seconds = endpoint.timeout
    return {} if seconds is None else {"timeout": ec.Timeouts(idle=seconds, total=seconds)}


class Session:
    """A chat, for blocking and async calls."""

    def __init__(self, chat: ec.Chat, another: Callable[[], Session]) -> None:
        self.chat, self.another = chat, another

    def reloaded(self) -> Session:
        """Returns a new session that continues from the saved data of this one."""
        fresh = self.another()
        fresh.chat.restore(json.loads(json.dumps(self.chat.record())))
        return fresh

    def send(self, parts: Sequence[Part], *, stream: bool = False, options: Options = None) -> Reply:
        contents, pieces = self._contents(parts), list[str]()
        try:
            with _warned(options), self._with(options or {}) as params:
                if stream:
                    pieces.extend(self.chat.stream(*contents, params=params))
                else:
                    self.chat.chat(*contents, params=params)
        except ec.EllmerError as error:
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(pieces)

    async def asend(self, parts: Sequence[Part], *, stream: bool = False, options: Options = None) -> Reply:
        contents, pieces = self._contents(parts), list[str]()
        try:
            with _warned(options), self._with(options or {}) as params:
                if stream:
                    pieces.extend([p async for p in self.chat.stream_async(*contents, params=params)])
                else:
                    await self.chat.chat_async(*contents, params=params)
        except ec.EllmerError as error:
            return Reply("".join(pieces), complete=False, error=error, pieces=pieces)
        return self._reply(pieces)

    def extract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        try:
            value = self.chat.chat_structured(*self._contents(parts), type=type_of(schema), max_retries=0)
        except ec.EllmerError as error:
            return Reply(complete=False, error=error)
        return replace(self._reply([]), value=value)

    async def aextract(self, parts: Sequence[Part], schema: Mapping[str, Any]) -> Reply:
        try:
            value = await self.chat.chat_structured_async(
                *self._contents(parts), type=type_of(schema), max_retries=0
            )
        except ec.EllmerError as error:
            return Reply(complete=False, error=error)
        return replace(self._reply([]), value=value)

    @contextmanager
    def _with(self, options: Mapping[str, Any]) -> Iterator[dict[str, Any] | None]:
        """Applies the options of a turn as parameters of its call."""
        wire = self.chat.wire
        if "model" in options:
            self.chat.set_model(options["model"])
        if "cache" in options:
            cached: Any = self.chat.wire  # only some wires have this field
            self.chat.wire = replace(cached, cache="5m")
        self.chat.usage_limits = ec.UsageLimits(requests=options.get("requests"))
        try:
            yield turn_params(wire.name, options) or None
        finally:
            if {"model", "cache"} & set(options):
                self.chat.set_model(wire.model)
                self.chat.wire = wire

    def instructed(self, system: str) -> None:
        """Continues with another system prompt."""
        self.chat.set_system_prompt(system)

    def compacted(self) -> None:
        """Replaces the conversation by a summary."""
        self.chat.compact(keep=0)

    async def acompacted(self) -> None:
        await self.chat.compact_async(keep=0)

    def approving(self, approve: Approve) -> None:
        """Asks for a decision about calls of tools that need one."""
        self.chat.approve = lambda request: _decision(approve(request.name, request.arguments))

    def searching(self) -> None:
        """Allows the provider's web search. Models that search by themselves need no permission."""
        search = ec.tool_web_search()
        if self.chat.wire.name in search.forms and search.name not in self.chat.get_tools():
            self.chat.register_tool(search)

    def upload(self, file: PDF) -> ec.Content:
        """Uploads the file at a path."""
        with TemporaryDirectory() as folder:
            return self.chat.upload(_saved(file, folder))

    async def aupload(self, file: PDF) -> ec.Content:
        with TemporaryDirectory() as folder:
            return await self.chat.upload_async(_saved(file, folder))

    def transcript(self) -> str:
        return str(self.chat)

    def close(self) -> None:
        self.chat.close()

    def _contents(self, parts: Sequence[Part]) -> list[ec.Content]:
        dangling = {request.id: request for turn in self.chat.get_turns() for request in requests(turn)}
        return [
            ec.ContentToolResult(part.value, request=dangling[part.id])
            if isinstance(part, ToolResult)
            else part
            if isinstance(part, ec.Content)
            else content(part)
            for part in parts
        ]

    def _reply(self, pieces: Sequence[str]) -> Reply:
        turn = self.chat.last_turn("assistant")
        assert turn is not None, "an answered chat has an answer"
        stop = turn.finish_reason
        return Reply(
            turn.text,
            stop=_STOPS.get(stop, stop) if stop else None,
            complete=not isinstance(turn, ec.AssistantPartialTurn),
            usage={
                name: getattr(turn.tokens, name)
                for name in ("input", "output", "cached", "cache_write", "reasoning")
            },
            pieces=pieces,
            sources=[_source(text, each) for text in _texts(turn) for each in text.citations],
        )


def _warned(options: Mapping[str, Any] | None) -> AbstractContextManager[Any]:
    """Turns the warning about an ignored option into an error if the caller sets an option."""
    return warnings.catch_warnings(action="error" if options else "ignore")


def _texts(turn: ec.Turn) -> Iterator[ec.ContentText]:
    return (content for content in turn.contents if isinstance(content, ec.ContentText))


def _source(text: ec.ContentText, citation: ec.ContentCitation) -> Source:
    cited = "" if citation.start is None else text.text[citation.start : citation.end]
    return Source(citation.url, citation.title, citation.quote, cited)


def _decision(arguments: Mapping[str, Any] | None) -> bool | Mapping[str, Any]:
    return False if arguments is None else {"approved": True, "arguments": dict(arguments)}


def _saved(file: PDF, folder: str) -> Path:
    path = Path(folder, file.filename)
    path.write_bytes(file.data)
    return path


adapter: Callable[[], EllmerCore] = EllmerCore
