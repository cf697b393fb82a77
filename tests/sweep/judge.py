"""The library's request for a cell, through its own conversation loop, and the verdicts of the rules."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import ellmer_core as ec
from ellmer_conformance.contract.changes.known_until import KNOWN_UNTIL
from ellmer_conformance.contract.readers import request as read_request
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules import book
from ellmer_core.conversation.io_operations import Send
from ellmer_core.schemas.type_functions import type_object, type_string

from . import values
from .grid import Cell, Provider, named

__all__ = ["Count", "Outcome", "judged", "refusal", "request_of", "swept"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell: an accepted request, an error of our own, or a refusal."""

    cell: Cell
    declined: str = ""
    refused: str = ""


@dataclass
class Count:
    """A line of the table."""

    asked: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    refused: list[Outcome] = field(default_factory=list)


def judged(cell: Cell) -> Outcome:
    """Returns the request, and the provider's expected answer."""
    try:
        sent = _sent(cell)
    except ec.EllmerError as error:
        return Outcome(cell, declined=f"{type(error).__name__}: {error}")
    return Outcome(cell, refused=_verdict(cell.provider, sent) or "")


def refusal(provider: Provider, chat: ec.Chat, message: str = "And now?") -> str | None:
    """Returns why the chat's next request would be refused, or `None`."""
    return _verdict(provider, request_of(chat, message))


def request_of(chat: ec.Chat, message: str = "And now?") -> Send:
    """Returns the chat's next request."""
    settings = chat._plan(stream=False, tool_mode="sequential")
    return _first(chat._talk([message], settings).loop)


def _verdict(provider: Provider, sent: Send) -> str | None:
    wire, name = provider.key
    request = read_request("POST", sent.request.url, sent.request.headers, sent.body, name)
    broken = objection(book(wire, name).judge(replace(request, when=KNOWN_UNTIL)))
    return broken and f"{broken.rule.id} {broken.pointer}: {broken.message}"


def swept(cells: Iterable[Cell]) -> dict[str, Count]:
    """Returns the outcomes by provider."""
    found: dict[str, Count] = {}
    for cell in cells:
        outcome, count = judged(cell), found.setdefault(cell.provider.name, Count())
        count.asked += 1
        if outcome.declined:
            count.declined[outcome.declined.partition(":")[0]] += 1
        if outcome.refused:
            count.refused.append(outcome)
    return found


def _sent(cell: Cell) -> Send:
    with warnings.catch_warnings(action="ignore"):
        return _first(_loop(cell))


def _first(loop: Any) -> Send:
    """Returns the first request of a conversation's loop."""
    try:
        effect = next(loop)
        while not isinstance(effect, Send):
            effect = loop.send(0.0 if type(effect).__name__.endswith("Clock") else None)
        return effect
    finally:
        loop.close()


def _loop(cell: Cell):  # type: ignore[no-untyped-def]  # a generator of effects
    chat = _chat(cell)
    settings = chat._plan(
        stream=cell.asked.get("stream") == "yes",
        tool_mode="sequential",
        type=type_object(a=type_string()) if cell.asked.get("type") == "object" else None,
    )
    said = named(values.CONTENTS, cell, "user")
    inputs = [values.CONTENTS["image"]] if said is None else ["Look:", said]
    return chat._talk(inputs, settings).loop


def _chat(cell: Cell) -> ec.Chat:
    provider = cell.provider
    key = {"api_key": "k"} if provider.wire.key_vars else {"credentials": lambda: "k"}
    params = dict(named(values.PARAMS, cell, "params"))
    if (choice := params.get("tool_choice")) is not None:
        params["tool_choice"] = _choice(provider.wire.name, choice)
    chat = provider.construct(model=cell.model, base_url=provider.url, echo="none", params=params, **key)
    tools = named(values.SCHEMAS, cell, "schema")
    chat.register_tools([one() if one is values.recursive else one for one in tools])
    turns = list(named(values.HISTORIES, cell, "history"))
    if "result" in cell.asked:
        turns += values._answered(named(values.RESULTS, cell, "result"))
    chat.set_turns(turns)
    return chat


def _choice(wire: str, choice: str) -> object:
    """Returns a tool choice in the format's own words, because there are no neutral ones."""
    forced = choice == "required"
    return {
        "anthropic": {"type": "any" if forced else "auto"},
        "gemini": {"mode": "ANY" if forced else "AUTO"},
        "bedrock": {"any": {}} if forced else {"auto": {}},
        "mistral": "any" if forced else "auto",
        "cohere": "REQUIRED" if forced else None,
    }.get(wire, choice)
