"""The session's account: the usage of this Python process, by provider and model."""

from __future__ import annotations

from threading import Lock
from typing import Any

from ...contents.turns import Tokens
from ...wire.base import Wire

__all__ = ["log_usage", "token_usage"]

_used: dict[tuple[str, str], dict[str, Any]] = {}
_lock = Lock()


def log_usage(wire: Wire, tokens: Tokens, dollars: float | None) -> None:
    """Adds one answer to the session's account."""
    with _lock:
        row = _used.setdefault(
            (wire.provider, wire.model),
            {
                "provider": wire.provider,
                "model": wire.model,
                "input": 0,
                "output": 0,
                "cached": 0,
                "cost": 0.0,
            },
        )
        for name in ("input", "output", "cached"):
            row[name] += getattr(tokens, name) or 0
        row["cost"] = None if dollars is None or row["cost"] is None else row["cost"] + dollars


def token_usage() -> list[dict[str, Any]]:
    """Returns the usage of this Python process, over all chats.

    Returns:
        A row for each provider and model: its name, the token counts of `Tokens` (`input` includes `cached`), and `cost` in US
        dollars, which is `None` as soon as the price of one answer is not known.

    Examples:
        >>> _ = chat_openai().chat("Hi")
        >>> "OpenAI" in [row["provider"] for row in token_usage()]
        True
    """
    with _lock:
        return [dict(row) for row in _used.values()]
