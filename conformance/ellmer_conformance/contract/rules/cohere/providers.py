"""Version 1 of the API, and other providers of Cohere v2, of which none has been studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._rulebook import book
from .v1 import V1


def dialect(vendor: str) -> RuleBook:
    """Returns the rules of a provider."""
    if vendor == V1.vendor:
        return V1
    return book if vendor in {"", book.vendor} else book.extend(vendor, only=[])
