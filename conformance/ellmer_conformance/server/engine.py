"""The strict server without its sockets: a request in, the provider's reply out.

In order, as the providers do it: the route, the key, JSON, the rules, the signatures; then the next step of
the script. A request that is refused takes no step. In `observe` mode nothing is refused for its content:
the violations are noted, in a header of the reply and in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from .. import wires
from ..exchange import Exchange, Request
from ..rule import Refusal, Rule, Verdict, Violation, verdict
from ..rules import book
from ..script import Answer, Say, Script
from . import home
from .dialects import Dialect, Ticket
from .http import HttpRequest
from .journal import Entry, Journal, without_secrets
from .registry import dialect_of
from .render import refuse, render
from .reply import Reply, plain
from .routes import OPEN_CASE, Route, route

__all__ = ["ANY", "Engine", "Mode"]

Mode = Literal["reject", "observe"]

#: What the open case says, every time.
ANY = Script((Answer((Say("Hello! Your request is legal, and this is the answer to it."),)),))

_CONVERSATIONS = 65_536  # whose place in the script is remembered
_NOTED = 50  # violations that a header names; the report has all
_REMEMBERED = 65_536  # bytes of a body up to which its verdicts are


@dataclass
class Engine:
    """All state of the server: how far each conversation is, and what happened."""

    scripts: Mapping[str, Script]
    mode: Mode = "reject"
    journal: Journal = field(default_factory=Journal)
    watch: Callable[[Entry], None] | None = None  # is told of every chat request
    _answered: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scripts = {OPEN_CASE: ANY} | dict(self.scripts)

    def answer(self, request: HttpRequest) -> Reply:
        """The reply to a request, whatever it is."""
        way = route(request.target, host_of(request))
        if way.page == "chat":
            return self._chat(request, way)
        if request.method not in {"GET", "HEAD"}:
            return plain(405, [("content-type", "text/plain"), ("allow", "GET, HEAD")], b"Only GET.\n")
        if way.page == "report":
            return plain(
                200, [("content-type", "application/json")], self.journal.report(way.case, way.nonce)
            )
        return home.page(request.headers.get("host", ""), self.mode, self.scripts)

    def too_large(self, request: HttpRequest) -> Reply:
        """The reply to a request whose body is not worth reading."""
        way = route(request.target, host_of(request))
        dialect = self._dialect(way, Request(way.wire, way.vendor, {}))
        return refuse(dialect, dialect.too_large())

    # one chat request -------------------------------------------------------------------------------------

    def _chat(self, http: HttpRequest, way: Route) -> Reply:
        headers = without_secrets(http.headers)
        request = Request(way.wire, way.vendor, {}, way.url, http.method, headers)
        verdicts: tuple[Verdict, ...] = ()
        refusal = self._turned_away(http, way, request)
        if refusal is None:
            try:
                judge = judged if len(http.body) < _REMEMBERED else judged.__wrapped__
                request, verdicts = judge(way, http.method, tuple(headers.items()), http.body)
            except (ValueError, RecursionError) as error:
                refusal = self._dialect(way, request).no_json(str(error))
        dialect = self._dialect(way, request)
        reply = refuse(dialect, refusal) if refusal else self._judged(dialect, way, verdicts)
        entry = Entry(way.case, way.nonce or "", Exchange(request, reply.response), verdicts)
        self.journal.add(entry, 2000 + len(http.body) + len(reply.body))
        if self.watch:
            self.watch(entry)
        return reply

    def _turned_away(self, http: HttpRequest, way: Route, request: Request) -> Refusal | None:
        """Refusals that need no body: no such path, case or method; no key."""
        dialect = self._dialect(way, request)
        if not way.wire or http.method != "POST":
            return dialect.no_such(http.method, way.path)
        if way.case not in self.scripts:
            known = ", ".join(sorted(self.scripts))
            return Refusal(f"There is no case {way.case!r} here. The cases are: {known}.", 404)
        return dialect.locked(http.headers, dict(way.query))

    def _judged(self, dialect: Dialect, way: Route, verdicts: Sequence[Verdict]) -> Reply:
        violations = [v for verdict in verdicts for v in verdict.violations]
        forged = dialect.forged(strict=way.case != OPEN_CASE)
        if self.mode == "observe":
            reply = self._step(dialect, way)
            noted = notes(violations, forged)
            return reply.noting(noted) if noted else reply
        refusal = next((v.refusal for v in violations if v.rule.refuses), None) or forged
        return refuse(dialect, refusal) if refusal else self._step(dialect, way)

    def _step(self, dialect: Dialect, way: Route) -> Reply:
        steps, number = self.scripts[way.case].steps, dialect.ticket.number
        self._answered[way.case, way.nonce or ""] = number + 1
        if len(self._answered) > _CONVERSATIONS:
            del self._answered[next(iter(self._answered))]
        return render(dialect, steps[min(number, len(steps) - 1)])

    def _dialect(self, way: Route, request: Request) -> Dialect:
        number = self._answered.get((way.case, way.nonce or ""), 0)
        return dialect_of(Ticket(request, way.case, number))


def host_of(request: HttpRequest) -> str:
    """The host that the client meant: a proxy, or a recorder that reroutes it, says so."""
    return request.headers.get("x-forwarded-host") or request.headers.get("host", "")


@lru_cache(1024)
def judged(
    way: Route, method: str, headers: tuple[tuple[str, str], ...], body: bytes
) -> tuple[Request, tuple[Verdict, ...]]:
    """The request and what the rules say of it: the same each time, and clients repeat themselves."""
    request = wires.request(method, way.url, dict(headers), body, way.vendor)
    return request, tuple(verdict(rule, request) for rule in rules(way.wire, way.vendor, request.model))


@lru_cache(256)
def rules(wire: str, vendor: str, model: str) -> list[Rule]:
    """The rules that are in force for a model today."""
    return book(wire, vendor).in_force(Request(wire, vendor, {}, model=model))


def notes(violations: Sequence[Violation], forged: Refusal | None) -> str:
    """`ORD-002 /messages/3, signature`: what a header can say of the violations."""
    noted = [
        f"{violation.rule.id} {quote(violation.pointer, errors='replace')}"
        for violation in violations[:_NOTED]
    ]
    return ", ".join([*noted, *(["signature"] if forged else [])])
