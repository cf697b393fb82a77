"""The whole content of requests that continue a stored answer (`previous_response_id`).

https://developers.openai.com/api/docs/guides/conversation-state
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ellmer_harness.format import sse_and_ndjson

from . import readers
from .exchange import Exchange, Item, Json, Response

_KEPT = "previous_response_id"


def sent_items(exchanges: Iterable[Exchange]) -> list[list[Item]]:
    """Returns the content of each request in neutral items, after the stored content of the exchange that it
    continues.
    """
    exchanges = list(exchanges)
    if not any(_KEPT in exchange.request.body for exchange in exchanges):
        return [_behind([], readers.read(exchange.request)) for exchange in exchanges]
    stored: dict[str, list[Item]] = {}
    found = []
    for exchange in exchanges:
        before = stored.get(str(exchange.request.body.get(_KEPT)), [])
        found.append(_behind(before, readers.read(exchange.request)))
        answer = _answer(exchange)
        if answer:
            output = readers.read(replace(exchange.request, body={"input": answer.get("output")}))
            stored[str(answer["id"])] = [
                _as_kept(item) for item in _behind(found[-1], output) if item.turn >= 0
            ]
    return found


def _behind(before: Sequence[Item], new: Sequence[Item]) -> list[Item]:
    """Returns the new items after the earlier ones. A system prompt comes first, because it is not stored."""
    if not before:
        return sorted(new, key=lambda item: item.turn >= 0)
    turns = 1 + max(item.turn for item in before)
    prompts = [item for item in new if item.turn < 0]
    return [*prompts, *before, *(item._replace(turn=item.turn + turns) for item in new if item.turn >= 0)]


def _as_kept(item: Item) -> Item:
    return item._replace(pointer=f"/{_KEPT}")


def _answer(exchange: Exchange) -> Json | None:
    """Returns the answer if the provider stored it."""
    if exchange.request.wire != "openai-responses" or exchange.response is None:
        return None
    answer = _last(exchange.response)
    return answer if isinstance(answer, dict) and answer.get("id") else None


def _last(response: Response) -> object:
    """Returns the complete answer: the body, or the last event of a stream."""
    try:
        if "event-stream" not in response.headers.get("content-type", ""):
            return json.loads(response.body)
        return (sse_and_ndjson.parse(response.body) or {})["sse"][-1]["data"]["response"]
    except (ValueError, LookupError, TypeError):
        return None
