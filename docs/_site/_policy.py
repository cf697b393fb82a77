"""The security policy of the page of the judge: a browser refuses every request from it to another host."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

__all__ = ["with_policy"]

_INLINE = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/)[^>]*>(.*?)</script>", re.DOTALL)
_DIRECTIVES = (
    *("default-src 'none'", "connect-src 'self'", "img-src 'self' data:", "font-src 'self'"),
    *("style-src 'self' 'unsafe-inline'", "worker-src 'self' blob:", "base-uri 'self'", "form-action 'none'"),
    "manifest-src 'self'",
)


def with_policy(page: str) -> str:
    """Returns the page with a policy. Scripts come from this site, or are in the page with exactly this text."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in dict.fromkeys(_INLINE.findall(page)))
    policy = "; ".join([*_DIRECTIVES, f"script-src 'self' 'wasm-unsafe-eval' {hashes}".strip()])
    return page.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{policy}">', 1)


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()
