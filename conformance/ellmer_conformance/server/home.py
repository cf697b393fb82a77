"""The page at `/`: what this is, and where to point a client."""

from __future__ import annotations

from collections.abc import Iterable

from .reply import Reply, plain

__all__ = ["BASE_URLS", "page"]

#: What to append to the URL of a case to get the base URL of each provider's own SDK.
BASE_URLS = {"OpenAI": "/v1", "Anthropic": "", "Gemini": ""}


def page(host: str, mode: str, cases: Iterable[str]) -> Reply:
    """Plain text, for a person with curl."""
    base = f"http://{host or '127.0.0.1'}"
    lines = [
        f"The strict server of ellmer-conformance, in {mode} mode.",
        "",
        "It takes what the real APIs take and refuses what they refuse, in their words. Any key will do.",
        "",
        *(f"  {name:10} {base}{path}" for name, path in BASE_URLS.items()),
        "",
        f"A scripted case: put {base}/c/<case>/<nonce> before the provider's path. A nonce of your own choice",
        f"makes a fresh conversation; {base}/c/<case>/<nonce>/report tells what happened in it.",
        "",
        *(f"  {name}" for name in cases),
        "",
    ]
    return plain(200, [("content-type", "text/plain; charset=utf-8")], "\n".join(lines).encode())
