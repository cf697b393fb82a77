"""Routes of requests while recording. The client and the cassette keep the original URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["routed", "target"]


def routed(http: Any, request: Any, routes: Mapping[str, str], accept_encoding: str | None) -> Any:
    """Returns the request to send, with our accept-encoding. The longest matching route changes its host."""
    url = target(str(request.url), routes)
    if url == str(request.url) and accept_encoding is None:
        return request
    headers = http.Headers(request.headers)
    if url != str(request.url):
        headers["x-forwarded-host"] = request.url.netloc.decode()
        headers["host"] = http.URL(url).netloc.decode()
    if accept_encoding is not None:
        headers["accept-encoding"] = accept_encoding
    return http.Request(
        request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
    )


def target(url: str, routes: Mapping[str, str]) -> str:
    """Returns the URL, with its beginning replaced by a matching route."""
    for origin in sorted(routes, key=len, reverse=True):
        prefix = origin.rstrip("/")
        if url.startswith(prefix) and url[len(prefix) :][:1] in ("", "/", "?", "#"):
            return routes[origin].rstrip("/") + url[len(prefix) :]
    return url
