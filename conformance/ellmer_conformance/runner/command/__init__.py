"""Tests a program in any language. It is started once for each case and mode, and sends its requests to the strict
server.

The program gets its settings from environment variables (`CONFORMANCE_BASE_URL`, `…_API_KEY`, `…_CASE`, `…_MODE`,
`…_MODEL`, `…_MAX_RETRIES`, `…_WIRE`, `…_PROVIDER`) and from the JSON file `CONFORMANCE_CONVERSATION`
(`conversation.schema.json`). It may print a JSON line for each step (`reply.schema.json`), and exits with 0. Its
requests are read from the server's journal.
"""

from .conversation import as_json
from .declared_capabilities import Declared, DeclaredWrongly
from .driver_process import Driver
from .driver_replies import Line, NoReply, read

__all__ = ["Declared", "DeclaredWrongly", "Driver", "Line", "NoReply", "as_json", "read"]
