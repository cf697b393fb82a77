"""Caches what rules read from a request, because fifty rules judge the same request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import local
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from weakref import WeakKeyDictionary

from ..exchange import Request

__all__ = ["once_per_request", "read_once", "reading_once"]

P = ParamSpec("P")
T = TypeVar("T")


class _Memory(local):
    """The cached values, by function and identity of the argument; `None` if no request is judged."""

    read: dict[tuple[Any, int], tuple[Any, tuple[Any, ...], Sequence[Any]]] | None = None


_memory = _Memory()


@contextmanager
def reading_once() -> Iterator[None]:
    """Caches reads inside the block. No value that is read may change meanwhile."""
    outer, _memory.read = _memory.read, {}
    try:
        yield
    finally:
        _memory.read = outer


def read_once(
    function: Callable[Concatenate[Any, P], Iterable[T]],
) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """Returns the reading function with a cache for the value that is judged."""

    def reading(value: Any, *args: P.args, **rest: P.kwargs) -> Iterator[T]:
        memory = _memory.read
        if memory is None:
            return iter(function(value, *args, **rest))
        key = function, id(value)
        known = memory.get(key)
        if known is not None and known[1] == args:
            return iter(known[2])
        found = [*function(value, *args, **rest)]
        memory[key] = value, args, found
        return iter(found)

    return cast("Callable[Concatenate[Any, P], Iterator[T]]", wraps(function)(reading))


def once_per_request(function: Callable[[Request], T]) -> Callable[[Request], T]:
    """Returns the function with a cache of its result for each request."""
    known: WeakKeyDictionary[Request, T] = WeakKeyDictionary()

    @wraps(function)
    def reading(request: Request) -> T:
        try:
            return known[request]
        except KeyError:
            found = known[request] = function(request)
            return found

    return reading
