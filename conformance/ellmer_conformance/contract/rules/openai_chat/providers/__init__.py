"""Other providers of Chat Completions, and what is known about them: one module each, named after the provider.

At another provider, a rule refuses only if a refusal was recorded there. OpenAI's other rules are previews. Loss
rules hold everywhere.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ....rulebook import RuleBook
from .._refusals_and_examples import book
from ._elsewhere import elsewhere

__all__ = ["PROVIDERS", "book_of"]

#: Those whose rules are known, besides OpenAI.
PROVIDERS = tuple(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider."""
    if provider in {"", book.provider}:
        return book
    if provider in PROVIDERS:
        found: RuleBook = getattr(import_module(f".{provider}", __name__), provider)
        return found
    return elsewhere(provider)
