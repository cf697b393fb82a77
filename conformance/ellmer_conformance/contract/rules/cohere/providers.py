"""Who else speaks Cohere v2: nobody that was studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._rulebook import book


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor."""
    return book if vendor in {"", book.vendor} else book.extend(vendor, only=[])
