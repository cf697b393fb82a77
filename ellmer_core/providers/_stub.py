"""Writes `__init__.pyi`: `python -m ellmer_core.providers._stub`."""

from __future__ import annotations

from pathlib import Path

from .. import providers
from ._construction import own_providers


def stub() -> str:
    """Returns the text of `__init__.pyi`, which tells type checkers the names that `ellmer_core` derives from file
    names.
    """
    names = {provider: provider for provider in own_providers()} | providers.ALIASES
    lines = [
        "# Written by `python -m ellmer_core.providers._stub`.",
        "",
        "from collections.abc import Callable",
        "from typing import Any",
        "",
        *sorted(
            f"from .{provider} import chat_{provider} as chat_{name}" for name, provider in names.items()
        ),
        "",
        *(f"models_{name}: Callable[..., list[dict[str, Any]]]" for name in sorted(names)),
        "",
        "ALIASES: dict[str, str]",
        "",
        "__all__ = [",
        *sorted(f'    "{kind}_{name}",' for kind in ("chat", "models") for name in names),
        "]",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    Path(__file__).with_name("__init__.pyi").write_text(stub(), encoding="utf-8")
