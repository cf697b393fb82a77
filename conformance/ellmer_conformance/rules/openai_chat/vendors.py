"""Who else speaks Chat Completions, and what is known of it.

Of a vendor, only what was seen to be refused there is a reject rule; the others of OpenAI's are previews. Losses
are losses everywhere.
"""

from __future__ import annotations

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
    REQ_101={"preview": True},
    STO_001={"preview": True},
    IMG_016={"preview": True},
    REQ_030={
        "models": ("*-search-preview*", "gpt-4o*"),
        "source": (f"{book.rules['REQ-030'].source[0]}; reports of gpt-4o",),
    },
)


_OWN = frozenset(module.name for module in iter_modules(dialects.__path__))


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor."""
    if vendor in {"", book.vendor}:
        return book
    if vendor == "azure":
        return AZURE
    if vendor in _OWN:
        found: RuleBook = getattr(import_module(f".dialects.{vendor}", __package__), vendor)
        return found
    return elsewhere(vendor)
