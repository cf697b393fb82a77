"""Finds the dialect of a provider: each module of `dialects/` and of `dialects/openai_compatible/` has one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from ..contract.readers import MODULES
from . import dialects
from .dialects import openai_compatible
from .dialects.base import Dialect, Ticket
from .dialects.openai_chat import OpenAIChat
from .dialects.openai_compatible.base import Compatible

__all__ = ["DIALECTS", "dialect_of"]


def _found() -> Iterator[type[Dialect]]:
    for package in (dialects, openai_compatible):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
                yield from _defined_in(module.name)


def _defined_in(name: str) -> Iterator[type[Dialect]]:
    for each in vars(import_module(name)).values():
        if (
            isinstance(each, type)
            and issubclass(each, Dialect)
            and each.__module__ == name
            and each is not Dialect
        ):
            yield each


#: By wire format and provider.
DIALECTS = {(dialect.wire, dialect.vendor): dialect for dialect in _found()}


def dialect_of(ticket: Ticket) -> Dialect:
    """Returns the provider's dialect for one reply."""
    return _dialect(ticket.request.wire, ticket.request.vendor)(ticket)


@lru_cache(256)
def _dialect(wire: str, vendor: str) -> type[Dialect]:
    """Returns the dialect of the provider, or else of the format's author or of servers that copy OpenAI. For an
    unknown format, it is OpenAI's.
    """
    author = MODULES[wire].VENDOR if wire in MODULES else ""
    copied = Compatible if vendor and wire == Compatible.wire else DIALECTS.get((wire, author), OpenAIChat)
    return DIALECTS.get((wire, vendor), copied)
