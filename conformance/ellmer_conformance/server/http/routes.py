"""Parses the path of a request: `/c/<case>/<nonce>` and then the provider's own path, or that path alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from ...contract import readers
from ...contract.rules import WIRES
from ...scenarios.canary_keys import is_canary

#: The case that answers whatever is legal; the one of a path that names none.
OPEN_CASE = "any"

_SHORT = 1000  # characters of a target and a host that are remembered
_NAME = 200  # characters of a case and of a nonce
_SERVER = re.compile(r"https?://[^/?#]*", re.IGNORECASE)

#: Parameters whose value is kept: any other one may be a key.
SHOWN = frozenset(
    {"alt", "api-version", "api_version", "beta", "limit", "after", "before", "order", "purpose", "stream"}
    | {
        "page_size",
        "pageSize",
        "pageToken",
        "page",
        "endpoint",
        "include",
        "include[]",
        "uploadType",
        "upload_id",
    }
)

#: An address, a name of one word as of a service in a container, or a name under a domain that the internet does not have.
_LOCAL_NAME = re.compile(r"\d{1,3}(\.\d{1,3}){3}|[^.]+|.*\.(local|localhost|internal|lan|home|test)")

_CASE = re.compile(r"/c/(?P<case>[^/?]+)(?:/(?P<nonce>[^/?]+))?(?P<rest>/[^?]*)?")
#: What the paths of one provider alone begin with, and its host.
_HOSTS = {"/api/v1/": "openrouter.ai"}


@dataclass(frozen=True)
class Route:
    """What the target of a request asks for.

    `path` and `query` are the provider's part of it. `url` is that part for `wires`, with a case, a version and
    without a key. `wire` and `provider` are empty if no provider has such a path, or if its format has no rules.
    """

    page: Literal["home", "index", "journal", "report", "chat"]
    case: str
    nonce: str | None
    path: str = ""
    query: tuple[tuple[str, str], ...] = ()
    url: str = ""
    wire: str = ""
    provider: str = ""


def route_of(target: str, host: str) -> Route:
    """Returns the route. `host` is the `Host` header, which names the provider of a rerouted client.

    A nonce may name it, too: `/c/one_tool/7@api.deepseek.com`. Short routes are cached.
    """
    return _remembered(target, host) if len(target) + len(host) < _SHORT else parse_route(target, host)


def parse_route(target: str, host: str) -> Route:
    """Returns the route without caching it. The target may contain a host, too, as clients of proxies write it."""
    target = _SERVER.sub("", target)
    path, _, query_text = (target if target.startswith("/") else f"/{target}").partition("?")
    match = _CASE.fullmatch(path)
    case = unquote(match["case"])[:_NAME] if match else OPEN_CASE
    nonce = unquote(match["nonce"] or "")[:_NAME] if match else ""
    nonce = "" if nonce == "-" else nonce  # as `url` writes it
    rest = (match["rest"] or "") if match else path
    query = tuple(parse_qsl(query_text, keep_blank_values=True))
    if match and (rest == "/report" or (nonce == "report" and not rest)):
        return Route("report", case, None if nonce == "report" else nonce, query=query)
    if path == "/journal":
        return Route("journal", case, nonce, query=query)
    if path == "/reports" or rest in {"", "/"}:
        return Route("index" if path == "/reports" else "home", case, nonce)
    url = _url(case, nonce, rest, query)
    named = nonce.partition("@")[2] or (_host_of(rest) if is_own(host) else host)
    wire, provider = readers.detect(url, None, {"host": named}) or ("", "")
    if wire not in WIRES:
        wire = provider = ""
    return Route("chat", case, nonce, rest, query, url, wire, provider)


def _host_of(path: str) -> str:
    """Returns the host whose paths begin as this one does; empty if several providers have such paths."""
    return next((host for prefix, host in _HOSTS.items() if path.startswith(prefix)), "")


def is_own(host: str) -> bool:
    """Tells whether a host is this server's: an address, or a name that only a local network has and no provider."""
    if host.startswith("["):
        return True
    name = host.partition(":")[0].lower()
    named = name in readers.LOCAL_SERVERS or readers.host_of(name) or readers.provider_of(host) != name
    return not named and _LOCAL_NAME.fullmatch(name) is not None


def _url(case: str, nonce: str, path: str, query: Iterable[tuple[str, str]]) -> str:
    version = "/v1" if path.rstrip("/") == "/messages" else ""  # a base URL may have left it out
    shown = urlencode(
        [(name, value if name in SHOWN or is_canary(value) else "***") for name, value in query]
    )
    place = f"/c/{quote(case, safe='')}/{quote(nonce, safe='') or '-'}{version}{path}"
    return f"http://127.0.0.1{place}" + (f"?{shown}" if shown else "")


_remembered = lru_cache(4096)(parse_route)
