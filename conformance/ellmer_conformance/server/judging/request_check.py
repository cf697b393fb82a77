"""Checks a request by itself: its format, the verdicts of the rules, a refusal, and the answer if it names no
conversation.

The order is that of the providers: the path, the key, JSON, the model's name, the rules, the signatures. Results are
cached, because clients repeat requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote
from zlib import crc32

import orjson

from ellmer_core.base.budget import memory_of

from ...contract import readers
from ...contract.observed.exchange import Request
from ...contract.rule import Kind, Level, Refusal, Rule, Verdict, Violation, objection, verdict
from ...contract.rules import book
from ...scenarios.script import AskModel
from ..chat_api_lookup import chat_api_of
from ..chat_apis.base import Ticket
from ..http.messages import LENGTH, HttpRequest, Reply
from ..http.routes import OPEN_CASE, Route, route_of
from ..issued.signatures import binds
from ..journal import without_secrets
from ..replies import refuse, render
from .verdict_cache import (
    Beginnings,
    Continued,
    DeferredVerdicts,
    Judge,
    Judged,
    KnownConversations,
    Marks,
    Units,
    VerdictCache,
    by_message,
    likely_start,
    marks,
    place_of,
    without_ids,
)

# --- the head of a request -------------------------------------------------------------------------------


_LONG = 8192  # characters of a head that is not remembered
_HEADS: dict[bytes, RequestHead] = {}  # by their bytes
_KEPT_HEADS = 1024


class RequestHead(NamedTuple):
    """The head of a request to a provider.

    `headers` are those that may be shown, without `LENGTH`. `missing` is the error for an unknown path, and `locked`
    the error for a missing or wrong key.
    """

    route: Route
    method: str
    headers: dict[str, str]
    missing: Refusal | None
    locked: Refusal | None

    def bare(self, headers: dict[str, str]) -> Request:
        """Returns the request without its body."""
        return Request(self.route.wire, self.route.provider, {}, self.route.url, self.method, headers)


def request_head(http: HttpRequest) -> RequestHead:
    """Returns the head of a request. Short heads are cached."""
    if http.head and (known := _HEADS.get(http.head)):
        return known
    head = _read_head(http)
    if http.head:
        _HEADS[http.head] = head
        if len(_HEADS) > _KEPT_HEADS:
            _HEADS.pop(next(iter(_HEADS)), None)
    return head


def _read_head(http: HttpRequest) -> RequestHead:
    headers = dict(http.headers)
    headers.pop(LENGTH, None)
    short = len(http.target) + sum(map(len, headers.values())) < _LONG
    find = _request_head if short else _request_head.__wrapped__
    return find(http.method, http.target, tuple(headers.items()))


@lru_cache(1024)
def _request_head(method: str, target: str, items: tuple[tuple[str, str], ...]) -> RequestHead:
    headers = dict(items)
    route = route_of(target, HttpRequest(method, target, headers).host)
    head = RequestHead(route, method, without_secrets(headers), None, None)
    api = chat_api_of(Ticket(head.bare(head.headers), route.case, 0))
    if not route.wire or method != "POST":
        return head._replace(missing=api.no_such(method, route.path))
    return head._replace(locked=api.locked(headers, dict(route.query)))


# --- a request, with what is known of its conversation ---------------------------------------------------


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
        self._firsts: Beginnings[tuple[Request, bytes]] = Beginnings()  # each may begin a conversation

    def examined(
        self,
        route: Route,
        method: str,
        headers: Mapping[str, str],
        body: bytes,
        today: date | None = None,
    ) -> Examined:
        """Reads and judges a request. Raises ValueError or RecursionError if it is not a JSON object."""
        kind = (route.url, route.provider, *map(headers.get, ("anthropic-beta", "anthropic-version")), today)
        found = self._conversations.find(kind, body) or self._second(kind, body)
        value = found.value if found else readers.parsed(body)
        request = readers.request_of(method, route.url, headers, value, route.provider, when=today)
        new = _new(found, request) if found else None
        history = _with(found.facts, new, found.place.name, found.text) if found and new else None
        result = self._of_window(request, found) if found and history else None
        if result is None:
            result, history = self._verdicts.judged(request, body, self._judge), None
        forged = self._changed(request, new, body, found) if history else self._forged(request, body)
        if result.fine and not forged:
            if found and history:
                self._conversations.keep(kind, found.place, request.body, history)
            elif any(isinstance(each, list) and len(each) >= _FEW for each in request.body.values()):
                if found:  # and nothing is known about the two together
                    self._conversations.drop(kind, body)
                if start := likely_start(body, request.body):
                    self._firsts.keep(kind, start, (request, body))
        return Examined(request, result, forged)

    def _second(self, kind: object, body: bytes) -> Continued[_History] | None:
        """Returns what a body continues that is the second request of a conversation. Most requests have none, so the first one
        is read only now.
        """
        first = self._firsts.of(kind, body)
        if first is None:
            return None
        self._firsts.drop(kind, body)
        request, text = first[1]
        place = place_of(text, request.body)
        history = _with(_UNKNOWN, request, place.name, place.before) if place else None
        if not place or not history:
            return None
        self._conversations.keep(kind, place, request.body, history)
        return self._conversations.find(kind, body)

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
        places = found.facts.units.window(len(messages))
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


def _new(found: Continued[_History], request: Request) -> Request:
    """Returns the request without the known messages."""
    return replace(request, body={**request.body, found.place.name: found.new})


def _with(facts: _History, new: Request, name: str, text: bytes) -> _History | None:
    """Returns the facts about a conversation after more messages, or `None` if a new id or name is already in use."""
    messages: Sequence[Any] = new.body[name]
    marked = marks(text)
    if (
        marked is None
        or not facts.marks.allow(marked)
        or not all(isinstance(message, dict) for message in messages)
    ):
        return None
    units = facts.units.followed_by(by_message(readers.read(new), len(messages)))
    return _History(units, facts.marks.joined(marked))


# --- a whole request -------------------------------------------------------------------------------------


#: The reply to a valid request without a conversation.
ANY = AskModel()

#: Bytes in the body of a request with signed thoughts. An escape may hide them.
_SIGNED = (b"ignature", b"hinking", b"encrypted", b"reasoning", b"\\u")
_NOTED = 50  # violations that a header names; the report has all
_NAMED = 200  # characters of a model up to which its rules are remembered
_REMEMBERED = 131_072  # bytes of memory that a body and a head need, up to which they are


@dataclass(frozen=True, eq=False)
class CheckedRequest:
    """A checked request. `refusal` is the reason why it is not answered; `noted` are the violations of an answered
    one.
    """

    request: Request
    verdicts: Sequence[Verdict] = ()
    refusal: Refusal | None = None
    noted: str = ""
    turn: int = 0  # the last one that the request has
    sum: int = 0  # the check sum of its body

    @cached_property
    def reply(self) -> Reply:
        """The refusal, or the answer for requests without a conversation. A repeated request gets the same bytes."""
        api = chat_api_of(Ticket(self.request, OPEN_CASE, self.turn, f"-{self.sum}"))
        return refuse(api, self.refusal) if self.refusal else render(api, ANY)


def check_request(http: HttpRequest, *, observe: bool, today: date | None = None) -> CheckedRequest:
    """Parses and judges a request, as of a day. An observing server refuses nothing for its content or a missing key."""
    head = len(http.head) or len(http.target) + sum(map(len, http.headers.values()))
    short = memory_of(http.body) + head < _REMEMBERED
    find = _check_request if short else _check_request.__wrapped__
    return find(http, observe, today)


@lru_cache(1024)
def _check_request(http: HttpRequest, observe: bool, today: date | None) -> CheckedRequest:
    head = request_head(http)
    headers = head.headers | {name: http.headers[name] for name in (LENGTH,) if name in http.headers}
    route, locked = head.route, head.locked
    if head.missing or (locked and not observe):
        return CheckedRequest(head.bare(headers), refusal=head.missing or locked)
    unlocked = (keyless(route.wire, locked),) if locked else ()
    try:
        request, judged, forged = _CONVERSATIONS.examined(route, http.method, headers, http.body, today)
    except (ValueError, RecursionError) as error:
        bare = head.bare(headers)
        return CheckedRequest(bare, unlocked, chat_api_of(Ticket(bare, route.case, 0)).no_json(str(error)))
    if unlocked:
        judged = judged._replace(verdicts=(*unlocked, *judged.verdicts), fine=False)
    return _judged(request, judged, forged, crc32(http.body), observe=observe)


def _judged(
    request: Request, judged: Judged, forged: Refusal | None, sum: int, *, observe: bool
) -> CheckedRequest:
    verdicts, fine, turn = judged
    if observe:
        violations = [] if fine else [violation for verdict in verdicts for violation in verdict.violations]
        return CheckedRequest(request, verdicts, noted=notes(violations, forged), turn=turn, sum=sum)
    broken = None if fine else objection(verdicts)
    missing = chat_api_of(Ticket(request, "", 0)).no_model(request.model)
    return CheckedRequest(
        request, verdicts, missing or (broken.refusal if broken else None) or forged, turn=turn, sum=sum
    )


def _forged(request: Request, body: bytes) -> Refusal | None:
    """Returns the error for changed signatures. Most requests contain none and are not searched."""
    if not any(word in body for word in _SIGNED):
        return None
    case = route_of(request.url, "").case
    return chat_api_of(Ticket(request, case, 0)).forged(strict=case != OPEN_CASE)


def examined(
    route: Route, method: str, headers: Mapping[str, str], body: bytes
) -> tuple[Request, Sequence[Verdict]]:
    """Returns the request and its verdicts.

    Raises:
        ValueError: The body is not a JSON object.
        RecursionError: The body is nested too deeply.
    """
    request = readers.request(method, route.url, headers, body, route.provider)
    return request, _PROXIED.judged(request, body, _judge).verdicts


def _judge(request: Request) -> tuple[Verdict, ...]:
    rules = _book(request.wire, request.provider).in_force(request)
    return tuple([verdict(rule, request) for rule in rules])


_book = lru_cache(256)(book)


_CONVERSATIONS = ConversationCheck(_judge, _forged)
_PROXIED = VerdictCache()


def judged_with_stored(found: CheckedRequest, full: Request, *, observe: bool) -> CheckedRequest:
    """Returns the check of a request that continues stored items. Its calls, outputs and ids are judged with the stored ones; all
    else was judged without them.

    Args:
        found: The check of the request as it came.
        full: The request with the items that it refers to.
        observe: Whether violations are noted, and not refused.
    """
    body = {name: value for name, value in full.body.items() if name not in _POINTERS}
    rules = _book(full.wire, full.provider).in_force(full)
    paired = [verdict(rule, replace(full, body=body)) for rule in rules if rule.id in _AMONG_ITEMS]
    verdicts = (*(each for each in found.verdicts if each.rule.id not in _AMONG_ITEMS), *paired)
    broken = objection(paired)
    if broken is None or observe:
        more = notes([violation for each in paired for violation in each.violations], None)
        noted = ", ".join(filter(None, (found.noted, more))) if observe else found.noted
        return replace(found, request=full, verdicts=verdicts, noted=noted)
    return replace(found, request=full, verdicts=verdicts, refusal=broken.refusal)


#: The fields that name what is stored.
_POINTERS = {"previous_response_id", "thread"}
#: The rules about calls, their outputs and repeated items.
_AMONG_ITEMS = {"PAIR-001", "PAIR-002", "PAIR-005"}


def keyless(wire: str, refusal: Refusal) -> Verdict:
    """Returns the provider's error for a request without a key, as a broken rule."""
    rule = Rule(
        id="KEY-001",
        level=Level.MUST,
        kind=Kind.REJECT,
        wire=wire,
        sentence="A request has a key and the headers that the provider requires.",
        check=lambda _: iter(()),
        source=("strict server",),
        refusal=refusal,
    )
    return Verdict(rule, 1, (Violation(rule, "", refusal.message),))


def notes(violations: Sequence[Violation], forged: Refusal | None) -> str:
    """Returns the violations in the form of a header: `ORD-002 /messages/3, signature`."""
    noted = [
        f"{violation.rule.id} {quote(violation.pointer, errors='replace')}"
        for violation in violations[:_NOTED]
    ]
    return ", ".join([*noted, *(["signature"] if forged else [])])
