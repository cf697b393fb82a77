"""Time that passes without waiting: what was recorded or injected as delay is added up, not slept."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Clock"]


@dataclass
class Clock:
    """Seconds since the tape was opened, on its own clock. `real` plays waits at full length."""

    real: bool = False
    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def pass_time(self, seconds: float) -> None:
        """Moves on."""
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """For a client's sleep hook: notes the pause instead of making it."""
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        """The same, for a hook that is awaited."""
        self.sleep(seconds)
