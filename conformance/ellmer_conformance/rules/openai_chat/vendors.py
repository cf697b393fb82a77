"""Who else speaks Chat Completions, and what is known of it.

Of a vendor, only what was seen to be refused there is a reject rule; the others of OpenAI's are previews. Losses
are losses everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from ...rulebook import RuleBook
from . import dialects
from ._book import book
from .dialects import elsewhere

__all__ = ["dialect"]

# Azure runs OpenAI's own models and checks: the deployment in the URL names the model.
# Which model a deployment called `gpt-4` runs, nobody knows.
AZURE = book.extend(
    "azure",
    without=["REQ-001"],
    REQ_004={"preview": True},
    REQ_024={"preview": True},
    STO_001={"preview": True},
    IMG_016={"preview": True},
    REQ_030={
        "models": ("*-search-preview*", "gpt-4o*"),
        "source": (f"{book.rules['REQ-030'].source[0]}; reports of gpt-4o",),
    },
)


def _books() -> Iterator[tuple[str, RuleBook]]:
    for module in iter_modules(dialects.__path__):
        books: dict[str, RuleBook] = import_module(f".dialects.{module.name}", __package__).BOOKS
        yield from books.items()


BOOKS = {"": book, book.vendor: book, "azure": AZURE, **dict(_books())}


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor."""
    return BOOKS.get(vendor) or elsewhere(vendor)
