"""Finds the rules for the options `--wire` and `--provider`."""

from __future__ import annotations

import click

from ...contract import rules
from ...contract.rulebook import RuleBook

__all__ = ["books_of"]


def books_of(wire: str | None, provider: str) -> list[RuleBook]:
    """Returns the book of a wire format at a provider. Without a wire format, returns the provider's or all books.

    Raises UsageError for an unknown wire format, and for a provider without a wire format.
    """
    if provider and not wire:
        raise click.UsageError(
            f"--provider {provider} needs --wire, because a provider may have several wire formats."
        )
    try:
        return [rules.book(name, provider) for name in ([wire] if wire else rules.WIRES)]
    except LookupError as error:
        raise click.UsageError(str(error).capitalize() + ".") from error
