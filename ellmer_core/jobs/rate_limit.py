"""The rate limit of many prompts: so many requests a minute, those of tool rounds and further tries too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ..transport.http_clients import Connection

__all__ = ["Paced"]


class Paced(Connection):
    """A chat's connections, for no more than `rpm` requests a minute; the first `burst` of them at once."""

    def __init__(
        self,
        inner: Connection,
        rpm: float,
        burst: int = 1,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(inner.given, inner.timeouts, inner.limits)
        self.inner, self.clock, self.sleep = inner, clock, sleep
        self.interval = 60 / rpm
        self.ahead = self.interval * (burst - 1)
        self.next = -float("inf")

    async def concurrent(self) -> Any:
        """Returns the client, as soon as it may be used (generic cell rate algorithm, ITU-T I.371)."""
        now = self.clock()
        wait = max(self.next - self.ahead - now, 0.0)
        self.next = max(self.next, now) + self.interval
        if wait:
            await self.sleep(wait)
        return await self.inner.concurrent()
