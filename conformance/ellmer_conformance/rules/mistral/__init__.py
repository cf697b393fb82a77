"""The contract of Mistral's chat completions: OpenAI's format, with an order and an envelope of its own."""

from __future__ import annotations

from ...rule import RuleBook
from ._rules import book

__all__ = ["book", "dialect"]


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor; of others that host these models nothing is known to be refused."""
    return book if vendor in {"", book.vendor} else book.extend(vendor, only=[])
