"""The rules that `--wire` and `--vendor` ask for."""

from __future__ import annotations

import click

from ...contract import rules
from ...contract.rulebook import RuleBook

__all__ = ["books_of"]


def books_of(wire: str | None, vendor: str) -> list[RuleBook]:
    """Returns the book of a wire format as a provider has it, or without one those of all wire formats.

    Raises UsageError for a wire format that there is not, and for a provider without one.
    """
    if vendor and not wire:
        raise click.UsageError(
            f"--vendor {vendor} needs --wire, because a provider may have several wire formats."
        )
    try:
        return [rules.book(name, vendor) for name in ([wire] if wire else rules.WIRES)]
    except LookupError as error:
        raise click.UsageError(str(error).capitalize() + ".") from error
