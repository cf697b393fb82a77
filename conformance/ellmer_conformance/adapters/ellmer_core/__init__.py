"""Adapter for ellmer_core. It uses the public API, as any outside library would.

The package has the adapter and its sessions. `messages` converts the cases' messages, and `providers` finds the
providers.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ellmer_core as ec

from ...scenarios.messages import (
    PDF,
    Approve,
    Part,
    Reply,
    Source,
    Tool,
    ToolResult,
    Turn,
)
from .. import Capabilities, Endpoint, Place
from ..shared.retry_waits import patience
from ..shared.turn_options import turn_params
from .messages import content, requests, tool_of, turns_of, type_of
from .providers import Provider, providers_by_key

__all__ = ["EllmerCore", "Options", "Session", "adapter"]

#: Options for a single turn, by name.
Options = Mapping[str, Any] | None

_STOPS = {"success": "stop", "tool_use": "tool", "max_tokens": "length", "content_filter": "filter"}


class EllmerCore:
    """The adapter."""

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
    def places(self) -> Mapping[tuple[str, str], Place]:
        """The places of its providers."""
        return {key: provider.place for key, provider in self.providers.items()}

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
            **key,
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
            usage={name: getattr(turn.tokens, name) for name in ("input", "output", "cached", "reasoning")},
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
