"""Converts connection errors to our own: unreachable, broken, silent, too late, cancelled."""

from __future__ import annotations

import time
from types import TracebackType

from ..conversation.settings import StreamController
from ..errors import ConnectError, TimeoutError, UsageError
from .timeouts_and_limits import Timeouts

__all__ = ["ConnectionMonitor"]


class ConnectionMonitor:
    """Monitors one answer after the other. As a context manager, it converts the errors of an HTTP client to ours. It
    recognizes them by name, because every client has its own classes.
    """

    def __init__(self, controller: StreamController) -> None:
        self.controller = controller
        self.where = ""
        self.limits = Timeouts(None, None, None)
        self.ends: float | None = None  # when the answer must be complete, by time.monotonic()
        self.interrupts = False  # whether a silence is ended then, too

    def begin(self, url: str, limits: Timeouts | None) -> None:
        """Begins a request. Without `limits`, the client's own limits hold."""
        self.where = url
        self.limits = limits or Timeouts(None, None, None)
        self.interrupts = self.limits.total not in (None, Timeouts.total)
        self.ends = None if self.limits.total is None else time.monotonic() + self.limits.total

    @property
    def left(self) -> float | None:
        """The seconds until the answer must be complete."""
        return None if self.ends is None else max(self.ends - time.monotonic(), 0.0)

    def check(self) -> None:
        """Raises `TimeoutError` if the answer took longer than allowed."""
        if self.ends is not None and time.monotonic() >= self.ends:
            raise self.overdue()

    def overdue(self) -> TimeoutError:
        """Returns the error for an answer that took longer than allowed."""
        text = f"The answer of {self.where} was not complete after {_seconds(self.limits.total)} (timeout: total)."
        return TimeoutError(text, "total")

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self.translate(error)

    def translate(self, error: Exception) -> None:
        """Raises our error for an error of the client. Other errors pass."""
        names = {kind.__name__ for kind in type(error).__mro__}
        if {"UnsupportedProtocol", "InvalidURL"} & names:
            raise UsageError(f"base_url= is invalid: {error}") from error
        if "LocalProtocolError" in names or isinstance(error, UnicodeEncodeError):
            # Its message would quote the header, which may be the key.
            raise UsageError("A header of the request is not valid HTTP. Check the API key.") from None
        if not {"RequestError", "StreamError"} & names:
            return
        self.controller.check()
        self.check()
        raise self._failure(error, names) from error

    def _failure(self, error: Exception, names: set[str]) -> ConnectError:
        if {"ConnectTimeout", "PoolTimeout"} & names:
            text = f"No connection to {self.where} after {_seconds(self.limits.connect)} (timeout: connect)."
            return TimeoutError(text, "connect")
        if "TimeoutException" in names:
            return TimeoutError(
                f"{self.where} sent nothing for {_seconds(self.limits.idle)} (timeout: idle).", "idle"
            )
        return ConnectError(f"{self.where}: {str(error) or type(error).__name__}")


def _seconds(limit: float | None) -> str:
    return "the client's own limit" if limit is None else f"{limit:g} s"
