"""A decorator that runs a function with its own cassette each time:
`@use_cassette("tests/cassettes/chat.json")`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

__all__ = ["decorated"]

F = TypeVar("F", bound=Callable[..., Any])
Opened = Callable[[], AbstractContextManager[Any]]


def decorated(function: F, opened: Opened) -> F:
    """Wraps a function, blocking or async, generator or not, so that each call runs inside `opened`."""
    around: Any = _plain
    if inspect.iscoroutinefunction(function):
        around = _coroutine
    elif inspect.isasyncgenfunction(function):
        around = _async_generator
    elif inspect.isgeneratorfunction(function):
        around = _generator
    wrapped: Any = functools.wraps(function)(around(function, opened))
    return cast("F", wrapped)


def _plain(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with opened():
            return function(*args, **kwargs)

    return run


def _coroutine(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        with opened():
            return await function(*args, **kwargs)

    return run


def _generator(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with opened():
            return (yield from function(*args, **kwargs))

    return run


def _async_generator(function: Callable[..., Any], opened: Opened) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with opened():
            async for item in function(*args, **kwargs):
                yield item

    return run
