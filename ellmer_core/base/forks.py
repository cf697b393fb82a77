"""What stays usable in a process that was forked while another thread was at work: in the fork, nobody gives back a lock of that thread."""

from __future__ import annotations

import functools
import os
from contextlib import nullcontext
from threading import RLock
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property", "lock_for_forks"]

if TYPE_CHECKING:
    cached_property = functools.cached_property  # the checkers know what it returns
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as the one of the standard library
        """The standard library's, without the lock of Python 3.11, which all objects of a class share.

        Two threads may compute a value at once, as in later versions of Python.
        """

        def __init__(self, func: Any) -> None:
            super().__init__(func)
            self.lock = nullcontext()


def lock_for_forks() -> Any:
    """Returns a lock that no other thread holds while the process is forked, for the whole life of the process.

    Examples:
        >>> with lock_for_forks():
        ...     pass
    """
    lock = RLock()
    if hasattr(os, "register_at_fork"):  # Windows has no forks
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
