"""httpx's clients for chats: without cookies, and without merging the same headers into each request again.

It is loaded when it is first needed, because httpx takes longer to import than this package.
"""

from __future__ import annotations

from typing import Any

import httpx

__all__ = ["AsyncClient", "Client"]


class _NoCookies(httpx.Cookies):
    """Stores no cookies, because chats must not share hidden state."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Leaves the cookies in the response."""


_NO_COOKIES = _NoCookies()


class _Plain:
    cookies = property(lambda _: _NO_COOKIES)
    headers: httpx.Headers

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._usual = dict(self.headers)

    def build_request(self, method: str, url: httpx.URL | str, **what: Any) -> httpx.Request:
        """Returns a request to a whole URL."""
        return httpx.Request(method, url, headers=self._usual | what.pop("headers"), **what)


class Client(_Plain, httpx.Client):
    """The client for blocking calls."""


class AsyncClient(_Plain, httpx.AsyncClient):
    """The client for async calls."""
