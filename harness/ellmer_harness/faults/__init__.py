"""Faults of an answer, injected while a cassette replays.

```python
use_cassette(path, faults=[Status(429, headers={"retry-after": "2"}), Cut(after_event=3)])
```

Each fault takes the next request (the next `times`, those that satisfy `when`); `Pass()` lets one through, and a
tuple of faults befalls one request together. Requests left over get what was recorded. A recording whose answer
did not arrive whole is not used up: the retry gets it.

Positions count events of the stream (SSE, NDJSON) or bytes of the body: `after_event=2` lets two events through,
`after_event=-1` all but the last. Without a position a `Reset`, `Cut` or `ReadTimeout` strikes before the answer.
Waiting is done on the tape's virtual clock; a wait longer than the client's own timeout raises that timeout.
"""

from __future__ import annotations

from .fault_schedule import Fault, Pass, Schedule
from .mid_response_faults import Corrupt, Cut, Duplicate, ErrorEvent, ReadTimeout, Reset, Slow, Stall
from .status_and_connection_faults import ConnectError, ConnectTimeout, PoolTimeout, Status, WriteTimeout

__all__ = [
    "ConnectError",
    "ConnectTimeout",
    "Corrupt",
    "Cut",
    "Duplicate",
    "ErrorEvent",
    "Fault",
    "Pass",
    "PoolTimeout",
    "ReadTimeout",
    "Reset",
    "Schedule",
    "Slow",
    "Stall",
    "Status",
    "WriteTimeout",
]
