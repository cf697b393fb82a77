"""Other providers of Mistral's format and errors. None has been studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._rulebook import book


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider."""
    return book if provider in {"", book.provider} else book.extend(provider, only=[])
