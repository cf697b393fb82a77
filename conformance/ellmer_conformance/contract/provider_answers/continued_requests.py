"""The whole content of requests that continue a stored answer: `previous_response_id` of Responses, and Anthropic's message threads.

https://developers.openai.com/api/docs/guides/conversation-state
https://platform.claude.com/docs/en/build-with-claude/message-threads
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ellmer_harness.format import sse_and_ndjson

from .. import readers
from ..observed.exchange import Exchange, Item, Json, Request, Response
from ..readers.json_access import object_of
from .joined_streams import anthropic_message

_KEPT = "previous_response_id"


def sent_items(exchanges: Iterable[Exchange]) -> list[list[Item]]:
    """Returns the content of each request in neutral items, after the stored content of the exchange that it
    continues.
    """
    exchanges = list(exchanges)
    if not any(_continues(exchange.request) for exchange in exchanges):
        return [_behind([], readers.read(exchange.request)) for exchange in exchanges]
    stored: dict[str, list[Item]] = {}
    found = []
    for exchange in exchanges:
        before = stored.get(_continues(exchange.request), [])
        found.append(_behind(before, readers.read(exchange.request)))
        if answer := _answer(exchange):
            output = readers.read(replace(exchange.request, body=_as_request(exchange.request.wire, answer)))
            kept = _behind(found[-1], output)
            stored[str(answer["id"])] = [*_as_kept(kept, exchange.request.wire)]
    return found


def _continues(request: Request) -> str:
    """Returns the id of the answer that a request continues, or an empty text."""
    thread = object_of(request.body.get("thread"))
    return str(request.body.get(_KEPT) or thread.get("previous_message_id") or "")


def _as_request(wire: str, answer: Json) -> Json:
    """Returns the body of a request that sends an answer back."""
    if wire == "anthropic":
        return {"messages": [{"role": "assistant", "content": answer.get("content")}]}
    return {"input": answer.get("output")}


def _behind(before: Sequence[Item], new: Sequence[Item]) -> list[Item]:
    """Returns the new items after the earlier ones. A system prompt of the request comes first, because Responses does not store it."""
    if not before:
        return sorted(new, key=lambda item: item.turn >= 0)
    turns = 1 + max(item.turn for item in before)
    prompts = [item for item in new if item.turn < 0]
    return [*prompts, *before, *(item._replace(turn=item.turn + turns) for item in new if item.turn >= 0)]


def _as_kept(items: Iterable[Item], wire: str) -> Iterator[Item]:
    """Yields the items that the provider keeps. A thread keeps the system prompt, too."""
    pointer = "/thread" if wire == "anthropic" else f"/{_KEPT}"
    return (item._replace(pointer=pointer) for item in items if item.turn >= 0 or wire == "anthropic")


def _answer(exchange: Exchange) -> Json | None:
    """Returns the answer if the provider stored it."""
    kept = {"openai-responses": _last, "anthropic": _message}.get(exchange.request.wire)
    if kept is None or exchange.response is None:
        return None
    answer = kept(exchange.response)
    return answer if isinstance(answer, dict) and answer.get("id") else None


def _message(response: Response) -> object:
    """Returns a whole message."""
    try:
        return anthropic_message(response.body)
    except (ValueError, LookupError, TypeError):
        return None


def _last(response: Response) -> object:
    """Returns the complete answer: the body, or the last event of a stream."""
    try:
        if "event-stream" not in response.headers.get("content-type", ""):
            return json.loads(response.body)
        return (sse_and_ndjson.parse(response.body) or {})["sse"][-1]["data"]["response"]
    except (ValueError, LookupError, TypeError):
        return None
