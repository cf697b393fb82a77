"""The strict local server, which judges with the rules and plays the script.

    with StrictServer({"hello": Script((Answer((Say("Hi"),)),))}) as server:
        base_url = server.url("hello", "1")

`http/` reads a request, `http/routes.py` finds its route, and `request_check.py` judges it. One of the `chat_apis/`
writes the next step of its script (`engine.py`) in a provider's own bytes, and `replies.py` decides how the bytes are
sent. Only `http/` and `strict_server.py` do I/O.
"""

from .engine import Mode
from .journal import Entry
from .status_page import greeting
from .strict_server import PortInUse, StrictServer

__all__ = ["Entry", "Mode", "PortInUse", "StrictServer", "greeting"]
