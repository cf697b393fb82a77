"""Chats for web clients: adapters to the protocols that their libraries speak, `vercel` and `ag_ui`, and an ASGI app,
`endpoint()`.

    from ellmer_core.web import endpoint, vercel

    app = endpoint(vercel, lambda conversation, scope: chats[user_of(scope), conversation])

It may import everything below it. What a browser sends is untrusted.
"""

from . import ag_ui, vercel
from .asgi import Endpoint, Scope, endpoint
from .exchange import WebRequest

__all__ = ["Endpoint", "Scope", "WebRequest", "ag_ui", "endpoint", "vercel"]
