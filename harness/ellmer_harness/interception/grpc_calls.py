"""gRPC, which has sockets of its own that no guard of Python's sees: its calls are refused while a cassette replays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import Blocked
from . import network_guard, open_tapes

__all__ = ["wrappers"]

_BLOCKING = ("__call__", "with_call", "future")


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper: every way to make a call in the installed version of grpcio."""
    from grpc import _channel  # noqa: PLC0415  # it is there, if this is asked for
    from grpc.aio import _channel as aio  # noqa: PLC0415  # likewise

    for owner in (vars(_channel), vars(aio)):
        for name, kind in [*owner.items()]:
            if (
                isinstance(kind, type)
                and name.endswith("MultiCallable")
                and not getattr(kind, "__abstractmethods__", ())
            ):
                yield from ((kind, method, _refused) for method in _BLOCKING if method in vars(kind))


def _refused(real: Any) -> Any:
    def call(multi_callable: Any, *args: Any, **options: Any) -> Any:
        tape = None if network_guard.set_aside() else open_tapes.offline()
        if tape is None:
            return real(multi_callable, *args, **options)
        method = getattr(multi_callable, "_method", b"?")
        told = method.decode() if isinstance(method, bytes) else str(method)
        raise tape.missed(
            f"a gRPC call of {told} while cassette {tape.path} replays: gRPC is not recorded. "
            "Replace the stub by one of your own in this test, or make the call before the cassette is opened.",
            Blocked,
        )

    return call
