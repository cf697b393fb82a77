"""Faults of an answer, injected while a cassette replays.

```python
use_cassette(path, faults=[Status(429, headers={"retry-after": "2"}), Cut(after_event=3)])
```

Each fault applies to the next request (or the next `times` requests, or those that satisfy `when`). `Pass()`
applies no fault to a request. A tuple of faults applies to one request together. The remaining requests get
the recorded answers. A recording whose answer did not arrive whole stays available, and the retry gets it.

A position counts events of the stream (SSE, NDJSON) or bytes of the body. `after_event=2` sends two events
before the fault, and `after_event=-1` sends all but the last. Without a position, a `Reset`, `Cut` or
`ReadTimeout` comes before the answer. Waits use the cassette's virtual clock. A wait that is longer than the
client's own timeout raises that timeout.
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
