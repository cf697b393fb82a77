"""gRPC: calls of grpcio's clients, blocking and `grpc.aio`, are recorded, and played by a server on this
machine.

gRPC opens its sockets outside Python, where no audit hook sees them. Calls are therefore intercepted in the
client. A call is one interaction of a cassette: a POST to `grpc://host:port/package.Service/Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["wrappers"]


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    from . import asynchronous, blocking  # noqa: PLC0415  # they need grpcio, which is there if this is asked for

    yield from blocking.wrappers()
    yield from asynchronous.wrappers()
