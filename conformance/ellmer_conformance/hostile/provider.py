"""The server of the attacks: `conformance serve --hostile`.

The URL names the attack (`/c/cut-call/1/v1`); a URL without one gets an attack by the seed. `/journal` returns what each client
did: when it disconnected, whether it sent results of calls, and whether it followed a redirect with its key.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from random import Random
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ..server.chat_api_lookup import chat_api_of
from ..server.chat_apis.base import Ticket
from ..server.http.messages import HttpRequest, Reply, plain
from ..server.http.routes import OPEN_CASE, Route, route_of
from ..server.judging.request_check import check_request
from .attacks import ATTACKS, Attack, Target

__all__ = ["HostileProvider", "Visit"]

_KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_TOOL = re.compile(rb'"name"\s*:\s*"([\w-]+)"')
_RESULT = re.compile(
    rb'"(tool_call_id|tool_use_id|toolUseId|functionResponse|function_call_output|tool_name)"'
)
_MOST = 10_000  # visits that are remembered


@dataclass
class Visit:
    """One request, and what the client did.

    Args:
        attack: The name of the attack.
        nonce: The name of the conversation in the URL.
        wire: The wire format.
        streamed: Whether the client asked for a stream.
        results: Whether the request has results of calls. After an answer that was cut off, it has none, or they are errors.
        left: The seconds after which the client left, `None` if it did not leave early.
        stolen: Whether it followed a redirect to another host, with its key.
    """

    attack: str
    nonce: str
    wire: str
    streamed: bool
    results: bool = False
    left: float | None = None
    stolen: bool = False


@dataclass
class HostileProvider:
    """Answers the first request of each conversation with an attack, and all later ones as a provider does.

    Args:
        seed: The seed of the choices.

    Examples:
        >>> from ellmer_conformance.server import StrictServer
        >>> with StrictServer(handler=HostileProvider(7)) as server:
        ...     server.url("cut-call", "1").removeprefix(server.origin)
        '/c/cut-call/1'
    """

    seed: int | str = 0
    visits: list[Visit] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _count: int = 0

    def answer(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request: an attack, or what a provider answers after it."""
        if request.target.startswith("/stolen"):
            return self._stolen(request)
        if request.target == "/journal":
            return plain(200, [("content-type", "application/json")], json.dumps(self.journal()).encode())
        route = route_of(request.target, request.host)
        if route.page != "chat" or not route.wire or request.method != "POST":
            return plain(404, [("content-type", "text/plain")], _HELP.encode())
        return self._attack(request, route)

    def too_large(self, request: HttpRequest) -> Reply:  # noqa: ARG002 - the server's protocol
        """Returns the reply to a request that is too large."""
        return plain(413, [("content-type", "text/plain")], b"The request is too large.\n")

    def journal(self) -> list[dict[str, Any]]:
        """Returns what the clients did, oldest first."""
        return [asdict(visit) for visit in self.visits]

    def _attack(self, http: HttpRequest, route: Route) -> Reply:
        found = check_request(http, observe=True)
        attack, random = self._chosen(route, streamed=found.request.stream)
        visit = Visit(attack.name, route.nonce or "", route.wire, found.request.stream)
        visit.results = _RESULT.search(http.body) is not None
        again = bool(visit.nonce) and any(v.nonce == visit.nonce for v in self.visits)
        self._note(visit)
        target = Target(
            chat_api_of(Ticket(found.request, route.case, 0)),
            _tool(http.body),
            _key(http.headers, http.target),
            _elsewhere(http.headers),
            random,
        )
        reply = target.legal() if visit.results or again else attack.reply(target)
        return replace(reply, left=partial(self._left, visit, time.monotonic()))

    def _chosen(self, route: Route, *, streamed: bool) -> tuple[Attack, Random]:
        """Returns the attack that the URL names, or else one by the seed and the number of the request."""
        self._count += 1
        random = Random(f"{self.seed}/{route.nonce or self._count}")  # noqa: S311 - of an attack
        if route.case != OPEN_CASE and route.case in ATTACKS:
            return ATTACKS[route.case], random
        fitting = [each for each in ATTACKS.values() if each.applies(route.wire, streamed=streamed)]
        return random.choice(fitting), random

    def _stolen(self, request: HttpRequest) -> Reply:
        with self._lock:
            if self.visits and _key(request.headers, request.target):
                self.visits[-1].stolen = True
        return plain(404, [("content-type", "text/plain")], b"")

    def _note(self, visit: Visit) -> None:
        with self._lock:
            self.visits.append(visit)
            del self.visits[:-_MOST]

    def _left(self, visit: Visit, began: float, _written: int) -> None:
        visit.left = round(time.monotonic() - began, 2)


_HELP = "POST a chat request to /c/<attack>/<name>/<the provider's path>. The attacks are: {}.\n".format(
    ", ".join(ATTACKS)
)


def _tool(body: bytes) -> str:
    """Returns the name of a tool that the request declares."""
    found = _TOOL.search(body, body.find(b'"tools"') if b'"tools"' in body else 0)
    return found[1].decode() if found else "get_weather"


def _key(headers: Mapping[str, str], target: str) -> str:
    """Returns the client's key."""
    named = next((headers[name] for name in _KEYS if headers.get(name)), "")
    in_query = dict(parse_qsl(urlsplit(target).query)).get("key", "")
    return named.removeprefix("Bearer ") or in_query


def _elsewhere(headers: Mapping[str, str]) -> str:
    """Returns this server's address under another host name."""
    name, _, port = headers.get("host", "127.0.0.1").rpartition(":")
    return f"http://{'localhost' if name.startswith('127.') else '127.0.0.1'}:{port}"
