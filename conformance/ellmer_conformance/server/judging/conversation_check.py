"""Judges the requests of a conversation: of the next one, what is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from ...contract import readers
from ...contract.exchange import Request
from ..http.routes import Route
from .conversation_window import Marks, Units, by_message, marks
from .known_conversations import Continued, KnownConversations, Place, place_of
from .verdict_cache import DeferredVerdicts, Judge, Judged, VerdictCache

__all__ = ["ConversationCheck"]

_FEW = 3  # messages of a conversation that is not worth remembering


class _History(NamedTuple):
    """What is known of a conversation that no rule objects to."""

    units: Units
    marks: Marks


class ConversationCheck:
    """Reads requests and judges them; remembers the verdicts, and the conversations."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._verdicts = VerdictCache()
        self._conversations: KnownConversations[_History] = KnownConversations()

    def examined(
        self, way: Route, method: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Request, Judged]:
        """The request and what the rules say of it. Raises ValueError or RecursionError where it is no JSON object."""
        kind = way.url, way.vendor, headers.get("anthropic-beta", "")
        found = self._conversations.find(kind, body)
        value = found.value if found else readers.parsed(body)
        request = readers.request_of(method, way.url, headers, value, way.vendor)
        history = _next(found, request) if found else None
        result = self._of_window(request, found, history) if found and history else None
        if result is None:
            result, history = self._verdicts.judged(request, body, self._judge), None
        if result.fine:
            self._remember(kind, request, body, found if history else None, history)
        return request, result

    def _of_window(self, request: Request, found: Continued[_History], history: _History) -> Judged | None:
        """What the rules say of the window; None where the whole must be judged."""
        name = found.place.name
        messages = request.body[name]
        places = found.known.units.window(len(messages))
        if places is None:
            return None
        body = {**request.body, name: [messages[place] for place in places]}
        try:
            text = orjson.dumps(body)
        except TypeError:  # half a surrogate pair, or a number beyond 64 bits
            return None
        result = self._verdicts.judged(replace(request, body=body), text, self._judge)
        if not result.fine:
            return None
        turn = result.turn + len(messages) - len(places)
        return Judged(DeferredVerdicts(request, self._judge), fine=True, turn=turn)

    def _remember(
        self,
        kind: object,
        request: Request,
        body: bytes,
        found: Continued[_History] | None,
        history: _History | None,
    ) -> None:
        place = found.place if found else _place(request, body)
        history = history or (_first(request, place) if place else None)
        if place and history:
            self._conversations.keep(kind, place, request.body, history)


def _place(request: Request, body: bytes) -> Place | None:
    long = any(isinstance(value, list) and len(value) >= _FEW for value in request.body.values())
    return place_of(body, request.body) if long else None


def _first(request: Request, place: Place) -> _History | None:
    """What is known of a conversation that has been judged as a whole."""
    return _with(_History(Units(), Marks(frozenset(), cached=False)), request, place, place.before)


def _next(found: Continued[_History], request: Request) -> _History | None:
    """What will be known when the next request has been judged; None where something new is there already."""
    new = replace(request, body={**request.body, found.place.name: found.new})
    return _with(found.known, new, found.place, found.text)


def _with(known: _History, new: Request, place: Place, text: bytes) -> _History | None:
    messages: Sequence[Any] = new.body[place.name]
    marked = marks(text)
    if marked is None or not known.marks.allow(marked) or not all(isinstance(one, dict) for one in messages):
        return None
    units = known.units.followed_by(by_message(readers.read(new), len(messages)))
    return _History(units, known.marks.joined(marked))
