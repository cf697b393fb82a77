"""The harness records and replays HTTP in tests. Cassettes are readable, hold no secrets, and keep streams
and faults.

```python
with ellmer_harness.use_cassette("tests/cassettes/chat.json") as cassette:
    ...                       # any httpx or httpx2 client, blocking or async
cassette.sent[0].json             # the request this run really built
```
"""

from .cassette.cassette import Cassette, use_cassette
from .cassette.request_key import Match
from .errors import (
    Blocked,
    CassetteError,
    Diverged,
    Drift,
    HarnessError,
    Miss,
    NotIntercepted,
    Refused,
    SecretFound,
    Stale,
    StoreError,
    Unused,
)
from .exchange.messages import Exchange, Failure, Sent
from .format.serializer import Serializer
from .secrets.redaction import Scrub

__all__ = [
    "Blocked",
    "Cassette",
    "CassetteError",
    "Diverged",
    "Drift",
    "Exchange",
    "Failure",
    "HarnessError",
    "Match",
    "Miss",
    "NotIntercepted",
    "Refused",
    "Scrub",
    "SecretFound",
    "Sent",
    "Serializer",
    "Stale",
    "StoreError",
    "Unused",
    "use_cassette",
]
