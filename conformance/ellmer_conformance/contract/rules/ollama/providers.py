"""Other providers of /api/chat: any machine that runs Ollama."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._refusals_and_examples import book

#: Those whose rules are known, besides the format's own provider.
PROVIDERS: tuple[str, ...] = ()


def book_of(provider: str) -> RuleBook:  # noqa: ARG001 - it is one server everywhere
    """Returns the rules of a provider."""
    return book
