"""The strict local server: judges with the rules, plays the script.

    with StrictServer({"hello": Script((Answer((Say("Hi"),)),))}) as server:
        base_url = server.url("hello", "1")

A request comes in through `http/`, finds its way in `http/routes.py`, is judged in `request_check.py`, and the next step of
its script (`engine.py`) is written in a provider's own bytes by one of the `dialects/`; `reply.py` says how the bytes
travel. Only `http.py` and `strict.py` do I/O.
"""

from .engine import Mode
from .journal import Entry
from .status_page import greeting
from .strict_server import PortInUse, StrictServer

__all__ = ["Entry", "Mode", "PortInUse", "StrictServer", "greeting"]
