"""The rate limit of many prompts: a number of requests each minute, including tool rounds and retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ..transport.http_clients import Connection

__all__ = ["Paced"]


class Paced(Connection):
    """A chat's connections with a limit of `rpm` requests per minute; the first `burst` requests do not wait."""

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
        """Returns the client when a request is allowed (generic cell rate algorithm, ITU-T I.371)."""
        now = self.clock()
        wait = max(self.next - self.ahead - now, 0.0)
        self.next = max(self.next, now) + self.interval
        if wait:
            await self.sleep(wait)
        return await self.inner.concurrent()
