"""Who else speaks /api/chat: whoever runs Ollama, on whatever machine."""

from __future__ import annotations

from ...rulebook import RuleBook
from ._rulebook import book


def dialect(vendor: str) -> RuleBook:  # noqa: ARG001 - it is one server everywhere
    """The rules at a vendor."""
    return book
