"""Other providers of Mistral's format and errors. None has been studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._refusals_and_examples import book

#: Those whose rules are known, besides the format's own provider.
PROVIDERS: tuple[str, ...] = ()


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider."""
    return book if provider in {"", book.provider} else book.extend(provider, only=[])
