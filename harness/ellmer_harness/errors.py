"""What can go wrong, and whose business it is.

```
HarnessError
├── CassetteError       the file: missing, truncated, corrupt, of a later version
│   └── StoreError      the store it is shared through: gone, or somebody was faster
├── Refused             the judge found fault with what was about to be saved
├── SecretFound         a secret was about to be written
├── Stale               the recording is too old, where that is an error
├── Drift               the live answers are not made as the recorded ones
├── Unused              the run did not ask for everything that was recorded
└── NotIntercepted      the run never reached the harness
BaseException
└── Miss                a request that is not in the cassette
    └── Blocked         a connection attempt past the cassette
```

A `Miss` is no `Exception`: client libraries catch those, retry, and report "connection error". It is raised
again when the cassette closes, should anything have swallowed it.
"""

from __future__ import annotations

__all__ = [
    "Blocked",
    "CassetteError",
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
    """Base of every error below that a test may want to catch."""


class CassetteError(HarnessError):
    """The cassette file cannot be used; nothing was overwritten."""


class StoreError(CassetteError):
    """A shared store is gone, holds half an object, or was written to by somebody else."""


class Stale(HarnessError):
    """The recording is too old; only where `--cassette-stale=error` or CASSETTE_STALE asks for it."""


class Refused(HarnessError):
    """The judge found fault with a recording; nothing was saved."""


class SecretFound(HarnessError):
    """A secret is left in what was about to be written; nothing was saved."""


class Drift(HarnessError):
    """In mode `verify`: a live answer has other fields, or another status, than the recorded one."""


class Unused(HarnessError):
    """Recorded interactions that the run did not ask for."""


class NotIntercepted(HarnessError):
    """The run ended without one request having reached its cassette."""


class Miss(BaseException):
    """A request that the cassette does not hold."""


class Blocked(Miss):
    """A socket was opened while a cassette replays: something goes past the harness."""
