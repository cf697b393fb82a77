"""Version 1 of the API. No other provider of Cohere v2 has been studied."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._refusals_and_examples import book
from .v1 import V1

#: Those whose rules are known, besides the format's own provider.
PROVIDERS = (V1.provider,)


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider."""
    if provider == V1.provider:
        return V1
    return book if provider in {"", book.provider} else book.extend(provider, only=[])
