"""The strict local server, which judges with the rules and answers from the script.

    with StrictServer({"hello": Script((Answer((Say("Hi"),)),))}) as server:
        base_url = server.url("hello", "1")

A chat request passes, in this order: `http/connection.py` (bytes to a request), `engine.py`, `http/routes.py` (which case,
which provider), `judging/request_check.py` and `judging/verdict_cache.py` (the rules), `replies.py` (which answer), the
provider's module in `chat_apis/` (the provider's own bytes), `journal.py`. Other endpoints are in `services/`. Only
`http/connection.py`, `proxy.py` and `strict_server.py` do I/O.
"""

from .engine import Mode
from .journal import Entry
from .status_page import greeting
from .strict_server import PortInUse, StrictServer

__all__ = ["Entry", "Mode", "PortInUse", "StrictServer", "greeting"]
