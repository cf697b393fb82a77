"""Time that passes without waiting: what was recorded or injected as delay is added up, not slept.

And the date, for those who care how old a recording is.
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
    """Seconds since the tape was opened, on its own clock. `real` plays waits at full length.

    `today` gives the date and time that recordings are marked with, and their age is reckoned from.
    """

    real: bool = False
    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    today: Callable[[], datetime] = _today

    def pass_time(self, seconds: float) -> None:
        """Moves on."""
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Records a client's pause instead of waiting."""
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float, *_: Any) -> None:
        """Does the same for a hook that is awaited."""
        self.sleep(seconds)

    @contextmanager
    def in_place_of_sleep(self, modules: Iterable[str]) -> Iterator[None]:
        """In these modules, and nowhere else, `time.sleep`, `asyncio.sleep` and `anyio.sleep` are this clock's."""
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
    """A module as it is, but for `sleep`."""

    def __init__(self, module: Any, sleep: Any) -> None:
        self._module, self.sleep = module, sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
