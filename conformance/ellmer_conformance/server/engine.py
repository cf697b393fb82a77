"""The strict server without sockets: it takes a request and returns the provider's reply.

The request is judged (`request_check.py`). If nothing is wrong, the next step of the script answers it. A refused
request uses no step. If the path names no case and no conversation, the answer depends on the request alone. In
`observe` mode, no request is refused for its content: the violations, including a missing key, are noted in a header
of the reply and in the report. In `proxy` mode, the upstream answers (`proxy.py`), and the engine serves only the
pages.
"""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from functools import partial
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from ellmer_core.base.budget import memory_of

from ..contract.observed.exchange import Request
from ..contract.rule import Refusal
from ..scenarios.script import Script
from . import status_page
from .chat_api_lookup import chat_api_of
from .chat_apis.base import ChatApi, Ticket
from .http.messages import HttpRequest, Reply, is_long, is_short, plain
from .http.routes import OPEN_CASE, Route, is_own, route_of
from .journal import Entry, Journal, without_secrets
from .judging.request_check import ANY, CheckedRequest, check_request, judged_with_stored
from .replies import refuse, render
from .services import Services
from .services.message_threads import names_thread
from .services.openai.stored_responses import names_items
from .translated import translation_of

if TYPE_CHECKING:
    from .scripts.script_player import ScriptPlayer

Mode = Literal["reject", "observe", "proxy"]

_REBOUND = (
    b"Call this server by its address, as localhost, or start it with --name and the name you called it by.\n"
)
#: Requests beyond a case's script, after which a loop is ended: some clients give up after fifty.
PATIENCE = 60
_ENDLESS = Refusal(
    f"The script of this case ended {PATIENCE} requests ago. The client may be in an endless loop.", 400
)
_CONVERSATIONS = 65_536  # whose place in the script is remembered
_REFERENCES = {
    "background",
    "previous_response_id",
    "conversation",
    "cachedContent",
    "cached_content",
    "thread",
}  # to what the server keeps
_SESSION = 200  # characters of a session's name


@dataclass
class Engine:
    """The state of the server: the position of each conversation, and the log of events."""

    scripts: Mapping[str, Script]
    mode: Mode = "reject"
    journal: Journal = field(default_factory=Journal)
    watch: Callable[[Entry], None] | None = None  # is called for every chat request
    names: frozenset[str] = frozenset()  # that the server is called by, besides addresses and localhost
    today: date | None = None  # the day as of which requests are judged
    player: ScriptPlayer | None = None  # of the script for requests that name no case
    _answered: dict[tuple[str, str], int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)  # long requests are answered in other threads

    def __post_init__(self) -> None:
        anything = {OPEN_CASE: Script((ANY,))}
        loaded = isinstance(
            self.scripts, dict
        )  # other mappings may load their scripts when they are asked for one
        self.scripts = anything | dict(self.scripts) if loaded else ChainMap(anything, self.scripts)  # type: ignore[arg-type]  # it is only read
        self._services = Services(self.answer)
        self._aliases = frozenset(name for name in self.names if not is_own(name))

    def answer(self, request: HttpRequest) -> Reply:
        """Returns the reply to any request."""
        if self._aliases and request.host.partition(":")[0].lower() in self._aliases:
            headers = {name: each for name, each in request.headers.items() if name != "x-forwarded-host"}
            request = request._replace(headers=headers | {"host": "localhost"}, head=b"")
        route = route_of(request.target, request.host)
        if route.page == "chat":
            if (not route.wire or route.path.endswith("Predict")) and (
                found := self._translated(request, route)
            ):
                return found
            asks = route.wire and request.method == "POST"
            return (None if asks else self._serve(request, route)) or self._chat(request, route)
        if request.method not in {"GET", "HEAD"}:
            return plain(405, [("content-type", "text/plain"), ("allow", "GET, HEAD")], b"Only GET.\n")
        return self._page(request, route)

    def _translated(self, http: HttpRequest, route: Route) -> Reply | None:
        """Returns the reply to a request that repeats another format, or `None`. The journal has it in that format."""
        found = (
            translation_of(http, route, self._services.stored_for(route, "gemini"), self.today)
            if route.case in self.scripts
            else None
        )
        if not found:
            return None
        reply = found.refused or found.back(self.answer(found.request or http))
        if found.refused:
            request = Request("", route.provider, {}, route.url, http.method, without_secrets(http.headers))
            self.enter(Entry(route.case, route.nonce or "", request, reply), http.body)
        return reply

    def _called_by_name(self, request: HttpRequest) -> bool:
        """Tells whether the client addresses this server by its name. Otherwise, a web page could point its own host
        name here (DNS rebinding) and read this server's data.
        """
        address = request.headers.get("host", "")
        try:
            host = urlsplit(f"//{address}").hostname or ""
        except ValueError:
            return False
        if "]" in address and address.rpartition("]")[2][:1] not in {
            "",
            ":",
        }:  # Python 3.11 takes `[::1].example` for `::1`
            return False
        if host in self.names or "." not in host or host.endswith(".localhost"):
            return True  # a page of the internet cannot have a name of one word
        try:
            return bool(ip_address(host))
        except ValueError:
            return not host

    def _page(self, request: HttpRequest, route: Route) -> Reply:
        query = dict(route.query)
        if not self._called_by_name(request):
            return plain(403, [("content-type", "text/plain; charset=utf-8")], _REBOUND)
        if route.page == "home":
            return status_page.page(request.headers, self.mode)
        last = query.get("last", "")
        count = int(last[:9]) if last.isascii() and last.isdecimal() else 0
        if route.page == "index":
            body = self.journal.index(self.player.shown() if self.player else None)
        elif route.page == "journal":
            body = self.journal.everything(count)
        else:
            body = self.journal.report(route.case, route.nonce, count)
        return plain(200, [("content-type", "application/json"), ("cache-control", "no-store")], body)

    def enter(self, entry: Entry, body: bytes) -> None:
        """Notes an exchange; `body` is that of the request."""
        self.journal.add(entry, memory_of(body))
        if self.watch:
            self.watch(entry)

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request with a body that is too large."""
        route = route_of(request.target, request.host)
        api = self._api(route, Request(route.wire, route.provider, {}))
        return refuse(api, api.too_large())

    def _serve(self, http: HttpRequest, route: Route) -> Reply | None:
        """Returns the reply of a service besides chat, if the path is one's."""
        if route.case not in self.scripts:
            return None
        reply = self._services.answer(http, route, locks=self.mode == "reject")
        if not reply and not route.wire:
            reply = self._services.missing(http, route)
        if reply:
            request = Request("", route.provider, {}, route.url, http.method, without_secrets(http.headers))
            self.enter(Entry(route.case, route.nonce or "", request, reply), http.body)
        return reply

    # one chat request -------------------------------------------------------------------------------------

    def _chat(self, http: HttpRequest, route: Route) -> Reply:
        found = self._no_case(http, route) or self._checked(http)
        full = self._continued(found, route)
        with_files = self.with_uploads(full.request, route.case, route.nonce or "")
        full = full if with_files is full.request else replace(full, request=with_files)
        reply, matched = (full.reply, "") if self._is_open(route) else self._next(full, route, http.headers)
        if reply.status == 200 and _is_stored(found.request):
            reply = self._services.stored(full.request, reply, route, memory_of(http.body))
        reply = reply.noting(full.noted) if full.noted else reply
        entry = Entry(route.case, route.nonce or "", found.request, reply, full.verdicts, matched=matched)
        self.enter(entry, http.body)
        return reply if is_short(reply) else replace(reply, left=partial(setattr, entry, "left"))

    def _checked(self, http: HttpRequest) -> CheckedRequest:
        return check_request(http, observe=self.mode == "observe", today=self.today)

    def _continued(self, found: CheckedRequest, route: Route) -> CheckedRequest:
        """Returns a request with the stored items that it refers to. An unknown id is refused."""
        request = found.request
        if found.refusal or (_REFERENCES.isdisjoint(request.body) and not names_items(request.body)):
            return found
        full = self._services.continued(request, route)
        if isinstance(full, Request):
            observe = self.mode == "observe"
            return found if full is request else judged_with_stored(found, full, observe=observe)
        return found if self.mode == "observe" else replace(found, refusal=full)

    def _no_case(self, http: HttpRequest, route: Route) -> CheckedRequest | None:
        if route.case in self.scripts or not route.wire or http.method != "POST":
            return None
        cases = status_page.named(self.scripts)
        near = get_close_matches(route.case, cases, 1)
        request = Request(
            route.wire, route.provider, {}, route.url, http.method, without_secrets(http.headers)
        )
        meant = f" Did you mean {near[0]!r}?" if near else ""
        sentence = f"There is no case {route.case!r} here.{meant} The cases are: {', '.join(cases)}."
        return CheckedRequest(request, refusal=Refusal(sentence, 404))

    def with_uploads(self, request: Request, case: str, nonce: str) -> Request:
        """Returns a request with the files that the client uploaded in the conversation in place of their ids."""
        return self._services.with_uploads(request, case, nonce)

    def stored_files(self, case: str, nonce: str, wire: str) -> list[str]:
        """Returns the ids of the files that the client uploaded in a conversation."""
        return [*self._services.files_of(case, nonce, wire)]

    def _is_open(self, route: Route) -> bool:
        """Tells whether the path names no conversation, so that every client gets the same answer."""
        is_any = route.case == OPEN_CASE and not route.nonce and self.scripts[OPEN_CASE].steps == (ANY,)
        return is_any and self.player is None

    def _next(self, found: CheckedRequest, route: Route, headers: Mapping[str, str]) -> tuple[Reply, str]:
        """Returns the next reply of a conversation, and the entry of the script that it comes from."""
        session = route.nonce or (headers.get("x-session-id", "")[:_SESSION] if self.player else "")
        api = self._api(route, found.request, session)
        if found.refusal:
            return refuse(api, found.refusal), ""
        steps, number = self.scripts[route.case].steps, api.ticket.number
        if number >= len(steps) + PATIENCE and route.case != OPEN_CASE:
            return refuse(api, _ENDLESS), ""
        with self._lock:
            self._answered[route.case, session] = number + 1
            if len(self._answered) > _CONVERSATIONS:
                del self._answered[next(iter(self._answered))]
            if self.player and route.case == OPEN_CASE:
                return self.player.reply(api, number + 1, session, headers)
        return render(api, steps[min(number, len(steps) - 1)]), ""

    def _api(self, route: Route, request: Request, session: str | None = None) -> ChatApi:
        number = self._answered.get((route.case, route.nonce or "" if session is None else session), 0)
        return chat_api_of(Ticket(request, route.case, number))


def _is_stored(request: Request) -> bool:
    """Tells whether the API keeps the answer to a request."""
    if names_thread(request):
        return True
    return request.wire == "openai-responses" or (
        request.wire == "openai-chat" and request.body.get("store") is True
    )


class BesideTheLoop:
    """An engine whose long requests are answered in other threads, so that other clients do not wait for them.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def answer(self, request: HttpRequest) -> Reply | Awaitable[Reply]:
        """Returns the reply, or a promise of it."""
        if not (is_long(request) or _reads_journal(request)):
            return self._engine.answer(request)
        return asyncio.get_running_loop().run_in_executor(None, self._engine.answer, request)

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request with a body that is too large."""
        return self._engine.too_large(request)


def _reads_journal(request: HttpRequest) -> bool:
    """Tells whether a request is for what is kept of others, which may be 256 MB."""
    path = request.target.partition("?")[0]
    return request.method == "GET" and ("/journal" in path or "/report" in path)
