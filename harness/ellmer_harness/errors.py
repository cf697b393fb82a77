"""The errors of the harness, and their order.

```
HarnessError
├── CassetteError       the file: missing, truncated, corrupt, of a later version
│   └── StoreError      the store it is shared through: gone, or somebody was faster
├── Refused             the judge found fault with what was about to be saved
├── SecretFound         a secret was about to be written
├── Stale               the recording is too old, where that is an error
├── Drift               the live answers are not made as the recorded ones
├── Diverged            a tool's result differs, and the model's recorded answer no longer fits
├── Unused              the run did not ask for everything that was recorded
└── NotIntercepted      the run never reached the harness
BaseException
└── Miss                a request that is not in the cassette
    └── Blocked         a connection attempt past the cassette; a ConnectionError, too
```

A `Miss` is not an `Exception`, because client libraries catch exceptions, retry, and report a connection
error. If the code catches it anyway, it is raised again when the cassette closes.
"""

from __future__ import annotations

__all__ = [
    "Blocked",
    "CassetteError",
    "Diverged",
    "Drift",
    "HarnessError",
    "Miss",
    "NotIntercepted",
    "Refused",
    "SecretFound",
    "Stale",
    "StoreError",
    "Unused",
]


class HarnessError(Exception):
    """Base class of the errors below; `Miss` and `Blocked` are not part of it."""


class CassetteError(HarnessError):
    """The cassette file cannot be used: it is missing, truncated, corrupt or of a later version. Nothing was overwritten."""


class StoreError(CassetteError):
    """A shared store is unavailable, holds a partial object, or was changed by another process."""


class Stale(HarnessError):
    """The recording is too old, and `--cassette-stale=error` or CASSETTE_STALE makes this an error."""


class Refused(HarnessError):
    """The judge found a fault in a recording; nothing was saved."""


class SecretFound(HarnessError):
    """The data to write contains a secret; nothing was saved."""


class Drift(HarnessError):
    """In mode `verify`: a live answer has other fields, or another status, than the recorded one."""


class Diverged(HarnessError):
    """With `replay="model"`: a tool's result is not the recorded one, and the recorded answer no longer fits."""


class Unused(HarnessError):
    """The run did not request every recorded interaction."""


class NotIntercepted(HarnessError):
    """The run ended, and no request passed through the recorder."""


class Miss(BaseException):
    """A request is not in the cassette. The class is not an `Exception`, so no SDK catches it and retries."""


class Blocked(Miss, ConnectionError):
    """The code opened a socket that the cassette does not control, while the cassette replays.

    It is a `ConnectionError`, too: clients close their sockets, and event loops and pytest's fixtures pass it on, as with
    any failed connection. If the code catches it, it is raised again when the cassette closes.
    """
