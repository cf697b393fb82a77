"""Reads the head of a request: its target, the headers for the journal, and whether the key is accepted.

A client sends the same head with all its requests, except for the length of the body.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ...contract.exchange import Request
from ...contract.rule import Refusal
from ..chat_api_lookup import chat_api_of
from ..chat_apis.base import Ticket
from ..http.http_request import LENGTH, HttpRequest
from ..http.routes import Route, route
from ..journal import without_secrets

__all__ = ["RequestHead", "request_head"]

_LONG = 8192  # characters of a head that is not remembered


class RequestHead(NamedTuple):
    """The head of a request to a provider.

    `headers` are those that may be shown, without `LENGTH`. `missing` is the error for an unknown path, and `locked`
    the error for a missing or wrong key.
    """

    way: Route
    method: str
    headers: dict[str, str]
    missing: Refusal | None
    locked: Refusal | None

    def bare(self, headers: dict[str, str]) -> Request:
        """Returns the request without its body."""
        return Request(self.way.wire, self.way.provider, {}, self.way.url, self.method, headers)


def request_head(http: HttpRequest) -> RequestHead:
    """Returns the head of a request. Short heads are cached."""
    headers = dict(http.headers)
    headers.pop(LENGTH, None)
    short = len(http.target) + sum(map(len, headers.values())) < _LONG
    find = _request_head if short else _request_head.__wrapped__
    return find(http.method, http.target, tuple(headers.items()))


@lru_cache(1024)
def _request_head(method: str, target: str, items: tuple[tuple[str, str], ...]) -> RequestHead:
    headers = dict(items)
    way = route(target, HttpRequest(method, target, headers).host)
    head = RequestHead(way, method, without_secrets(headers), None, None)
    api = chat_api_of(Ticket(head.bare(head.headers), way.case, 0))
    if not way.wire or method != "POST":
        return head._replace(missing=api.no_such(method, way.path))
    return head._replace(locked=api.locked(headers, dict(way.query)))
