"""Judges the requests of a conversation: only the new part of each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from ...contract import readers
from ...contract.exchange import Request
from ...contract.rule import Refusal
from ..http.routes import Route
from ..thinking_prefix import binds
from .conversation_window import Marks, Units, by_message, marks
from .known_conversations import Continued, KnownConversations, Place, place_of
from .plain_words import without_ids
from .verdict_cache import DeferredVerdicts, Judge, Judged, VerdictCache

__all__ = ["ConversationCheck", "Examined"]

_FEW = 3  # messages of a conversation that is not worth remembering


class _History(NamedTuple):
    """The known facts about a conversation that breaks no rule."""

    units: Units
    marks: Marks


_UNKNOWN = _History(Units(), Marks(frozenset(), cached=False))


class Examined(NamedTuple):
    """A request, the verdicts of the rules, and the finding about its signatures."""

    request: Request
    judged: Judged
    forged: Refusal | None


class ConversationCheck:
    """Reads and judges requests. It stores the verdicts and the conversations."""

    def __init__(self, judge: Judge, forged: Callable[[Request, bytes], Refusal | None]) -> None:
        self._judge, self._forged = judge, forged
        self._verdicts = VerdictCache()
        self._conversations: KnownConversations[_History] = KnownConversations()

    def examined(self, way: Route, method: str, headers: Mapping[str, str], body: bytes) -> Examined:
        """Reads and judges a request. Raises ValueError or RecursionError if it is not a JSON object."""
        kind = way.url, way.provider, headers.get("anthropic-beta", "")
        found = self._conversations.find(kind, body)
        value = found.value if found else readers.parsed(body)
        request = readers.request_of(method, way.url, headers, value, way.provider)
        new = _new(found, request) if found else None
        history = _with(found.known, new, found.place.name, found.text) if found and new else None
        result = self._of_window(request, found) if found and history else None
        if result is None:
            result, history = self._verdicts.judged(request, body, self._judge), None
        forged = self._changed(request, new, body, found) if history else self._forged(request, body)
        if result.fine and not forged:
            place = found.place if found and history else _place(request, body)
            self._remember(kind, request, place, history)
        return Examined(request, result, forged)

    def _changed(
        self, request: Request, new: Request | None, body: bytes, found: Continued[_History] | None
    ) -> Refusal | None:
        """Returns the finding about changed signatures. The known part of a conversation has been checked before."""
        if new and found and not binds(request.model) and not self._forged(new, found.text):
            return None
        return self._forged(request, body)

    def _of_window(self, request: Request, found: Continued[_History]) -> Judged | None:
        """Returns the verdicts on the window, or `None` if the whole request must be judged."""
        name = found.place.name
        messages = request.body[name]
        places = found.known.units.window(len(messages))
        if places is None:
            return None
        body = {**request.body, name: [messages[place] for place in places]}
        try:
            text = orjson.dumps(body)
        except TypeError:  # a lone surrogate, or an integer of more than 64 bits
            return None
        result = self._verdicts.judged(replace(request, body=body), text, self._judge, without_ids)
        if not result.fine:
            return None
        turn = result.turn + len(messages) - len(places)
        return Judged(DeferredVerdicts(request, self._judge), fine=True, turn=turn)

    def _remember(
        self, kind: object, request: Request, place: Place | None, history: _History | None
    ) -> None:
        if place and not history:
            history = _with(_UNKNOWN, request, place.name, place.before)
        if place and history:
            self._conversations.keep(kind, place, request.body, history)


def _place(request: Request, body: bytes) -> Place | None:
    long = any(isinstance(value, list) and len(value) >= _FEW for value in request.body.values())
    return place_of(body, request.body) if long else None


def _new(found: Continued[_History], request: Request) -> Request:
    """Returns the request without the known messages."""
    return replace(request, body={**request.body, found.place.name: found.new})


def _with(known: _History, new: Request, name: str, text: bytes) -> _History | None:
    """Returns the facts about a conversation after more messages, or `None` if a new id or name is already in use."""
    messages: Sequence[Any] = new.body[name]
    marked = marks(text)
    if marked is None or not known.marks.allow(marked) or not all(isinstance(one, dict) for one in messages):
        return None
    units = known.units.followed_by(by_message(readers.read(new), len(messages)))
    return _History(units, known.marks.joined(marked))
