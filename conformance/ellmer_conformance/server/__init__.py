"""The strict local server: judges with the rules, plays the script.

    with StrictServer({"hello": Script((Answer((Say("Hi"),)),))}) as server:
        base_url = server.url("hello", "1")

A request comes in through `http/`, finds its way in `http/routes.py`, and is judged in `request_check.py`. One of the
`dialects/` writes the next step of its script (`engine.py`) in a provider's own bytes, and `replies/` says how the bytes
are sent. Only `http/` and `strict_server.py` do I/O.
"""

from .engine import Mode
from .journal import Entry
from .status_page import greeting
from .strict_server import PortInUse, StrictServer

__all__ = ["Entry", "Mode", "PortInUse", "StrictServer", "greeting"]
