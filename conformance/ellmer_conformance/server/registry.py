"""Which dialect speaks for a vendor: each module of `dialects/` has one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from ..wires import MODULES
from . import dialects
from .dialects import Dialect, Ticket
from .dialects.compatible import Compatible
from .dialects.openai_chat import OpenAIChat

__all__ = ["DIALECTS", "dialect_of"]


def _found() -> Iterator[type[Dialect]]:
    for module in iter_modules(dialects.__path__):
        name = f"{dialects.__name__}.{module.name}"
        for each in vars(import_module(name)).values() if not module.name.startswith("_") else ():
            if isinstance(each, type) and issubclass(each, Dialect) and each.__module__ == name:
                yield each


#: By wire format and vendor.
DIALECTS = {(dialect.wire, dialect.vendor): dialect for dialect in _found()}


def dialect_of(ticket: Ticket) -> Dialect:
    """The vendor's dialect, for one reply."""
    return _dialect(ticket.request.wire, ticket.request.vendor)(ticket)


@lru_cache(256)
def _dialect(wire: str, vendor: str) -> type[Dialect]:
    """That of the vendor; of one that has none, that of the format's author, or of those who copy OpenAI's.
    Where the format is not known, OpenAI's."""
    author = MODULES[wire].VENDOR if wire in MODULES else ""
    copied = Compatible if vendor and wire == Compatible.wire else DIALECTS.get((wire, author), OpenAIChat)
    return DIALECTS.get((wire, vendor), copied)
