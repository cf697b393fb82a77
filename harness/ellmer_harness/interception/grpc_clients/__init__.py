"""gRPC: the calls of grpcio's clients, blocking and `grpc.aio`, are recorded as they are, and played by a server on this machine.

gRPC has sockets of its own that no guard of Python's sees, so calls are met where a client makes them. A call is one
interaction of a cassette: a POST to `grpc://host:port/package.Service/Method`.
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
