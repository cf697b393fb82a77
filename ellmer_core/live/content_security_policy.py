"""The content security policy of the chat page: it loads only itself, and a model's text cannot send data elsewhere."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from urllib.parse import urlsplit

from htmltools import TagList
from shiny import App, Inputs, Outputs, Session
from starlette.types import Message, Receive, Scope, Send

from ..errors import UsageError

__all__ = ["ChatApp", "origins"]

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class ChatApp(App):
    """A Shiny app whose page has a content security policy."""

    def __init__(
        self, page: TagList, server: Callable[[Inputs, Outputs, Session], None], image_hosts: Sequence[str]
    ) -> None:
        super().__init__(page, server)
        html = self.ui["html"] if isinstance(self.ui, dict) else ""
        self.policy = policy(INLINE.findall(html), image_hosts).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(b"content-security-policy", self.policy), (b"x-content-type-options", b"nosniff")]
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        await super().__call__(scope, receive, sent)


def policy(scripts: Iterable[str], image_hosts: Iterable[str]) -> str:
    """Returns the policy of a page with these inline scripts."""
    hashes = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts]
    allowed = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *hashes],
        "style-src": ["'self'", "'unsafe-inline'"],  # sizes and colours that shinychat and tools set
        "img-src": ["'self'", "data:", "blob:", *image_hosts],
        "media-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in allowed.items())


def origins(hosts: Sequence[str]) -> list[str]:
    """Returns the hosts in the form of a policy: `https://images.example.com`."""
    return [_origin(host) for host in hosts]


def _origin(host: str) -> str:
    url = urlsplit(host if "://" in host else f"https://{host}")
    origin = f"{url.scheme}://{url.netloc}"
    if url.scheme not in {"http", "https"} or not re.fullmatch(r"[\w.-]+(:\d+)?", url.netloc) or url.path:
        raise UsageError(f'image_hosts= are hosts such as "images.example.com", not {host!r}.')
    return origin
