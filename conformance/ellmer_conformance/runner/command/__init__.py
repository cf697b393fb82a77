"""Any program, in any language, under test: started once per case and mode, it talks to the strict server.

It finds what it needs in its environment (`CONFORMANCE_BASE_URL`, `…_API_KEY`, `…_CASE`, `…_MODE`, `…_MODEL`,
`…_MAX_RETRIES`, `…_WIRE`, `…_VENDOR`) and in the JSON file `CONFORMANCE_CONVERSATION` (`conversation.schema.json`), may
print a JSON line per step (`reply.schema.json`), and exits with 0. What it sent is read from the server's journal.
"""

from .conversation import as_json
from .declared_capabilities import Declared, DeclaredWrongly
from .driver_process import Driver
from .driver_replies import Line, NoReply, read

__all__ = ["Declared", "DeclaredWrongly", "Driver", "Line", "NoReply", "as_json", "read"]
