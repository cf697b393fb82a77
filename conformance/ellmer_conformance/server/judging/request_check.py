"""Checks a request by itself: its format, the verdicts of the rules, a refusal, and the answer if it names no
conversation.

The order is that of the providers: the path, the key, JSON, the model's name, the rules, the signatures. Results are
cached, because clients repeat requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import quote
from zlib import crc32

from ...contract import readers
from ...contract.exchange import Request
from ...contract.rule import Kind, Level, Refusal, Rule
from ...contract.rules import book
from ...contract.verdict import Verdict, Violation, objection, verdict
from ...scenarios.script import Answer, Say
from ..chat_api_lookup import chat_api_of
from ..chat_apis.base import Ticket
from ..http.http_request import LENGTH, HttpRequest
from ..http.reply import Reply
from ..http.routes import OPEN_CASE, Route, route
from ..replies.rendering import refuse, render
from .conversation_check import ConversationCheck
from .request_head import request_head
from .verdict_cache import Judged, VerdictCache

__all__ = ["ANY", "CheckedRequest", "check_request", "examined", "notes"]

#: The reply to a valid request without a conversation.
ANY = Answer((Say("Hello! Your request is legal, and this is the answer to it."),))

#: Bytes in the body of a request with signed thoughts. An escape may hide them.
_SIGNED = (b"ignature", b"hinking", b"encrypted", b"reasoning", b"\\u")
_NOTED = 50  # violations that a header names; the report has all
_NAMED = 200  # characters of a model up to which its rules are remembered
_REMEMBERED = 65_536  # bytes of a body up to which it is


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


def check_request(http: HttpRequest, *, observe: bool) -> CheckedRequest:
    """Parses and judges a request. An observing server refuses nothing for its content or a missing key."""
    short = len(http.body) + len(http.target) + sum(map(len, http.headers.values())) < _REMEMBERED
    find = _check_request if short else _check_request.__wrapped__
    return find(http, observe)


@lru_cache(1024)
def _check_request(http: HttpRequest, observe: bool) -> CheckedRequest:
    head = request_head(http)
    headers = head.headers | {name: http.headers[name] for name in (LENGTH,) if name in http.headers}
    way, locked = head.way, head.locked
    if head.missing or (locked and not observe):
        return CheckedRequest(head.bare(headers), refusal=head.missing or locked)
    unlocked = (keyless(way.wire, locked),) if locked else ()
    try:
        request, judged, forged = _CONVERSATIONS.examined(way, http.method, headers, http.body)
    except (ValueError, RecursionError) as error:
        bare = head.bare(headers)
        return CheckedRequest(bare, unlocked, chat_api_of(Ticket(bare, way.case, 0)).no_json(str(error)))
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
    case = route(request.url, "").case
    return chat_api_of(Ticket(request, case, 0)).forged(strict=case != OPEN_CASE)


def examined(
    way: Route, method: str, headers: Mapping[str, str], body: bytes
) -> tuple[Request, Sequence[Verdict]]:
    """Returns the request and its verdicts.

    Raises:
        ValueError: The body is not a JSON object.
        RecursionError: The body is nested too deeply.
    """
    request = readers.request(method, way.url, headers, body, way.provider)
    return request, _PROXIED.judged(request, body, _judge).verdicts


def _judge(request: Request) -> tuple[Verdict, ...]:
    return tuple([verdict(rule, request) for rule in _rules(request.wire, request.provider, request.model)])


@lru_cache(256)
def _rules(wire: str, provider: str, model: str) -> list[Rule]:
    """Returns the rules that are in force for a model today."""
    return book(wire, provider).in_force(Request(wire, provider, {}, model=model))


_CONVERSATIONS = ConversationCheck(_judge, _forged)
_PROXIED = VerdictCache()


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
