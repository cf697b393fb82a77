"""Where a request wants to go: `/c/<case>/<nonce>` and then the provider's own path, or that path alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import parse_qsl, unquote

from .. import wires

__all__ = ["OPEN_CASE", "Route", "route"]

#: The case that answers whatever is legal; the one of a path that names none.
OPEN_CASE = "any"

_CASE = re.compile(r"/c/(?P<case>[^/?]+)(?:/(?P<nonce>[^/?]+))?(?P<rest>/[^?]*)?")


@dataclass(frozen=True)
class Route:
    """What a target means. `wire` and `vendor` are empty where no provider has such a path."""

    page: Literal["home", "report", "chat"]
    case: str
    nonce: str | None
    path: str = ""  # the provider's
    query: tuple[tuple[str, str], ...] = ()
    wire: str = ""
    vendor: str = ""

    @property
    def url(self) -> str:
        """The target in a form that `wires` reads: always with a case."""
        query = "&".join(f"{name}={value}" for name, value in self.query if name != "key")
        return f"http://127.0.0.1/c/{self.case}/{self.nonce or '-'}{self.path}" + (
            f"?{query}" if query else ""
        )


@lru_cache(4096)
def route(target: str, host: str) -> Route:
    """Finds the way. `host` is the `Host` header: a client that was rerouted still names its vendor there."""
    path, _, query_text = target.partition("?")
    query = tuple(parse_qsl(query_text, keep_blank_values=True))
    match = _CASE.fullmatch(path)
    case = unquote(match["case"]) if match else OPEN_CASE
    nonce = unquote(match["nonce"] or "") if match else ""
    rest = (match["rest"] or "") if match else path
    if match and (rest == "/report" or (nonce == "report" and not rest)):
        return Route("report", case, None if nonce == "report" else nonce)
    if rest in {"", "/"}:
        return Route("home", case, nonce)
    way = Route("chat", case, nonce, rest, query)
    found = wires.detect(_canonical(way), None, {"host": host})
    return Route("chat", case, nonce, rest, query, *found) if found else way


def _canonical(way: Route) -> str:
    """The URL with the version that a base URL may have left out."""
    path = f"/v1{way.path}" if way.path in {"/messages", "/messages/"} else way.path
    return f"http://127.0.0.1/c/case/nonce{path}"
