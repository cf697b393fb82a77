"""Who else speaks Converse: nobody that was studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._rulebook import book


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor; behind a gateway nothing is known to be refused."""
    return book if vendor in {"", book.vendor} else book.extend(vendor, only=[])
