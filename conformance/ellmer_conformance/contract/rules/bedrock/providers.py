"""Other providers of Converse. None has been studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._rulebook import book


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider. Refusals by gateways are not known."""
    return book if provider in {"", book.provider} else book.extend(provider, only=[])
