"""The strict server without its sockets: a request in, the provider's reply out.

In order, as the providers do it: the route, the key, JSON, the rules, the signatures; then the next step of
the script. A request that is refused takes no step. In `observe` mode nothing is refused for its content:
the violations are noted, in a header of the reply and in the report; a missing key is one of them. In `proxy`
mode the upstream answers (`proxy.py`), and only the pages are the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Literal
from urllib.parse import quote

from .. import wires
from ..exchange import Exchange, Request
from ..rule import Kind, Level, Refusal, Rule, Verdict, Violation, objection, verdict
from ..rules import book
from ..script import Answer, Say, Script
from . import home
from .dialects import Dialect, Ticket
from .http import HttpRequest
from .journal import Entry, Journal, without_secrets
from .registry import dialect_of
from .render import refuse, render
from .reply import Reply, is_short, plain
from .routes import OPEN_CASE, Route, route
from .services import Services

__all__ = ["ANY", "Engine", "Mode", "examined", "notes"]

Mode = Literal["reject", "observe", "proxy"]

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
        self._services = Services(self.answer)

    def answer(self, request: HttpRequest) -> Reply:
        """The reply to a request, whatever it is."""
        way = route(request.target, host_of(request))
        if way.page == "chat":
            return (None if way.wire else self._serve(request, way)) or self._chat(request, way)
        if request.method not in {"GET", "HEAD"}:
            return plain(405, [("content-type", "text/plain"), ("allow", "GET, HEAD")], b"Only GET.\n")
        return self._page(request, way)

    def _page(self, request: HttpRequest, way: Route) -> Reply:
        query = dict(way.query)
        if way.page == "home":
            return home.page(request.headers, self.mode, self.scripts)
        last = query.get("last", "")
        body = (
            self.journal.index()
            if way.page == "index"
            else self.journal.report(way.case, way.nonce, int(last) if last.isdecimal() else 0)
        )
        return plain(200, [("content-type", "application/json"), ("cache-control", "no-store")], body)

    def enter(self, entry: Entry, size: int) -> None:
        """Notes an exchange; `size` is that of the request's body, in bytes."""
        response = entry.exchange.response
        self.journal.add(entry, 2000 + size + (len(response.body) if response else 0))
        if self.watch:
            self.watch(entry)

    def too_large(self, request: HttpRequest) -> Reply:
        """The reply to a request whose body is not worth reading."""
        way = route(request.target, host_of(request))
        dialect = self._dialect(way, Request(way.wire, way.vendor, {}))
        return refuse(dialect, dialect.too_large())

    def _serve(self, http: HttpRequest, way: Route) -> Reply | None:
        """A service beside chat, where the path is one's."""
        reply = (
            self._services.answer(http, way, locks=self.mode == "reject")
            if way.case in self.scripts
            else None
        )
        if reply:
            request = Request("", way.vendor, {}, way.url, http.method, without_secrets(http.headers))
            self.enter(Entry(way.case, way.nonce or "", Exchange(request, reply.response)), len(http.body))
        return reply

    # one chat request -------------------------------------------------------------------------------------

    def _chat(self, http: HttpRequest, way: Route) -> Reply:
        headers = without_secrets(http.headers)
        request = Request(way.wire, way.vendor, {}, way.url, http.method, headers)
        verdicts: tuple[Verdict, ...] = ()
        refusal, unlocked = self._turned_away(http, way, request)
        if refusal is None:
            try:
                request, verdicts = examined(http, way, headers)
            except (ValueError, RecursionError) as error:
                refusal = self._dialect(way, request).no_json(str(error))
        verdicts = (*unlocked, *verdicts)
        dialect = self._dialect(way, request)
        reply = refuse(dialect, refusal) if refusal else self._judged(dialect, way, verdicts)
        entry = Entry(way.case, way.nonce or "", Exchange(request, reply.response), verdicts)
        self.enter(entry, len(http.body))
        return reply if is_short(reply) else replace(reply, left=partial(setattr, entry, "left"))

    def _turned_away(
        self, http: HttpRequest, way: Route, request: Request
    ) -> tuple[Refusal | None, tuple[Verdict, ...]]:
        """What needs no body: a refusal (no such path, case or method; no key), or that it was let pass."""
        dialect = self._dialect(way, request)
        if not way.wire or http.method != "POST":
            return dialect.no_such(http.method, way.path), ()
        if way.case not in self.scripts:
            known = ", ".join(sorted(self.scripts))
            return Refusal(f"There is no case {way.case!r} here. The cases are: {known}.", 404), ()
        refusal = dialect.locked(http.headers, dict(way.query))
        return (None, (keyless(way.wire, refusal),)) if refusal and self.mode == "observe" else (refusal, ())

    def _judged(self, dialect: Dialect, way: Route, verdicts: Sequence[Verdict]) -> Reply:
        forged = dialect.forged(strict=way.case != OPEN_CASE)
        if self.mode == "observe":
            reply = self._step(dialect, way)
            noted = notes([v for verdict in verdicts for v in verdict.violations], forged)
            return reply.noting(noted) if noted else reply
        broken = objection(verdicts)
        missing = dialect.no_model(dialect.ticket.request.model)
        refusal = missing or (broken.refusal if broken else None) or forged
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


def examined(
    http: HttpRequest, way: Route, headers: Mapping[str, str]
) -> tuple[Request, tuple[Verdict, ...]]:
    """The request and what the rules say of it. Raises ValueError or RecursionError where it is no JSON object."""
    judge = judged if len(http.body) < _REMEMBERED else judged.__wrapped__
    return judge((way.wire, way.vendor), http.method, way.url, tuple(headers.items()), http.body)


@lru_cache(1024)
def judged(
    service: tuple[str, str], method: str, url: str, headers: tuple[tuple[str, str], ...], body: bytes
) -> tuple[Request, tuple[Verdict, ...]]:
    """The same for the same request: clients repeat themselves."""
    wire, vendor = service
    request = wires.request(method, url, dict(headers), body, vendor)
    return request, tuple([verdict(rule, request) for rule in rules(wire, vendor, request.model)])


def keyless(wire: str, refusal: Refusal) -> Verdict:
    """What the provider would have said to a request without a key, as a broken rule."""
    rule = Rule(
        id="KEY-001",
        level=Level.MUST,
        kind=Kind.REJECT,
        wire=wire,
        sentence="A request carries a key, and the headers that the provider asks for.",
        check=lambda _: iter(()),
        source=("strict server",),
        refusal=refusal,
    )
    return Verdict(rule, 1, (Violation(rule, "", refusal.message),))


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
