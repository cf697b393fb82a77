"""A virtual clock. Recorded and injected delays are added up, not slept.

It also gives the date, for checks of a recording's age.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

__all__ = ["Clock"]

_SLEEPERS = ("time", "asyncio", "anyio")


def _today() -> datetime:
    return datetime.now(UTC)


@dataclass
class Clock:
    """The seconds since the tape was opened, on its own clock. With `real`, delays are waited for.

    `today` gives the date and time for new recordings, and for the age of existing ones.
    """

    real: bool = False
    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    today: Callable[[], datetime] = _today

    def pass_time(self, seconds: float) -> None:
        """Advances the clock."""
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Records a client's pause instead of waiting."""
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float, *_: Any) -> None:
        """Records a pause of an async client instead of waiting."""
        self.sleep(seconds)

    @contextmanager
    def in_place_of_sleep(self, modules: Iterable[str]) -> Iterator[None]:
        """Replaces `time.sleep`, `asyncio.sleep` and `anyio.sleep` by this clock, in these modules only."""
        undo: list[tuple[Any, str, Any]] = []
        try:
            for module in map(importlib.import_module, modules):
                for name in _SLEEPERS:
                    if (real := vars(module).get(name)) is not None:
                        undo.append((module, name, real))
                        setattr(
                            module, name, _Sleepless(real, self.sleep if name == "time" else self.sleep_async)
                        )
            yield
        finally:
            for module, name, real in undo:
                setattr(module, name, real)


class _Sleepless:
    """A module with another `sleep`."""

    def __init__(self, module: Any, sleep: Any) -> None:
        self._module, self.sleep = module, sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
