"""Policies that say when a recording is too old."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..exchange.messages import Sent

__all__ = ["Policy", "Recording", "older_than"]


@dataclass(frozen=True)
class Recording:
    """The description of a cassette for a policy. `metadata` is its own; `recorded_at` is None if it does not say."""

    path: Path
    metadata: Mapping[str, Any]
    recorded_at: datetime | None
    today: datetime
    _requests: Callable[[], Iterator[Sent]]

    @property
    def requests(self) -> Iterator[Sent]:
        """The recorded requests, and decodes their bodies one by one."""
        return self._requests()


Policy = Callable[[Recording], str | None]


def older_than(days: float) -> Policy:
    """Returns the policy of a maximum age. Repeatable recordings have no date and do not become stale."""

    def policy(recording: Recording) -> str | None:
        age = recording.today - recording.recorded_at if recording.recorded_at else None
        return f"recorded {age.days} days ago" if age and age.days > days else None

    return policy
